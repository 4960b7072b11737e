/* One C++ name, shorter but whole: how it is spelled when no rule says more (names_rules.h). Pure. */
#ifndef RTL_TEXT_NAMES_SHORT_H
#define RTL_TEXT_NAMES_SHORT_H

/* "ns::f<(ns::Kind)3, unsigned long>" -> "f<Kind=3,u64>"; never longer than the name. The caller frees it. */
char *rtl_name_spelled(const char *name);

#endif

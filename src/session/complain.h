/* What is told to the user outside of the screen: one line on standard error. */
#ifndef RTL_SESSION_COMPLAIN_H
#define RTL_SESSION_COMPLAIN_H

/* Prints "rtl-top: ..." and a newline. */
void rtl_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

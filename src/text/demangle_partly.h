/*
 * The name in a mangled name that the C++ runtime's demangler refuses: because it is older than the compiler
 * (DF16b, Tn...), or because a profiler cut the name off. What is understood up to there is enough to read it.
 */
#ifndef RTL_TEXT_DEMANGLE_PARTLY_H
#define RTL_TEXT_DEMANGLE_PARTLY_H

/*
 * "_ZN5aiter4normIDF16bLi64EEEvPT0_" -> "aiter::norm<__bf16, 64>": no return type, no parameters. A name that ends
 * early has its open brackets closed behind "...". NULL when not even an identifier is understood. The caller frees it.
 * Time and memory are bounded whatever the name: the text that it makes is, and nothing is expanded behind that.
 */
char *rtl_demangle_partly(const char *mangled);

#endif

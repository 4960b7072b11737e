/* hip_check.h - for the HIP programs: a call that must succeed, a counted check, and the final verdict. */
#ifndef RTL_TESTS_HIP_CHECK_H
#define RTL_TESTS_HIP_CHECK_H

#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

/* A failing HIP call ends the program, since later failures would only hide the cause. */
#define HIP(call)                                                                                              \
    do {                                                                                                       \
        hipError_t rtl_error_ = (call);                                                                        \
        if (rtl_error_ != hipSuccess) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(rtl_error_)); \
            std::exit(2);                                                                                      \
        }                                                                                                      \
    } while (0)

struct verdict {
    std::atomic<unsigned> passed{0}, failed{0};

    void check(bool ok, const char *what)
    {
        if (ok) {
            passed++;
        } else {
            failed++;
            std::printf("FAILED %s\n", what);
        }
    }
    /* Print the one line that tests look for; return the program's exit status. */
    int report(const char *program) const
    {
        std::printf("%s: %s, %u checks, %u failed\n", program, failed == 0 && passed != 0 ? "PASS" : "FAIL",
                    passed + failed, failed.load());
        std::fflush(stdout);
        return failed == 0 && passed != 0 ? 0 : 1;
    }
};

/* Keep the process and its counters until the test closes its standard input. */
static inline void hold_until_stdin_closes(void)
{
    std::puts("holding");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
}

#endif

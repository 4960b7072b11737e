/* Interposes dlsym, by which frameworks find HIP's functions. Names that aren't recorded go on to libc's dlsym by a
 * jump, so that libc sees the original caller: RTLD_NEXT and RTLD_DEFAULT depend on it. */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "hip/counters.h"
#include "hip/resolve.h"
#include "hip/wrap.h"

struct dlsym_answer {
    void *result;
    void *jump; /* NULL: `result` is the answer */
};

__attribute__((used)) static struct dlsym_answer answer(void *handle, const char *name, const void *caller)
{
    rtl_dlsym *real = rtl_real_dlsym();
    struct dlsym_answer pass = {0};
    memcpy(&pass.jump, &real, sizeof real);
    if (!real || !name)
        return pass;
    enum rtl_hip_function function = rtl_function_of(name);
    if (function == RTL_FN_COUNT || handle == RTLD_NEXT)
        return pass;
    /* where ranges are recorded, roctx works without a library behind it */
    bool works = (function > RTL_FN_hipGetProcAddress && rtl_api()) || rtl_next(function, caller);
    if (handle == RTLD_DEFAULT) /* it would find our wrapper even without a HIP */
        return works ? pass : (struct dlsym_answer){.result = real(RTLD_NEXT, name)};
    void *found = real(handle, name);
    if (found && rtl_is_ours(found) && !works)
        return (struct dlsym_answer){.result = real(RTLD_NEXT, name)};
    return (struct dlsym_answer){.result = rtl_hand_out(function, found)};
}

#if defined(__x86_64__)
/* rdi and rsi are saved for the jump; the return address is the caller. */
__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    movq 24(%rsp), %rdx\n"
        "    call answer\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    testq %rdx, %rdx\n"
        "    jz 1f\n"
        "    jmp *%rdx\n"
        "1:  ret\n"
        "    .cfi_endproc\n"
        ".size dlsym, . - dlsym\n");
#endif

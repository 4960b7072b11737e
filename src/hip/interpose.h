/* Interposes functions of the dynamic linker whose results depend on their caller's address. The assembly calls an
 * `answer` in C, with the original arguments and the caller as the fourth. The answer is either the result or libc's
 * function. The assembly jumps to that function, so libc sees the original caller. */
#ifndef RTL_HIP_INTERPOSE_H
#define RTL_HIP_INTERPOSE_H

struct rtl_dl_answer {
    void *result;
    void *jump; /* NULL: `result` is the answer */
};

#if defined(__x86_64__)
/* rdi, rsi and rdx are saved for the jump; the return address is the caller. */
#define RTL_INTERPOSE_DL(name, answer)               \
    __asm__(".text\n"                                \
            ".globl " name "\n"                      \
            ".type " name ", @function\n" name ":\n" \
            "    .cfi_startproc\n"                   \
            "    endbr64\n"                          \
            "    pushq %rdi\n"                       \
            "    .cfi_adjust_cfa_offset 8\n"         \
            "    pushq %rsi\n"                       \
            "    .cfi_adjust_cfa_offset 8\n"         \
            "    pushq %rdx\n"                       \
            "    .cfi_adjust_cfa_offset 8\n"         \
            "    movq 24(%rsp), %rcx\n"              \
            "    call " answer "\n"                  \
            "    movq %rdx, %r11\n"                  \
            "    popq %rdx\n"                        \
            "    .cfi_adjust_cfa_offset -8\n"        \
            "    popq %rsi\n"                        \
            "    .cfi_adjust_cfa_offset -8\n"        \
            "    popq %rdi\n"                        \
            "    .cfi_adjust_cfa_offset -8\n"        \
            "    testq %r11, %r11\n"                 \
            "    jz 1f\n"                            \
            "    jmp *%r11\n"                        \
            "1:  ret\n"                              \
            "    .cfi_endproc\n"                     \
            ".size " name ", . - " name "\n")
#endif

#endif

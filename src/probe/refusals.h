/*
 * Why the viewer makes no copy of a kernel: patch.h found the kernel unfit. The library's own reasons to refuse or end
 * a probe are RTL_PROBE_ENDS_WHY (shm/probe_state.h). X(symbol, text); the text continues "it can't be probed: ".
 */
#ifndef RTL_PROBE_REFUSALS_H
#define RTL_PROBE_REFUSALS_H

#define RTL_PROBE_REFUSALS(X)                                                      \
    X(NONE, "it can")                                                              \
    X(NO_CODE_OBJECT, "this is no code object of an AMD GPU")                      \
    X(DAMAGED, "its code object is damaged")                                       \
    X(TARGET, "only kernels for gfx906, gfx90a and gfx942 can be")                 \
    X(NO_KERNEL, "its code object has no such kernel")                             \
    X(DESCRIPTOR, "its descriptor has a setting that a probe doesn't support")     \
    X(WAVE32, "its waves have 32 lanes")                                           \
    X(INSTRUCTION, "it has an unknown instruction")                                \
    X(LEAVES, "its code runs past its end")                                        \
    X(BEFORE, "it branches to code before its entry")                              \
    X(MIDDLE, "it branches into the middle of an instruction")                     \
    X(JUMP, "it jumps to an address in registers (s_setpc_b64)")                   \
    X(CALL, "it calls by a distance (s_call_b64)")                                 \
    X(FORK, "it forks its waves (s_cbranch_*_fork, s_cbranch_join)")               \
    X(PRIVILEGED, "it has an instruction of trap handlers (s_rfe_b64)")            \
    X(MODE, "it switches vector instructions off (s_setvskip, s_setreg)")          \
    X(ENDING, "it ends with another instruction than s_endpgm")                    \
    X(NO_END, "it has no end: it only stops the program, or waits for ever")       \
    X(NO_WAIT, "it has no wait that could be timed (s_waitcnt)")                   \
    X(TOO_LARGE, "its code is larger than a branch reaches (128 KiB)")             \
    X(REGISTERS, "it leaves no scalar registers for a probe")                      \
    X(OCCUPANCY, "fewer of its waves would fit on a compute unit")                 \
    X(PLACE, "it depends on its load address, which isn't known")                  \
    X(BLOCK, "its block isn't aligned")                                            \
    X(OLD_LIBRARY, "the process's librtl.so is too old for a GPU of several dies") \
    X(MEMORY, "there is no memory for its copy")

enum rtl_probe_refusal {
#define X(symbol, text) RTL_PROBE_##symbol,
    RTL_PROBE_REFUSALS(X)
#undef X
        RTL_PROBE_REFUSAL_COUNT
};

#endif

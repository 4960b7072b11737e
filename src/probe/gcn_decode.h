/*
 * Decodes what a probe needs of an instruction of gfx906, gfx90a or gfx942: its length, whether it branches, ends or
 * reads the program counter, and which scalar registers it may use. Pure; not a disassembler.
 */
#ifndef RTL_PROBE_GCN_DECODE_H
#define RTL_PROBE_GCN_DECODE_H

#include <stdbool.h>
#include <stdint.h>

enum rtl_gcn_kind {
    RTL_GCN_PLAIN,
    RTL_GCN_UNKNOWN,    /* no encoding of these GPUs; its length is unreliable */
    RTL_GCN_BRANCH,     /* always taken, by a distance */
    RTL_GCN_MAY_BRANCH, /* taken or not, by a distance */
    RTL_GCN_END,        /* s_endpgm */
    RTL_GCN_OTHER_END,  /* s_endpgm_saved, s_endpgm_ordered_ps_done */
    RTL_GCN_READ_PC,    /* s_getpc_b64 */
    RTL_GCN_JUMP,       /* s_setpc_b64 */
    RTL_GCN_CALL_FAR,   /* s_swappc_b64 */
    RTL_GCN_CALL_NEAR,  /* s_call_b64 */
    RTL_GCN_FORK,       /* s_cbranch_g_fork, s_cbranch_i_fork, s_cbranch_join */
    RTL_GCN_RETURN,     /* s_rfe_b64, s_rfe_restore_b64 */
    RTL_GCN_SKIP_MODE,  /* s_setvskip, and s_setreg of the bits that do the same */
    RTL_GCN_WAIT,       /* s_waitcnt */
};

enum { RTL_GCN_SGPRS = 102, RTL_GCN_WORDS_MAX = 2 };

struct rtl_gcn_instruction {
    uint8_t kind;        /* enum rtl_gcn_kind */
    uint8_t words;       /* 1 or 2 */
    uint8_t sgprs;       /* one more than the highest scalar register that it may use; never too low */
    uint8_t destination; /* READ_PC: the first register of the pair */
    int32_t distance;    /* BRANCH, MAY_BRANCH: in words, from the next instruction */
};

/* Decode the instruction at `code`; the second word is read only if `more`. */
struct rtl_gcn_instruction rtl_gcn_decode(const uint32_t *code, bool more);

#endif

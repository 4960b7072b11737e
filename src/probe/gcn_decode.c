/*
 * Decodes instructions. See gcn_decode.h.
 *
 * Encodings follow AMD's manuals of the "Vega 7 nm", "CDNA 2" and "CDNA 3" instruction sets. An instruction of only one
 * of them counts as one of all: code for each GPU contains no others.
 */
#include "probe/gcn_decode.h"

#include <stddef.h>

#define BITS(word, high, low) ((uint32_t)(word) >> (low) & ((2u << ((high) - (low))) - 1))

struct range {
    uint16_t first, last;
};

static bool in_ranges(const struct range *r, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (number >= r[i].first && number <= r[i].last)
            return true;
    return false;
}
/* True if the number is an instruction of the encoding. */
#define KNOWN(number, ...)                                                                                             \
    in_ranges((const struct range[]){__VA_ARGS__}, sizeof((const struct range[]){__VA_ARGS__}) / sizeof(struct range), \
              number)

static void touch(struct rtl_gcn_instruction *l, uint32_t code, unsigned count)
{
    if (code < RTL_GCN_SGPRS && code + count > l->sgprs)
        l->sgprs = (uint8_t)(code + count > RTL_GCN_SGPRS ? RTL_GCN_SGPRS : code + count);
}

/* m0 selects the scalar register: any of them */
static void touch_all(struct rtl_gcn_instruction *l)
{
    l->sgprs = RTL_GCN_SGPRS;
}

enum { LITERAL = 255, SDWA = 249, DPP = 250, HWREG_MODE = 1, MODE_FIRST_SKIP = 27 };

/* --- scalar --- */

static void decode_sopp(struct rtl_gcn_instruction *l, uint32_t a)
{
    uint32_t op = BITS(a, 22, 16);
    l->distance = (int16_t)(uint16_t)a;
    if (op == 1)
        l->kind = RTL_GCN_END;
    else if (op == 2)
        l->kind = RTL_GCN_BRANCH;
    else if ((op >= 4 && op <= 9) || (op >= 23 && op <= 26))
        l->kind = RTL_GCN_MAY_BRANCH;
    else if (op == 27 || op == 30)
        l->kind = RTL_GCN_OTHER_END;
    else if (op == 12)
        l->kind = RTL_GCN_WAIT;
    else
        l->kind = op <= 29 ? RTL_GCN_PLAIN : RTL_GCN_UNKNOWN;
}

static void decode_sopk(struct rtl_gcn_instruction *l, uint32_t a)
{
    uint32_t op = BITS(a, 27, 23), from = BITS(a, 10, 6), bits = BITS(a, 15, 11) + 1;
    touch(l, BITS(a, 22, 16), 2);
    if (op == 20)
        l->words = 2;
    if (op == 16)
        l->kind = RTL_GCN_FORK;
    else if (op == 21)
        l->kind = RTL_GCN_CALL_NEAR;
    else if ((op == 18 || op == 20) && BITS(a, 5, 0) == HWREG_MODE && from + bits > MODE_FIRST_SKIP)
        l->kind = RTL_GCN_SKIP_MODE;
    else
        l->kind = KNOWN(op, {0, 18}, {20, 20}) ? RTL_GCN_PLAIN : RTL_GCN_UNKNOWN;
}

static void decode_sop1(struct rtl_gcn_instruction *l, uint32_t a)
{
    uint32_t op = BITS(a, 15, 8);
    l->words = BITS(a, 7, 0) == LITERAL ? 2 : 1;
    touch(l, BITS(a, 7, 0), 2);
    touch(l, BITS(a, 22, 16), 2);
    l->destination = BITS(a, 22, 16);
    if (op == 28)
        l->kind = l->words == 1 ? RTL_GCN_READ_PC : RTL_GCN_UNKNOWN; /* no assembler writes a literal here */
    else if (op == 29)
        l->kind = RTL_GCN_JUMP;
    else if (op == 30)
        l->kind = RTL_GCN_CALL_FAR;
    else if (op == 31)
        l->kind = RTL_GCN_RETURN;
    else if (op == 46)
        l->kind = RTL_GCN_FORK;
    else
        l->kind = KNOWN(op, {0, 45}, {48, 48}, {50, 55}) ? RTL_GCN_PLAIN : RTL_GCN_UNKNOWN;
    if (op >= 42 && op <= 45)
        touch_all(l);
}

static void decode_sop2(struct rtl_gcn_instruction *l, uint32_t a)
{
    bool compares = BITS(a, 31, 23) == 0x17e;
    uint32_t op = compares ? BITS(a, 22, 16) : BITS(a, 29, 23);
    l->words = BITS(a, 7, 0) == LITERAL || BITS(a, 15, 8) == LITERAL ? 2 : 1;
    touch(l, BITS(a, 7, 0), 2);
    touch(l, BITS(a, 15, 8), 2);
    if (compares) {
        l->kind = op == 16 ? RTL_GCN_SKIP_MODE : op <= 19 ? RTL_GCN_PLAIN : RTL_GCN_UNKNOWN;
        if (op == 17) { /* s_set_gpr_idx_on: the second operand is four bits, not a register */
            l->words = BITS(a, 7, 0) == LITERAL ? 2 : 1;
        }
        return;
    }
    touch(l, BITS(a, 22, 16), 2);
    l->kind = op == 41 ? RTL_GCN_FORK : op == 43 ? RTL_GCN_RETURN : op <= 52 ? RTL_GCN_PLAIN : RTL_GCN_UNKNOWN;
}

static void decode_smem(struct rtl_gcn_instruction *l, uint32_t a, uint32_t b)
{
    uint32_t op = BITS(a, 25, 18);
    static const uint8_t widths[] = {1, 2, 4, 8, 16, 1, 2, 4, 1, 2, 4, 8, 16};
    l->kind = KNOWN(op, {0, 12}, {16, 18}, {21, 26}, {32, 41}, {64, 76}, {96, 108}, {128, 140}, {160, 172})
                  ? RTL_GCN_PLAIN
                  : RTL_GCN_UNKNOWN;
    l->words = 2;
    if (op >= 32 && op <= 35)
        return;
    touch(l, BITS(a, 12, 6), op < sizeof widths ? widths[op] : 4);
    if (op == 36 || op == 37)
        return;
    touch(l, BITS(a, 5, 0) * 2, 4);
    if (BITS(a, 14, 14))
        touch(l, BITS(b, 31, 25), 1);
    if (!BITS(a, 17, 17))
        touch(l, BITS(b, 6, 0), 1);
}

/* --- vector --- */

static void decode_vop12c(struct rtl_gcn_instruction *l, uint32_t a, uint32_t b)
{
    uint32_t source = BITS(a, 8, 0), family = BITS(a, 30, 25);
    l->words = source == LITERAL || source == SDWA || source == DPP ? 2 : 1;
    l->kind = RTL_GCN_UNKNOWN;
    if (source < 256)
        touch(l, source, 2);
    if (source == SDWA) {
        if (BITS(b, 23, 23))
            touch(l, BITS(b, 7, 0), 1);
        if (BITS(b, 31, 31) && family != 0x3f)
            touch(l, BITS(a, 16, 9), 1);
    }
    if (family == 0x3f) {
        uint32_t op = BITS(a, 16, 9);
        if (KNOWN(op, {0, 8}, {10, 53}, {55, 79}, {81, 82}, {84, 87}))
            l->kind = RTL_GCN_PLAIN;
        if (op == 2) /* v_readfirstlane_b32 */
            touch(l, BITS(a, 24, 17), 1);
    } else if (family == 0x3e) {
        if (KNOWN(BITS(a, 24, 17), {16, 21}, {32, 127}, {160, 255}))
            l->kind = RTL_GCN_PLAIN;
        if (source == SDWA && BITS(b, 15, 15))
            touch(l, BITS(b, 14, 8), 2);
    } else {
        if (family == 23 || family == 24 || family == 36 || family == 37) /* v_madmk, v_madak */
            l->words = 2;
        if (KNOWN(family, {0, 61}))
            l->kind = RTL_GCN_PLAIN;
    }
}

static void decode_vop3(struct rtl_gcn_instruction *l, uint32_t a, uint32_t b)
{
    uint32_t op = BITS(a, 25, 16);
    bool packed = BITS(a, 31, 23) == 0x1a7;
    l->words = 2;
    for (unsigned low = 0; low <= 18; low += 9)
        if ((b >> low & 0x1ff) < 256)
            touch(l, b >> low & 0x1ff, 2);
    if (packed) {
        l->kind = KNOWN(BITS(a, 22, 16), {0, 18}, {32, 35}, {38, 43}, {48, 51}, {62, 77}, {80, 89}, {93, 127})
                      ? RTL_GCN_PLAIN
                      : RTL_GCN_UNKNOWN;
        return;
    }
    l->kind = KNOWN(op, {16, 21}, {32, 127}, {160, 255}, {256, 317}, {320, 407}, {448, 520}, {640, 677})
                  ? RTL_GCN_PLAIN
                  : RTL_GCN_UNKNOWN;
    /* comparisons, v_readfirstlane_b32 and v_readlane_b32 */
    if (op < 256 || op == 322 || op == 649)
        touch(l, BITS(a, 7, 0), 2);
    /* additions with carry, v_div_scale, v_mad_u64_u32, v_mad_i64_i32 */
    if ((op >= 281 && op <= 286) || op == 480 || op == 481 || op == 488 || op == 489)
        touch(l, BITS(a, 14, 8), 2);
}

static void decode_memory(struct rtl_gcn_instruction *l, uint32_t a, uint32_t b)
{
    bool known = false;
    l->words = 2;
    switch (BITS(a, 31, 26)) {
    case 0x36: /* LDS */
        known = KNOWN(BITS(a, 24, 17), {0, 21}, {23, 24}, {29, 92}, {96, 115}, {118, 120}, {124, 124}, {126, 126},
                      {152, 157}, {182, 184}, {189, 190}, {222, 223}, {254, 255});
        break;
    case 0x37: /* flat, global and scratch */
        known = KNOWN(BITS(a, 24, 18), {16, 42}, {64, 82}, {96, 108});
        if (BITS(a, 15, 14))
            touch(l, BITS(b, 22, 16), 2);
        break;
    case 0x38: /* buffers */
    case 0x3a:
        known = BITS(a, 31, 26) == 0x3a || KNOWN(BITS(a, 24, 18), {0, 41}, {61, 81}, {96, 108});
        touch(l, BITS(b, 20, 16) * 4, 4);
        touch(l, BITS(b, 31, 24), 1);
        break;
    default: /* images, exports, interpolation: never in a kernel */
        break;
    }
    l->kind = known ? RTL_GCN_PLAIN : RTL_GCN_UNKNOWN;
}

struct rtl_gcn_instruction rtl_gcn_decode(const uint32_t *code, bool more)
{
    struct rtl_gcn_instruction l = {.words = 1};
    uint32_t a = code[0], b = more ? code[1] : 0;
    if (!(a >> 31)) {
        decode_vop12c(&l, a, b);
    } else if (a >> 30 == 2) {
        if (BITS(a, 31, 23) == 0x17f)
            decode_sopp(&l, a);
        else if (BITS(a, 31, 23) == 0x17d)
            decode_sop1(&l, a);
        else if (BITS(a, 31, 28) == 0xb && BITS(a, 27, 23) < 29)
            decode_sopk(&l, a);
        else
            decode_sop2(&l, a);
    } else if (BITS(a, 31, 26) == 0x30) {
        decode_smem(&l, a, b);
    } else if (BITS(a, 31, 26) == 0x34) {
        decode_vop3(&l, a, b);
    } else {
        decode_memory(&l, a, b);
    }
    return l;
}

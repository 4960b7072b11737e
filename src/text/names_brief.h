/*
 * One kernel name in few words: an operation, a type, a tile, then what else tells kernels apart. Pure, made by the
 * rules of names_rules.h.
 *
 * It is a list of pieces. Those of rank 0 matter most; the others are shown where there is room, by rank and order.
 */
#ifndef RTL_TEXT_NAMES_BRIEF_H
#define RTL_TEXT_NAMES_BRIEF_H

#include <stdbool.h>
#include <stddef.h>

#include "text/names.h"
#include "text/names_scan.h"

struct rtl_brief {
    char *whole;   /* what is shown where there is room: the pieces, or the name as it is spelled */
    char *pieces;  /* each: a digit (its rank), its text, '\0'; ends with an empty one */
    char *spelled; /* NULL, or the name as it is spelled: where to look for what tells it from another one */
    enum rtl_name_family family;
};

/* `raw` as it stands in the code object, `full` demangled if it could be; both safe text. False without memory. */
bool rtl_brief_make(struct rtl_brief *brief, const struct rtl_name_rules *user, const char *raw, const char *full);
void rtl_brief_free(struct rtl_brief *brief);

/*
 * At most `width` columns of it, with `must` (or "") at the end. Pieces that don't fit are left out; when those of rank
 * 0 don't fit, the first is cut in the middle, and at last all of it.
 */
void rtl_brief_fit(char *out, size_t size, const char *pieces, int width, const char *must, bool ascii);

/*
 * What `mine` has and `theirs` has not, the `number`th of it, as it can be shown: a word, "-word" for one that is
 * missing, "arg3=16". False when there is no more. `raw` tells the names of generated GEMMs apart, `spelled` all
 * others.
 */
bool rtl_brief_differs(char *out, size_t size, const char *mine, const char *theirs, int number);

/* --- for the readers of names (names_gemm.c, names_triton.c) and the rules --- */

enum { RTL_PIECE_MAX = 160, RTL_PIECES_BYTES = 3000 };
struct rtl_pieces {
    char text[RTL_PIECES_BYTES];
    size_t used;
};
/* Adds a piece, as far as there is room; an empty one isn't any. */
void rtl_pieces_add(struct rtl_pieces *p, int rank, const char *format, ...) __attribute__((format(printf, 3, 4)));

bool rtl_gemm_pieces(struct rtl_pieces *p, const char *raw);
bool rtl_triton_pieces(struct rtl_pieces *p, const char *raw, enum rtl_name_family *family);

/* "bf16" for "bf16", "half" or "bf16xbf16"; "bf16/mxfp4" for "bf16xbf16xmxfp4": a word of a C name that says a type. */
bool rtl_word_type(struct rtl_span word, char *out, size_t size);
bool rtl_word_tile(struct rtl_span word); /* 128x64x32 */

/* The next word between underscores; one that begins with a digit belongs to the one before ("WG16_4_4") if `joined`.
 */
bool rtl_span_word(struct rtl_span *rest, struct rtl_span *word, bool joined);

/* What a functor, or a function, does: "GeluCUDAKernelImpl" -> "gelu". */
void rtl_operation_word(struct rtl_span ident, char *out, size_t size);

#endif

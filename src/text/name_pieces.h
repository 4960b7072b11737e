/* The pieces that a brief name is put together from (names_brief.h), and the words that they are made of. */
#ifndef RTL_TEXT_NAME_PIECES_H
#define RTL_TEXT_NAME_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#include "text/name_forms.h"
#include "text/names_scan.h"

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
bool rtl_word_type(struct rtl_name_span word, char *out, size_t size);
bool rtl_word_tile(struct rtl_name_span word); /* 128x64x32 */

/* The next word between underscores; one that begins with a digit belongs to the one before ("WG16_4_4") if `joined`.
 */
bool rtl_span_word(struct rtl_name_span *rest, struct rtl_name_span *word, bool joined);

/* What a functor, or a function, does: "GeluCUDAKernelImpl" -> "gelu". */
void rtl_operation_word(struct rtl_name_span ident, char *out, size_t size);

#endif

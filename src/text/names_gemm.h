/* Names of generated GEMM kernels (Tensile). Pure. */
#ifndef RTL_TEXT_NAMES_GEMM_H
#define RTL_TEXT_NAMES_GEMM_H

#include "text/names_pieces.h"

/* Add the pieces of a Tensile name; false if `raw` is no such name. */
bool rtl_gemm_pieces(struct rtl_pieces *p, const char *raw);

#endif

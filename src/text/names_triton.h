/* Names of the Triton kernels that PyTorch's compiler writes. Pure. */
#ifndef RTL_TEXT_NAMES_TRITON_H
#define RTL_TEXT_NAMES_TRITON_H

#include "text/names_forms.h"
#include "text/names_pieces.h"

/* Add the pieces of a Triton name, and set the family if the name reveals it; false if `raw` is no such name. */
bool rtl_triton_pieces(struct rtl_pieces *p, const char *raw, enum rtl_name_family *family);

#endif

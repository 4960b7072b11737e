/*
 * Names of the Triton kernels that PyTorch's compiler writes: triton_KIND_fused_OPERATION..._NUMBER. Kind and number
 * distinguish kernels. Operations that compute precede those that only change the view of a tensor.
 */
#include "text/names_expand.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *code, *kind;
} kinds[] = {{"poi", "pointwise"}, {"red", "reduce"}, {"per", "persistent"}, {"tem", "template"}, {"for", "foreach"}};

/* Important operations: rank 1. */
static const char *const important[] = {"moe_forward", "fmha_v3_fwd", "log_softmax",  "softmax",     "convolution",
                                        "embedding",   "index_put",   "index_select", "masked_fill", "silu",
                                        "gelu",        "sigmoid",     "tanh",         "relu",        "cumsum",
                                        "sort",        "addmm",       "bmm",          "mm"};

/* Important operations with a longer name in PyTorch. */
static const struct {
    const char *words, *shown;
} renamed[] = {{"native_layer_norm_backward", "layer_norm_backward"},
               {"native_layer_norm", "layer_norm"},
               {"native_group_norm", "group_norm"},
               {"native_batch_norm_legit", "batch_norm"},
               {"native_dropout", "dropout"},
               {"scaled_dot_product_flash_attention", "flash_attention"},
               {"scaled_dot_product_attention", "scaled_dot_product_attention"},
               {"constant_pad_nd", "pad"}};

/* Operations that compute nothing: rank 3. All operations that are not listed have rank 2. */
static const char *const views[] = {"unsafe_view", "to_copy",   "as_strided", "empty_like", "view",  "transpose",
                                    "permute",     "unsqueeze", "squeeze",    "slice",      "split", "split_with_sizes",
                                    "select",      "stack",     "unbind",     "expand",     "clone", "zeros",
                                    "t",           "reshape",   "detach",     "full"};

/* True if `rest` begins with these words, which are more than *length bytes; set *length. */
static bool longer_match(struct rtl_name_span rest, const char *words, size_t *length)
{
    size_t n = strlen(words);
    if (n <= *length || !rtl_span_starts(rest, words) || (n < rest.length && rest.at[n] != '_'))
        return false;
    *length = n;
    return true;
}

bool rtl_triton_pieces(struct rtl_pieces *p, const char *raw, enum rtl_name_family *family)
{
    const char *kind = NULL, *at = raw + 7;
    if (strncmp(raw, "triton_", 7) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(at, kinds[i].code, 3) && at[3] == '_')
            kind = kinds[i].kind;
    if (!kind)
        return false;
    const char *end = at + strlen(at), *number = end;
    while (number > at && isdigit((unsigned char)number[-1]))
        number--;
    if (number == end || number[-1] != '_')
        number = end;
    rtl_pieces_add(p, 0, "triton");
    rtl_pieces_add(p, 0, "%s", kind);
    if (number < end)
        rtl_pieces_add(p, 0, "#%s", number);
    if (!strncmp(at, "red_", 4) || !strncmp(at, "per_", 4))
        *family = RTL_FAMILY_REDUCE;
    at += 4;
    if (!strncmp(at, "fused_", 6))
        at += 6;
    struct rtl_name_span rest = {at, number > at ? (size_t)(number - at) : 0};
    for (;;) {
        while (rest.length && *rest.at == '_') {
            rest.at++;
            rest.length--;
        }
        size_t length = 0;
        int rank = 2;
        const char *shown = NULL;
        for (size_t i = 0; i < sizeof important / sizeof *important; i++)
            if (longer_match(rest, important[i], &length))
                rank = 1;
        for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
            if (longer_match(rest, renamed[i].words, &length)) {
                rank = 1;
                shown = renamed[i].shown;
            }
        for (size_t i = 0; i < sizeof views / sizeof *views; i++)
            if (longer_match(rest, views[i], &length)) {
                rank = 3;
                shown = NULL;
            }
        struct rtl_name_span word = {rest.at, length};
        if (length) {
            rest.at += length;
            rest.length -= length;
        } else if (!rtl_span_word(&rest, &word, true)) {
            break;
        }
        if (memmem(word.at, word.length, "norm", 4))
            *family = RTL_FAMILY_NORM;
        else if (memmem(word.at, word.length, "attention", 9))
            *family = RTL_FAMILY_ATTENTION;
        rtl_pieces_add(p, rank, "%.*s", shown ? (int)strlen(shown) : (int)word.length, shown ? shown : word.at);
    }
    return true;
}

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

/* Ranks: 1 for important operations, 3 for those that compute nothing; operations that are not listed have 2. */
static const struct {
    const char *words, *shown;
    int rank;
} operations[] = {
    {"native_layer_norm_backward", "layer_norm_backward", 1},
    {"native_layer_norm", "layer_norm", 1},
    {"native_group_norm", "group_norm", 1},
    {"native_batch_norm_legit", "batch_norm", 1},
    {"native_dropout", "dropout", 1},
    {"scaled_dot_product_flash_attention", "flash_attention", 1},
    {"scaled_dot_product_attention", NULL, 1},
    {"constant_pad_nd", "pad", 1},
    {"moe_forward", NULL, 1},
    {"fmha_v3_fwd", NULL, 1},
    {"log_softmax", NULL, 1},
    {"softmax", NULL, 1},
    {"convolution", NULL, 1},
    {"embedding", NULL, 1},
    {"index_put", NULL, 1},
    {"index_select", NULL, 1},
    {"masked_fill", NULL, 1},
    {"silu", NULL, 1},
    {"gelu", NULL, 1},
    {"sigmoid", NULL, 1},
    {"tanh", NULL, 1},
    {"relu", NULL, 1},
    {"cumsum", NULL, 1},
    {"sort", NULL, 1},
    {"addmm", NULL, 1},
    {"bmm", NULL, 1},
    {"mm", NULL, 1},
    {"unsafe_view", NULL, 3},
    {"to_copy", NULL, 3},
    {"as_strided", NULL, 3},
    {"empty_like", NULL, 3},
    {"view", NULL, 3},
    {"transpose", NULL, 3},
    {"permute", NULL, 3},
    {"unsqueeze", NULL, 3},
    {"squeeze", NULL, 3},
    {"slice", NULL, 3},
    {"split", NULL, 3},
    {"split_with_sizes", NULL, 3},
    {"select", NULL, 3},
    {"stack", NULL, 3},
    {"unbind", NULL, 3},
    {"expand", NULL, 3},
    {"clone", NULL, 3},
    {"zeros", NULL, 3},
    {"t", NULL, 3},
    {"reshape", NULL, 3},
    {"detach", NULL, 3},
    {"full", NULL, 3},
};

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
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
            const char *words = operations[i].words;
            size_t n = strlen(words);
            if (n > length && rtl_span_starts(rest, words) && (n == rest.length || rest.at[n] == '_')) {
                length = n;
                rank = operations[i].rank;
                shown = operations[i].shown;
            }
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

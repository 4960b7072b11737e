/* Text as the terminal's clipboard wants it. See clipboard.h. */
#include "tui/clipboard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *rtl_clipboard_sequence(const char *text, size_t *length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t bytes = strlen(text), size = (bytes + 2) / 3 * 4 + 16, used = 0;
    char *sequence = malloc(size);
    if (!sequence)
        return NULL;
    used += (size_t)snprintf(sequence, size, "\033]52;c;");
    for (size_t i = 0; i < bytes; i += 3) {
        unsigned b = (unsigned)(unsigned char)text[i] << 16;
        b |= i + 1 < bytes ? (unsigned)(unsigned char)text[i + 1] << 8 : 0;
        b |= i + 2 < bytes ? (unsigned char)text[i + 2] : 0;
        sequence[used++] = digits[b >> 18];
        sequence[used++] = digits[b >> 12 & 63];
        sequence[used++] = i + 1 < bytes ? digits[b >> 6 & 63] : '=';
        sequence[used++] = i + 2 < bytes ? digits[b & 63] : '=';
    }
    sequence[used++] = 7;
    *length = used;
    return sequence;
}

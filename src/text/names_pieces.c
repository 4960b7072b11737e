/*
 * The pieces of a short name: collected, joined, and fitted into a column. See names_pieces.h.
 */
#include "text/names_pieces.h"
#include "text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_LEAST = 9, PIECES_SHOWN = 64 };

static const char *following_piece(const char *piece)
{
    return piece + strlen(piece) + 1;
}

void rtl_pieces_add(struct rtl_pieces *p, int rank, const char *format, ...)
{
    char piece[RTL_PIECE_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (n <= 0)
        return;
    size_t length = strlen(piece);
    if ((size_t)n > length) /* the piece was cut: drop an incomplete character */
        while (length && ((unsigned char)piece[length - 1] & 0xc0) == 0x80)
            length--;
    if ((size_t)n > length && length && (unsigned char)piece[length - 1] >= 0xc0)
        length--;
    if (!length || p->used + length + 3 > sizeof p->text)
        return;
    piece[length] = '\0';
    for (const char *other = p->text; p->used && *other; other = following_piece(other))
        if (!strcmp(other + 1, piece))
            return;
    p->text[p->used++] = (char)('0' + rank);
    memcpy(p->text + p->used, piece, length);
    p->used += length;
    p->text[p->used++] = '\0';
    p->text[p->used] = '\0';
}

char *rtl_pieces_join(const struct rtl_pieces *p)
{
    char *out = malloc(p->used + 1), *to = out;
    if (!out)
        return NULL;
    for (const char *piece = p->text; p->used && *piece; piece = following_piece(piece)) {
        if (to > out)
            *to++ = ' ';
        to = stpcpy(to, piece + 1);
    }
    *to = '\0';
    return out;
}

/* The pieces of rank 0 don't fit. Return the longest one, to be cut, or -1. While the cut would leave less than
 * PIECE_LEAST columns of it, drop the last other piece. */
static int drop_pieces(const char *const *shown, bool *take, int count, int *core, int room)
{
    int longest = -1;
    for (int i = 0; i < count; i++)
        if (take[i] && (longest < 0 || rtl_text_columns(shown[i]) > rtl_text_columns(shown[longest])))
            longest = i;
    for (int i = count - 1; longest >= 0 && i >= 0; i--) {
        int columns = rtl_text_columns(shown[longest] + 1);
        if (*core <= room || columns - (*core - room) >= (columns < PIECE_LEAST ? columns : PIECE_LEAST))
            break;
        if (take[i] && i != longest) {
            take[i] = false;
            *core -= rtl_text_columns(shown[i] + 1) + 1;
        }
    }
    return *core > room ? longest : -1;
}

void rtl_pieces_fit(char *out, size_t size, const char *pieces, int width, const char *must, bool ascii)
{
    const char *shown[PIECES_SHOWN];
    bool take[PIECES_SHOWN] = {false};
    int count = 0, room = width - (*must ? rtl_text_columns(must) + 1 : 0), core = 0, cores = 0;
    for (const char *piece = pieces; *piece && count < PIECES_SHOWN; piece = following_piece(piece))
        shown[count++] = piece;
    for (int i = 0; i < count; i++)
        if (*shown[i] == '0') {
            core += rtl_text_columns(shown[i] + 1) + (cores++ > 0);
            take[i] = true;
        }
    int cut = -1;
    if (core <= room) {
        int used = core;
        for (char rank = '1'; rank <= '9'; rank++)
            for (int i = 0; i < count; i++) {
                int more = *shown[i] == rank ? rtl_text_columns(shown[i] + 1) + (used > 0) : 0;
                if (more && used + more <= room && strcmp(shown[i] + 1, must) != 0) {
                    take[i] = true;
                    used += more;
                }
            }
    } else {
        cut = drop_pieces(shown, take, count, &core, room);
    }
    size_t used = 0;
    for (int i = 0; i < count && used + 1 < size; i++) {
        if (!take[i])
            continue;
        if (used)
            out[used++] = ' ';
        if (i == cut) {
            int columns = rtl_text_columns(shown[i] + 1) - (core - room);
            rtl_text_cut(out + used, size - used, shown[i] + 1, columns > 0 ? columns : 0, 0, ascii);
        } else {
            snprintf(out + used, size - used, "%s", shown[i] + 1);
        }
        used += strlen(out + used);
    }
    out[used] = '\0';
    if (*must && used + 1 < size)
        snprintf(out + used, size - used, "%s%s", used ? " " : "", must);
    if (rtl_text_columns(out) > width) { /* too narrow for any piece */
        char *whole = strdup(out);
        rtl_text_cut(out, size, whole ? whole : "", width, 0, ascii);
        free(whole);
    }
}

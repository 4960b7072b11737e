/*
 * From a kernel's raw name to its cell in the table:
 *   1. demangle it               names_forms.c rtl_name_full; demangle.c, also for what the runtime refuses
 *   2. choose a rule             names_short.c find_words: the user's (names_user.c), then those of names_tables.c
 *   3. make the rule's pieces    names_expand.c, with names_facts.c; names_gemm.c and names_triton.c parse such names
 *      or spell the whole name   names_forms.c rtl_name_spelled, where no rule says more
 *   4. fit pieces into a column  names_pieces.c
 *   5. distinguish the cell      make_short_cell below, with words from write_difference, or at last "~hash"
 * names_rules.h describes the rules, names_scan.c parses names, and this file keeps the names of one process.
 *
 * A name is made when it is first requested, so the first frame of a process with 10,000 kernels pays only for the rows
 * that it shows. When a column's geometry changes, its cells are made again in the order in which the kernels were
 * first seen, so that the row with the plain name keeps it.
 */
#include "text/names.h"
#include "base/array.h"
#include "text/names_pieces.h"
#include "text/names_scan.h"
#include "text/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/segment.h"

enum {
    WIDTH_FOR_CHOICE = 24, /* narrower columns are cut in one place only */
    COLUMNS_CACHED = 2,    /* the table's column, and the uncut names */
    WORDS_MAX = 4,         /* most words that distinguish one row from others */
    TRIES_MAX = 24,        /* words tried for each of them */
    WORD_MAX = 48,
    MUST_MAX = 120,
};

/* --- the words that distinguish two names that look alike --- */

static const char word_edges[] = "<>(),:{}[]&* ";

static bool next_word(const char **at, struct rtl_name_span *word)
{
    *at += strspn(*at, word_edges);
    *word = (struct rtl_name_span){*at, strcspn(*at, word_edges)};
    *at += word->length;
    return word->length > 0;
}

/* Find a complete word in a spelled name, or between the underscores of a name in C. */
static const char *find_word(const char *text, struct rtl_name_span word, bool spelled)
{
    const char *at = text, *end = text + strlen(text);
    while ((at = memmem(at, (size_t)(end - at), word.at, word.length))) {
        char before = at == text ? '\0' : at[-1], behind = at[word.length];
        bool joined = behind == '_' && isdigit((unsigned char)at[word.length + 1]); /* "WG16_4" of "WG16_4_4" */
        if (spelled ? (!before || strchr(word_edges, before)) && (!behind || strchr(word_edges, behind))
                    : (!before || before == '_') && (!behind || behind == '_' || behind == '.') && !joined)
            return at;
        at++;
    }
    return NULL;
}

/* Find the next word of a name in C that the other name lacks. Most parts are equal, so both are read in step. */
static bool next_own_word(struct rtl_name_span *rest, const char *other, struct rtl_name_span *beside,
                          struct rtl_name_span *word)
{
    while (rtl_span_word(rest, word, true)) {
        struct rtl_name_span theirs, before = *beside;
        if (rtl_span_word(beside, &theirs, true) && theirs.length == word->length &&
            !memcmp(theirs.at, word->at, word->length))
            continue;
        *beside = before;
        const char *found = find_word(other, *word, false);
        if (!found)
            return true;
        *beside = (struct rtl_name_span){found + word->length, strlen(found + word->length)};
    }
    return false;
}

static bool is_default(struct rtl_name_span word)
{
    return word.length && word.at[word.length - 1] == '0' &&
           (word.length < 2 || !isdigit((unsigned char)word.at[word.length - 2]));
}

/* Return the settings of a generated GEMM's name: from the tile on, behind the types. */
static const char *settings_of(const char *raw)
{
    const char *tile = strstr(raw, "Cijk_") ? strstr(raw, "_MT") : NULL;
    return tile && isdigit((unsigned char)tile[3]) ? tile + 1 : raw;
}

/* Find word `number` that only one of two names in C has: first settings that are not 0, then those that are. */
static bool c_name_difference(char *out, size_t size, const char *mine, const char *theirs, int number)
{
    const char *my_settings = settings_of(mine), *their_settings = settings_of(theirs);
    for (int pass = 0; pass < 6; pass++) {
        bool settings = pass < 4, missing = pass % 4 / 2 || pass == 5;
        const char *from = missing ? (settings ? their_settings : theirs) : (settings ? my_settings : mine);
        const char *other = missing ? (settings ? my_settings : mine) : (settings ? their_settings : theirs);
        struct rtl_name_span rest = {from, strlen(from)}, beside = {other, strlen(other)}, word;
        while (next_own_word(&rest, other, &beside, &word))
            if ((!settings || is_default(word) == (pass % 2 == 1)) && number-- == 0) {
                snprintf(out, size, "%s%.*s", missing ? "-" : "", (int)word.length, word.at);
                return true;
            }
    }
    return false;
}

/* Write a word of a spelled name without generic parts: "gpu_kernel_impl_nocast" -> "nocast". */
static void write_word(char *out, size_t size, struct rtl_name_span word)
{
    static const char helper[] = "gpu_kernel_impl";
    if (rtl_span_starts(word, "lambda#")) {
        snprintf(out, size, "%.*s", (int)(word.length - 6), word.at + 6);
    } else if (rtl_span_starts(word, helper)) {
        struct rtl_name_span kind = {word.at + sizeof helper,
                                     word.length > sizeof helper ? word.length - sizeof helper : 0};
        snprintf(out, size, "%.*s", kind.length ? (int)kind.length : 4, kind.length ? kind.at : "cast");
    } else if (rtl_span_ends(word, "_kernel")) {
        snprintf(out, size, "%.*s", (int)word.length - 7, word.at);
    } else {
        snprintf(out, size, "%.*s", (int)word.length, word.at);
    }
}

static bool spelled_difference(char *out, size_t size, const char *mine, const char *theirs, int number)
{
    struct rtl_name_span word, other;
    const char *at = mine, *by = theirs;
    while (next_word(&at, &word))
        if (word.length > 1 && !rtl_span_is(word, "lambda") && !rtl_span_is(word, "operator") &&
            !find_word(theirs, word, true) && number-- == 0) {
            write_word(out, size, word);
            return true;
        }
    at = mine;
    for (int place = 0; next_word(&at, &word); place++) {
        bool there = next_word(&by, &other);
        if ((!there || other.length != word.length || strncmp(other.at, word.at, word.length) != 0) && number-- == 0) {
            bool marked = rtl_span_starts(word, "lambda#") || *word.at == '#';
            int n = marked ? 0 : snprintf(out, size, "arg%d=", place);
            write_word(out + n, size - (size_t)n, word);
            return true;
        }
        if (!there)
            break;
    }
    return false;
}

/* Write difference `number` (from 0) between two names: a word that only `mine` has, "-word" for one that only `theirs`
 * has, or "arg3=16". Return false when there are no more. Both are names in C, or both are spelled names. */
static bool write_difference(char *out, size_t size, const char *mine, const char *theirs, int number)
{
    bool spelled = strpbrk(mine, "<(") != NULL;
    return spelled ? spelled_difference(out, size, mine, theirs, number)
                   : c_name_difference(out, size, mine, theirs, number);
}

/* --- the names of one process --- */

struct name_entry {
    char *forms[RTL_NAME_FORM_COUNT];
    const char *raw; /* the reader's, stable */
    size_t length;
    uint32_t hash; /* of the raw name */
    char *pieces;  /* pieces and spelled: see struct rtl_brief */
    char *spelled;
    enum rtl_name_family family;
};

/* One column: the cell of each kernel, and a hash set of the cells in use. */
struct name_column {
    enum rtl_name_form form;
    int width;
    bool ascii, valid;
    char *cell[RTL_KERNELS_MAX];
    bool known[RTL_KERNELS_MAX]; /* the kernel is in `seen` */
    struct given_cell {
        const char *cell; /* NULL: free */
        uint32_t id;
    } * set;
    size_t set_size, set_used; /* size is a power of two */
    uint32_t *seen;            /* ids in the order of first sight */
    uint32_t seen_count, seen_size;
};

struct rtl_names {
    struct name_entry entries[RTL_KERNELS_MAX];
    struct name_column columns[COLUMNS_CACHED];
    const struct rtl_name_rules *rules; /* the user's, or NULL */
};

const char rtl_name_missing[] = "?";

static uint32_t hash_bytes(const char *bytes, size_t length)
{
    uint32_t h = 2166136261u; /* FNV-1a, then mixed: a cell may show only three digits */
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)bytes[i]) * 16777619u;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

struct rtl_names *rtl_names_create(void)
{
    struct rtl_names *names = calloc(1, sizeof(struct rtl_names));
    if (names)
        names->rules = rtl_name_rules_in_force();
    return names;
}

static void clear_column(struct name_column *c)
{
    for (size_t i = 0; i < c->seen_count; i++) {
        free(c->cell[c->seen[i]]);
        c->cell[c->seen[i]] = NULL;
    }
    free(c->set);
    c->set = NULL;
    c->set_size = c->set_used = 0;
}

void rtl_names_free(struct rtl_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < COLUMNS_CACHED; i++) {
        clear_column(&names->columns[i]);
        free(names->columns[i].seen);
    }
    for (uint32_t i = 0; i < RTL_KERNELS_MAX; i++)
        rtl_names_forget(names, i);
    free(names);
}

void rtl_names_forget(struct rtl_names *names, uint32_t id)
{
    if (id >= RTL_KERNELS_MAX)
        return;
    struct name_entry *e = &names->entries[id];
    for (int f = 0; f < RTL_NAME_FORM_COUNT; f++)
        free(e->forms[f]);
    free(e->pieces);
    free(e->spelled);
    *e = (struct name_entry){0};
}

/* Make the uncut short form; the entry keeps its pieces. */
static char *short_form(const struct rtl_names *names, struct name_entry *e, const char *plain, const char *full)
{
    struct rtl_brief brief;
    if (!rtl_brief_make(&brief, names->rules, plain, full))
        return NULL;
    e->pieces = brief.pieces;
    e->spelled = brief.spelled;
    e->family = brief.family;
    return brief.whole;
}

enum rtl_name_family rtl_names_family(struct rtl_names *names, uint32_t id, const char *raw, size_t length)
{
    if (id >= RTL_KERNELS_MAX || rtl_names_form(names, id, raw, length, RTL_NAME_SHORT) == rtl_name_missing)
        return RTL_FAMILY_OTHER;
    return names->entries[id].family;
}

const char *rtl_names_form(struct rtl_names *names, uint32_t id, const char *raw, size_t length,
                           enum rtl_name_form form)
{
    if (id >= RTL_KERNELS_MAX || form >= RTL_NAME_FORM_COUNT)
        return rtl_name_missing;
    struct name_entry *e = &names->entries[id];
    if (!e->forms[form]) {
        if (!e->raw) {
            e->raw = raw;
            e->length = length;
            e->hash = hash_bytes(raw, length);
        }
        if (form == RTL_NAME_MANGLED) {
            e->forms[form] = rtl_name_mangled(raw, length);
        } else if (form == RTL_NAME_FULL) {
            e->forms[form] = rtl_name_full(raw, length);
        } else {
            const char *full = rtl_names_form(names, id, raw, length, RTL_NAME_FULL);
            const char *plain = rtl_names_form(names, id, raw, length, RTL_NAME_MANGLED);
            e->forms[form] = form == RTL_NAME_SHORT ? short_form(names, e, plain, full) : rtl_name_template(full);
        }
        if (e->forms[form] && !*e->forms[form]) {
            free(e->forms[form]);
            e->forms[form] = strdup("(no name)");
        }
    }
    return e->forms[form] ? e->forms[form] : rtl_name_missing;
}

static struct given_cell *cell_slot(struct given_cell *set, size_t size, const char *text)
{
    size_t at = hash_bytes(text, strlen(text)) & (size - 1);
    while (set[at].cell && strcmp(set[at].cell, text) != 0)
        at = (at + 1) & (size - 1);
    return &set[at];
}

/* Make room for one more cell; false without memory. */
static bool grow_cells(struct name_column *c)
{
    if (c->set_used * 2 < c->set_size)
        return true;
    size_t size = c->set_size ? c->set_size * 2 : 256;
    struct given_cell *bigger = calloc(size, sizeof *bigger);
    if (!bigger)
        return false;
    for (size_t i = 0; i < c->set_size; i++)
        if (c->set[i].cell)
            *cell_slot(bigger, size, c->set[i].cell) = c->set[i];
    free(c->set);
    c->set = bigger;
    c->set_size = size;
    return true;
}

/* True unless another row's name also begins and ends with the two ends that the cut cell shows: "...f16>" is the end
 * of a bf16 name, too. */
static bool tells_apart(const struct rtl_names *names, const struct name_column *c, uint32_t id, const char *whole,
                        const char *cell)
{
    size_t cell_length = strlen(cell), length = strlen(whole), head = 0, tail = 0;
    while (cell[head] && cell[head] == whole[head])
        head++;
    while (tail < cell_length && tail < length && cell[cell_length - 1 - tail] == whole[length - 1 - tail])
        tail++;
    for (size_t i = 0; i < c->seen_count; i++) {
        uint32_t other = c->seen[i];
        const char *theirs = other == id || !c->cell[other] ? NULL : names->entries[other].forms[c->form];
        size_t their_length = theirs ? strlen(theirs) : 0;
        if (theirs && their_length >= head + tail && !strncmp(theirs, whole, head) &&
            !strcmp(theirs + their_length - tail, whole + length - tail))
            return false;
    }
    return true;
}

/* A cell under construction. */
struct cell_work {
    struct rtl_names *names;
    struct name_column *column;
    uint32_t id;
    const char *whole;
    int width;
    char *cell;
    size_t size;
};

/* Return the row that shows this very text, or NULL. */
static const struct given_cell *cell_owner(const struct cell_work *m)
{
    const struct given_cell *slot = cell_slot(m->column->set, m->column->set_size, m->cell);
    return slot->cell ? slot : NULL;
}

/* Find word `number` that distinguishes a row from another: first in the spelled or mangled, then in the full names. */
static bool find_difference(const struct cell_work *m, const struct name_entry *theirs, int number, char word[WORD_MAX])
{
    const struct name_entry *mine = &m->names->entries[m->id];
    const char *a = mine->spelled ? mine->spelled : mine->forms[RTL_NAME_MANGLED];
    const char *b = theirs->spelled ? theirs->spelled : theirs->forms[RTL_NAME_MANGLED];
    int first = 0;
    if (!a || !b)
        return false;
    if (write_difference(word, WORD_MAX, a, b, number))
        return true;
    while (first < number && write_difference(word, WORD_MAX, a, b, first)) /* count the words of the first source */
        first++;
    a = mine->forms[RTL_NAME_FULL];
    b = theirs->forms[RTL_NAME_FULL];
    return a && b && write_difference(word, WORD_MAX, a, b, number - first);
}

static void shorten_word(char word[WORD_MAX], int width, bool ascii)
{
    char whole[WORD_MAX];
    memcpy(whole, word, sizeof whole);
    rtl_text_cut(word, WORD_MAX, whole, width, 0, ascii);
}

/* Make a cell of the short form. If another row already shows it, append words that distinguish the two rows. Return
 * true if the cell is unique. */
static bool make_short_cell(struct cell_work *m)
{
    const struct name_entry *mine = &m->names->entries[m->id];
    char must[MUST_MAX] = "";
    if (!mine->pieces)
        return false;
    if (rtl_text_columns(m->whole) <= m->width)
        snprintf(m->cell, m->size, "%s", m->whole);
    else
        rtl_pieces_fit(m->cell, m->size, mine->pieces, m->width, "", m->column->ascii);
    for (int words = 0; words < WORDS_MAX; words++) {
        const struct given_cell *other = cell_owner(m);
        if (!other)
            return true;
        const struct name_entry *theirs = &m->names->entries[other->id];
        size_t used = strlen(must), first = 0;
        char word[WORD_MAX];
        for (int try = 0; try < 2 * TRIES_MAX; try++) { /* words of a third of the width at most, then any */
            int number = try % TRIES_MAX;
            if (!find_difference(m, theirs, number, word)) {
                try += TRIES_MAX - number - 1;
                continue;
            }
            if ((rtl_text_columns(word) > 1 + m->width / 3) != (try >= TRIES_MAX))
                continue;
            if (rtl_text_columns(word) > m->width / 2)
                shorten_word(word, m->width / 2, m->column->ascii);
            int room = m->width - (int)used - rtl_text_columns(word) - 2;
            if (room < m->width / 3 || used + strlen(word) + 2 > sizeof must)
                continue;
            snprintf(must + used, sizeof must - used, "%s%s", used ? " " : "", word);
            rtl_pieces_fit(m->cell, m->size, mine->pieces, m->width, must, m->column->ascii);
            if (!cell_owner(m))
                return true;
            first = first ? first : strlen(must); /* the word distinguishes this row, but not a third one */
            must[used] = '\0';
        }
        if (!first)
            return false;
        find_difference(m, theirs, 0, word);
        snprintf(must + used, sizeof must - used, "%s%s", used ? " " : "", word);
        rtl_pieces_fit(m->cell, m->size, mine->pieces, m->width, must, m->column->ascii);
    }
    return false;
}

/* Make a cell of any other form: cut in the middle. Return true if the cell is unique and no other row has its ends. */
static bool make_cut_cell(struct cell_work *m)
{
    /* Instances of one template differ in the middle: a longer end may distinguish them better than a hash. */
    for (int tenths = 4; tenths <= 7; tenths++) {
        rtl_text_cut(m->cell, m->size, m->whole, m->width, tenths == 4 ? 0 : m->width * tenths / 10, m->column->ascii);
        bool is_cut = strcmp(m->cell, m->whole) != 0;
        if (!cell_owner(m) && (!is_cut || tells_apart(m->names, m->column, m->id, m->whole, m->cell)))
            return true;
        if (!is_cut || m->width < WIDTH_FOR_CHOICE)
            break;
    }
    return false;
}

/* Write "~" and a kernel's id in three letters or digits, which suffice for RTL_KERNELS_MAX. In fewer columns two cells
 * may be equal. */
static void write_id(char *cell, uint32_t id, int width)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    static_assert(RTL_KERNELS_MAX <= 36 * 36 * 36, "three digits");
    char text[] = {'~', digits[id / (36 * 36) % 36], digits[id / 36 % 36], digits[id % 36], '\0'};
    snprintf(cell, (size_t)width + 1, "%s", width < 4 ? text + 4 - width : text);
}

/*
 * Make a cell with a mark: three digits of the hash, or more while another row has that cell; then the row's id, which
 * is unique; then a counter, in case a kernel's name ends like that. Each failed try met a different cell, so the loop
 * is bounded by the number of cells.
 */
static void make_marked_cell(struct cell_work *m, bool brief)
{
    const struct name_entry *mine = &m->names->entries[m->id];
    for (int digits = 3; digits <= 9 + (int)m->column->set_used; digits++) {
        char mark[24];
        if (digits <= 8)
            snprintf(mark, sizeof mark, "~%0*x", digits, mine->hash >> (32 - 4 * digits));
        else if (digits == 9)
            snprintf(mark, sizeof mark, "~#%u", m->id);
        else
            snprintf(mark, sizeof mark, "~#%u.%d", m->id, digits - 9);
        int columns = (int)strlen(mark);
        if (columns >= m->width) { /* no room for a mark behind a letter: the id alone */
            write_id(m->cell, m->id, m->width);
            return;
        }
        if (brief && rtl_text_columns(m->whole) > m->width - columns)
            rtl_pieces_fit(m->cell, m->size, mine->pieces, m->width - columns, "", m->column->ascii);
        else
            rtl_text_cut(m->cell, m->size, m->whole, m->width - columns, 0, m->column->ascii);
        snprintf(m->cell + strlen(m->cell), m->size - strlen(m->cell), "%s", mark);
        if (!cell_owner(m))
            return;
    }
}

static bool make_cell(struct rtl_names *names, struct name_column *c, uint32_t id)
{
    const char *whole = names->entries[id].forms[c->form];
    if (!whole)
        whole = rtl_name_missing;
    bool brief = c->form == RTL_NAME_SHORT && names->entries[id].pieces;
    size_t size = strlen(whole) + (brief ? RTL_PIECES_BYTES : 0) + MUST_MAX + 32;
    struct cell_work m = {.names = names,
                          .column = c,
                          .id = id,
                          .whole = whole,
                          .width = c->width == RTL_NAMES_WHOLE ? (int)size : c->width,
                          .cell = malloc(size),
                          .size = size};
    if (!m.cell || !grow_cells(c)) {
        free(m.cell);
        return false;
    }
    if (!(brief ? make_short_cell(&m) : make_cut_cell(&m)))
        make_marked_cell(&m, brief);
    char *fit = realloc(m.cell, strlen(m.cell) + 1);
    c->cell[id] = fit ? fit : m.cell;
    struct given_cell *slot = cell_slot(c->set, c->set_size, c->cell[id]);
    if (!slot->cell) {
        *slot = (struct given_cell){c->cell[id], id};
        c->set_used++;
    }
    return true;
}

static bool note_seen(struct name_column *c, uint32_t id)
{
    if (!rtl_grow(&c->seen, &c->seen_size, c->seen_count + 1, sizeof *c->seen))
        return false;
    c->seen[c->seen_count++] = id;
    return true;
}

const char *rtl_names_cell(struct rtl_names *names, uint32_t id, const char *raw, size_t length,
                           enum rtl_name_form form, int width, bool ascii)
{
    if (id >= RTL_KERNELS_MAX || form >= RTL_NAME_FORM_COUNT || width < 0)
        return "";
    struct name_column *c = &names->columns[width == RTL_NAMES_WHOLE];
    const char *whole = rtl_names_form(names, id, raw, length, form);
    if (!c->valid || c->form != form || c->width != width || c->ascii != ascii) {
        clear_column(c);
        c->form = form;
        c->width = width;
        c->ascii = ascii;
        c->valid = true;
        for (size_t i = 0; i < c->seen_count; i++) {
            uint32_t other = c->seen[i];
            rtl_names_form(names, other, names->entries[other].raw, names->entries[other].length, form);
            if (!make_cell(names, c, other))
                return whole;
        }
    }
    if (!c->cell[id]) {
        if (!make_cell(names, c, id))
            return whole;
        if (!c->known[id] && note_seen(c, id))
            c->known[id] = true;
    }
    return c->cell[id];
}

bool rtl_names_is(struct rtl_names *names, uint32_t id, const char *raw, size_t length, const char *text)
{
    bool is = false;
    for (int form = 0; form < RTL_NAME_FORM_COUNT && !is; form++)
        is = strcmp(rtl_names_form(names, id, raw, length, (enum rtl_name_form)form), text) == 0;
    return is;
}

bool rtl_names_match(struct rtl_names *names, uint32_t id, const char *raw, size_t length, const char *needle)
{
    return rtl_text_contains(rtl_names_form(names, id, raw, length, RTL_NAME_FULL), needle) ||
           rtl_text_contains(rtl_names_form(names, id, raw, length, RTL_NAME_SHORT), needle) ||
           rtl_text_contains(rtl_names_form(names, id, raw, length, RTL_NAME_MANGLED), needle);
}

/* The forms of one kernel name, except the short one. See names_forms.h. */
#include "text/names_forms.h"
#include "text/demangle.h"
#include "text/names_scan.h"
#include "text/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    RAW_MAX = 32 << 10, /* bytes read of a name; a longer one ends with "…" */
    NESTED_MAX = 8,
};

static const char *const forms[] = {
#define FORM(sym, label, text) [RTL_NAME_##sym] = label,
    RTL_NAME_FORMS(FORM)
#undef FORM
};

const char *rtl_name_form_name(enum rtl_name_form form)
{
    return forms[form < RTL_NAME_FORM_COUNT ? form : 0];
}

const char *rtl_name_family_name(enum rtl_name_family family)
{
    static const char *const names[] = {
#define FAMILY(sym, label, text) [RTL_FAMILY_##sym] = label,
        RTL_NAME_FAMILIES(FAMILY)
#undef FAMILY
    };
    return names[family < RTL_FAMILY_COUNT ? family : RTL_FAMILY_OTHER];
}

bool rtl_name_family_parse(const char *name, enum rtl_name_family *family)
{
    for (int i = 0; i < RTL_FAMILY_COUNT; i++)
        if (!strcmp(name, rtl_name_family_name((enum rtl_name_family)i))) {
            *family = (enum rtl_name_family)i;
            return true;
        }
    return false;
}

bool rtl_name_form_parse(const char *name, enum rtl_name_form *form)
{
    for (int i = 0; i < RTL_NAME_FORM_COUNT; i++)
        if (!strcmp(name, forms[i])) {
            *form = (enum rtl_name_form)i;
            return true;
        }
    return false;
}

static char *escape_name(const char *bytes, size_t length)
{
    bool cut = length > RAW_MAX;
    if (cut)
        length = RAW_MAX;
    else if (rtl_text_plain(bytes, length) == length)
        return strndup(bytes, length);
    size_t size = length * 10 + 8; /* the longest escape of one byte is "\x00"; of four, "\u{10ffff}" */
    char *big = malloc(size);
    if (!big)
        return NULL;
    size_t used = rtl_text_escape(big, size - 4, bytes, length);
    if (cut)
        memcpy(big + used, "…", sizeof "…");
    char *fit = realloc(big, used + (cut ? sizeof "…" : 1));
    return fit ? fit : big;
}

static size_t length_without_kd(const char *raw, size_t length)
{
    return length > 3 && !memcmp(raw + length - 3, ".kd", 3) ? length - 3 : length;
}

char *rtl_name_mangled(const char *raw, size_t length)
{
    return escape_name(raw, length_without_kd(raw, length));
}

char *rtl_name_full(const char *raw, size_t length)
{
    length = length_without_kd(raw, length);
    char *plain = rtl_demangle(raw, length);
    char *safe = plain ? escape_name(plain, strlen(plain)) : escape_name(raw, length);
    free(plain);
    return safe;
}

char *rtl_name_template(const char *full)
{
    size_t length = strlen(full);
    /* the compiler appends " [clone .x]" to the name */
    const char *clone = strstr(full, " [clone");
    if (clone)
        length = (size_t)(clone - full);
    struct rtl_name_span name = rtl_span_declared((struct rtl_name_span){full, length});
    return name.length ? strndup(name.at, name.length)
                       : strdup(full); /* nothing but "[clone", which no compiler writes */
}

/* Return the length of a word, or of all words of one type ("unsigned long"). */
static size_t word_length(const char *text)
{
    size_t n = 0;
    while (rtl_is_word(text[n]))
        n++;
    size_t end = n;
    while (rtl_is_builtin_word(text + end - n, n) && text[end] == ' ') {
        size_t next = 0;
        while (rtl_is_word(text[end + 1 + next]))
            next++;
        if (!rtl_is_builtin_word(text + end + 1, next))
            break;
        end += 1 + next;
        n = next;
    }
    return end;
}

/* The output of a scan. It is never longer than the input, so a buffer of the input's size is enough. */
struct spelling {
    char *text;
    size_t length;
    int nested; /* functions within functions */
};

static void spell_bytes(struct spelling *o, const char *from, size_t length)
{
    memcpy(o->text + o->length, from, length);
    o->length += length;
}

/* Drop the scope at the end of the output, because "::" follows. Return true if the separator has to stay. */
static bool drop_scope(struct spelling *o)
{
    for (int guard = 0; guard < 4; guard++) {
        while (o->length && o->text[o->length - 1] == ' ')
            o->length--;
        if (!o->length)
            return false;
        char last = o->text[o->length - 1];
        if (last == '>' || last == '}')
            return true; /* keep arguments: they distinguish instances */
        if (last == ')') {
            size_t at = o->length;
            int depth = 0;
            while (at) {
                at--;
                if (o->text[at] == ')')
                    depth++;
                else if (o->text[at] == '(' && !--depth)
                    break;
            }
            if (depth)
                return true;
            o->length = at;
            /* drop "(anonymous namespace)"; keep a parameter list, which has a function in front of it */
            if (!at || !rtl_is_word(o->text[at - 1]))
                return at && (o->text[at - 1] == '>' || o->text[at - 1] == '}');
            return true;
        }
        size_t start = o->length;
        while (start && rtl_is_word(o->text[start - 1]))
            start--;
        if (start == o->length)
            return true;
        bool qualifier = o->length - start == 5 && !strncmp(o->text + start, "const", 5);
        o->length = start;
        if (!qualifier)
            return false;
    }
    return true;
}

/* Write "Enum=" for the cast "(ns::Enum)3", nothing for integer types. Return the length of the cast, 0 if none. */
static size_t spell_cast(struct spelling *o, const char *text)
{
    size_t end = 1, last = 1;
    while (rtl_is_word(text[end]) || text[end] == ':' || text[end] == ' ') {
        if (text[end] == ':')
            last = end + 1;
        end++;
    }
    if (text[end] != ')' || end == 1 || !(isdigit((unsigned char)text[end + 1]) || text[end + 1] == '-'))
        return 0;
    size_t first = 0;
    while (rtl_is_word(text[last + first]))
        first++;
    if (!rtl_is_builtin_word(text + last, first) && !(first == 4 && !strncmp(text + last, "bool", 4))) {
        spell_bytes(o, text + last, end - last);
        o->text[o->length++] = '=';
    }
    return end + 1;
}

static size_t spell_number(struct spelling *o, const char *text)
{
    size_t end = 0;
    while (rtl_is_word(text[end]) || (text[end] == '.' && isdigit((unsigned char)text[end + 1])))
        end++;
    size_t keep = end;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    while (!hex && keep > 1 && (text[keep - 1] == 'u' || text[keep - 1] == 'l'))
        keep--;
    spell_bytes(o, text, keep);
    return end;
}

static void spell(struct spelling *o, const char *text);

/* Write the short name of a function that is a template argument: "&(float ns::silu<float>(float const&))". `text`
 * begins at the round bracket. Return the bytes read, 0 if this is no function. */
static size_t spell_function(struct spelling *o, const char *text)
{
    struct rtl_scan s = {.depth = 0};
    size_t end = 0;
    if (o->nested >= NESTED_MAX)
        return 0;
    do
        rtl_scan_step(&s, text, end);
    while (text[++end] && s.depth && !s.lost);
    if (s.depth || s.lost || end < 4 || text[end - 2] != ')')
        return 0;
    char *inner = strndup(text + 1, end - 2), *name = inner ? rtl_name_template(inner) : NULL;
    bool shorter = name && *name && strlen(name) < strlen(inner) && *name != '(';
    if (shorter) {
        if (o->length && o->text[o->length - 1] == '&')
            o->length--;
        o->nested++;
        spell(o, name);
        o->nested--;
    }
    free(inner);
    free(name);
    return shorter ? end : 0;
}

/* Write a name without scopes, blanks and long type names. Unknown syntax stays unchanged. */
static void spell(struct spelling *o, const char *text)
{
    int angles = 0;
    size_t whole = strlen(text);
    for (size_t at = 0; text[at];) {
        const char *here = text + at;
        if (rtl_operator_at(text, at, whole)) {
            size_t end = rtl_operator_end(text, at);
            spell_bytes(o, here, end - at);
            at = end;
        } else if (!strncmp(here, "::", 2)) {
            if (drop_scope(o))
                spell_bytes(o, "::", 2);
            at += 2;
        } else if (!strncmp(here, "{lambda(", 8)) {
            /* drop the parameters of a lambda, which repeat its arguments, and keep its number */
            const char *close = strchr(here, '}'), *mark = close ? memrchr(here, '#', (size_t)(close - here)) : NULL;
            if (!mark) {
                o->text[o->length++] = *here;
                at++;
                continue;
            }
            spell_bytes(o, "{lambda", 7);
            spell_bytes(o, mark, (size_t)(close - mark) + 1);
            at = (size_t)(close - text) + 1;
        } else if (*here == '(' && angles) {
            size_t read = spell_cast(o, here);
            if (!read)
                read = spell_function(o, here);
            if (!read) {
                o->text[o->length++] = *here;
                read = 1;
            }
            at += read;
        } else if (isdigit((unsigned char)*here)) {
            at += spell_number(o, here);
        } else if (rtl_is_word(*here)) {
            size_t length = word_length(here);
            const char *brief = angles && strncmp(here + length, "::", 2) ? rtl_type_word(here, length) : NULL;
            size_t n = brief ? strlen(brief) : length;
            if (n > length) { /* the output must not be longer than the input */
                brief = NULL;
                n = length;
            }
            spell_bytes(o, brief ? brief : here, n);
            at += length;
        } else {
            char before = o->length ? o->text[o->length - 1] : 0;
            angles += *here == '<';
            angles -= *here == '>' && angles;
            if (*here != ' ' || (rtl_is_word(before) && rtl_is_word(here[1])))
                o->text[o->length++] = *here;
            at++;
        }
    }
    o->text[o->length] = 0;
}

char *rtl_name_spelled(const char *name)
{
    struct spelling o = {.text = malloc(strlen(name) + 1)};
    if (o.text)
        spell(&o, name);
    if (o.text && !o.length) {
        free(o.text);
        return strdup(name);
    }
    return o.text;
}

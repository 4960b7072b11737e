/*
 * Kernel names for people: demangled, shortened so that instances of one template stay apart, cut to a column.
 *
 * Statistics are keyed by the full name; this is only what is shown. Rules: template arguments stay, types are
 * shortened (bf16, f16, i32), return type, parameters and namespaces go, a cut falls in the middle at a token's edge,
 * and what would look like another row is cut elsewhere or gets "~hash" of the full name. A shown name never changes
 * while the column keeps its width: it is made at first sight, in the order of first sight.
 */
#ifndef RTL_TEXT_NAMES_H
#define RTL_TEXT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(symbol, name on the command line and on screen, what it shows) */
#define RTL_NAME_FORMS(X)                                                                \
    X(SHORT, "short", "without namespaces, return type and parameters; types shortened") \
    X(TEMPLATE, "template", "without return type and parameters")                        \
    X(FULL, "full", "all that the compiler knew")                                        \
    X(MANGLED, "mangled", "as it stands in the code object")

#define RTL_ENUM_NAME_FORM(sym, name, text) RTL_NAME_##sym,
enum rtl_name_form { RTL_NAME_FORMS(RTL_ENUM_NAME_FORM) RTL_NAME_FORM_COUNT };
#undef RTL_ENUM_NAME_FORM

const char *rtl_name_form_name(enum rtl_name_form form);
bool rtl_name_form_parse(const char *name, enum rtl_name_form *form);

/* --- pure: one name at a time; every result is safe text (text/text.h) that the caller frees, NULL without memory ---
 */
char *rtl_name_full(const char *raw, size_t length);     /* demangled if it can be, ".kd" dropped */
char *rtl_name_template(const char *full);               /* of a full name */
char *rtl_name_short(const char *raw, const char *full); /* of both: libraries encode facts in C names */

/* --- the names of one process, by kernel id --- */
struct rtl_names;
struct rtl_names *rtl_names_create(void);
void rtl_names_free(struct rtl_names *names);

/* What a name is when there is no memory for it: this very string. */
extern const char rtl_name_missing[];

/* The name in one form, whole; owned by `names` and stable. `raw` has to outlive `names` (the reader's names do). */
const char *rtl_names_form(struct rtl_names *names, uint32_t id, const char *raw, size_t length,
                           enum rtl_name_form form);

/*
 * The name in a column: at most `width` columns, different from every other name seen in that column, unless it is too
 * narrow to tell anything apart. Owned by `names`, valid until the geometry changes. RTL_NAMES_WHOLE asks for the uncut
 * form (with "~hash" only where two names are alike): titles and exports use it, and it has a geometry of its own.
 */
#define RTL_NAMES_WHOLE 0
const char *rtl_names_cell(struct rtl_names *names, uint32_t id, const char *raw, size_t length,
                           enum rtl_name_form form, int width, bool ascii);

/* True if the needle stands in the full, short or mangled name. */
bool rtl_names_match(struct rtl_names *names, uint32_t id, const char *raw, size_t length, const char *needle);

#endif

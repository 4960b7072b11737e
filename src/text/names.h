/*
 * Kernel names for people: demangled, shortened so that instances of one template stay apart, cut to a column.
 *
 * Statistics are keyed by the full name; this is only what is shown. The short form says first what a kernel does, then
 * of which type its numbers are and its tile, by rules for the known libraries (names_rules.h) and the user's own;
 * other names keep their template arguments, types shortened (bf16, f16, i32), without return type, parameters and
 * namespaces. In a column what says least is left out first. What would look like another row shows a word that tells
 * it apart, and
 * "~hash" of the full name only where no word does. A shown name never changes while the column keeps its width: it is
 * made at first sight, in the order of first sight.
 */
#ifndef RTL_TEXT_NAMES_H
#define RTL_TEXT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/names_forms.h"
#include "text/names_short.h"
#include "text/names_user.h"

/* --- the names of one process, by kernel id --- */
struct rtl_names;
struct rtl_names *rtl_names_create(void);
void rtl_names_free(struct rtl_names *names);
/* The id may mean another kernel from now on; none of its cells may have been asked for. */
void rtl_names_forget(struct rtl_names *names, uint32_t id);

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

enum rtl_name_family rtl_names_family(struct rtl_names *names, uint32_t id, const char *raw, size_t length);

/* True if the needle stands in the full, short or mangled name. */
bool rtl_names_match(struct rtl_names *names, uint32_t id, const char *raw, size_t length, const char *needle);

#endif

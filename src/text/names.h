/*
 * Kernel names as the screen shows them: demangled, shortened, and cut to a column. Statistics use the raw names.
 *
 * The short form begins with the operation, the number type and the tile. Rules for known libraries (names_rules.h) and
 * the user's rules extract them. Other names keep their template arguments with short types (bf16, f16, i32), without
 * return type, parameters and namespaces. A narrow column drops the least important pieces first. Two rows never look
 * alike: the second shows a word that distinguishes it, or "~hash" of the raw name if no word does. A cell does not
 * change while the column keeps its width.
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
/* Forget a kernel, because its id will mean another one. None of its cells may have been requested. */
void rtl_names_forget(struct rtl_names *names, uint32_t id);

/* The functions below return this very string without memory. */
extern const char rtl_name_missing[];

/* The uncut name in one form; `names` owns it, and it is stable. `raw` must outlive `names` (the reader's names do). */
const char *rtl_names_form(struct rtl_names *names, uint32_t id, const char *raw, size_t length,
                           enum rtl_name_form form);

/*
 * The name in at most `width` columns. It differs from every other name seen in that column, unless the column is too
 * narrow. `names` owns it; it is valid until form, width or ascii change. The width RTL_NAMES_WHOLE means uncut, for
 * titles and exports; these cells are cached apart from the table's column.
 */
#define RTL_NAMES_WHOLE 0
const char *rtl_names_cell(struct rtl_names *names, uint32_t id, const char *raw, size_t length,
                           enum rtl_name_form form, int width, bool ascii);

enum rtl_name_family rtl_names_family(struct rtl_names *names, uint32_t id, const char *raw, size_t length);

/* True if this is the full, short, template or mangled name. */
bool rtl_names_is(struct rtl_names *names, uint32_t id, const char *raw, size_t length, const char *text);
/* True if the full, short or mangled name contains the needle. */
bool rtl_names_match(struct rtl_names *names, uint32_t id, const char *raw, size_t length, const char *needle);

#endif

/* Adds values to json-c's objects and checks each step. */
#ifndef RTL_COMMAND_JSON_WRITER_H
#define RTL_COMMAND_JSON_WRITER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text/quote.h"

/* Set by each failed step. Without memory json-c returns NULL, and would print a wrong value, null. All steps
 * accept NULL as their object: an earlier step failed. */
struct json_writer {
    bool failed;
};

static inline void put_json(struct json_writer *w, struct json_object *object, const char *key,
                            struct json_object *value)
{
    if (!object || !value || json_object_object_add(object, key, value)) {
        json_object_put(value);
        w->failed = true;
    }
}

/* Adds the twin of an integer that many readers would round, see RTL_JSON_EXACT. */
static inline void put_twin(struct json_writer *w, struct json_object *object, const char *key,
                            struct json_object *value)
{
    char twin[80];
    snprintf(twin, sizeof twin, "%s" RTL_JSON_TWIN, key);
    put_json(w, object, twin, value);
}

static inline void put_number(struct json_writer *w, struct json_object *object, const char *key, uint64_t value)
{
    struct json_object *number = json_object_new_uint64(value);
    put_json(w, object, key, number);
    if (value >= RTL_JSON_EXACT && !w->failed)
        put_twin(w, object, key, json_object_new_string(json_object_to_json_string(number)));
}

static inline void put_measured(struct json_writer *w, struct json_object *object, const char *key, bool measured,
                                uint64_t value)
{
    if (measured)
        put_number(w, object, key, value);
    else if (!object || json_object_object_add(object, key, NULL))
        w->failed = true;
}

static inline void put_text(struct json_writer *w, struct json_object *object, const char *key, const char *value)
{
    put_json(w, object, key, json_object_new_string(value));
}

/* Adds null if there is no name. */
static inline void put_name(struct json_writer *w, struct json_object *object, const char *key, const char *name)
{
    if (name)
        put_text(w, object, key, name);
    else
        put_measured(w, object, key, false, 0);
}

static inline struct json_object *object_in(struct json_writer *w, struct json_object *parent, const char *key)
{
    struct json_object *child = json_object_new_object();
    put_json(w, parent, key, child);
    return w->failed ? NULL : child;
}

static inline struct json_object *put_at_end(struct json_writer *w, struct json_object *array,
                                             struct json_object *value)
{
    if (array && value && !json_object_array_add(array, value))
        return value;
    json_object_put(value);
    w->failed = true;
    return NULL;
}

static inline struct json_object *object_at_end(struct json_writer *w, struct json_object *array)
{
    return put_at_end(w, array, json_object_new_object());
}

static inline struct json_object *array_in(struct json_writer *w, struct json_object *root, const char *key)
{
    struct json_object *array = json_object_new_array();
    put_json(w, root, key, array);
    return w->failed ? NULL : array;
}

/* Writes the object as a line and frees it. False if any step failed before. */
static inline bool json_print_line(struct json_writer *w, struct json_object *root, FILE *out)
{
    size_t length;
    const char *line =
        w->failed
            ? NULL
            : json_object_to_json_string_length(root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
    if (line) {
        fwrite(line, 1, length, out);
        fputc('\n', out);
    }
    json_object_put(root);
    return line != NULL;
}

static inline void put_share(struct json_writer *w, struct json_object *object, const char *key, bool measured,
                             double value)
{
    char text[24];
    snprintf(text, sizeof text, "%.4f", value);
    if (measured)
        put_json(w, object, key, json_object_new_double_s(value, text));
    else
        put_measured(w, object, key, false, 0);
}

#endif

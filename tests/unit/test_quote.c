/* Any text in JSON, in CSV and in messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/complain.h"
#include "text/quote.h"
#include "text/text.h"

static char made[4096];
static void collect(void *to, const char *bytes, size_t count)
{
    (void)to;
    strncat(made, bytes, count);
}

static const char *csv(const char *text)
{
    *made = 0;
    rtl_quote_csv(collect, NULL, text);
    return made;
}

static void csv_cells_are_quoted_where_necessary(void **state)
{
    (void)state;
    static const char *const cells[][2] = {
        {"", ""},
        {"plain<int>(x)", "plain<int>(x)"},
        {"a,b", "\"a,b\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"a;=1", "\"a;=1\""},
        {" a", "\" a\""},
        {"=1+1", "'=1+1"},
        {"+1", "'+1"},
        {"-1", "'-1"},
        {"@f", "'@f"},
        {"=a,b", "\"'=a,b\""},
        {"\xef\xbc\x9d"
         "1",
         "'\xef\xbc\x9d"
         "1"}, /* the wide = sign */
        {"a=b", "a=b"},
        {"a\rb\nc\t", "a\\x0db\\x0ac\\x09"},
        {"\r=1", "\\x0d=1"},
        {"\x1b[31m\x7f", "\\x1b[31m\\x7f"},
        {"gr\xc3\xbc\xc3\x9f \xe4\xb8\xad", "gr\xc3\xbc\xc3\x9f \xe4\xb8\xad"},
        {"\xff\xc2\x9b", "\\xff\\u{9b}"},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        assert_string_equal(csv(cells[i][0]), cells[i][1]);
}

static void strings_are_valid_json(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"", "\"\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\n\x1b\x7f", "\"\\u000a\\u001b\\u007f\""},
        {"\xc3\xbc\xe4\xb8\xad\xf0\x9f\x98\x80", "\"\xc3\xbc\xe4\xb8\xad\xf0\x9f\x98\x80\""},
        {"\xff"
         "a\xc3",
         "\"\\ufffda\\ufffd\""},
        {"\xe2\x80\xae", "\"\\u202e\""},
        {"\xf3\xa0\x80\x81", "\"\\udb40\\udc01\""}, /* a tag character: a surrogate pair */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *made = 0;
        rtl_quote_json(collect, NULL, texts[i][0]);
        assert_string_equal(made, texts[i][1]);
        struct json_object *o = json_tokener_parse(made);
        assert_non_null(o);
        json_object_put(o);
    }
}

static void append(void *to, const char *bytes, size_t count)
{
    FILE *out = to;
    assert_int_equal(fwrite(bytes, 1, count, out), count);
}

/* The text as a script element contains it; the caller frees it. */
static char *in_script(const char *json, size_t length)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    rtl_quote_script(append, out, json, length);
    fclose(out);
    return text;
}

static void json_in_a_script_element_has_no_markup(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"{\"a\":[1,null,\"b\"]}", "{\"a\":[1,null,\"b\"]}"},
        {"\"</script><!--&\"", "\"\\u003c/script\\u003e\\u003c!--\\u0026\""},
        {"\"\xe2\x80\xa8\xe2\x80\xa9\"", "\"\\u2028\\u2029\""}, /* ends of lines to JavaScript */
        {"\"\x7f\xc2\x9b\xff\xed\xa0\x80\"", "\"\\u007f\\u009b\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\"\xc3\xbc\xe4\xb8\xad\xf0\x9f\x98\x80\"", "\"\xc3\xbc\xe4\xb8\xad\xf0\x9f\x98\x80\""},
        {"\"\xf3\xa0\x80\x81\"", "\"\\udb40\\udc01\""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = in_script(texts[i][0], strlen(texts[i][0]));
        assert_string_equal(text, texts[i][1]);
        free(text);
    }
}

static void json_in_a_script_element_keeps_its_meaning(void **state)
{
    (void)state;
    char every[256];
    for (int i = 0; i < 255; i++)
        every[i] = (char)(i + 1);
    every[255] = 0;
    for (int end = 127; end < 256; end += 128) { /* up to 127: valid UTF-8 */
        every[end] = 0;
        struct json_object *o = json_object_new_string(every);
        const char *json = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        char *text = in_script(json, strlen(json));
        assert_null(strpbrk(text, "<>&"));
        struct json_object *again = json_tokener_parse(text);
        assert_non_null(again);
        if (end == 127)
            assert_string_equal(json_object_get_string(again), every);
        json_object_put(again);
        json_object_put(o);
        free(text);
        every[end] = (char)(end + 1);
    }
}

static char *complaint(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *complaint(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *line = rtl_complaint(format, args);
    va_end(args);
    return line;
}

static void a_message_is_one_line_without_control_characters(void **state)
{
    (void)state;
    char *line =
        complaint("cannot open %s: %s", "a\n\x1b]0;x\x07\xc2\x9b\xe2\x80\xae", "gr\xc3\xbc\xc3\x9f \xe4\xb8\xad");
    assert_string_equal(line, "cannot open a\\x0a\\x1b]0;x\\x07\\u{9b}\\u{202e}: gr\xc3\xbc\xc3\x9f \xe4\xb8\xad");
    free(line);
    line = complaint("%s", "already \\x1b"); /* escaping twice equals escaping once */
    assert_string_equal(line, "already \\x1b");
    free(line);
    char bytes[256], text[4 * 256 + 1];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)(255 - i);
    size_t n = rtl_text_line(text, sizeof text, bytes, sizeof bytes);
    assert_int_equal(n, strlen(text));
    for (size_t i = 0; i < n; i++)
        assert_true(text[i] >= 0x20 && text[i] < 0x7f);
    for (size_t size = 0; size < 40; size++) { /* never beyond the size, never half an escape */
        memset(text, 'x', sizeof text);
        n = rtl_text_line(text, size, "a\x1b\xe2\x80\xae", 5);
        assert_true(text[size] == 'x' && n <= 13 && (size == 0 || (n < size && !text[n])));
        assert_true(n == 0 || n == 1 || n == 5 || n == 13);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_cells_are_quoted_where_necessary),
        cmocka_unit_test(strings_are_valid_json),
        cmocka_unit_test(json_in_a_script_element_has_no_markup),
        cmocka_unit_test(json_in_a_script_element_keeps_its_meaning),
        cmocka_unit_test(a_message_is_one_line_without_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

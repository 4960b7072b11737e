/*
 * libFuzzer target: what rtl-top serve takes apart (addresses, Accept headers), and pages with any text as labels: each
 * sample stays one line of three parts, whatever is in it, and buckets only grow.
 *
 * The input is three texts, an end after each byte 0: an address, a header, a label; the rest are numbers of buckets.
 */
#include "fuzz.h"
#include "serve/page.h"
#include "serve/parse.h"

enum { TEXT = 1024 };

static const char *take_text(struct fuzz_input *in, char out[TEXT])
{
    size_t used = 0;
    for (char c; in->left && (c = (char)fuzz_take(in, 1));)
        if (used < TEXT - 1)
            out[used++] = c;
    out[used] = '\0';
    return out;
}

/* NAME{LABEL="VALUE",...} NUMBER: the quotes come in pairs, and behind the last brace is one number. */
static void check_line(const char *line, size_t length)
{
    bool quoted = false;
    size_t i = 0;
    for (; i < length && (quoted || line[i] != ' '); i++) {
        if (quoted && line[i] == '\\') {
            MUST(i + 1 < length && strchr("\\\"n", line[i + 1]));
            i++;
        } else if (line[i] == '"') {
            quoted = !quoted;
        }
    }
    MUST(!quoted && i + 1 < length);
    MUST(strspn(line + i + 1, "0123456789.") == length - i - 1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[TEXT];
    struct fuzz_input in = {data, size};
    struct rtl_address address;
    struct rtl_page page;
    struct rtl_classes classes = {0};
    if (rtl_address_parse(take_text(&in, text), &address))
        MUST(address.port <= 65535 && strlen(address.host) < RTL_HOST_MAX && *address.host);
    bool openmetrics = rtl_accepts_openmetrics(take_text(&in, text));
    take_text(&in, text);
    while (in.left) {
        uint64_t number = fuzz_take(&in, 2), count = fuzz_take(&in, 4);
        uint64_t buckets[35 * 64] = {0};
        buckets[number % (35 * 64)] = count;
        rtl_classes_grow_buckets(&classes, NULL, buckets, 35 * 64, number);
    }
    rtl_page_begin(&page, openmetrics, 1u << (size % 3));
    rtl_page_metric(&page, RTL_METRIC_PROCESS);
    rtl_page_labels(&page, (const char *[]){text, "", text, text, "", text});
    rtl_page_info(&page);
    rtl_page_metric(&page, RTL_METRIC_RANGES);
    rtl_page_labels(&page, (const char *[]){text});
    rtl_page_histogram(&page, &classes);
    MUST(rtl_page_end(&page));
    for (const char *at = page.text, *end; at < page.text + page.used; at = end + 1) {
        end = memchr(at, '\n', page.used - (size_t)(at - page.text));
        MUST(end);
        if (*at != '#')
            check_line(at, (size_t)(end - at));
    }
    rtl_page_free(&page);
    return 0;
}

/*
 * libFuzzer target: what rtl-top serve parses (addresses, Accept and Host headers), and pages with any text as labels.
 * Each sample stays one line of three parts, and buckets only grow. A page in Protocol Buffers is complete nested
 * messages, to the last byte.
 *
 * The input is three texts, each ended by a byte 0: an address, a header, a label and host; the rest are numbers of
 * buckets.
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

/* Checks NAME{LABEL="VALUE",...} NUMBER: quotes are paired, and one number follows the last brace. */
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

static uint64_t take_varint(const char *text, size_t *at, size_t end)
{
    uint64_t value = 0;
    unsigned char byte = 0x80;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        MUST(*at < end && shift < 70);
        byte = (unsigned char)text[(*at)++];
        value |= (uint64_t)(byte & 0x7f) << (shift & 63);
    }
    return value;
}

/* Checks the fields of a message; `messages` (bits by field, for each depth) says which byte fields are messages, too.
 */
static void check_message(const char *text, size_t at, size_t end, unsigned depth)
{
    static const unsigned messages[] = {1u << 4, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 7, 1u << 3 | 1u << 12,
                                        0};
    while (at < end) {
        uint64_t key = take_varint(text, &at, end);
        MUST(key >> 3 && key >> 3 < 16);
        if ((key & 7) == 0) {
            take_varint(text, &at, end);
        } else if ((key & 7) == 1) {
            MUST(end - at >= 8);
            at += 8;
        } else {
            MUST((key & 7) == 2);
            uint64_t length = take_varint(text, &at, end);
            MUST(length <= end - at);
            if (messages[depth] >> (key >> 3) & 1)
                check_message(text, at, at + length, depth + 1);
            at += length;
        }
    }
    MUST(at == end);
}

static void check_families(const struct rtl_page *page)
{
    for (size_t at = 0; at < page->used;) {
        uint64_t length = take_varint(page->text, &at, page->used);
        MUST(length <= page->used - at);
        check_message(page->text, at, at + length, 0);
        at += length;
    }
}

static void check_lines(const struct rtl_page *page)
{
    for (const char *at = page->text, *end; at < page->text + page->used; at = end + 1) {
        end = memchr(at, '\n', page->used - (size_t)(at - page->text));
        MUST(end);
        if (*at != '#')
            check_line(at, (size_t)(end - at));
    }
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
    struct rtl_prom_buckets classes = {0};
    if (rtl_address_parse(take_text(&in, text), &address))
        MUST(address.port <= 65535 && strlen(address.host) < RTL_HOST_MAX && *address.host);
    enum rtl_format format = rtl_accepted(take_text(&in, text));
    MUST(format < RTL_FORMAT_COUNT);
    take_text(&in, text);
    static struct rtl_hosts hosts;
    const char *wrong;
    hosts.count = 0;
    if (rtl_hosts_add(&hosts, text, &wrong)) /* the server permits a name that was added */
        MUST(strchr(text, ',') || rtl_hosts_permit(&hosts, text));
    hosts.count = 0;
    if (rtl_hosts_permit(&hosts, text)) /* without names the server permits only addresses and localhost */
        MUST(*text == '[' || strspn(text, "0123456789.: \t") == strlen(text) || strcasestr(text, "localhost"));
    while (in.left) {
        uint64_t number = fuzz_take(&in, 2), count = fuzz_take(&in, 4);
        struct rtl_octave octave = {.octave = (uint8_t)(number / 64 % 35)};
        octave.bucket[number % 64] = count;
        rtl_prom_buckets_grow(&classes, NULL,
                              &(struct rtl_histogram_copy){.total_ns = number, .octave_count = 1, .octaves = &octave});
    }
    rtl_page_begin(&page, format, 1u << (size % 3));
    rtl_page_metric(&page, RTL_METRIC_PROCESS);
    rtl_page_labels(&page, (const char *[]){text, "", text, text, "", text});
    rtl_page_count(&page, 1);
    rtl_page_metric(&page, RTL_METRIC_RANGES);
    rtl_page_labels(&page, (const char *[]){text});
    rtl_page_histogram(&page, &classes);
    MUST(rtl_page_end(&page));
    if (format == RTL_FORMAT_PROTOBUF)
        check_families(&page);
    else
        check_lines(&page);
    rtl_page_free(&page);
    return 0;
}

/*
 * libFuzzer target: the reader of the API segment, and what rtl-top api makes of it, on a segment as librtl-hip.so
 * leaves it with words of it patched, or cut short.
 *
 * The input is patches of 12 bytes: the part (header, rows, memory, counters, buckets, size), number of the entry (2
 * bytes), word in it (1 byte), value (8 bytes). Size is what the file is cut to.
 *
 * fuzz: -timeout=10 -rss_limit_mb=1024 -max_len=480
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command/api_output.h"
#include "fuzz.h"

static int file;

static void put(const void *bytes, size_t count, uint64_t at)
{
    MUST(pwrite(file, bytes, count, (off_t)at) == (ssize_t)count);
}

/* Three functions on two threads, a range, memory. */
static void lay_out(void)
{
    static const char *const names[] = {"hipMalloc", "hipLaunchKernel", "hipEventQuery"};
    struct rtl_api_header h = {.magic = RTL_API_MAGIC,
                               .major = RTL_API_MAJOR,
                               .header_bytes = sizeof h,
                               .size = RTL_API_SIZE,
                               .rows_at = RTL_API_ROWS_AT,
                               .memory_at = RTL_API_MEMORY_AT,
                               .counters_at = RTL_API_COUNTERS_AT,
                               .buckets_at = RTL_API_BUCKETS_AT,
                               .pid = 1,
                               .blocks_used = 3};
    struct rtl_api_memory memory = {.in_use = 8192, .peak = 1 << 20, .allocations = 2};
    MUST(ftruncate(file, 0) == 0 && ftruncate(file, (off_t)RTL_API_SIZE) == 0);
    put(&h, sizeof h, 0);
    put(&memory, sizeof memory, RTL_API_MEMORY_AT);
    for (uint32_t i = 0; i < 4; i++) {
        const char *name = i < 3 ? names[i] : "decode\n\033[2J";
        uint32_t number = i < 3 ? i : RTL_API_FUNCTIONS + 7;
        struct rtl_api_row row = {.state = 1, .kind = i < 3 ? i + 1 : RTL_API_RANGE, .in_use = i ? 0 : 8192};
        row.text_bytes = (uint32_t)strlen(name);
        memcpy(row.text, name, row.text_bytes);
        row.code[0] = (struct rtl_api_code){.code = 600, .count = 3};
        put(&row, sizeof row, RTL_API_ROWS_AT + number * sizeof row);
        for (uint32_t block = 0; block < (i < 3 ? 3u : 1u); block++) {
            struct rtl_api_counters c = {.total_ns = 5000, .most_ns = 4000, .bytes = 64, .calls = 3};
            uint64_t count = 3;
            uint32_t cell = RTL_API_CELL(block, number);
            put(&c, sizeof c, RTL_API_COUNTERS_AT + cell * sizeof c);
            put(&count, sizeof count, RTL_API_BUCKETS_AT + cell * sizeof(struct rtl_api_buckets) + 8 * (100 + i));
        }
    }
}

static void patch(const uint8_t *data)
{
    static const struct {
        uint64_t at, entries, bytes;
    } parts[] = {{0, 1, sizeof(struct rtl_api_header)},
                 {RTL_API_ROWS_AT, RTL_API_ROWS, sizeof(struct rtl_api_row)},
                 {RTL_API_MEMORY_AT, RTL_API_PLACES, sizeof(struct rtl_api_memory)},
                 {RTL_API_COUNTERS_AT, RTL_API_CELLS, sizeof(struct rtl_api_counters)},
                 {RTL_API_BUCKETS_AT, RTL_API_CELLS, sizeof(struct rtl_api_buckets)}};
    uint64_t value, number = (uint64_t)(data[1] | data[2] << 8);
    memcpy(&value, data + 4, sizeof value);
    unsigned part = data[0] % 6;
    if (part == 5)
        MUST(ftruncate(file, (off_t)(value % RTL_API_SIZE)) == 0);
    else
        put(&value, sizeof value,
            parts[part].at + number % parts[part].entries * parts[part].bytes + data[3] * 8u % parts[part].bytes);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    file = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(file >= 0 && freopen("/dev/null", "w", stdout));
    /* more blocks than there can be are those that there are */
    static const uint8_t all_blocks[12] = {[3] = 24, 255, 255, 255, 255, 255, 255, 255, 255};
    struct rtl_api_copy copy;
    char why[256];
    lay_out();
    patch(all_blocks);
    MUST(rtl_api_read(file, &copy, why, sizeof why) == RTL_READER_OK && copy.rows[0].calls == 9);
    rtl_api_free(&copy);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rtl_api_copy copy;
    char why[256] = "";
    lay_out();
    for (size_t at = 0; at + 12 <= size; at += 12)
        patch(data + at);
    enum rtl_reader_status status = rtl_api_read(file, &copy, why, sizeof why);
    MUST((status == RTL_READER_OK) == !why[0] && (status == RTL_READER_OK || status == RTL_READER_VERSION));
    if (status == RTL_READER_OK) {
        MUST(copy.count <= RTL_API_ROWS);
        for (uint32_t i = 0; i < copy.count; i++) {
            const struct rtl_api_row_copy *row = &copy.rows[i];
            uint64_t sum = 0;
            for (uint32_t b = 0; row->buckets && b < RTL_API_BUCKETS; b++)
                sum += row->buckets->count[b];
            MUST(sum == row->calls && row->text_bytes <= RTL_API_TEXT);
        }
        rtl_api_print(&copy, 1, RTL_API_TABLE);
        rtl_api_print(&copy, 1, RTL_API_JSON);
        rtl_api_print(&copy, 1, RTL_API_CSV);
    }
    rtl_api_free(&copy);
    return 0;
}

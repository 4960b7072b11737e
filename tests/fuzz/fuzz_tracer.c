/*
 * libFuzzer target: a recorder of traces on a hostile ring with hostile tables of GPUs, queues and kernels, and with a
 * file that may hold invalid data. It must never crash, the number of records bounds its work, and the file's metadata
 * explains every row that it writes: fuzz: -timeout=20 -rss_limit_mb=1024
 *
 * The input is a short program on a small segment: see the operations below. Its records are bytes of the input, except
 * for the sequence, without which the reader would ignore them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "record/rocpd.h"
#include "record/rocpd_numbers.h"
#include "text/text.h"

enum {
    KERNELS = 8,
    QUEUES = 4,
    AGENTS = 8,
    NAMES = 256,
    EVENTS = 64,
    HISTOGRAMS = KERNELS + 2 * QUEUES,
    FILE_MAX = 65536
};
enum { PUT, PUT_LIKELY, PATCH, READ, LOOK, LIE, BEGIN, LEAVE, OPERATIONS };
enum { STEPS_A_RECORD = 24, STEPS_A_RECORDING = 4096 };

static _Alignas(64) uint8_t base[FILE_MAX];
static size_t base_size;
static char path[64];

struct run {
    uint8_t *segment; /* shared with the reader */
    const struct rtl_section *section;
    struct rtl_reader *reader;
    struct rtl_db *db;
    struct rtl_rocpd *rocpd;
    struct rtl_rocpd_state state;
    uint64_t put, written; /* records: into the ring; out of it, by all recordings */
    uint64_t steps;        /* since the recording began */
    int recordings;
    bool lied, failed;
    _Atomic bool leave;
};

static void *entry(uint8_t *segment, const struct rtl_section *section, int id, uint32_t i)
{
    return segment + section[id].offset + (size_t)i * section[id].stride;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const uint32_t layout[RTL_SECTION_COPIES][2] = {{sizeof(struct rtl_kernel), KERNELS},
                                                           {sizeof(struct rtl_histogram), HISTOGRAMS},
                                                           {sizeof(struct rtl_directory), HISTOGRAMS},
                                                           {sizeof(struct rtl_coarse), HISTOGRAMS},
                                                           {sizeof(struct rtl_chunk), 4},
                                                           {sizeof(struct rtl_queue), QUEUES},
                                                           {sizeof(struct rtl_agent), AGENTS},
                                                           {sizeof(struct rtl_dispatches), KERNELS * QUEUES},
                                                           {1, NAMES},
                                                           {sizeof(struct rtl_ring), 1},
                                                           {sizeof(struct rtl_event_record), EVENTS}};
    (void)argc;
    (void)argv;
    struct rtl_header *h = (struct rtl_header *)(void *)base;
    *h = (struct rtl_header){.magic = RTL_SEGMENT_MAGIC,
                             .major = RTL_SEGMENT_MAJOR,
                             .minor = RTL_SEGMENT_MINOR,
                             .header_bytes = sizeof *h,
                             .section_count = RTL_SECTION_COPIES,
                             .features_optional = RTL_FEATURE_EVENTS,
                             .features_required = RTL_FEATURE_COPY_EVENTS,
                             .state = RTL_STATE_LIVE,
                             .kernel_count = KERNELS,
                             .agent_count = AGENTS,
                             .comm = "fuzz"};
    uint64_t at = RTL_ALIGN_UP(sizeof *h, 64);
    for (int i = 0; i < RTL_SECTION_COPIES; i++) {
        h->section[i] = (struct rtl_section){at, layout[i][0], layout[i][1]};
        at = RTL_ALIGN_UP(at + (uint64_t)layout[i][0] * layout[i][1], 64);
    }
    h->size = base_size = at;
    for (uint32_t i = 0; i < KERNELS; i++) {
        *(struct rtl_kernel *)entry(base, h->section, RTL_SECTION_KERNELS, i) =
            (struct rtl_kernel){.state = RTL_KERNEL_READY, .name_length = 9, .name_offset = 16 * i};
        snprintf(entry(base, h->section, RTL_SECTION_NAMES, 16 * i), 16, "kernel %02u", i);
    }
    for (uint32_t i = 0; i < AGENTS / 2; i++) /* the others are never described */
        *(struct rtl_agent *)entry(base, h->section, RTL_SECTION_AGENTS, i) =
            (struct rtl_agent){.state = 1, .gpu = AGENTS / 2 - 1 - i, .bdf = 0x300 + 0x100 * i, .name = "gfx90a"};
    for (uint32_t i = 0; i < QUEUES; i++)
        *(struct rtl_queue *)entry(base, h->section, RTL_SECTION_QUEUES, i) =
            (struct rtl_queue){.generation = 6, .agent = i, .queue_id = 3 + i, .live = 1, .packets = 1};
    snprintf(path, sizeof path, "%s/rtl-fuzz-tracer-%d.db", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
             (int)getpid());
    return 0;
}

/* --- the operations --- */

static void put(struct run *r, struct fuzz_input *in, bool likely)
{
    struct rtl_event_record record = {.grid = {64, 1, 1}, .workgroup = {64, 1, 1}, .start_ns = 1000, .duration_ns = 10};
    if (likely) {
        record.kernel = (uint32_t)fuzz_take(in, 1) % (KERNELS + 1);
        record.queue = (uint16_t)(fuzz_take(in, 1) % (QUEUES + 1));
        record.generation = (uint32_t)fuzz_take(in, 1) % 9;
        record.agent = (uint8_t)(fuzz_take(in, 1) % (AGENTS + 2));
        record.flags = (uint8_t)fuzz_take(in, 1);
    } else {
        for (size_t at = 0; at < sizeof record; at += 8) {
            uint64_t word = fuzz_take(in, 8);
            memcpy((char *)&record + at, &word, 8);
        }
    }
    record.sequence = r->put + 1;
    memcpy(entry(r->segment, r->section, RTL_SECTION_EVENTS, (uint32_t)(r->put % EVENTS)), &record, sizeof record);
    r->put++;
    ((struct rtl_ring *)entry(r->segment, r->section, RTL_SECTION_RING, 0))->head = r->put;
}

static void patch(struct run *r, struct fuzz_input *in)
{
    static const int places[] = {RTL_SECTION_AGENTS, RTL_SECTION_QUEUES, RTL_SECTION_KERNELS, RTL_SECTION_NAMES};
    uint64_t how = fuzz_take(in, 1), at = fuzz_take(in, 2);
    const struct rtl_section *section = &r->section[places[how & 3]];
    uint64_t bytes = (uint64_t)section->stride * section->capacity, width = how & 4 ? 4 : 8,
             value = fuzz_take(in, width);
    at %= bytes;
    memcpy(r->segment + section->offset + at, &value, at + width > bytes ? bytes - at : width);
}

static void read_ring(struct run *r)
{
    static struct rtl_linked_event buffer[EVENTS];
    uint64_t rows = r->state.rows, left_out = r->state.left_out;
    uint32_t n = rtl_reader_linked_events(r->reader, &r->state.events, buffer, EVENTS);
    if (rtl_rocpd_write_linked(r->rocpd, buffer, n, &r->state, &r->leave)) {
        r->failed = true;
        return;
    }
    MUST(r->state.rows + r->state.left_out == rows + left_out + n);
    MUST(r->state.copies <= r->state.rows && r->state.unknown <= r->state.rows);
    r->written += r->state.rows - rows;
    MUST(rtl_rocpd_steps(r->rocpd) <= STEPS_A_RECORDING + STEPS_A_RECORD * (r->state.rows + 1) + r->steps);
}

/* Puts data into the file as another writer might. */
static void lie(struct run *r, struct fuzz_input *in)
{
    static const char *const lies[] = {
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('queue 3', '{\"gpu\":0}')",
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('gpu 0', '{\"pci\":\"0000:09:00.0\"}')",
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('process 0', '{\"pid\":4711,\"start_real_ns\":0}')",
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('queue 1000000', '{\"gpu\":1,\"kind\":\"copies\"}')",
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('queue 99999999999999999999', '[1]'), ('gpu -1', NULL)",
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('gpu 3', '{'), ('process 8388607', '{}'), (1, x'00ff')",
        "UPDATE rocpd_metadata SET value = '{\"gpu\":[1]}' WHERE tag GLOB 'queue *'",
        "UPDATE rocpd_metadata SET tag = 'gpu 1', value = json_object('part', 2) WHERE tag GLOB 'gpu *'",
        "DELETE FROM rocpd_metadata",
        "DELETE FROM rocpd_string",
        "UPDATE rocpd_string SET string = string || 'x'",
        "DELETE FROM rocpd_op; INSERT INTO rocpd_op(id, gpuId, start, end) VALUES (1, -1, 5, 4)",
        "INSERT INTO rocpd_metadata(id, tag, value) VALUES (9223372036854775807, 'queue 7', '{}')",
    };
    r->lied = true;
    rtl_db_exec(r->db, lies[fuzz_take(in, 1) % (sizeof lies / sizeof *lies)]);
    if (rtl_db_status(r->db))
        r->failed = true;
}

static void begin(struct run *r, int64_t pid)
{
    char why[300];
    struct rtl_db_options options = {.write = true, .page_bytes = 1024};
    rtl_rocpd_free(r->rocpd);
    rtl_db_close(r->db);
    r->rocpd = NULL;
    r->state = (struct rtl_rocpd_state){0};
    if (rtl_db_open(path, &options, &r->db, why, sizeof why)) {
        r->db = NULL;
        r->failed = true;
        return;
    }
    r->rocpd = rtl_rocpd_begin(r->db, r->reader, pid, "a \"title\"", rtl_text_escape);
    if (!r->rocpd || !rtl_reader_events_begin(r->reader, &r->state.events)) {
        MUST(r->lied || r->rocpd);
        r->failed = true;
        return;
    }
    r->steps = rtl_rocpd_steps(r->rocpd);
    MUST(r->steps <= STEPS_A_RECORDING + 8 * r->written);
    r->recordings++;
}

/* --- what must hold afterwards --- */

static int64_t ask(struct rtl_db *db, const char *sql)
{
    int64_t value = rtl_db_one(db, sql);
    if (rtl_db_status(db))
        fprintf(stderr, "%s: %s\n", sql, rtl_db_why(db));
    MUST(!rtl_db_status(db));
    return value;
}

static void check(const struct run *r)
{
    char why[300];
    struct rtl_db *db;
    MUST(rtl_db_open(path, &(struct rtl_db_options){0}, &db, why, sizeof why) == RTL_DB_OK);
    MUST(ask(db, "SELECT count(*) FROM op") == ask(db, "SELECT count(*) FROM rocpd_op"));
    if (!r->lied) {
        MUST((uint64_t)ask(db, "SELECT count(*) FROM rocpd_op") <= r->written);
        MUST(ask(db,
                 "SELECT count(*) FROM rocpd_op WHERE NOT (start >= 0 AND end >= start AND gpuId >= 0 AND queueId >= 0"
                 " AND sequenceId = id & 1099511627775)") == 0);
        /* exactly one row of metadata describes each number */
        MUST(ask(db, "SELECT count(*) FROM (SELECT tag, value FROM rocpd_metadata WHERE tag GLOB 'gpu *' GROUP BY tag"
                     " HAVING count(*) > 1)") == 0);
        MUST(ask(db, "SELECT count(*) FROM rocpd_op o WHERE (SELECT count(*) FROM rocpd_metadata WHERE"
                     " tag = 'gpu ' || o.gpuId) <> 1") == 0);
        MUST(ask(db, "SELECT count(*) FROM rocpd_op o WHERE (SELECT count(*) FROM rocpd_metadata WHERE"
                     " tag = 'queue ' || o.queueId AND json_extract(value, '$.gpu') = o.gpuId"
                     " AND json_extract(value, '$.process') = o.id >> 40) <> 1") == 0);
        MUST(ask(db, "SELECT count(*) FROM op WHERE opType IS NULL OR description IS NULL OR NOT (completionSignal GLOB"
                     " 'hwq=0x* wg=*,*,* grid=*,*,*' OR completionSignal GLOB 'hwq=0x* size=*')") == 0);
        MUST(ask(db, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB '* [0-9]*' AND NOT json_valid(value)") == 0);
        MUST(ask(db, "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'recording *'") == r->recordings);
    }
    rtl_db_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct run r = {.section = ((const struct rtl_header *)(const void *)base)->section};
    char why[300];
    int fd = memfd_create("fuzz", MFD_ALLOW_SEALING);
    MUST(fd >= 0 && ftruncate(fd, (off_t)base_size) == 0);
    r.segment = mmap(NULL, base_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MUST(r.segment != MAP_FAILED);
    memcpy(r.segment, base, base_size);
    MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    MUST(rtl_reader_open_fd(fd, &r.reader, why, sizeof why) == RTL_READER_OK);
    unlink(path);
    while (in.left && fuzz_take(&in, 1) == '!') /* tables that are false from the start */
        patch(&r, &in);
    begin(&r, 4711);
    for (int n = 0; in.left && !r.failed && n < 400; n++)
        switch (fuzz_take(&in, 1) % OPERATIONS) {
        case PUT:
            put(&r, &in, false);
            break;
        case PUT_LIKELY:
            put(&r, &in, true);
            break;
        case PATCH:
            patch(&r, &in);
            break;
        case READ:
            read_ring(&r);
            break;
        case LOOK:
            rtl_rocpd_sample_depths(r.rocpd);
            break;
        case LIE:
            lie(&r, &in);
            break;
        case BEGIN:
            begin(&r, 4711 + (int64_t)fuzz_take(&in, 1) % 3);
            break;
        case LEAVE:
            r.leave = !r.leave;
            break;
        }
    if (!r.failed)
        read_ring(&r);
    rtl_rocpd_free(r.rocpd);
    rtl_db_close(r.db);
    if (!r.failed)
        check(&r);
    MUST(r.lied || !r.failed);
    rtl_reader_close(r.reader);
    munmap(r.segment, base_size);
    unlink(path);
    return 0;
}

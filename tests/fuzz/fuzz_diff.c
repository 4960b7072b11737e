/*
 * libFuzzer target: two hostile recordings must never crash or hang `rtl-top diff`, nor make it print invalid JSON or a
 * broken line.
 *
 * fuzz: -timeout=20 -rss_limit_mb=2048 -max_len=4096
 *
 * Both start valid: snapshots of one process, of which diff subtracts one from the other, or time series. The input
 * changes rows of one or both, or bytes.
 */
#include "fuzz_database.h"

#include <json-c/json.h>

#include "record/recording.h"
#include "options/commands.h"
#include "stats/histogram.h"

static const char *const updates[] = {
    "UPDATE rtl_recording SET pid = ?, inside_pid = ?, start_ns = ?, start_mono_ns = ? WHERE id = ?",
    "UPDATE rtl_recording SET kind = ?, title = ?, comm = ?, recorder = ?",
    "UPDATE rtl_frame SET mono_ns = ?, time_ns = ? WHERE sequence = ?",
    "UPDATE rtl_kernel SET kernel = ?, name = ? WHERE kernel = ?",
    "UPDATE rtl_kernel_sample SET calls = ?, untimed = ? WHERE kernel = ?",
    "UPDATE rtl_kernel_sample SET timed = ?, total_ns = ?, min_ns = ?, max_ns = ? WHERE kernel = ?",
    "UPDATE rtl_kernel_sample SET buckets = ?, coarse = ?, approximate = ? WHERE kernel = ?",
    "UPDATE rtl_kernel_sample SET kernel = ? WHERE kernel = ?",
    "INSERT INTO rtl_kernel_sample(frame, kernel, calls, timed, total_ns, buckets) VALUES(?, ?, ?, ?, ?, ?)",
    "INSERT INTO rtl_kernel(recording, kernel, name, full_name, short_name, first) VALUES(1, ?, ?, '', '', ?)",
    "UPDATE rtl_kernel_sample SET buckets = '[' || ? || ',' || ? || ',' || ? || ',' || ? || ']' WHERE kernel = ?",
};

enum { KERNELS = 3, GOOD = 4 };
static struct fuzz_image good[GOOD]; /* two snapshots, two series */
static struct fuzz_folder folder;
static char *first, *second;

static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    (void)context;
    (void)k;
    *names = (struct rtl_recorded_names){.full = "", .short_name = ""};
}

static void fill(struct rtl_snapshot *s, struct rtl_kernel_snapshot *kernels, struct rtl_octave *octaves, unsigned n)
{
    static const char *const names[KERNELS] = {"k", "_Z1fIfLi3EEvPT_", "gone"};
    *s = (struct rtl_snapshot){.taken_mono_ns = (n + 2) * 1000000000ull,
                               .pid = 7,
                               .comm = "serve",
                               .start_mono_ns = 1000000000,
                               .start_real_ns = 9000000000,
                               .kernels = kernels,
                               .kernel_count = KERNELS};
    for (uint32_t i = 0; i < KERNELS; i++) {
        uint64_t ns = 1000 * (i + 1), count = 100 * n;
        octaves[i] = (struct rtl_octave){.octave = (uint8_t)(rtl_bucket_of(ns) / RTL_CHUNK_BUCKETS)};
        octaves[i].bucket[rtl_bucket_of(ns) % RTL_CHUNK_BUCKETS] = count;
        kernels[i] = (struct rtl_kernel_snapshot){.id = RTL_KERNEL_FIRST + i,
                                                  .name = names[i],
                                                  .name_length = strlen(names[i]),
                                                  .calls = count,
                                                  .histogram = {.count = count,
                                                                .total_ns = ns * count,
                                                                .min_ns = ns,
                                                                .max_ns = ns,
                                                                .octaves = &octaves[i],
                                                                .octave_count = 1}};
    }
}

static void make_good(struct fuzz_image *image, bool series, unsigned n)
{
    char why[300];
    struct rtl_recording *recording;
    struct rtl_snapshot snapshot;
    struct rtl_kernel_snapshot kernels[KERNELS];
    struct rtl_octave octaves[KERNELS];
    const struct rtl_recording_info info = {.kind = series ? RTL_RECORDING_SERIES : RTL_RECORDING_SNAPSHOT,
                                            .pid = 7,
                                            .title = "serve",
                                            .recorder = "fuzz",
                                            .name_kernel = name_kernel};
    unlink(first);
    MUST(!rtl_recording_open(first, false, 0, &info, &recording, why, sizeof why));
    for (unsigned frame = series ? 1 : n; frame <= n; frame++) {
        fill(&snapshot, kernels, octaves, frame);
        MUST(!rtl_recording_add(recording, &snapshot, 9000000000ull + frame, false));
    }
    rtl_recording_close(recording);
    fuzz_read(first, image);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_enter(&folder);
    first = fuzz_at(&folder, "a.db");
    second = fuzz_at(&folder, "b.db");
    for (unsigned i = 0; i < GOOD; i++)
        make_good(&good[i], i >= 2, i % 2 + 2);
    return 0;
}

/* Each line is an object with valid shares and numbers. */
static void check_json(char *text)
{
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        static const char *const sides[] = {"a", "b"};
        *end = 0;
        struct json_object *o = json_tokener_parse(line), *side, *value;
        MUST(o && json_object_is_type(o, json_type_object));
        MUST(json_object_object_get_ex(o, "cost_ns", &value) && json_object_is_type(value, json_type_int));
        for (int i = 0; i < 2; i++) {
            MUST(json_object_object_get_ex(o, sides[i], &side) && json_object_object_get_ex(side, "share", &value));
            MUST(!value || (json_object_get_double(value) >= 0 && json_object_get_double(value) <= 1));
        }
        json_object_put(o);
    }
}

static void change(struct fuzz_input *in, const struct fuzz_image *image, const char *path, bool bytes)
{
    struct fuzz_input mine = {in->at, (size_t)fuzz_take(in, 2)};
    mine.at = in->at;
    mine.left = mine.left < in->left ? mine.left : in->left;
    in->at += mine.left;
    in->left -= mine.left;
    if (bytes)
        fuzz_patch(&mine, image, path);
    else
        fuzz_rows(&mine, image, path, updates, sizeof updates / sizeof *updates);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char words[][14] = {"diff", "--fail-over", "10%", "--json", "--cumulative"};
    struct fuzz_input in = {data, size};
    struct fuzz_image printed;
    uint8_t how = (uint8_t)fuzz_take(&in, 1);
    bool json = how & 1;
    char *argv[] = {words[0], first, second, words[1], words[2], words[how & 2 ? 4 : 1], words[2], words[json ? 3 : 1],
                    words[2], NULL};
    if (how & 2)
        argv[6] = words[4];
    if (json)
        argv[8] = words[3];
    change(&in, &good[how & 4 ? 2 : 0], first, how & 16);
    change(&in, &good[how & 8 ? 3 : 1], second, how & 32);
    int status = fuzz_command(rtl_diff_command, 9, argv, &printed);
    MUST(status == 0 || status == 1 || (status >= 10 && status <= 16));
    fuzz_tame(&printed);
    if (json)
        check_json((char *)printed.bytes);
    free(printed.bytes);
    return 0;
}

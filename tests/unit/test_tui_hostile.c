/*
 * The viewer on segments with random content: whatever the reader accepts, the model, the views and the outputs neither
 * crash nor print a control character. The test damages the segment through the writer's own mapping, then uses the
 * real reader.
 */
#include "segment_fixture.h"

#include <stdio.h>

#include <json-c/json.h>

#include "command/output.h"
#include "frame_text.h"
#include "tui/draw_views.h"
#include "tui/ui_state.h"

enum { KERNELS = 6, QUEUES = 3, ROUNDS = 1500, DAMAGE_MAX = 6 };

static struct rtl_segment segment;

static int setup(void **state)
{
    static const char *const names[KERNELS] = {
        "plain",
        "_Z10gemm_floatPf",
        "evil\033]0;x\007\n",
        "\xff\xfe\xe2\x80\xae",
        "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii",
        ""};
    (void)state;
    fixture_segment(&segment);
    struct rtl_recorder *recorder = rtl_recorder_create(&segment);
    assert_non_null(recorder);
    for (uint32_t q = 0; q < QUEUES; q++) {
        segment.queues[q].generation = 2;
        segment.queues[q].queue_id = q + 1;
        segment.queues[q].live = 1;
    }
    segment.agents[0].tick_hz = 100000000;
    memcpy(segment.agents[0].name, "gfx90a", 7);
    segment.agents[0].state = 1;
    segment.header->agent_count = 1;
    for (uint32_t i = 0; i < KERNELS; i++) {
        uint32_t row = fixture_kernel(&segment, names[i]);
        for (uint64_t n = 0; n < 200; n++) {
            struct rtl_dispatches *d = &segment.dispatches[(n % QUEUES) * RTL_KERNELS_MAX + row];
            d->calls++;
            segment.queues[n % QUEUES].dispatches++;
            rtl_recorder_record(recorder, RTL_HISTOGRAM_KERNEL(row), 500 + n * 37 * (i + 1));
            rtl_recorder_record(recorder, RTL_HISTOGRAM_WAIT(n % QUEUES), n);
        }
    }
    rtl_segment_set_state(&segment, RTL_STATE_LIVE);
    rtl_recorder_destroy(recorder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_drop(&segment);
    return 0;
}

/* Return a random place in one of the parts that the reader uses. */
static unsigned char *place(uint64_t *random)
{
    struct {
        void *at;
        size_t bytes;
    } parts[] = {
        {segment.header, sizeof *segment.header},
        {segment.header, sizeof *segment.header},
        {segment.kernels, 10 * sizeof *segment.kernels},
        {segment.histograms, 10 * sizeof *segment.histograms},
        {&segment.histograms[RTL_HISTOGRAM_WAIT(0)], 6 * sizeof *segment.histograms},
        {segment.directory, 10 * sizeof *segment.directory},
        {segment.chunks, 40 * sizeof *segment.chunks},
        {segment.queues, 5 * sizeof *segment.queues},
        {segment.agents, 2 * sizeof *segment.agents},
        {segment.dispatches, 10 * sizeof *segment.dispatches},
        {segment.names, 300},
    };
    size_t part = fixture_random(random) % (sizeof parts / sizeof *parts);
    return (unsigned char *)parts[part].at + fixture_random(random) % (parts[part].bytes / 8) * 8;
}

struct damage {
    unsigned char *at;
    uint64_t was;
};

static int inflict(struct damage *damage, uint64_t *random)
{
    static const uint64_t values[] = {0,          1,     UINT64_MAX, 0x7fffffffffffffff, 0x100000000,
                                      0xffffffff, 16384, 65536,      0x1b1b1b1b1b1b1b1b};
    int count = 1 + (int)(fixture_random(random) % DAMAGE_MAX);
    for (int i = 0; i < count; i++) {
        uint64_t kind = fixture_random(random) % 12, value = kind < 9 ? values[kind] : fixture_random(random);
        damage[i].at = place(random);
        memcpy(&damage[i].was, damage[i].at, 8);
        if (kind == 11) /* one byte only */
            value = (damage[i].was & ~0xffull) | (value & 0xff);
        memcpy(damage[i].at, &value, 8);
    }
    return count;
}

static void repair(struct damage *damage, int count)
{
    while (count--)
        memcpy(damage[count].at, &damage[count].was, 8);
}

static void check_frame(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    assert_true(rtl_frame_reset(frame, 24, 120, false));
    rtl_draw(ui, frame);
    for (int i = 0; i < frame->rows * frame->cols; i++)
        assert_true(frame->cells[i].code >= 0x20 && frame->cells[i].code != 0x7f &&
                    (frame->cells[i].code < 0x80 || frame->cells[i].code > 0x9f));
}

static void check_outputs(struct rtl_model *model, FILE *sink, char **text, size_t *length)
{
    struct rtl_options options = {.delay_ns = RTL_SEC, .filter = "", .output = RTL_OUTPUT_TEXT};
    struct rtl_output_frame frame = {.model = model, .options = &options, .pid = 4711, .title = "hostile"};
    rewind(sink);
    assert_true(rtl_output_text(&frame, sink));
    assert_true(rtl_output_csv(&frame, sink));
    fflush(sink);
    for (size_t i = 0; i < *length; i++)
        assert_true((*text)[i] == '\n' || (unsigned char)(*text)[i] >= ' ');
    rewind(sink);
    assert_true(rtl_output_json(&frame, sink));
    fflush(sink);
    struct json_object *parsed = json_tokener_parse(*text);
    assert_non_null(parsed);
    json_object_put(parsed);
}

static void look(struct rtl_reader *reader, struct rtl_frame *frame, FILE *sink, char **text, size_t *length)
{
    struct rtl_model *model = rtl_model_create();
    struct rtl_ui ui;
    assert_non_null(model);
    rtl_ui_init(&ui, model, 4711, "hostile");
    for (int i = 0; i < 2; i++) {
        struct rtl_snapshot snapshot = {0};
        if (rtl_reader_snapshot(reader, &snapshot) != RTL_READER_OK)
            break;
        assert_true(rtl_model_add(model, &snapshot, 1));
        if (i)
            rtl_model_zero(model);
    }
    if (model->latest) {
        for (int view = 0; view <= RTL_VIEW_HELP; view++) {
            ui.view = (enum rtl_view)view;
            ui.wrap = view & 1;
            rtl_ui_scroll_into_view(&ui, 24, 120);
            check_frame(&ui, frame);
        }
        check_outputs(model, sink, text, length);
    }
    rtl_model_free(model);
}

static void a_randomly_damaged_segment_crashes_nothing(void **state)
{
    (void)state;
    uint64_t random = 0x1234567;
    struct rtl_frame frame = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *sink = open_memstream(&text, &length);
    int looked_at = 0;
    assert_non_null(sink);
    for (int round = 0; round < ROUNDS; round++) {
        struct damage damage[DAMAGE_MAX];
        struct rtl_reader *reader = NULL;
        char why[300];
        int fd = dup(segment.fd), count = inflict(damage, &random);
        if (rtl_reader_open_fd(fd, &reader, why, sizeof why) == RTL_READER_OK) {
            look(reader, &frame, sink, &text, &length);
            rtl_reader_close(reader);
            looked_at++;
        } else {
            close(fd);
        }
        repair(damage, count);
    }
    assert_true(looked_at > ROUNDS / 4); /* the reader did not simply refuse all of them */
    fclose(sink);
    free(text);
    rtl_frame_free(&frame);
}

/* Messages on the screen contain file names and SQLite's text. */
static void a_frame_prints_no_control_characters(void **state)
{
    (void)state;
    struct rtl_frame frame = {0};
    char text[200];
    assert_true(rtl_frame_reset(&frame, 1, 10, false));
    rtl_frame_put(&frame, 0, 0, 10, RTL_ROLE_NORMAL,
                  "a\033\xc2\x9b\xe2\x80\xae\xe4\xb8\xad\xff\xe2\x80\xa6\xe2\x94\x82\xc3\xbc");
    frame_row_text(&frame, 0, text, sizeof text);
    assert_string_equal(text, "a?????\xe2\x80\xa6\xe2\x94\x82\xc3\xbc");
    rtl_frame_free(&frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_randomly_damaged_segment_crashes_nothing, setup, teardown),
        cmocka_unit_test(a_frame_prints_no_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

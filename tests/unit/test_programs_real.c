/*
 * Queues, copies and shapes of real programs (tests/fixtures/programs.tsv): the screen displays every queue and every
 * direction of copies, and a trace has every workgroup and grid size.
 */
#include "rocpd_fixture.h"
#include "tui_synth.h"

#include <ctype.h>

#include "text/units.h"

enum { MOST = 400, COLUMNS = 7, PROGRAMS = 32 };
static struct {
    char *line, *kind, *program;
    char *column[COLUMNS]; /* depends on the kind */
} rows[MOST];
static int row_count, programs[PROGRAMS + 1], program_count; /* each program's first row, and the end */

static int load(void **state)
{
    (void)state;
    FILE *file = fopen("tests/fixtures/programs.tsv", "r");
    if (!file)
        fail_msg("tests/fixtures/programs.tsv can't be opened: unit tests run in the top folder of the sources");
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (*line == '#')
            continue;
        assert_true(row_count < MOST && program_count < PROGRAMS);
        char *rest = rows[row_count].line = strdup(line);
        rows[row_count].kind = strsep(&rest, "\t");
        rows[row_count].program = strsep(&rest, "\t");
        for (int c = 0; c < COLUMNS && rest; c++)
            rows[row_count].column[c] = strsep(&rest, "\t");
        assert_non_null(rows[row_count].column[2]);
        if (!row_count || strcmp(rows[row_count].program, rows[row_count - 1].program))
            programs[program_count++] = row_count;
        row_count++;
    }
    programs[program_count] = row_count;
    free(line);
    fclose(file);
    return row_count > 100 ? 0 : 1;
}

static int unload(void **state)
{
    (void)state;
    for (int i = 0; i < row_count; i++)
        free(rows[i].line);
    return 0;
}

static uint64_t number(int row, int column)
{
    assert_non_null(rows[row].column[column]);
    return strtoull(rows[row].column[column], NULL, 10);
}

static enum rtl_direction direction(int row)
{
    static const char *const names[] = {"h2d", "d2h", "d2d", "p2p"};
    for (int d = 0; d < 4; d++)
        if (!strcmp(rows[row].column[1], names[d]))
            return (enum rtl_direction[]){RTL_COPY_H2D, RTL_COPY_D2H, RTL_COPY_D2D, RTL_COPY_P2P}[d];
    fail_msg("'%s' is no direction", rows[row].column[1]);
    return RTL_COPY_H2D;
}

/* Fill the segment as the library leaves it when nothing is in flight. */
static void fill(struct rtl_segment *segment, int first, int end)
{
    int slot = 0;
    struct rtl_recorder *recorder = rtl_recorder_create(segment);
    assert_non_null(recorder);
    for (int i = first; i < end; i++) {
        uint32_t gpu = (uint32_t)number(i, 0);
        if (!strcmp(rows[i].kind, "shape"))
            continue;
        if (gpu >= segment->header->agent_count)
            segment->header->agent_count = gpu + 1;
        segment->agents[gpu] = (struct rtl_agent){.state = 1, .gpu = gpu, .bdf = 0x300 + 0x100 * gpu, .name = "gfx90a"};
        if (!strcmp(rows[i].kind, "queue")) {
            uint64_t n = number(i, 2);
            segment->queues[slot++] = (struct rtl_queue){.generation = 2,
                                                         .agent = gpu,
                                                         .queue_id = number(i, 1),
                                                         .live = 1,
                                                         .size_packets = 16384,
                                                         .packets = n,
                                                         .dispatches = n,
                                                         .injected = n,
                                                         .completed = n};
        } else {
            struct rtl_copies *copies = &segment->copies[RTL_COPIES_OF(gpu, direction(i))];
            copies->count = number(i, 2);
            copies->bytes = copies->timed_bytes = number(i, 3);
            for (uint64_t n = 0; n < copies->count; n++)
                rtl_recorder_record(recorder, RTL_HISTOGRAM_COPIES(RTL_COPIES_OF(gpu, direction(i))),
                                    number(i, 4) / copies->count);
        }
    }
    rtl_recorder_destroy(recorder);
}

/* Split the line that begins with these two words. Return its number of words. */
static int words_of(const char *text, const char *first, const char *second, char words[16][32])
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const char *at = line;
        int count = 0;
        for (at += strspn(at, " >"); count < 16 && *at != '\n'; at += strspn(at, " ")) {
            size_t length = strcspn(at, " \n");
            snprintf(words[count++], sizeof *words, "%.*s", (int)length, at);
            at += length;
        }
        if (count > 2 && !strcmp(words[0], first) && !strcmp(words[1], second))
            return count;
    }
    return 0;
}

static char *page(struct rtl_ui *ui, enum rtl_view view)
{
    struct rtl_frame frame = {0};
    ui->view = view;
    rtl_ui_scroll_into_view(ui, 40, 130);
    assert_true(rtl_frame_reset(&frame, 40, 130, false));
    rtl_draw(ui, &frame);
    char *text = synth_text(&frame);
    rtl_frame_free(&frame);
    return text;
}

static void every_queue_and_copy_is_on_the_screen(void **state)
{
    (void)state;
    int queues_seen = 0, copies_seen = 0;
    for (int p = 0; p < program_count; p++) {
        struct rtl_segment segment;
        struct rtl_snapshot snapshot;
        struct rtl_ui ui;
        struct rtl_model *model = rtl_model_create();
        fixture_segment(&segment);
        fill(&segment, programs[p], programs[p + 1]);
        struct rtl_reader *reader = fixture_reader(&segment);
        assert_int_equal(rtl_reader_snapshot(reader, &snapshot), RTL_READER_OK);
        assert_true(rtl_model_add(model, &snapshot, 1000 * RTL_SEC)); /* the model owns it now */
        rtl_ui_init(&ui, model, 4711, rows[programs[p]].program);
        char *queues = page(&ui, RTL_VIEW_QUEUES), *copies = page(&ui, RTL_VIEW_COPIES), words[16][32], gpu[24],
             name[8];
        for (int i = programs[p]; i < programs[p + 1]; i++) {
            snprintf(gpu, sizeof gpu, "G%s", rows[i].column[0]);
            if (!strcmp(rows[i].kind, "queue")) { /* QUEUE GPU DEPTH DISP/s DISP */
                if (words_of(queues, rows[i].column[1], gpu, words) < 5)
                    fail_msg("%s: queue %s is not in\n%s", rows[i].program, rows[i].column[1], queues);
                assert_string_equal(words[2], "0");
                assert_string_equal(words[4], rtl_format_count(number(i, 2)).text);
                queues_seen++;
            } else if (!strcmp(rows[i].kind, "copies")) { /* ... COPIES BYTES %UNTMD MIN MAX */
                snprintf(name, sizeof name, "%s", rows[i].column[1]);
                for (char *c = name; *c; c++)
                    *c = (char)toupper((unsigned char)*c);
                int count = words_of(copies, gpu, name, words);
                if (count < 11)
                    fail_msg("%s: %s %s is not in\n%s", rows[i].program, gpu, name, copies);
                assert_string_equal(words[count - 5], rtl_format_count(number(i, 2)).text);
                assert_string_equal(words[count - 4], rtl_format_bytes(number(i, 3)).text);
                assert_string_equal(words[count - 1], rtl_format_time(number(i, 4) / number(i, 2), ui.units).text);
                copies_seen++;
            }
        }
        free(queues);
        free(copies);
        rtl_model_free(model);
        rtl_reader_close(reader);
        fixture_drop(&segment);
    }
    assert_true(queues_seen > 30 && copies_seen > 10);
}

static void every_shape_is_in_a_trace(void **state)
{
    struct setup *s = *state;
    struct rtl_event_record records[MOST] = {0};
    uint32_t n = 0;
    for (int i = 0; i < row_count; i++) {
        if (strcmp(rows[i].kind, "shape"))
            continue;
        unsigned w[3], g[3];
        assert_int_equal(sscanf(rows[i].column[0], "%u,%u,%u", &w[0], &w[1], &w[2]), 3);
        assert_int_equal(sscanf(rows[i].column[1], "%u,%u,%u", &g[0], &g[1], &g[2]), 3);
        records[n] = (struct rtl_event_record){.start_ns = 1000 + n, .duration_ns = 7, .grid = {g[0], g[1], g[2]}};
        for (int d = 0; d < 3; d++)
            records[n].workgroup[d] = (uint16_t)w[d];
        n++;
    }
    assert_true(n > 100);
    write_records(s, records, n);
    struct rtl_db *db = open_db(s->path, false);
    struct rtl_db_statement *st =
        rtl_db_prepare(db, "SELECT substr(completionSignal, instr(completionSignal, ' ') + 1) FROM op ORDER BY id");
    for (int i = 0; i < row_count; i++) {
        char want[100];
        if (strcmp(rows[i].kind, "shape"))
            continue;
        snprintf(want, sizeof want, "wg=%s grid=%s", rows[i].column[0], rows[i].column[1]);
        assert_true(rtl_db_step(st));
        assert_string_equal(rtl_db_text(st, 0, NULL), want);
    }
    assert_false(rtl_db_step(st));
    rtl_db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_queue_and_copy_is_on_the_screen),
        cmocka_unit_test_setup_teardown(every_shape_is_in_a_trace, start, stop),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

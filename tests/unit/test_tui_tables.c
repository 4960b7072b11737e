/* The tables of options, keys and columns against --help, the help screen and rtl-top(1), which are made from them. */
#include "tui_synth.h"

#include <ctype.h>

#include "record/db.h"
#include "options/arguments.h"

/* Parse a command line given as words. The text stays in `said` until the next call. */
static char *said;
static enum rtl_parsed parse(struct rtl_options *o, const char *words)
{
    char copy[256], program[] = "rtl-top", *argv[24] = {program};
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = strdup(word);
    free(said);
    enum rtl_parsed result = rtl_command_line_parse(argc, argv, o, &said);
    if (o->file)
        o->file = strcmp(o->file, "out.txt") ? "?" : "out.txt"; /* they point into memory that is freed here */
    if (*o->filter)
        o->filter = strcmp(o->filter, "gemm") ? "?" : "gemm";
    for (int i = 1; i < argc; i++)
        free(argv[i]);
    return result;
}

static void options_are_parsed(void **state)
{
    (void)state;
    struct rtl_options o;
    assert_int_equal(parse(&o, ""), RTL_PARSED_RUN);
    assert_true(o.pid == 0 && o.delay_ns == RTL_SEC && o.output == RTL_OUTPUT_SCREEN && o.window_ns == 10 * RTL_SEC);
    assert_int_equal(parse(&o, "-p 4711 -d 0.5 -n 3 -s p99 -F gemm -C -U"), RTL_PARSED_RUN);
    assert_true(o.pid == 4711 && o.delay_ns == RTL_SEC / 2 && o.frames == 3 && o.sort == RTL_COLUMN_P99 && !o.reverse);
    assert_string_equal(o.filter, "gemm");
    assert_true(o.no_color && o.ascii);
    assert_int_equal(parse(&o, "--pid=1 --delay 500ms --batch -o out.txt --sort -calls"), RTL_PARSED_RUN);
    assert_true(o.pid == 1 && o.delay_ns == RTL_SEC / 2 && o.output == RTL_OUTPUT_TEXT && o.sort == RTL_COLUMN_CALLS &&
                o.reverse);
    assert_string_equal(o.file, "out.txt");
    assert_int_equal(o.window_ns, RTL_WINDOW_INTERVAL);
    assert_int_equal(parse(&o, "--json"), RTL_PARSED_RUN);
    assert_int_equal(o.output, RTL_OUTPUT_JSON);
    assert_int_equal(parse(&o, "-r f.db --recording 7 -p 3"), RTL_PARSED_RUN);
    assert_true(o.replay && o.recording == 7 && o.pid == 3 && !o.write && !o.snapshot && !o.force);
    assert_int_equal(parse(&o, "-p 1 -w f.db --force"), RTL_PARSED_RUN);
    assert_true(o.write && o.force);
    assert_int_equal(parse(&o, "-p 1 -b -o out.txt --force"), RTL_PARSED_RUN);
    assert_true(o.file && o.force);
    assert_int_equal(parse(&o, "-p 1 --snapshot f.db"), RTL_PARSED_RUN);
    assert_true(o.snapshot && o.output == RTL_OUTPUT_SCREEN);
    assert_int_equal(parse(&o, "-b --window all --names full --units us"), RTL_PARSED_RUN);
    assert_true(o.window_ns == RTL_WINDOW_ALL && o.names == RTL_NAME_FULL && o.units == RTL_UNIT_US);
    free(said);
    said = NULL;
}

static void wrong_options_get_a_specific_message(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says;
    } bad[] = {
        {"-p", "needs an argument"},
        {"-p 0", "not '0'"},
        {"-p -5", "not '-5'"},
        {"-p 99999999999", "-p needs pids"},
        {"-p 1,", "not '1,'"},
        {"-p ,1", "not ',1'"},
        {"-p 1,0", "not '1,0'"},
        {"-p serve -p 4711", "pids or a name"},
        {"worker other", "one name"},
        {"--all -p 4711", "--all"},
        {"-r f -p 1,2", "-r shows a recording"},
        {"-r f --all", "-r shows a recording"},
        {"-d 0", "-d needs"},
        {"-d 1h", "-d needs"},
        {"-n 0", "-n needs"},
        {"-n 1.5", "-n needs"},
        {"-n -1", "-n needs"},
        {"-s nothing", "-s help"},
        {"-s trend", "-s help"},
        {"-b --json", "exclude"},
        {"--csv -b", "exclude"},
        {"-o f", "-o needs"},
        {"-x", "no option -x"},
        {"-r f -w g", "-r shows a recording"},
        {"-p 1 -r f --snapshot g", "-r shows a recording"},
        {"--snapshot f", "-p PID"},
        {"-p 1 --snapshot f -b", "--snapshot writes one"},
        {"--recording 3 -p 1", "--recording needs -r"},
        {"-r f --recording 0", "--recording needs"},
        {"-p 1 --force", "--force needs"},
        {"-p 17457,abc", "'abc' is not a pid"},
        {"abc,17457", "'abc' is not a pid"},
        {"-p ,5", "-p needs pids"},
        {"--batch=3", "--batch=3: that option takes no argument"},
        {"--json=3", "--json=3: that option takes no argument"},
        {"-:", "no option -:"},
        {"--nothing", "no option --nothing"},
        {"--json --window 5", "--json"},
        {"--units min", "--units"},
        {"--names long", "--names"},
        {"--window 0", "--window"},
        {"--delay", "needs an argument"},
        {"-F 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
         "-F"},
    };
    struct rtl_options o;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(&o, bad[i].words) != RTL_PARSED_WRONG || !said || !strstr(said, bad[i].says))
            fail_msg("'%s' gives '%s'", bad[i].words, said ? said : "");
        if (!strncmp(said, "rtl-top", 7) || strchr(said, '\n'))
            fail_msg("'%s' is not one line", said);
    }
    free(said);
    said = NULL;
}

static void help_and_version_are_printed(void **state)
{
    (void)state;
    struct rtl_options o;
    assert_int_equal(parse(&o, "-h all"), RTL_PARSED_DONE);
    for (int i = 0; i < RTL_OPTION_COUNT; i++) {
        assert_non_null(strstr(said, rtl_options[i].name));
        assert_non_null(strstr(said, rtl_options[i].meaning));
    }
    for (const char *line = said, *end; (end = strchr(line, '\n')); line = end + 1)
        assert_true(end - line <= 120);
    assert_int_equal(parse(&o, "-V"), RTL_PARSED_DONE);
    assert_int_equal(strncmp(said, "rtl-top ", 8), 0);
    assert_int_equal(parse(&o, "-s help"), RTL_PARSED_DONE);
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        assert_int_equal(strstr(said, rtl_columns[i].meaning) != NULL, rtl_columns[i].order != RTL_ORDER_NO);
    free(said);
    said = NULL;
}

static void every_letter_is_used_once(void **state)
{
    (void)state;
    for (int i = 0; i < RTL_OPTION_COUNT; i++)
        for (int j = 0; j < i; j++) {
            assert_true(!rtl_options[i].letter || rtl_options[i].letter != rtl_options[j].letter);
            assert_true(strcmp(rtl_options[i].name, rtl_options[j].name) != 0);
        }
}

static void every_key_means_one_thing(void **state)
{
    (void)state;
    for (int i = 1; i < RTL_ACTION_COUNT; i++)
        for (int k = 0; k < 3 && rtl_keys[i].keys[k]; k++) {
            uint32_t key = rtl_keys[i].keys[k];
            for (int j = 1; j < RTL_ACTION_COUNT; j++)
                for (int n = 0; n < 3; n++)
                    if (rtl_keys[j].keys[n] == key && (i != j || k != n) &&
                        (key != RTL_KEY_ENTER || (rtl_keys[i].where & rtl_keys[j].where)))
                        fail_msg("%s has two meanings", rtl_key_name(key).text);
            assert_true(rtl_key_name(key).text[0] != 0);
            for (unsigned where = 1; where <= RTL_IN_RANGES; where <<= 1)
                if (rtl_keys[i].where & where)
                    assert_int_equal(rtl_key_action(key, where), i);
        }
}

static void every_function_key_has_a_twin(void **state)
{
    (void)state;
    for (int i = 1; i < RTL_ACTION_COUNT; i++) {
        bool function_key = false, letter = false;
        for (int k = 0; k < 3 && rtl_keys[i].keys[k]; k++) {
            function_key |= rtl_keys[i].keys[k] > RTL_KEY_F0;
            letter |= rtl_keys[i].keys[k] < RTL_KEY_SPECIAL;
        }
        assert_true(!function_key || letter);
    }
    assert_int_equal(rtl_key_action(RTL_KEY_ESC, RTL_IN_KERNELS), RTL_ACTION_BACK); /* and never QUIT */
    assert_int_equal(rtl_key_action('\n', RTL_IN_KERNELS), RTL_ACTION_DETAIL);
    assert_int_equal(rtl_key_action(0, RTL_IN_ALL), RTL_ACTION_NONE);
}

/* --- the manual --- */

static char *manual;

static int read_manual(void **state)
{
    (void)state;
    FILE *in = fopen("man/rtl-top.1", "r");
    if (!in) {
        fprintf(stderr, "man/rtl-top.1 can't be read: unit tests run in the top folder of the sources\n");
        return -1;
    }
    manual = calloc(1, 1 << 18);
    size_t length = manual ? fread(manual, 1, (1 << 18) - 1, in) : 0;
    fclose(in);
    return length ? 0 : -1;
}

static int free_manual(void **state)
{
    (void)state;
    free(manual);
    return 0;
}

/* Return the lines of one section, from its .Sh to the next one. */
static char *section(const char *title)
{
    char head[80];
    snprintf(head, sizeof head, ".S%c %s\n", islower((unsigned char)title[1]) ? 's' : 'h', title);
    const char *start = strstr(manual, head);
    if (!start)
        fail_msg("rtl-top(1) has no section %s", title);
    start += strlen(head);
    const char *end = strstr(start, "\n.Sh ");
    return strndup(start, end ? (size_t)(end - start) + 1 : strlen(start));
}

static void expect(const char *where, const char *lines)
{
    if (!strstr(where, lines))
        fail_msg("rtl-top(1) lacks, or words differently:\n%s", lines);
}

static int items(const char *text)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, "\n.It ")); at++)
        count++;
    return count;
}

static void the_manual_has_the_options(void **state)
{
    (void)state;
    char *text = section("OPTIONS"), lines[256];
    for (int i = 0; i < RTL_OPTION_COUNT; i++) {
        const struct rtl_option_info *o = &rtl_options[i];
        char letter[16] = "";
        if (o->letter)
            snprintf(letter, sizeof letter, "Fl %c , ", o->letter);
        snprintf(lines, sizeof lines, ".It %sFl -%s%s%s\n%s\n", letter, o->name, *o->argument ? " Ar " : "",
                 o->argument, o->meaning);
        expect(text, lines);
    }
    assert_int_equal(items(text), RTL_OPTION_COUNT);
    free(text);
}

static void the_manual_has_the_keys(void **state)
{
    (void)state;
    char *text = section("KEYS"), lines[256];
    for (int i = 1; i < RTL_ACTION_COUNT; i++) {
        snprintf(lines, sizeof lines, ".It Ic");
        for (int k = 0; k < 3 && rtl_keys[i].keys[k]; k++) {
            struct rtl_key_name name = rtl_key_name(rtl_keys[i].keys[k]);
            bool mark = !name.text[1] && !isalnum((unsigned char)name.text[0]);
            snprintf(lines + strlen(lines), sizeof lines - strlen(lines), " %s%s", mark ? "\\&" : "",
                     name.text[0] == '\\' ? "\\e" : name.text);
        }
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "\n%s\n", rtl_keys[i].meaning);
        expect(text, lines);
    }
    assert_int_equal(items(text), RTL_ACTION_COUNT - 1);
    free(text);
}

static void the_manual_has_the_columns(void **state)
{
    (void)state;
    char *text = section("COLUMNS"), lines[256];
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        snprintf(lines, sizeof lines, ".It Li %s\n%s\n", rtl_columns[i].header, rtl_columns[i].meaning);
        if (rtl_columns[i].order != RTL_ORDER_NO)
            snprintf(lines + strlen(lines), sizeof lines - strlen(lines), ".Pq Fl s Cm %s\n", rtl_columns[i].key);
        expect(text, lines);
    }
    assert_int_equal(items(text), RTL_COLUMN_COUNT);
    free(text);
}

static void the_manual_has_the_verdicts(void **state)
{
    (void)state;
    char *text = section("VERDICTS"), lines[256];
#define VERDICT(sym, key, words, meaning)                                                   \
    snprintf(lines, sizeof lines, ".It Li %s\n%s\n.Pq JSON: Li %s\n", words, meaning, key); \
    expect(text, lines);
    RTL_VERDICTS(VERDICT)
#undef VERDICT
#define CAUSE(sym, num, key, words) expect(text, ".It Li " key "\n");
    RTL_CAUSES(CAUSE)
#undef CAUSE
    assert_int_equal(items(text), RTL_VERDICT_COUNT + RTL_CAUSE_COUNT);
    free(text);
}

static void expect_item(const char *text, const char *name, const char *meaning)
{
    char lines[256];
    snprintf(lines, sizeof lines, ".It Cm %s\n%s\n", name, meaning);
    expect(text, lines);
}

static void the_manual_has_modes_reasons_notes_statuses(void **state)
{
    (void)state;
    char *modes = section("MODES"), *reasons = section("WHY A DISPATCH IS NOT TIMED"), *notes = section("NOTES");
    char *ways = section("QUEUE PATHS"), *whys = section("WHY A QUEUE HAS ITS PATH");
    char *statuses = section("EXIT STATUS"), *copies = section("WHY A COPY IS NOT TIMED"), lines[256];
    int count = 0;
#define MODE(sym, num, name, text) expect_item(modes, name, text), count++;
    RTL_MODES(MODE)
    assert_int_equal(items(modes), count);
    count = 0;
#define REASON(sym, num, key, text, writer) expect_item(reasons, key, text), count++;
    RTL_UNTIMED_REASONS(REASON)
    assert_int_equal(items(reasons), count);
    count = 0;
#define COPY_REASON(sym, num, key, text, writer) expect_item(copies, key, text), count++;
    RTL_COPY_REASONS(COPY_REASON)
    assert_int_equal(items(copies), count);
    count = 0;
#define NOTE(sym, bit, key, text) expect_item(notes, key, text), count++;
    RTL_NOTES(NOTE)
    assert_int_equal(items(notes), count);
    count = 0;
#define WAY(sym, num, key, text) expect_item(ways, key, text), count++;
    RTL_QUEUE_PATHS(WAY)
    assert_int_equal(items(ways), count);
    count = 0;
#define WHY(sym, num, key, text) expect_item(whys, key, text), count++;
    RTL_PATH_REASONS(WHY)
    assert_int_equal(items(whys), count);
    char *errors = section("QUEUE ERRORS");
#define ERROR(status, key, text) expect_item(errors, key, text);
    RTL_QUEUE_ERRORS(ERROR)
#undef ERROR
    assert_int_equal(items(errors), RTL_QUEUE_ERROR_COUNT);
    free(errors);
#define STATUS(sym, status, text)                                       \
    snprintf(lines, sizeof lines, ".It %d\n%s\n", (int)(status), text); \
    expect(statuses, lines);
    RTL_READER_ERRORS(STATUS)
    RTL_DB_ERRORS(STATUS)
    RTL_PROBE_ERRORS(STATUS)
    free(modes);
    free(reasons);
    free(notes);
    free(statuses);
    free(copies);
    free(ways);
    free(whys);
}

/* Return the complete help, drawn on a screen that is high enough. */
static char *help_screen(struct rtl_ui *ui, int cols)
{
    struct rtl_frame frame = {0};
    assert_true(rtl_frame_reset(&frame, 1000, cols, false));
    ui->view = RTL_VIEW_HELP;
    ui->manual = true;
    rtl_draw(ui, &frame);
    char *text = synth_text(&frame);
    rtl_frame_free(&frame);
    return text;
}

static void the_help_screen_has_all_keys_and_reasons(void **state)
{
    (void)state;
    struct synth *p = synth_create(1, 1);
    struct rtl_model *m = rtl_model_create();
    struct rtl_ui ui;
    synth_record(p, synth_kernel(p, "k"), 1000, 1);
    synth_tick(p, m, RTL_SEC);
    rtl_ui_init(&ui, m, 4711, "serve");
    char *text = help_screen(&ui, 159);
    for (int i = 1; i < RTL_ACTION_COUNT; i++) {
        if (!strstr(text, rtl_keys[i].meaning))
            fail_msg("the help screen lacks '%s'", rtl_keys[i].meaning);
        for (int k = 0; k < 3 && rtl_keys[i].keys[k]; k++)
            assert_non_null(strstr(text, rtl_key_name(rtl_keys[i].keys[k]).text));
    }
#define HAS(sym, num, key, meaning, ...) assert_non_null(strstr(text, meaning));
    RTL_UNTIMED_REASONS(HAS)
    RTL_COPY_REASONS(HAS)
    RTL_NOTES(HAS)
    RTL_MODES(HAS)
    RTL_QUEUE_PATHS(HAS)
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        assert_non_null(strstr(text, rtl_columns[i].meaning));
    free(text);
    rtl_model_free(m);
    synth_free(p);
}

/* Remove blanks, the title and the status line. */
static void squeeze(char *text)
{
    char *to = text, *from = strchr(text, '\n');
    char *end = strrchr(text, '\n');
    while (end > text && end[1] == '\0') /* the end of the second to last line */
        *end = '\0', end = strrchr(text, '\n');
    for (; from && from < end; from++)
        if (*from != ' ' && *from != '\n')
            *to++ = *from;
    *to = '\0';
}

static void the_help_screen_loses_no_word_at_any_width(void **state)
{
    (void)state;
    struct synth *p = synth_create(1, 1);
    struct rtl_model *m = rtl_model_create();
    struct rtl_ui ui;
    synth_record(p, synth_kernel(p, "k"), 1000, 1);
    synth_tick(p, m, RTL_SEC);
    rtl_ui_init(&ui, m, 4711, "serve");
    char *whole = help_screen(&ui, 159);
    squeeze(whole);
    assert_non_null(strstr(whole, "previousmatch"));
    for (int cols = 24; cols < 159; cols++) {
        if (rtl_draw_help_lines(&ui, cols) > 998) { /* more rows than a frame can have */
            assert_true(cols < 34);
            continue;
        }
        char *text = help_screen(&ui, cols);
        squeeze(text);
        assert_string_equal(text, whole);
        free(text);
        /* the last page ends with the last line, so every line can be reached */
        ui.line_top[RTL_VIEW_HELP] = 1 << 20;
        rtl_ui_scroll_into_view(&ui, 24, cols);
        assert_int_equal(ui.line_top[RTL_VIEW_HELP], rtl_draw_help_lines(&ui, cols) - 22);
        ui.line_top[RTL_VIEW_HELP] = 0;
    }
    assert_in_range(rtl_draw_help_lines(&ui, 60), rtl_draw_help_lines(&ui, 120) + 1, 530);
    free(whole);
    rtl_model_free(m);
    synth_free(p);
}

static void sort_keys_skip_unsortable_columns(void **state)
{
    (void)state;
    enum rtl_column at = RTL_COLUMN_TIME;
    int steps = 0, sortable = 0;
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        sortable += rtl_columns[i].order != RTL_ORDER_NO;
    do {
        enum rtl_column next = rtl_column_step(at, 1);
        assert_int_equal(rtl_column_step(next, -1), at);
        assert_true(rtl_columns[next].order != RTL_ORDER_NO);
        at = next;
        steps++;
    } while (at != RTL_COLUMN_TIME && steps < 100);
    assert_int_equal(steps, sortable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_parsed),
        cmocka_unit_test(wrong_options_get_a_specific_message),
        cmocka_unit_test(help_and_version_are_printed),
        cmocka_unit_test(every_letter_is_used_once),
        cmocka_unit_test(every_key_means_one_thing),
        cmocka_unit_test(every_function_key_has_a_twin),
        cmocka_unit_test(the_manual_has_the_options),
        cmocka_unit_test(the_manual_has_the_keys),
        cmocka_unit_test(the_manual_has_the_columns),
        cmocka_unit_test(the_manual_has_the_verdicts),
        cmocka_unit_test(the_manual_has_modes_reasons_notes_statuses),
        cmocka_unit_test(the_help_screen_has_all_keys_and_reasons),
        cmocka_unit_test(the_help_screen_loses_no_word_at_any_width),
        cmocka_unit_test(sort_keys_skip_unsortable_columns),
    };
    return cmocka_run_group_tests(tests, read_manual, free_manual);
}

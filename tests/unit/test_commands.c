/* Commands and their options: which are accepted, which are refused and with which message, --help and rtl-top(1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "options/arguments.h"
#include "options/arguments.h"
#include "shm/tables.h"
#include "text/nearest.h"

enum { WORDS = 16 };

/* A command line given as words separated by blanks. */
struct words {
    char text[256], *argv[WORDS + 1];
    int argc;
};

static void split(struct words *w, const char *text)
{
    snprintf(w->text, sizeof w->text, "%s", text);
    w->argc = 0;
    for (char *word = strtok(w->text, " "); word && w->argc < WORDS; word = strtok(NULL, " "))
        w->argv[w->argc++] = word;
    w->argv[w->argc] = NULL;
}

static void the_distance_of_words_counts_letters(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        unsigned distance;
    } pairs[] = {{"", "", 0},
                 {"", "abc", 3},
                 {"diff", "diff", 0},
                 {"nmes", "names", 1},
                 {"recrod", "record", 1},
                 {"exprot", "export", 1},
                 {"ab", "ba", 1},
                 {"kitten", "sitting", 3},
                 {"abc", "", 3},
                 {"tarce", "trace", 1},
                 {"snapsot", "snapshot", 1}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(rtl_word_distance(pairs[i].a, pairs[i].b), pairs[i].distance);
        assert_int_equal(rtl_word_distance(pairs[i].b, pairs[i].a), pairs[i].distance);
    }
    char longest[RTL_NEAREST_MAX + 2];
    memset(longest, 'a', sizeof longest);
    longest[RTL_NEAREST_MAX] = 0;
    assert_int_equal(rtl_word_distance(longest, longest), 0);
    longest[RTL_NEAREST_MAX] = 'a';
    longest[RTL_NEAREST_MAX + 1] = 0;
    assert_int_equal(rtl_word_distance(longest, longest), RTL_NEAREST_MAX);
    assert_int_equal(rtl_word_meant(longest, longest), 0);
}

static void distant_words_are_not_suggested(void **state)
{
    (void)state;
    assert_true(rtl_word_meant("nmes", "names") > 0);
    assert_true(rtl_word_meant("snap", "snapshot") > 0); /* a prefix */
    assert_true(rtl_word_meant("snap", "snapshot") < rtl_word_meant("nmes", "names"));
    assert_int_equal(rtl_word_meant("vllm", "diff"), 0);
    assert_int_equal(rtl_word_meant("x", "diff"), 0);
    assert_int_equal(rtl_word_meant("", "diff"), 0);
    assert_int_equal(rtl_word_meant("diff", "diff"), 0); /* a known word */
}

static void a_misspelt_word_gets_a_suggestion(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says;
    } bad[] = {
        {"rtl-top nmes", "no command 'nmes'; did you mean names? 'rtl-top --help' lists them"},
        {"rtl-top recrod x", "no command 'recrod'; did you mean record? 'rtl-top --help' lists them"},
        {"rtl-top snap", "did you mean snapshot?"},
        {"rtl-top -p 3 diff a b", "the command comes first: rtl-top diff ..."},
        {"rtl-top --windw 3", "no option --windw; did you mean --window? 'rtl-top --help all' lists the options"},
        {"rtl-top --windw=3", "did you mean --window?"},
        {"rtl-top --no-colue", "did you mean --no-color?"}, /* not --no-mouse, which is near, too */
        {"rtl-top --xyzzy", "no option --xyzzy; 'rtl-top --help all' lists the options"},
        {"rtl-top --re f", "no option --re: several options begin with it"},
        {"rtl-top record -p 3", "record needs the name of one FILE; 'rtl-top record --help' explains it"},
        {"rtl-top record -p 3 a.db b.db", "not also b.db"},
        {"rtl-top record -p 3 a.db -o x", "-o needs"},
        {"rtl-top mode -p 3", "mode needs one MODE"},
        {"rtl-top mode -p 3 quick", "--mode needs one of"},
        {"rtl-top mode lite", "-p PID"},
        {"rtl-top mode -p 3 lite --json", "no option --json; 'rtl-top mode --help' lists the options"},
        {"rtl-top replay --recrding 3 a.db", "did you mean --recording? 'rtl-top replay --help'"},
        {"rtl-top replay a.db -w b.db", "no option -w; 'rtl-top replay --help' lists the options"},
        {"rtl-top snapshot f.db", "-p PID"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct words w;
        struct rtl_options o;
        char *said;
        split(&w, bad[i].words);
        enum rtl_parsed parsed = rtl_command_line_parse(w.argc, w.argv, &o, &said);
        if (parsed != RTL_PARSED_WRONG || !said || !strstr(said, bad[i].says) || strchr(said, '\n'))
            fail_msg("'%s' gives '%s'", bad[i].words, said ? said : "");
        free(said);
    }
}

static void understood(const char *words, struct words *w, struct rtl_options *o)
{
    char *said;
    split(w, words);
    if (rtl_command_line_parse(w->argc, w->argv, o, &said) != RTL_PARSED_RUN)
        fail_msg("'%s' gives '%s'", words, said ? said : "");
}

static void a_command_and_its_option_mean_the_same(void **state)
{
    (void)state;
    struct words w;
    struct rtl_options o;
    understood("rtl-top record -p 3 -d 0.5 -n 4 f.db", &w, &o);
    assert_string_equal(o.write, "f.db");
    assert_string_equal(o.file, "/dev/null"); /* no screen and no text: the recording alone */
    assert_true(o.pid == 3 && o.frames == 4 && o.output == RTL_OUTPUT_TEXT && o.delay_ns == 500000000);
    understood("rtl-top record f.db -p 3 --json", &w, &o);
    assert_string_equal(o.write, "f.db");
    assert_true(o.pid == 3 && o.output == RTL_OUTPUT_JSON && !o.file);
    understood("rtl-top replay f.db", &w, &o);
    assert_string_equal(o.replay, "f.db");
    assert_int_equal(o.output, RTL_OUTPUT_SCREEN);
    understood("rtl-top replay --recording 7 f.db --csv", &w, &o);
    assert_true(o.recording == 7 && o.output == RTL_OUTPUT_CSV);
    understood("rtl-top snapshot -p 3 f.db", &w, &o);
    assert_string_equal(o.snapshot, "f.db");
    understood("rtl-top trace -p 3 f.db", &w, &o);
    assert_string_equal(o.trace, "f.db");
    understood("rtl-top mode -p 3 lite", &w, &o);
    assert_int_equal(o.mode, RTL_MODE_LITE);
    understood("rtl-top record -p 3 -- -f.db", &w, &o);
    assert_string_equal(o.write, "-f.db");
}

static void each_command_has_its_own_help(void **state)
{
    (void)state;
    for (int c = 0; c < RTL_COMMAND_COUNT; c++) {
        char *text = rtl_command_help((enum rtl_command)c, true);
        const struct rtl_option_info *o, *other;
        int count = 0;
        assert_non_null(text);
        assert_non_null(strstr(text, rtl_commands[c].name));
        assert_non_null(strstr(text, rtl_commands[c].meaning));
        for (; (o = rtl_command_option((enum rtl_command)c, count)); count++) {
            char line[200];
            snprintf(line, sizeof line, "--%s%s%s", o->name, *o->argument ? " " : "", o->argument);
            if (!strstr(text, line) || !strstr(text, o->meaning))
                fail_msg("the help of '%s' lacks %s", rtl_commands[c].name, line);
            for (int i = 0; i < count; i++) {
                other = rtl_command_option((enum rtl_command)c, i);
                assert_true(strcmp(other->name, o->name) != 0 && (!o->letter || other->letter != o->letter));
            }
        }
        assert_in_range(count, 1, RTL_ARGUMENTS_MAX);
        for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
            assert_true(end - line <= 120);
        free(text);
    }
}

static void words_after_a_program_belong_to_the_program(void **state)
{
    (void)state;
    struct words w;
    struct rtl_options o;
    struct rtl_arguments a;
    char *said;
    uint64_t width = 0;
    const struct rtl_own_value own[RTL_NAMES_OWN_COUNT] = {
        [RTL_NAMES_WIDTH] = {.number = &width, .most = 9, .needs = "columns to "}};
    split(&w, "rtl-top record -p 3 --help");
    assert_int_equal(rtl_command_line_parse(w.argc, w.argv, &o, &said), RTL_PARSED_DONE);
    assert_int_equal(strncmp(said, "usage: rtl-top record -p PID", 28), 0);
    free(said);
    /* words after another program's name belong to that program */
    split(&w, "names -w 3 python --help");
    assert_int_equal(rtl_arguments_read(&a, RTL_COMMAND_NAMES, true, own, &o, w.argc, w.argv), RTL_GO_ON);
    assert_int_equal(width, 3);
    assert_true(!a.help && !a.wrong && a.first == 3);
    split(&w, "names python --ascii");
    rtl_options_default(&o);
    o.ascii = false;
    assert_int_equal(rtl_arguments_read(&a, RTL_COMMAND_NAMES, false, own, &o, w.argc, w.argv), RTL_GO_ON);
    assert_true(o.ascii);
    assert_int_equal(a.first, 2);
}

static void the_manual_has_the_commands(void **state)
{
    (void)state;
    static char manual[1 << 18];
    static const char *const pages[] = {"man/rtl-top.1", "man/rtl-top-serve.1"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        FILE *in = fopen(pages[i], "r");
        if (!in)
            fail_msg("%s can't be read: unit tests run in the top folder of the sources", pages[i]);
        used += fread(manual + used, 1, sizeof manual - 1 - used, in);
        fclose(in);
    }
    manual[used] = 0;
    for (int c = 0; c < RTL_COMMAND_NONE; c++) {
        char lines[400];
        const struct rtl_command_info *info = &rtl_commands[c];
        snprintf(lines, sizeof lines, ".It Cm %s%s%s\n%s\n", info->name, *info->arguments ? " Ar " : "",
                 info->arguments, info->meaning);
        if (!strstr(manual, lines))
            fail_msg("rtl-top(1) lacks, or words differently:\n%s", lines);
        for (int i = 0; i < info->own_count; i++) {
            const struct rtl_option_info *o = &info->own[i];
            snprintf(lines, sizeof lines, ".It Fl %s%s%s%s%s\n%s\n", o->letter ? (char[]){(char)o->letter, 0} : "",
                     o->letter ? " , -" : "-", o->name, *o->argument ? " Ar " : "", o->argument, o->meaning);
            if (!strstr(manual, lines))
                fail_msg("rtl-top(1) lacks, or words differently:\n%s", lines);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_of_words_counts_letters),
        cmocka_unit_test(distant_words_are_not_suggested),
        cmocka_unit_test(a_misspelt_word_gets_a_suggestion),
        cmocka_unit_test(a_command_and_its_option_mean_the_same),
        cmocka_unit_test(each_command_has_its_own_help),
        cmocka_unit_test(words_after_a_program_belong_to_the_program),
        cmocka_unit_test(the_manual_has_the_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Settings: read from a configuration, put in force, and written back without changes to other lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/model.h"
#include "options/arguments.h"
#include "options/config.h"

static char told[1000];

static void note(void *context, unsigned line, const char *why)
{
    (void)context;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%u: %s\n", line, why);
}

static struct rtl_settings parsed(const char *text)
{
    struct rtl_config config = {0};
    told[0] = 0;
    assert_true(rtl_config_parse(&config, text, strlen(text), note, NULL));
    rtl_config_free(&config);
    return config.settings;
}

static const char all[] =
    "columns max time p90\nsort -p99\ntheme light\nwindow 30\nstep decode\ninterval 500ms\nunits us\nmouse off\n";

static void settings_are_applied(void **state)
{
    (void)state;
    struct rtl_settings s = parsed(all);
    assert_string_equal(told, "");
    assert_int_equal(s.columns,
                     1u << RTL_COLUMN_TIME | 1u << RTL_COLUMN_P90 | 1u << RTL_COLUMN_MAX | 1u << RTL_COLUMN_NAME);
    assert_true(s.sort == RTL_COLUMN_P99 && s.reverse && s.theme == RTL_THEME_LIGHT && !s.mouse);
    assert_true(s.window_ns == 30 * RTL_SEC && s.interval_ns == RTL_SEC / 2 && s.units == RTL_UNIT_US);
    for (int i = 0; i < RTL_SETTING_COUNT; i++)
        assert_true(s.has[i]);
    s = parsed("\t window\tall \r\nsort time\nsort calls\n# units ns\n");
    assert_string_equal(told, "");
    assert_true(s.window_ns == RTL_WINDOW_ALL && s.sort == RTL_COLUMN_CALLS && !s.has[RTL_SETTING_UNITS]);
}

static void wrong_lines_are_reported_and_others_apply(void **state)
{
    (void)state;
    struct rtl_settings s = parsed("columns time nothing\nsort trend\ntheme pink\nwindow 0\ninterval all\nunits min\n"
                                   "mouse maybe\nsort\nsort calls\nsorted p99\n");
    static const char *const whys[] = {"1: no column 'nothing'",
                                       "2: 'trend' is not a column to sort by",
                                       "3: 'pink' is not a theme; the themes are default contrast mono light",
                                       "4: '0' is not seconds",
                                       "5: 'all' is not seconds",
                                       "6: 'min' is not a unit",
                                       "7: write it as: mouse on|off",
                                       "8: write it as: sort KEY",
                                       "10: a line must begin with one of rule family nickname columns"};
    for (size_t i = 0; i < sizeof whys / sizeof *whys; i++)
        if (!strstr(told, whys[i]))
            fail_msg("no '%s' in:\n%s", whys[i], told);
    for (int i = 0; i < RTL_SETTING_COUNT; i++)
        assert_int_equal(s.has[i], i == RTL_SETTING_SORT);
    assert_int_equal(s.sort, RTL_COLUMN_CALLS);
}

static void every_setting_is_written_as_it_is_read(void **state)
{
    (void)state;
    struct rtl_settings s = parsed(all);
    char text[1000] = "", line[200];
    for (int i = 0; i < RTL_SETTING_COUNT; i++) {
        rtl_setting_line(&s, (enum rtl_setting)i, line, sizeof line);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", line);
    }
    assert_string_equal(
        text, "columns max time p90 name\nsort -p99\ntheme light\nwindow 30\nstep decode\ninterval 500ms\nunits us\n"
              "mouse off\n");
}

static void edited(const char *text, const struct rtl_settings *s, const char *wanted)
{
    size_t length;
    char *result = rtl_config_edit(text, strlen(text), s, &length);
    assert_non_null(result);
    assert_int_equal(length, strlen(wanted));
    assert_string_equal(result, wanted);
    free(result);
}

static void only_written_lines_change(void **state)
{
    (void)state;
    struct rtl_settings s = parsed("sort p99\nwindow 5\n");
    edited("", &s, "sort p99\nwindow 5\n");
    edited("# mine\n\nrule gemm x = y\nsort time # no comment here\nunits ns\n  window 10", &s,
           "# mine\n\nrule gemm x = y\nsort p99\nunits ns\nwindow 5\n");
    /* the last line counts and is replaced; lines with unknown settings stay */
    edited("sort calls\r\nnonsense\r\nsort time\r\n#sort x\r\n", &s,
           "sort calls\r\nnonsense\r\nsort p99\r\n#sort x\r\nwindow 5\n");
    edited("sortx time\n\377\376\n", &s, "sortx time\n\377\376\nsort p99\nwindow 5\n");
    edited("unfinished", &(struct rtl_settings){0}, "unfinished\n");
    edited("same\n", &(struct rtl_settings){0}, "same\n");
}

static void the_command_line_overrides_the_configuration(void **state)
{
    (void)state;
    struct rtl_settings s = parsed(all);
    struct rtl_options o;
    char *text,
        *argv[] = {(char[]){"rtl-top"}, (char[]){"-s"}, (char[]){"calls"}, (char[]){"--theme"}, (char[]){"mono"}, NULL};
    assert_int_equal(rtl_command_line_parse(5, argv, &o, &text), RTL_PARSED_RUN);
    rtl_settings_apply(&s, &o);
    assert_true(o.sort == RTL_COLUMN_CALLS && !o.reverse && o.theme == RTL_THEME_MONO);
    assert_true(o.window_ns == 30 * RTL_SEC && o.delay_ns == RTL_SEC / 2 && o.units == RTL_UNIT_US && o.no_mouse);
    assert_int_equal(o.columns, s.columns);
    assert_memory_equal(o.column_places, s.column_places, sizeof o.column_places);
    /* scripts get the same output for every user */
    char *script[] = {(char[]){"rtl-top"}, (char[]){"-p"}, (char[]){"1"}, (char[]){"--json"}, NULL};
    struct rtl_options before;
    assert_int_equal(rtl_command_line_parse(4, script, &o, &text), RTL_PARSED_RUN);
    before = o;
    rtl_settings_apply(&s, &o);
    assert_memory_equal(&before, &o, sizeof o);
}

/* --- the file --- */

static char folder[64], config[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rtl-settings.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(config, sizeof config, "%s/new/rtl-top/config", folder);
    char home[128];
    snprintf(home, sizeof home, "%s/new", folder);
    return setenv("XDG_CONFIG_HOME", home, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    char path[200];
    unlink(config);
    for (const char *const *name = (const char *const[]){"/new/rtl-top", "/new/elsewhere", "/new", "", NULL}; *name;
         name++) {
        snprintf(path, sizeof path, "%s%s", folder, *name);
        if (unlink(path))
            rmdir(path);
    }
    return 0;
}

static void content(const char *wanted)
{
    char why[300];
    size_t length;
    char *text = rtl_config_read(config, &length, why, sizeof why);
    assert_non_null(text);
    assert_int_equal(length, strlen(wanted));
    assert_memory_equal(text, wanted, length);
    free(text);
}

static void the_file_is_created_and_kept(void **state)
{
    (void)state;
    char path[PATH_MAX], why[300] = "";
    struct stat is;
    struct rtl_settings s = parsed("sort p99\n");
    if (!rtl_config_save(&s, path, why, sizeof why))
        fail_msg("%s", why);
    assert_string_equal(path, config);
    content("# Configuration of rtl-top: a setting a line, see rtl-top(1). The key W writes those of the screen.\nsort "
            "p99\n");
    FILE *out = fopen(config, "w");
    fputs("# mine\nsort time\n", out);
    fclose(out);
    chmod(config, 0640);
    assert_true(rtl_config_save(&s, path, why, sizeof why));
    content("# mine\nsort p99\n");
    assert_true(!stat(config, &is) && (is.st_mode & 0777) == 0640);
}

static void nothing_is_written_through_another_users_link(void **state)
{
    (void)state;
    char path[PATH_MAX], why[300] = "", elsewhere[128];
    struct rtl_settings s = parsed("sort p99\n");
    snprintf(elsewhere, sizeof elsewhere, "%s/new/elsewhere", folder);
    snprintf(path, sizeof path, "%s/new", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/new/rtl-top", folder);
    mkdir(path, 0700);
    FILE *out = fopen(elsewhere, "w");
    fputs("units ns\n", out);
    fclose(out);
    assert_int_equal(symlink(elsewhere, config), 0);
    assert_true(rtl_config_save(&s, path, why, sizeof why)); /* one's own link is followed, and stays */
    content("units ns\nsort p99\n");
    struct stat is;
    assert_true(!lstat(config, &is) && S_ISLNK(is.st_mode));
    snprintf(path, sizeof path, "%s/new", folder); /* nor below a folder in which others may create a link */
    assert_int_equal(chmod(path, 0777), 0);
    assert_false(rtl_config_save(&s, path, why, sizeof why));
    assert_non_null(strstr(why, "another user can change the folder "));
    snprintf(path, sizeof path, "%s/new", folder);
    assert_int_equal(chmod(path, 01777), 0); /* as in /tmp: files there are their owner's */
    assert_true(rtl_config_save(&s, path, why, sizeof why));
    snprintf(path, sizeof path, "%s/new", folder);
    assert_int_equal(chmod(path, 0770), 0); /* usually one's own group has one member */
    assert_true(rtl_config_save(&s, path, why, sizeof why));
    if (geteuid() != 0)
        skip(); /* only root can make another user's link */
    snprintf(path, sizeof path, "%s/new", folder);
    assert_int_equal(chown(path, 0, 65534), 0);
    assert_false(rtl_config_save(&s, path, why, sizeof why));
    snprintf(path, sizeof path, "%s/new", folder);
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(lchown(config, 65534, 65534), 0);
    s = parsed("sort calls\n");
    assert_false(rtl_config_save(&s, path, why, sizeof why));
    assert_non_null(strstr(why, "link of another user"));
    content("units ns\nsort p99\n");
    unlink(config);
    snprintf(path, sizeof path, "%s/new", folder); /* nor below a folder that its owner may change meanwhile */
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_false(rtl_config_save(&s, path, why, sizeof why));
    assert_non_null(strstr(why, "another user can change the folder "));
}

static void a_fifo_is_not_replaced_by_settings(void **state)
{
    (void)state;
    char path[PATH_MAX], why[300] = "";
    struct rtl_settings s = parsed("sort p99\n");
    snprintf(path, sizeof path, "%s/new", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/new/rtl-top", folder);
    mkdir(path, 0700);
    mkfifo(config, 0600);
    assert_false(rtl_config_save(&s, path, why, sizeof why));
    assert_non_null(strstr(why, "is not a regular file"));
    unlink(config);
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "", 1);
    assert_false(rtl_config_save(&s, path, why, sizeof why));
    assert_non_null(strstr(why, "HOME"));
}

static void the_manual_has_the_settings(void **state)
{
    (void)state;
    static char manual[1 << 18];
    FILE *in = fopen("man/rtl-top.1", "r");
    if (!in)
        fail_msg("man/rtl-top.1 can't be read: unit tests run in the top folder of the sources");
    manual[fread(manual, 1, sizeof manual - 1, in)] = 0;
    fclose(in);
#define HAS(sym, word, form, meaning)                                  \
    if (!strstr(manual, ".It Cm " word " Ar " form "\n" meaning "\n")) \
        fail_msg("rtl-top(1) lacks, or words differently: %s %s", word, form);
    RTL_SETTINGS(HAS)
#undef HAS
#define HAS(sym, name, meaning)                            \
    if (!strstr(manual, ".It Cm " name "\n" meaning "\n")) \
        fail_msg("rtl-top(1) lacks, or words differently: %s", name);
    RTL_THEMES(HAS)
#undef HAS
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_applied),
        cmocka_unit_test(wrong_lines_are_reported_and_others_apply),
        cmocka_unit_test(every_setting_is_written_as_it_is_read),
        cmocka_unit_test(only_written_lines_change),
        cmocka_unit_test(the_command_line_overrides_the_configuration),
        cmocka_unit_test_setup_teardown(the_file_is_created_and_kept, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(nothing_is_written_through_another_users_link, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_fifo_is_not_replaced_by_settings, make_folder, remove_folder),
        cmocka_unit_test(the_manual_has_the_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

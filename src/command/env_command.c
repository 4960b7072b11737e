/* rtl-top env: prints the environment of a traced process for a shell, systemd, a container's command line, or as JSON.
 * Each value is quoted so that the reader gets it unchanged. */
#include "record/db.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "launch/library.h"
#include "launch/traced_env.h"
#include "shm/segment_reader.h"
#include "text/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* POSIX shells end '...' only at a ', so 'it'\''s' is "it's" */
static void put_shell(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

/* in '...', fish interprets only ' and \, each escaped by a \ */
static void put_fish(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void bash_line(const char *name, const char *value)
{
    printf("export %s=", name);
    put_shell(value);
    putchar('\n');
}

static void fish_line(const char *name, const char *value)
{
    printf("set -gx %s ", name);
    put_fish(value);
    putchar('\n');
}

/* systemd.exec(5): in "...", escape \ and " by a \, and double % */
static void systemd_line(const char *name, const char *value)
{
    printf("Environment=\"%s=", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            putchar('\\');
        if (*value == '%')
            putchar('%');
        putchar(*value);
    }
    fputs("\"\n", stdout);
}

/* Prints an argument of a command line, quoted for a shell. */
static void docker_line(const char *name, const char *value)
{
    printf("-e %s=", name);
    put_shell(value);
    putchar('\n');
}

/* Prints the mount of the host's library into the container, at the same path. */
static bool docker_mount(const char *library)
{
    if (strchr(library, ':')) {
        rtl_complain("%s: -v of docker and podman can't take a path with a colon: copy librtl.so elsewhere and say so "
                     "with --library",
                     library);
        return false;
    }
    fputs("-v ", stdout);
    put_shell(library);
    putchar(':');
    put_shell(library);
    fputs(":ro\n", stdout);
    return true;
}

static void put_stdout(void *to, const char *bytes, size_t count)
{
    fwrite(bytes, 1, count, to);
}

static void json_line(const char *name, const char *value)
{
    printf("\"%s\":", name);
    rtl_quote_json(put_stdout, stdout, value);
}

static const struct env_form {
    const char *name;
    bool (*mount)(const char *library); /* or NULL; returns false after a complaint */
    void (*line)(const char *name, const char *value);
    const char *before, *between, *after;
} forms[] = {
    {"bash", NULL, bash_line, "", "", ""},       {"fish", NULL, fish_line, "", "", ""},
    {"systemd", NULL, systemd_line, "", "", ""}, {"docker", docker_mount, docker_line, "", "", ""},
    {"json", NULL, json_line, "{", ",", "}\n"},
};

struct env_request {
    const struct env_form *form;
    const char *library;
    struct rtl_traced_request request;
};

static bool parse_form(struct env_request *r, const char *name)
{
    static const char *const same[][2] = {{"sh", "bash"}, {"zsh", "bash"}, {"podman", "docker"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!strcmp(name, same[i][0]))
            name = same[i][1];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(name, forms[i].name)) {
            r->form = &forms[i];
            return true;
        }
    rtl_complain("--shell needs one of bash, fish, systemd, docker or json, not '%s'", name);
    return false;
}

static int parse_env(struct env_request *r, int argc, char **argv)
{
    int status;
    struct rtl_arguments a;
    *r = (struct env_request){.form = forms, .request = {.start_mode = RTL_START_FROM_ENV}};
    rtl_arguments_begin(&a, RTL_COMMAND_ENV, false, argc, argv);
    for (int o; (o = rtl_arguments_next(&a)) >= 0;) {
        if (o == RTL_ENV_SHELL && !parse_form(r, a.value))
            return RTL_READER_USAGE;
        if (o == RTL_ENV_MODE && !rtl_start_mode_parse(a.value, &r->request.start_mode)) {
            rtl_complain(RTL_START_MODE_UNKNOWN, a.value);
            return RTL_READER_USAGE;
        }
        if (o == RTL_ENV_LIBRARY)
            r->library = a.value;
        r->request.ring |= o == RTL_ENV_TRACE;
        r->request.probe |= o == RTL_ENV_PROBE;
        r->request.preload |= o == RTL_ENV_PRELOAD;
    }
    if (rtl_arguments_done(&a, &status))
        return status;
    if (a.first < argc)
        rtl_complain("rtl-top env takes options only, not '%s'; to start a program: rtl-top run -- %s", argv[a.first],
                     argv[a.first]);
    return a.first < argc ? (int)RTL_READER_USAGE : RTL_GO_ON;
}

static bool print_env(const struct env_request *r, const struct rtl_traced_env *env, const char *library,
                      const char *hip)
{
    for (unsigned i = 0; i < env->count; i++)
        if (rtl_library_has_control(env->variable[i].value)) {
            rtl_complain("%s contains a control character, which can't be quoted: unset it, or correct it",
                         env->variable[i].name);
            return false;
        }
    if (r->form->mount && !(r->form->mount(library) && (!*hip || r->form->mount(hip))))
        return false;
    fputs(r->form->before, stdout);
    for (unsigned i = 0; i < env->count; i++) {
        if (i)
            fputs(r->form->between, stdout);
        r->form->line(env->variable[i].name, env->variable[i].value);
    }
    fputs(r->form->after, stdout);
    return true;
}

int rtl_env_command(int argc, char **argv)
{
    char library[PATH_MAX], hip[PATH_MAX] = "", why[3 * PATH_MAX];
    struct rtl_traced_env env;
    struct env_request r;
    int status = parse_env(&r, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (!rtl_library_find(r.library, library, why, sizeof why) ||
        (rtl_start_mode_is_hip(r.request.start_mode) && !rtl_library_find_hip(library, hip, why, sizeof why)) ||
        !rtl_traced_env_make(&env, library, &r.request, why, sizeof why)) {
        rtl_complain("%s", why);
        return RTL_READER_USAGE;
    }
    bool printed = print_env(&r, &env, library, hip);
    rtl_traced_env_free(&env);
    return !printed ? RTL_READER_USAGE : rtl_stdout_written() ? 0 : (int)RTL_DB_FULL;
}

/* rtl-top env: prints the environment of a traced process for a shell, systemd, a container's command line, or as JSON.
 * Each value is quoted so that the reader gets it unchanged. */
#include "options/arguments.h"
#include "options/complain.h"
#include "launch/library.h"
#include "shm/segment_reader.h"
#include "text/quote.h"

#include <stdio.h>
#include <string.h>

static const struct env_form {
    const char *name;
    const char *special, *escape; /* the quoting ends at, or interprets, these characters: each needs `escape` before */
    const char *doubled;          /* characters that stand for themselves when doubled */
    const char *first, *next, *equals, *last; /* before a name; between name and value; after the last value */
} forms[] = {
    /* POSIX shells end '...' only at a ', so 'it'\''s' is "it's" */
    {"bash", "'", "'\\'", "", "export ", "'\nexport ", "='", "'\n"},
    {"fish", "'\\", "\\", "", "set -gx ", "'\nset -gx ", " '", "'\n"},
    {"systemd", "\"\\", "\\", "%", "Environment=\"", "\"\nEnvironment=\"", "=", "\"\n"}, /* systemd.exec(5) */
    {"docker", "'", "'\\'", "", "-e ", "'\n-e ", "='", "'\n"}, /* a command line for a shell */
    {"json", NULL, NULL, NULL, "{\"", ",\"", "\":", "}\n"},
};

static void put_value(const struct env_form *form, const char *value)
{
    if (!form->special)
        rtl_quote_json(rtl_quote_to_file, stdout, value);
    for (; form->special && *value; value++) {
        if (strchr(form->special, *value))
            fputs(form->escape, stdout);
        if (strchr(form->doubled, *value))
            putchar(*value);
        putchar(*value);
    }
}

/* Prints the mount of the host's library into the container, at the same path. False after a complaint. */
static bool docker_mount(const struct env_form *docker, const char *library)
{
    if (strchr(library, ':')) {
        rtl_complain("%s: -v of docker and podman can't take a path with a colon: copy librtl.so elsewhere and say so "
                     "with --library",
                     library);
        return false;
    }
    fputs("-v '", stdout);
    put_value(docker, library);
    fputs("':'", stdout);
    put_value(docker, library);
    fputs("':ro\n", stdout);
    return true;
}

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
    const char *shell = "bash", *mode = NULL;
    const struct rtl_own_value own[RTL_ENV_OWN_COUNT] = {
        [RTL_ENV_SHELL] = {.text = &shell},
        [RTL_ENV_MODE] = {.text = &mode},
        [RTL_ENV_TRACE] = {.flag = &r->request.ring},
        [RTL_ENV_PROBE] = {.flag = &r->request.probe},
        [RTL_ENV_PRELOAD] = {.flag = &r->request.preload},
        [RTL_ENV_LIBRARY] = {.text = &r->library},
    };
    struct rtl_arguments a;
    *r = (struct env_request){.request = {.start_mode = RTL_START_FROM_ENV}};
    int status = rtl_arguments_read(&a, RTL_COMMAND_ENV, false, own, NULL, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (!parse_form(r, shell))
        return RTL_READER_USAGE;
    if (mode && !rtl_start_mode_parse(mode, &r->request.start_mode))
        return RTL_WRONG(RTL_START_MODE_UNKNOWN, mode);
    if (a.first < argc)
        return RTL_WRONG("rtl-top env takes options only, not '%s'; to start a program: rtl-top run -- %s",
                         argv[a.first], argv[a.first]);
    return RTL_GO_ON;
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
    if (!strcmp(r->form->name, "docker") && !(docker_mount(r->form, library) && (!*hip || docker_mount(r->form, hip))))
        return false;
    for (unsigned i = 0; i < env->count; i++) {
        printf("%s%s%s", i ? r->form->next : r->form->first, env->variable[i].name, r->form->equals);
        put_value(r->form, env->variable[i].value);
    }
    fputs(r->form->last, stdout);
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
        !rtl_traced_env_make(&env, library, &r.request, why, sizeof why))
        return RTL_WRONG("%s", why);
    bool printed = print_env(&r, &env, library, hip);
    rtl_traced_env_free(&env);
    return printed ? rtl_exit_status(0) : (int)RTL_READER_USAGE;
}

/* Composes the restart of an observed process. See restart.h. */
#include "watch/restart.h"
#include "shm/late_file.h"
#include "shm/process.h"
#include "text/quote.h"
#include "text/text.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_MAX = 8192, CGROUP_MAX = 4096, LAUNCHERS_MAX = 16 };

static void append_command(char *out, size_t size, const struct rtl_proc_text *arguments, bool folder)
{
    static const char more[] = " ...";
    const char *end = arguments->bytes + arguments->size, *slash = strrchr(arguments->bytes, '/');
    const char *word = folder || !slash ? arguments->bytes : slash + 1;
    size_t room = size - sizeof more;
    if (strlen(out) >= room) /* a folder of thousands of unsafe bytes */
        return;
    while (end - arguments->bytes > 1 && !end[-1] && !end[-2]) /* NULs that pad a short title */
        end--;
    rtl_text_append(out, room, "rtl-top run --");
    for (; word < end && strlen(out) + 1 < room; word += strlen(word) + 1) {
        rtl_text_append(out, room, " ");
        rtl_quote_shell(out, room, word);
    }
    if (word < end || strlen(out) + 1 >= room || arguments->size >= COMMAND_MAX - 1)
        rtl_text_append(out, size, more);
}

/* True for a title over the command line: "VLLM::Worker_TP0", "nginx: worker". */
static bool is_title(const char *first)
{
    char end = first[strcspn(first, "/: ")];
    return end == ':' || end == ' ' || !*first;
}

/* Copy the name of the systemd service of a control group; "": none, or a service that starts programs of users. */
static void read_unit(const char *cgroup, char unit[NAME_MAX])
{
    static const char *const starters[] = {"user@", "ssh", "cron", "atd", "getty@", "slurm", "docker", "containerd"};
    const char *end = cgroup, *found = NULL;
    for (; (end = strstr(end, ".service")); end++)
        found = end;
    const char *name = found ? memrchr(cgroup, '/', (size_t)(found - cgroup)) : NULL;
    *unit = 0;
    for (size_t i = 0; name && i < sizeof starters / sizeof *starters; i++)
        if (!strncmp(name + 1, starters[i], strlen(starters[i])))
            return;
    if (name)
        rtl_text_escape(unit, NAME_MAX, name + 1, strcspn(name + 1, "/\n"));
}

void rtl_restart_from(const struct rtl_restart_facts *f, struct rtl_restart *r)
{
    char container[16], own[16], unit[NAME_MAX];
    const char *manager = strstr(f->cgroup, "/user@") ? "systemctl --user" : "systemctl";
    const char *shell = strstr(f->cgroup, "kubepods") ? "json" : "docker";
    rtl_container_from(f->cgroup, container, sizeof container);
    rtl_container_from(f->own_cgroup, own, sizeof own);
    read_unit(f->cgroup, unit);
    *r->brief = *r->whole = 0;
    if (*container && strcmp(container, own) != 0) {
        rtl_text_append(r->brief, sizeof r->brief, "container %s with rtl-top env --shell %s", container, shell);
        rtl_text_append(r->whole, sizeof r->whole, "start container %s with what rtl-top env --shell %s prints",
                        container, shell);
    } else if (*unit) {
        rtl_text_append(r->brief, sizeof r->brief, "%s edit %s", manager, unit);
        rtl_text_append(r->whole, sizeof r->whole,
                        "%s, add below [Service] what rtl-top env --shell systemd prints, %s restart %s", r->brief,
                        manager, unit);
    } else if (is_title(f->arguments.bytes)) {
        rtl_text_append(r->brief, sizeof r->brief, "restart it with rtl-top run");
        rtl_text_append(r->whole, sizeof r->whole,
                        "start it with rtl-top run, or with the variables that rtl-top env prints");
    } else {
        if (*f->user)
            rtl_text_append(r->whole, sizeof r->whole, "as user %s: ", f->user);
        if (*f->folder) {
            rtl_text_append(r->whole, sizeof r->whole, "cd ");
            rtl_quote_shell(r->whole, sizeof r->whole, f->folder);
            rtl_text_append(r->whole, sizeof r->whole, " && ");
        }
        append_command(r->whole, sizeof r->whole, &f->arguments, true);
        append_command(r->brief, sizeof r->brief, &f->arguments, false);
    }
}

static bool read_link(pid_t pid, const char *name, char out[PATH_MAX])
{
    char path[RTL_PROC_PATH_MAX];
    ssize_t n = readlink(rtl_proc_path(path, pid, "%s", name), out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* Return the outermost launcher of this process, or the process itself: its command starts both. */
static pid_t find_launcher(pid_t pid)
{
    char program[PATH_MAX], above[PATH_MAX];
    struct rtl_proc_entry entry;
    bool known = read_link(pid, "exe", program);
    for (int i = 0; i < LAUNCHERS_MAX && rtl_proc_entry_read(pid, &entry) && entry.parent > 1; i++) {
        bool same = known && read_link(entry.parent, "exe", above) && !strcmp(program, above);
        if (!same && !rtl_proc_has_name(entry.parent, "mpirun") && !rtl_proc_has_name(entry.parent, "mpiexec"))
            break;
        pid = entry.parent;
    }
    return pid;
}

void rtl_restart_read(pid_t pid, struct rtl_restart *restart)
{
    char arguments[COMMAND_MAX], cgroup[CGROUP_MAX], own_cgroup[CGROUP_MAX], folder[PATH_MAX], user[64], own_user[64];
    pid_t launcher = find_launcher(pid);
    ssize_t n = rtl_late_file(launcher, "cmdline", arguments, sizeof arguments);
    rtl_process_file(pid, "cgroup", cgroup, sizeof cgroup);
    rtl_process_file(0, "cgroup", own_cgroup, sizeof own_cgroup);
    read_link(launcher, "cwd", folder);
    rtl_proc_user(launcher, user, sizeof user);
    rtl_proc_user(getpid(), own_user, sizeof own_user);
    struct rtl_restart_facts facts = {
        {arguments, n > 0 ? (size_t)n : 0}, cgroup, own_cgroup, folder, strcmp(user, own_user) != 0 ? user : ""};
    rtl_restart_from(&facts, restart);
    restart->pid = pid;
}

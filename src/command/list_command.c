/* rtl-top list: lists processes that use a GPU and their activity over half a second; also visible processes that
 * aren't traced. */
#include "base/clock.h"
#include "command/output.h"
#include "model/cells.h"
#include "observe/observer.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "watch/proc_scan.h"
#include "watch/process_set.h"
#include "text/text.h"
#include "text/units.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VERSION = 1 }; /* of the JSON's keys */

struct process_list {
    struct rtl_options options;
    bool json;
    struct rtl_model *model; /* NULL if no process is traced */
    struct rtl_process_row *rows;
    uint32_t count;
    struct rtl_untraced untraced;
};

static bool add_sample(struct process_list *l, struct rtl_process_set *set)
{
    struct rtl_snapshot snapshot = {0};
    rtl_process_set_send_heartbeat(set, l->model);
    return rtl_process_set_snapshot(set, &snapshot) == RTL_READER_OK &&
           rtl_model_add(l->model, &snapshot, rtl_real_ns());
}

/* Reads all traced processes twice. */
static bool sample_processes(struct process_list *l, struct rtl_process_set *set)
{
    struct timespec pause = {.tv_sec = (time_t)(l->options.delay_ns / RTL_SEC),
                             .tv_nsec = (long)(l->options.delay_ns % RTL_SEC)};
    l->model = rtl_model_create();
    l->rows = calloc(RTL_MEMBERS_MAX, sizeof *l->rows);
    if (!l->model || !l->rows)
        return false;
    l->model->window_ns = RTL_WINDOW_INTERVAL;
    if (!add_sample(l, set))
        return false;
    nanosleep(&pause, NULL);
    if (!add_sample(l, set))
        return false;
    l->count = rtl_process_rows(l->model, l->rows, RTL_MEMBERS_MAX);
    return true;
}

static bool print_list_json(const struct process_list *l)
{
    struct json_writer w = {false};
    struct json_object *root = json_object_new_object();
    put_json(&w, root, "version", json_object_new_int(VERSION));
    put_number(&w, root, "time_ns", rtl_real_ns());
    put_measured(&w, root, "window_ns", l->model, l->model ? l->model->span_ns : 0);
    struct json_object *array = array_in(&w, root, "processes");
    for (uint32_t i = 0; i < l->count; i++) {
        struct json_object *o = object_at_end(&w, array);
        put_json(&w, o, "traced", json_object_new_boolean(true));
        rtl_json_process(&w, o, l->model, &l->rows[i]);
    }
    for (uint32_t i = 0; i < l->untraced.count; i++) {
        const struct rtl_member_info *info = &l->untraced.list[i];
        struct json_object *o = object_at_end(&w, array);
        put_json(&w, o, "traced", json_object_new_boolean(false));
        put_json(&w, o, "observable", json_object_new_boolean(rtl_observer_may(info->pid)));
        put_number(&w, o, "pid", (uint64_t)info->pid);
        put_measured(&w, o, "rank", info->rank >= 0, (uint64_t)info->rank);
        put_text(&w, o, "command", info->title);
        put_text(&w, o, "user", info->user);
        put_name(&w, o, "container", *info->container ? info->container : NULL);
    }
    return json_print_line(&w, root, stdout);
}

static void print_list_text(const struct process_list *l)
{
    int rank = 6; /* columns of the longest label */
    for (uint32_t i = 0; i < l->count; i++)
        rank = rtl_cell_width(rank, (int)strlen(l->rows[i].member->name));
    printf("%7s %-*s %-12s %-12s %5s %7s %8s %-8s %6s  %-30s %s\n", "PID", rank, "RANK", "GPU", "CONTAINER", "%BUSY",
           "DISP/s", "P99", "MODE", "AGE", "TOP KERNEL", "COMMAND");
    for (uint32_t i = 0; i < l->count; i++) {
        struct rtl_process_cells c;
        rtl_process_cells(l->model, &l->rows[i], l->options.units, rtl_real_ns(), &c);
        if (l->options.ascii)
            rtl_units_ascii(c.worst);
        const char *top =
            l->rows[i].top ? rtl_model_name(l->model, l->rows[i].top, RTL_NAME_SHORT, 30, l->options.ascii) : RTL_NONE;
        printf("%7s %-*s %-12s %-12s %5s %7s %*s %-8s %6s  %-30s %s\n", c.pid, rank, c.label, c.gpu, c.container,
               c.busy, c.rate, rtl_text_pad(c.worst, 8), c.worst, c.mode, c.age, top, l->rows[i].member->info.title);
    }
    for (uint32_t i = 0; i < l->untraced.count; i++) {
        const struct rtl_member_info *info = &l->untraced.list[i];
        printf("%7d %-*s %-12s %-12s  not traced%s  %s\n", (int)info->pid, rank, *info->label ? info->label : RTL_NONE,
               "", *info->container ? info->container : RTL_NONE,
               rtl_observer_may(info->pid) ? ", observable: rtl-top -p, from outside" : ": start it with rtl-top run",
               info->title);
    }
}

static int parse_list(struct process_list *l, int argc, char **argv)
{
    const struct rtl_own_value own[RTL_LIST_OWN_COUNT] = {[RTL_LIST_JSON] = {.flag = &l->json}};
    struct rtl_arguments a;
    rtl_options_default(&l->options);
    l->options.delay_ns = RTL_SEC / 2;
    l->options.all = l->options.apart = true;
    l->options.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    int status = rtl_arguments_read(&a, RTL_COMMAND_LIST, false, own, &l->options, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (a.first < argc)
        return RTL_WRONG("rtl-top list takes no '%s': it lists all processes", argv[a.first]);
    return RTL_GO_ON;
}

int rtl_list_command(int argc, char **argv)
{
    struct process_list l = {.json = false};
    struct rtl_process_set *set = NULL;
    char why[512];
    bool ok = true;
    int status = parse_list(&l, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (rtl_process_set_open(&l.options, &set, why, sizeof why) == RTL_READER_OK)
        ok = sample_processes(&l, set);
    rtl_untraced_find(&l.untraced, l.rows, l.count);
    if (ok && l.json)
        ok = print_list_json(&l);
    else if (ok && (l.count || l.untraced.count))
        print_list_text(&l);
    else if (ok)
        printf("no process that uses a GPU and that you may see\n");
    if (ok && set && rtl_process_set_left_out(set)) {
        rtl_process_set_explain_left_out(set, why, sizeof why);
        rtl_complain("%s", why);
    }
    status = ok ? rtl_exit_status(0) : RTL_WRONG("out of memory");
    rtl_untraced_free(&l.untraced);
    free(l.rows);
    rtl_model_free(l.model);
    rtl_process_set_close(set);
    return status;
}

/* Writes processes as JSON. See json_processes.h. */
#include "command/json_processes.h"
#include "model/labels.h"

#include <stdlib.h>

void rtl_json_member(struct json_writer *w, struct json_object *o, const struct rtl_member *member)
{
    put_number(w, o, "pid", (uint64_t)member->info.pid);
    put_measured(w, o, "rank", member->info.rank >= 0, (uint64_t)member->info.rank);
    put_text(w, o, "label", member->name);
}

static void put_gpus(struct json_writer *w, struct json_object *o, const struct rtl_snapshot *s, uint64_t gpus)
{
    struct json_object *array = array_in(w, o, "gpus");
    for (uint32_t i = 0; array && i < s->agent_count; i++) {
        if (!(gpus >> (s->agents[i].gpu % RTL_AGENTS_MAX) & 1))
            continue;
        struct json_object *gpu = object_at_end(w, array);
        if (!gpu)
            return;
        put_number(w, gpu, "id", s->agents[i].gpu);
        put_name(w, gpu, "pci", s->agents[i].bdf == RTL_NO_BDF ? NULL : rtl_pci_address(s->agents[i].bdf).text);
    }
}

void rtl_json_process(struct json_writer *w, struct json_object *o, const struct rtl_model *m,
                      const struct rtl_process_row *p)
{
    const struct rtl_member *member = p->member;
    bool known = member->start_mono_ns, window = m->previous && known; /* known: its segment was read */
    const struct rtl_row *top = window ? p->top : NULL, *worst = window ? p->worst : NULL;
    rtl_json_member(w, o, member);
    put_text(w, o, "command", member->info.title);
    put_text(w, o, "user", member->info.user);
    put_name(w, o, "container", *member->info.container ? member->info.container : NULL);
    put_text(w, o, "state",
             rtl_target_json(member->ended      ? RTL_TARGET_EXITED
                             : member->stale_ns ? RTL_TARGET_STALE
                                                : RTL_TARGET_LIVE));
    put_name(w, o, "mode", known ? rtl_mode_label(member->mode) : NULL);
    put_name(w, o, "in_force", known ? rtl_activity_key(member->in_force) : NULL);
    put_measured(w, o, "start_ns", known, member->start_real_ns);
    put_gpus(w, o, &m->latest->snapshot, member->gpus);
    put_measured(w, o, "counted", known, member->counted);
    put_measured(w, o, "timed", known, member->timed);
    put_measured(w, o, "depth", known, member->depth);
    put_share(w, o, "busy", window && p->busy >= 0, p->busy);
    put_share(w, o, "dispatches_per_s", window, p->rate);
    put_name(w, o, "top_kernel", top ? rtl_model_name(m, top, RTL_NAME_SHORT, RTL_NAMES_WHOLE, false) : NULL);
    put_share(w, o, "top_share", top, p->top_share);
    put_name(w, o, "worst_kernel", worst ? rtl_model_name(m, worst, RTL_NAME_SHORT, RTL_NAMES_WHOLE, false) : NULL);
    put_measured(w, o, "worst_p99_ns", worst, p->worst_p99);
}

void rtl_json_processes(struct json_writer *w, struct json_object *root, const struct rtl_model *m)
{
    struct rtl_process_row *rows = calloc(RTL_MEMBERS_MAX, sizeof *rows);
    struct json_object *array = rows ? array_in(w, root, "processes") : NULL;
    w->failed |= !rows;
    uint32_t count = array ? rtl_process_rows(m, rows, RTL_MEMBERS_MAX) : 0;
    for (uint32_t i = 0; array && i < count; i++) {
        struct json_object *o = object_at_end(w, array);
        if (o)
            rtl_json_process(w, o, m, &rows[i]);
    }
    free(rows);
}

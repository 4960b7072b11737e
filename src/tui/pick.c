/* Let the user choose a traced process from a list that renews itself. */
#include "options/complain.h"
#include "base/clock.h"
#include "watch/proc_title.h"
#include "tui/draw_views.h"
#include "tui/screen.h"
#include "tui/screens.h"

#include <stdlib.h>

enum { CHOICES_MAX = 512 };
#define RENEW_NS RTL_SEC

struct pick_list {
    struct rtl_draw_choice choices[CHOICES_MAX];
    pid_t pids[CHOICES_MAX];
    int count, chosen;
};

static void renew_list(struct pick_list *list)
{
    pid_t *pids = NULL;
    pid_t was = list->count ? list->pids[list->chosen] : 0;
    int found = rtl_discover(&pids);
    list->count = found < 0 ? 0 : found < CHOICES_MAX ? found : CHOICES_MAX;
    list->chosen = 0;
    for (int i = 0; i < list->count; i++) {
        char user[16], title[160];
        rtl_proc_user(pids[i], user, sizeof user);
        rtl_proc_title(pids[i], "?", title, sizeof title);
        snprintf(list->choices[i].text, sizeof list->choices[i].text, "%7d  %-10.10s  %s", (int)pids[i], user, title);
        list->pids[i] = pids[i];
        if (pids[i] == was) /* keep the mark on its process */
            list->chosen = i;
    }
    free(pids);
}

/* Return the chosen pid, 0 to quit, -1 to go on. */
static pid_t handle_key(struct pick_list *list, uint32_t key)
{
    enum rtl_action action = rtl_key_action(key, RTL_IN_KERNELS);
    int last = list->count ? list->count - 1 : 0;
    if (action == RTL_ACTION_QUIT)
        return 0;
    if (action == RTL_ACTION_DETAIL && list->count)
        return list->pids[list->chosen];
    if (action == RTL_ACTION_HOME || action == RTL_ACTION_END)
        list->chosen = action == RTL_ACTION_END ? last : 0;
    list->chosen = rtl_clamp(list->chosen + (action == RTL_ACTION_DOWN) - (action == RTL_ACTION_UP), 0, last);
    return -1;
}

static pid_t choose_process(const struct rtl_options *options, struct pick_list *list, struct rtl_frame *frame)
{
    uint64_t next = 0;
    for (bool repaint = true;; repaint = false) {
        int rows, cols;
        if (rtl_mono_ns() >= next) {
            renew_list(list);
            next = rtl_mono_ns() + RENEW_NS;
        }
        rtl_screen_size(&rows, &cols);
        if (rtl_frame_reset(frame, rows, cols, options->ascii)) {
            rtl_draw_pick(frame, list->choices, list->count, list->chosen,
                          list->count ? "" : "no traced process found: rtl-top run PROGRAM... starts one  (q quits)");
            rtl_screen_show(frame, repaint);
        }
        struct rtl_event event = rtl_screen_wait(next);
        if (event.kind == RTL_EVENT_SIGNAL) {
            rtl_screen_close();
            rtl_screen_die(event.signal);
        }
        if (event.kind == RTL_EVENT_GONE)
            return -1;
        pid_t pid = event.kind == RTL_EVENT_KEY ? handle_key(list, event.key) : -1;
        if (pid >= 0)
            return pid;
    }
}

pid_t rtl_pick(const struct rtl_options *options)
{
    struct rtl_frame frame = {0};
    char why[256];
    struct pick_list *list = calloc(1, sizeof *list);
    if (!list) {
        rtl_complain("out of memory");
        return -1;
    }
    pid_t pid = -1;
    if (rtl_screen_open(options->theme, false, why, sizeof why)) {
        pid = choose_process(options, list, &frame);
        rtl_screen_close();
    } else {
        rtl_complain("%s", why);
    }
    rtl_frame_free(&frame);
    free(list);
    return pid;
}

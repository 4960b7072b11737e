/* What a recording says of itself. See replay.h. */
#ifndef RTL_RECORD_REPLAY_INFO_H
#define RTL_RECORD_REPLAY_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rtl_replay_info {
    int64_t id;
    pid_t pid;
    bool snapshot;   /* one frame by intention */
    char title[512]; /* bytes of the file: not yet safe to show */
    char recorder[64];
    uint64_t interval_ns;
    uint32_t frames;                         /* at least 1 */
    int rank;                                /* -1: not known */
    char user[20], label[16], container[20]; /* printable ASCII */
};

#endif

/* What a replay is made of. Only its own files use it. */
#ifndef RTL_RECORD_REPLAY_PRIVATE_H
#define RTL_RECORD_REPLAY_PRIVATE_H

#include "record/replay_info.h"
#include "record/replay_state.h"

enum { RTL_CHECKPOINTS_MAX = 64 };

struct rtl_replay_frame {
    int64_t id;
    uint64_t time_ns, mono_ns;
};

struct rtl_checkpoint {
    uint32_t frame;
    struct rtl_snapshot snapshot;
};

struct rtl_replay {
    struct rtl_db *db;
    struct rtl_replay_info info;
    struct rtl_replay_frame *frames;
    struct rtl_replay_state state;
    uint32_t next; /* frame that the state lacks */
    bool exited;
    struct rtl_checkpoint checkpoints[RTL_CHECKPOINTS_MAX]; /* ascending */
    int checkpoint_count;
    uint64_t checkpoint_bytes;
    uint32_t of; /* how many share the memory for them */
};

#endif

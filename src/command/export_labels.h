/* What the file says of its GPUs, queues and processes, read once; other tools' files say nothing. */
#ifndef RTL_COMMAND_EXPORT_LABELS_H
#define RTL_COMMAND_EXPORT_LABELS_H

#include "command/export_index.h"
#include "record/db.h"

struct rtl_labels { /* all zero at first */
    char **text;
    size_t count, room;
    struct rtl_index gpus, queues; /* by number: index + 1 */
};

/* Errors stay in the database. */
void rtl_labels_read(struct rtl_labels *labels, struct rtl_db *db);
/* The file's bytes, cut; NULL when it says nothing. */
const char *rtl_labels_gpu(const struct rtl_labels *labels, int64_t gpu);
const char *rtl_labels_queue(const struct rtl_labels *labels, int64_t queue);
void rtl_labels_free(struct rtl_labels *labels);

#endif

/* Writes a trace as CSV: one line per op, by start. See export.h. */
#include "command/export.h"
#include "options/complain.h"
#include "text/quote.h"

#include <inttypes.h>

static void put_field(struct rtl_sink *sink, const char *text)
{
    rtl_quote_csv(rtl_export_put, sink, text);
}

/* Writes the process's names of queue and GPU. The numbers before are unique in the file. */
static void put_process_names(struct rtl_export *e, const struct rtl_export_op *op)
{
    const struct rtl_export_gpu *gpu = rtl_export_gpu(e, op->gpu);
    const struct rtl_export_queue *queue = rtl_export_queue(e, op->gpu, op->queue);
    const char *const text[] = {queue ? queue->name : "", gpu ? gpu->pci : "", gpu ? gpu->name : ""};
    for (int i = 0; i < 3; i++) {
        rtl_sink_write(e->sink, ",", 1);
        put_field(e->sink, text[i]);
    }
    const struct rtl_export_process *process = rtl_export_process_of(e, op->id);
    if (queue && queue->pid >= 0)
        rtl_sink_print(e->sink, ",%" PRId64, queue->pid);
    else if (process)
        rtl_sink_print(e->sink, ",%" PRId64, process->pid);
    else
        rtl_sink_write(e->sink, ",", 1);
}

/* Writes start and end on CLOCK_BOOTTIME, the clock of ROCr and rocprofv3; empty if the offset is unknown. */
static void put_boot_times(struct rtl_export *e, const struct rtl_export_op *op)
{
    const int64_t times[] = {op->start, op->end};
    for (int i = 0; i < 2; i++) {
        const struct rtl_export_boot *boot = rtl_export_boot(e, op->id, times[i]);
        rtl_sink_write(e->sink, ",", 1);
        if (boot && boot->from <= times[i])
            rtl_sink_print(e->sink, "%" PRId64, rtl_export_boot_time(boot, times[i]));
    }
}

void rtl_export_csv(struct rtl_export *e)
{
    static const char header[] =
        "op,gpu,queue,sequence,start_ns,end_ns,duration_ns,workgroup_x,workgroup_y,workgroup_z,"
        "grid_x,grid_y,grid_z,type,kernel,bytes,short,queue_name,gpu_pci,gpu_name,pid,marker,"
        "start_boot_ns,end_boot_ns\n";
    struct rtl_export_op op;
    rtl_sink_write(e->sink, header, sizeof header - 1);
    while (rtl_export_next(e, &op)) {
        rtl_sink_print(e->sink, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",",
                       op.id, op.gpu, op.queue, op.sequence, op.start, op.end, rtl_span_ns(op.start, op.end));
        for (int i = 0; i < 6; i++)
            if (op.has_shape)
                rtl_sink_print(e->sink, "%" PRIu64 ",", i < 3 ? op.workgroup[i] : op.grid[i - 3]);
            else
                rtl_sink_write(e->sink, ",", 1);
        put_field(e->sink, op.type ? op.type->raw : "");
        rtl_sink_write(e->sink, ",", 1);
        bool marker = op.gpu < 0; /* a range or mark of the host, whose name is not a kernel */
        put_field(e->sink, op.name && !marker ? op.name->raw : "");
        if (op.has_bytes)
            rtl_sink_print(e->sink, ",%" PRIu64 ",", op.bytes);
        else
            rtl_sink_write(e->sink, ",,", 2);
        put_field(e->sink, op.name && *op.name->raw && !marker ? op.name->shown : "");
        put_process_names(e, &op);
        rtl_sink_write(e->sink, ",", 1);
        put_field(e->sink, op.name && marker ? op.name->raw : "");
        put_boot_times(e, &op);
        rtl_sink_write(e->sink, "\n", 1);
        rtl_progress_at(++e->written, 0);
    }
}

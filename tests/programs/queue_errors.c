/*
 * queue_errors.c - a program whose kernel fails (the software GPU's script decides how).
 *
 *     queue_errors handled   the queue has an error callback, and memory faults are handled: the program goes on
 *     queue_errors default   no callback and no handler: the runtime handles the error
 *
 * Launches good kernels and prints "ready"; after a line on standard input launches bad_00 and more good ones. Prints
 * "told STATUS" for each error that it gets, then "holding".
 */
#include "intercept_hsa.h"

#include <stdatomic.h>

static atomic_int told;

static void tell(int status)
{
    printf("told %d\n", status);
    fflush(stdout);
    atomic_store(&told, 1);
}

static void queue_failed(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    if (data != &told || !queue)
        die("the callback got other arguments");
    tell((int)status);
}

static hsa_status_t gpu_failed(const hsa_amd_event_t *event, void *data)
{
    (void)data;
    tell(event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT ? HSA_STATUS_ERROR_MEMORY_FAULT : 0);
    return HSA_STATUS_SUCCESS;
}

int main(int argc, char **argv)
{
    bool handled = argc > 1 && strcmp(argv[1], "handled") == 0;
    struct family good, bad;
    hsa_queue_t *queue = NULL;
    if (!open_runtime())
        die("no GPU");
    load_family(&good, "good");
    load_family(&bad, "bad_");
    if (handled)
        must(hsa_amd_register_system_event_handler(gpu_failed, NULL), "handler");
    hsa_queue_t *idle = open_queue(64);
    must(hsa_queue_create(gpu_agent, 64, HSA_QUEUE_TYPE_MULTI, handled ? queue_failed : NULL, handled ? &told : NULL,
                          UINT32_MAX, UINT32_MAX, &queue),
         "queue");
    for (int i = 0; i < 5; i++) {
        launch(idle, good.object[1]);
        launch(queue, good.object[0]);
    }
    drain(idle);
    drain(queue);
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF)
        return 0;
    launch(queue, bad.object[0]);
    for (int i = 0; i < 3; i++)
        launch(queue, good.object[0]);
    while (!atomic_load(&told))
        usleep(1000);
    hold();
    return 0;
}

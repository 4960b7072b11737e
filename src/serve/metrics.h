/*
 * The metrics of rtl-top serve. The page is made from this table; tests compare it with the manual, the dashboard and
 * the alert rules.
 *
 * Units are Prometheus's (seconds, bytes); a counter's samples end in _total, an info's in _info. Metrics of kernels,
 * families, GPUs, copies and calls are sums over all processes of the machine and keep growing when a process ends. A
 * metric with the label pid is about one process and ends with it. rtl_page_labels takes values in the order of the
 * labels.
 */
#ifndef RTL_SERVE_METRICS_H
#define RTL_SERVE_METRICS_H

/* X(symbol, name, type, labels, meaning) */
#define RTL_METRICS(X)                                                                                                 \
    X(KERNEL_DISPATCHES, "rtl_kernel_dispatches", COUNTER, "kernel,id,family", "kernel dispatches, timed or not")      \
    X(KERNEL_DURATION, "rtl_kernel_duration_seconds", HISTOGRAM, "kernel,id,family", "how long timed kernels ran")     \
    X(FAMILY_DISPATCHES, "rtl_family_dispatches", COUNTER, "family", "kernel dispatches by family")                    \
    X(FAMILY_DURATION, "rtl_family_duration_seconds", HISTOGRAM, "family", "how long timed kernels ran, by family")    \
    X(UNTIMED, "rtl_untimed_dispatches", COUNTER, "reason", "dispatches that were counted but not timed")              \
    X(QUEUE_ERRORS, "rtl_queue_errors", COUNTER, "error",                                                              \
      "queues that an error stopped, such as a memory access fault")                                                   \
    X(GPU, "rtl_gpu", INFO, "gpu,name,uuid", "GPUs that processes use, by PCI address")                                \
    X(GPU_BUSY, "rtl_gpu_busy_seconds", COUNTER, "gpu", "time in which a timed kernel ran, summed over processes")     \
    X(GPU_IDLE, "rtl_gpu_idle_seconds", COUNTER, "gpu,gap", "time between timed kernels, by length of the gap")        \
    X(GPU_GAPS, "rtl_gpu_idle_gaps", COUNTER, "gpu,gap", "gaps between timed kernels, by length of the gap")           \
    X(GPU_WAIT, "rtl_gpu_queue_wait_seconds", HISTOGRAM, "gpu", "how long packets waited in the GPU's queues")         \
    X(COPIES, "rtl_copies", COUNTER, "gpu,direction", "copies, timed or not")                                          \
    X(COPY_BYTES, "rtl_copy_bytes", COUNTER, "gpu,direction", "bytes copied")                                          \
    X(COPY_DURATION, "rtl_copy_duration_seconds", HISTOGRAM, "gpu,direction", "how long timed copies took")            \
    X(QUEUE_DISPATCHES, "rtl_queue_dispatches", COUNTER, "pid,gpu,queue,way", "kernel dispatches of a live queue")     \
    X(QUEUE_DEPTH, "rtl_queue_depth", GAUGE, "pid,gpu,queue,way", "dispatches in flight in a live queue")              \
    X(PROCESS, "rtl_process", INFO, "pid,rank,command,user,container,mode", "traced and observed processes")           \
    X(PROCESS_START, "rtl_process_start_time_seconds", GAUGE, "pid,rank", "when tracing began, since 1970")            \
    X(PROCESS_DISPATCHES, "rtl_process_dispatches", COUNTER, "pid,rank", "kernel dispatches of a process")             \
    X(PROCESS_UNTIMED, "rtl_process_untimed_dispatches", COUNTER, "pid,rank", "untimed dispatches of a process")       \
    X(PROCESS_LOST, "rtl_process_packets_lost", COUNTER, "pid,rank",                                                   \
      "packets of an observed process that were overwritten before they were counted")                                 \
    X(PROCESS_IN_FLIGHT, "rtl_process_in_flight", GAUGE, "pid,rank", "dispatches of a process that have not ended")    \
    X(PROCESS_BUSY, "rtl_process_gpu_busy_seconds", COUNTER, "pid,rank,gpu", "time in which timed kernels ran")        \
    X(PROCESS_KERNEL, "rtl_process_kernel_duration_seconds", SUMMARY, "pid,rank,kernel,id,family",                     \
      "how long timed kernels of a process ran: sum and count")                                                        \
    X(STEPS, "rtl_steps", COUNTER, "pid,rank,kernel,id,family", "steps: runs of the kernel that marks them")           \
    X(STEP_SECONDS, "rtl_step_seconds", GAUGE, "pid,rank", "mean time of a step since the page before")                \
    X(API, "rtl_api_duration_seconds", HISTOGRAM, "function,kind", "how long HIP calls took on the calling thread")    \
    X(API_ERRORS, "rtl_api_errors", COUNTER, "function,kind", "HIP calls that returned an error")                      \
    X(RANGES, "rtl_range_duration_seconds", HISTOGRAM, "range", "how long roctx ranges were open")                     \
    X(MEMORY, "rtl_memory_in_use_bytes", GAUGE, "pid,rank,place", "memory allocated and not freed")                    \
    X(SERVE, "rtl_serve", INFO, "version", "the rtl-top that serves this page")                                        \
    X(SERVE_PROCESSES, "rtl_serve_processes", GAUGE, "", "processes that the server watches")                          \
    X(SERVE_REFUSED, "rtl_serve_processes_left_out", GAUGE, "", "processes without a place, or too large to read")     \
    X(SERVE_LATE, "rtl_serve_processes_late", GAUGE, "",                                                               \
      "processes with the numbers of an earlier page: reading them takes too long")                                    \
    X(SERVE_ENDED, "rtl_serve_processes_ended", COUNTER, "", "processes that have ended; their counts stay in sums")   \
    X(SERVE_UNREAD, "rtl_serve_processes_unread", COUNTER, "",                                                         \
      "processes that ended and whose last numbers were not read: that took too long")                                 \
    X(SERVE_KERNELS, "rtl_serve_kernels", GAUGE, "", "known kernels, with or without their own series")                \
    X(SERVE_KERNELS_REFUSED, "rtl_serve_kernels_left_out", COUNTER, "",                                                \
      "kernels that never get their own series: too many of one process or user")                                      \
    X(SERVE_UNTRUE, "rtl_serve_numbers_left_out", COUNTER, "", "impossible numbers of a process, which are in no sum") \
    X(SERVE_SCRAPES, "rtl_serve_scrapes", COUNTER, "", "pages that clients requested")                                 \
    X(SERVE_TOOK, "rtl_serve_last_scrape_seconds", GAUGE, "", "how long making the previous page took")                \
    X(SERVE_CPU, "rtl_serve_cpu_seconds", COUNTER, "", "CPU time of the server")

#define RTL_ENUM_METRIC(sym, ...) RTL_METRIC_##sym,
enum rtl_metric { RTL_METRICS(RTL_ENUM_METRIC) RTL_METRIC_COUNT };
#undef RTL_ENUM_METRIC

/* X(symbol, OpenMetrics type, type in the older text format, type number in Protocol Buffers, number of the field with
 * the value) */
#define RTL_METRIC_TYPES(X)                      \
    X(COUNTER, "counter", "counter", 0, 3)       \
    X(GAUGE, "gauge", "gauge", 1, 2)             \
    X(HISTOGRAM, "histogram", "histogram", 4, 7) \
    X(SUMMARY, "summary", "summary", 2, 4)       \
    X(INFO, "info", "gauge", 1, 2)
#define RTL_ENUM_TYPE(sym, ...) RTL_METRIC_TYPE_##sym,
enum rtl_metric_type { RTL_METRIC_TYPES(RTL_ENUM_TYPE) RTL_METRIC_TYPE_COUNT };
#undef RTL_ENUM_TYPE

struct rtl_metric_info {
    const char *name, *labels, *meaning;
    enum rtl_metric_type type;
};
extern const struct rtl_metric_info rtl_metrics[RTL_METRIC_COUNT];

#endif

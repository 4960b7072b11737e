/*
 * Attach and detach: OnLoad and OnUnload, called by the runtime (or rtl_load and rtl_unload, called by register.c);
 * fork; exit.
 *
 * The library stays mapped for ever (-z nodelete), because callbacks and hooks may be called after OnUnload: they then
 * only count and pass on. hsa_init after hsa_shut_down loads it again; the segment stays the same.
 *
 * A process may have several runtimes (a wheel's own and the system's), which all load this library. The library traces
 * the first one until it shuts down. It leaves the tables of the others unchanged and sets a note; their OnLoad and
 * OnUnload change nothing. The library that contains a runtime's table identifies the runtime.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/version.h"
#include "intercept/base/agents.h"
#include "intercept/base/hsa_clock.h"
#include "intercept/base/tool.h"
#include "intercept/hooks/hooks.h"
#include "intercept/hooks/native_queue.h"
#include "intercept/hooks/queue_errors.h"
#include "intercept/hooks/queue_selftest.h"
#include "intercept/hooks/queues.h"
#include "intercept/load.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/copy_profiling.h"
#include "intercept/track/hot_line.h"
#include "intercept/track/kernel_rows.h"
#include "intercept/track/links.h"
#include "intercept/track/queue_tracker.h"
#include "intercept/track/throttle.h"
#include "intercept/track/timestamps.h"
#include "intercept/worker/mode.h"
#include "intercept/worker/worker.h"
#include "shm/trace_size.h"

#define RTL_EXPORT __attribute__((visibility("default")))

/* Extended dispatch packets came with this step of the amd_ext table. */
enum { STEP_EXTENDED_DISPATCH = 0x0D };

/* The amd_ext table of release 6.0: from here on intercept queues may fill up. */
enum { EXT_BYTES_6_0 = 16 + 67 * 8 };

RTL_EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_count, const char *const *failed_names);
RTL_EXPORT void OnUnload(void);

static struct {
    /* The traced runtime, from its OnLoad to its OnUnload; NULL: none. Any thread that loads a runtime claims this
     * field by compare-and-swap and doesn't wait: the thread may hold the dynamic loader's lock. "load" is the
     * thread that has claimed it. */
    _Atomic(const void *) runtime;
    _Atomic(const void *) first; /* any: the first runtime that has ever come, traced or not; set once */
    atomic_bool several;         /* any: a runtime other than `first` has come, at the same time or later */
    atomic_bool another;         /* any: a second runtime was loaded; set before `segment` is read (both seq_cst) */
    atomic_bool segment;         /* load: the segment exists; set before `another` is read */
    bool handlers;               /* load: the handlers of fork and exit are registered */
    bool warned;                 /* load: a warning was printed */
    pid_t pid;                   /* load: the process that the segment belongs to */
} attachment;

static void warn_once(const char *why)
{
    if (!attachment.warned)
        rtl_say("%s: the application runs untraced", why);
    attachment.warned = true;
}

/* Afterwards no dispatch is timed and no signal is touched. */
static void stop_timing(void)
{
    rtl_trackers_stop();
    rtl_worker_stop();
}

static void note_fork(void)
{
    if (rtl_recording())
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_FORKED);
}

/* The child shares the mapping and must not count into its parent's numbers. With recording off the hooks only pass
 * on, so the copied state of the lock and the worker doesn't matter. */
static void stop_in_child(void)
{
    atomic_store(&rtl_hot.recording, false);
    rtl_worker_forget();
}

/* Runs at exit before older libraries clean up: the worker must not read signals whose memory may go. Runtimes
 * before 6.4 don't call OnUnload at exit. */
static void stop_at_exit(void)
{
    int error = errno;
    if (atomic_load(&rtl_hot.recording) && getpid() == attachment.pid) {
        stop_timing();
        rtl_segment_set_state(&rtl_tool.segment, RTL_STATE_UNLOADED);
    }
    errno = error;
}

/* Publish the traced runtime's versions; a runtime that is traced later overwrites them. */
static void describe_runtime(struct rtl_header *header)
{
    uint16_t major = 0, minor = 0;
    rtl_tool.hsa.system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
    rtl_tool.hsa.system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor);
    __atomic_store_n(&header->runtime_major, major, __ATOMIC_RELAXED);
    __atomic_store_n(&header->runtime_minor, minor, __ATOMIC_RELAXED);
    __atomic_store_n(&header->table_core_bytes, rtl_tool.hsa.core_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&header->table_ext_bytes, rtl_tool.hsa.ext_bytes, __ATOMIC_RELAXED);
}

static bool create_segment(void)
{
    static char environment[RTL_ENVIRONMENT_MAX]; /* too large for the stack of an unknown thread */
    char why[256];
    struct rtl_segment_config config = {
        .mode = rtl_tool.settings.mode,
        .calls = rtl_hot.linked,
        .signals_limit = rtl_signals_limit(rtl_tool.settings.signals_limit, 0),
        .events = rtl_tool.settings.mode == RTL_MODE_OFF ? 0 : rtl_tool.settings.trace,
        .links = rtl_hot.linked,
        .control = rtl_tool.settings.mode != RTL_MODE_OFF, /* without hooks there is nothing to control */
        .probe = rtl_tool.settings.mode != RTL_MODE_OFF && rtl_tool.settings.probe && rtl_hsa_can_probe(&rtl_tool.hsa),
        .library_version = RTL_VERSION,
        .environment = environment,
        .environment_bytes = rtl_environment_read(environment),
    };
    if (rtl_segment_create(&rtl_tool.segment, &config, why, sizeof why) != 0) {
        warn_once(why);
        return false;
    }
    rtl_hot.trace = rtl_tool.segment.ring != NULL;
    if (config.events && !rtl_hot.trace)
        rtl_say("no memory for the %llu MB that RTL_TRACE asks for: nothing can be traced, statistics go on",
                (unsigned long long)config.events * sizeof(struct rtl_event_record) >> 20);
    if (config.control && rtl_tool.segment.control == &rtl_control_none)
        rtl_say("no control page (memory, descriptors): the mode can't be changed%s",
                rtl_tool.settings.mode == RTL_MODE_AUTO ? ", and auto never times" : "");
    if (rtl_tool.settings.probe && config.control && !rtl_tool.segment.probe)
        rtl_say("RTL_PROBE=1: %s: no kernel can be probed",
                config.probe ? "no probe page (memory, descriptors)" : "this runtime lacks what it takes");
    rtl_mode_start(rtl_tool.settings.mode);
    if (rtl_tool.settings.mode_unknown)
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_MODE_UNKNOWN);
    return true;
}

static void read_settings(void)
{
    rtl_tool.settings = rtl_env_settings_parse(getenv("RTL_MODE"), getenv("RTL_SIGNALS"));
    if (rtl_tool.settings.mode_unknown)
#define NAME(sym, num, name, text) name ", "
        rtl_say("RTL_MODE=%.40s is not a mode (" RTL_MODES(NAME) "hip): default is used", getenv("RTL_MODE"));
#undef NAME
    if (rtl_tool.settings.signals_unknown)
        rtl_say("RTL_SIGNALS=%.40s is not a number from 1 to %d: the limit follows the queues", getenv("RTL_SIGNALS"),
                RTL_SIGNALS_LIMIT);
    if (!rtl_queue_choice_parse(getenv("RTL_QUEUES"), &rtl_tool.settings.queues))
#define NAME(symbol, name) " " name
        rtl_say("RTL_QUEUES=%.40s is none of" RTL_QUEUE_CHOICES(NAME) ": auto is used", getenv("RTL_QUEUES"));
#undef NAME
    if (!rtl_trace_parse(getenv("RTL_TRACE"), &rtl_tool.settings.trace))
        rtl_say("RTL_TRACE=%.40s is neither 0, 1 nor a size from 64K to 1G, such as 64M: there is no event ring",
                getenv("RTL_TRACE"));
    if (!rtl_probe_setting_parse(getenv("RTL_PROBE"), &rtl_tool.settings.probe))
        rtl_say("RTL_PROBE=%.40s is neither 0 nor 1: no kernel can be probed", getenv("RTL_PROBE"));
}

static void install_hooks(void *table)
{
    RTL_HSA_HOOK(table, queue_create, rtl_queue_create);
    RTL_HSA_HOOK(table, queue_destroy, rtl_queue_destroy);
    RTL_HSA_HOOK(table, executable_freeze, rtl_executable_freeze);
    RTL_HSA_HOOK(table, executable_destroy, rtl_executable_destroy);
    RTL_HSA_HOOK(table, amd_queue_intercept_create, rtl_queue_intercept_create);
    /* without native queues the application's stores needn't pass through us */
    if (rtl_queues_may_be_native())
        rtl_native_hook(table);
    bool copies = rtl_copies_hook(table), queues = rtl_descriptors_hook(table);
    /* in lite, too: hooks can't be added later, and the mode may change */
    rtl_signals_hook(table);
    if (rtl_hot.linked)
        rtl_links_hook(table);
    rtl_app_signals_start(rtl_mode_again());
    /* unseen packets and copies may carry any signal of the application: its signals aren't read then */
    if (!queues || !copies)
        rtl_app_signals_stop();
    if (!copies)
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_COPIES_UNSEEN);
    if (!queues) {
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_QUEUE_NOT_INTERCEPTED);
        if (!attachment.warned)
            rtl_say("this runtime may make queues in ways that can't be hooked (hsa_amd_queue_create): those are not "
                    "counted");
        attachment.warned = true;
    }
}

/* --- which runtime --- */

/* Return the base of the library that contains the address; NULL: none. */
static const void *library_of(const void *address)
{
    Dl_info library;
    return dladdr(address, &library) ? library.dli_fbase : NULL;
}

static void note_other_runtime(void)
{
    if (atomic_load(&attachment.another) && atomic_load(&attachment.segment))
        rtl_segment_note(&rtl_tool.segment, RTL_NOTE_ANOTHER_RUNTIME);
}

static void skip_runtime(const void *table)
{
    Dl_info library;
    bool known = dladdr(table, &library) && library.dli_fname;
    if (!atomic_exchange(&attachment.another, true))
        rtl_say("a second HSA runtime in this process is not traced: %.400s", known ? library.dli_fname : "(no file)");
    note_other_runtime();
}

/* OnUnload has no argument. All releases call it from their own code, so the return address identifies the runtime.
 * While only one runtime has ever come, any call counts as that runtime's, also a call from another tool. */
static bool is_traced_runtime(const void *caller)
{
    const void *runtime = atomic_load(&attachment.runtime), *library = library_of(caller);
    return runtime && (!atomic_load(&attachment.several) || !library || library == runtime);
}

/* Before the runtime is claimed: a concurrent OnUnload must be able to tell the runtimes apart. */
static void remember_runtime(const void *runtime)
{
    const void *first = NULL;
    if (!atomic_compare_exchange_strong(&attachment.first, &first, runtime) && first != runtime)
        atomic_store(&attachment.several, true);
}

bool rtl_load(void *table)
{
    int error = errno;
    char why[256];
    bool saved = false;
    struct rtl_hsa functions;
    const void *runtime = library_of(table), *traced = NULL;

    if (!runtime)
        runtime = table;
    remember_runtime(runtime);
    if (atomic_load(&attachment.segment) && getpid() != attachment.pid)
        goto done; /* a forked child must not write into its parent's segment */
    if (!atomic_compare_exchange_strong(&attachment.runtime, &traced, runtime)) {
        /* if equal: HSA_TOOLS_LIB lists the library twice, or it is also preloaded; hooks would call hooks for ever */
        if (traced != runtime)
            skip_runtime(table);
        goto done;
    }
    if (!attachment.segment)
        read_settings();
    if (!rtl_hsa_save(table, &functions, why, sizeof why)) {
        warn_once(why);
        atomic_store(&attachment.runtime, NULL); /* another runtime may still be traced */
        goto done;
    }
    rtl_tool.hsa = functions; /* only now: hooks of an earlier load may still be called */
    saved = true;
    rtl_queues_detect_tool();
    rtl_trackers_start();
    rtl_tool.extended = rtl_tool.hsa.ext_step >= STEP_EXTENDED_DISPATCH;
    rtl_tool.fragile = rtl_tool.hsa.ext_bytes < EXT_BYTES_6_0;
    rtl_hot.linked = rtl_tool.settings.mode != RTL_MODE_OFF && rtl_links_find();
    atomic_store(&rtl_hot.more, rtl_hot.linked ? RTL_MORE_LINKED : 0);
    if (!attachment.segment) {
        if (!create_segment())
            goto done;
        attachment.pid = getpid();
        atomic_store(&attachment.segment, true);
        note_other_runtime();
        atomic_store(&rtl_hot.tsc, rtl_tsc_usable());
    } else {
        rtl_worker_again();
    }
    describe_runtime(rtl_tool.segment.header);
    if (rtl_tool.settings.mode != RTL_MODE_OFF) {
        if (!attachment.handlers) {
            pthread_atfork(NULL, note_fork, stop_in_child);
            atexit(stop_at_exit);
            attachment.handlers = true;
        }
        rtl_queue_errors_start();
        install_hooks(table);
        atomic_store(&rtl_hot.recording, true);
    }
    rtl_segment_set_state(&rtl_tool.segment, RTL_STATE_LIVE);
done:
    errno = error;
    return saved;
}

/* Return true also on failure: some runtimes unmap us on false, and the application runs either way. */
bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_count, const char *const *failed_names)
{
    (void)runtime_version;
    (void)failed_count;
    (void)failed_names;
    rtl_load(table);
    return true;
}

void rtl_unload(void)
{
    int error = errno;
    if (!atomic_load(&attachment.runtime))
        return;
    if (attachment.segment && getpid() == attachment.pid) {
        if (atomic_load(&rtl_hot.recording)) {
            stop_timing();
            rtl_trackers_retire();
            rtl_throttle_release();
            rtl_app_signals_forget();
            rtl_copies_forget();
            rtl_copy_profiling_forget();
            rtl_times_forget();
            rtl_gpus_forget();
            rtl_queue_selftest_reset();
            rtl_kernels_forget_all();
        }
        rtl_segment_set_state(&rtl_tool.segment, RTL_STATE_UNLOADED);
    }
    atomic_store(&attachment.runtime, NULL);
    errno = error;
}

void OnUnload(void)
{
    int error = errno;
    if (is_traced_runtime(__builtin_return_address(0)))
        rtl_unload();
    errno = error;
}

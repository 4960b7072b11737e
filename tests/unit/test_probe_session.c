/*
 * A probe from its code to the requests to the library: the test acts as the process, the runtime with its list of code
 * objects, and the library that answers.
 */
#include "segment_fixture.h"

#include <elf.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>

#include "probe/code_object.h"
#include "probing/probe_session.h"
#include "tui/loop_state.h"

enum { CODES = 3, GPUS = 2, PAGE = 4096, TEXT = 100 << 10, AT = 2 * PAGE + TEXT, S_ENDPGM = (int)0xbf810000 };
#define SEC 1000000000ull

/* --- the process, its runtime and the library --- */

__attribute__((visibility("default"))) struct r_debug _amdgpu_r_debug; /* the runtime's symbol */
static struct link_map entries[CODES];
static char uris[CODES][80];
static uint8_t *file[CODES], *loaded[CODES]; /* files passed to the runtime, and where it loaded them */
static size_t bytes;

static struct rtl_segment segment;
static struct rtl_probe_page *page;
static struct rtl_reader *reader;
static struct rtl_agent_snapshot agents[GPUS];
static struct rtl_snapshot snapshot = {.agents = agents, .agent_count = GPUS};
static struct rtl_probe_session *session;
static char why[300];
static uint64_t now;

/* The list has the first `count` objects. */
static void list(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        snprintf(uris[i], sizeof uris[i], "memory://%d#offset=0x%llx&size=%zu", (int)getpid(),
                 (unsigned long long)(uintptr_t)file[i], bytes);
        entries[i] = (struct link_map){.l_addr = (uintptr_t)loaded[i],
                                       .l_name = uris[i],
                                       .l_prev = i ? &entries[i - 1] : NULL,
                                       .l_next = i + 1 < count ? &entries[i + 1] : NULL};
    }
    _amdgpu_r_debug.r_map = count ? entries : NULL;
}

/* Make a kernel of this length, loaded everywhere. */
static uint32_t machine = RTL_CODE_GFX90A;
static void make_codes(size_t text_bytes)
{
    uint32_t *text = calloc(1, text_bytes);
    assert_non_null(text);
    for (size_t i = 0; i < text_bytes / 4; i++)
        text[i] = (uint32_t)S_ENDPGM;
    const struct rtl_code_draft draft = {
        .flags = machine,
        .abi_version = 2,
        .kernel = "gemm",
        .descriptor = {.rsrc1 = 2 << 6, .rsrc2 = 2 << 1 | 1 << 7, .properties = 1 << 3},
        .text = text,
        .text_bytes = text_bytes};
    void *made = rtl_code_write(&draft, &bytes);
    assert_true(made && bytes <= AT);
    for (unsigned i = 0; i < CODES; i++) {
        memcpy(file[i], made, bytes);
        memcpy(loaded[i], made, bytes);
    }
    free(made);
    free(text);
}

static struct rtl_code_symbol symbol_of(const uint8_t *code)
{
    struct rtl_code_object object;
    struct rtl_code_symbol symbol = {0};
    assert_int_equal(rtl_code_open(&object, code, bytes), RTL_PROBE_NONE);
    for (uint64_t i = 0; i < object.symbol_count; i++)
        if (rtl_code_symbol(&object, i, &symbol) && symbol.kernel)
            return symbol;
    fail_msg("the code object has no kernel");
    return symbol;
}

static uint64_t object_of(unsigned which)
{
    return (uintptr_t)loaded[which] + symbol_of(file[which]).value;
}

static int setup(void **state)
{
    struct rtl_segment_config config = fixture_config;
    (void)state;
    now = 1000 * SEC;
    config.probe = true;
    assert_int_equal(rtl_segment_create(&segment, &config, why, sizeof why), 0);
    rtl_segment_set_state(&segment, RTL_STATE_LIVE);
    page = mmap(NULL, RTL_PROBE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)segment.probe->page_fd, 0);
    assert_true(page != MAP_FAILED);
    for (unsigned i = 0; i < GPUS; i++) {
        agents[i] = (struct rtl_agent_snapshot){.agent = i, .gpu = i, .compute_units = 104, .tick_hz = 100000000};
        snprintf(agents[i].name, sizeof agents[i].name, "gfx90a");
    }
    for (unsigned i = 0; i < CODES; i++) {
        file[i] = mmap(NULL, AT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        loaded[i] = mmap(NULL, AT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(file[i] != MAP_FAILED && loaded[i] != MAP_FAILED);
    }
    make_codes(256);
    list(1);
    assert_int_equal(rtl_reader_open(getpid(), &reader, why, sizeof why), RTL_READER_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rtl_probe_session_close(session);
    session = NULL;
    rtl_reader_close(reader);
    for (unsigned i = 0; i < CODES; i++) {
        munmap(file[i], AT);
        munmap(loaded[i], AT);
    }
    munmap(page, RTL_PROBE_PAGE_BYTES);
    close((int)segment.probe->page_fd);
    fixture_drop(&segment);
    return 0;
}

static struct rtl_probe_word word(void)
{
    struct rtl_probe_word w = {0};
    assert_true(rtl_probe_decode(__atomic_load_n(&page->word, __ATOMIC_ACQUIRE), &w));
    return w;
}

static void answer(enum rtl_probe_phase phase, enum rtl_probe_why reason)
{
    segment.probe->number = word().number;
    segment.probe->phase = (uint8_t)phase;
    segment.probe->why = (uint8_t)reason;
    segment.probe->kernel_object = page->request.kernel_object;
    segment.probe->agent = page->request.agent;
    segment.probe->block = 0x700000;
}

static void open_session(int gpu)
{
    const struct rtl_probe_wish wish = {.kernel = "gemm", .gpu = gpu, .every = 1, .wanted = 1};
    assert_int_equal(rtl_probe_session_open(reader, getpid(), &snapshot, &wish, &session, why, sizeof why),
                     RTL_READER_OK);
}

/* Step until the session makes this request, or ends; a thread searches the code meanwhile. */
static void step_to(enum rtl_probe_ask ask)
{
    uint16_t before = segment.probe->number;
    while (rtl_probe_session_step(session, true, now) && word().number == before)
        sched_yield();
    assert_int_equal(word().ask, ask);
}

/* --- code that is loaded and unloaded --- */

static void a_loaded_kernel_is_probed(void **state)
{
    (void)state;
    open_session(-1);
    step_to(RTL_PROBE_ASK_PREPARE);
    assert_int_equal(page->request.kernel_object, object_of(0));
    assert_true(rtl_probe_session_original(session)->compared);
    answer(RTL_PROBE_PHASE_PREPARED, RTL_PROBE_WHY_NONE);
    step_to(RTL_PROBE_ASK_ARM);
    assert_int_equal(session->probing.over, RTL_PROBING_NOT);
    assert_null(session->again);
}

static unsigned
takes_in(const struct rtl_probe_patch *patch) /* exchanges with the slot table: global_atomic_swap_x2 ... glc, or sc0 */
{
    unsigned found = 0;
    for (size_t at = 0; at + 4 <= patch->bytes; at += 4) {
        uint32_t instruction;
        memcpy(&instruction, (const char *)patch->code + at, 4);
        found += instruction == 0xdd818000;
    }
    return found;
}

/* An older library maps the page alone: a copy that writes to a table after it would write to other memory. */
static void an_older_library_gets_no_slot_table(void **state)
{
    static const uint64_t there[] = {0, RTL_PROBE_BLOCK_BYTES, RTL_PROBE_BLOCK_ALL - 1, RTL_PROBE_BLOCK_ALL};
    for (unsigned i = 0; i < sizeof there / sizeof *there; i++) {
        if (i) {
            teardown(state);
            setup(state);
        }
        open_session(-1);
        step_to(RTL_PROBE_ASK_PREPARE);
        segment.probe->block_bytes = there[i];
        answer(RTL_PROBE_PHASE_PREPARED, RTL_PROBE_WHY_NONE);
        step_to(RTL_PROBE_ASK_ARM);
        assert_int_equal(takes_in(&session->patch), there[i] >= RTL_PROBE_BLOCK_ALL);
    }
}

/* A library before minor version 9 doesn't know several dies: such kernels are not probed. */
static void an_older_library_probes_no_kernel_of_several_dies(void **state)
{
    machine = RTL_CODE_GFX942;
    for (int i = 0; i < 2; i++) {
        teardown(state);
        setup(state);
        open_session(-1);
        step_to(RTL_PROBE_ASK_PREPARE);
        segment.probe->block_bytes = RTL_PROBE_BLOCK_DIES - !i;
        answer(RTL_PROBE_PHASE_PREPARED, RTL_PROBE_WHY_NONE);
        step_to(i ? RTL_PROBE_ASK_ARM : RTL_PROBE_ASK_DISARM);
        assert_int_equal(session->probing.refusal, i ? RTL_PROBE_NONE : RTL_PROBE_OLD_LIBRARY);
        assert_int_equal(takes_in(&session->patch), i);
    }
    machine = RTL_CODE_GFX90A;
}

/* Between the first read of the code and the library's answer, it was replaced, loaded elsewhere, or unloaded. */
static void reloaded_code_is_not_probed(void **state)
{
    for (int i = 0; i < 3; i++) {
        if (i) {
            teardown(state);
            setup(state);
        }
        open_session(-1);
        step_to(RTL_PROBE_ASK_PREPARE);
        if (i == 0)
            file[0][PAGE + 4] ^= 1, loaded[0][PAGE + 4] ^= 1;
        else if (i == 1)
            entries[0].l_addr = (uintptr_t)loaded[1];
        else
            list(0);
        answer(RTL_PROBE_PHASE_PREPARED, RTL_PROBE_WHY_NONE);
        step_to(RTL_PROBE_ASK_DISARM);
        assert_null(session->patch.code);
        answer(RTL_PROBE_PHASE_OVER, RTL_PROBE_WHY_DISARMED);
        assert_false(rtl_probe_session_step(session, true, now));
        assert_string_equal(rtl_probe_plan_word(&session->probing), "reloaded");
        rtl_probe_plan_text(&session->probing, why, sizeof why);
        assert_string_equal(why, "not probed: its code was unloaded or moved; does the program "
                                 "load it anew each time?");
    }
}

/* The process exited unnoticed: its memory is unreadable, but permission is not the reason. */
static void an_exited_process_is_reported_as_exited(void **state)
{
    (void)state;
    siginfo_t info;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    for (int reaped = 0; reaped < 2; reaped++) {
        if (reaped)
            assert_int_equal(waitpid(pid, NULL, 0), pid);
        const struct rtl_probe_wish wish = {.kernel = "gemm", .gpu = -1, .every = 1, .wanted = 1};
        assert_int_equal(rtl_probe_session_open(reader, pid, &snapshot, &wish, &session, why, sizeof why),
                         RTL_READER_OK);
        while (rtl_probe_session_step(session, true, now))
            sched_yield();
        rtl_probe_plan_text(&session->probing, why, sizeof why);
        assert_string_equal(why, "not probed: the process has exited");
        rtl_probe_session_close(session);
        session = NULL;
    }
}

/* The file was replaced meanwhile: the loaded code is unchanged. */
static void changed_code_is_not_probed(void **state)
{
    (void)state;
    open_session(-1);
    step_to(RTL_PROBE_ASK_PREPARE);
    file[0][PAGE + 4] ^= 1;
    answer(RTL_PROBE_PHASE_PREPARED, RTL_PROBE_WHY_NONE);
    step_to(RTL_PROBE_ASK_DISARM);
    assert_string_equal(rtl_probe_plan_word(&session->probing), "code_changed");
}

/* The library reports the unload during the search: the session doesn't wait for the search. */
static void code_unloaded_meanwhile_ends_the_probe(void **state)
{
    (void)state;
    open_session(-1);
    step_to(RTL_PROBE_ASK_PREPARE);
    answer(RTL_PROBE_PHASE_PREPARED, RTL_PROBE_WHY_NONE);
    assert_true(rtl_probe_session_step(session, true, now));
    if (session->probing.stage == RTL_PROBING_AT_PATCH) { /* otherwise the thread was faster */
        answer(RTL_PROBE_PHASE_OVER, RTL_PROBE_WHY_KERNEL_GONE);
        assert_false(rtl_probe_session_step(session, true, now));
        assert_string_equal(rtl_probe_plan_word(&session->probing), "kernel_gone");
        assert_int_equal(word().ask, RTL_PROBE_ASK_PREPARE);
    }
}

/* --- several kernels of one name --- */

static void all_kernels_of_one_name_are_tried(void **state)
{
    unsigned asked[CODES][GPUS] = {{0}}, first = 0;
    (void)state;
    list(CODES);
    open_session(-1);
    for (unsigned n = 0; n < CODES * GPUS; n++) {
        step_to(RTL_PROBE_ASK_PREPARE);
        for (unsigned i = 0; i < CODES; i++)
            if (page->request.kernel_object == object_of(i)) {
                asked[i][page->request.agent]++;
                first = n ? first : i;
            }
        answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NO_KERNEL);
    }
    assert_false(rtl_probe_session_step(session, true, now));
    assert_string_equal(rtl_probe_plan_word(&session->probing), "no_kernel");
    for (unsigned i = 0; i < CODES * GPUS; i++)
        assert_int_equal(asked[i / GPUS][i % GPUS], 1);
    assert_int_equal(first, 0);
}

static void only_the_requested_gpu_is_probed(void **state)
{
    (void)state;
    list(CODES);
    open_session(1);
    for (unsigned n = 0; n < CODES; n++) {
        step_to(RTL_PROBE_ASK_PREPARE);
        assert_int_equal(page->request.agent, 1);
        answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NO_KERNEL);
    }
    assert_false(rtl_probe_session_step(session, true, now));
}

/* --- a second session for the same code --- */

static void open_alike(struct rtl_probe_session *before, int gpu)
{
    const struct rtl_probe_wish wish = {
        .kernel = "gemm", .gpu = gpu, .every = 1, .wanted = 1, .like = rtl_probe_session_original(before)};
    assert_int_equal(rtl_probe_session_open(reader, getpid(), &snapshot, &wish, &session, why, sizeof why),
                     RTL_READER_OK);
}

/* The first session's code object is requested first, whatever its place in the list; then others with the same code.
 */
static void a_second_session_prefers_the_same_code_object(void **state)
{
    (void)state;
    file[0][PAGE + 4] ^= 1, loaded[0][PAGE + 4] ^= 1; /* another program's kernel of that name */
    list(CODES);
    open_session(1);
    while (session->finding || page->request.kernel_object != object_of(2)) {
        step_to(RTL_PROBE_ASK_PREPARE);
        if (page->request.kernel_object != object_of(2))
            answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NO_KERNEL);
    }
    answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NONE);
    struct rtl_probe_session *before = session;
    open_alike(before, 1);
    for (unsigned i = CODES; i-- > 1;) {
        step_to(RTL_PROBE_ASK_PREPARE);
        assert_int_equal(page->request.kernel_object, object_of(i));
        assert_int_equal(page->request.agent, 1);
        answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NO_KERNEL);
    }
    assert_false(rtl_probe_session_step(session, true, now));
    assert_string_equal(rtl_probe_plan_word(&session->probing), "no_kernel");
    rtl_probe_session_close(before);
}

static void a_second_session_ends_when_its_code_is_gone(void **state)
{
    (void)state;
    open_session(-1);
    step_to(RTL_PROBE_ASK_PREPARE);
    struct rtl_probe_session *before = session;
    file[0][PAGE + 4] ^= 1, loaded[0][PAGE + 4] ^= 1;
    open_alike(before, 0);
    uint16_t number = word().number;
    while (rtl_probe_session_step(session, true, now))
        sched_yield();
    assert_string_equal(rtl_probe_plan_word(&session->probing), "reloaded");
    assert_int_equal(word().number, number);
    rtl_probe_session_close(before);
}

/* --- comparison of the loaded code with its file --- */

static const struct rtl_probe_fetch_copy *found(struct rtl_probe_fetch **code, enum rtl_probe_plan_over wrong)
{
    const struct rtl_probe_fetch_found *f;
    *code = rtl_probe_fetch_find(getpid(), "gemm");
    assert_non_null(*code);
    while (!(f = rtl_probe_fetch_found(*code)))
        sched_yield();
    assert_int_equal(f->wrong, wrong);
    return f->copy;
}

/* A stripped object doesn't give the functions' lengths. */
static void strip_lengths(void)
{
    struct rtl_code_object object;
    Elf64_Sym s;
    assert_int_equal(rtl_code_open(&object, file[0], bytes), RTL_PROBE_NONE);
    for (uint64_t i = 0; i < object.symbol_count; i++) {
        memcpy(&s, file[0] + object.symbols + i * sizeof s, sizeof s);
        if (ELF64_ST_TYPE(s.st_info) == STT_FUNC)
            s.st_size = 0;
        memcpy(file[0] + object.symbols + i * sizeof s, &s, sizeof s);
    }
}

static void all_loaded_code_is_compared_with_its_file(void **state)
{
    static const size_t places[] = {4, 70 << 10, TEXT - 4};
    struct rtl_probe_fetch *code;
    (void)state;
    for (int stripped = 0; stripped < 2; stripped++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            make_codes(TEXT);
            list(1);
            if (stripped)
                strip_lengths();
            assert_true(found(&code, RTL_PROBING_NOT)->compared);
            rtl_probe_fetch_free(code);
            loaded[0][PAGE + places[i]] ^= 1;
            found(&code, RTL_PROBING_CODE_CHANGED);
            rtl_probe_fetch_free(code);
        }
}

/* The host can read the descriptor, but not the instructions. */
static void unreadable_instructions_are_not_compared(void **state)
{
    struct rtl_probe_fetch *code;
    (void)state;
    assert_int_equal(munmap(loaded[0] + PAGE, AT - PAGE), 0);
    assert_false(found(&code, RTL_PROBING_NOT)->compared);
    rtl_probe_fetch_free(code);
    assert_ptr_equal(
        mmap(loaded[0] + PAGE, AT - PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
        loaded[0] + PAGE);
}

/* --- other viewers --- */

static void closing_disarms_only_its_own_request(void **state)
{
    struct rtl_probe_link other;
    (void)state;
    open_session(-1);
    step_to(RTL_PROBE_ASK_PREPARE);
    rtl_probe_session_close(session);
    assert_int_equal(word().ask, RTL_PROBE_ASK_DISARM);
    answer(RTL_PROBE_PHASE_OVER, RTL_PROBE_WHY_DISARMED);
    open_session(-1);
    step_to(RTL_PROBE_ASK_PREPARE);
    assert_int_equal(rtl_probe_open(reader, &other, why, sizeof why), RTL_READER_OK);
    uint16_t number = rtl_probe_prepare(reader, &other, 4711, 0);
    rtl_probe_session_close(session);
    session = NULL;
    assert_int_equal(word().ask, RTL_PROBE_ASK_PREPARE);
    assert_int_equal(word().number, number);
    rtl_probe_close(&other);
}

/* --- screens --- */

/* The viewer shows another process: the screen behind keeps the probe of the previous one. */
static void a_left_screen_keeps_its_probe_until_dropped(void **state)
{
    struct rtl_loop *kept = calloc(1, sizeof *kept), *behind = calloc(1, sizeof *behind),
                    *shown = calloc(1, sizeof *shown);
    (void)state;
    assert_true(kept && behind && shown);
    shown->parent = kept->parent = behind;
    assert_false(rtl_loop_has_probe(shown));
    behind->kept = kept;
    assert_int_equal(rtl_reader_open(getpid(), &kept->probe_reader, why, sizeof why), RTL_READER_OK);
    open_session(-1);
    kept->probe = session;
    session = NULL;
    kept->ui.pid = behind->recorder.pid = getpid(); /* and records it */
    assert_true(rtl_loop_has_probe(shown));
    for (uint64_t until = fixture_now_ns() + 30 * SEC; kept->probe->finding && fixture_now_ns() < until;) {
        rtl_loop_step_probes(shown);
        sched_yield();
    }
    assert_int_equal(word().ask, RTL_PROBE_ASK_PREPARE);
    assert_true(behind->recorder.probe.there && behind->recorder.probe.runs && !shown->recorder.probe.there);
    assert_string_equal(behind->recorder.probe.stage, "on its way");
    rtl_loop_drop_probes(shown); /* as on a signal */
    assert_int_equal(word().ask, RTL_PROBE_ASK_DISARM);
    assert_null(kept->probe);
    assert_false(behind->recorder.probe.runs);
    assert_string_equal(behind->recorder.probe.over, "the probe ended: its screen was left");
    assert_string_equal(behind->recorder.probe.stage, "over");
    assert_string_equal(behind->recorder.probe.ended, "stopped");
    free(shown);
    free(behind);
    free(kept);
}

/* Two screens show one process: the front one has the newer probe, which is recorded. */
static void the_probe_in_front_is_recorded(void **state)
{
    struct rtl_loop *behind = calloc(1, sizeof *behind), *kept = calloc(1, sizeof *kept),
                    *shown = calloc(1, sizeof *shown);
    struct rtl_stalls_report waits = {.copy = 1};
    (void)state;
    assert_true(kept && behind && shown);
    shown->parent = kept->parent = behind;
    behind->kept = kept;
    behind->ui.pid = kept->ui.pid = shown->ui.pid = 4711;
    behind->recorder.pid = shown->recorder.pid = kept->recorder.pid = 4711;
    behind->ui.probe = (struct rtl_probe_told){.there = true, .kernel = 1, .stage = "over"};
    kept->ui.probe = (struct rtl_probe_told){.there = true, .kernel = 2, .stage = "over"};
    rtl_loop_step_probes(shown);
    assert_int_equal(behind->recorder.probe.kernel, 2);
    shown->ui.probe = (struct rtl_probe_told){.there = true, .runs = true, .kernel = 3, .stage = "armed"};
    rtl_loop_step_probes(shown);
    assert_int_equal(behind->recorder.probe.kernel, 3);
    assert_int_equal(kept->recorder.probe.kernel, 3);
    assert_int_equal(shown->recorder.probe.kernel, 3);
    shown->ui.probe.kernel = 4;
    shown->ui.stalls = &waits; /* stalls are not recorded */
    rtl_loop_step_probes(shown);
    assert_int_equal(behind->recorder.probe.kernel, 2);
    free(shown);
    free(kept);
    free(behind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_loaded_kernel_is_probed, setup, teardown),
        cmocka_unit_test_setup_teardown(an_older_library_gets_no_slot_table, setup, teardown),
        cmocka_unit_test_setup_teardown(an_older_library_probes_no_kernel_of_several_dies, setup, teardown),
        cmocka_unit_test_setup_teardown(reloaded_code_is_not_probed, setup, teardown),
        cmocka_unit_test_setup_teardown(an_exited_process_is_reported_as_exited, setup, teardown),
        cmocka_unit_test_setup_teardown(changed_code_is_not_probed, setup, teardown),
        cmocka_unit_test_setup_teardown(code_unloaded_meanwhile_ends_the_probe, setup, teardown),
        cmocka_unit_test_setup_teardown(all_kernels_of_one_name_are_tried, setup, teardown),
        cmocka_unit_test_setup_teardown(only_the_requested_gpu_is_probed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_session_prefers_the_same_code_object, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_session_ends_when_its_code_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(all_loaded_code_is_compared_with_its_file, setup, teardown),
        cmocka_unit_test_setup_teardown(unreadable_instructions_are_not_compared, setup, teardown),
        cmocka_unit_test_setup_teardown(closing_disarms_only_its_own_request, setup, teardown),
        cmocka_unit_test_setup_teardown(a_left_screen_keeps_its_probe_until_dropped, setup, teardown),
        cmocka_unit_test(the_probe_in_front_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

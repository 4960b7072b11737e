/*
 * A probe in the library: which dispatches run the copy, what its state reports, what is refused, and how it ends. Ends
 * followed by another runtime, or after which no probe is possible, are in test_intercept_probe_ends.c.
 */
#include "probe_fixture.h"

#include "intercept/worker/probe_numbers.h"
#include "shm/control.h"

static void nothing_is_probed_without_a_request(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    assert_true(rtl_reader_probe(reader, &state_now));
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_IDLE);
    assert_int_equal(atomic_load(&rtl_hot.more), 0);
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();
    assert_true(nothing_is_held());
    AWAIT(AT(rtl_tool.segment.header->parked) == 1); /* the next test must find the worker parked */
}

static void grids_have_the_right_number_of_waves(void **state)
{
    (void)state;
    static const struct {
        uint32_t grid[3];
        uint16_t workgroup[3];
        uint64_t waves;
    } of[] = {
        {{640, 1, 1}, {64, 1, 1}, 10}, {{1000, 1, 1}, {256, 1, 1}, 16},
        {{10, 10, 1}, {4, 4, 1}, 9},   {{65, 1, 1}, {65, 1, 1}, 2},
        {{64, 3, 2}, {64, 2, 1}, 6},   {{1, 1, 1}, {1024, 1, 1}, 1},
        {{7, 0, 0}, {0, 0, 0}, 7},     {{UINT32_MAX, UINT32_MAX, 1}, {1, 1, 1}, (uint64_t)UINT32_MAX * UINT32_MAX}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        assert_int_equal(rtl_probe_waves_of(of[i].grid, of[i].workgroup), of[i].waves);
}

/* When no probed dispatch is in flight at its turn, exactly one in N is probed. */
static void exactly_one_dispatch_in_three_is_probed(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    arm_probe(3, 0);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(dispatched(&p), i % 3 ? KERNEL : PROBED_KERNEL);
        finish_last();
        AWAIT(gate_is(RTL_GATE_FREE));
    }
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.dispatches, 9);
    assert_int_equal(state_now.probed, 3);
}

static void one_dispatch_in_n_is_probed(void **state)
{
    (void)state;
    uint64_t before = timed(), probed = counted_probed();
    packet_t p = kernel_packet(KERNEL, 0), other = kernel_packet(0x4444, 0);
    arm_probe(3, 2);
    assert_int_equal(state_now.block, (uintptr_t)atomic_load(&gpu_block));
    assert_int_equal(state_now.probed_object, PROBED_KERNEL);
    assert_int_equal(state_now.code_bytes, sizeof code);
    assert_int_not_equal(state_now.armed_mono_ns, 0);
    assert_int_equal(dispatched(&other), 0x4444);
    finish_last();

    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    assert_true(gate_is(RTL_GATE_TAKEN));
    packet_t first = written[0];
    assert_int_equal(dispatched(&p), KERNEL); /* not its turn */
    finish_last();
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();
    assert_int_equal(dispatched(&p), KERNEL); /* its turn, but a probed one is in flight */
    finish_last();
    run_waves(10);
    written[0] = first;
    finish_last();
    AWAIT(state_now.recorded == 1);
    assert_int_equal(state_now.dispatches, 4);
    assert_int_equal(state_now.probed, 1);
    assert_int_equal(state_now.duration_total_ns, 4000);
    assert_int_equal(state_now.waves, 10);
    assert_int_equal(state_now.waves_expected, 10);
    AWAIT(gate_is(RTL_GATE_FREE));
    assert_int_equal(counted_probed(), probed + 1);
    assert_int_equal(timed(), before + 4);
    assert_int_equal(AT(counters_of()->completed), timed() + sum_untimed(counters_of()));

    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    run_waves(9);
    finish_last();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_DONE);
    assert_int_equal(state_now.recorded, 2);
    assert_int_equal(state_now.waves, 19);
    assert_int_equal(state_now.waves_expected, 20);
    assert_int_equal(state_now.sum, 2000);
    assert_int_equal(state_now.min, 50);
    assert_int_equal(state_now.max, 300);
    assert_int_equal(state_now.busy[17], 2000);
    assert_int_equal(state_now.durations[6], 19);
    assert_int_equal(state_now.block_bytes, RTL_PROBE_BLOCK_ALL);
    assert_int_equal(state_now.gap_sum, 140);
    assert_int_equal(state_now.gaps[4] + state_now.gaps[63], 12);
    /* half of them had ended in the step from 4096 + 32 on, the last one 128 ticks of 10 ns later */
    assert_int_equal(state_now.tails, 2);
    assert_int_equal(state_now.tail_total_ns, 2560);
    assert_int_equal(state_now.tail_max_ns, 1280);
    assert_int_equal(state_now.tail_step_ns, 160);
    assert_int_equal(state_now.tail_ns[10], 2);
    assert_true(nothing_is_held());
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();
    assert_int_equal(atomic_load(&rtl_hot.more), 0);
}

static void only_suitable_packets_run_the_copy(void **state)
{
    (void)state;
    hsa_signal_t own = app_signal(1);
    packet_t packets[3] = {other_packet(HSA_PACKET_TYPE_BARRIER_AND, 0), kernel_packet(KERNEL, 0),
                           kernel_packet(KERNEL, 0)};
    packet_t p = kernel_packet(KERNEL, own.handle);
    struct rtl_tracker *tracker = handler_data;
    packets[0].completion_signal.handle = 0;
    arm_probe(1, 0);

    /* a packet with an application signal: runs the copy, and keeps its signal */
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    assert_ptr_not_equal(written_from, &p);
    assert_int_equal(p.kernel_object, KERNEL);
    assert_int_equal(written[0].completion_signal.handle, own.handle);
    run_waves(10);
    finish_last();
    AWAIT(state_now.recorded == 1);
    AWAIT(gate_is(RTL_GATE_FREE));

    /* of a batch, one packet */
    hand_over(packets, 3);
    assert_memory_equal(&written[0], &packets[0], sizeof packets[0]);
    assert_int_equal(written[1].kernel_object, PROBED_KERNEL);
    assert_int_equal(written[2].kernel_object, KERNEL);
    run_waves(10);
    uint64_t before = AT(counters_of()->completed);
    complete(&written[1], ticks += 100000, 400);
    complete(&written[2], ticks += 100000, 400);
    wait_completed(counters_of(), before + 2);
    AWAIT(state_now.recorded == 2);
    AWAIT(gate_is(RTL_GATE_FREE));

    /* no packet that isn't timed: the runtime did not make its signal */
    static _Alignas(64) amd_signal_t by_hand = {.kind = AMD_SIGNAL_KIND_USER, .value = 1};
    p.completion_signal.handle = (uintptr_t)&by_hand;
    assert_int_equal(dispatched(&p), KERNEL);
    assert_true(gate_is(RTL_GATE_FREE));

    /* none in a cooperative queue, and none of another GPU */
    p.completion_signal.handle = 0;
    tracker->cooperative = true;
    assert_int_equal(dispatched(&p), KERNEL);
    tracker->cooperative = false;
    finish_last();
    struct rtl_gpu another, *gpu = tracker->gpu;
    rtl_probe_gate.gpu = &another;
    assert_int_equal(dispatched(&p), KERNEL);
    assert_true(gate_is(RTL_GATE_FREE));
    rtl_probe_gate.gpu = gpu;
    finish_last();

    /* without times: no numbers */
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    run_waves(10);
    before = AT(counters_of()->completed);
    complete(&written[0], 0, 0);
    wait_completed(counters_of(), before + 1);
    AWAIT(gate_is(RTL_GATE_FREE));
    assert_int_equal(state_now.recorded, 2);
    pthread_mutex_lock(&gpu_lock);
    assert_int_equal(((struct rtl_probe_block *)atomic_load(&gpu_block))->waves, 0);
    pthread_mutex_unlock(&gpu_lock);
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_DISARMED);
    assert_int_equal(state_now.dispatches, 7);
    assert_int_equal(state_now.probed, 3);
    assert_true(nothing_is_held());
    app_signal_destroy(own);
}

static void refuse_request(struct rtl_probe_request request, enum rtl_probe_why why)
{
    prepare(KERNEL);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    arm_with(request);
    refused_with(why);
}

/* Arm with the hash and length of ARM's message, whatever the code is. */
static void refuse_code(uint64_t hash, uint32_t bytes)
{
    prepare(KERNEL);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    struct rtl_probe_request request = request_for(1, 0);
    request.code_hash = hash;
    request.code_bytes = bytes;
    memcpy((char *)link_to.page + RTL_PROBE_CODE_AT, code, sizeof code);
    if (bytes && bytes <= sizeof code)
        request.proof = rtl_probe_proof(&link_to.key, &request, RTL_PROBE_ASK_ARM, state_now.accepted, code);
    link_to.page->request = request;
    struct rtl_probe_word word = {1, (uint16_t)(state_now.number + 1), RTL_PROBE_ASK_ARM};
    __atomic_store_n(&link_to.page->word, rtl_probe_encode(word), __ATOMIC_RELEASE);
    AWAIT(state_now.number == word.number);
    refused_with(bytes && bytes <= RTL_PROBE_CODE_MAX ? RTL_PROBE_WHY_BAD_CODE : RTL_PROBE_WHY_BAD_REQUEST);
}

/* The loaded runtime replaced one that had all functions for probes. */
static void a_later_runtime_without_the_functions_refuses_probes(void **state)
{
    unload_it(state);
    lacks_loading = true;
    load_library();
    lacks_loading = false;
    prepare(KERNEL);
    refused_with(RTL_PROBE_WHY_NOT_LOADED);
    assert_int_equal(state_now.status, HSA_STATUS_ERROR);
    unload_it(state);
    load_library();
}

static void unsuitable_requests_are_refused(void **state)
{
    (void)state;
    struct rtl_probe_request wrong = request_for(1, 0);
    arm_with(wrong); /* without PREPARE */
    refused_with(RTL_PROBE_WHY_BAD_REQUEST);
    prepare(0x123456);
    refused_with(RTL_PROBE_WHY_NO_KERNEL);
    prepare(0);
    refused_with(RTL_PROBE_WHY_NO_KERNEL);
    uint16_t number = rtl_probe_prepare(reader, &link_to, KERNEL, 7);
    AWAIT(state_now.number == number);
    refused_with(RTL_PROBE_WHY_NO_KERNEL);
    atomic_store(&no_block, true);
    prepare(KERNEL);
    refused_with(RTL_PROBE_WHY_NO_BLOCK);
    assert_int_equal(state_now.status, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    atomic_store(&no_block, false);

    wrong.every = 0;
    refuse_request(wrong, RTL_PROBE_WHY_BAD_REQUEST);
    wrong.every = RTL_PROBE_EVERY_MAX + 1;
    refuse_request(wrong, RTL_PROBE_WHY_BAD_REQUEST);
    wrong = request_for(1, 0);
    wrong.kernel_object = 0x4444;
    refuse_request(wrong, RTL_PROBE_WHY_BAD_REQUEST);
    wrong = request_for(1, 0);
    wrong.agent = 1;
    refuse_request(wrong, RTL_PROBE_WHY_BAD_REQUEST);
    wrong = request_for(1, 0);
    wrong.ends_shift = 57;
    refuse_request(wrong, RTL_PROBE_WHY_BAD_REQUEST);

    make_code();
    uint64_t hash = rtl_hash(code, sizeof code);
    refuse_code(hash + 1, sizeof code);
    refuse_code(hash, sizeof code - 1);
    refuse_code(hash, 0);
    refuse_code(hash, RTL_PROBE_CODE_MAX + 1);
    Elf64_Ehdr *head = (Elf64_Ehdr *)(void *)code;
    Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(code + sizeof *head);
#define REFUSE_WITH(change)                                    \
    do {                                                       \
        make_code();                                           \
        change;                                                \
        refuse_code(rtl_hash(code, sizeof code), sizeof code); \
    } while (0)
    REFUSE_WITH(code[0] = 0);
    REFUSE_WITH(head->e_machine = 62);
    REFUSE_WITH(head->e_phnum = 0);
    REFUSE_WITH(head->e_phnum = 100);
    REFUSE_WITH(head->e_phoff = UINT64_MAX - 8);
    REFUSE_WITH(segment->p_filesz++);
    REFUSE_WITH(segment->p_filesz = segment->p_memsz = sizeof code + 1);
    REFUSE_WITH(segment->p_memsz = 1ull << 40);
    REFUSE_WITH(segment->p_vaddr = UINT64_MAX - 4096);
    REFUSE_WITH((head->e_shnum = 3, head->e_shentsize = 64, head->e_shoff = 400));
    refuse_code(rtl_hash(code, 40), 40);

    atomic_store(&no_load, true);
    refuse_request(request_for(1, 0), RTL_PROBE_WHY_NOT_LOADED);
    assert_int_equal(state_now.status, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    atomic_store(&no_load, false);

    /* messages that no viewer writes have no effect */
    number = state_now.number;
    __atomic_store_n(&link_to.page->word, 0x1234567890abcdef, __ATOMIC_RELEASE);
    prepare(KERNEL);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    disarm_probe();
    refused_with(RTL_PROBE_WHY_DISARMED);
}

/* Write a request unchanged, without a new proof. */
static void send_request(const struct rtl_probe_request *request, enum rtl_probe_ask ask)
{
    link_to.page->request = *request;
    struct rtl_probe_word word = {1, (uint16_t)(state_now.number + 1), (uint8_t)ask};
    __atomic_store_n(&link_to.page->word, rtl_probe_encode(word), __ATOMIC_RELEASE);
    AWAIT(state_now.number == word.number);
}

/* The requests of a process that can write the page, but not read the key. */
static void requests_without_proof_are_refused(void **state)
{
    (void)state;
    struct rtl_probe_request prepare_it = {.kernel_object = KERNEL}, seen;
    send_request(&prepare_it, RTL_PROBE_ASK_PREPARE);
    refused_with(RTL_PROBE_WHY_NOT_PERMITTED);
    struct rtl_hash_key key = link_to.key;
    link_to.key.word[0]++;
    prepare(KERNEL);
    refused_with(RTL_PROBE_WHY_NOT_PERMITTED);
    link_to.key = key;
    prepare(KERNEL);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    seen = link_to.page->request;
    link_to.key.word[1]++;
    arm_with(request_for(1, 0));
    refused_with(RTL_PROBE_WHY_NOT_PERMITTED);
    link_to.key = key;

    /* a proof is valid for one request, once: not for another kernel or other code */
    send_request(&seen, RTL_PROBE_ASK_PREPARE);
    refused_with(RTL_PROBE_WHY_NOT_PERMITTED);
    seen.proof = rtl_probe_proof(&key, &seen, RTL_PROBE_ASK_PREPARE, state_now.accepted, NULL);
    seen.agent = 1;
    send_request(&seen, RTL_PROBE_ASK_PREPARE);
    refused_with(RTL_PROBE_WHY_NOT_PERMITTED);
    arm_probe(1, 0);
    struct rtl_probe_request armed = link_to.page->request;
    disarm_probe();
    refused_with(RTL_PROBE_WHY_DISARMED);
    prepare(KERNEL);
    armed.proof = rtl_probe_proof(&key, &armed, RTL_PROBE_ASK_ARM, state_now.accepted, code);
    ((char *)link_to.page)[RTL_PROBE_CODE_AT + 200] ^= 1;
    send_request(&armed, RTL_PROBE_ASK_ARM);
    refused_with(RTL_PROBE_WHY_NOT_PERMITTED);

    /* without proof only DISARM ends another viewer's probe */
    arm_probe(1, 0);
    send_request(&prepare_it, RTL_PROBE_ASK_PREPARE);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_ARMED);
    disarm_probe();
    refused_with(RTL_PROBE_WHY_DISARMED);
}

static void a_second_viewer_waits_for_the_first(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    arm_probe(1, 0);
    arm_with(request_for(5, 0)); /* another viewer's request: the first probe continues */
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_ARMED);
    assert_int_equal(state_now.every, 1);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    uint16_t number = rtl_probe_prepare(reader, &link_to, KERNEL, 0); /* waits for it */
    AWAIT(state_now.phase == RTL_PROBE_PHASE_ENDING);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_DISARMED);
    assert_int_not_equal(state_now.number, number);
    assert_int_equal(atomic_load(&executables), 1);
    run_waves(10);
    finish_last();
    AWAIT(state_now.number == number);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    assert_int_equal(atomic_load(&executables), 0);
    assert_int_equal(state_now.recorded, 0);
    disarm_probe();
    refused_with(RTL_PROBE_WHY_DISARMED);
}

static void a_probe_disarmed_in_flight_ends(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    packet_t in_flight = written[0];
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_ENDING);
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();
    assert_int_equal(atomic_load(&executables), 1);
    assert_int_equal(atomic_load(&blocks), 1);
    run_waves(10);
    written[0] = in_flight;
    finish_last();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.recorded, 1); /* its results are reported all the same */
    refused_with(RTL_PROBE_WHY_DISARMED);
}

static void a_probe_ends_without_a_heartbeat(void **state)
{
    (void)state;
    arm_probe(1, 0);
    for (int i = 0; i < 5; i++) {
        uint64_t passes = AT(rtl_tool.segment.header->passes);
        atomic_fetch_add(&put_forward, 2000000000);
        beat();
        AWAIT(AT(rtl_tool.segment.header->passes) > passes + 1);
        assert_int_equal(state_now.phase, RTL_PROBE_PHASE_ARMED);
    }
    atomic_fetch_add(&put_forward, 4000000000);
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_UNWATCHED);
    prepare(KERNEL);
    atomic_fetch_add(&put_forward, 4000000000);
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_UNWATCHED);
    arm_with(request_for(1, 0)); /* the viewer had stopped: the reason of the end stays */
    refused_with(RTL_PROBE_WHY_UNWATCHED);
}

/* Request a probe on the first GPU when the kernel is loaded for that agent. */
static void asked_for_when_loaded_on(uint64_t agent)
{
    app_executable_destroy(1);
    atomic_store(&loaded_on, agent);
    app_freeze(1);
    prepare(KERNEL);
    atomic_store(&loaded_on, 77);
}

/* No dispatch of a copy for another GPU ever comes here; the probe doesn't wait for one. */
static void a_copy_for_another_gpu_is_refused(void **state)
{
    (void)state;
    asked_for_when_loaded_on(78);
    refused_with(RTL_PROBE_WHY_NO_KERNEL);
    pthread_mutex_lock(&rtl_tool.create);
    prepare(KERNEL);
    pthread_mutex_unlock(&rtl_tool.create);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    asked_for_when_loaded_on(0);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    asked_for_when_loaded_on(77);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    disarm_probe();
}

static void a_probe_ends_with_its_kernel(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    arm_probe(1, 0);
    app_executable_destroy(1);
    assert_int_equal(atomic_load(&rtl_probe_gate.kernel_object), 0); /* at once */
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_KERNEL_GONE);
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();
    app_freeze(1);
    prepare(KERNEL);
    app_executable_destroy(1);
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_KERNEL_GONE);
    app_freeze(1);
    app_executable_destroy(2); /* another executable */
    arm_probe(1, 0);
    app_executable_destroy(3);
    assert_int_equal(atomic_load(&rtl_probe_gate.kernel_object), KERNEL);
    disarm_probe();
    refused_with(RTL_PROBE_WHY_DISARMED);
}

static void ask_for_mode(enum rtl_mode mode)
{
    static uint16_t number;
    struct rtl_control *control =
        mmap(NULL, RTL_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)rtl_tool.segment.header->control_fd, 0);
    assert_ptr_not_equal(control, MAP_FAILED);
    struct rtl_control_request request = {.number = ++number, .mode = (uint8_t)mode};
    __atomic_store_n(&control->word, rtl_control_encode(request), __ATOMIC_RELEASE);
    munmap(control, RTL_CONTROL_BYTES);
    for (int i = 0; i < patience() && (AT(rtl_tool.segment.header->in_force) >> 16 & 0xffff) != number; i++) {
        packet_t p = other_packet(HSA_PACKET_TYPE_BARRIER_AND, 0);
        p.completion_signal.handle = 0;
        hand_over(&p, 1); /* which wakes the worker */
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

static void a_probe_ends_with_the_mode(void **state)
{
    (void)state;
    arm_probe(1, 0);
    ask_for_mode(RTL_MODE_AUTO);
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_NOT_TIMED);
    refuse_request(request_for(1, 0), RTL_PROBE_WHY_NOT_TIMED);
    ask_for_mode(RTL_MODE_DEFAULT);
}

static void a_probe_ends_with_its_queue(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    uint64_t before = counted_probed();
    struct rtl_queue *line = counters_of();
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    set_waves(4);
    app_queue_destroy(&the_queue);
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER); /* the copy may be the reason for the destruction */
    refused_with(RTL_PROBE_WHY_QUEUE_GONE);
    assert_int_equal(AT(line->untimed[RTL_UNTIMED_PROBED]), before + 1);
    assert_int_equal(state_now.probed, 1);
    assert_int_equal(state_now.recorded, 0);
    assert_non_null(app_queue());
    assert_int_equal(dispatched(&p), KERNEL);
    finish_last();

    /* a probe disarmed before that ended for that reason */
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_ENDING);
    app_queue_destroy(&the_queue);
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    refused_with(RTL_PROBE_WHY_DISARMED);
    assert_non_null(app_queue());
}

/* The signal is reused before the kernel completes: the results in the block show when the kernel has ended. */
static void the_block_shows_when_a_kernel_without_signal_ended(void **state)
{
    (void)state;
    hsa_signal_t own = app_signal(1);
    packet_t p = kernel_packet(KERNEL, own.handle);
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    uint64_t before = AT(counters_of()->completed);
    hsa_status_t (*destroy)(hsa_signal_t) = core.slot[38];
    destroy(own);
    wait_completed(counters_of(), before + 1);
    AWAIT(gate_is(RTL_GATE_HELD));
    run_waves(9);
    int copies = atomic_load(&copies_begun);
    AWAIT(atomic_load(&copies_begun) > copies + 2);
    assert_true(gate_is(RTL_GATE_HELD));
    set_waves(10);
    AWAIT(gate_is(RTL_GATE_FREE));
    assert_int_equal(state_now.recorded, 0);
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_int_equal(atomic_load(&executables), 1); /* the kernel may still be in its last instruction */
    forget_what_is_held();
}

static void seconds_pass_until_it_is_over(void)
{
    for (int i = 0; i < 40 && state_now.phase == RTL_PROBE_PHASE_ARMED; i++) {
        uint64_t passes = AT(rtl_tool.segment.header->passes);
        atomic_fetch_add(&put_forward, 1000000000);
        beat();
        AWAIT(AT(rtl_tool.segment.header->passes) > passes + 1);
    }
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_STUCK);
}

/* The signal is reused, and the block doesn't show an end either: the executable is never freed, and the slot is free
 * again.
 */
static void an_executable_that_may_still_run_is_kept(void **state)
{
    (void)state;
    hsa_signal_t own = app_signal(1);
    packet_t p = kernel_packet(KERNEL, own.handle), other = kernel_packet(KERNEL, 0);
    hsa_status_t (*destroy)(hsa_signal_t) = core.slot[38];
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    void *its_block = atomic_load(&gpu_block);
    uint64_t before = AT(counters_of()->completed);
    destroy(own);
    wait_completed(counters_of(), before + 1);
    AWAIT(gate_is(RTL_GATE_HELD));
    run_waves(9);
    seconds_pass_until_it_is_over();
    AWAIT(gate_is(RTL_GATE_CLOSED));
    int copies = atomic_load(&copies_begun);
    AWAIT(AT(rtl_tool.segment.header->parked) == 1); /* the worker polls for it no longer */
    assert_int_equal(atomic_load(&copies_begun), copies);
    assert_int_equal(atomic_load(&executables), 1);
    assert_int_equal(atomic_load(&blocks), 1);
    arm_probe(1, 0);
    assert_ptr_not_equal(atomic_load(&gpu_block), its_block);
    assert_int_equal(dispatched(&other), PROBED_KERNEL);
    run_waves(10);
    finish_last();
    AWAIT(state_now.recorded == 1);
    disarm_probe();
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_int_equal(atomic_load(&executables), 1);
    assert_int_equal(atomic_load(&blocks), 1);
    forget_what_is_held();
}

static void a_kernel_that_never_ends_keeps_its_probe(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0);
    arm_probe(1, 0);
    assert_int_equal(dispatched(&p), PROBED_KERNEL);
    AWAIT(state_now.probed == 1);
    seconds_pass_until_it_is_over();
    assert_int_equal(atomic_load(&executables), 1);
    prepare(KERNEL); /* its slot is in use */
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_STUCK);
    finish_last();
    AWAIT(nothing_is_held());
    prepare(KERNEL);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    disarm_probe();
    refused_with(RTL_PROBE_WHY_DISARMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_probed_without_a_request),
        cmocka_unit_test(one_dispatch_in_n_is_probed),
        cmocka_unit_test(grids_have_the_right_number_of_waves),
        cmocka_unit_test(exactly_one_dispatch_in_three_is_probed),
        cmocka_unit_test(only_suitable_packets_run_the_copy),
        cmocka_unit_test(unsuitable_requests_are_refused),
        cmocka_unit_test(requests_without_proof_are_refused),
        cmocka_unit_test(a_later_runtime_without_the_functions_refuses_probes),
        cmocka_unit_test(a_second_viewer_waits_for_the_first),
        cmocka_unit_test(a_probe_disarmed_in_flight_ends),
        cmocka_unit_test(a_probe_ends_without_a_heartbeat),
        cmocka_unit_test(a_copy_for_another_gpu_is_refused),
        cmocka_unit_test(a_probe_ends_with_its_kernel),
        cmocka_unit_test(a_probe_ends_with_the_mode),
        cmocka_unit_test(a_probe_ends_with_its_queue),
        cmocka_unit_test(the_block_shows_when_a_kernel_without_signal_ended),
        cmocka_unit_test(an_executable_that_may_still_run_is_kept),
        cmocka_unit_test(a_kernel_that_never_ends_keeps_its_probe),
    };
    return cmocka_run_group_tests(tests, load_it, unload_it);
}

/* Coordinates of workers, unique names of processes, and the peer groups in which workers are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/member_names.h"
#include "model/merge_parts.h"

static struct rtl_member members[RTL_MEMBERS_MAX];

struct wanted {
    const char *label;
    pid_t pid;
    uint64_t gpus;
    const char *name;
    int group; /* equal numbers: the same group */
};

static void named(const struct wanted *wanted, uint32_t count)
{
    memset(members, 0, sizeof members);
    for (uint32_t i = 0; i < count; i++) {
        members[i] = (struct rtl_member){.number = i, .info.pid = wanted[i].pid, .gpus = wanted[i].gpus};
        snprintf(members[i].info.label, sizeof members[i].info.label, "%s", wanted[i].label);
    }
    rtl_members_name(members, count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(members[i].name, wanted[i].name))
            fail_msg("process %u, '%s', is called '%s' and not '%s'", i, wanted[i].label, members[i].name,
                     wanted[i].name);
        for (uint32_t j = 0; j < i; j++)
            if ((members[i].peer_group == members[j].peer_group) != (wanted[i].group == wanted[j].group))
                fail_msg("processes %u and %u, '%s' and '%s', have groups %u and %u", j, i, wanted[j].label,
                         wanted[i].label, members[j].peer_group, members[i].peer_group);
    }
}
#define NAMED(...) \
    named((const struct wanted[]){__VA_ARGS__}, sizeof((const struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted))

static void coordinates_are_found_in_titles(void **state)
{
    (void)state;
    static const struct {
        const char *title, *label;
        int rank;
    } cases[] = {
        {"VLLM::Worker_DP1_TP0_EP1", "DP1_TP0_EP1", -1},
        {"VLLM::Worker_TP0_DP3", "DP3_TP0", -1},
        {"VLLM::Worker_DP1_PP2_PCP3_TP4_DCP5_EP6", "DP1_PP2_PCP3_TP4_DCP5", -1}, /* EP6 doesn't fit */
        {"VLLM::EngineCore_DP1", "DP1", 1},
        {"VLLM::Worker_TP3", "TP3", 3},
        {"VLLM::Worker_TP3_EP3", "TP3_EP3", 3},
        {"VllmWorker TP7", "TP7", 7},
        {"vLLM-Omni::DiffusionWorker_SP1_CFG0_TP1", "SP1_CFG0_TP1", -1},
        {"sglang::scheduler_DP2_TP1", "DP2_TP1", -1},
        {"sglang::scheduler DP2 TP1 (idle)", "DP2_TP1", -1},
        {"sglang::scheduler_DP0_PP1_ATTN_CP1_MOE_DP5_TP3_EP1", "DP0_PP1_CP1_TP3_EP1", -1},
        {"sglang::scheduler_MOE_DP5_TP3", "TP3", 3},
        {"sglang::scheduler", "", -1},
        {"python3 --multiprocessing-fork_TP0", "TP0", 0},
        {"worker_TP0_TP1", "TP0", 0},
        {"worker_TP", "", -1},
        {"worker_TPx1", "", -1},
        {"worker_TP1x", "", -1},
        {"worker_TP123456", "", -1},
        {"worker_FP8", "", -1},
        {"workerTP1", "", -1},
        {"worker_tp1", "", -1},
        {"TP00012", "TP12", 12},
        {"", "", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char label[RTL_MEMBER_LABEL];
        struct rtl_coordinates c = rtl_coordinates_find(cases[i].title, strlen(cases[i].title));
        rtl_coordinates_text(&c, label, sizeof label);
        if (strcmp(label, cases[i].label) != 0 || rtl_coordinates_rank(&c) != cases[i].rank)
            fail_msg("%s gives '%s', rank %d", cases[i].title, label, rtl_coordinates_rank(&c));
    }
}

static void names_are_unique(void **state)
{
    (void)state;
    NAMED({"R0", 10, 1, "R0", 0}, {"R1", 11, 2, "R1", 0}, {"", 12, 4, "G2", 0}, {"", 13, 12, "13", 0});
    /* two servers with the same ranks; a process that was started again */
    NAMED({"TP0", 10, 1, "TP0[10]", 1}, {"TP1", 11, 2, "TP1", 1}, {"TP0", 12, 1, "TP0[12]", 2});
    /* two processes on one GPU */
    NAMED({"", 10, 1, "G0[10]", 0}, {"", 11, 1, "G0[11]", 0}, {"", 12, 2, "G1", 0});
    /* lists of devices in two containers: the segments know the GPUs */
    NAMED({"D0", 10, 1, "G0", 0}, {"D0", 11, 2, "G1", 0}, {"D1", 12, 4, "D1", 0});
    NAMED({"D0", 10, 1, "G0[10]", 0}, {"D0", 11, 1, "G0[11]", 0}, {"D0", 12, 0, "D0", 0});
    /* recordings of two hosts */
    NAMED({"R0", 10, 1, "#0", 0}, {"R0", 10, 2, "#1", 0}, {"R0", 12, 2, "R0[12]", 0});
    NAMED({"DP10_PP10_TP10_EP100", 1234567, 0, "DP10_PP10_TP10[1234567]", 1},
          {"DP10_PP10_TP10_EP100", 1234568, 0, "DP10_PP10_TP10[1234568]", 1});
    /* labels that rtl-top did not write */
    NAMED({"R0[11]", 10, 0, "10", 0}, {"R0", 11, 0, "R0[11]", 0}, {"R0", 12, 0, "R0[12]", 0}, {"#1", 13, 0, "13", 0});
    NAMED({"12", 10, 0, "12[10]", 0}, {"", 12, 0, "12[12]", 0});
}

/* A worker that was started again keeps the label; those that have ended are marked. */
static void the_living_process_keeps_the_label(void **state)
{
    (void)state;
    memset(members, 0, sizeof members);
    for (uint32_t i = 0; i < 4; i++) {
        members[i] = (struct rtl_member){.number = i, .ended = i < 2, .info.pid = 10 + (pid_t)i};
        strcpy(members[i].info.label, i < 3 ? "R5" : "R6");
    }
    rtl_members_name(members, 4);
    assert_string_equal(members[0].name, "R5[10]");
    assert_string_equal(members[1].name, "R5[11]");
    assert_string_equal(members[2].name, "R5");
    members[2].ended = true;
    rtl_members_name(members, 4);
    assert_string_equal(members[2].name, "R5[12]");
    assert_string_equal(members[3].name, "R6");
}

static void workers_are_compared_within_their_group(void **state)
{
    (void)state;
    /* tensor parallel ranks do the same work; another data parallel rank has other requests */
    NAMED({"DP0_TP0_EP0", 1, 0, "DP0_TP0_EP0", 1}, {"DP0_TP1_EP1", 2, 0, "DP0_TP1_EP1", 1},
          {"DP1_TP0_EP2", 3, 0, "DP1_TP0_EP2", 2}, {"DP1_TP1_EP3", 4, 0, "DP1_TP1_EP3", 2});
    /* one tensor parallel rank each: data parallel ranks are compared */
    NAMED({"DP0_TP0", 1, 0, "DP0_TP0", 1}, {"DP1_TP0", 2, 0, "DP1_TP0", 1}, {"DP2_TP0", 3, 0, "DP2_TP0", 1});
    NAMED({"DP0_EP0", 1, 0, "DP0_EP0", 1}, {"DP1_EP1", 2, 0, "DP1_EP1", 1});
    /* stages of a pipeline run different layers: equal stages are compared */
    NAMED({"DP0_PP0", 1, 0, "DP0_PP0", 1}, {"DP0_PP1", 2, 0, "DP0_PP1", 2}, {"DP1_PP0", 3, 0, "DP1_PP0", 1},
          {"DP1_PP1", 4, 0, "DP1_PP1", 2});
    NAMED({"PP0_TP0", 1, 0, "PP0_TP0", 1}, {"PP1_TP0", 2, 0, "PP1_TP0", 2}, {"PP0_TP1", 3, 0, "PP0_TP1", 1},
          {"PP1_TP1", 4, 0, "PP1_TP1", 2});
    NAMED({"PP0", 1, 0, "PP0", 1}, {"PP1", 2, 0, "PP1", 1});
    /* other roles have other dimensions */
    NAMED({"TP0", 1, 0, "TP0", 1}, {"DP0_TP0", 2, 0, "DP0_TP0", 2}, {"TP1", 3, 0, "TP1", 1}, {"R0", 4, 0, "R0", 0},
          {"DP0_TP1", 5, 0, "DP0_TP1", 2}, {"", 6, 0, "6", 0});
    NAMED({"DP1_TP0", 1, 0, "DP1_TP0", 1}, {"TP0", 2, 0, "TP0", 2}, {"DP0_TP0", 3, 0, "DP0_TP0", 3},
          {"DP1_TP1", 4, 0, "DP1_TP1", 1}, {"DP0_TP1", 5, 0, "DP0_TP1", 3}, {"TP1", 6, 0, "TP1", 2});
    /* a second server with the same coordinates has groups of its own */
    NAMED({"DP0_TP0", 1, 0, "DP0_TP0[1]", 1}, {"DP0_TP0", 2, 0, "DP0_TP0[2]", 3}, {"DP0_TP1", 3, 0, "DP0_TP1", 1},
          {"DP1_TP1", 4, 0, "DP1_TP1", 2});
    NAMED({"R0", 1, 0, "R0[1]", 0}, {"R1", 2, 0, "R1[2]", 0}, {"R0", 3, 0, "R0[3]", 1}, {"R1", 4, 0, "R1[4]", 1});
    /* replicas with one rank each are compared, and so are containers with one device each */
    NAMED({"TP0", 1, 0, "TP0[1]", 1}, {"TP0", 2, 0, "TP0[2]", 1}, {"", 3, 0, "3", 0});
    NAMED({"R0", 1, 0, "R0[1]", 0}, {"R0", 2, 0, "R0[2]", 0}, {"D0", 3, 1, "G0[3]", 0}, {"D0", 4, 1, "G0[4]", 0});
}

/* Any labels, as in damaged recordings, give different names, also for the maximum number of processes. */
static void any_labels_give_different_names(void **state)
{
    (void)state;
    static const char *const labels[] = {"",    "R0",    "TP0", "DP0_TP0", "D0",     "#1",
                                         "[1]", "R0[1]", "1",   "G0",      "\x1b[m", "x"};
    uint32_t random = 5;
    for (int round = 0; round < 200; round++) {
        uint32_t count = round ? 40 : RTL_MEMBERS_MAX;
        memset(members, 0, sizeof members);
        for (uint32_t i = 0; i < count; i++) {
            random = random * 1664525u + 1013904223u;
            members[i] = (struct rtl_member){.number = i,
                                             .ended = random >> 20 & 1,
                                             .info.pid = (pid_t)(random >> 28),
                                             .gpus = 1ull << (random >> 22 & 3) & 6};
            snprintf(members[i].info.label, sizeof members[i].info.label, "%s",
                     labels[(random >> 8) % (sizeof labels / sizeof *labels)]);
        }
        rtl_members_name(members, count);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < i; j++)
                if (!strcmp(members[i].name, members[j].name) || !*members[i].name)
                    fail_msg("two of %u processes are called '%s'", count, members[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_are_found_in_titles),    cmocka_unit_test(names_are_unique),
        cmocka_unit_test(the_living_process_keeps_the_label), cmocka_unit_test(workers_are_compared_within_their_group),
        cmocka_unit_test(any_labels_give_different_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

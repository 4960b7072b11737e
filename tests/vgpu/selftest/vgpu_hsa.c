/*
 * vgpu_hsa.c - self-tests of the software GPU through the real HSA runtime, one case a run: vgpu_hsa CODE_OBJECT CASE.
 * The test script reads what a case prints. A failure is a line on stderr and status 1.
 */
#include "cases.h"

#include <string.h>

struct hsa h;
const char *code_file;

static const struct {
    const char *name;
    void (*run)(int argc, char **argv);
} cases[] = {
    {"basic", case_basic},
    {"draw", case_draw},
    {"overlap", case_overlap},
    {"chain", case_chain},
    {"slots", case_slots},
    {"read-index", case_read_index},
    {"same-bell", case_same_bell},
    {"deps", case_deps},
    {"no-profile", case_no_profile},
    {"throughput", case_throughput},
    {"clock", case_clock},
    {"copy", case_copy},
    {"fill", case_fill},
    {"rect", case_rect},
    {"lock", case_lock},
    {"free", case_free},
    {"churn", case_churn},
    {"limit", case_limit},
    {"agents", case_agents},
    {"every-gpu", case_every_gpu},
    {"threads", case_threads},
    {"queues", case_queues},
    {"reinit", case_reinit},
    {"fork", case_fork},
    {"exec", case_exec},
    {"exit", case_exit},
    {"idle", case_idle},
    {"bad-packet", case_bad_packet},
    {"fault", case_fault},
    {"reload", case_reload},
};

int main(int argc, char **argv)
{
    if (argc < 3)
        fail("usage: vgpu_hsa CODE_OBJECT CASE [ARGS]");
    code_file = argv[1];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[2])) {
            hsa_open(&h);
            cases[i].run(argc - 3, argv + 3);
            CHECK(hsa_shut_down());
            return 0;
        }
    fail("unknown case %s", argv[2]);
}

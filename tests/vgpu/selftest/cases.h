/* cases.h - the cases of vgpu_hsa, and declarations that they share. */
#ifndef VGPU_SELFTEST_CASES_H
#define VGPU_SELFTEST_CASES_H

#include "hsa_util.h"

#include <hsa/amd_hsa_signal.h>

extern struct hsa h;
extern const char *code_file;

static inline const amd_signal_t *raw(hsa_signal_t s)
{
    return (const amd_signal_t *)(uintptr_t)s.handle;
}

/* time_cases.c */
void case_basic(int argc, char **argv);
void case_draw(int argc, char **argv);
void case_overlap(int argc, char **argv);
void case_chain(int argc, char **argv);
void case_slots(int argc, char **argv);
void case_read_index(int argc, char **argv);
void case_same_bell(int argc, char **argv);
void case_deps(int argc, char **argv);
void case_no_profile(int argc, char **argv);
void case_throughput(int argc, char **argv);
void case_clock(int argc, char **argv);
/* memory_cases.c */
void case_copy(int argc, char **argv);
void case_fill(int argc, char **argv);
void case_rect(int argc, char **argv);
void case_lock(int argc, char **argv);
void case_free(int argc, char **argv);
void case_churn(int argc, char **argv);
void case_limit(int argc, char **argv);
/* life_cases.c */
void case_agents(int argc, char **argv);
void case_every_gpu(int argc, char **argv);
void case_threads(int argc, char **argv);
void case_queues(int argc, char **argv);
void case_reinit(int argc, char **argv);
void case_fork(int argc, char **argv);
void case_exec(int argc, char **argv);
void case_exit(int argc, char **argv);
void case_idle(int argc, char **argv);
void case_bad_packet(int argc, char **argv);
void case_fault(int argc, char **argv);
void case_reload(int argc, char **argv);

#endif

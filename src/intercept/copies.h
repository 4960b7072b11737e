/*
 * Copies that the application asks the runtime for: counted and, where the mode wants it, timed.
 *
 * The hooks on hsa_amd_memory_async_copy, _rect and _on_engine count every copy that the runtime takes, by GPU and
 * direction. A copy is timed by the application's own signal, as a kernel is (own.h): the signal stays on the copy, the
 * runtime has its times written behind it, and they are read by the worker, or by whoever is about to use the signal
 * for something else. A copy in flight has a card of its own kind, which that table finds like a kernel's.
 *
 * The runtime has copies timed only when it is asked to (hsa_amd_profiling_async_copy_enable): we do so before the
 * first copy that is to be timed, and don't let the application switch it off again, until the mode has changed and
 * none is in flight any more: then it is as the application wants it. It costs two small commands a copy on the copy
 * engine; the application sees nothing of it but that hsa_amd_profiling_get_async_copy_time answers.
 *
 * Where the times are. A copy kernel leaves them where kernels do. The copy engines want them elsewhere: the runtime
 * keeps them in words of its own behind the signal's, the same on all releases known, but no contract. So what is
 * found there is believed only after one copy in each load whose times the runtime itself was asked for, too; until
 * then those that are over wait, for a second at most. The runtime isn't asked each time: it takes a lock and now and
 * then a system call for it, and the signal may be at its next use on the dispatch path.
 */
#ifndef RTL_INTERCEPT_COPIES_H
#define RTL_INTERCEPT_COPIES_H

#include <hsa/amd_hsa_signal.h>
#include <stdbool.h>
#include <stdint.h>

struct rtl_harvest;
struct rtl_own;
struct rtl_own_times;

enum { RTL_COPY_CARDS = 4096 }; /* most copies in flight that are timed */

/* The address of a copy's card, and not of a kernel's. Constant. */
bool rtl_copies_is_card(uintptr_t use);

/* The copy on the signal is over and has left times. Whoever may read the signal's memory. */
bool rtl_copies_stamped(const amd_signal_t *card, const amd_signal_t *signal, struct rtl_own_times *times);

/*
 * While it isn't known whether what is read there is right: asks the runtime about a copy that is over; from then on it
 * does nothing. Whoever may read the signal's memory; `use` is what it is on, and `own` where that can change meanwhile
 * (else NULL).
 */
void rtl_copies_compare(struct rtl_own *own, uintptr_t use, const amd_signal_t *signal);

/* Worker: records what is over. Returns how many. */
uint32_t rtl_copies_harvest(struct rtl_harvest *harvest);
/* Worker: one is just being asked for, by a thread that may have seen an earlier policy. */
bool rtl_copies_asked_for(void);
/* Worker: some are in flight. */
bool rtl_copies_pending(void);
/* Worker, at its end: the rest is given up. */
void rtl_copies_give_up(struct rtl_harvest *harvest);

/* Worker: none is timed now, nor will be until the mode changes: the runtime may leave it, too. */
void rtl_copies_rest(void);

/* Load: the runtime is going. */
void rtl_copies_forget(void);

/* Load: puts the hooks in. False when this runtime may copy in batches that can't be hooked: those aren't seen. */
bool rtl_copies_hook(void *table);

#endif

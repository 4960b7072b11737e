/*
 * Offsets between clocks. In a time namespace (a container, time_namespaces(7)) CLOCK_MONOTONIC and CLOCK_BOOTTIME may
 * be ahead of the host's by constants, by days after a restore on another host. Readers convert every time of a segment
 * to one time line, so that times of different processes can be compared. The host's CLOCK_BOOTTIME is ahead of its
 * CLOCK_MONOTONIC by the time that the host was suspended.
 */
#ifndef RTL_SHM_CLOCK_OFFSETS_H
#define RTL_SHM_CLOCK_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Offsets of clocks from the host's, positive when ahead; 0 outside of time namespaces. */
struct rtl_clock_offsets {
    int64_t mono_ns, boot_ns;
};

struct rtl_clocks {
    struct rtl_clock_offsets its, own; /* clocks of the process that is read, and of this process */
    int64_t ahead_ns, own_ahead_ns;    /* how far CLOCK_MONOTONIC of each is ahead of the time line in use */
};

/* Read the clocks of a process or thread, for this process's time line. False when they can't be compared. */
bool rtl_clocks_read(pid_t pid, struct rtl_clocks *clocks);
/* Parse the file timens_offsets; false unless it has both clocks, within 2^32 seconds. Pure. */
bool rtl_clock_offsets_parse(const char *text, struct rtl_clock_offsets *offsets);

/* Return how far the host's boot time is ahead of its monotonic time. Returns `before` as long as that can be right,
 * so that two calls return the same offset unless the host was suspended between them. */
int64_t rtl_boot_offset(const struct rtl_clock_offsets *own, int64_t before);
/* Choose the offset from the range [least, most]: 0 if in range, `before` if in range, otherwise the middle, whose
 * error is less than the time of reading a clock. Pure. */
int64_t rtl_boot_offset_between(int64_t least, int64_t most, int64_t before);

#endif

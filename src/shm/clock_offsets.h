/*
 * Clocks that are apart. In a time namespace (a container, time_namespaces(7)) CLOCK_MONOTONIC and CLOCK_BOOTTIME may
 * be ahead of the host's by constants, by days after a restore elsewhere. Every time that leaves a segment is brought
 * to one time line, so that times of two processes are never of two clocks. And the host's CLOCK_BOOTTIME is ahead of
 * its CLOCK_MONOTONIC by the time that it was asleep.
 */
#ifndef RTL_SHM_CLOCK_OFFSETS_H
#define RTL_SHM_CLOCK_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How far clocks are ahead of the host's; 0 outside of time namespaces. */
struct rtl_clock_offsets {
    int64_t mono_ns, boot_ns;
};

struct rtl_clocks {
    struct rtl_clock_offsets its, own; /* of the process that is read, and of this one */
    int64_t ahead_ns, own_ahead_ns;    /* how far CLOCK_MONOTONIC of both is ahead of the time line in use */
};

/* Reads those of a process or thread, for this process's time line. False when they can't be compared. */
bool rtl_clocks_read(pid_t pid, struct rtl_clocks *clocks);
/* Parses the file timens_offsets; false unless it has both clocks, within 2^32 seconds. Pure. */
bool rtl_clock_offsets_parse(const char *text, struct rtl_clock_offsets *offsets);

/* How far the host's boot time is ahead of its monotonic time. `before` is returned as long as it can be right, so that
 * no two looks differ without a suspend. */
int64_t rtl_boot_offset(const struct rtl_clock_offsets *own, int64_t before);
/* Chooses the offset, which lies between the two: none if the host may never have slept, `before` if it fits, otherwise
 * the middle, which is off by less than reading a clock takes. Pure. */
int64_t rtl_boot_offset_between(int64_t least, int64_t most, int64_t before);

#endif

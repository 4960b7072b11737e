/*
 * Clocks of time namespaces (time_namespaces(7)): a container's CLOCK_MONOTONIC and CLOCK_BOOTTIME may be ahead of the
 * host's by constants, by days after a restore elsewhere. Every time that leaves a segment is brought to one time line
 * by them (rtl_reader_line in reader_private.h), so that times of two processes are never of two clocks.
 */
#ifndef RTL_SHM_CLOCK_OFFSETS_H
#define RTL_SHM_CLOCK_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How far its clocks are ahead of the host's; 0 outside of time namespaces. */
struct rtl_clock_offsets {
    int64_t mono_ns, boot_ns;
};

/* Reads those of a process or thread; 0: of this process. False when they can't be told. */
bool rtl_clock_offsets_read(pid_t pid, struct rtl_clock_offsets *offsets);

/* Parses the file timens_offsets; false unless it has both clocks, within 2^32 seconds. Pure. */
bool rtl_clock_offsets_parse(const char *text, struct rtl_clock_offsets *offsets);

#endif

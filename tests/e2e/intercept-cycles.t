#!/bin/sh
# Months of churn in seconds: queues, code objects whose kernels reuse each other's addresses, many queues of many
# threads. Counts are exact under each name, and the process doesn't grow.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_cycles
cycles=10000
# Leaks of the library show on this system's runtime with the default queue path; another release or path gets fewer
# cycles.
[ -z "${RTL_RELEASE:-}${RTL_QUEUES:-}" ] || cycles=4000
echo '* fixed 1us' >"$work/script"

memory_value() { # LINE WHAT
    sed -n "s/^memory .*$2 \([0-9]*\).*/\1/p" "$work/out" | sed -n "$1p"
}
# Growth from a tenth of the cycles to the last. The runtime and its C++ allocator grow by 200 to 400 KB, with and
# without the library. A leak of 117 bytes a cycle exceeds 1 MB (291 bytes on another release or path, with fewer
# cycles).
grew_at_most() { # WHAT MOST
    echo "$1: $(memory_value 1 "$1"), then $(memory_value 2 "$1")"
    test -n "$(memory_value 2 "$1")" && test "$(($(memory_value 2 "$1") - $(memory_value 1 "$1")))" -le "$2"
}
check_flat() { # name
    check "$1: memory doesn't grow" grew_at_most rss 1024
    check "$1: mappings don't grow" grew_at_most maps 8
    check "$1: descriptors don't grow" grew_at_most fds 0
    sed -n 's/^memory/# memory/p' "$work/out"
}

play queues "$cycles"
check "$cycles queues: every dispatch is settled" wait_until 60 settled 0
check "$cycles queues: counts equal the program's" counted_as_launched
is "$cycles queues: no slot is lost" "$(dump_segment note)" ""
check "$cycles queues: signals return to the pool" test "$(dump_segment signals | cut -d' ' -f7)" -le 256
check_flat "$cycles queues"
close_scene
is "$cycles queues: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "

play executables "$cycles"
check "$cycles code objects: every dispatch is settled" wait_until 60 settled 0
check "$cycles code objects: each kernel is counted under its own name" counted_as_launched
check "$cycles code objects: addresses are reused" \
    test "$(sed -n 's/^reused //p' "$work/out")" -gt "$cycles"
is "$cycles code objects: the segment has no note" "$(dump_segment note)" ""
check_flat "$cycles code objects"
close_scene
is "$cycles code objects: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "

play crowd
check "64 queues of 32 threads: every dispatch is settled" wait_until 60 settled 0
check "64 queues of 32 threads: counts equal the program's" counted_as_launched
is "64 queues of 32 threads: the segment has no note" "$(dump_segment note)" ""
close_scene
is "64 queues of 32 threads: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "
finish

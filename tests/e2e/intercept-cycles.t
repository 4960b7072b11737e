#!/bin/sh
# Months of coming and going in seconds: queues, code objects whose kernels take each other's addresses, many queues of
# many threads. Counts are exact under each name, and what the process holds doesn't grow.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_cycles
cycles=10000
# what the library keeps is seen on this system's, in its own way of queues; elsewhere the runtime or the way is another one
[ -z "${RTL_RELEASE:-}${RTL_QUEUES:-}" ] || cycles=4000
echo '* fixed 1us' >"$work/script"

memory() { # line, what
    sed -n "s/^memory .*$2 \([0-9]*\).*/\1/p" "$work/out" | sed -n "$1p"
}
# From a tenth of the cycles to the last. The runtime and its C++ allocator keep a little themselves (200 to 400 KB, with
# the library and without); 1 MB is what a leak of 117 bytes a cycle comes to
# (on another release or in the other way, with fewer of them, 291).
grown() { # what most
    echo "$1: $(memory 1 "$1"), then $(memory 2 "$1")"
    test -n "$(memory 2 "$1")" && test "$(($(memory 2 "$1") - $(memory 1 "$1")))" -le "$2"
}
flat() { # name
    check "$1: memory is flat" grown rss 1024
    check "$1: mappings are flat" grown maps 8
    check "$1: descriptors are flat" grown fds 0
    sed -n 's/^memory/# memory/p' "$work/out"
}

play queues "$cycles"
check "$cycles queues: all accounted for" wait_until 60 settled 0
check "$cycles queues: counts are the program's" counted_as_launched
is "$cycles queues: nothing to say, no slot is lost" "$(look note)" ""
check "$cycles queues: signals came back" test "$(look signals | cut -d' ' -f7)" -le 256
flat "$cycles queues"
close_scene
is "$cycles queues: ends well" "$status $(without_runtimes_own <"$work/err")" "0 "

play executables "$cycles"
check "$cycles code objects: all accounted for" wait_until 60 settled 0
check "$cycles code objects: each kernel under its own name" counted_as_launched
check "$cycles code objects: at addresses that another name had" \
    test "$(sed -n 's/^reused //p' "$work/out")" -gt "$cycles"
is "$cycles code objects: nothing to say" "$(look note)" ""
flat "$cycles code objects"
close_scene
is "$cycles code objects: ends well" "$status $(without_runtimes_own <"$work/err")" "0 "

play crowd
check "64 queues of 32 threads: all accounted for" wait_until 60 settled 0
check "64 queues of 32 threads: counts are the program's" counted_as_launched
is "64 queues of 32 threads: nothing to say" "$(look note)" ""
close_scene
is "64 queues of 32 threads: ends well" "$status $(without_runtimes_own <"$work/err")" "0 "
finish

#!/bin/sh
# What is tried out on releases that may hand over batches, on the real runtimes at hand, whether they do or not: it leaves
# nothing behind, and everything is counted and timed as ever.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

newer=$tap_top/$O/tests/programs/intercept_newer_preload.so
for tools in "$tap_top/$O/librtl.so" "$newer $tap_top/$O/librtl.so"; do
    case $tools in *newer*) name="as on a newer release" ;; *) name="as it is" ;; esac
    play any
    check "$name: all over" wait_until 60 settled 0
    check "$name: counts are the program's" counted_as_launched
    is "$name: all timed" "$(look timed)" "timed 1000"
    is "$name: on the one queue there is" "$(look queue | wc -l)" 1
    id=$("$O/rtl-top" -p "$program" --json -n 1 | jq '.queues[0].id')
    is "$name: which has the number that it has without the trying" "$id" "${first_id:-$id}"
    first_id=$id
    is "$name: nothing to say" "$(look note)" ""
    close_scene
    is "$name: ends well, in silence" "$status $(without_runtimes_own <"$work/err")" "0 "
done
finish

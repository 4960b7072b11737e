#!/bin/sh
# The check for batched doorbells on releases that may have them, on the real runtimes at hand, with or without batches.
# It leaves nothing behind, and every dispatch is counted and timed.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

newer=$tap_top/$O/tests/programs/intercept_newer_preload.so
for tools in "$tap_top/$O/librtl.so" "$newer $tap_top/$O/librtl.so"; do
    case $tools in *newer*) name="check for batches" ;; *) name="no check for batches" ;; esac
    play any
    check "$name: every dispatch is settled" wait_until 60 settled 0
    check "$name: counts equal the program's" counted_as_launched
    is "$name: every dispatch is timed" "$(dump_segment timed)" "timed 1000"
    is "$name: the one queue is listed" "$(dump_segment queue | wc -l)" 1
    id=$("$O/rtl-top" -p "$program" --json -n 1 | jq '.queues[0].id')
    is "$name: the queue's number is the same" "$id" "${first_id:-$id}"
    first_id=$id
    is "$name: the segment has no note" "$(dump_segment note)" ""
    close_scene
    is "$name: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "
done
finish

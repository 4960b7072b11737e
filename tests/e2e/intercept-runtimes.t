#!/bin/sh
# Two HSA runtimes in one process, as with a wheel that brings its own beside the system's: two real ones, from two files.
# The library traces the first to start. rtl-top counts the second's kernels from outside and shows a note. The second's end
# changes nothing in the first's names, counts and times.
# shellcheck disable=SC2119 # play and observe without arguments
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

library=$tap_top/$O/librtl.so
dump=$O/tests/programs/intercept_dump

# The second runtime is a copy, with a copy of the thunk if that is a separate library. The copies are renamed, as in wheels,
# because the loader treats libraries of one name as one library.
system=/usr/lib/x86_64-linux-gnu
[ -z "${RTL_RELEASE:-}" ] || system=${VGPU_RELEASES:-$tap_top/cache/releases}/$RTL_RELEASE/usr/lib/x86_64-linux-gnu
wheel=$work/wheel
mkdir "$wheel"
for file in libhsa-runtime64.so.1 libhsakmt.so.1; do
    [ ! -e "$system/$file" ] ||
        sed 's/libhsakmt\.so\.1/libhsakmw.so.1/g' "$system/$file" >"$wheel/$(echo "$file" | sed 's/kmt/kmw/')"
done
LD_LIBRARY_PATH=$wheel${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

begin="$O/tests/programs/intercept_runtimes $system/libhsa-runtime64.so.1 $wheel/libhsa-runtime64.so.1"
dump_segment() { "$dump" "$program" "$@" 2>&1; }
segment_word() { dump_segment "$1" | cut -d' ' -f2; }

traced_as_launched() { # PREFIX: every dispatch is counted and timed
    send_all "done"
    sed -n "s/^launched \($1[0-9]*\) \([0-9]*\)/\1 \2 \2/p" "$work/out" | awk '{ n[$1] = $0 } END { for (k in n) print n[k] }' |
        sort >"$work/wanted"
    wait_until 60 traced_as_wanted "$1"
    traced_as_wanted "$1"
}
traced_as_wanted() {
    dump_segment kernel | awk -v p="$1" 'index($2, p) == 1 { print $2, $3, $4 }' | sort >"$work/traced"
    test -s "$work/wanted" && diff "$work/wanted" "$work/traced"
}
# The library's totals of the kernels with that prefix equal the software GPU's
totals_are_true() { # PREFIX
    awk -F'\t' -v p="$1" 'index($7, p) == 1 { t[$7] += $5 - $4 } END { for (k in t) print k, t[k] }' "$work/truth" |
        sort >"$work/true"
    dump_segment kernel | awk -v p="$1" 'index($2, p) == 1 { print $2, $6 }' | sort >"$work/timed"
    test -s "$work/true" && diff "$work/true" "$work/timed"
}

start_viewer() { # as a user does
    rm -f "$work/json"
    "$O/rtl-top" -p "$program" --json -d 0.2 >"$work/json" 2>"$work/observe.err" 3>&- &
    observer=$!
    tap_pids="$tap_pids $observer"
    wait_until 60 sh -c "test -s '$work/json' || ! kill -0 $observer"
}
all_as_launched() { # each tally includes the earlier ones, so use the last
    sed -n 's/^launched //p' "$work/out" | awk '{ n[$1] = $2 } END { for (k in n) print k, n[k] }' | sort >"$work/launched"
    query_frame '.kernels[] | select(.name | startswith("(") | not) | "\(.name) \(.calls)"' | sort >"$work/counted"
    test -s "$work/launched" && diff "$work/launched" "$work/counted"
}

# --- both dispatch, the second shuts down first ---
tools=$library
play
send_all open 0 fast
send_all run 0 320
is "one runtime: no note" "$(dump_segment note)" ""
send_all open 1 more
send_all both 1600
check "two runtimes: the first's kernels are counted and timed" traced_as_launched fast
check "two runtimes: the first's times are true" totals_are_true fast
is "two runtimes: the library counts no dispatch of the second" "$(segment_word counted)" 1920
is "two runtimes: the segment has the note another_runtime" "$(dump_segment note)" "note another_runtime"
is "two runtimes: one line on standard error names the second" \
    "$(grep -c "^librtl: a second HSA runtime in this process is not traced: $wheel/libhsa-runtime64.so.1\$" "$work/err")" 1
checked=$("$O/rtl-top" check -p "$program")
has "two runtimes: check says that the second is not traced" "$checked" 'note .*a second HSA runtime is not traced'
has "two runtimes: check names the first's file" "$checked" "one of several: .*$(realpath "$system/libhsa-runtime64.so.1")\$"
has "two runtimes: check names the second's file" "$checked" "one of several: $wheel/libhsa-runtime64.so.1\$"
has "two runtimes: the coverage line says that the second is not traced" \
    "$("$O/rtl-top" -p "$program" -b -n 1 2>&1)" '; a second HSA runtime is not traced'
start_viewer
send_all both 1600
send_all "done"
is "two runtimes: JSON has the note" "$(query_frame '.notes | join(" ")')" another_runtime
check "two runtimes: each dispatch is counted once, the second's from outside" wait_until 60 all_as_launched
is "two runtimes: the second's queue is marked" "$(query_frame '[.queues[] | .way_why == "past_library"] | sort | join(" ")')" "false true"
is "two runtimes: the second's dispatches are untimed, under their own reason" "$(query_frame .dispatches.untimed.observed)" 3200
is "two runtimes: the queues of both are on the one GPU" "$(query_frame '[.queues[].gpu] | unique | length') $(query_frame '.gpus | length')" "1 1"

send_all close 1
is "the second shut down: the first stays live" "$(segment_word state)" live
send_all run 0 1600
check "the second shut down: the first's kernels are counted and timed" traced_as_launched fast
check "the second shut down: the first's times are true" totals_are_true fast
is "the second shut down: nothing is unknown or untimed" "$(dump_segment untimed_total) $(dump_segment kernel | grep -c '(')" "untimed_total 0 0"

# --- the second is loaded again; both start and stop once more, which only changes a reference count ---
send_all drop 1
send_all open 1 more
send_all again 1
send_all again 0
send_all both 320
check "the second again: the first's kernels are counted and timed" traced_as_launched fast
is "the second again: the first stays live" "$(segment_word state)" live
check "the second again: each dispatch is counted once" wait_until 60 all_as_launched
is "the second again: its line on standard error is not repeated" "$(grep -c '^librtl: ' "$work/err")" 1

# --- the first shuts down, the second stays ---
send_all close 0
is "the first shut down: the state is unloaded" "$(segment_word state)" unloaded
send_all run 1 320
check "the first shut down: its names and counts are kept" traced_as_launched fast
check "the first shut down: the second's dispatches are still counted from outside" wait_until 60 all_as_launched
end_process "$observer"
send_all close 1
send_all open 1 next
if grep -q '^refused' "$work/out"; then
    skip "the second starts alone: it is traced" "this release can't start twice in a process"
else
    send_all run 1 320
    check "the second starts alone: it is traced, and timed" traced_as_launched next
    check "the second starts alone: its times are true" totals_are_true next
    is "the second starts alone: the state is live" "$(segment_word state)" live
    send_all open 0 last
    send_all both 320
    check "the first is loaded beside the second: the second stays traced" traced_as_launched next
    send_all close 0
    send_all run 1 320
    check "the first shuts down beside the second: the second stays traced" traced_as_launched next
    is "the first shuts down beside the second: the state is live" "$(segment_word state)" live
fi
close_play
is "two runtimes: exit status is 0" "$status" 0

# --- without the library ---
tools=
play
send_all open 0 fast
send_all open 1 more
observe
send_all both 1600
send_all "done"
check "untraced: dispatches of both runtimes are observed, by name" wait_until 60 all_as_launched
is "untraced: no other name is seen" "$(query_frame '[.kernels[] | select(.name | startswith("(unknown"))] | length')" 0
end_process "$observer"
# a runtime that is loaded while rtl-top watches
send_all close 1
send_all drop 1
observe
send_all open 1 next
send_all both 1600
next_as_launched() { test "$(query_frame '[.kernels[] | select(.name | startswith("next")) | .calls] | add')" = 1600; }
check "untraced: a runtime that starts later is observed, by name" wait_until 60 next_as_launched
end_process "$observer"
close_play
is "untraced: exit status is 0" "$status" 0
finish

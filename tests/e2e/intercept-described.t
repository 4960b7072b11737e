#!/bin/sh
# Queues made by hsa_amd_queue_create, and other functions of the newest runtimes. On the real runtime, the library finds the
# slots of the functions that it exports by asking it. Behind a stand-in for a runtime with hsa_amd_queue_create, all queues
# that can be intercepted are intercepted, and the application sees what it would see without the library.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

# Where intercept queues overwrite memory, the library makes none. It then leaves a queue alone that can't be native.
may=yes
may_intercept || may=no
way=$(tests/e2e/queue-path "${RTL_RELEASE:-}") # the path of queues that can be either
# messages_at_end: print standard error without the runtime's own lines and without those about queues that are left alone
# here.
messages_at_end() {
    if [ "$may" = no ]; then set -- -v '^librtl: .*intercept queues overwrite memory'; else set -- .; fi
    filter_runtimes_lines <"$work/err" | grep "$@"
}
counts_agree() { # without the queue whose ring lies in the GPU's memory, if the library leaves it alone
    [ "$may" = yes ] || sed -i '/^launched hsa_03 /d' "$work/out"
    counted_as_launched
}

tools=$tap_top/$O/tests/programs/intercept_slots_preload.so
play any
close_scene
is "slots: the program's exit status is 0" "$status" 0
# shellcheck disable=SC2016 # awk's own variables
check "slots: every function is found in its own slot" awk '
    /: slot / {
        asked[$1]++; slot = $3 + 0; first = (asked[$1] - 1) * 5; total++
        if ($5 + 0 != (slot >= first ? slot : -1)) { print; wrong++ }
    }
    END { print total + 0 " answers"; exit total < 32 || wrong }' "$work/out"
has "slots: a function of another table is not found" "$(cat "$work/out")" '^hsa_queue_destroy, of the other table: found -1$'
has "slots: the table is unchanged afterwards" "$(cat "$work/out")" '^the table is as it was$'

tools=$tap_top/$O/tests/programs/intercept_described_preload.so
scenes=intercept_described
export DESCRIBED_TOOL DESCRIBED_SLOT DESCRIBED_AS DESCRIBED_STEP
DESCRIBED_TOOL='' DESCRIBED_SLOT=79 DESCRIBED_AS=runtime DESCRIBED_STEP=16
play
if grep -q 'too old' "$work/err"; then # the stand-in needs release 5.6; make check-releases runs newer ones
    close_scene
    finish
fi
close_scene
is "without the library: exit status is 0, and the runtime made all queues" "$status $(messages_at_end)" "0 made 5, gave 0 0 0"
grep -vE '^(launched|unseen)' "$work/out" >"$work/plain"
has "without the library: the array got its queues" "$(cat "$work/plain")" '^queue 6 is there, 1024 packets$'

DESCRIBED_TOOL=$tap_top/$O/librtl.so
# SLOT, the table's step, whose function it is, and the number of queues that the function makes: all of them, or those
# that don't become intercept queues.
for case in "79 16 runtime 1" "78 15 runtime 1" "91 17 runtime 1" "79 16 tool 5"; do
    # shellcheck disable=SC2086 # several words
    set -- $case
    DESCRIBED_SLOT=$1 DESCRIBED_STEP=$2 DESCRIBED_AS=$3
    name="slot $1, step $2, $3's"
    made="$4, gave 0 0 1" # the requested high priority is set on the intercept queue
    # Native queues are made by the function, with their priorities. Where another tool came first they are intercept
    # queues.
    case $way-$3 in native-runtime) made="4, gave 0 0 0" ;; esac
    dispatches=660 refused=1 elsewhere=ring_moved
    if [ "$may" = no ]; then made="5, gave 0 0 0" dispatches=600 refused=2 elsewhere=batch_unsafe; fi
    play
    check "$name: every dispatch is settled" wait_until 60 settled 0
    check "$name: counts equal the program's" counts_agree
    is "$name: every dispatch is timed" "$(dump_segment timed)" "timed $dispatches"
    has "$name: the queue that can't be intercepted is counted as refused" "$(dump_segment over)" " queues $refused "
    is "$name: notes report the refused queue and the ring in the GPU's memory" "$(dump_segment note | tr '\n' ' ')" "note queue_not_intercepted note $elsewhere "
    close_scene
    is "$name: ends well, and queues have the requested priorities" "$status $(messages_at_end)" "0 made $made"
    is "$name: the application's output is the same" "$(grep -vE '^(launched|unseen)' "$work/out")" "$(cat "$work/plain")"
done

# A queue that is lent to several users can't be an intercept queue, but it can be a native one.
borrowed=launched
[ "${RTL_QUEUES:-auto}" != intercept ] || borrowed=
query_json() { "$O/rtl-top" -p "$program" --json -n 1 | jq -r "$1"; }
copies_agree() {
    query_json '.copies[] | "copies \(.direction) \(.count) \(.bytes)"' | sort >"$work/copies"
    grep '^copies' "$work/out" | sort | diff - "$work/copies" &&
        test "$(query_json '.copies | all(.count == .timed + (.untimed | add // 0))')" = true
}
DESCRIBED_TOOL=''
play copy
close_scene
is "copies in batches without the library: exit status is 0" "$status $(messages_at_end)" "0 made 5, gave 0 0 0"
grep -vE '^(launched|unseen)' "$work/out" >"$work/plain_copy"
DESCRIBED_TOOL=$tap_top/$O/librtl.so DESCRIBED_AS=runtime
gpu="--copy-truth $work/engines"
play batches
check "batches of copies: every copy is counted, with its bytes" wait_until 60 copies_agree
is "batches of copies: copies for which there is room are timed" \
    "$(query_json '[.copies[] | .direction, .timed, (.untimed | to_entries[] | select(.value > 0) | .key, .value)] | join(" ")')" \
    "h2d 64 no_room 36 d2h 2"
# All pieces have one size. The runtime's clock gives their times to the tick, a conversion of its own to 1 %.
times_near_engines() {
    awk 'NR > 1 && $5 == 4096 { t = $4 - $3; if (!n++ || t < low) low = t; if (t > high) high = t }
        END { print n + 0, low, high }' "$work/engines" >"$work/took"
    query_json '.copies[] | select(.direction == "h2d") | "\(.min_ns) \(.max_ns)"' >>"$work/took"
    cat "$work/took"
    paste -d' ' -s "$work/took" | awk '{ exit !($1 == 101 && $4 >= 0.99 * $2 && $5 <= 1.01 * $3) }'
}
check "batches of copies: times equal the engines'" wait_until 60 times_near_engines
gpu=
close_scene
is "batches of copies: exit status is 0" "$status $(messages_at_end)" "0 made 0, gave 0 0 0"
play copy
check "a batch and single copies: every copy is counted, with its bytes" wait_until 60 copies_agree
has "a batch of another version: reaches the runtime's function" "$(cat "$work/out")" \
    '^batch of another version: 0x1001$'
has "a batch of another version: the segment has the note copies_unseen" "$(dump_segment note)" '^note copies_unseen$'
cp "$work/out" "$work/seen"
if [ "$borrowed" = launched ]; then
    sed -i 's/^borrowed hsa/launched hsa/; s/^launched hsa_05 [0-9]*$//' "$work/out"
    echo "launched hsa_05 90" >>"$work/out"
else
    has "a lent queue: each request is counted as refused" "$(dump_segment over)" ' queues 4 '
fi
check "a lent queue: every dispatch is settled" wait_until 60 settled 0
check "a lent queue: counts equal the program's" counts_agree
close_scene
is "copies in batches, a lent queue: exit status is 0" "$status" 0
is "copies in batches, a lent queue: the application's output is the same" \
    "$(grep -vE '^(launched|unseen)' "$work/seen")" "$(cat "$work/plain_copy")"

DESCRIBED_AS=runtime
play none
check "kernels with the application's signals: every dispatch is settled" wait_until 60 settled 0
is "kernels with the application's signals: every dispatch is timed" "$(dump_segment timed) $(dump_segment untimed | awk '{ n += $3 } END { print n }')" "timed 20 0"
close_scene
play engine
check "a copy engine's queue beside: every dispatch is settled" wait_until 60 settled 0
is "a copy engine's queue beside: no dispatch is timed" "$(dump_segment timed) $(dump_segment untimed | awk '{ n += $3 } END { print n }')" "timed 0 20"
is "a copy engine's queue beside: the segment has no note" "$(dump_segment note)" ""
close_scene

for step in 16 15; do
    DESCRIBED_AS=hidden DESCRIBED_STEP=$step
    play copy
    name="functions that can't be found, step $step"
    is "$name: nothing is counted" "$(dump_segment counted)" "counted 0"
    is "$name: the segment has both notes" "$(dump_segment note | tr '\n' ' ')" "note queue_not_intercepted note copies_unseen "
    close_scene
    has "$name: a line on standard error says so" "$(cat "$work/err")" \
        '^librtl: this runtime may make queues in ways that can.t be hooked \(hsa_amd_queue_create\): those are not counted$'
    is "$name: the application's output is the same" \
        "$(grep -vE '^(launched|unseen)' "$work/out")" "$(cat "$work/plain_copy")"
done
finish

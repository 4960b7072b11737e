#!/bin/sh
# The library on the real runtime, one scene after another: every dispatch is counted under its kernel's name, and timed
# or counted under a reason, whatever is created and destroyed meanwhile.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

play slow
check "slow: all but the slow kernel are settled" wait_until 60 settled 1
check "slow: counts equal the program's" counted_as_launched
is "slow: all other kernels are timed" "$(dump_segment timed)" "timed 20000"
close_scene
is "slow: the queue is destroyed while the kernel runs, exit status is 0" "$status $(filter_runtimes_lines <"$work/err")" "0 "

play overtake
check "overtake: kernels behind the slow one are settled" wait_until 60 settled 1
check "overtake: counts equal the program's" counted_as_launched
close_scene
is "overtake: exit status is 0" "$status" 0

play queues
check "queues: 300 queues later every dispatch is settled" wait_until 60 settled 0
check "queues: counts equal the program's" counted_as_launched
check "queues: timed dispatches equal those that the GPU completed" wait_until 60 timed_as_completed
check "queues: others have the reason queue_gone" test "$(dump_segment untimed | awk '$2 == "queue_gone" { print $3 }')" -gt 0
is "queues: no slot is lost" "$(dump_segment note)" ""
check "queues: signals return to the pool" test "$(dump_segment signals | cut -d' ' -f7)" -le 256
close_scene
is "queues: exit status is 0" "$status" 0

play crowd
check "crowd: with 140 queues every dispatch is settled" wait_until 60 settled 0
check "crowd: counts equal the program's" counted_as_launched
is "crowd: the segment has the note queues_shared" "$(dump_segment note)" "note queues_shared"
close_scene
is "crowd: exit status is 0" "$status" 0

play reuse
check "reuse: every dispatch is settled" wait_until 60 settled 0
check "reuse: kernels at reused addresses have their own names" counted_as_launched
check "reuse: addresses were reused" test "$(sed -n 's/^reused //p' "$work/out")" -gt 10
is "reuse: no kernel is unknown" "$(dump_segment note)" ""
close_scene
is "reuse: exit status is 0" "$status" 0

play many
check "many: every dispatch is settled" wait_until 60 settled 0
is "many: 20,000 kernels are loaded, 200 rows are used" "$(dump_segment kernel | wc -l)" 200
close_scene
play all
check "all: every dispatch is settled" wait_until 60 settled 0
is "all: 20,000 kernels are counted" "$(dump_segment counted)" "counted 20000"
is "all: kernels without a row are counted as others" "$(dump_segment kernel | awk '/^kernel \(other kernels\)/ { print $4 }')" 3618
is "all: the segment has the note kernels_full" "$(dump_segment note)" "note kernels_full"
close_scene
is "all: exit status is 0" "$status" 0

check_own_signals() { # MODE TIMED UNTIMED
    RTL_MODE=$1
    export RTL_MODE
    play own
    check "own signals, $1: every dispatch is settled" wait_until 60 settled 0
    check "own signals, $1: counts equal the program's" counted_as_launched
    is "own signals, $1: untimed ones have the reason own_signal" "$(dump_segment untimed | awk '$2 == "own_signal" { print $3 }')" "$3"
    is "own signals, $1: the others are timed" "$(dump_segment timed)" "timed $2"
    close_scene
    is "own signals, $1: exit status is 0" "$status" 0
}
check_own_signals default 600 0
check_own_signals lite 300 300
unset RTL_MODE

play threads
check "threads: with 16 queues of 16 threads every dispatch is settled" wait_until 60 settled 0
check "threads: counts equal the program's" counted_as_launched
close_scene
is "threads: exit status is 0" "$status" 0

play flood
check "flood: threads outran the GPU; every dispatch is settled" wait_until 60 settled 0
check "flood: counts equal the program's" counted_as_launched
close_scene
is "flood: exit status is 0" "$status" 0

play gate
check "gate: the GPU waited for the program with a full queue; every dispatch is settled" wait_until 60 settled 0
check "gate: counts equal the program's" counted_as_launched
close_scene
is "gate: exit status is 0" "$status" 0

play small
check "small: on a stack of 16 kB every dispatch is settled" wait_until 60 settled 0
check "small: counts equal the program's" counted_as_launched
close_scene
is "small: exit status is 0" "$status" 0

# Waits from submission to start, with a GPU clock that is 50 ppm fast, against the program's and the model's times; with
# the time stamp counter, and without it, as on a machine whose kernel doesn't trust it.
near_percentile() { # PERCENTILE GOT: equal to 1 % and 20 us
    awk -v got="$2" -v p="$1" 'NR == 1000 * p { exit !(got > $1 * 0.99 - 20000 && got < $1 * 1.01 + 20000) }' "$work/waits"
}
first_queue() { dump_segment queue | head -n 1; } # the queue that has the kernels
check_line() { # NAME
    gpu='--drift 50'
    play line
    unset gpu
    check "$1: every dispatch is settled" wait_until 60 settled 0
    is "$1: each wait is recorded" "$(first_queue | awk '{ print $16 }')" 1000
    truth_has 1000 'fast99$'
    awk -F'\t' '/^submitted fast99/ { split($0, w, " "); at[++n] = w[3] } $7 == "fast99" { print $4 - at[++i] }' "$work/out" \
        "$work/truth" | sort -n >"$work/waits"
    is "$1: the truth is complete" "$(grep -c . "$work/waits")" 1000
    check "$1: the median of the waits is right" near_percentile 0.5 "$(first_queue | awk '{ print $17 }')"
    check "$1: the 99th percentile of the waits is right" near_percentile 0.99 "$(first_queue | awk '{ print $18 }')"
    is "$1: there is no gap between kernels" "$(first_queue | awk '{ print $20, $21, $22 }')" "999 0 0"
    is "$1: each kernel takes 100 us, to the tick" "$(dump_segment kernel | awk '$2 == "fast99" { print $6, $7, $8 }')" \
        "100000000 100000 100000"
    close_scene
}
check_line "line"
LD_PRELOAD=$tap_top/$O/tests/programs/intercept_refuse_preload.so
REFUSE=tsc
export LD_PRELOAD REFUSE
check_line "line without the time stamp counter"

# Without membarrier the dispatch path executes the fence itself.
REFUSE=membarrier
play threads
check "no membarrier: every dispatch is settled" wait_until 60 settled 0
check "no membarrier: counts equal the program's" counted_as_launched
check "no membarrier: the worker parks" wait_until 60 sh -c "'$dump' $program worker | grep -q 'parked 1'"
close_scene
is "no membarrier: exit status is 0" "$status" 0
unset LD_PRELOAD REFUSE

# Busy time is the union over all queues of a GPU.
play crowd
check "busy: every dispatch is settled" wait_until 60 settled 0
truth_has 1400 'fast[0-9]+$'
awk -F'\t' 'NR > 1 && $7 ~ /^fast/ { print $4, $5 }' "$work/truth" | sort -n | awk '
    { if ($1 > end) { busy += end - start; start = $1; end = $2 } else if ($2 > end) end = $2 }
    END { printf "%d\n", busy + end - start }' >"$work/union"
check "busy: the truth has busy time" test "$(cat "$work/union")" -gt 0
check "busy: the union of all intervals, to 1 %" awk -v want="$(cat "$work/union")" -v got="$(dump_segment gpu | awk '{ print $5 }')" \
    'BEGIN { exit !(got > want * 0.99 && got < want * 1.01) }'
close_scene

RTL_SIGNALS=16
export RTL_SIGNALS
play any
check "few signals: every dispatch is settled" wait_until 60 settled 0
check "few signals: counts equal the program's" counted_as_launched
check "few signals: never more than allowed were created" test "$(dump_segment signals | cut -d' ' -f7)" -le 16
check "few signals: dispatches without a signal have the reason no_signal" test "$(dump_segment untimed | awk '$2 == "no_signal" { print $3 }')" -gt 0
close_scene
unset RTL_SIGNALS

# The pool destroys a burst's signals after some time of little use, and then doesn't create and destroy signals
# alternately.
play trickle
check "trickle: the burst creates signals" test "$(dump_segment signals | cut -d' ' -f7)" -ge 3000
check "trickle: the pool destroys them" wait_until 60 sh -c "'$dump' $program signals | awk '{ exit !(\$7 - \$9 <= 200) }'"
keeps_signals() { # a worker that doesn't run for long needs more signals, once
    before=$(dump_segment signals | cut -d' ' -f7,9)
    calls=$(dump_segment counted | cut -d' ' -f2)
    wait_until 60 sh -c "test \$('$dump' $program counted | cut -d' ' -f2) -gt $((calls + 200))" &&
        test "$(dump_segment signals | cut -d' ' -f7,9)" = "$before"
}
for _ in 1 2 3; do keeps_signals && break; done
check "trickle: the number of signals stays the same" keeps_signals
close_scene
is "trickle: exit status is 0" "$status" 0
finish

#!/bin/sh
# The library on the real runtime, one scene after another: every dispatch counted under its kernel's name, timed or under
# a reason, whatever comes and goes meanwhile.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

play slow
check "slow: all but the slow kernel are over" wait_until 60 settled 1
check "slow: counts are the program's" counted_as_launched
is "slow: everybody else was timed" "$(look timed)" "timed 20000"
close_scene
is "slow: the queue is destroyed under the kernel" "$status $(without_runtimes_own <"$work/err")" "0 "

play overtake
check "overtake: those behind the slow one on its own queue are over" wait_until 60 settled 1
check "overtake: counts are the program's" counted_as_launched
close_scene
is "overtake: ends well" "$status" 0

play queues
check "queues: all accounted for, 300 queues later" wait_until 60 settled 0
check "queues: counts are the program's" counted_as_launched
check "queues: timed is what the GPU completed" wait_until 60 timed_as_completed
check "queues: the rest went with its queue" test "$(look untimed | awk '$2 == "queue_gone" { print $3 }')" -gt 0
is "queues: no slot is lost" "$(look note)" ""
check "queues: signals came back" test "$(look signals | cut -d' ' -f7)" -le 256
close_scene
is "queues: ends well" "$status" 0

play crowd
check "crowd: 140 queues, all accounted for" wait_until 60 settled 0
check "crowd: counts are the program's" counted_as_launched
is "crowd: the shared slot is said" "$(look note)" "note queues_shared"
close_scene
is "crowd: ends well" "$status" 0

play reuse
check "reuse: all over" wait_until 60 settled 0
check "reuse: kernels at reused addresses have their own names" counted_as_launched
check "reuse: addresses were reused" test "$(sed -n 's/^reused //p' "$work/out")" -gt 10
is "reuse: none was unknown" "$(look note)" ""
close_scene
is "reuse: ends well" "$status" 0

play many
check "many: all over" wait_until 60 settled 0
is "many: 20,000 loaded, 200 rows taken" "$(look kernel | wc -l)" 200
close_scene
play all
check "all: all over" wait_until 60 settled 0
is "all: 20,000 kernels counted" "$(look counted)" "counted 20000"
is "all: those without a row count as others" "$(look kernel | awk '/^kernel \(other kernels\)/ { print $4 }')" 3618
is "all: and it is said" "$(look note)" "note kernels_full"
close_scene
is "all: ends well" "$status" 0

own() { # mode, timed, left alone
    RTL_MODE=$1
    export RTL_MODE
    play own
    check "own signals, $1: all over" wait_until 60 settled 0
    check "own signals, $1: counts are the program's" counted_as_launched
    is "own signals, $1: left alone and counted so" "$(look untimed | awk '$2 == "own_signal" { print $3 }')" "$3"
    is "own signals, $1: the others timed" "$(look timed)" "timed $2"
    close_scene
    is "own signals, $1: ends well" "$status" 0
}
own default 600 0
own lite 300 300
unset RTL_MODE

play threads
check "threads: 16 queues of 16 threads, all accounted for" wait_until 60 settled 0
check "threads: counts are the program's" counted_as_launched
close_scene
is "threads: ends well" "$status" 0

play flood
check "flood: threads outran the GPU; all accounted for" wait_until 60 settled 0
check "flood: counts are the program's" counted_as_launched
close_scene
is "flood: ends well" "$status" 0

play gate
check "gate: the GPU waited for the program with a full queue; all accounted for" wait_until 60 settled 0
check "gate: counts are the program's" counted_as_launched
close_scene
is "gate: ends well" "$status" 0

play small
check "small: dispatches on a stack of 16 kB" wait_until 60 settled 0
check "small: counts are the program's" counted_as_launched
close_scene
is "small: ends well" "$status" 0

# Submit to start, with a GPU clock that runs 50 ppm fast, against what the program and the model say; with the time stamp
# counter and, where the kernel doesn't trust it, without.
near() { # percentile got: to 1 % and 20 us
    awk -v got="$2" -v p="$1" 'NR == 1000 * p { exit !(got > $1 * 0.99 - 20000 && got < $1 * 1.01 + 20000) }' "$work/waits"
}
queue() { look queue | head -n 1; } # the one that the kernels are on
line() { # name
    gpu='--drift 50'
    play line
    unset gpu
    check "$1: all over" wait_until 60 settled 0
    is "$1: each wait is known" "$(queue | awk '{ print $16 }')" 1000
    truth_has 1000 'fast99$'
    awk -F'\t' '/^submitted fast99/ { split($0, w, " "); at[++n] = w[3] } $7 == "fast99" { print $4 - at[++i] }' "$work/out" \
        "$work/truth" | sort -n >"$work/waits"
    is "$1: the truth knows all" "$(grep -c . "$work/waits")" 1000
    check "$1: median of the waits" near 0.5 "$(queue | awk '{ print $17 }')"
    check "$1: 99th percentile of the waits" near 0.99 "$(queue | awk '{ print $18 }')"
    is "$1: no gap between them" "$(queue | awk '{ print $20, $21, $22 }')" "999 0 0"
    is "$1: 100 us each, to the tick" "$(look kernel | awk '$2 == "fast99" { print $6, $7, $8 }')" \
        "100000000 100000 100000"
    close_scene
}
line "line"
LD_PRELOAD=$tap_top/$O/tests/programs/intercept_refuse_preload.so
REFUSE=tsc
export LD_PRELOAD REFUSE
line "line without the counter"

# Without membarrier the dispatch path pays for the fence itself.
REFUSE=membarrier
play threads
check "no membarrier: all accounted for" wait_until 60 settled 0
check "no membarrier: counts are the program's" counted_as_launched
check "no membarrier: it parks" wait_until 60 sh -c "'$dump' $program worker | grep -q 'parked 1'"
close_scene
is "no membarrier: ends well" "$status" 0
unset LD_PRELOAD REFUSE

# The share of busy time is the union over all queues of a GPU.
play crowd
check "busy: all over" wait_until 60 settled 0
truth_has 1400 'fast[0-9]+$'
awk -F'\t' 'NR > 1 && $7 ~ /^fast/ { print $4, $5 }' "$work/truth" | sort -n | awk '
    { if ($1 > end) { busy += end - start; start = $1; end = $2 } else if ($2 > end) end = $2 }
    END { printf "%d\n", busy + end - start }' >"$work/union"
check "busy: the union of all intervals" test "$(cat "$work/union")" -gt 0
check "busy: to 1 %" awk -v want="$(cat "$work/union")" -v got="$(look gpu | awk '{ print $5 }')" \
    'BEGIN { exit !(got > want * 0.99 && got < want * 1.01) }'
close_scene

RTL_SIGNALS=16
export RTL_SIGNALS
play any
check "few signals: all accounted for" wait_until 60 settled 0
check "few signals: counts are the program's" counted_as_launched
check "few signals: never more than allowed" test "$(look signals | cut -d' ' -f7)" -le 16
check "few signals: going without is counted" test "$(look untimed | awk '$2 == "no_signal" { print $3 }')" -gt 0
close_scene
unset RTL_SIGNALS

# What a burst needed is given back after some time of little use, and nothing is made and destroyed by turns after that.
play trickle
check "trickle: the burst made signals" test "$(look signals | cut -d' ' -f7)" -ge 3000
check "trickle: they are given back" wait_until 60 sh -c "'$dump' $program signals | awk '{ exit !(\$7 - \$9 <= 200) }'"
goes_on_with_those() { # a worker that doesn't get the processor for long needs more of them, once
    before=$(look signals | cut -d' ' -f7,9)
    calls=$(look counted | cut -d' ' -f2)
    wait_until 60 sh -c "test \$('$dump' $program counted | cut -d' ' -f2) -gt $((calls + 200))" &&
        test "$(look signals | cut -d' ' -f7,9)" = "$before"
}
for _ in 1 2 3; do goes_on_with_those && break; done
check "trickle: it goes on with the signals that there are" goes_on_with_those
close_scene
is "trickle: ends well" "$status" 0
finish

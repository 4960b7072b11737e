#!/bin/sh
# Four queues of 16,384 packets, kept full: all are timed, by default. The limit of the pool follows the queues, the pool
# grows as far as it is used, from 64 on, and shrinks again; another flood takes no more memory than the first.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
. "$(dirname "$0")/exact.sh"
scenes=intercept_flood
each=40000
all=$((4 * each))
limit=$((4096 + 4 * 16384 * 5 / 4))
unset RTL_SIGNALS RTL_MODE

signals() { # in_use | free | created | destroyed | peak | limit
    look signals | tr ' ' '\n' | grep -A 1 "^$1\$" | tail -n 1
}
resident() { # in | behind: of the last flood
    sed -n "s/^resident $1 it //p" "$work/out" | tail -n 1
}
# The program wrote a packet and got no turn for 100 ms before it rang: a busy machine's doing, and no matter of signals.
let_go() {
    look untimed | awk '$2 == "let_go" { print $3 }'
}
shrunk() { # 64, or what the four queues may hold at hand and half as many again
    test "$(($(signals created) - $(signals destroyed)))" -le 256
}

# kernels of 40 us on each queue: 10 us a kernel, of which the program has to submit one
echo 'fast* fixed 40us' >"$work/script"
for _ in 1 2 3; do
    play "$each"
    wait_until 60 settled 0
    [ "$(let_go)" != 0 ] || break
    close_scene
done
check "the flood is over" settled 0
check "counts are the program's" counted_as_launched
echo "# $(look untimed | grep -v ' 0$' | tr '\n' ' ')"
is "every one is timed" "$(look counted) $(look timed) $(look untimed_total)" "counted $all timed $all untimed_total 0"
check "the times are the GPU's" wait_until 60 times_are_true
is "the limit follows the queues" "$(signals limit)" "$limit"
check "so many were in flight at once" test "$(signals peak)" -ge 40000
check "and no more were made than there may be" test "$(signals created)" -le "$limit"
"$O/rtl-top" -p "$program" --json -n 1 >"$work/json"
is "--json tells the pool's use against its limit" \
    "$(jq -c '.signals | [.in_use, .limit, .created >= .peak, .peak >= 40000]' "$work/json")" "[0,$limit,true,true]"
has "so does the text" "$("$O/rtl-top" -p "$program" -b -n 1)" "signals in use 0 .* limit $limit\$"

check "the pool shrinks while nothing is in flight" wait_until 120 shrunk
first=$(resident in)
echo >&3
check "another flood" wait_until 120 grep -q '^holding 2' "$work/out"
check "the second flood is over" wait_until 60 settled 0
echo "# $(look untimed | grep -v ' 0$' | tr '\n' ' ')"
is "every one is timed again" "$(look counted) $(look timed)" "counted $((2 * all)) timed $((2 * all - $(let_go)))"
check "counts are the program's again" counted_as_launched
# 65,536 signals that were lost would be half as much again; how many the first flood took is a matter of its turns
check "the second flood takes no more memory: $first kB, then $(resident in)" test "$(resident in)" -le "$((first + first / 4))"
close_scene
is "it ends well, in silence" "$status $(without_runtimes_own <"$work/err")" "0 "

# the same with a limit of the user's: what finds no signal is counted
RTL_SIGNALS=1000
export RTL_SIGNALS
play 5000
check "a limit of the user's: all over" wait_until 60 settled 0
check "a limit of the user's: counts are the program's" counted_as_launched
is "a limit of the user's stands" "$(signals limit)" 1000
check "a limit of the user's: no more were made" test "$(signals created)" -le 1000
is "a limit of the user's: what found no signal is counted" \
    "$(($(look timed | cut -d' ' -f2) + $(look untimed | awk '$2 == "no_signal" { print $3 }')))" 20000
close_scene
unset RTL_SIGNALS

# HIP: four streams on four hardware queues, from a thread each
echo 'launch_* fixed 60us' >"$work/script"
run_exact "HIP, four streams" --script "$work/script" -- "$O/tests/programs/hip_launches" --launches 160000 --streams 4 --threads 4
is "HIP, four streams: every one is timed" "$(jq -c '.dispatches | [.counted, .timed + .untimed.let_go]' "$work/json")" '[160000,160000]'
check "HIP, four streams: more were in flight at once than there were signals for, once" \
    jq -e '.signals.peak > 4096' "$work/json"
finish

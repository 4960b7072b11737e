#!/bin/sh
# Four queues of 16,384 packets, kept full: by default every dispatch is timed. The pool's limit follows the queues. The pool
# grows on demand, from 64 signals on, and shrinks again; a second flood takes no more memory than the first.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
. "$(dirname "$0")/exact.sh"
scenes=intercept_flood
each=40000
all=$((4 * each))
limit=$((4096 + 4 * 16384 * 5 / 4))
unset RTL_SIGNALS RTL_MODE

signal_value() { # in_use | free | created | destroyed | peak | limit
    dump_segment signals | tr ' ' '\n' | grep -A 1 "^$1\$" | tail -n 1
}
resident_kb() { # in | behind: resident memory during or after the last flood
    sed -n "s/^resident $1 it //p" "$work/out" | tail -n 1
}
# Counts packets whose thread got no CPU for 100 ms between write and doorbell: a busy machine causes them, not signals.
count_let_go() {
    dump_segment untimed | awk '$2 == "let_go" { print $3 }'
}
pool_shrank() { # 64, or 1.5 times what four queues may keep in reserve
    test "$(($(signal_value created) - $(signal_value destroyed)))" -le 256
}

# kernels of 40 us on each of four queues: the program has 10 us to submit a kernel
echo 'fast* fixed 40us' >"$work/script"
for _ in 1 2 3; do
    play "$each"
    wait_until 60 settled 0
    [ "$(count_let_go)" != 0 ] || break
    close_scene
done
check "first flood: every dispatch is settled" settled 0
check "first flood: counts equal the program's" counted_as_launched
echo "# $(dump_segment untimed | grep -v ' 0$' | tr '\n' ' ')"
is "first flood: every dispatch is timed" "$(dump_segment counted) $(dump_segment timed) $(dump_segment untimed_total)" "counted $all timed $all untimed_total 0"
check "first flood: times equal the GPU's" wait_until 60 times_are_true
is "default limit of signals follows the queues' sizes" "$(signal_value limit)" "$limit"
check "first flood: at least 40,000 signals were in use at once" test "$(signal_value peak)" -ge 40000
check "first flood: no more signals were made than the limit" test "$(signal_value created)" -le "$limit"
"$O/rtl-top" -p "$program" --json -n 1 >"$work/json"
is "JSON: signals have use, limit and peak" \
    "$(jq -c '.signals | [.in_use, .limit, .created >= .peak, .peak >= 40000]' "$work/json")" "[0,$limit,true,true]"
has "text: signals in use and limit" "$("$O/rtl-top" -p "$program" -b -n 1)" "signals in use 0 .* limit $limit\$"

check "the pool shrinks while nothing is in flight" wait_until 120 pool_shrank
first=$(resident_kb in)
echo >&3
check "second flood begins" wait_until 120 grep -q '^holding 2' "$work/out"
check "second flood: every dispatch is settled" wait_until 60 settled 0
echo "# $(dump_segment untimed | grep -v ' 0$' | tr '\n' ' ')"
is "second flood: every dispatch is timed" "$(dump_segment counted) $(dump_segment timed)" "counted $((2 * all)) timed $((2 * all - $(count_let_go)))"
check "second flood: counts equal the program's" counted_as_launched
# a leak of 65,536 signals would add half of that memory; the first flood's own number of signals varies
check "the second flood takes no more memory: $first kB, then $(resident_kb in)" test "$(resident_kb in)" -le "$((first + first / 4))"
close_scene
is "floods: the program ends with status 0 and an empty standard error" "$status $(filter_runtimes_lines <"$work/err")" "0 "

# With RTL_SIGNALS as limit, dispatches that find no signal are counted
RTL_SIGNALS=1000
export RTL_SIGNALS
play 5000
check "RTL_SIGNALS=1000: every dispatch is settled" wait_until 60 settled 0
check "RTL_SIGNALS=1000: counts equal the program's" counted_as_launched
is "RTL_SIGNALS=1000: the limit is 1,000" "$(signal_value limit)" 1000
check "RTL_SIGNALS=1000: at most 1,000 signals were made" test "$(signal_value created)" -le 1000
is "RTL_SIGNALS=1000: dispatches without a signal are counted as no_signal" \
    "$(($(dump_segment timed | cut -d' ' -f2) + $(dump_segment untimed | awk '$2 == "no_signal" { print $3 }')))" 20000
close_scene
unset RTL_SIGNALS

# HIP: four streams on four hardware queues, one thread each
echo 'launch_* fixed 60us' >"$work/script"
run_exact "HIP, four streams" --script "$work/script" -- "$O/tests/programs/hip_launches" --launches 160000 --streams 4 --threads 4
is "HIP, four streams: every dispatch is timed" "$(jq -c '.dispatches | [.counted, .timed + .untimed.let_go]' "$work/json")" '[160000,160000]'
check "HIP, four streams: more than 4,096 signals were in use at once" \
    jq -e '.signals.peak > 4096' "$work/json"
finish

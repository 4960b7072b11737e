#!/bin/sh
# Real programs on the real runtime, started without the library and observed: HIP, graphs, copies by kernels, several GPUs,
# several processes on them. Counts equal the programs' own tallies. A preloaded library keeps their queues until their end,
# because some programs run only for a moment.
. "$(dirname "$0")/tap.sh"

INTERCEPT_KERNELS=$tap_top/$O/tests/programs
export INTERCEPT_KERNELS
programs=$O/tests/programs
echo '* fixed 5us' >"$work/script"

# start_program NAME [OPTIONS OF tests/vgpu/run] -- PROGRAM ARGS: run it until it holds, with rtl-top observing
start_program() {
    name=$1
    shift
    rm -f "$work/in" "$work/out" "$work/frames" "$work/truth"
    mkfifo "$work/in"
    (LD_PRELOAD=$tap_top/$programs/observe_keep_preload.so exec tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --script "$work/script" \
        --truth "$work/truth" "$@" <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 60 sh -c "grep -q libhsa-runtime64 /proc/$program/maps && ! grep -q vgpu/run /proc/$program/cmdline || ! kill -0 $program"
    # Observe from the beginning, because a queue's ring may be shorter than the launches.
    "$O/rtl-top" -p "$program" --observe --no-children --json -d 0.2 >"$work/frames" 2>"$work/watch.err" 3>&- &
    observer=$!
    tap_pids="$tap_pids $observer"
    wait_until 120 sh -c "grep -q '^holding' '$work/out' || ! kill -0 $program"
    has "$name: the program's own verdict is PASS" "$(cat "$work/out")" '^[a-z_]+: PASS'
}
query_last() { tail -n 2 "$work/frames" | head -n 1 | jq -r "$1"; }
named_kernels() { query_last '.kernels[] | select(.name | startswith("(") | not) | "\(.name) \(.calls)"' | sort; }
# Kernels that the program doesn't list are HIP's own, from HIP's code object.
counts_agree() {
    awk '/^launched/ && $3 { print $2, $3 }' "$work/out" | sort >"$work/launched"
    named_kernels >"$work/counted"
    sed 's/^/# /' "$work/counted" | head -n 5
    test -s "$work/launched" && test -z "$(comm -23 "$work/launched" "$work/counted")"
}
# Lost packets of any kernel are reported.
losses_agree() {
    launched=$(awk '/^launched/ { n += $3 } END { print n }' "$work/out")
    told=$(awk 'NR == FNR { of[$2] = 1; next } $1 in of { n += $2 } END { print n + 0 }' "$work/out" "$work/counted")
    lost=$(query_last .observed.packets_lost)
    echo "launched $launched, counted $told, lost $lost"
    test "$told" -le "$launched" && test "$((told + lost))" -ge "$launched"
}
exact_or_lost() { counts_agree || { losses_agree && test "$(query_last .observed.packets_lost)" -gt 0; }; }
# Each kernel that the model ran, with its count; <...> are the runtime's own.
equals_truth() {
    awk -F '\t' 'FNR > 1 && $7 !~ /^</ { ran[$7]++ } END { for (k in ran) print k, ran[k] }' "$work/truth" | sort >"$work/ran"
    named_kernels >"$work/counted"
    test -s "$work/ran" && { diff "$work/ran" "$work/counted" || test "$(query_last .observed.packets_lost)" -gt 0; }
}
end_program() {
    exec 3>&-
    wait_until 60 sh -c "! kill -0 $program 2>/dev/null || grep -q zombie /proc/$program/status" || kill -9 "$program"
    wait "$program"
    is "$name: exit status is that without rtl-top" $? 0
    wait "$observer"
    is "$name: rtl-top exits with 6 and prints no error" "$? $(cat "$work/watch.err")" "6 "
}

# The script's duration of all kernels. Kernels that ran before the first look have no times; on a busy machine these are
# all.
timed_exactly() {
    query_last '[.kernels[] | select(.timed > 0) | .min_ns == 5000 and .max_ns == 5000] | all' | grep -q true
}

start_program "raw HSA, two GPUs" --gpus 2 -- "$programs/hsa_dispatch" --launches 3000 --gpus 2 --hold
check "$name: every dispatch is counted or reported as lost" wait_until 60 exact_or_lost
is "$name: both GPUs have dispatches" "$(query_last '[.queues[] | select(.dispatches > 0) | .gpu] | unique | length')" 2
end_program

start_program "HIP" --gfx gfx90a -- "$programs/hip_launches" --launches 6000 --threads 1 --events 7 --hold
check "$name: every dispatch is counted or reported as lost" wait_until 60 exact_or_lost
check "$name: kernels equal those that the model ran, unless packets were lost" wait_until 60 equals_truth
check "$name: measured times are exact to the tick" timed_exactly
end_program

start_program "HIP graph" --gfx gfx90a -- "$programs/hip_graph" --nodes 20 --replays 20 --hold
check "$name: every dispatch is counted or reported as lost" wait_until 60 exact_or_lost
end_program

HSA_ENABLE_SDMA=0
export HSA_ENABLE_SDMA
start_program "HIP, copies by kernels" --gfx gfx90a -- "$programs/hip_copies" --hold
own_dispatches() { query_last '[.queues[] | select(.way_why == "runtimes_own") | .dispatches] | add // 0'; }
copied() { [ "$(own_dispatches)" -gt 0 ]; }
check "$name: the runtime's own queue is marked" wait_until 60 copied
is "$name: the runtime's own kernels are marked" \
    "$(query_last '[.kernels[] | select(.name | startswith("(")) | .name] | unique | join(", ")')" "(runtime's own kernel)"
check "$name: the program's kernels have their names" sh -c "tail -n 2 '$work/frames' | head -n 1 | jq -e '[.kernels[] | select(.name == \"touch\")] | length == 1'"
end_program
unset HSA_ENABLE_SDMA

# Three processes on the same two GPUs; one is traced. Kernels are merged by name, GPUs by their address where it is
# known; GPUs without an address stay separate.
pids=''
for i in 1 2 3; do
    mkfifo "$work/in$i"
    tools=''
    [ "$i" != 3 ] || tools=$tap_top/$O/librtl.so
    (HSA_TOOLS_LIB=$tools LD_PRELOAD=$tap_top/$programs/observe_keep_preload.so exec tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --script "$work/script" \
        --gpus 2 -- "$programs/hsa_dispatch" --launches 300 --gpus 2 --hold <"$work/in$i" >"$work/out$i" 2>&1) &
    tap_pids="$tap_pids $!"
    pids="$pids${pids:+,}$!"
done
exec 4>"$work/in1" 5>"$work/in2" 6>"$work/in3"
for i in 1 2 3; do wait_until 60 grep -q '^holding' "$work/out$i"; done
sums_agree() {
    "$O/rtl-top" -p "$pids" --no-children --json -n 2 -d 0.3 >"$work/frames" 2>"$work/watch.err" 4>&- 5>&- 6>&-
    cat "$work"/out[123] >"$work/out"
    awk '/^launched/ { n[$2] += $3 } END { for (k in n) print k, n[k] }' "$work/out" | sort >"$work/launched"
    named_kernels | diff "$work/launched" - && test "$(query_last .dispatches.timed)" = 300
}
query_last() { tail -n 1 "$work/frames" | jq -r "$1"; }
check "three processes: kernels are summed by name, exactly" wait_until 60 sums_agree
is "three processes: JSON has each one's mode" "$(query_last '[.processes[].mode] | sort | join(" ")')" "default observed observed"
is "three processes: the traced one's GPUs have addresses, the others' are separate" \
    "$(query_last '[.gpus[].pci | . // "none"] | sort | join(" ")')" "0000:03:00.0 0000:04:00.0 none none none none"
is "three processes: no two share a GPU's row" \
    "$(query_last '[.processes[].gpus[].id] | [length, (unique | length)] | join(" ")')" "6 6"
# shellcheck disable=SC2016 # jq's variables
is "three processes: queues belong to their processes' GPUs" \
    "$(query_last '. as $all | [.queues[] | . as $q | $all.processes[] | select(.pid == $q.pid) | [.gpus[].id] | index($q.gpu) != null] | all')" true
has "three processes: text says that GPUs have no known address" "$("$O/rtl-top" -p "$pids" --no-children -b -n 1 4>&- 5>&- 6>&-)" \
    '^4 of these GPUs have no known address: a row of each process'
has "one observed process: text doesn't mention addresses" "$("$O/rtl-top" -p "${pids%%,*}" --no-children -b -n 1 4>&- 5>&- 6>&- | grep -c 'no known address')" '^0$'
exec 4>&- 5>&- 6>&-
finish

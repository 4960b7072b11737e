#!/bin/sh
# Real programs on the real runtime, started without the library and observed: HIP, graphs, copies by kernels, several
# GPUs, several processes on them. Counted as they say themselves. Their queues are kept to their end: some do everything within a moment.
. "$(dirname "$0")/tap.sh"

INTERCEPT_KERNELS=$tap_top/$O/tests/programs
export INTERCEPT_KERNELS
programs=$O/tests/programs
echo '* fixed 5us' >"$work/script"

# show NAME [OPTIONS OF tests/vgpu/run] -- PROGRAM ARGS: until it holds; $work/json is what is known of it then
show() {
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
    # from the beginning, because a queue's ring may be shorter than what comes
    "$O/rtl-top" -p "$program" --observe --no-children --json -d 0.2 >"$work/frames" 2>"$work/watch.err" 3>&- &
    observer=$!
    tap_pids="$tap_pids $observer"
    wait_until 120 sh -c "grep -q '^holding' '$work/out' || ! kill -0 $program"
    has "$name: it runs" "$(cat "$work/out")" '^[a-z_]+: PASS'
}
last() { tail -n 2 "$work/frames" | head -n 1 | jq -r "$1"; }
named() { last '.kernels[] | select(.name | startswith("(") | not) | "\(.name) \(.calls)"' | sort; }
# Kernels that the program doesn't tell of are HIP's own, from a code object of its own.
counted() {
    awk '/^launched/ && $3 { print $2, $3 }' "$work/out" | sort >"$work/launched"
    named >"$work/counted"
    sed 's/^/# /' "$work/counted" | head -n 5
    test -s "$work/launched" && test -z "$(comm -23 "$work/launched" "$work/counted")"
}
# What was overwritten unseen, of whatever kind, is told.
accounted() {
    launched=$(awk '/^launched/ { n += $3 } END { print n }' "$work/out")
    told=$(awk 'NR == FNR { of[$2] = 1; next } $1 in of { n += $2 } END { print n + 0 }' "$work/out" "$work/counted")
    lost=$(last .observed.packets_lost)
    echo "launched $launched, counted $told, lost $lost"
    test "$told" -le "$launched" && test "$((told + lost))" -ge "$launched"
}
exact() { counted || { accounted && test "$(last .observed.packets_lost)" -gt 0; }; }
# Each kernel that the model ran, as often as it ran it; <...> are the runtime's own.
as_in_truth() {
    awk -F '\t' 'FNR > 1 && $7 !~ /^</ { ran[$7]++ } END { for (k in ran) print k, ran[k] }' "$work/truth" | sort >"$work/ran"
    named >"$work/counted"
    test -s "$work/ran" && { diff "$work/ran" "$work/counted" || test "$(last .observed.packets_lost)" -gt 0; }
}
over() {
    exec 3>&-
    wait_until 60 sh -c "! kill -0 $program 2>/dev/null || grep -q zombie /proc/$program/status" || kill -9 "$program"
    wait "$program"
    is "$name: the program ends as it would" $? 0
    wait "$observer"
    is "$name: and rtl-top with it" "$? $(cat "$work/watch.err")" "6 "
}

# What the script gives all kernels. Those that ran before the first look have no times, on a busy machine all.
timed_exactly() {
    last '[.kernels[] | select(.timed > 0) | .min_ns == 5000 and .max_ns == 5000] | all' | grep -q true
}

show "raw HSA, two GPUs" --gpus 2 -- "$programs/hsa_dispatch" --launches 3000 --gpus 2 --hold
check "$name: every dispatch is counted, or told as lost" wait_until 60 exact
is "$name: on both GPUs" "$(last '[.queues[] | select(.dispatches > 0) | .gpu] | unique | length')" 2
over

show "HIP" --gfx gfx90a -- "$programs/hip_launches" --launches 6000 --threads 1 --events 7 --hold
check "$name: every dispatch is counted, or told as lost" wait_until 60 exact
check "$name: kernel by kernel as the model ran them, unless some were lost" wait_until 60 as_in_truth
check "$name: measured times are exact to the tick" timed_exactly
over

show "HIP graph" --gfx gfx90a -- "$programs/hip_graph" --nodes 20 --replays 20 --hold
check "$name: every dispatch is counted, or told as lost" wait_until 60 exact
over

HSA_ENABLE_SDMA=0
export HSA_ENABLE_SDMA
show "HIP, copies by kernels" --gfx gfx90a -- "$programs/hip_copies" --hold
own() { last '[.queues[] | select(.way_why == "runtimes_own") | .dispatches] | add // 0'; }
copied() { [ "$(own)" -gt 0 ]; }
check "$name: the runtime's own queue is told as such" wait_until 60 copied
is "$name: and so are its kernels" \
    "$(last '[.kernels[] | select(.name | startswith("(")) | .name] | unique | join(", ")')" "(runtime's own kernel)"
check "$name: the program's are named" sh -c "tail -n 2 '$work/frames' | head -n 1 | jq -e '[.kernels[] | select(.name == \"touch\")] | length == 1'"
over
unset HSA_ENABLE_SDMA

# Three processes on the same two GPUs, of which one is traced: kernels are put together by name, GPUs by their address
# where that is known, and where it isn't nobody guesses.
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
together() {
    "$O/rtl-top" -p "$pids" --no-children --json -n 2 -d 0.3 >"$work/frames" 2>"$work/watch.err" 4>&- 5>&- 6>&-
    cat "$work"/out[123] >"$work/out"
    awk '/^launched/ { n[$2] += $3 } END { for (k in n) print k, n[k] }' "$work/out" | sort >"$work/launched"
    named | diff "$work/launched" - && test "$(last .dispatches.timed)" = 300
}
last() { tail -n 1 "$work/frames" | jq -r "$1"; }
check "together: kernels are summed by name, exactly" wait_until 60 together
is "together: each process's mode" "$(last '[.processes[].mode] | sort | join(" ")')" "default observed observed"
is "together: the traced one's GPUs by address, the others' as their own" \
    "$(last '[.gpus[].pci | . // "none"] | sort | join(" ")')" "0000:03:00.0 0000:04:00.0 none none none none"
is "together: no two processes share a row" \
    "$(last '[.processes[].gpus[].id] | [length, (unique | length)] | join(" ")')" "6 6"
# shellcheck disable=SC2016 # jq's own variables
is "together: queues are where their processes' GPUs are" \
    "$(last '. as $all | [.queues[] | . as $q | $all.processes[] | select(.pid == $q.pid) | [.gpus[].id] | index($q.gpu) != null] | all')" true
has "together: in text it is said" "$("$O/rtl-top" -p "$pids" --no-children -b -n 1 4>&- 5>&- 6>&-)" \
    '^4 of these GPUs have no known address: a row of each process'
has "one alone: nothing to say" "$("$O/rtl-top" -p "${pids%%,*}" --no-children -b -n 1 4>&- 5>&- 6>&- | grep -c 'no known address')" '^0$'
exec 4>&- 5>&- 6>&-
finish

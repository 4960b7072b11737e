#!/bin/sh
# rtl-top probe on a program without HIP, in both ways of queues: counted, with the right results; a kernel that is on one
# of two GPUs alone; a code object that threads unload and load which end with that, while a probe is armed.
. "$(dirname "$0")/tap.sh"

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
top=$O/rtl-top
mkdir "$work/objects"
tests/vgpu/gcn/unbundle "$work/objects" "$O/tests/programs/probe_work" >"$work/count"

start() { # GFX GPU [OPTIONS OF tests/vgpu/run]: in the background, its stdin held open
    gfx=$1
    gpu=$2
    shift 2
    rm -f "$work/stdin"
    mkfifo "$work/stdin"
    on_gpu --execute --gfx "$gfx" "$@" -- "$O/tests/programs/probe_raw" "$work/objects/$gfx"-*.co "$gpu" \
        <"$work/stdin" >"$work/raw.out" 2>"$work/raw.err" 8>&- &
    program=$!
    tap_pids="$tap_pids $program"
    exec 8>"$work/stdin"
    wait_until 60 grep -q begun "$work/raw.out"
}
finish_program() { # its exit status in $ended
    exec 8>&-
    wait "$program"
    ended=$?
}
probe() { "$top" probe -p "$program" -k work_mix "$@" >"$work/out" 2>"$work/err"; }
line() { grep "^$1" "$work/out"; }
all_waves() { line waves | grep -cE '^waves +([1-9][0-9]*) of \1 '; }
armed() { "$O/tests/programs/intercept_dump" "$program" probe | grep -qE 'armed recorded [1-9]'; }
RTL_PROBE=1 && export RTL_PROBE

for queues in native intercept; do
    if [ "$queues" = intercept ] && ! may_intercept; then
        skip "intercept: probes" "the library makes no intercept queues here: they overwrite memory"
        continue
    fi
    export RTL_QUEUES="$queues"
    for gfx in gfx90a gfx906; do
        start "$gfx" 0
        probe -n 12 --every 3
        is "$queues, $gfx: probed" "$? $(cat "$work/err")" "0 "
        has "$queues, $gfx: as many as were wanted" "$(line probed)" '^probed +12 of (3[4-9]|[4-9][0-9]|[1-9][0-9]+) dispatches, wanted 12; one in 3$'
        is "$queues, $gfx: all waves of their grids" "$(all_waves)" 1
        probe --stalls -n 3 --every 2
        is "$queues, $gfx: and its waits" "$? $(cat "$work/err") $(line waits | grep -cE ' ([1-9][0-9]*) of \1 timed')" "0  1"
        finish_program
        is "$queues, $gfx: its results are right" "$ended $(grep -c PASS "$work/raw.out")" "0 1"
    done

    # ---- unloaded while it is armed, by a thread that is gone then ----
    start gfx90a 0
    for again in 1 2 3; do
        probe -n 1000000 --every 1 8>&- &
        probing=$!
        wait_until 60 armed
        echo unload >&8
        wait "$probing"
        is "$queues: unloaded by a thread, time $again" "$? $(cat "$work/err")" \
            "17 rtl-top: the probe ended: the program has unloaded the kernel"
        has "$queues: with what there was" "$(line probed)" '^probed +[1-9][0-9]* of '
        wait_until 60 grep -q unloaded "$work/raw.out"
        probe -n 1
        is "$queues: nothing is armed on what is gone" "$?" 17
        echo load >&8
        wait_until 60 sh -c "[ \$(grep -cx loaded '$work/raw.out') = $again ]"
        probe -n 5 --every 1
        is "$queues: loaded by another one it is probed" "$? $(cat "$work/err") $(all_waves)" "0  1"
    done
    finish_program
    is "$queues: its results are right" "$ended $(grep -c PASS "$work/raw.out")" "0 1"

    # ---- the second GPU of two has it alone ----
    start gfx90a 1 --gpus 2
    "$O/tests/programs/probe_viewer" "$program" work_mix agent=0 for=30 >"$work/view" 2>&1
    is "$queues: asked for on the GPU that hasn't got it the library says so" \
        "$(sed -n 's/^why //p' "$work/view") $(sed -n 's/^probed //p' "$work/view")" "no_kernel 0"
    probe -n 5 --every 2
    is "$queues: it is found on the other one" "$? $(cat "$work/err") $(all_waves)" "0  1"
    has "$queues: which is told" "$(line on)" '^on +GPU 1, gfx90a$'
    probe -n 5 --every 2 --gpu 0
    is "$queues: that GPU alone" "$? $(cat "$work/err")" \
        "17 rtl-top: it can't be probed: the process has no such kernel on that GPU; was it unloaded?"
    is "$queues: nothing was loaded for it" "$(grep -c 'a probe was loaded' "$work/raw.err")" 1
    finish_program
    is "$queues: its results are right" "$ended $(grep -c PASS "$work/raw.out")" "0 1"
done
finish

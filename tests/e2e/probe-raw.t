#!/bin/sh
# rtl-top probe on a program without HIP, with both queue paths: counts and results are right. A kernel that exists on one of
# two GPUs. A code object that short-lived threads unload and load while a probe is armed.
. "$(dirname "$0")/tap.sh"

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
top=$O/rtl-top
mkdir "$work/objects"
tests/vgpu/gcn/unbundle "$work/objects" "$O/tests/programs/probe_work" >"$work/count"

start_program() { # GFX GPU [OPTIONS OF tests/vgpu/run]: start it in the background with its stdin held open
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
finish_program() { # sets $ended, its exit status
    exec 8>&-
    wait "$program"
    ended=$?
}
run_probe() { "$top" probe -p "$program" -k work_mix "$@" >"$work/out" 2>"$work/err"; }
output_line() { grep "^$1" "$work/out"; }
all_waves() { output_line waves | grep -cE '^waves +([1-9][0-9]*) of \1 '; }
armed() { "$O/tests/programs/intercept_dump" "$program" probe | grep -qE 'armed recorded [1-9]'; }
RTL_PROBE=1 && export RTL_PROBE

for queues in native intercept; do
    if [ "$queues" = intercept ] && ! may_intercept; then
        skip "intercept: probes" "intercept queues overwrite memory here"
        continue
    fi
    export RTL_QUEUES="$queues"
    for gfx in gfx90a gfx906; do
        start_program "$gfx" 0
        run_probe -n 12 --every 3
        is "$queues, $gfx: the probe exits with 0" "$? $(cat "$work/err")" "0 "
        has "$queues, $gfx: the wanted dispatches are probed" "$(output_line probed)" '^probed +12 of (3[4-9]|[4-9][0-9]|[1-9][0-9]+) dispatches, wanted 12; one in 3$'
        is "$queues, $gfx: all waves of the grids are recorded" "$(all_waves)" 1
        run_probe --stalls -n 3 --every 2
        is "$queues, $gfx: --stalls times all waits" "$? $(cat "$work/err") $(output_line waits | grep -cE ' ([1-9][0-9]*) of \1 timed')" "0  1"
        finish_program
        is "$queues, $gfx: the program's results are right" "$ended $(grep -c PASS "$work/raw.out")" "0 1"
    done

    # ---- a thread unloads the code object while a probe is armed, and ends ----
    start_program gfx90a 0
    for again in 1 2 3; do
        run_probe -n 1000000 --every 1 8>&- &
        probing=$!
        wait_until 60 armed
        echo unload >&8
        wait "$probing"
        is "$queues: unloading ends the probe, time $again" "$? $(cat "$work/err")" \
            "17 rtl-top: the probe ended: the program has unloaded the kernel"
        has "$queues: unloading keeps the numbers so far" "$(output_line probed)" '^probed +[1-9][0-9]* of '
        wait_until 60 grep -q unloaded "$work/raw.out"
        run_probe -n 1
        is "$queues: an unloaded kernel can't be probed" "$?" 17
        echo load >&8
        wait_until 60 sh -c "[ \$(grep -cx loaded '$work/raw.out') = $again ]"
        run_probe -n 5 --every 1
        is "$queues: a kernel that another thread loads can be probed" "$? $(cat "$work/err") $(all_waves)" "0  1"
    done
    finish_program
    is "$queues: the program's results are right after unloading" "$ended $(grep -c PASS "$work/raw.out")" "0 1"

    # ---- the kernel exists only on the second of two GPUs ----
    start_program gfx90a 1 --gpus 2
    "$O/tests/programs/probe_viewer" "$program" work_mix agent=0 for=30 >"$work/view" 2>&1
    is "$queues: a probe on the GPU without the kernel is refused by the library" \
        "$(sed -n 's/^why //p' "$work/view") $(sed -n 's/^probed //p' "$work/view")" "no_kernel 0"
    run_probe -n 5 --every 2
    is "$queues: a probe finds the GPU with the kernel" "$? $(cat "$work/err") $(all_waves)" "0  1"
    has "$queues: a probe prints the GPU with the kernel" "$(output_line on)" '^on +GPU 1, gfx90a$'
    run_probe -n 5 --every 2 --gpu 0
    is "$queues: --gpu of the GPU without the kernel is refused" "$? $(cat "$work/err")" \
        "17 rtl-top: it can't be probed: the process has no such kernel on that GPU; was it unloaded?"
    is "$queues: only one copy was loaded" "$(grep -c 'a probe was loaded' "$work/raw.err")" 1
    finish_program
    is "$queues: the program's results are right with two GPUs" "$ended $(grep -c PASS "$work/raw.out")" "0 1"
done
finish

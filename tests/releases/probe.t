#!/bin/sh
# Probes on gfx942, whose compute units are on several dies, with the newer releases' runtimes: kernels and their copies side
# by side; and a live probe as text, as JSON, with waits, and in a recording.
. "$(dirname "$0")/../e2e/tap.sh"
. "$tap_top/tests/e2e/probe.sh"

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
top=$O/rtl-top
patch_overhead=192 # 48 instructions, 4 of them find the die's page; with gaps 22 more, 3 of them find the die's table

probe() { "$top" probe -p "$program" "$@" >"$work/out" 2>"$work/err"; }
line() { grep "^$1" "$work/out"; }

cat >"$work/judge.py" <<'END'
import json, sys
o = json.load(open(sys.argv[1]))
u, d = o["units"], o["dies"]
cycles = {}
for one in u["list"]:
    die, rest = one["unit"].split(" ", 1)
    assert die[:3] == "xcc" and 0 <= int(die[3:]) < 8 and rest.startswith("se"), one
    cycles[int(die[3:])] = cycles.get(int(die[3:]), 0) + one["cycles"]
assert d["list"] == [{"die": die, "cycles": n} for die, n in sorted(cycles.items())]
assert d["busy"] == len(cycles) > 1 and d["max_cycles"] == max(cycles.values())
assert d["mean_cycles"] == sum(cycles.values()) // len(cycles)
assert abs(d["imbalance"] - d["max_cycles"] * d["busy"] / sum(cycles.values())) < 0.01
assert u["of"] == 304 and u["busy"] == len(u["list"])
assert o["waves"]["ended"] == o["waves"]["expected"] and o["recorded"] == o["wanted"] == 8
assert abs(o["waves"]["mean_cycles"] - sum(cycles.values()) / o["waves"]["ended"]) < 1
END

for RTL_RELEASE in ${RTL_RELEASES:-experimental trixie sid}; do
    [ "$RTL_RELEASE" != here ] || continue
    export RTL_RELEASE
    VGPU_EXECUTE_THREADS=1 && export VGPU_EXECUTE_THREADS # sums of floats by atomics depend on the order
    set -- hip_compute-gfx942 --gfx gfx942 --release "$RTL_RELEASE"
    compare_side_by_side "$RTL_RELEASE" "$@"
    check "$RTL_RELEASE, side by side: at least ten kernels were probed" test "$(grep -c ^block "$work/swap")" -ge 10
    is "$RTL_RELEASE, side by side: copies ran on all eight dies" "$(awk -F '\t' '$1 == "busy" { d[int($2 / 256)] } END { for (i in d) n++; print n }' "$work/swap")" 8
    check_waits "$RTL_RELEASE" 0 "$@"
    check "$RTL_RELEASE, side by side: at least ten kernels have timed waits" test "$timed" -ge 10
    check_waits "$RTL_RELEASE" 1 "$@"
    check_gaps "$RTL_RELEASE" 88 "$@"
    unset VGPU_EXECUTE_THREADS

    # ---- live ----
    rm -f "$work/stdin"
    mkfifo "$work/stdin"
    (RTL_PROBE=1 on_gpu --gfx gfx942 --gpus 1 --execute --waves "$work/live" -- "$O/tests/programs/probe_work-gfx942" 60 --hold \
        <"$work/stdin" >"$work/work.out" 2>"$work/work.err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 8>"$work/stdin"
    wait_until 60 grep -q begun "$work/work.out"
    probe -k work_mix -n 8 --every 2 -w "$work/$RTL_RELEASE.db"
    is "$RTL_RELEASE, probe: a running kernel is probed without error" "$? $(cat "$work/err")" "0 "
    has "$RTL_RELEASE, probe: prints the GPU" "$(line on)" '^on +GPU 0, gfx942$'
    has "$RTL_RELEASE, probe: all expected waves ended" "$(line waves)" '^waves +([1-9][0-9]*) of \1 expected; cycles: mean '
    has "$RTL_RELEASE, probe: counts busy units of 304" "$(line busy)" '^busy +[1-9][0-9]* of 304 compute units had waves; '
    has "$RTL_RELEASE, probe: lists units by die, engine, array and number" "$(cat "$work/out")" '^  xcc[0-7] se[0-7] sh[01] cu[0-9]+ +[0-9]'
    has "$RTL_RELEASE, probe: prints the imbalance of the dies" "$(line dies)" \
        '^dies +[2-8] of up to 8 had waves; cycles: mean [0-9.]+k?, max [0-9.]+k? \(xcc[0-7]\), imbalance [1-9][0-9]*\.[0-9]'
    "$top" -r "$work/$RTL_RELEASE.db" --json | jq -c '.probe | [.recorded, .dies.busy, .units.list[-1].unit]' >"$work/recorded"
    has "$RTL_RELEASE, probe -w: the recording has dies and units" "$(cat "$work/recorded")" '^\[8,[2-8],"xcc[1-7] se0 sh0 cu0"\]$'
    probe -k work_mix -n 8 --every 2 --json
    check "$RTL_RELEASE, probe --json: the numbers are consistent" python3 "$work/judge.py" "$work/out"
    sed 's/"unit":"xcc1/"unit":"xcc2/' "$work/out" >"$work/wrong"
    check "$RTL_RELEASE, probe --json: judge.py finds a wrong unit" fails python3 "$work/judge.py" "$work/wrong"
    probe -k work_walk --stalls -n 3 --every 2
    is "$RTL_RELEASE, probe --stalls: waits are timed without error" "$? $(cat "$work/err")" "0 "
    has "$RTL_RELEASE, probe --stalls: every wait is timed" "$(line waits)" '^waits +([1-9][0-9]*) of \1 timed, by ([1-9]) of \2 copies; hottest first$'
    has "$RTL_RELEASE, probe --stalls: all expected waves ended" "$(line waves)" '^waves +([0-9]+) of \1 expected$'
    exec 8>&-
    wait "$program"
    has "$RTL_RELEASE, probed program: computes correct results" "$? $(tail -n 1 "$work/work.out")" '^0 probe_work: PASS, [0-9]+ rounds'
done
finish

#!/bin/sh
# rtl-top probe: its output for a running kernel, the consistency of its numbers, the files that it keeps, and its
# refusals. On the software GPU, where kernels compute.
. "$(dirname "$0")/tap.sh"

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
top=$O/rtl-top

# start_serve NAME [OPTIONS OF tests/vgpu/run] [-- OPTIONS OF serve]: start it; its pid is $server
start_serve() {
    name=$1
    shift
    on_gpu --execute --waves "$work/waves" "$@" >"$work/$name.out" 2>"$work/$name.err" &
    server=$!
    tap_pids="$tap_pids $server"
    wait_until 60 sh -c "$top -p $server -b -n 1 2>/dev/null | grep -q silu"
}
run_probe() { "$top" probe "$@" >"$work/out" 2>"$work/err"; }
output_line() { grep "^$1" "$work/out"; }

# ---- wrong arguments ----
for words in "-p 0 -k x" "-p x -k x" "-p 1 -k" "-p 1 -n 0 -k x" "-p 1 -k x -n 5000000000" "-p 1 -k x --every 0" \
    "-p 1 -k x --every 2000000" "-p 1 -k x --gpu a" "-p 1 -k x --timeout never" "-k x" "-p 1" "-p 1 -k x y" \
    "-p 1 -k x --force" "-p 1 -k x --nothing"; do
    # shellcheck disable=SC2086 # words
    run_probe $words
    is "probe $words: is refused" "$? $(wc -l <"$work/err")" "1 1"
done
sleep 60 &
idle=$!
tap_pids="$tap_pids $idle"
run_probe -p "$idle" -k x
is "probe of a process without the library: exits with 3" "$? $(wc -l <"$work/err")" "3 1"

start_serve plain --gpus 1 -- "$O/tests/programs/serve" --layers 2 --gpus 1
run_probe -p "$server" -k silu
is "probe without RTL_PROBE=1: exits with 9 and says how to start" "$? $(grep -oE 'RTL_PROBE=1.*run --probe' "$work/err" | wc -l)" "9 1"
"$top" check -p "$server" >"$work/out" 2>&1
has "check without RTL_PROBE=1: says so" "$(cat "$work/out")" '^open +probe +.*RTL_PROBE=1'
end_process "$server"

# ---- a process with RTL_PROBE=1 ----
RTL_PROBE=1 && export RTL_PROBE
has "env --probe: sets RTL_PROBE" "$(env -u RTL_PROBE "$top" env --probe --library "$O/librtl.so")" "^export RTL_PROBE='1'"
start_serve probed --gpus 1 -- "$O/tests/programs/serve" --layers 2 --gpus 1
"$top" check -p "$server" >"$work/out" 2>&1
has "check with RTL_PROBE=1: says so" "$(cat "$work/out")" '^ok +probe +.*can be probed'
run_probe -p "$server" -k nosuch
is "probe of an unknown kernel: says where names are listed" "$? $(grep -c "no kernel whose name has 'nosuch'; their names: rtl-top -p $server -b -n 1\$" "$work/err")" "17 1"
run_probe -p "$server" -k vllm
is "probe of several kernels: lists one a line" "$? $(grep -c 'vllm::' "$work/err")" "1 $(($(wc -l <"$work/err") - 1))"
check "probe of several kernels: lists at least two" test "$(wc -l <"$work/err")" -ge 3
run_probe -p "$server" -k silu --gpu 1
is "probe of an unknown GPU: exits with 1" "$? $(grep -c 'there is no GPU 1' "$work/err")" "1 1"

run_probe -p "$server" -k silu -n 20 --every 3
is "probe: twenty dispatches are probed" "$? $(cat "$work/err")" "0 "
has "probe: prints the kernel" "$(cat "$work/out")" '^kernel +void vllm::act_and_mul_kernel<'
has "probe: prints the GPU" "$(cat "$work/out")" '^on +GPU 0, gfx90a'
has "probe: prints the copy and its hash" "$(cat "$work/out")" '^copy +.*, hash [0-9a-f]{16}, registers [0-9]+ -> [0-9]+; [0-9]+ instructions?, 1 end'
hash=$(output_line copy | grep -oE '[0-9a-f]{16}')
has "probe: the process prints the loaded copy and its hash" "$(cat "$work/probed.err")" "with hash $hash, for 1 in 3 dispatches of _ZN4vllm18act_and_mul"
has "probe: prints the number of dispatches" "$(output_line probed)" '^probed +20 of (5[89]|[6-9][0-9]|[1-9][0-9][0-9]) dispatches, wanted 20; one in 3$'
has "probe: prints the cost" "$(output_line duration)" '^duration  mean 5.00µs, min 5.00µs, max 5.00µs; the others. mean 5.00µs: x1.00'
has "probe: prints all waves of the grids" "$(output_line waves)" '^waves +([1-9][0-9]*) of \1 expected; cycles: mean [0-9.]+k?, p50 .*, p99 .*, max '
has "probe: prints a histogram" "$(cat "$work/out")" '^ +[0-9.]+k? +[0-9.]+k?  ████'
has "probe: prints the compute units" "$(output_line busy)" '^busy +[1-9][0-9]* of 104 compute units had waves; cycles: mean .*, imbalance [1-9][0-9]*\.[0-9]'
is "probe: prints the five hottest compute units" "$(grep -cE '^  se[0-7] sh[01] cu[0-9]+ ' "$work/out")" 5
has "probe: prints the tail" "$(output_line tail)" '^tail +p50 .*, max .*, from half of the waves. ends to the last \(([1-9][0-9]*) of 20 dispatches, steps of '
LC_ALL=C "$top" probe -p "$server" -k silu -n 3 --every 1 >"$work/out" 2>"$work/err"
is "probe without UTF-8: prints only ASCII" "$(LC_ALL=C grep -c '[^ -~]' "$work/out")" 0
has "probe without UTF-8: prints bars" "$(cat "$work/out")" '^ +[0-9.]+k? +[0-9.]+k?  ####'

# The usual rate: a tenth
run_probe -p "$server" -k silu -n 3
has "probe without --every: prints its choice and the reason" "$(output_line probed)" '; one in 10: a tenth of its [0-9.]+k? a second$'

# ---- JSON, checked for consistency ----
run_probe -p "$server" -k MT128x128x64 -n 10 --every 2 --json
is "probe --json: exits with 0" "$? $(cat "$work/err")" "0 "
cat >"$work/judge.py" <<'END'
import json, sys
o = json.load(open(sys.argv[1]))
w, u, t = o["waves"], o["units"], o["tail"]
assert o["version"] == 1 and o["ended"] == "done" and o["gpu"] == 0 and o["gpu_name"] == "gfx90a"
assert o["wanted"] == o["probed"] == o["recorded"] == 10 and o["dispatches"] >= 19 and o["every"] == 2
assert w["expected"] == w["ended"] == sum(b["waves"] for b in w["histogram"])
assert w["expected"] % 10 == 0
cycles = sum(one["cycles"] for one in u["list"])
assert u["busy"] == len(u["list"]) <= u["of"] == 104
assert abs(w["mean_cycles"] - cycles / w["ended"]) < 1 and u["max_cycles"] == max(one["cycles"] for one in u["list"])
assert abs(u["imbalance"] - u["max_cycles"] * u["busy"] / cycles) < 0.01
low = sum(b["from"] * b["waves"] for b in w["histogram"])
high = sum(b["to"] * b["waves"] for b in w["histogram"])
assert low <= cycles <= high
assert w["min_cycles"] <= w["p50_cycles"][0] <= w["p50_cycles"][1] <= w["p99_cycles"][1] <= w["max_cycles"]
assert sum(b["dispatches"] for b in t["histogram"]) == t["dispatches"] <= t["of"] == 10
assert t["p50_ns"][1] <= t["max_ns"] and t["p50_ns"][0] <= t["p50_ns"][1] and t["longest_ns"] == 255 * t["step_ns"] > 0
assert o["duration"]["mean_ns"] == o["duration"]["others_mean_ns"] == 5000
assert o["code"]["compared"] and len(o["code"]["hash"]) == 16 and o["code"]["sgprs"] >= o["code"]["sgprs_before"]
END
check "probe --json: its numbers are consistent" python3 "$work/judge.py" "$work/out"
check "probe --json: large integers have twins" tests/e2e/json-exact "$work/out"
sed 's/"ended":\([0-9]\)/"ended":1\1/' "$work/out" >"$work/wrong"
fails() { ! "$@"; }
check "probe --json: the consistency check finds a wrong number" fails python3 "$work/judge.py" "$work/wrong"
# The coverage line has the probed dispatches.
has "coverage line: has probed dispatches" "$("$top" -p "$server" -b -n 1 --window all)" 'probed [0-9]'

# ---- recordings ----
echo a letter >"$work/letter"
run_probe -p "$server" -k silu -n 2 --every 1 -w "$work/letter"
is "probe -w: another file is left alone, and nothing is probed" "$? $(cat "$work/letter") $(wc -l <"$work/out")" "11 a letter 0"
run_probe -p "$server" -k silu -n 2 --every 1 -w "$work/letter" --keep "$work/made"
is "probe -w --keep: a refusal makes no folder" "$? $(find "$work/made" 2>"$work/null" | wc -l)" "11 0"
run_probe -p "$server" -k silu -n 2 --every 1 -w ""
is "probe -w: an empty name is refused" "$?" 1
run_probe -p "$server" -k silu -n 5 --every 2 --json -w "$work/probe.db"
is "probe -w: exits with 0" "$? $(cat "$work/err")" "0 "
"$top" -r "$work/probe.db" --json >"$work/frame"
check "replay --json of a probe: large integers have twins" tests/e2e/json-exact "$work/frame"
jq -S '{kernel, mangled, gpu, gpu_name, ended, why, every, dispatches, probed, recorded, waves, units, tail,
    gaps, hash: .code.hash, bytes: .code.bytes, mean: .duration.mean_ns}' "$work/out" >"$work/told"
jq -S '.probe | {kernel, mangled, gpu, gpu_name, ended, why, every, dispatches, probed, recorded, waves, units, tail, gaps, hash,
    bytes: .code_bytes, mean: .duration.mean_ns}' "$work/frame" >"$work/recorded"
check "probe -w: the recording has the printed numbers" diff "$work/told" "$work/recorded"
has "probe -w: the recording has five dispatches" "$(cat "$work/recorded")" '"recorded": 5'
has "probe -w: the recording's text has the probe" "$("$top" -r "$work/probe.db" -b)" '^probe .*act_and_mul.*  GPU 0  .*  dispatches 5 of [1-9].*  units [1-9].*'
run_probe -p "$server" -k silu -n 2 --every 1 -w "$work/letter" --force
is "probe -w --force: replaces another file" "$? $("$top" -r "$work/letter" --json | jq -c '[.probe.recorded, .pid]')" "0 [2,$server]"

# ---- kept files ----
run_probe -p "$server" -k silu -n 2 --every 1 --keep "$work/kept"
is "probe --keep: writes three files" "$? $(cd "$work/kept" && echo *)" "0 original.co probe.txt probed.co"
mkdir "$work/objects"
tests/vgpu/gcn/unbundle "$work/objects" "$O/tests/programs/serve" >"$work/count"
same=0
for file in "$work/objects"/*.co; do cmp -s "$file" "$work/kept/original.co" && same=$((same + 1)); done
is "probe --keep: the original equals the program's code object" "$same" 1
has "probe --keep: the copy has one kernel" "$("$O/tests/programs/probe_patch" count "$work/kept/probed.co")" ' of 1 kernels '
hash=$(output_line copy | grep -oE '[0-9a-f]{16}')
has "probe --keep: the text has the hash" "$(cat "$work/kept/probe.txt")" "^probed.co: .*, hash $hash; its numbers go to 0x[0-9a-f]+"
has "probe --keep: the text says that nothing was pruned" "$(cat "$work/kept/probe.txt")" '^pruned: no such stage'
cp "$work/kept/probe.txt" "$work/before"
run_probe -p "$server" -k silu -n 2 --every 1 --keep "$work/kept"
is "probe --keep: existing files are not replaced" "$? $(cmp "$work/before" "$work/kept/probe.txt")" "10 "
run_probe -p "$server" -k MT128x128x64 -n 2 --every 1 --keep "$work/kept" --force
is "probe --keep --force: existing files are replaced" "$? $(cmp -s "$work/before" "$work/kept/probe.txt" || echo another)" "0 another"
run_probe -p "$server" -k silu -n 2 --keep "$work/no/such"
is "probe --keep: a folder that can't be made exits with 10" "$?" 10
run_probe -p "$server" -k silu -n 2 --keep ""
is "probe --keep: an empty name is refused" "$?" 1

# ---- early ends ----
for limit in 2 10 40; do # on a busy machine the first probed dispatch may take seconds
    run_probe -p "$server" -k silu -n 1000000 --timeout "$limit"
    ended="$? $(grep -c 'the time for it is over; --timeout' "$work/err")"
    ! output_line probed | grep -qE '^probed +[1-9]' || break
done
is "probe --timeout: exits with 17 and says so" "$ended" "17 1"
has "probe --timeout: prints the numbers so far" "$(output_line probed)" '^probed +[1-9][0-9]* of '
count_probed() { "$top" -p "$server" --json -n 1 | grep -oE '"probed":[0-9]+' | grep -oE '[0-9]+$'; }
start_probe() { # OPTIONS: start a probe in the background, as $probing, and wait until it has counted
    had=$(count_probed)
    "$top" probe -p "$server" -k silu -n 1000000 --every 1 "$@" >"$work/out" 2>"$work/err" &
    probing=$!
    tap_pids="$tap_pids $probing"
    wait_until 60 sh -c "[ \"\$($top -p $server --json -n 1 | grep -oE '\"probed\":[0-9]+' | grep -oE '[0-9]+\$')\" -gt $had ]"
}
stop_probe() { # SIGNAL
    start_probe
    end_process "$probing" "$1"
}
stop_probe INT
is "probe, Ctrl-C: exits with 130" "$?" 130
has "probe, Ctrl-C: prints the numbers so far" "$(output_line probed)" '^probed +[0-9]+ of '
has "probe, Ctrl-C: says why it ended" "$(cat "$work/err")" 'it was stopped'
stop_probe TERM
is "probe, SIGTERM: exits with 143" "$?" 143
run_probe -p "$server" -k silu -n 2 --every 1
is "probe after a signal: the next probe succeeds" "$?" 0

# One probe at a time
start_probe
run_probe -p "$server" -k MT128x128x64 -n 1
is "second probe: is refused" "$? $(grep -c 'another viewer has a probe there' "$work/err")" "17 1"
is_alive "$probing"
is "second probe: the first one goes on" "$?" 0
kill -9 "$probing"
wait "$probing" 2>/dev/null
run_probe -p "$server" -k MT128x128x64 -n 1 --every 1
is "probe after a killed viewer: succeeds" "$? $(cat "$work/err")" "0 "

if can_be_other_user "probe of another user's process"; then
    setpriv --reuid 65534 --regid 65534 --clear-groups "$top" probe -p "$server" -k silu >"$work/out" 2>"$work/err"
    is "probe of another user's process: exits with 4" "$? $(grep -c 'belongs to user' "$work/err")" "4 1"
fi
start_probe -w "$work/gone.db"
end_process "$server" KILL
wait "$probing"
is "process ends during a probe: exits with 6" "$? $(grep -c 'the process has exited' "$work/err")" "6 1"
has "process ends during a probe: prints the numbers so far" "$(output_line probed)" '^probed +[0-9]+ of '
query_column() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT %s FROM rtl_recording" % sys.argv[2]).fetchone()[0])' "$@"; }
has "process ends during a probe: the recording has its command" "$(query_column "$work/gone.db" command)" 'tests/programs/serve --layers 2'

# ---- kernels that can't be probed, and one that no longer runs ----
mkfifo "$work/stdin"
on_gpu -- "$O/tests/programs/hip_refused" <"$work/stdin" >"$work/refused.out" 2>"$work/refused.err" &
server=$!
tap_pids="$tap_pids $server"
exec 7>"$work/stdin"
wait_until 60 grep -q holding "$work/refused.out"
check_refused() { # KERNEL WHY
    mkdir -p "$work/refused" && echo of an earlier one >"$work/refused/probed.co"
    run_probe -p "$server" -k "$1" -n 1 --keep "$work/refused" --force
    is "probe of $1: is refused with the reason" "$? $(cat "$work/err")" "17 rtl-top: it can't be probed: $2"
    is "probe of $1: the refusal keeps the original and the text" "$(cd "$work/refused" && echo *) $(grep -c "^refused: +0x.*: $2" "$work/refused/probe.txt")" \
        "original.co probe.txt 1"
}
check_refused refused_mode "it switches vector instructions off (s_setvskip, s_setreg)"
check_refused refused_ending "it ends with another instruction than s_endpgm"
is "probe of refused kernels: nothing is loaded" "$(grep -c 'a probe was loaded' "$work/refused.err")" 0
run_probe -p "$server" -k refused_nothing -n 1
is "probe of a kernel that no longer runs: exits with 17" "$? $(grep -c 'no dispatch of it came for 10 s' "$work/err")" "17 1"
has "probe of a kernel that no longer runs: prints its rate" "$(output_line probed)" '^probed +0 of 0 dispatches, wanted 1; one in 10: a tenth of less than one a second$'
exec 7>&-
wait "$server"
is "refused kernels: the program's exit status is 0" "$?" 0

# ---- modes, and two GPUs ----
RTL_MODE=auto && export RTL_MODE
start_serve auto --gpus 1 -- "$O/tests/programs/serve" --layers 2 --gpus 1
run_probe -p "$server" -k silu -n 3 --every 1
is "probe in mode auto: succeeds" "$? $(cat "$work/err")" "0 "
end_process "$server"
unset RTL_MODE
start_serve two --gpus 2 -- "$O/tests/programs/serve" --layers 2 --gpus 2
both_run() { "$top" -p "$server" --json -n 1 | jq -e '[.queues[] | select(.dispatches > 100).gpu] | unique | length == 2'; }
check "two GPUs: both run kernels" wait_until 60 both_run
on_that_gpu() { # STATUS
    cat "$work/out" "$work/err"
    test "$1" = 0 && output_line "on *GPU $gpu, gfx90a$" && output_line waves | grep -E '^waves +([1-9][0-9]*) of \1 '
}
for gpu in 1 0; do
    run_probe -p "$server" -k silu -n 3 --every 1 --gpu "$gpu"
    check "probe --gpu $gpu of two: probes that GPU" on_that_gpu "$?"
done
run_probe -p "$server" -k silu -n 3 --every 1
is "probe without --gpu: succeeds with two GPUs" "$?" 0
end_process "$server"

# ---- gaps: all workgroups run on one compute unit, so each slot has several waves ----
VGPU_WAVE_UNITS=1 && export VGPU_WAVE_UNITS
start_serve gaps --gpus 1 -- "$O/tests/programs/serve" --layers 2 --gpus 1
unset VGPU_WAVE_UNITS
run_probe -p "$server" -k MT128x128x64 -n 5 --every 1
is "probe, several waves a slot: exits with 0" "$? $(cat "$work/err")" "0 "
has "probe, several waves a slot: prints the gaps" "$(output_line gaps)" "^gaps +[0-9.]+ % of the time of wave slots, from a wave's end to the next one's begin; \
cycles: mean [0-9.k]+, p50 [0-9.k-]+, p99 [0-9.k-]+ \([0-9.k]+ gaps\)\$"
run_probe -p "$server" -k MT128x128x64 -n 5 --every 1 --json -w "$work/gaps.db"
is "probe --json, several waves a slot: exits with 0" "$? $(cat "$work/err")" "0 "
cat >"$work/judge.py" <<'END'
import json, sys
o = json.load(open(sys.argv[1]))
w, g = o["waves"], o["gaps"]
assert o["recorded"] == 5 and w["ended"] == w["expected"] and o["units"]["busy"] == 1
assert 0 < g["count"] == sum(b["gaps"] for b in g["histogram"]) and (w["ended"] - g["count"]) % 5 == 0
assert w["ended"] - g["count"] <= 5 * 32 # the first ones of 5 dispatches on 4 SIMDs of 8 slots
cycles = g["share"] / (1 - g["share"]) * w["mean_cycles"] * w["ended"]
assert abs(cycles / g["count"] - g["mean_cycles"]) < 0.02 * g["mean_cycles"]
# 40 to 1036 cycles, 6 instructions between the clocks, and the wait for other slots
assert g["histogram"][0]["to"] >= 64 and g["p50_cycles"][0] <= g["p50_cycles"][1] <= g["p99_cycles"][1]
END
check "probe --json, several waves a slot: its numbers are consistent" python3 "$work/judge.py" "$work/out"
"$top" -r "$work/gaps.db" --json >"$work/frame"
is "probe -w, several waves a slot: the recording has the gaps" "$(jq -S .probe.gaps "$work/frame")" "$(jq -S .gaps "$work/out")"
end_process "$server"

# ---- newer runtimes; here the loader's file is the program of their processes ----
for release in experimental trixie sid; do
    [ -d "cache/releases/$release" ] || continue
    RTL_RELEASE=$release
    start_serve "$release" --gpus 1 -- "$O/tests/programs/serve" --layers 2 --gpus 1
    run_probe -p "$server" -k silu -n 3 --every 1
    is "probe on $release: all waves are recorded" "$? $(cat "$work/err") $(output_line waves | grep -cE '^waves +([1-9][0-9]*) of \1 ')" "0  1"
    end_process "$server"
done
finish

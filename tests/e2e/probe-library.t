#!/bin/sh
# The library's probes, on the software GPU where kernels compute. Kernels of a running program are probed: results stay equal
# bit by bit, waves are those of the grid, counts add up. How a probe ends when the program or the viewer ends.
. "$(dirname "$0")/tap.sh"

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
viewer=$O/tests/programs/probe_viewer
dump=$O/tests/programs/intercept_dump
mkdir "$work/objects"
tests/vgpu/gcn/unbundle "$work/objects" "$O/tests/programs/probe_work" >"$work/count"
VGPU_EXECUTE_THREADS=1 && export VGPU_EXECUTE_THREADS

start_program() { # OPTIONS OF run... -- PROGRAM ARGS: start it in the background with its stdin held open
    rm -f "$work/stdin"
    mkfifo "$work/stdin"
    tests/vgpu/run --execute "$@" <"$work/stdin" >"$work/work.out" 2>"$work/work.err" &
    program=$!
    tap_pids="$tap_pids $program"
    exec 8>"$work/stdin"
    wait_until 60 grep -q begun "$work/work.out"
}
finish_program() { # sets $ended, its exit status
    exec 8>&-
    wait "$program"
    ended=$?
}
view_value() { sed -n "s/^$1 //p" "$work/view"; }
run_probe() { # ARGUMENTS OF THE VIEWER...
    "$viewer" "$program" "$@" >"$work/view" 2>&1
}
adds_up() { # counted = timed + untimed + in flight, and `probed` is among the untimed
    "$dump" "$program" >"$work/dump"
    awk '$1 == "counted" { c = $2 } $1 == "timed" { t = $2 } $1 == "untimed_total" { u = $2 }
         $1 == "untimed" && $2 == "probed" { p = $3 } $1 == "untimed" { sum += $3 }
         END { exit !(sum == u && p > 0 && t + u <= c && c - t - u < 64) }' "$work/dump"
}

# Without the variable the library has no probes.
HSA_TOOLS_LIB=$PWD/$O/librtl.so start_program -- "$O/tests/programs/probe_work" 5 --hold
run_probe work_mix for=20
has "without RTL_PROBE=1: the viewer says so" "$(cat "$work/view")" '^error 9 .*RTL_PROBE=1'
is "without RTL_PROBE=1: the process has no probe page" "$(find "/proc/$program/fd" -lname '*rtl-probe*' | wc -l)" 0
finish_program
is "without RTL_PROBE=1: exit status is 0" "$ended" 0
plain=$(sed -n 's/.*digest //p' "$work/work.out")

check_probe() { # HOW GFX KERNEL [OPTIONS OF run...]
    how=$1
    gfx=$2
    kernel=$3
    shift 3
    file=$(echo "$work/objects/$gfx"-*.co)
    RTL_PROBE=1 HSA_TOOLS_LIB=$PWD/$O/librtl.so start_program --gfx "$gfx" "$@" -- "$O/tests/programs/probe_work" 60 --hold
    case " $* " in *--release*) set -- "file=$file" ;; *) set -- ;; esac
    run_probe "$kernel" every=3 wanted=15 for=60 "$@"
    is "$how: the probe completes" "$? $(view_value phase) $(view_value why) $(view_value kernel)" "0 over done $kernel"
    is "$how: all probed dispatches are recorded" "$(view_value probed) $(view_value recorded)" "15 15"
    check "$how: waves equal the grid's" test "$(view_value waves)" -eq "$(view_value waves_expected)" -a "$(view_value waves)" -gt 0
    is "$how: every wave is in each of the sums" "$(view_value durations) $(view_value busy)" "$(view_value waves) $(view_value sum)"
    check "$how: at most one in three dispatches is probed" test "$(view_value dispatches)" -ge 43
    check "$how: counts add up" adds_up
    has "$how: the process prints the loaded copy and its hash" "$(cat "$work/work.err")" \
        "^librtl: a probe was loaded: $(view_value code_bytes) bytes of code with hash $(view_value code_hash), for 1 in 3 dispatches of $kernel\$"
    finish_program
    is "$how: the program's results are right" "$ended $(grep -c PASS "$work/work.out")" "0 1"
}
for gfx in gfx90a gfx906; do
    for queues in intercept native; do
        export RTL_QUEUES="$queues"
        check_probe "$gfx, $queues" "$gfx" work_mix
    done
done
check_probe "native, a reduction" gfx90a work_sum
unset RTL_QUEUES
check_probe "small BAR" gfx90a work_mix --bar small
for release in experimental trixie sid; do
    [ -d "cache/releases/$release" ] || continue
    for queues in intercept native; do
        [ "$queues" = native ] || (RTL_RELEASE=$release && may_intercept) || continue
        export RTL_QUEUES="$queues"
        check_probe "$release, $queues" gfx90a work_mix --release "$release"
    done
done
unset RTL_QUEUES

# Equal numbers of rounds give equal digests, probed or not.
RTL_PROBE=1 HSA_TOOLS_LIB=$PWD/$O/librtl.so start_program -- "$O/tests/programs/probe_work" 5 --hold
RTL_PROBE=1 HSA_TOOLS_LIB=$PWD/$O/librtl.so tests/vgpu/run --execute -- "$O/tests/programs/probe_work" 5 >"$work/five"
is "RTL_PROBE=1 without a probe: the program's digest is the same" "$(sed -n 's/.*rounds, digest //p' "$work/five")" \
    "$(tests/vgpu/run --execute -- "$O/tests/programs/probe_work" 5 | sed -n 's/.*rounds, digest //p')"
check "without RTL_PROBE=1: the program has a digest" test -n "$plain"

# ---- refusals leave the program unchanged ----
for wrong in hash:bad_code code:bad_code short:bad_code object:no_kernel agent:no_kernel every:bad_request \
    shift:bad_request; do
    run_probe work_mix "wrong=${wrong%:*}" for=30
    is "viewer's mistake $wrong: is refused" "$(view_value phase) $(view_value why) $(view_value probed)" "over ${wrong#*:} 0"
done
# ---- a viewer that is killed ----
run_probe work_mix leave for=30
wait_until 20 sh -c "'$viewer' $program work_mix wanted=1 for=30 >'$work/view' 2>&1"
is "viewer killed: the next viewer's probe completes" "$(view_value why)" "done"
# ---- many probes ----
run_probe work_sum cycles=100 wanted=1 for=120
is "a hundred probes in a row: the last one completes" "$(view_value phase) $(view_value why) $(view_value probed)" "over done 1"
finish_program
is "probed program: exit status is 0" "$ended" 0

# ---- the program ends while a probe is armed, with dispatches in flight ----
for queues in intercept native; do
    export RTL_QUEUES="$queues"
    RTL_PROBE=1 HSA_TOOLS_LIB=$PWD/$O/librtl.so start_program -- "$O/tests/programs/probe_work" 5 --hold
    "$viewer" "$program" work_mix for=30 >"$work/view" 2>&1 8>&- &
    watching=$!
    wait_until 30 grep -q 'a probe was loaded' "$work/work.err"
    finish_program
    is "$queues: a program that ends while it is probed exits with 0" "$ended" 0
    wait "$watching"
    has "$queues: the viewer notices the end" "$(cat "$work/view")" '^(gave_up gone|why shutdown)$'
done
finish

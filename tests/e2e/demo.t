#!/bin/sh
# make demo in a terminal: at least ten kernels with changing numbers, a detail page, the phases of its story as rtl-top's JSON
# shows them, and no process left behind by any kind of end.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

list_leftovers() { # demo programs that run from this build; other tests run the same program without a demo's folder
    for exe in /proc/[0-9]*/exe; do
        case $(readlink "$exe" 2>/dev/null) in
        "$tap_top/$O/tests/programs/serve"*) ! grep -qs '/rtl-demo\.' "${exe%/exe}/environ" || echo "$exe" ;;
        esac
    done
}

nothing_left() { [ -z "$(list_leftovers)" ]; }
check "make demo: no demo of this build runs before the test" wait_until 60 nothing_left
check "make demo: shows its kernels and ends on q" tests/e2e/watch-demo 180 make O="$O" demo
sed 's/^/# /' "$work/check.out"
check "make demo: its workload has ended" wait_until 60 nothing_left

# --- the story: each phase is begun by hand ---
export TMPDIR="$work"
pace=0.001$$ # makes a sleep that no other story has
asleep() { pgrep -fx "sleep $(echo "$pace" | awk '{ print 30 / $1 }')" >/dev/null; }
all_asleep_ended() { ! asleep; }
start_story() { # GPUS: start a demo whose own story stays at its beginning; sets demo, ranks and folder
    start_terminal 80 24 "DEMO_PACE=$pace GPUS=$1 O=$O tools/demo; echo \"ended \$?\"; stty -a; exec cat"
    check "demo of $1: the caption is on the screen" shows '^[^ ].* healthy .*Enter: '
    ranks=$(list_leftovers | sed 's|/proc/||; s|/exe||' | paste -sd ,)
    folder=$(echo "$work"/rtl-demo.*)
}
none_left() { # NAME
    check "$1: its processes have ended" wait_until 60 nothing_left
    check "$1: its story has ended" wait_until 60 all_asleep_ended
    check "$1: its folder is gone" wait_until 60 sh -c "! ls -d '$work'/rtl-demo.*"
}
phase_has() { # FILTER: begin the phase beside a viewer, and wait until the filter is true for a frame
    : >"$work/frames"
    "$O/rtl-top" -p "$ranks" --json -d 2 >"$work/frames" 2>/dev/null &
    watcher=$!
    tap_pids="$tap_pids $watcher"
    wait_until 60 sh -c "[ \$(wc -l <'$work/frames') -ge 2 ]"
    tools/demo-story "$folder" 4 "$phase"
    wait_until 120 sh -c "jq -e '.kernels | map({key: .name, value: .}) | from_entries | select($1)' '$work/frames'"
    found=$?
    end_process "$watcher"
    [ "$found" -eq 0 ] || tail -n 1 "$work/frames" | jq -c '.kernels[] | [.name[:60], .slowest, .window]'
    return "$found"
}
kernel() { echo "(to_entries | map(select(.key | test(\"$1\")).value)[0])"; }
gemm=$(kernel MT128x128x64) tail=$(kernel MT16x16x512) nccl=$(kernel ncclDevKernel)
start_story 4
check "demo of 4: its story has begun" wait_until 60 asleep
is "demo of 4: it has four processes" "$(echo "$ranks" | tr , '\n' | grep -c .)" 4
# A collective that meets others is timed by the host: on a busy machine some wait for a process. The median shows the story.
phase='healthy'
check "demo, healthy: collectives wait for nobody" phase_has "$nccl.window.p50_ns < 50000"
phase='slow'
check "demo, slow: SLOWEST is rank 2" phase_has "$gemm.slowest | .label == \"R2\" and .ratio > 1.2"
check "demo, slow: the caption names rank 2" shows '^Rank 2 is slow: '
phase='tail'
check "demo, tail: p99 of a kernel doubles, p50 does not change" \
    phase_has "$tail.window | .p99_ns > 500000 and .p50_ns < 230000"
check "demo, tail: the caption names the kernel" shows '^gemm 16x16x512: its P99 doubled'
phase='wait'
check "demo, wait: rank 2 arrives last at a collective, where the others wait" \
    phase_has "$nccl | .window.p50_ns > 300000 and (.slowest | .arrives_last and .label == \"R2\")"
check "demo, wait: the caption names the last rank" shows '^nccl waits for rank 2'
phase='over'
check "demo, over: collectives wait for nobody again" phase_has "$nccl.window.p50_ns < 50000 and $gemm.window.p50_ns < 170000"
check "demo, over: the caption says that all is healthy" shows '^All is healthy again'
keys C-c
check "demo, Ctrl-C: the demo ends" wait_until 60 nothing_left
none_left "demo, Ctrl-C"

start_story 1
is "demo of 1: it has one process" "$(echo "$ranks" | tr , '\n' | grep -c .)" 1
run_tmux kill-server # the terminal is gone
none_left "demo, closed terminal"

mkdir "$work/loop"
DEMO_PACE=30 tools/demo-story "$work/loop" 4 &
story=$!
tap_pids="$tap_pids $story"
: >"$work/captions"
all_told() {
    cat "$work/loop/caption" >>"$work/captions" 2>/dev/null
    [ "$(sort -u "$work/captions" | grep -c .)" = 5 ]
}
check "demo story: all five phases follow one another" wait_until 120 all_told
end_process "$story"
check "demo story: captions fit into 80 columns" sh -c "! grep -E '.{81}' '$work/captions'"
tools/demo-story "$work/loop" 4 nonsense 2>"$work/out"
is "demo story: an unknown phase is wrong usage" "$?" 2

make O="$O" demo RELEASE=experimental SERVER=llama >"$work/out" 2>&1
check "make demo: RELEASE with SERVER=llama is refused" test "$?" -ne 0
has "make demo: the refusal of RELEASE with SERVER=llama says why" "$(cat "$work/out")" '^make demo: RELEASE=experimental excludes SERVER=llama'
make O="$O" demo RELEASE=no/release >"$work/out" 2>&1
check "make demo: an invalid RELEASE name is refused" test "$?" -ne 0
has "make demo: the refusal names the wrong RELEASE" "$(cat "$work/out")" "'no/release' is neither a release"
if [ -d cache/releases/experimental ]; then
    check "make demo on ROCm 7.2.4: shows its kernels and ends on q" tests/e2e/watch-demo 180 make O="$O" demo RELEASE=experimental
    check "make demo on ROCm 7.2.4: the program has ended" wait_until 60 nothing_left
else
    skip "make demo on ROCm 7.2.4" "tests/vgpu/releases experimental hasn't fetched it"
fi

make O="$O" demo >"$work/out" 2>&1 </dev/null
check "make demo: fails without a terminal" test "$?" -ne 0
has "make demo: its refusal without a terminal says what to do" "$(cat "$work/out")" 'needs a terminal.*make demo'
finish

#!/bin/sh
# rtl-top probe --stalls: the waits of a kernel, each timed by one of the copies; text and JSON; refusals. On the software
# GPU, where kernels compute and a wait takes two steps of its clock.
. "$(dirname "$0")/tap.sh"

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
top=$O/rtl-top
mkdir "$work/objects"
tests/vgpu/gcn/unbundle "$work/objects" "$O/tests/programs/probe_work" >"$work/count"
objdump=$(command -v llvm-objdump) || for objdump in /usr/lib/llvm-*/bin/llvm-objdump; do :; done

run_probe() { "$top" probe -p "$program" "$@" >"$work/out" 2>"$work/err"; }
output_line() { grep "^$1" "$work/out"; }
start_program() { # OPTIONS OF run... -- PROGRAM: start it in the background with its stdin held open
    rm -f "$work/stdin"
    mkfifo "$work/stdin"
    on_gpu --execute --waves "$work/waves" "$@" <"$work/stdin" >"$work/work.out" 2>"$work/work.err" &
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
RTL_PROBE=1 && export RTL_PROBE
# Disassembly by objdump: ADDRESS FIELDS, a line for each wait of the kernel
objdump_waits() { # KERNEL
    for file in "$work/objects"/gfx90a-*.co; do
        "$objdump" -d --mcpu=gfx90a --disassemble-symbols="$1" "$file" 2>"$work/null"
    done | sed -n 's,^\t\(s_[a-z0-9_]*\) *\(.*[^ ]\) *// *0*\([0-9A-F]*\): .*,\3 \1 \2,p' | grep ' s_waitcnt ' | tr -s ' '
}
first_address() { # KERNEL: print its first address
    for file in "$work/objects"/gfx90a-*.co; do
        "$objdump" -d --mcpu=gfx90a --disassemble-symbols="$1" "$file" 2>"$work/null"
    done | sed -n 's,.*// *0*\([0-9A-F]*\): .*,\1,p' | head -n 1
}

# ---- a kernel with more waits than one copy can time ----
VGPU_WAIT_CYCLES=400 && export VGPU_WAIT_CYCLES
start_program -- "$O/tests/programs/probe_work" 60 --hold
run_probe -k work_walk --stalls -n 3 --every 2
is "--stalls: exits with 0" "$? $(cat "$work/err")" "0 "
waits=$(objdump_waits work_walk | wc -l)
copies=$(output_line waits | sed 's/.* of \([0-9]*\) copies.*/\1/')
check "--stalls: the kernel has at least 33 waits" test "$waits" -ge 33
has "--stalls: all waits are timed by several copies" "$(output_line waits)" "^waits +$waits of $waits timed, by ([3-9]) of \\1 copies; hottest first\$"
has "--stalls: each copy has its dispatches" "$(output_line probed)" '^probed +(9|12|15) of [0-9]+ dispatches, wanted 3 for each copy; one in 2$'
has "--stalls: no wave is missing" "$(output_line waves)" '^waves +([0-9]+) of \1 expected$'
has "--stalls: prints the cycles of reading the clock" "$(output_line clock)" '^clock +reading it takes 104 cycles: '
printed_waits() { sed -n 's/^ .*%.* +0x\([0-9a-f]*\) *\(s_waitcnt.*\)/\1 \2/p' "$work/out"; }
from=$((0x$(first_address work_walk)))
objdump_waits work_walk | while read -r address instruction; do printf '%x %s\n' $((0x$address - from)) "$instruction"; done |
    sort >"$work/listed"
printed_waits | sort >"$work/places"
is "--stalls: waits are where objdump finds them" "$(cmp "$work/places" "$work/listed")" ""
printed_shares() { sed -n 's/^ *\([0-9.]*\)%.*/\1/p' "$work/out"; }
is "--stalls: the hottest waits come first" "$(printed_shares)" "$(printed_shares | sort -rn)"
has "--stalls: the hottest wait is for memory" "$(printed_waits | head -n 1)" ' s_waitcnt vmcnt\(0\)$'
if ldconfig -p | grep -q libamd_comgr; then
    has "--stalls: prints the instructions before a wait" "$(cat "$work/out")" '^ {20,}global_load_dword v[0-9]'
    is "--stalls: prints three instructions of each of the hottest ten" "$(grep -cE '^ {20,}[gsv][a-z]*_' "$work/out")" 30
    is "--stalls: gives no reason for missing instructions" "$(output_line before)" ""
fi
run_probe -k work_walk --stalls -n 3 --every 2 --json
is "--stalls --json: exits with 0" "$? $(cat "$work/err")" "0 "
cat >"$work/judge.py" <<'END'
import json, sys
o = json.load(open(sys.argv[1]))
s, waits = o["stalls"], int(sys.argv[2])
assert o["version"] == 1 and o["ended"] == "done" and o["wanted"] == 3 and "waves" not in o and "units" not in o
assert s["waits"] == s["timed"] == len(s["list"]) == waits and s["copies"] == s["copies_needed"] >= 3
assert s["recorded"] == 3 * s["copies"] and s["waves"] == s["waves_expected"] == s["recorded"]
assert "no_instructions" in s and (s["no_instructions"] is None) == any(w["before"] for w in s["list"])
assert s["clock_cycles"] == 104 and s["mean_ns"] == s["others_mean_ns"] == 5000
shares = [w["share"] for w in s["list"]]
assert shares == sorted(shares, reverse=True) and 0.3 < sum(shares) < 1 and min(shares) > 0
assert len({w["offset"] for w in s["list"]}) == waits
for w in s["list"]:
    assert w["passes"] == 3 and abs(w["mean_cycles"] * 3 - w["cycles"]) < 1 and len(w["before"]) <= 3
    memory = "vmcnt(0)" in w["instruction"]
    assert 380 <= w["mean_cycles"] <= 408 if memory else w["mean_cycles"] == 104, w
END
check "--stalls --json: its numbers are consistent" python3 "$work/judge.py" "$work/out" "$waits"
sed 's/"passes":3/"passes":2/' "$work/out" >"$work/wrong"
fails() { ! "$@"; }
check "--stalls --json: the consistency check finds a wrong number" fails python3 "$work/judge.py" "$work/wrong" "$waits"

# ---- a libamd_comgr that doesn't know the GPU, and one without its functions ----
mkdir "$work/unknowing" "$work/empty"
cat >"$work/comgr.c" <<'END'
int amd_comgr_create_disassembly_info(void) { return 1; }
int amd_comgr_destroy_disassembly_info(void) { return 0; }
int amd_comgr_disassemble_instruction(void) { return 1; }
END
${CC:-gcc} -shared -fPIC -o "$work/unknowing/libamd_comgr.so.3" "$work/comgr.c"
${CC:-gcc} -shared -fPIC -o "$work/empty/libamd_comgr.so.3" -x c /dev/null
check_library() { # FOLDER WHY
    LD_LIBRARY_PATH=$work/$1 "$top" probe -p "$program" -k work_walk --stalls -n 1 --every 2 >"$work/out" 2>"$work/err"
    is "$1 libamd_comgr: the reason for missing instructions is printed" "$(output_line before)" "before    no instructions: $2"
    is "$1 libamd_comgr: no instructions are printed" "$(grep -cE '^ {20,}[gsv][a-z]*_' "$work/out")" 0
    LD_LIBRARY_PATH=$work/$1 "$top" probe -p "$program" -k work_walk --stalls -n 1 --every 2 --json >"$work/out" 2>"$work/err"
    is "$1 libamd_comgr: JSON has the reason" "$(jq -c '.stalls | [.no_instructions, (.list | map(.before | length) | add)]' "$work/out")" "[\"$2\",0]"
}
check_library unknowing "libamd_comgr doesn't know gfx90a"
check_library empty "libamd_comgr is another one than this reads"

# ---- loops, branches, LDS; kept files; early ends ----
for kernel in work_mix work_sum; do
    run_probe -k "$kernel" --stalls -n 5 --every 2 --keep "$work/kept-$kernel"
    is "--stalls of $kernel: exits with 0" "$? $(cat "$work/err")" "0 "
    printed_waits | cut -d ' ' -f 2- | sort >"$work/places"
    objdump_waits "$kernel" | cut -d ' ' -f 2- | sort >"$work/listed"
    is "--stalls of $kernel: each of its waits is listed" "$(cmp "$work/places" "$work/listed")" ""
    has "--stalls of $kernel: the kept text has the waits" "$(cat "$work/kept-$kernel/probe.txt")" '^[0-9]+ waits, [1-9][0-9]* timed by this copy, the last of 1$'
done
run_probe -k work_walk --stalls -n 1000000 --timeout 3
is "--stalls --timeout: exits with 17 and says so" "$? $(grep -c 'the time for it is over' "$work/err")" "17 1"
has "--stalls --timeout: prints the numbers so far" "$(output_line waits)" '^waits +[1-9][0-9]* of '
run_probe -k work_walk -n 3 --every 2
is "probe after --stalls: succeeds" "$? $(output_line busy | grep -c 'compute units had waves')" "0 1"
# ---- events between two copies: the viewer is stopped until the first copy has completed ----
count_loaded() { grep -c 'a probe was loaded' "$work/work.err"; }
start_and_stop_viewer() { # OPTIONS OF probe...: start it in the background, as $probing; again if it was at the next copy already
    for _ in 1 2 3 4 5; do
        had=$(count_loaded)
        "$top" probe -p "$program" -k work_walk --stalls -n 3 --every 2 --force "$@" >"$work/out" 2>"$work/err" &
        probing=$!
        tap_pids="$tap_pids $probing"
        wait_until 60 sh -c "[ \$(grep -c 'a probe was loaded' '$work/work.err') -gt $had ]"
        kill -STOP "$probing"
        wait_until 10 sh -c "'$O/tests/programs/intercept_dump' $program probe | grep -q 'over recorded 3'" &&
            [ "$(count_loaded)" = $((had + 1)) ] && return
        kill -CONT "$probing"
        wait "$probing"
    done
}
start_and_stop_viewer --keep "$work/first" --json
kill -STOP "$program"
kill -CONT "$probing"
wait "$probing"
is "--stalls, no answer after the first copy: says which copies are missing" "$? $(cat "$work/err")" \
    "17 rtl-top: copies 2 to $copies of $copies are missing: its library doesn't answer; does the process hang, or dispatch nothing?"
is "--stalls, no answer after the first copy: JSON has the first copy's numbers" "$(jq -c '[.ended, .stalls.copies, .stalls.recorded, .stalls.timed > 0, .code.hash != null]' "$work/out")" \
    '["no_answer",1,3,true,true]'
is "--stalls, no answer after the first copy: its files are kept" "$(cd "$work/first" && echo *)" "original.co probe.txt probed.co"
has "--stalls, no answer after the first copy: the kept text has the reason" "$(cat "$work/first/probe.txt")" "^copies 2 to $copies of $copies are missing: "
kill -CONT "$program"
finish_program
is "--stalls: the program's results are right" "$ended $(grep -c PASS "$work/work.out")" "0 1"

start_program -- "$O/tests/programs/probe_work" 60 --hold
start_and_stop_viewer --keep "$work/second"
end_process "$program" KILL
kill -CONT "$probing"
wait "$probing"
is "--stalls, process ends after the first copy: says which copies are missing" "$? $(cat "$work/err")" \
    "6 rtl-top: copies 2 to $copies of $copies are missing: the process has exited"
has "--stalls, process ends after the first copy: prints its waits" "$(output_line waits)" "^waits +[1-9][0-9]* of $waits timed, by 1 of $copies copies"
has "--stalls, process ends after the first copy: prints its hash" "$(output_line copy)" '^copy +.*, hash [0-9a-f]{16}, '
has "--stalls, process ends after the first copy: prints its dispatches" "$(output_line probed)" '^probed +3 of [0-9]+ dispatches'

# ---- a kernel without waits ----
on_gpu --execute --gpus 1 -- "$O/tests/programs/serve" --layers 2 --gpus 1 >"$work/serve.out" 2>"$work/serve.err" &
program=$!
tap_pids="$tap_pids $program"
wait_until 60 sh -c "$top -p $program -b -n 1 2>/dev/null | grep -q silu"
run_probe -k silu --stalls
is "--stalls, kernel without waits: is refused" "$? $(cat "$work/err")" "17 rtl-top: it can't be probed: it has no wait that could be timed (s_waitcnt)"
run_probe -k silu --stalls --json
is "--stalls --json, kernel without waits: has no numbers" "$? $(jq -c '[.ended, has("stalls"), .stalls]' "$work/out")" '17 ["refused",true,null]'
run_probe -k silu --stalls -w "$work/recording"
is "--stalls -w: is refused" "$? $(cat "$work/err")" "1 rtl-top: -w can't be combined with --stalls: recordings have no place for its numbers"
check "--stalls -w: makes no file" test ! -e "$work/recording"
finish

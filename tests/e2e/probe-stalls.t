#!/bin/sh
# rtl-top probe --stalls: which waits a kernel has, all of them timed by one copy or another; as text and as JSON; what is
# refused. On the software GPU, where kernels compute and a wait takes two steps of its clock.
. "$(dirname "$0")/tap.sh"

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
top=$O/rtl-top
mkdir "$work/objects"
tests/vgpu/gcn/unbundle "$work/objects" "$O/tests/programs/probe_work" >"$work/count"
objdump=$(command -v llvm-objdump) || for objdump in /usr/lib/llvm-*/bin/llvm-objdump; do :; done

probe() { "$top" probe -p "$program" "$@" >"$work/out" 2>"$work/err"; }
line() { grep "^$1" "$work/out"; }
start() { # options of run... -- program: in the background, its stdin held open
    rm -f "$work/stdin"
    mkfifo "$work/stdin"
    on_gpu --execute --waves "$work/waves" "$@" <"$work/stdin" >"$work/work.out" 2>"$work/work.err" &
    program=$!
    tap_pids="$tap_pids $program"
    exec 8>"$work/stdin"
    wait_until 60 grep -q begun "$work/work.out"
}
finish_program() { # its exit status in $ended
    exec 8>&-
    wait "$program"
    ended=$?
}
RTL_PROBE=1 && export RTL_PROBE
# what objdump finds: ADDRESS FIELDS, a line a wait of the kernel
listed() { # KERNEL
    for file in "$work/objects"/gfx90a-*.co; do
        "$objdump" -d --mcpu=gfx90a --disassemble-symbols="$1" "$file" 2>"$work/null"
    done | sed -n 's,^\t\(s_[a-z0-9_]*\) *\(.*[^ ]\) *// *0*\([0-9A-F]*\): .*,\3 \1 \2,p' | grep ' s_waitcnt ' | tr -s ' '
}
begins() { # KERNEL: its first address
    for file in "$work/objects"/gfx90a-*.co; do
        "$objdump" -d --mcpu=gfx90a --disassemble-symbols="$1" "$file" 2>"$work/null"
    done | sed -n 's,.*// *0*\([0-9A-F]*\): .*,\1,p' | head -n 1
}

# ---- a kernel with more waits than one copy times ----
VGPU_WAIT_CYCLES=400 && export VGPU_WAIT_CYCLES
start -- "$O/tests/programs/probe_work" 60 --hold
probe -k work_walk --stalls -n 3 --every 2
is "waits are timed" "$? $(cat "$work/err")" "0 "
waits=$(listed work_walk | wc -l)
copies=$(line waits | sed 's/.* of \([0-9]*\) copies.*/\1/')
check "there are many" test "$waits" -ge 33
has "all of them, by several copies" "$(line waits)" "^waits +$waits of $waits timed, by ([3-9]) of \\1 copies; hottest first\$"
has "each of which had its dispatches" "$(line probed)" '^probed +(9|12|15) of [0-9]+ dispatches, wanted 3 for each copy; one in 2$'
has "no wave is missing" "$(line waves)" '^waves +([0-9]+) of \1 expected$'
has "what the clock itself takes" "$(line clock)" '^clock +reading it takes 104 cycles: '
places() { sed -n 's/^ .*%.* +0x\([0-9a-f]*\) *\(s_waitcnt.*\)/\1 \2/p' "$work/out"; }
from=$((0x$(begins work_walk)))
listed work_walk | while read -r address instruction; do printf '%x %s\n' $((0x$address - from)) "$instruction"; done |
    sort >"$work/listed"
places | sort >"$work/places"
is "where objdump finds them" "$(cmp "$work/places" "$work/listed")" ""
hot() { sed -n 's/^ *\([0-9.]*\)%.*/\1/p' "$work/out"; }
is "hottest first" "$(hot)" "$(hot | sort -rn)"
has "the hottest is one of memory" "$(places | head -n 1)" ' s_waitcnt vmcnt\(0\)$'
if ldconfig -p | grep -q libamd_comgr; then
    has "with the instructions before it" "$(cat "$work/out")" '^ {20,}global_load_dword v[0-9]'
    is "of the hottest ten" "$(grep -cE '^ {20,}[gsv][a-z]*_' "$work/out")" 30
    is "nothing is said of why there are none" "$(line before)" ""
fi
probe -k work_walk --stalls -n 3 --every 2 --json
is "as JSON" "$? $(cat "$work/err")" "0 "
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
check "its numbers agree with one another" python3 "$work/judge.py" "$work/out" "$waits"
sed 's/"passes":3/"passes":2/' "$work/out" >"$work/wrong"
fails() { ! "$@"; }
check "and the judge can fail" fails python3 "$work/judge.py" "$work/wrong" "$waits"

# ---- a libamd_comgr that doesn't know the GPU, and one that is none ----
mkdir "$work/unknowing" "$work/empty"
cat >"$work/comgr.c" <<'END'
int amd_comgr_create_disassembly_info(void) { return 1; }
int amd_comgr_destroy_disassembly_info(void) { return 0; }
int amd_comgr_disassemble_instruction(void) { return 1; }
END
${CC:-gcc} -shared -fPIC -o "$work/unknowing/libamd_comgr.so.3" "$work/comgr.c"
${CC:-gcc} -shared -fPIC -o "$work/empty/libamd_comgr.so.3" -x c /dev/null
with_library() { # FOLDER WHY
    LD_LIBRARY_PATH=$work/$1 "$top" probe -p "$program" -k work_walk --stalls -n 1 --every 2 >"$work/out" 2>"$work/err"
    is "$1 library: why there are no instructions" "$(line before)" "before    no instructions: $2"
    is "$1 library: there are none" "$(grep -cE '^ {20,}[gsv][a-z]*_' "$work/out")" 0
    LD_LIBRARY_PATH=$work/$1 "$top" probe -p "$program" -k work_walk --stalls -n 1 --every 2 --json >"$work/out" 2>"$work/err"
    is "$1 library: in JSON" "$(jq -c '.stalls | [.no_instructions, (.list | map(.before | length) | add)]' "$work/out")" "[\"$2\",0]"
}
with_library unknowing "libamd_comgr doesn't know gfx90a"
with_library empty "libamd_comgr is another one than this reads"

# ---- loops, branches, LDS; what is kept; what ends it before ----
for kernel in work_mix work_sum; do
    probe -k "$kernel" --stalls -n 5 --every 2 --keep "$work/kept-$kernel"
    is "$kernel" "$? $(cat "$work/err")" "0 "
    places | cut -d ' ' -f 2- | sort >"$work/places"
    listed "$kernel" | cut -d ' ' -f 2- | sort >"$work/listed"
    is "$kernel: each of its waits" "$(cmp "$work/places" "$work/listed")" ""
    has "$kernel: the copy is kept" "$(cat "$work/kept-$kernel/probe.txt")" '^[0-9]+ waits, [1-9][0-9]* timed by this copy, the last of 1$'
done
probe -k work_walk --stalls -n 1000000 --timeout 3
is "the time is over" "$? $(grep -c 'the time for it is over' "$work/err")" "17 1"
has "what there is was printed" "$(line waits)" '^waits +[1-9][0-9]* of '
probe -k work_walk -n 3 --every 2
is "an ordinary probe follows" "$? $(line busy | grep -c 'compute units had waves')" "0 1"
# ---- what comes between two copies: the viewer stands still until the first one is done ----
loaded() { grep -c 'a probe was loaded' "$work/work.err"; }
first_is_done() { # options of probe...: in the background, in $probing; once more where it was at the next one already
    for _ in 1 2 3 4 5; do
        had=$(loaded)
        "$top" probe -p "$program" -k work_walk --stalls -n 3 --every 2 --force "$@" >"$work/out" 2>"$work/err" &
        probing=$!
        tap_pids="$tap_pids $probing"
        wait_until 60 sh -c "[ \$(grep -c 'a probe was loaded' '$work/work.err') -gt $had ]"
        kill -STOP "$probing"
        wait_until 10 sh -c "'$O/tests/programs/intercept_dump' $program probe | grep -q 'over recorded 3'" &&
            [ "$(loaded)" = $((had + 1)) ] && return
        kill -CONT "$probing"
        wait "$probing"
    done
}
first_is_done --keep "$work/first" --json
kill -STOP "$program"
kill -CONT "$probing"
wait "$probing"
is "copies behind one that gets no answer are missing: said" "$? $(cat "$work/err")" \
    "17 rtl-top: copies 2 to $copies of $copies are missing: its library doesn't answer; does the process hang, or dispatch nothing?"
is "and in JSON" "$(jq -c '[.ended, .stalls.copies, .stalls.recorded, .stalls.timed > 0, .code.hash != null]' "$work/out")" \
    '["no_answer",1,3,true,true]'
is "what the first had is kept" "$(cd "$work/first" && echo *)" "original.co probe.txt probed.co"
has "with the reason" "$(cat "$work/first/probe.txt")" "^copies 2 to $copies of $copies are missing: "
kill -CONT "$program"
finish_program
is "the program's results are right" "$ended $(grep -c PASS "$work/work.out")" "0 1"

start -- "$O/tests/programs/probe_work" 60 --hold
first_is_done --keep "$work/second"
end_process "$program" KILL
kill -CONT "$probing"
wait "$probing"
is "a process that ends between two copies" "$? $(cat "$work/err")" \
    "6 rtl-top: copies 2 to $copies of $copies are missing: the process has exited"
has "the first one's numbers are told" "$(line waits)" "^waits +[1-9][0-9]* of $waits timed, by 1 of $copies copies"
has "with its code" "$(line copy)" '^copy +.*, hash [0-9a-f]{16}, '
has "and its dispatches" "$(line probed)" '^probed +3 of [0-9]+ dispatches'

# ---- a kernel without a wait ----
on_gpu --execute --gpus 1 -- "$O/tests/programs/serve" --layers 2 --gpus 1 >"$work/serve.out" 2>"$work/serve.err" &
program=$!
tap_pids="$tap_pids $program"
wait_until 60 sh -c "$top -p $program -b -n 1 2>/dev/null | grep -q silu"
probe -k silu --stalls
is "a kernel without a wait" "$? $(cat "$work/err")" "17 rtl-top: it can't be probed: it has no wait that could be timed (s_waitcnt)"
probe -k silu --stalls --json
is "in JSON there are no numbers of it" "$? $(jq -c '[.ended, has("stalls"), .stalls]' "$work/out")" '17 ["refused",true,null]'
probe -k silu --stalls -w "$work/recording"
is "they aren't recorded: said" "$? $(cat "$work/err")" "1 rtl-top: -w goes without --stalls: recordings have no place for its numbers"
check "and no file is made" test ! -e "$work/recording"
finish

#!/bin/sh
# Copies. Every copy that the runtime accepts is counted with its bytes by GPU and direction, and timed like the software
# GPU's copy engines, with the application's own signal. An untimed copy is counted under its reason.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/exact.sh"

INTERCEPT_KERNELS=$tap_top/$O/tests/programs
export INTERCEPT_KERNELS
scenes=$O/tests/programs/intercept_copies

# counted_copies: print "copies GPU DIRECTION COUNT BYTES" from the JSON, as the program does
counted_copies() {
    jq -r '.copies[] | "copies \(.gpu) \(.direction) \(.count) \(.bytes)"' "$work/json" | sort
}
all_settled() {
    "$O/rtl-top" -p "$program" --json -n 1 >"$work/json" &&
        jq -e '.copies | length > 0 and all(.count == .timed + (.untimed | add // 0))' "$work/json"
}
count_untimed() {
    jq -c '[.copies[].untimed | to_entries[]] | group_by(.key) | map({(.[0].key): (map(.value) | add)}) | add // {}' "$work/json"
}
count_timed() {
    jq '[.copies[].timed] | add' "$work/json"
}

# start_program PROGRAM ARGS: run it until it holds
start_program() {
    rm -f "$work/in" "$work/out" "$work/truth" "$work/copies"
    mkfifo "$work/in"
    on_gpu --gpus 2 --truth "$work/truth" --copy-truth "$work/copies" -- "$@" --hold <"$work/in" >"$work/out" 2>"$work/err" &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 120 held_or_gone "$program"
    if ! grep -q '^holding' "$work/out"; then
        echo "# $*: $(tail -n 5 "$work/out" "$work/err")" >&2
    fi
}
close_program() {
    exec 3>&-
    wait "$program"
    is "$name: exit status is 0" $? 0
    tap_pids=
}

# play SCENE [MODE]
play() {
    name="$1${2:+, $2}"
    RTL_MODE=${2:-default}
    export RTL_MODE
    start_program "$scenes" "$1"
    has "$name: the program's own verdict is PASS" "$(cat "$work/out")" '^intercept_copies: PASS'
    is "$name: standard error is empty" "$(filter_runtimes_lines <"$work/err")" ""
    if [ "$RTL_MODE" != off ] && grep -q '^copies' "$work/out"; then
        check "$name: every copy is timed or untimed" wait_until 60 all_settled
        is "$name: counts and bytes equal the program's" "$(counted_copies)" "$(grep '^copies ' "$work/out" | sort)"
    fi
}
check_all_timed() {
    play "$@"
    is "$name: every copy is timed" "$(count_untimed)" '{}'
}

# equals_engines: compare count, total, minimum and maximum of each GPU and direction with the engines' own record. In
# "reuse" the size encodes the direction. The software GPU writes the truth a millisecond later, on a busy machine more.
equals_engines() {
    awk 'BEGIN { split("h2d d2h d2d p2p", name, " ") }
        NR > 1 { key = $1 " " name[($5 - 4096) / 1024 % 4 + 1]; t = $4 - $3; n[key]++; sum[key] += t
                 if (!(key in low) || t < low[key]) low[key] = t
                 if (t > high[key]) high[key] = t }
        END { for (key in n) print key, n[key], sum[key], low[key], high[key] }' "$work/copies" | sort >"$work/wanted"
    jq -r '.copies[] | "\(.gpu) \(.direction) \(.timed) \(.total_ns) \(.min_ns) \(.max_ns)"' "$work/json" | sort >"$work/got"
    paste -d' ' "$work/wanted" "$work/got" | awk '
        function off(a, b) { return a - b > a / 100 || b - a > a / 100 }
        { if (NF != 12 || $1 != $7 || $2 != $8 || $3 != $9 || off($4, $10) || off($5, $11) || off($6, $12)) { bad++; print } }
        END { exit bad || NR != 7 }'
}
check_all_timed reuse
check "reuse: times equal the engines' to 1 %" wait_until 60 equals_engines
sed 's/^/# gpu, direction, count, total, least, most: /' "$work/got"
is "reuse: no copy is counted as a dispatch" "$(jq .dispatches.counted "$work/json")" 0
check "reuse: the text lists copies" sh -c "'$O/rtl-top' -p $program -b -n 1 --window all | grep -E '^G0 03:00.0 copies H2D  250 .*/s  bytes 12.7M .*/s  p50 3.1.µs p99 5...µs'"
close_program

# Without copy engines the runtime copies with its own kernels on its own queues; they are not counted as dispatches.
equals_kernels() {
    awk -F'\t' 'NR > 1 { n++; sum += $5 - $4 } END { print n, sum }' "$work/truth" >"$work/wanted"
    jq -r '"\([.copies[].timed] | add) \([.copies[].total_ns] | add)"' "$work/json" >"$work/got"
    diff "$work/wanted" "$work/got"
}
HSA_ENABLE_SDMA=0
export HSA_ENABLE_SDMA
check_all_timed reuse
check "reuse, copied by kernels: times equal the kernels'" wait_until 60 equals_kernels
is "reuse, copied by kernels: no copy is counted as a dispatch" "$(jq .dispatches.counted "$work/json")" 0
close_program
unset HSA_ENABLE_SDMA

check_all_timed chain
close_program
check_all_timed rect
close_program
play engine
if grep -q 'no such call' "$work/out"; then
    echo "# this runtime has no hsa_amd_memory_async_copy_on_engine"
else
    is "engine: every copy is timed" "$(count_untimed) $(count_timed)" '{} 200'
fi
close_program
check_all_timed again
close_program

# Kernels and copies alternate on the same signals: both are timed.
check_all_timed threads
is "threads: every kernel is timed" \
    "$(jq -c '.dispatches | [.counted, .timed]' "$work/json")" "[$(sed -n 's/^kernels //p' "$work/out" | sed 's/.*/&,&/')]"
close_program

# The application's own times: 250,000 bytes at 25 GB/s take 10 us, and a microsecond more. When it switches off
# profiling, the library's stays on.
own_times() {
    sed -n 's/^time //p' "$work/out" | awk '$1 < 10890 || $1 > 11110 { bad++ } END { print NR, bad + 0 }'
}
check_all_timed times
is "times: the application reads the right times" "$(own_times)" "200 0"
close_program
play times lite
is "times, lite: the application reads the right times" "$(own_times)" "200 0"
is "times, lite: no copy is timed" "$(count_untimed) $(count_timed)" '{"lite":300} 0'
close_program

# Mode lite switches nothing on: an application that didn't enable profiling gets no times, as without the library.
play unasked lite
is "unasked, lite: the library doesn't enable profiling of copies" "$(grep '^unasked' "$work/out")" "unasked 0"
close_program
play unasked off
is "unasked, off: no copy is counted" "$("$O/rtl-top" -p "$program" --json -n 1 | jq -c .copies)" "[]"
close_program

# Without a viewer, mode auto only counts copies.
lock_out_viewers
play reuse auto
is "reuse, auto: every copy is untimed as unwatched" "$(count_untimed) $(count_timed)" '{"unwatched":2000} 0'
close_program
unlock_viewing

# Copies that can't be timed
play counter
is "counter: copies that share a signal are untimed as on_several" "$(count_untimed) $(count_timed)" '{"on_several":159,"shared_signal":1} 20'
close_program
play odd
is "odd: refused copies aren't counted, others have their reasons" "$(count_untimed) $(count_timed)" \
    '{"signal_gone":1,"unsafe_signal":10} 10'
close_program

# HIP makes each copy with the runtime or with one of its own kernels; releases differ in this.
name=hip_copies
RTL_MODE=default
start_program "$O/tests/programs/hip_copies"
has "hip_copies: the program's own verdict is PASS" "$(cat "$work/out")" '^hip_copies: PASS'
check "hip_copies: every copy is timed or untimed" wait_until 60 all_settled
is "hip_copies: every copy is timed" "$(count_untimed)" '{}'
is "hip_copies: every copy is counted exactly once" \
    "$(jq '([.copies[].count] | add) + ([.kernels[] | select(.name | test("^__amd_rocclr_copyBuffer")) | .calls] | add)' "$work/json")" 302
is "hip_copies: event times are no shorter than the copy" \
    "$(sed -n 's/^elapsed //p' "$work/out" | awk '$1 < $2 / 25 * 0.99 { bad++ } END { print NR, bad + 0 }')" "100 0"
jq -c '.copies[] | {gpu, direction, count, bytes, p50_ns}' "$work/json" | sed 's/^/# /'
close_program
finish

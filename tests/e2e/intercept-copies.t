#!/bin/sh
# Copies: every one that the runtime took is counted with its bytes by GPU and direction, and timed as the software GPU's
# copy engines did it, by the application's own signal; what isn't timed is counted under its reason.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/exact.sh"

INTERCEPT_KERNELS=$tap_top/$O/tests/programs
export INTERCEPT_KERNELS
scenes=$O/tests/programs/intercept_copies

# As the JSON has it: "copies GPU DIRECTION COUNT BYTES", like what the program says
counted() {
    jq -r '.copies[] | "copies \(.gpu) \(.direction) \(.count) \(.bytes)"' "$work/json" | sort
}
all_over() {
    "$O/rtl-top" -p "$program" --json -n 1 >"$work/json" &&
        jq -e '.copies | length > 0 and all(.count == .timed + (.untimed | add // 0))' "$work/json"
}
untimed() {
    jq -c '[.copies[].untimed | to_entries[]] | group_by(.key) | map({(.[0].key): (map(.value) | add)}) | add // {}' "$work/json"
}
timed() {
    jq '[.copies[].timed] | add' "$work/json"
}

# show PROGRAM ARGS: until it holds; $work/json is what is known of it then
show() {
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
close_it() {
    exec 3>&-
    wait "$program"
    is "$name: it ends well" $? 0
    tap_pids=
}

# play SCENE [MODE]
play() {
    name="$1${2:+, $2}"
    RTL_MODE=${2:-default}
    export RTL_MODE
    show "$scenes" "$1"
    has "$name: the program's own verdict" "$(cat "$work/out")" '^intercept_copies: PASS'
    is "$name: standard error is empty" "$(without_runtimes_own <"$work/err")" ""
    if [ "$RTL_MODE" != off ] && grep -q '^copies' "$work/out"; then
        check "$name: counted are the timed and the untimed" wait_until 60 all_over
        is "$name: what was asked for was counted" "$(counted)" "$(grep '^copies ' "$work/out" | sort)"
    fi
}
all_timed() {
    play "$@"
    is "$name: all were timed" "$(untimed)" '{}'
}

# as_engines_did: count, total, least and most of each GPU and direction against the engines' own record; in "reuse" the
# size tells the direction. The truth is written a millisecond late, or more on a busy machine.
as_engines_did() {
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
all_timed reuse
check "reuse: times are the engines', to 1 %" wait_until 60 as_engines_did
sed 's/^/# gpu, direction, count, total, least, most: /' "$work/got"
is "reuse: none of it is a kernel" "$(jq .dispatches.counted "$work/json")" 0
check "reuse: text has them" sh -c "'$O/rtl-top' -p $program -b -n 1 | grep -E '^G0 03:00.0 copies H2D  250 .*/s  bytes 12.7M .*/s  p50 3.1.µs p99 5...µs'"
close_it

# Without copy engines the runtime copies by kernels of its own, in queues of its own: those are no dispatches.
as_kernels_did() {
    awk -F'\t' 'NR > 1 { n++; sum += $5 - $4 } END { print n, sum }' "$work/truth" >"$work/wanted"
    jq -r '"\([.copies[].timed] | add) \([.copies[].total_ns] | add)"' "$work/json" >"$work/got"
    diff "$work/wanted" "$work/got"
}
HSA_ENABLE_SDMA=0
export HSA_ENABLE_SDMA
all_timed reuse
check "reuse, copied by kernels: times are theirs" wait_until 60 as_kernels_did
is "reuse, copied by kernels: they aren't counted as the application's" "$(jq .dispatches.counted "$work/json")" 0
close_it
unset HSA_ENABLE_SDMA

all_timed chain
close_it
all_timed rect
close_it
play engine
if grep -q 'no such call' "$work/out"; then
    echo "# this runtime has no hsa_amd_memory_async_copy_on_engine"
else
    is "engine: all were timed" "$(untimed) $(timed)" '{} 200'
fi
close_it
all_timed again
close_it

# Kernels and copies by turns on the same signals: both are timed.
all_timed threads
is "threads: and so are all kernels" \
    "$(jq -c '.dispatches | [.counted, .timed]' "$work/json")" "[$(sed -n 's/^kernels //p' "$work/out" | sed 's/.*/&,&/')]"
close_it

# The application's own times: 250,000 bytes at 25 GB/s and a microsecond. What it switches off stays on for us.
own_times() {
    sed -n 's/^time //p' "$work/out" | awk '$1 < 10890 || $1 > 11110 { bad++ } END { print NR, bad + 0 }'
}
all_timed times
is "times: those that the application asks for are right" "$(own_times)" "200 0"
close_it
play times lite
is "times, lite: as without us" "$(own_times)" "200 0"
is "times, lite: none is timed" "$(untimed) $(timed)" '{"lite":300} 0'
close_it

# In lite nothing is switched on: an application that didn't ask for times gets what it would get without us.
play unasked lite
is "unasked, lite: the runtime isn't asked to time copies" "$(grep '^unasked' "$work/out")" "unasked 0"
close_it
play unasked off
is "unasked, off: nothing is counted" "$("$O/rtl-top" -p "$program" --json -n 1 | jq -c .copies)" "[]"
close_it

# With nobody who watches they are counted only.
unwatched
play reuse auto
is "reuse, auto: counted only" "$(untimed) $(timed)" '{"unwatched":2000} 0'
close_it
among_all

# What can't be timed
play counter
is "counter: a signal on eight copies at once is counted so" "$(untimed) $(timed)" '{"on_several":159,"shared_signal":1} 20'
close_it
play odd
is "odd: refused copies aren't counted, the others under their reasons" "$(untimed) $(timed)" \
    '{"signal_gone":1,"unsafe_signal":10} 10'
close_it

# HIP: each copy is one of the runtime's or one of HIP's own kernels, which release by release decides differently.
name=hip_copies
RTL_MODE=default
show "$O/tests/programs/hip_copies"
has "hip_copies: the program's own verdict" "$(cat "$work/out")" '^hip_copies: PASS'
check "hip_copies: counted are the timed and the untimed" wait_until 60 all_over
is "hip_copies: all were timed" "$(untimed)" '{}'
is "hip_copies: none is missing, none counted twice" \
    "$(jq '([.copies[].count] | add) + ([.kernels[] | select(.name | test("^__amd_rocclr_copyBuffer")) | .calls] | add)' "$work/json")" 302
is "hip_copies: events say no less than the copy takes" \
    "$(sed -n 's/^elapsed //p' "$work/out" | awk '$1 < $2 / 25 * 0.99 { bad++ } END { print NR, bad + 0 }')" "100 0"
jq -c '.copies[] | {gpu, direction, count, bytes, p50_ns}' "$work/json" | sed 's/^/# /'
close_it
finish

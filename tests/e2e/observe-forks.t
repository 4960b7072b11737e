#!/bin/sh
# Forked children of an observed process have its runtime and none of its queues: how often they are looked into.
# shellcheck disable=SC2119 # observe: with options of rtl-top, or without
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

play 1
tell_all run 100 0 5 0
for _ in 1 2 3 4; do
    tell_all fork
done
tell_all "done"
sed -n 's/^child //p' "$work/out" >"$work/children"
is "it has four children" "$(wc -l <"$work/children")" 4
began=$(date +%s)
if strace -o "$work/opened" -f -e trace=open,openat \
    "$O/rtl-top" -p "$program" --json -n 20 -d 0.4 >"$work/json" 2>"$work/err" 3>&-; then
    took=$(($(date +%s) - began)) # pauses of 4, 16 and then 32 s, on a machine that makes twenty frames last that long
    most=2
    [ $took -ge 20 ] && most=$((3 + (took - 20) / 32))
    while read -r child; do
        times=$(grep -c "/proc/$child/smaps" "$work/opened")
        check "a child is looked into, and over twenty frames twice at most ($times)" test "$times" -ge 1 -a "$times" -le "$most"
    done <"$work/children"
    check "the process itself is gone on with" test "$(grep -c "/proc/$program/smaps" "$work/opened")" -gt 2
    is "all frames came" "$(wc -l <"$work/json")" 20
    check "with its dispatches, and nobody else's" counted_as_launched
else
    skip "a child is looked into, and over twenty frames twice at most" "strace isn't there, or isn't allowed"
fi
while read -r child; do
    kill -9 "$child" 2>/dev/null
done <"$work/children"
close_play
is "the program came to its end" "$status" 0
finish

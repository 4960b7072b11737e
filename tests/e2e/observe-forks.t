#!/bin/sh
# Forked children of an observed process have its runtime but none of its queues: rtl-top rarely searches them.
# shellcheck disable=SC2119 # observe has optional arguments
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

play 1
send_all run 100 0 5 0
for _ in 1 2 3 4; do
    send_all fork
done
send_all "done"
sed -n 's/^child //p' "$work/out" >"$work/children"
is "forked children: there are four" "$(wc -l <"$work/children")" 4
began=$(date +%s)
if strace -o "$work/opened" -f -e trace=open,openat \
    "$O/rtl-top" -p "$program" --json -n 20 -d 0.4 >"$work/json" 2>"$work/err" 3>&-; then
    took=$(($(date +%s) - began)) # back-off of 4, 16 and then 32 s; matters where twenty frames take that long
    most=2
    [ $took -ge 20 ] && most=$((3 + (took - 20) / 32))
    while read -r child; do
        times=$(grep -c "/proc/$child/smaps" "$work/opened")
        check "forked children: one is searched once or twice in twenty frames ($times)" test "$times" -ge 1 -a "$times" -le "$most"
    done <"$work/children"
    check "forked children: the process itself is searched more often" test "$(grep -c "/proc/$program/smaps" "$work/opened")" -gt 2
    is "forked children: all frames are printed" "$(wc -l <"$work/json")" 20
    check "forked children: the counts are the process's own" counted_as_launched
else
    skip "forked children: one is searched once or twice in twenty frames" "strace is missing or not allowed"
fi
while read -r child; do
    kill -9 "$child" 2>/dev/null
done <"$work/children"
close_play
is "forked children: the program's exit status is 0" "$status" 0
finish

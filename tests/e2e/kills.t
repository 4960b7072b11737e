#!/bin/sh
# rtl-top is killed at random moments while it writes, KILLS times (60; `make kills`: 10,000): no output is damaged, and each
# has the contents that the manual promises. JOBS kills run in parallel; SEED chooses the moments. Lines with # are figures.
. "$(dirname "$0")/tap.sh"

top=$tap_top/$O/rtl-top
INTERCEPT_KERNELS=$tap_top/$O/tests/programs
export INTERCEPT_KERNELS
mkdir "$work/kills"
mkfifo "$work/in"
(RTL_TRACE=4M on_gpu -- "$O/tests/programs/observe_play" 4 <"$work/in" >"$work/out" 2>"$work/err") &
program=$!
tap_pids="$tap_pids $program"
exec 3>"$work/in"
echo "run 1000000000 4 20 8000" >&3 # 2,000 dispatches a second, so the ring of events does not overflow
counts() { "$top" -p "$program" --no-observe --json -n 1 >"$work/json" && jq -e '.dispatches.timed > 500' "$work/json"; }
check "kills: the traced program works" wait_until 60 counts
check "kills: a whole trace for exports is recorded" "$top" -p "$program" --trace "$work/kills/whole.db" -n 5 -d 0.1
check "kills: outputs are absent, whole, or lack what the manual says" env TOP_FOLDER="$tap_top/$O" \
    tests/e2e/kill-outputs "$top" "$program" "$program" \
    "$tap_top/$O/tests/programs/segment_demo" "$work/kills" "${KILLS:-60}" "${JOBS:-4}" "${SEED:-$$}"
cat "$work/check.out"
check "kills: the traced program survives" is_alive "$program"
is "kills: the traced program prints no error" "$(cat "$work/err")" ""
exec 3>&-
finish

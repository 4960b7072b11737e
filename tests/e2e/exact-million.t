#!/bin/sh
# A million launches over 8 streams and 200 kernel names: counted equals launched for every kernel, nothing is lost.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/exact.sh"

cat >"$work/script" <<'EOF'
launch_0*           fixed 1us
launch_1*           lognormal 2us 0.5
EOF
run_exact "a million launches" --script "$work/script" -- \
    "$O/tests/programs/hip_launches" --launches 1000000 --streams 8 --kernels 200
is "all 200 names were launched" "$(grep -c '^launch_' "$work/launched")" 200
is "a million of them" "$(awk '{ sum += $2 } END { print sum }' "$work/launched")" 1000000
is "counted is a million and what the runtime itself dispatched" \
    "$(jq '[.kernels[] | select(.name | startswith("launch_")) | .calls] | add' "$work/json")" 1000000
check "most were timed" jq -e '.dispatches | .timed > 0.5 * .counted' "$work/json"
finish

#!/bin/sh
# Graph replays: 300 kernels a thousand times are 300,000 dispatches, counted one by one and timed, in every mode.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/exact.sh"

cat >"$work/script" <<'EOT'
graph_[0-4]         lognormal 1us 0.5
*                   fixed 500ns
EOT
for mode in default lite; do
    RTL_MODE=$mode
    export RTL_MODE
    run_exact "graph, $mode" --script "$work/script" -- "$O/tests/programs/hip_graph"
    is "graph, $mode: all replays are counted" \
        "$(jq '[.kernels[] | select(.name | test("graph_[0-9]")) | .calls] | add' "$work/json")" 300000
    check_mostly_timed "graph, $mode"
done
finish

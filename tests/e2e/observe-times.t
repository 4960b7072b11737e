#!/bin/sh
# Times of an observed process: exact ones from the signals of its packets, shares by looking at who stands at the head of
# its queues, under both conventions of the read index; and none where nothing tells which packet runs.
# shellcheck disable=SC2119 # observe: with options of rtl-top, or without
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"
# the GPU and who looks at it get the processor before other tests do, where that is allowed
renice -n -15 -p $$ >/dev/null 2>&1

# The truth is written a millisecond late, or more; the last frame may be older than the end of the run.
shares_are_true() {
    tail -n 2 "$work/json" | head -n 1 >"$work/frame"
    tests/e2e/compare-shares "$work/truth" "$work/frame" "$1"
}

# What the machine let go by is lost, and told.
all_counted() {
    launched=$(awk '/^launched/ { n += $3 } END { print n }' "$work/out")
    test "$(frame '([.kernels[] | select(.name | startswith("(") | not) | .calls] | add) + .observed.packets_lost')" = "$launched"
}

# once EVERY [plain]: a run whose every EVERYth dispatch carries a signal, observed from its beginning
once() {
    play 1 4096 ${2:+"$2"}
    observe
    tell_all run 30000 "$1" 8 0
    tell_all "done"
    wait_until 120 all_counted || echo "# not all of it was counted" >&2
    last=$(wc -l <"$work/json")
    wait_until 120 sh -c "test \$(wc -l <'$work/json') -gt $((last + 2))" # frames after the end
    close_play
    wait "$observer"
}

# A machine whose processes wait for each other is far from what a GPU does: within 3 points in one of four runs, or 8 in
# the last one. Taken for the other convention, shares are off by more than 20.
tries() {
    for _ in 1 2 3 4; do
        once "$@"
        shares_are_true 3 && return 0
    done
    shares_are_true 8
}

for convention in late early; do
    gpu="--read-index $convention"
    check "$convention: shares of kernels of which no time is known: near the truth" tries 10 plain
    sed 's/^/# /' "$work/check.out"
    is "$convention: it says which convention it is" "$(jq -r .observed.read_index "$work/frame")" $convention
    is "$convention: and that they are estimated" "$(jq .observed.estimated "$work/frame")" true
    is "$convention: nothing is timed exactly" "$(jq .dispatches.timed "$work/frame")" 0

    check "$convention: shares where every tenth dispatch is timed exactly" tries 10
    check "$convention: some are" jq -e '.dispatches.timed > 100' "$work/frame"
    is "$convention: to the tick" \
        "$(jq -r '.kernels[] | select(.timed > 0) | "\(.name) \(.min_ns) \(.max_ns)"' "$work/frame" | sort | head -n 3 | tr '\n' ' ')" \
        "fast00 400000 400000 fast01 200000 200000 fast02 100000 100000 "

    once 0
    is "$convention: without signals no convention is known" \
        "$(tail -n 2 "$work/json" | head -n 1 | jq -r .observed.read_index)" unknown
    is "$convention: and no share shown" \
        "$(tail -n 2 "$work/json" | head -n 1 | jq '[.kernels[] | select(.estimated_ns)] | length')" 0
done
finish

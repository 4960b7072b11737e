#!/bin/sh
# Times of an observed process: exact times from the signals of its packets; shares from sampling the packet at the head of
# its queues, with both conventions of the read index; no shares where the running packet isn't known.
# shellcheck disable=SC2119 # observe has optional arguments
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"
# Give the GPU and rtl-top the CPU before other tests, if allowed.
renice -n -15 -p $$ >/dev/null 2>&1

# The software GPU writes the truth a millisecond later, or more; the last frame may be older than the end of the run.
shares_are_true() {
    tail -n 2 "$work/json" | head -n 1 >"$work/frame"
    tests/e2e/compare-shares "$work/truth" "$work/frame" "$1"
}

# Packets that rtl-top missed are reported as lost.
all_counted() {
    launched=$(awk '/^launched/ { n += $3 } END { print n }' "$work/out")
    test "$(query_frame '([.kernels[] | select(.name | startswith("(") | not) | .calls] | add) + .observed.packets_lost')" = "$launched"
}

# observe_run EVERY [plain]: run with a signal on every EVERYth dispatch, observed from the beginning
observe_run() {
    play 1 4096 ${2:+"$2"}
    observe
    send_all run 30000 "$1" 8 0
    send_all "done"
    wait_until 120 all_counted || echo "# not every dispatch was counted" >&2
    last=$(wc -l <"$work/json")
    wait_until 120 sh -c "test \$(wc -l <'$work/json') -gt $((last + 2))" # frames after the end
    close_play
    wait "$observer"
}

# A busy machine delays processes as a GPU would not: shares are within 3 points in one of four runs, or within 8 in a
# fifth. With the wrong convention they would be off by over 20.
shares_in_tries() {
    for _ in 1 2 3 4; do
        observe_run "$@"
        shares_are_true 3 && return 0
    done
    shares_are_true 8
}

for convention in late early; do
    gpu="--read-index $convention"
    check "$convention: shares of kernels without times are near the truth" shares_in_tries 10 plain
    sed 's/^/# /' "$work/check.out"
    is "$convention: JSON has the convention" "$(jq -r .observed.read_index "$work/frame")" $convention
    is "$convention: JSON says that shares are estimated" "$(jq .observed.estimated "$work/frame")" true
    is "$convention: no dispatch is timed exactly" "$(jq .dispatches.timed "$work/frame")" 0

    check "$convention: shares are near the truth if every tenth dispatch is timed" shares_in_tries 10
    check "$convention: dispatches with signals are timed" jq -e '.dispatches.timed > 100' "$work/frame"
    is "$convention: times are right to the tick" \
        "$(jq -r '.kernels[] | select(.timed > 0) | "\(.name) \(.min_ns) \(.max_ns)"' "$work/frame" | sort | head -n 3 | tr '\n' ' ')" \
        "fast00 400000 400000 fast01 200000 200000 fast02 100000 100000 "

    observe_run 0
    is "$convention: without signals no convention is known" \
        "$(tail -n 2 "$work/json" | head -n 1 | jq -r .observed.read_index)" unknown
    is "$convention: without signals no share is shown" \
        "$(tail -n 2 "$work/json" | head -n 1 | jq '[.kernels[] | select(.estimated_ns)] | length')" 0
done
finish

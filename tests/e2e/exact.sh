# Sourced by the tests of exactness. Compares the counters of a program on the software GPU with its launches and with
# the model's truth.
# shellcheck shell=sh disable=SC2154 # tap.sh sets them

held_or_gone() { # pid
    grep -q '^holding' "$work/out" || ! is_alive "$1"
}

# HIP 5.7 waits for kernel argument memory on a signal that it made for the GPU alone, with or without a tool. The
# runtime complains when HIP reuses the memory before the GPU has finished with it.
filter_hips_lines() {
    grep -v '^Warning: .*Use of non-host signal in host signal wait API'
}

equals_truth() {
    tests/e2e/compare-truth "$work/truth" "$work/json" >"$work/compared" 2>&1
}

# run_exact NAME GPU-OPTIONS -- PROGRAM ARGS: run the program, hold it at its end and compare its counters with the
# truth.
run_exact() {
    name=$1
    shift
    rm -f "$work/in" "$work/truth" "$work/out" # of the previous run
    mkfifo "$work/in"
    on_gpu --truth "$work/truth" "$@" --hold <"$work/in" >"$work/out" 2>"$work/err" &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in" # held open: the program ends when it is closed
    wait_until 120 held_or_gone "$program"
    if ! grep -q '^holding' "$work/out"; then
        echo "# $name: $(tail -n 5 "$work/out" "$work/err")" >&2
    fi
    has "$name: the program's own verdict" "$(cat "$work/out")" '^[a-z_]+: PASS'
    is "$name: standard error is empty" "$(filter_hips_lines <"$work/err")" ""

    # In flight is 0 when every queue is empty; the worker needs a moment to see it.
    wait_until 60 sh -c "'$O/rtl-top' -p $program --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'"
    "$O/rtl-top" -p "$program" --json -n 1 >"$work/json"
    # The software GPU writes the truth a millisecond later, on a busy machine more.
    check "$name: counts and times equal the model's" wait_until 60 equals_truth
    sed 's/^/# /' "$work/compared"
    is "$name: timed and untimed add up to counted" \
        "$(jq '.dispatches | .timed + (.untimed | add // 0) == .counted' "$work/json")" true
    is "$name: the kernels add up to the dispatches" \
        "$(jq '([.kernels[].calls] | add) == .dispatches.counted' "$work/json")" true
    sed -n 's/^launched //p' "$work/out" | sort >"$work/launched"
    jq -r '.kernels[] | select(.calls > 0) | "\(.name) \(.calls)"' "$work/json" | sort >"$work/counted"
    is "$name: every launch of the program is counted" "$(comm -23 "$work/launched" "$work/counted" | head -n 5)" ""
    check "$name: the program launched kernels" test -s "$work/launched"

    exec 3>&-
    wait "$program"; status=$?
    tap_pids=
    is "$name: the program's exit status is that without rtl-top" "$status" 0
}

# check_mostly_timed NAME: check the last run. A worker that doesn't run for some 30 ms while 1 us kernels run has no
# signals left, or no room for more dispatches in flight. How often this happens depends on the machine's load, not on the
# library.
check_mostly_timed() {
    check "$1: at least 99 % of the dispatches that found a signal and room are timed" \
        jq -e '.dispatches | .timed > 0 and .timed + .untimed.no_signal + .untimed.no_room >= 0.99 * .counted' "$work/json"
    echo "# $1: $(jq -r '.dispatches | "\(.timed) of \(.counted) timed; untimed: \(.untimed | tojson)"' "$work/json")"
}

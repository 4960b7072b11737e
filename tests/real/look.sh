# Sourced by the tests of real programs, after tap.sh: fetch them, run them to the end with librtl.so, and compare the counters
# with the software GPU's truth.
# shellcheck shell=sh disable=SC2154 # variables that tap.sh sets

llama_set=${RTL_RELEASE:-llama} # tests/one: FILE@@SET
. "$tap_top/tests/real/real.sh"
. "$tap_top/tests/e2e/exact.sh" # equals_truth, check_mostly_timed
hold=$tap_top/$O/tests/programs/hold_preload.so

# have SET: fetch it if it is missing. If the archive lacks it today or can't send it, or the disk is full, the test is skipped
# with a line on standard error, and does not fail.
have() {
    tests/vgpu/releases "$1" >"$work/fetched" 2>"$work/fetched.err"
    case $? in
    0)
        sed 's/^/# /' "$work/fetched"
        return 0
        ;;
    3 | 4)
        why=$(tail -n 1 "$work/fetched.err")
        echo "# NOT RUN: $why" >&2
        tap_number=$((tap_number + 1))
        echo "ok $tap_number - $1 # SKIP not fetched: $(echo "$why" | tr '#' ' ')"
        ;;
    *) check "$1 is fetched" cat "$work/fetched.err" /nonexistent ;;
    esac
    return 1
}

# need SET: end the test without it
need() {
    have "$1" || finish
}

# settled_json PID: write the counters to $work/json once every queue is empty
settled_json() {
    rm -f "$work/json"
    wait_until 60 sh -c "'$O/rtl-top' -p $1 --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'"
    "$O/rtl-top" -p "$1" --json -n 1 >"$work/json"
}

counted_as_in_truth() { # passes also if no kernel is timed from its first to its last call
    equals_truth || grep -q ' dispatches, .*: 0 differences$' "$work/compared"
}

# exact_now NAME PID MODE: compare the counters of the process with $work/truth
exact_now() {
    settled_json "$2"
    if [ ! -s "$work/json" ]; then
        check "$1: rtl-top reads its counters" false
        return
    fi
    case $3 in
    off)
        is "$1: nothing is counted" "$(jq .dispatches.counted "$work/json")" 0
        return
        ;;
    auto) check "$1: every kernel's count equals the software GPU's" wait_until 20 counted_as_in_truth ;;
    *) check "$1: every kernel's count and times equal the software GPU's" wait_until 20 equals_truth ;;
    esac
    sed 's/^/# /' "$work/compared"
    is "$1: timed and untimed, and all kernels, add up to the counted dispatches" "$(jq '(.dispatches | .timed + (.untimed | add // 0) == .counted)
        and ([.kernels[].calls] | add) == .dispatches.counted' "$work/json")" true
    case $3 in default | full) check_mostly_timed "$1" ;; esac
}

# launches_linked NAME PID: in mode hip, after exact_now
launches_linked() {
    "$O/tests/programs/links_check" "$2" >"$work/linked"
    is "$1: every launch is linked to the call that made it" "$(grep '^counted' "$work/linked")" \
        "counted linked $(jq .dispatches.counted "$work/json") outside 0 queue_thread 0 overtaken 0 unnoted 0"
    has "$1: every copy is linked to its call" "$(grep '^copied' "$work/linked")" '^copied linked [0-9]+ unlinked 0$'
}

# gpus_as_in_truth NAME [GPU...]: after exact_now: each GPU's busy time and idle gaps equal the truth; only the given GPUs ran kernels
gpus_as_in_truth() {
    on_name=$1
    shift
    [ $# -eq 0 ] || is "$on_name: kernels ran on GPU $*" \
        "$(jq -r '[.gpus[] | select(.busy_ns > 0) | .id] | sort | join(" ")' "$work/json")" "$*"
    check "$on_name: each GPU's busy time and idle gaps equal the software GPU's" tests/e2e/compare-gpus "$work/truth" "$work/json"
    sed 's/^/# /' "$work/check.out"
}

held() { # pid
    test -s "$work/held" || ! is_alive "$1"
}

# run_real SET NAME GPU-OPTIONS PROGRAM ARGS: run a program of the set (empty: on this system's runtime) to the end with
# librtl.so; check its counters and its status (0, or $wanted). Its output is in $work/out and $work/err.
run_real() {
    real_set=$1 name=$2 options=$3
    shift 3
    rm -f "$work/truth" "$work/held"
    if [ "${RTL_MODE:-}" = hip ]; then options="$options --preload $tap_top/$O/librtl-hip.so"; fi
    (
        cd "${run_in:-$work}" || exit
        # shellcheck disable=SC2086 # options without blanks
        HOLD_AT_END=$work/held HSA_TOOLS_LIB=$tap_top/$O/librtl.so \
            exec "$tap_top/tests/vgpu/run" ${real_set:+--release "$real_store/$real_set"} --preload "$hold" --truth "$work/truth" $options -- "$@" \
            >"$work/out" 2>"$work/err" </dev/null
    ) &
    program=$!
    tap_pids="$tap_pids $program"
    wait_until "${seconds:-120}" held "$program"
    if [ -s "$work/held" ]; then
        exact_now "$name" "$program" "${RTL_MODE:-default}"
        if [ "${RTL_MODE:-}" = hip ]; then launches_linked "$name" "$program"; fi
    else
        check "$name: reaches its end with its counters" tail -n 5 "$work/out" "$work/err" /nonexistent
    fi
    rm -f "$work/held"
    wait_until 30 gone "$program" || kill -9 "$program"
    wait "$program"
    status=$?
    tap_pids=
    is "$name: ends as without the library" "$status" "${wanted:-0}"
}
gone() { ! is_alive "$1"; }

next_held() { # sets $held
    held=$(find "$work" -maxdepth 1 -name 'held.*' -size +0 | head -n 1)
    [ -n "$held" ] || ! is_alive "$program"
}

# run_children SET NAME GPU-OPTIONS PROGRAM ARGS: like run_real, for a program whose forked children use the GPUs (each child
# $gpus, if set). Compares counters with the truth at the end of each child that launched kernels; $children is their number.
run_children() {
    real_set=$1 name=$2 options=$3
    shift 3
    rm -f "$work"/truth* "$work"/held*
    children=0
    if [ "${RTL_MODE:-}" = hip ]; then options="$options --preload $tap_top/$O/librtl-hip.so"; fi
    (
        # shellcheck disable=SC2086 # options without blanks
        HOLD_AT_END=$work/held.%p HSA_TOOLS_LIB=$tap_top/$O/librtl.so exec "$tap_top/tests/vgpu/run" \
            --release "$real_store/$real_set" --preload "$hold" --truth "$work/truth.%p" $options -- "$@" \
            >"$work/out" 2>"$work/err" </dev/null
    ) &
    program=$!
    tap_pids="$tap_pids $program"
    while wait_until "${seconds:-120}" next_held && [ -n "$held" ]; do
        child=${held##*.}
        if grep -q '^[0-9].*[^>]$' "$work/truth.$child" 2>/dev/null; then
            ln -sf "truth.$child" "$work/truth"
            exact_now "$name" "$child" "${RTL_MODE:-default}"
            if [ "${RTL_MODE:-}" = hip ]; then launches_linked "$name" "$child"; fi
            # shellcheck disable=SC2086 # numbers
            gpus_as_in_truth "$name" ${gpus:-}
            children=$((children + 1))
        fi
        rm -f "$held"
    done
    wait_until 30 gone "$program" || kill -9 "$program"
    wait "$program"
    status=$?
    tap_pids=
    is "$name: ends as without the library" "$status" "${wanted:-0}"
}

# verdicts FILE: print the results of single tests without times: GoogleTest's lines, Thrust's sum
verdicts() {
    sed -n 's/^\(\[ *\(OK\|FAILED\) *\] [^ ,]*\).* ([0-9]* ms)$/\1/p; /^Totals: /p' "$1" | sort
}

# twice SET NAME GPU-OPTIONS PROGRAM ARGS: run it alone, then by run_real; status and verdicts must be equal. Most tests fail
# both times, because kernels don't execute.
twice() {
    twice_set=$1 twice_name=$2 twice_options=$3
    shift 3
    (
        cd "${run_in:-$work}" || exit
        # shellcheck disable=SC2086 # options without blanks
        exec timeout -k 10 "${seconds:-120}" "$tap_top/tests/vgpu/run" --release "$real_store/$twice_set" $twice_options -- "$@" \
            >"$work/alone" 2>"$work/alone.err" </dev/null
    )
    wanted=$?
    check "$twice_name, alone: reaches its end" test "$wanted" -lt 124
    verdicts "$work/alone" >"$work/verdicts"
    run_real "$twice_set" "$twice_name" "$twice_options" "$@"
    wanted=
    is "$twice_name: every single test has the same result as alone" "$(verdicts "$work/out" | diff "$work/verdicts" - | head -n 5)" ""
}

# Sourced by the tests of librtl-hip.so. Runs a program under it, holds it at its end and prints its records.
# shellcheck shell=sh disable=SC2034,SC2154 # tap.sh and the tests set them

hip_library=$tap_top/$O/librtl-hip.so

# play PROGRAM...: run the program until it holds; $program is its process. The software GPU's options are in $gpu, the
# mode in $mode.
play() {
    rm -f "$work/in" "$work/out" "$work/err"
    mkfifo "$work/in"
    # shellcheck disable=SC2086 # several options, or none
    (RTL_MODE=${mode-hip} LD_PRELOAD=$hip_library HSA_TOOLS_LIB=$tap_top/$O/librtl.so exec \
        tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} ${gpu:-} -- "$@" \
        <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 120 sh -c "grep -q '^holding' '$work/out' || ! kill -0 $program || grep -q zombie /proc/$program/status"
    grep -q '^holding' "$work/out" || echo "# $* doesn't hold: $(tail -n 3 "$work/out" "$work/err")" >&2
}

# close_play: let the program end; $status is its exit status.
close_play() {
    exec 3>&-
    wait_until 60 sh -c "! kill -0 $program 2>/dev/null || grep -q zombie /proc/$program/status" || kill -9 "$program"
    wait "$program"
    status=$?
    tap_pids=
}

run_api() {
    "$O/rtl-top" api -p "$program" "$@"
}

# The program's own tally, and the recorded one.
print_tally() { grep -E '^(called|code|memory) ' "$work/out" | sort; }
print_recorded() {
    run_api --json | jq -r '(.api[] | select(.calls > 0) | "called \(.name) \(.calls) \(.bytes)",
        (.name as $name | .codes[] | "code \($name) \(.code) \(.count)")),
        (.memory[] | select(.allocations > 0) |
            "memory \(.place)\(if .gpu == null then "" else .gpu end) \(.in_use_bytes) \(.allocations)")' | sort
}

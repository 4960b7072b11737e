# Sourced by the tests of observing. Runs a program without librtl.so on the software GPU, sends it commands, and prints
# what rtl-top observes.
# shellcheck shell=sh disable=SC2034,SC2154 # tap.sh and the tests set them

INTERCEPT_KERNELS=$tap_top/$O/tests/programs
export INTERCEPT_KERNELS
cat >"$work/script" <<'EOF'
fast00 fixed 400us
fast01 fixed 200us
fast02 fixed 100us
fast0* fixed 50us
fast*  fixed 10us
more*  fixed 20us
*      fixed 5us
EOF

# play ARGS...: start the program and wait until it is ready; $program is its process. Inputs: $gpu (options of the
# software GPU), $tools, $begin (a command in place of observe_play) and $under (a command that runs it).
play() {
    rm -f "$work/in" "$work/truth" "$work/out"
    mkfifo "$work/in"
    # shellcheck disable=SC2086 # several options, or none
    (HSA_TOOLS_LIB=${tools:-} exec ${under:-} tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --script "$work/script" --truth "$work/truth" \
        ${gpu:-} -- ${begin:-"$O/tests/programs/observe_play"} "$@" <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 60 sh -c "grep -q '^ready' '$work/out' || ! kill -0 $program"
    said=0
}

# send LINE: don't wait for the answer.
send() {
    echo "$*" >&3
    said=$((said + 1))
}
got_answers() { wait_until 120 sh -c "test \$(grep -c '^ok' '$work/out') -ge $said"; }
send_all() { send "$@" && got_answers; }

# observe [OPTIONS]: write frames into $work/json in the background. Returns after the first
# frame.
observe() {
    rm -f "$work/json"
    "$O/rtl-top" -p "$program" --observe --no-children --json -d 0.2 "$@" >"$work/json" 2>"$work/observe.err" 3>&- &
    observer=$!
    tap_pids="$tap_pids $observer"
    wait_until 60 sh -c "test -s '$work/json' || ! kill -0 $observer"
}

# query_frame FILTER: apply the filter to the last complete frame.
query_frame() { tail -n 2 "$work/json" | jq -rs "last | $*" 2>/dev/null || tail -n 2 "$work/json" | head -n 1 | jq -r "$*"; }

counted_as_launched() {
    sed -n 's/^launched //p' "$work/out" | sort >"$work/launched"
    query_frame '.kernels[] | select(.name | startswith("(") | not) | "\(.name) \(.calls)"' | sort >"$work/counted"
    test -s "$work/launched" && diff "$work/launched" "$work/counted"
}

close_play() {
    exec 3>&-
    wait_until 60 sh -c "! kill -0 $program 2>/dev/null || grep -q zombie /proc/$program/status" || kill -9 "$program"
    wait "$program" 2>/dev/null
    status=$?
}

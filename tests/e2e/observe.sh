# Sourced by the tests of observing: a program without librtl.so on the software GPU, that does what it is told, and what
# rtl-top says of it from outside.
# shellcheck shell=sh disable=SC2034,SC2154 # what tap.sh and the tests set

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

# play ARGS...: until it is ready; $program is its process. Options of the software GPU in $gpu.
# Loaded as tools: $tools. Another way to begin observe_play: $begin. What it runs under: $under.
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

# tell LINE: without waiting for the answer
tell() {
    echo "$*" >&3
    said=$((said + 1))
}
answered() { wait_until 120 sh -c "test \$(grep -c '^ok' '$work/out') -ge $said"; }
tell_all() { tell "$@" && answered; }

# observe [OPTIONS]: frames into $work/json, in the background, until `observed`; a frame is there when it returns
observe() {
    rm -f "$work/json"
    "$O/rtl-top" -p "$program" --observe --no-children --json -d 0.2 "$@" >"$work/json" 2>"$work/observe.err" 3>&- &
    observer=$!
    tap_pids="$tap_pids $observer"
    wait_until 60 sh -c "test -s '$work/json' || ! kill -0 $observer"
}

# frame FILTER: of the last whole frame
frame() { tail -n 2 "$work/json" | jq -rs "last | $*" 2>/dev/null || tail -n 2 "$work/json" | head -n 1 | jq -r "$*"; }

counted_as_launched() {
    sed -n 's/^launched //p' "$work/out" | sort >"$work/launched"
    frame '.kernels[] | select(.name | startswith("(") | not) | "\(.name) \(.calls)"' | sort >"$work/counted"
    test -s "$work/launched" && diff "$work/launched" "$work/counted"
}

close_play() {
    exec 3>&-
    wait_until 60 sh -c "! kill -0 $program 2>/dev/null || grep -q zombie /proc/$program/status" || kill -9 "$program"
    wait "$program" 2>/dev/null
    status=$?
}

# Sourced by the tests of the library: a scene of intercept_scenes on the software GPU, held at its end, and what the
# library says about it then.
# shellcheck shell=sh disable=SC2034,SC2154 # what tap.sh and the tests set

noop=$tap_top/$O/tests/programs/intercept_noop_preload.so
dump=$O/tests/programs/intercept_dump
INTERCEPT_KERNELS=$tap_top/$O/tests/programs
export INTERCEPT_KERNELS
cat >"$work/script" <<'EOF'
slow*  fixed 100s
fast00 fixed 0ns
fast99 fixed 100us
fast*  lognormal 8us 0.5
*      fixed 5us
EOF

# play SCENE...: until it holds; $program is its process. Options of the software GPU in $gpu, tools in $tools, what is
# preloaded in $preload, the program in $scenes.
play() {
    rm -f "$work/in" "$work/truth" "$work/out" "$work/err" # what the scene before left must not be taken for this one's
    mkfifo "$work/in"
    # shellcheck disable=SC2086 # several options, or none
    (HSA_TOOLS_LIB=${tools-$tap_top/$O/librtl.so} exec env ${preload:+"LD_PRELOAD=$preload"} tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} \
        --script "$work/script" --truth "$work/truth" ${gpu:-} -- "$O/tests/programs/${scenes:-intercept_scenes}" "$@" \
        <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 120 sh -c "grep -q '^holding' '$work/out' || ! kill -0 $program || grep -q zombie /proc/$program/status"
    if ! grep -q '^holding' "$work/out"; then
        echo "# $* doesn't hold: $(tail -n 3 "$work/out" "$work/err")" >&2
    fi
}

# look [KEY]: what the segment says now
look() {
    "$dump" "$program" "$@" 2>&1
}

# All counted dispatches are timed, untimed or in flight, and as many are in flight as is said.
settled() { # in flight
    look | awk -v want="$1" '
        $1 == "counted" { counted = $2 } $1 == "timed" { timed = $2 } $1 == "untimed_total" { untimed = $2 }
        END { exit counted == 0 || counted - timed - untimed != want }'
}

# close_scene: lets it go on to its end; $status is how it ended
close_scene() {
    exec 3>&-
    wait_until 60 sh -c "! kill -0 $program 2>/dev/null || grep -q zombie /proc/$program/status" || kill -9 "$program"
    wait "$program"
    status=$?
    tap_pids=
}

# counted_as_launched: each kernel's count is the program's own tally
counted_as_launched() {
    sed -n 's/^\(launched\|signalled\) //p' "$work/out" | sort >"$work/launched"
    look kernel | awk '{ print $2, $3 }' | sort >"$work/counted"
    test -s "$work/launched" && diff "$work/launched" "$work/counted"
}

# timed_as_completed: as many timed dispatches as the software GPU completed without a signal of the application's. The
# truth is written a millisecond late, or more on a busy machine.
timed_as_completed() {
    completed=$(awk -F'\t' 'NR > 1 && $7 !~ /^</' "$work/truth" | wc -l)
    echo "completed $completed, $(look timed)"
    test "$completed" = "$(look timed | cut -d' ' -f2)"
}

# times_are_true: each kernel's total, minimum and maximum are the software GPU's, whatever signal it carried
times_are_true() {
    awk -F'\t' 'NR > 1 && $7 !~ /^</ { n = $5 - $4; c[$7]++; t[$7] += n
        if (!($7 in low) || n < low[$7]) low[$7] = n
        if (n > high[$7]) high[$7] = n }
        END { for (k in c) print k, c[k], t[k], low[k], high[k] + 0 }' "$work/truth" | sort >"$work/model"
    look kernel | awk '$4 { print $2, $4, $6, $7, $8 }' | sort >"$work/timed"
    test -s "$work/model" && diff "$work/model" "$work/timed"
}

# truth_has N PATTERN: waits until the truth has that many dispatches of such kernels
truth_has() {
    wait_until 60 sh -c "test \$(grep -cE '$2' '$work/truth') -ge $1"
}

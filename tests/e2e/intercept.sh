# Sourced by the tests of the library. Runs a scene of intercept_scenes on the software GPU, holds it at its end and
# prints what the library recorded.
# shellcheck shell=sh disable=SC2034,SC2154 # tap.sh and the tests set them

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

# play SCENE...: run the scene until it holds; $program is its process. Inputs: $gpu (options of the software GPU),
# $tools, $preload and $scenes (the program).
play() {
    rm -f "$work/in" "$work/truth" "$work/out" "$work/err" # of the previous scene
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

# dump_segment [KEY]: print the segment's current values.
dump_segment() {
    "$dump" "$program" "$@" 2>&1
}

# All counted dispatches are timed, untimed or in flight, and $1 of them are in flight.
settled() { # in flight
    dump_segment | awk -v want="$1" '
        $1 == "counted" { counted = $2 } $1 == "timed" { timed = $2 } $1 == "untimed_total" { untimed = $2 }
        END { exit counted == 0 || counted - timed - untimed != want }'
}

# close_scene: let the scene end; $status is its exit status.
close_scene() {
    exec 3>&-
    wait_until 60 sh -c "! kill -0 $program 2>/dev/null || grep -q zombie /proc/$program/status" || kill -9 "$program"
    wait "$program"
    status=$?
    tap_pids=
}

# counted_as_launched: each kernel's count equals the program's own tally.
counted_as_launched() {
    sed -n 's/^\(launched\|signalled\) //p' "$work/out" | sort >"$work/launched"
    dump_segment kernel | awk '{ print $2, $3 }' | sort >"$work/counted"
    test -s "$work/launched" && diff "$work/launched" "$work/counted"
}

# timed_as_completed: the number of timed dispatches equals the software GPU's completions without a signal of the
# application. The software GPU writes the truth a millisecond later, on a busy machine more.
timed_as_completed() {
    completed=$(awk -F'\t' 'NR > 1 && $7 !~ /^</' "$work/truth" | wc -l)
    echo "completed $completed, $(dump_segment timed)"
    test "$completed" = "$(dump_segment timed | cut -d' ' -f2)"
}

# times_are_true: each kernel's total, minimum and maximum equal the software GPU's, whichever signal the kernel carried.
times_are_true() {
    awk -F'\t' 'NR > 1 && $7 !~ /^</ { n = $5 - $4; c[$7]++; t[$7] += n
        if (!($7 in low) || n < low[$7]) low[$7] = n
        if (n > high[$7]) high[$7] = n }
        END { for (k in c) print k, c[k], t[k], low[k], high[k] + 0 }' "$work/truth" | sort >"$work/model"
    dump_segment kernel | awk '$4 { print $2, $4, $6, $7, $8 }' | sort >"$work/timed"
    test -s "$work/model" && diff "$work/model" "$work/timed"
}

# truth_has N PATTERN: wait until the truth has N dispatches of matching kernels.
truth_has() {
    wait_until 60 sh -c "test \$(grep -cE '$2' '$work/truth') -ge $1"
}

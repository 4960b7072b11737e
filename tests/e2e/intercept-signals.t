#!/bin/sh
# Thousands of dispatches in flight: the pool's limit follows the queues, so every dispatch is timed. RTL_SIGNALS sets a fixed
# limit, which may be too low.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_deep
all=16384
unset RTL_SIGNALS

untimed_for() { # KEY: the number of dispatches that are untimed for this reason
    dump_segment untimed | awk -v key="$1" '$2 == key { print $3 } END { if (!NR) print 0 }'
}

# play_deep NAME LIMIT [signalled]: run until it holds
play_deep() {
    name=$1
    most=$2
    shift 2
    play "$@"
    check "$name: every dispatch is settled" wait_until 60 settled 0
    check "$name: counts equal the program's" counted_as_launched
    is "$name: the segment has the limit of signals" "$(dump_segment signals | sed 's/.* limit //')" "$most"
}
check_end() {
    close_scene
    is "$name: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "
}

for own in '' signalled; do
    why=no_signal
    test -z "$own" || why=no_room

    RTL_SIGNALS=4096
    export RTL_SIGNALS
    # shellcheck disable=SC2086 # or nothing
    play_deep "4,096${own:+, $own}" 4096 $own
    check "$name: as many dispatches are timed as there are signals" test "$(dump_segment timed | cut -d' ' -f2)" -ge 3800
    is "$name: the other dispatches are counted as $why" "$(($(dump_segment timed | cut -d' ' -f2) + $(untimed_for "$why")))" "$all"
    check_end
    unset RTL_SIGNALS

    for many in '' 20000; do
        most=$many
        test -n "$many" || most=$((4096 + 8 * 4096 * 5 / 4)) # the queues' capacity and a reserve
        test -z "$many" || export RTL_SIGNALS="$many"
        # shellcheck disable=SC2086
        play_deep "${many:-by default}${own:+, $own}" "$most" $own
        is "$name: every dispatch is timed" "$(dump_segment timed) $(dump_segment untimed_total)" "timed $all untimed_total 0"
        check "$name: times equal the GPU's" wait_until 60 times_are_true
        if [ -z "$own" ]; then
            check "$name: every dispatch had a signal in use at once" test "$(dump_segment signals | sed 's/.* peak \([0-9]*\) .*/\1/')" -ge "$all"
            has "$name: rtl-top shows the limit of signals" "$("$O/rtl-top" -p "$program" -b -n 1)" "limit $most\$"
        fi
        check_end
    done
    unset RTL_SIGNALS
done

scenes=intercept_scenes
play any
most=$(dump_segment signals | sed 's/.* limit //')
close_scene
for wrong in 0 524289 4k -5 99999999999999999999 '1 2'; do
    RTL_SIGNALS=$wrong
    export RTL_SIGNALS
    play any
    is "RTL_SIGNALS=$wrong: one line says what is wrong" "$(cat "$work/err")" \
        "librtl: RTL_SIGNALS=$wrong is not a number from 1 to 524288: the limit follows the queues"
    is "RTL_SIGNALS=$wrong: the limit follows the queues" "$(dump_segment signals | sed 's/.* limit //')" "$most"
    close_scene
done
has "librtl(7) has the range of RTL_SIGNALS" "$(cat man/librtl.7)" 'from 1 to 524288'
finish

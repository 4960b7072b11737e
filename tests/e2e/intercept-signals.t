#!/bin/sh
# More dispatches in flight than there are signals by default, and RTL_SIGNALS, which asks for more: then all are timed.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_deep
all=16384
unset RTL_SIGNALS

reason() { # key: how many weren't timed for that
    look untimed | awk -v key="$1" '$2 == key { print $3 } END { if (!NR) print 0 }'
}

for own in '' signalled; do
    why=no_signal
    test -z "$own" || why=no_room

    # shellcheck disable=SC2086 # or nothing
    play $own
    check "as it is${own:+, $own}: all over" wait_until 60 settled 0
    check "as it is${own:+, $own}: counts are the program's" counted_as_launched
    check "as it is${own:+, $own}: as many are timed as there are signals" test "$(look timed | cut -d' ' -f2)" -ge 3800
    is "as it is${own:+, $own}: the others are counted as $why" \
        "$(($(look timed | cut -d' ' -f2) + $(reason "$why")))" "$all"
    close_scene
    is "as it is${own:+, $own}: ends well, in silence" "$status $(without_runtimes_own <"$work/err")" "0 "

    RTL_SIGNALS=20000
    export RTL_SIGNALS
    # shellcheck disable=SC2086
    play $own
    check "20,000${own:+, $own}: all over" wait_until 60 settled 0
    check "20,000${own:+, $own}: counts are the program's" counted_as_launched
    is "20,000${own:+, $own}: every one is timed" "$(look timed) $(look untimed_total)" "timed $all untimed_total 0"
    check "20,000${own:+, $own}: the times are the GPU's" wait_until 60 times_are_true
    is "20,000${own:+, $own}: the limit is told" "$(look signals | sed 's/.* limit //')" 20000
    if [ -z "$own" ]; then
        check "20,000: so many were in use" test "$(look signals | sed 's/.* peak \([0-9]*\) .*/\1/')" -ge "$all"
        has "20,000: rtl-top shows it, too" "$("$O/rtl-top" -p "$program" -b -n 1)" 'limit 20000$'
    fi
    close_scene
    is "20,000${own:+, $own}: ends well, in silence" "$status $(without_runtimes_own <"$work/err")" "0 "
    unset RTL_SIGNALS
done

for wrong in 0 32769 4k -5 99999999999999999999 '1 2'; do
    RTL_SIGNALS=$wrong
    export RTL_SIGNALS
    scenes=intercept_scenes
    play any
    is "RTL_SIGNALS=$wrong: one line says what is wrong" "$(cat "$work/err")" \
        "librtl: RTL_SIGNALS=$wrong is not a number from 1 to 32768: 4096 is used"
    is "RTL_SIGNALS=$wrong: and it is so" "$(look signals | sed 's/.* limit //')" 4096
    close_scene
done
has "librtl(7) says the same" "$(cat man/librtl.7)" 'from 1 to 32768; 4096 is the default'
finish

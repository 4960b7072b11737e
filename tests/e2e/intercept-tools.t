#!/bin/sh
# Beside other tools in HSA_TOOLS_LIB, before and behind them, whether they chain or make their own intercept queues.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

rtl=$tap_top/$O/librtl.so
NOOP_COUNT=1
export NOOP_COUNT
all_counted() { # name
    check "$1: all over" wait_until 60 settled 0
    check "$1: counts are the program's" counted_as_launched
    is "$1: no queue was left out" "$(look note)" ""
    close_scene
    is "$1: ends well" "$status" 0
}
other_saw() { # at least that many packets
    test "$(sed -n 's/^noop: \([0-9]*\) packets/\1/p' "$work/err")" -ge "$1"
}

tools="$noop $rtl"
play any
all_counted "behind a tool with queues of its own"
check "behind a tool with queues of its own: that one sees everything" other_saw 1000
tools="$rtl $noop"
play any
all_counted "before a tool with queues of its own"
check "before a tool with queues of its own: that one sees everything" other_saw 1000
# a tool that makes no intercept queues of its own joins ours: where there are none it sees nothing
NOOP_CHAIN=1
export NOOP_CHAIN
tools="$rtl $noop"
asked=${RTL_QUEUES:-auto}
for RTL_QUEUES in intercept native; do
    export RTL_QUEUES
    if [ "$RTL_QUEUES" = intercept ] && ! may_intercept; then
        skip "before a tool that chains, intercept" "the library makes no intercept queues here: they overwrite memory"
        continue
    fi
    play any
    all_counted "before a tool that chains, $RTL_QUEUES"
    case $RTL_QUEUES in
    intercept) check "before a tool that chains, intercept: that one sees everything" other_saw 1000 ;;
    native) has "before a tool that chains, native: that one sees nothing" "$(cat "$work/err")" '^noop: 0 packets$' ;;
    esac
done
RTL_QUEUES=$asked
tools="$noop $rtl"
play any
may_intercept || is "behind a tool that expects somebody else's queues: where such queues overwrite memory none is made" \
    "$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.queues[] | "\(.way) \(.way_why)"')" "native default"
all_counted "behind a tool that expects somebody else's queues"
unset NOOP_CHAIN
tools="$rtl $rtl"
play any
all_counted "listed twice"
finish

#!/bin/sh
# The library beside other tools in HSA_TOOLS_LIB, before and after them. They chain, or make their own intercept queues.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

rtl=$tap_top/$O/librtl.so
NOOP_COUNT=1
export NOOP_COUNT
check_all_counted() { # NAME
    check "$1: every dispatch is settled" wait_until 60 settled 0
    check "$1: counts equal the program's" counted_as_launched
    is "$1: no queue is left out" "$(dump_segment note)" ""
    close_scene
    is "$1: exit status is 0" "$status" 0
}
other_saw() { # MINIMUM: the other tool's packets
    test "$(sed -n 's/^noop: \([0-9]*\) packets/\1/p' "$work/err")" -ge "$1"
}

tools="$noop $rtl"
play any
check_all_counted "after a tool with its own queues"
check "after a tool with its own queues: that tool sees every packet" other_saw 1000
tools="$rtl $noop"
play any
check_all_counted "before a tool with its own queues"
check "before a tool with its own queues: that tool sees every packet" other_saw 1000
# A tool that makes no intercept queues joins the library's. Where the library makes none, that tool sees nothing.
NOOP_CHAIN=1
export NOOP_CHAIN
tools="$rtl $noop"
asked=${RTL_QUEUES:-auto}
for RTL_QUEUES in intercept native; do
    export RTL_QUEUES
    if [ "$RTL_QUEUES" = intercept ] && ! may_intercept; then
        skip "before a tool that chains, intercept" "intercept queues overwrite memory here"
        continue
    fi
    play any
    check_all_counted "before a tool that chains, $RTL_QUEUES"
    case $RTL_QUEUES in
    intercept) check "before a tool that chains, intercept: that tool sees every packet" other_saw 1000 ;;
    native) has "before a tool that chains, native: that tool sees no packet" "$(cat "$work/err")" '^noop: 0 packets$' ;;
    esac
done
RTL_QUEUES=$asked
tools="$noop $rtl"
play any
may_intercept || is "after a tool that joins other queues: the library makes none where they overwrite memory" \
    "$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.queues[] | "\(.way) \(.way_why)"')" "native default"
check_all_counted "after a tool that joins other queues"
unset NOOP_CHAIN
tools="$rtl $rtl"
play any
check_all_counted "librtl.so listed twice"
finish

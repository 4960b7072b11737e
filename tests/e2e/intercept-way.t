#!/bin/sh
# RTL_QUEUES selects the path of queues; the default is native. Every output, recordings and traces show a queue's path
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

top=$O/rtl-top
queue_paths() { # the queues' paths, each once
    "$top" -p "$program" --json -n 1 | jq -r '.queues[] | "\(.way) \(.way_why)"' | sort -u
}
check_exact() { # NAME
    check "$1: every dispatch is settled" wait_until 60 settled 0
    check "$1: counts equal the program's" counted_as_launched
}
check_end() { # NAME
    close_scene
    is "$1: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 ${2:-}"
}

auto='native default'

unset RTL_QUEUES
play any
check_exact "RTL_QUEUES unset"
is "RTL_QUEUES unset: queues are native by default" "$(queue_paths)" "$auto"
check_end "RTL_QUEUES unset"

for way in auto intercept native; do
    export RTL_QUEUES=$way
    if [ "$way" = intercept ] && ! may_intercept; then
        play any
        is "intercept, where such queues overwrite memory: the library makes none" "$(queue_paths)" ""
        is "intercept, where such queues overwrite memory: nothing is counted" "$(dump_segment counted)" "counted 0"
        is "intercept, where such queues overwrite memory: a note reports it" "$(dump_segment note | sort | tr '\n' ' ')" \
            "note batch_unsafe note queue_not_intercepted "
        check_end "intercept, where such queues overwrite memory" "$(grep '^librtl: .*intercept queues overwrite memory' "$work/err")"
        continue
    fi
    play any
    check_exact "$way"
    wanted="$way asked_for"
    [ "$way" != auto ] || wanted=$auto
    is "$way: JSON has the path and the reason" "$(queue_paths)" "$wanted"
    has "$way: text has the path and the reason" "$("$top" -p "$program" -b -n 1)" "queue [0-9]+  depth .*  way ${wanted% *} \(${wanted#* }\)"
    # A recording stores the path, and a replay shows it.
    "$top" -p "$program" --json -n 1 -w "$work/$way.db" >"$work/live"
    "$top" -r "$work/$way.db" --json >"$work/again"
    check "$way: a replay equals the live output" cmp "$work/live" "$work/again"
    is "$way: a recording has path and reason by name" \
        "$(sqlite3 -separator ' ' "$work/$way.db" 'SELECT DISTINCT way, reason FROM rtl_ways')" "$wanted"
    check_end "$way"
done

export RTL_QUEUES=sideways
play any
is "RTL_QUEUES=sideways: queues have the default path" "$(queue_paths)" "$auto"
check_end "RTL_QUEUES=sideways" "$(grep -o '^librtl: RTL_QUEUES=sideways is none of .*auto is used$' "$work/err")"

unset RTL_QUEUES
tools="$noop $tap_top/$O/librtl.so"
play any
check_exact "after another tool"
is "after another tool: its queues are intercepted beside it" "$(queue_paths)" 'intercept other_tool'
close_scene
unset tools

# A trace has the path beside the queue's name.
export RTL_QUEUES=native RTL_TRACE=1
play any
"$top" -p "$program" --trace "$work/trace.db" -n 1 -d 0.1 >/dev/null 2>&1
is "trace: a queue has its path and reason" "$(sqlite3 -separator ' ' "$work/trace.db" \
    "SELECT DISTINCT json_extract(value, '\$.way'), json_extract(value, '\$.way_why') FROM rocpd_metadata
     WHERE tag GLOB 'queue *' AND json_extract(value, '\$.kind') = 'queue'")" 'native asked_for'
close_scene
unset RTL_TRACE

# An application that bypasses the runtime's functions has the queue to itself.
scenes=native_direct
play own
is "index and doorbell written by the application: the queue is demoted" "$(queue_paths | cut -d' ' -f1)" demoted
has "a demoted queue: JSON has the reason" "$(queue_paths)" '^demoted (index_moved|rings_itself)$'
has "a demoted queue: the coverage line has a note" "$("$top" -p "$program" -b -n 1)" '; a queue with another writer is only counted'
is "a demoted queue: its dispatches have the reason demoted and aren't drops" "$("$top" -p "$program" --json -n 1 |
    jq -c '.dispatches.untimed.demoted > 0') $("$top" -p "$program" -b -n 1 | grep -c '  drop 0  ')" "true 1"
check_end "a demoted queue"
finish

#!/bin/sh
# Programs that increment a queue's write index and ring the hardware's doorbell themselves, without a check. They run on
# every hardware queue. The library leaves them unharmed where it makes no intercept queue; on an intercept queue of any
# tool they crash.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=native_direct
ways='without off native'

# Everything that was launched ran once.
all_ran() {
    sed -n 's/^launched //p' "$work/out" | sort >"$work/launched"
    awk -F'\t' 'FNR > 1 && $7 !~ /^</ { n[$7]++ } END { for (k in n) print k, n[k] }' "$work/truth" | sort >"$work/ran"
    test -s "$work/launched" && diff "$work/launched" "$work/ran"
}

# The library counts at most the launches (it may not know which of two packets was in a slot). Packets that were
# submitted only with the runtime's functions, before the first other packet, are all counted.
counted_no_more() {
    cat "$work/launched"
    dump_segment kernel
    dump_segment kernel | awk -v mode="$mode" 'NR == FNR { want[$1] = $2; launched += $2; next } { n[$2] = $3; counted += $3 }
        END { exit counted > launched || !counted || (mode == "api-then-own" && n["hsa_00"] < want["hsa_00"]) }' \
        "$work/launched" -
}

for way in $ways; do
    case $way in
    without) tools= ;;
    off)
        unset tools
        export RTL_MODE=off
        ;;
    native)
        unset tools RTL_MODE
        export RTL_QUEUES=native
        ;;
    esac
    for mode in own api-then-own api-and-doorbell turns; do
        name="$way, $mode"
        play "$mode"
        has "$name: all kernels complete" "$(cat "$work/out")" '^done$'
        check "$name: every kernel ran once" wait_until 30 all_ran
        if [ "$way" = native ]; then
	    # Counts of the library
            check "$name: every dispatch is settled" wait_until 60 settled 0
	    # The library checks a ring without doorbell only now and then, so that some packets are overwritten before.
            check "$name: at most the launches are counted" counted_no_more
            is "$name: the queue is demoted" \
                "$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.queues[0].way')" demoted
        fi
        close_scene
        is "$name: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "
    done
done

unset RTL_MODE RTL_QUEUES
tools=$noop
play own 2>/dev/null
close_scene
is "intercept queue of another tool: the program crashes" "$status" 139
finish

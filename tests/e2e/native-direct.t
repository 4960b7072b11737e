#!/bin/sh
# Programs that count up a queue's write index and ring the hardware's doorbell themselves, without looking: they run on
# every queue of the hardware. The library leaves them unharmed wherever it doesn't make an intercept queue; on those they
# die, whatever tool makes them.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=native_direct
ways='without off native'

# All that was launched ran, once, without the library's part in it.
all_ran() {
    sed -n 's/^launched //p' "$work/out" | sort >"$work/launched"
    awk -F'\t' 'FNR > 1 && $7 !~ /^</ { n[$7]++ } END { for (k in n) print k, n[k] }' "$work/truth" | sort >"$work/ran"
    test -s "$work/launched" && diff "$work/launched" "$work/ran"
}

# Not more is counted than was launched (which of two packets a slot held may be mistaken); what went by the runtime's
# functions alone, before the first that didn't, is all there.
counted_no_more() {
    cat "$work/launched"
    look kernel
    look kernel | awk -v mode="$mode" 'NR == FNR { want[$1] = $2; launched += $2; next } { n[$2] = $3; counted += $3 }
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
        has "$name: all completes" "$(cat "$work/out")" '^done$'
        check "$name: all ran, once" wait_until 30 all_ran
        if [ "$way" = native ]; then
            # what is seen of it
            check "$name: all accounted for" wait_until 60 settled 0
            # a ring that nobody tells of its packets is looked at now and then: some are overwritten before that
            check "$name: what was counted was launched" counted_no_more
            is "$name: and it is said what became of the queue" \
                "$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.queues[0].way')" demoted
        fi
        close_scene
        is "$name: ends well" "$status $(without_runtimes_own <"$work/err")" "0 "
    done
done

unset RTL_MODE RTL_QUEUES
tools=$noop
play own 2>/dev/null
close_scene
is "on any tool's intercept queue: it dies" "$status" 139
finish

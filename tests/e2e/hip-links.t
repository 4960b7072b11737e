#!/bin/sh
# Links from calls of HIP to what they launch: each dispatch is linked to just the call that submitted it, whatever queue
# it shares with other threads and whoever rings for it, or counted under the reason why not; latencies, ranges and the
# event rings say the same. LINKS is how many launches (40000; by hand a million). Times of a busy machine are no matter.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/hip.sh"
programs=$O/tests/programs
launches=${LINKS:-40000}

# linked: what links_check says of the program, in $work/linked, once all that was launched is over
linked() {
    wait_until 60 sh -c "'$O/rtl-top' -p $program --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'" >/dev/null
    "$programs/links_check" "$program" "$work/out" >"$work/linked"
}
said() { sed -n "s/^$1 //p" "$work/linked"; }
# of a line "KEY ... NAME N ...": N
number() { sed -n "s/^$1 .*\\b$2 \\([0-9]*\\).*/\\1/p" "$work/linked"; }

# What HIP copies by an engine, and what by a kernel of its own, is decided by release and GPU: as without the library. (HIP
# 7.2 gives a stream the engine that suits its first copy; on gfx90a that of copies to the GPU takes none back, ROCr says.)
plain=$(tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --truth "$work/kernels" \
    --copy-truth "$work/copies" -- "$programs/hip_links" --kinds </dev/null >/dev/null 2>&1; echo $?)
large=$((8 << 20)) # bytes of each copy to the host or from it
by_engine=$(awk -v large="$large" 'NR > 1 { bytes += $5 } END { print bytes / large }' "$work/copies")
by_kernel=$(awk -F '\t' '$7 == "__amd_rocclr_copyBuffer"' "$work/kernels" | wc -l)
is "without the library: an engine or a kernel makes each copy" "$plain $((by_engine + by_kernel))" "0 60"

export RTL_TRACE=128M
for way in native intercept; do
    if [ $way = intercept ] && ! may_intercept; then
        skip "intercept: links" "the library makes no intercept queues here: they overwrite memory"
        continue
    fi
    export RTL_QUEUES=$way
    gpu="--duration 1us"
    play "$programs/hip_links" --launches "$launches" --module "$programs/kernels-gfx90a.co" --hold
    linked
    timed=$("$O/rtl-top" -p "$program" --json -n 1 | jq .dispatches.timed)
    is "$way: of 8 threads on 8 streams each call has just its own launches" "$(said rows)" "$timed wrong 0"
    check "$way: there are some that were timed" test "$timed" -gt 0
    is "$way: their ranges and times of entry are their calls'" "$(said range)" "$timed wrong 0"
    has "$way: calls and ranges lie in the ranges that they name" "$(said nested)" '^[1-9][0-9]* wrong 0$'
    is "$way: no event was lost" "$(said lost)" 0
    is "$way: every dispatch is counted as linked, timed or not" "$(said counted)" \
        "linked $launches outside 0 queue_thread 0 overtaken 0 unnoted 0"
    is "$way: all three ways to launch are there" "$(said pair | awk '{ print $1, $2 }' | sort | tr '\n' ' ')" \
        "hipExtLaunchKernel linked hipLaunchKernel linked hipModuleLaunchKernel hsa_00 "
    is "$way: each timed one has a latency" "$(said launches | awk '{ sum += $2 } END { print sum }')" "$timed"
    is "$way: latencies and GPU times add up to those of the events" "$(said sums | awk '{ print $1 - $2, $3 - $4 }')" "0 0"
    is "$way: and is in the range of its thread and part, in no other" \
        "$(said node | grep -c '^/thread [0-7]/part [0-9] count')" 80
    is "$way: which add up to all of them" "$(said node | sed -n 's/.* kernels \([0-9]*\) .*/\1/p' | awk '{ sum += $1 } END { print sum }')" "$timed"
    is "$way: as many in each thread's range as in another's" "$(said node | sed -n 's/^.thread \([0-7]\).part.* count \([0-9]*\) .*/\1 \2/p' |
        awk '{ sum[$1] += $2 } END { for (t in sum) print sum[t] }' | sort -u)" $((launches / 800))
    is "$way: threads that have ended aren't shown, and the main one waited last" "$(said thread | sed 's/^[0-9]* //')" \
        "function none last hipDeviceSynchronize"
    close_play
    is "$way: it ends as it would" "$status" 0

    play "$programs/hip_links" --kinds --hold
    linked
    is "$way: filled and copied memory belongs to who asked for it" "$(grep -E '^pair hipMem' "$work/linked" | sort)" \
        "pair hipMemcpyAsync __amd_rocclr_copyBuffer $by_kernel
pair hipMemsetAsync __amd_rocclr_fillBufferAligned 20"
    is "$way: each copy by an engine is under its hipMemcpyAsync" "$(said copies)" "hipMemcpyAsync $by_engine"
    is "$way: every copy by an engine is linked to its call" "$(said copied)" "linked $by_engine unlinked 0"
    is "$way: a replayed graph's kernels belong to its launch" "$(said 'pair hipGraphLaunch')" "linked 200"
    is "$way: in their order" "$(said order)" "180 wrong 0"
    is "$way: and ranges have their GPU time" "$(said node | sed 's/ ns .*//' | sort | tr '\n' ';')" \
        "/copy count 1 kernels $by_kernel copies $by_engine;/fill count 1 kernels 20 copies 0;/replay count 1 kernels 200 copies 0;"
    close_play

    play "$programs/hip_links" --ways --module "$programs/kernels-gfx90a.co" --hold
    linked
    sed -n 's/^without /# this release has no /p' "$work/out"
    # (a cooperative queue is the runtime's own where only intercept queues may be: what goes there is not seen)
    seen=$([ $way = native ] && echo '^way ' || echo '^way [A-Za-z]*Launch[KM]')
    is "$way: in every way that the release has, launches belong to their calls" \
        "$(said pair | awk '$2 == "linked" || $2 == "hsa_00" { print "way", $1, $3 }' | sort)" "$(grep "$seen" "$work/out" | sort)"
    check "$way: four ways at least, hipExtModuleLaunchKernel among them" \
        sh -c "[ \$(grep -c '^way ' '$work/out') -ge 4 ] && grep -q '^way hipExtModuleLaunchKernel 10' '$work/out'"
    is "$way: each is counted as a call" "$(api --json | jq -r '.api[] | select(.kind == "launch" and .calls > .errors) | "way \(.name) \(.calls - .errors)"' | sort)" \
        "$(grep '^way ' "$work/out" | sort)"
    has "$way: none is unlinked" "$(said counted)" '^linked [1-9][0-9]* outside 0 queue_thread 0 overtaken 0 unnoted 0$'
    close_play

    export AMD_DIRECT_DISPATCH=0
    play "$programs/hip_links" --launches 800 --threads 2 --hold
    linked
    is "$way: what the runtime's own threads submit is linked to nothing, and counted so" "$(said counted)" \
        "linked 0 outside 0 queue_thread 800 overtaken 0 unnoted 0"
    is "$way: in the events, too" "$(grep -cE '^pair' "$work/linked")" 0
    close_play
    unset AMD_DIRECT_DISPATCH
done

unset RTL_TRACE RTL_QUEUES
gpu="--duration 1us"
play "$programs/hip_links" --launches 8000 --hold
linked
is "without a trace all is counted as well" "$(number counted linked) $(said launches | awk '{ sum += $2 } END { print sum }')" \
    "8000 $("$O/rtl-top" -p "$program" --json -n 1 | jq .dispatches.timed)"
close_play

# a limit under which all but the pairs of ranges and kernels has room
mib=$((1 << 20))
play prlimit --fsize=$((640 * mib)) "$programs/hip_links" --launches 1600 --threads 2 --hold
linked
is "no room for pairs: all else is recorded" "$(number counted linked) $(api --json | jq '[.api[] | select(.kind == "launch").calls] | add')" "1600 1600"
"$O/rtl-top" -p "$program" --json -n 1 >"$work/frame"
is "no room for pairs: ranges have their kernels" "$(jq '[.api.nested[].kernels] | add' "$work/frame")" "$(jq .dispatches.timed "$work/frame")"
is "no room for pairs: what their lists lack is counted" "$(jq -c '.api | [.range_kernels, .pairs_over]' "$work/frame")" \
    "[[],$(jq .dispatches.timed "$work/frame")]"
has "no room for pairs: and said" "$(api)" 'kernels missing in the lists of their ranges [1-9]'
close_play
is "no room for pairs: it ends as it would" "$status" 0
finish

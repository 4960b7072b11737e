#!/bin/sh
# Links from HIP calls to the dispatches that they submit. Each dispatch is linked to exactly its call, whichever threads
# share its queue and whichever thread rings the doorbell, or is counted with the reason why not. Latencies, ranges and
# the event rings agree. LINKS is the number of launches (40000; by hand a million). The times of a busy machine don't
# matter.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/hip.sh"
programs=$O/tests/programs
launches=${LINKS:-40000}

# check_links: when all launches are over, write links_check's report into $work/linked
check_links() {
    wait_until 60 sh -c "'$O/rtl-top' -p $program --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'" >/dev/null
    "$programs/links_check" "$program" "$work/out" >"$work/linked"
}
get_value() { sed -n "s/^$1 //p" "$work/linked"; }
# get_number KEY NAME: print N of a line "KEY ... NAME N ..."
get_number() { sed -n "s/^$1 .*\\b$2 \\([0-9]*\\).*/\\1/p" "$work/linked"; }

# Release and GPU decide whether HIP copies with an engine or with a kernel, as without the library. (HIP 7.2 gives a
# stream the engine that suits its first copy; on gfx90a, ROCr reports that the engine for copies to the GPU takes none
# back.)
plain=$(tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --truth "$work/kernels" \
    --copy-truth "$work/copies" -- "$programs/hip_links" --kinds </dev/null >/dev/null 2>&1; echo $?)
large=$((8 << 20)) # bytes of each copy to the host or from it
by_engine=$(awk -v large="$large" 'NR > 1 { bytes += $5 } END { print bytes / large }' "$work/copies")
by_kernel=$(awk -F '\t' '$7 == "__amd_rocclr_copyBuffer"' "$work/kernels" | wc -l)
is "without the library: each copy is made by an engine or a kernel" "$plain $((by_engine + by_kernel))" "0 60"

export RTL_TRACE=128M
for way in native intercept; do
    if [ $way = intercept ] && ! may_intercept; then
        skip "intercept: links from calls to dispatches" "intercept queues overwrite memory here"
        continue
    fi
    export RTL_QUEUES=$way
    gpu="--duration 1us"
    play "$programs/hip_links" --launches "$launches" --module "$programs/kernels-gfx90a.co" --hold
    check_links
    timed=$("$O/rtl-top" -p "$program" --json -n 1 | jq .dispatches.timed)
    is "$way: each call of 8 threads on 8 streams has exactly its own launches" "$(get_value rows)" "$timed wrong 0"
    check "$way: launches are timed" test "$timed" -gt 0
    is "$way: ranges and entry times equal those of the calls" "$(get_value range)" "$timed wrong 0"
    has "$way: calls and ranges lie inside the ranges that they name" "$(get_value nested)" '^[1-9][0-9]* wrong 0$'
    is "$way: no event is lost" "$(get_value lost)" 0
    is "$way: every dispatch is counted as linked, timed or not" "$(get_value counted)" \
        "linked $launches outside 0 queue_thread 0 overtaken 0 unnoted 0"
    is "$way: all three launch functions are recorded" "$(get_value pair | awk '{ print $1, $2 }' | sort | tr '\n' ' ')" \
        "hipExtLaunchKernel linked hipLaunchKernel linked hipModuleLaunchKernel hsa_00 "
    is "$way: each timed dispatch has a latency" "$(get_value launches | awk '{ sum += $2 } END { print sum }')" "$timed"
    is "$way: latencies and GPU times add up to those of the events" "$(get_value sums | awk '{ print $1 - $2, $3 - $4 }')" "0 0"
    is "$way: each thread has its ten ranges" \
        "$(get_value node | grep -c '^/thread [0-7]/part [0-9] count')" 80
    is "$way: kernels of the ranges add up to the timed ones" "$(get_value node | sed -n 's/.* kernels \([0-9]*\) .*/\1/p' | awk '{ sum += $1 } END { print sum }')" "$timed"
    is "$way: each thread's ranges have the same number of calls" "$(get_value node | sed -n 's/^.thread \([0-7]\).part.* count \([0-9]*\) .*/\1 \2/p' |
        awk '{ sum[$1] += $2 } END { for (t in sum) print sum[t] }' | sort -u)" $((launches / 800))
    is "$way: only the main thread is listed, with its last function" "$(get_value thread | sed 's/^[0-9]* //')" \
        "function none last hipDeviceSynchronize"
    close_play
    is "$way: exit status is that without rtl-top" "$status" 0

    play "$programs/hip_links" --kinds --hold
    check_links
    is "$way: fills and copies by kernels are linked to their calls" "$(grep -E '^pair hipMem' "$work/linked" | sort)" \
        "pair hipMemcpyAsync __amd_rocclr_copyBuffer $by_kernel
pair hipMemsetAsync __amd_rocclr_fillBufferAligned 20"
    is "$way: copies by engines have their function" "$(get_value copies)" "hipMemcpyAsync $by_engine"
    is "$way: copies by engines are linked to their calls" "$(get_value copied)" "linked $by_engine unlinked 0"
    is "$way: a replayed graph's kernels are linked to its launch" "$(get_value 'pair hipGraphLaunch')" "linked 200"
    is "$way: a replayed graph's kernels keep their order" "$(get_value order)" "180 wrong 0"
    is "$way: ranges have their GPU time" "$(get_value node | sed 's/ ns .*//' | sort | tr '\n' ';')" \
        "/copy count 1 kernels $by_kernel copies $by_engine;/fill count 1 kernels 20 copies 0;/replay count 1 kernels 200 copies 0;"
    close_play

    play "$programs/hip_links" --ways --module "$programs/kernels-gfx90a.co" --hold
    check_links
    sed -n 's/^without /# this release has no /p' "$work/out"
    # (Where only intercept queues work, a cooperative queue stays the runtime's own, and its dispatches are not
    # recorded.)
    seen=$([ $way = native ] && echo '^way ' || echo '^way [A-Za-z]*Launch[KM]')
    is "$way: with every launch function of the release, launches are linked to their calls" \
        "$(get_value pair | awk '$2 == "linked" || $2 == "hsa_00" { print "way", $1, $3 }' | sort)" "$(grep "$seen" "$work/out" | sort)"
    check "$way: over three launch functions work, hipExtModuleLaunchKernel among them" \
        sh -c "[ \$(grep -c '^way ' '$work/out') -ge 4 ] && grep -q '^way hipExtModuleLaunchKernel 10' '$work/out'"
    is "$way: every launch is counted as a call" "$(run_api --json | jq -r '.api[] | select(.kind == "launch" and .calls > .errors) | "way \(.name) \(.calls - .errors)"' | sort)" \
        "$(grep '^way ' "$work/out" | sort)"
    has "$way: no launch is unlinked" "$(get_value counted)" '^linked [1-9][0-9]* outside 0 queue_thread 0 overtaken 0 unnoted 0$'
    close_play

    export AMD_DIRECT_DISPATCH=0
    play "$programs/hip_links" --launches 800 --threads 2 --hold
    check_links
    is "$way: dispatches of the runtime's own threads are counted as queue_thread" "$(get_value counted)" \
        "linked 0 outside 0 queue_thread 800 overtaken 0 unnoted 0"
    is "$way: dispatches of the runtime's own threads have no link in the events" "$(grep -cE '^pair' "$work/linked")" 0
    close_play
    unset AMD_DIRECT_DISPATCH
done

unset RTL_TRACE RTL_QUEUES
gpu="--duration 1us"
play "$programs/hip_links" --launches 8000 --hold
check_links
is "without a trace: all launches are linked and have latencies" "$(get_number counted linked) $(get_value launches | awk '{ sum += $2 } END { print sum }')" \
    "8000 $("$O/rtl-top" -p "$program" --json -n 1 | jq .dispatches.timed)"
close_play

# A limit that leaves room for all but the pairs of ranges and kernels
mib=$((1 << 20))
play prlimit --fsize=$((640 * mib)) "$programs/hip_links" --launches 1600 --threads 2 --hold
check_links
is "no room for pairs: calls and links are recorded" "$(get_number counted linked) $(run_api --json | jq '[.api[] | select(.kind == "launch").calls] | add')" "1600 1600"
"$O/rtl-top" -p "$program" --json -n 1 >"$work/frame"
is "no room for pairs: ranges count their kernels" "$(jq '[.api.nested[].kernels] | add' "$work/frame")" "$(jq .dispatches.timed "$work/frame")"
is "no room for pairs: JSON has the number of missing pairs" "$(jq -c '.api | [.range_kernels, .pairs_over]' "$work/frame")" \
    "[[],$(jq .dispatches.timed "$work/frame")]"
has "no room for pairs: the table has the number of missing pairs" "$(run_api)" 'kernels missing in the lists of their ranges [1-9]'
close_play
is "no room for pairs: exit status is that without rtl-top" "$status" 0
finish

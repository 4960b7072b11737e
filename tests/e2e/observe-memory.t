#!/bin/sh
# Releases, GPUs and settings differ in the kind of memory of a runtime's queues. In each kind, rtl-top finds the queues
# of a process without the library and counts exactly; a forked child's copies of the queues are not counted.
# shellcheck disable=SC2119 # observe has optional arguments
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

# Print the mappings of the program's queues: rights, whether a child inherits them, name, bytes
print_queue_mappings() {
    sed -n 's/^queue //p' "$work/out" | sort -u | while read -r address; do
        awk -v "at=$address" '
            function number(hex,  i, n) {
                for (i = 1; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
                return n
            }
            /^[0-9a-f]+-[0-9a-f]+ / {
                split($1, ends, "-")
                inside = number(ends[1]) <= number(at) && number(at) < number(ends[2])
                said = $2 " " ($6 == "" ? "anonymous" : $6) " " number(ends[2]) - number(ends[1])
            }
            /^VmFlags:/ && inside { print said (/ dc/ ? " dontfork" : " inherited") }' "/proc/$program/smaps"
    done
}

# check_kind NAME PATTERN: observe the program that play started with two queues; PATTERN matches all mappings of its
# queues
check_kind() {
    send_all where
    print_queue_mappings >"$work/where"
    sed 's/^/# /' "$work/where"
    check "$1: the queues lie in this kind of memory" sh -c "test -s '$work/where' && ! grep -vqE '$2' '$work/where'"
    observe
    send_all run 6000 7 30 500
    send_all fork
    child=$(sed -n 's/^child //p' "$work/out" | tail -n 1)
    send_all run 6000 5 30 500
    send_all "done"
    check "$1: every dispatch is counted, by name" wait_until 120 counted_as_launched
    is "$1: no packet is lost" "$(query_frame .observed.packets_lost)" 0
    is "$1: each queue has half of the dispatches" "$(query_frame '[.queues[] | select(.dispatches == 6000)] | length')" 2
    check "$1: some dispatches are timed by their signals" test "$(query_frame .dispatches.timed)" -gt 100
    "$O/rtl-top" -p "$program" --json -n 1 >"$work/family"
    is "$1: a forked child has no queues" "$(jq -r '(.processes // []) | length' "$work/family")" 0
    "$O/rtl-top" -p "$child" --no-children -b -n 1 >"$work/no.out" 2>"$work/no.err"
    is "$1: a forked child alone shows no dispatch" "$(grep -c fast0 "$work/no.out")" 0
    kill -9 "$child" 2>/dev/null
    close_play
    is "$1: the program's exit status is 0" "$status" 0
    wait "$observer"
}

play 2
check_kind "this release's memory" '^rw-'

# The kinds of memory of the releases, in order
gpu="--preload $tap_top/$O/tests/programs/observe_memory_preload.so"
export RTL_TEST_MEMORY
for RTL_TEST_MEMORY in marked shared private; do
    play 2
    case $RTL_TEST_MEMORY in
    marked) check_kind "private and not for children" '^rw-p anonymous .* dontfork' ;;
    shared) check_kind "shared with children" '^rw-s /dev/zero .* inherited' ;;
    private) check_kind "private like other memory" '^rw-p anonymous .* inherited' ;;
    esac
done

# Without guard pages the kernel merges the queues' mappings with their neighbours.
RTL_TEST_MEMORY=private
export HSA_SVM_GUARD_PAGES=0
has_merged() { awk '$3 > 4096 { merged++ } END { exit !merged }' "$work/where"; }
# Where threads touched a neighbour first, the kernel keeps the mappings apart: then the test takes another process.
for again in yes yes yes yes no; do
    play 2 16384
    send_all where
    print_queue_mappings >"$work/where"
    if has_merged || [ "$again" = no ]; then break; fi
    send_all "done"
    close_play
done
check_kind "merged with other memory" '^rw-p anonymous .* inherited'
check "merged with other memory: some queues lie in merged mappings" has_merged
unset HSA_SVM_GUARD_PAGES RTL_TEST_MEMORY
gpu=

# As on gfx11 and later, where the driver allocates queues
export HSA_USERPTR_FOR_PAGED_MEM=0
play 2
check_kind "allocated by the driver" '^rw-s /memfd:vgpu-memory '
unset HSA_USERPTR_FOR_PAGED_MEM

# The host can't reach all of the GPU's memory.
gpu='--bar small'
play 2
check_kind "a small BAR" '^rw-'
finish

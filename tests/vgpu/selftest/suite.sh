# suite.sh - the self-tests of the software GPU on one release of the runtime. Sourced by tests that have sourced
# tap.sh.

case $O in
/*) vgpu_out=$O/tests/vgpu ;;
*) vgpu_out=$tap_top/$O/tests/vgpu ;;
esac
cat >"$work/vgpu.script" <<'END'
vg_short   fixed 120ns
vg_none    fixed 0ns
vg_long    fixed 2ms
vg_slow    fixed 40ms
vg_random  lognormal 40us 0.5
vg_other   fixed 31ticks
*hip_*     fixed 7us
END

vgpu_build() {
    make -s -C tests/vgpu/selftest O="${vgpu_out%/tests/vgpu}" >"$work/build.log" 2>&1 || {
        cat "$work/build.log" >&2
        echo "Bail out! the self-tests don't build"
        exit 1
    }
}

# hsa CASE [ARGS]: run a case on the software GPU with the options in $vgpu_options; its truth goes to $work/truth
hsa() {
    rm -f "$work/truth"
    # shellcheck disable=SC2086 # options are words
    timeout 200 tests/vgpu/run --script "$work/vgpu.script" --truth "$work/truth" ${vgpu_options:-} -- \
        "$vgpu_out/vgpu_hsa" "$vgpu_out/kernels-${vgpu_gfx:-gfx90a}.co" "$@"
}

hip() {
    rm -f "$work/truth"
    # shellcheck disable=SC2086
    timeout 300 tests/vgpu/run --script "$work/vgpu.script" --truth "$work/truth" ${vgpu_options:-} -- \
        "$vgpu_out/vgpu_hip" "$@" 2>"$work/hip.err"
}

all_are() { # FILE VALUE COUNT: every line of FILE is VALUE, and there are COUNT
    awk -v v="$2" -v n="$3" '$0 != v { bad = 1 } END { exit bad || NR != n }' "$1"
}

# Check a kernel's truth: COUNT lines, each of the given duration, sorted by end
truth_is() { # NAME COUNT NANOSECONDS
    awk -F '\t' -v name="$1" -v count="$2" -v ns="$3" '
        NR == 1 { if ($0 != "gpu\tqueue\tpacket_index\tstart_ns\tend_ns\tsignal\tkernel_name") { print "header: " $0; bad = 1 } next }
        NF != 7 { print "line " NR ": " $0; bad = 1 }
        $7 == name { n++; if ($5 - $4 != ns) { print "line " NR ": " $0; bad = 1 } }
        END { if (n != count) { print n " lines instead of " count; bad = 1 } exit bad }' "$work/truth"
}

# Compare the ticks that the program saw in the signals with those of the truth, one by one
same_as_truth() { # NAME FILE
    awk -F '\t' -v name="$1" '$7 == name { printf "%d\n", ($5 - $4) / 10 }' "$work/truth" | cmp - "$2"
}

tool_counts() { # the no-op tool saw every kernel of the program's queues
    rm -f "$work/noop"
    HSA_TOOLS_LIB=$vgpu_out/libnoop.so NOOP_REPORT=$work/noop "$@" >"$work/tool.out" || return 1
    mine=$(awk -F '\t' 'NR > 1 && $7 !~ /^</' "$work/truth" | wc -l)
    echo "tool: $(cat "$work/noop"), truth: $mine"
    [ "$(cat "$work/noop")" = "$mine" ] && [ "$mine" -gt 0 ]
}

hip_truth() { # what one round of the HIP program launches
    truth_is _Z7hip_addPfPKfi $((100 + 100 + 101 + 102 + 103)) 7000 && truth_is _Z9hip_scaleILi5EEvPf 1000 7000 &&
        truth_is _Z9hip_scaleILi3EEvPf 250 7000
}

vgpu_suite() { # LABEL: the cases that every release has to pass
    hsa basic >"$work/out" 2>"$work/err"
    check "$1: kernels take the script's durations" all_are "$work/out" 12 100
    check "$1: the truth has every kernel" truth_is vg_short 100 120
    hsa draw 300 >"$work/out" 2>"$work/err"
    check "$1: drawn durations equal the truth" same_as_truth vg_random "$work/out"
    for name in overlap chain slots deps same-bell no-profile clock copy fill rect lock free churn threads reinit fork; do
        check "$1: $name" hsa "$name"
    done
    check "$1: small BAR: copy" env VGPU_BAR=small "$0" --case copy
    for when in early late; do
        is "$1: the read index moves $when" "$(VGPU_READ_INDEX=$when hsa read-index 2>"$work/err")" $when
        for name in overlap chain slots deps rect threads; do
            check "$1: $name, read index $when" env VGPU_READ_INDEX=$when "$0" --case "$name"
        done
    done
    check "$1: a tool's intercept queues (HSA)" tool_counts hsa threads 50
    for what in type vendor kernel; do
        hsa bad-packet "$what" >"$work/out" 2>"$work/err"
        is "$1: queue error: $what" $? 3
    done
    hsa fault >"$work/out" 2>"$work/err"
    is "$1: a copy to an unmapped address is a memory fault of the runtime" $? 134
    check "$1: the memory fault has the address" grep -q 'Memory access fault by GPU node-1 .* on address 0x123450000000' "$work/err"
    check "$1: HIP" hip
    check "$1: HIP: the truth has every launch" hip_truth
    check "$1: a tool's intercept queues (HIP)" tool_counts hip
    check "$1: HIP without SDMA engines" env HSA_ENABLE_SDMA=0 "$0" --hip
    check "$1: HIP without direct dispatch (its own threads launch)" env AMD_DIRECT_DISPATCH=0 "$0" --hip
    check "$1: HIP, small BAR, two GPUs" env VGPU_BAR=small VGPU_GPUS=2 "$0" --hip 2
}

# The checks above start this script again with --case, as a separate process with other settings
case ${1:-} in
--case)
    shift
    hsa "$@"
    exit
    ;;
--late) # doorbells are mapped so late that the engine sleeps by then
    shift
    strace -f -o /dev/null -e trace=mmap -e inject=mmap:delay_enter=1000 "$0" --case every-gpu
    exit
    ;;
--hip)
    shift
    hip "$@"
    exit
    ;;
esac

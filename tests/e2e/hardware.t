#!/bin/sh
# make check-hardware on the software GPU, and the faults that it must find: wrong times, a read index that moves early
# or late, a hang, a library that miscounts, mistimes or disturbs, no GPU, no access to the GPU. The test says nothing
# about hardware, and the reports say so.
. "$(dirname "$0")/tap.sh"

unset RTL_MODE RTL_QUEUES
lock_out_viewers # mode auto must time nothing
make --no-print-directory O="$O" all vgpu programs benches >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
report=$work/hardware-report.txt

# Durations of kernels. Kernels that spin take as long as they spin. spin_index takes much longer than it computes,
# because the software GPU does nothing else while a kernel computes. Observed kernels take longer, too, because the
# software GPU doesn't start the next kernel meanwhile, as hardware would.
cat >"$work/script" <<'EOF'
spin_0     fixed 100us
spin_1     fixed 500us
spin_2     fixed 2ms
spin_busy  fixed 1ms
spin_index fixed 40ms
elapsed_0  fixed 200us
elapsed_1  fixed 1ms
elapsed_2  fixed 5ms
fast*      fixed 100us
*          fixed 5us
EOF

# run_hardware [NAME=VALUE]... -- OPTIONS: run check-hardware; options of tests/vgpu/run are in $gpu
run_hardware() {
    (
        RTL_HARDWARE_ON="$tap_top/tests/vgpu/run --lib $tap_top/$O/tests/libvgpu.so --execute --script ${script:-$work/script} ${gpu:-} --"
        export RTL_HARDWARE_ON
        while [ "$1" != -- ]; do
            export "${1?}"
            shift
        done
        shift
        exec tests/hardware/run --built "$O" --report "$report" "$@"
    ) >"$work/said" 2>&1
    status=$?
}
list_leftovers() { # programs that are still running
    for process in /proc/[0-9]*; do readlink "$process/exe"; done 2>/dev/null | grep -F "$tap_top/$O/tests/programs/hardware_"
}
report_says() { has "$1" "$(cat "$report")" "$2"; } # NAME PATTERN: the report has a matching line

# On a busy machine the software GPU completes kernels later than scheduled, and a check then fails without a fault of
# the library. So a check may be repeated a limited number of times. A real fault fails each time.
tries='1 2 3 4 5 6 7 8 9 10'

# find_in_report NAME PATTERN [NAME=VALUE]... -- OPTIONS: the report has a matching line
find_in_report() {
    finds_name=$1
    finds_pattern=$2
    shift 2
    for _ in $tries; do
        run_hardware "$@"
        ! grep -qE -e "$finds_pattern" "$report" || break
        echo "# not this time: $finds_pattern"
    done
    report_says "$finds_name" "$finds_pattern"
}
# Print the failed checks, with those that they are compared with.
list_failed_checks() {
    sed -n 's,^FAILED *\([a-z]*\)/.*,\1,p' "$report" | sort -u | sed 's/^modes$/alone,modes/; s/^observe$/index,observe/' | paste -sd, -
}

# ---- no fault ----
run_hardware -- --quick --soak 2
cp "$report" "$work/reports"
for _ in $tries; do
    [ "$status" = 1 ] || break # don't repeat a hang
    grep '^FAILED' "$report" | cut -c1-300 | sed 's/^/# once more: /'
    run_hardware -- --quick --soak 2 --only "$(list_failed_checks)"
    cat "$report" >>"$work/reports"
done
is "software GPU: no check fails or hangs" "$status $(grep -cE '^(FAILED|hung)' "$report")" "0 0"
grep -E '^(FAILED|hung|skipped)' "$report" | cut -c1-300 | sed 's/^/# /'
cp "$work/reports" "$report"
report_says "software GPU: the report names it as the machine" '^on: THE SOFTWARE GPU \(tests/vgpu\)\. Nothing below was seen on hardware\.'
is "software GPU: the report has no line for the table of hardware" "$(grep -c '^| ROCr' "$report" "$work/said" | cut -d: -f2 | paste -sd+ -)" 0+0
for check in alone index modes ways own clocks elapsed busy observe soak; do
    report_says "software GPU: check $check passes" "^ok +$check/"
done
report_says "software GPU: the report has costs as figures" '^figure +cost/default-native +[0-9.]+ ns'
report_says "software GPU: the report has the GPU and its firmware" '^gpu 0 (gfx90a, .*software model|fw_version [0-9]+)'
report_says "software GPU: the report has the path of the queue" '^  queue in slot 0 of G0: .*way native \(asked_for\)'
is "software GPU: the report has no private data" "$(grep -nwF -e "$tap_top" -e "$work" -e "${HOME:-/nowhere}/" -e "$(uname -n)" "$report" | grep -v "^[0-9]*:kernel ")" ""
is "software GPU: no program is left running" "$(list_leftovers)" ""

# ---- faults that it must find ----
for index in late early; do
    gpu="--read-index $index" find_in_report "read index: $index is found" "^ok +index/read index +read index $index: " -- --only index
    is "read index: $index is no fault" "$status" 0
done
sed 's/^spin_1 .*/spin_1 fixed 600us/' "$work/script" >"$work/wrong"
script=$work/wrong find_in_report "wrong times: too long ones are found" \
    '^FAILED +clocks/native +spin_1: spun for 50[0-9.]+ us only, timed as 600.00 us' -- --only clocks
is "wrong times: exit status" "$status" 1
sed 's/^spin_2 .*/spin_2 fixed 1900us/' "$work/script" >"$work/wrong"
script=$work/wrong find_in_report "wrong times: too short ones are found" \
    '^FAILED +clocks/intercept .*spin_2: spun for 2[0-9.]+ us, timed as 1900.00 us' -- --only clocks
gpu="--shift -30000000" find_in_report "wrong times: a start before the submission is found" \
    '^FAILED +own/order of times native +a start lies [0-9.]+ us before its submission' -- --only own
gpu="--shift 30000000" find_in_report "wrong times: an end in the future is found" '^FAILED +own/signals alone +an end lies [0-9.]+ us behind the moment' -- --only own
find_in_report "results of kernels are checked" '^ok +index/' VGPU_EXECUTE=0 -- --only index # the option --execute overrides it
(
    RTL_HARDWARE_ON="$tap_top/tests/vgpu/run --lib $tap_top/$O/tests/libvgpu.so --"
    export RTL_HARDWARE_ON
    exec tests/hardware/run --built "$O" --report "$report" --only clocks
) >"$work/said" 2>&1
report_says "kernels that don't compute are found" '^FAILED +clocks/alone +only 0 of 90 kernels answered'

# A kernel that never completes.
sed 's/^spin_1 .*/spin_1 fixed 1000s/' "$work/script" >"$work/wrong"
script=$work/wrong run_hardware -- --only clocks,busy --limit 6
is "hang: exit status" "$status" 3
report_says "hang: the report names the program and the limit" '^hung +clocks/alone +no end after 6 s; it was killed$'
report_says "hang: the report has the threads' states" '^  hardware_clocks: state S.*, wchan .*, syscall [0-9]+'
report_says "hang: the verdict names it" '^verdict: A PROGRAM HUNG, which ended the run, on the software GPU: '
is "hang: no further check runs" "$(grep -c '^[a-zA-Z]* *busy/' "$report")" 0
is "hang: no program is left running" "$(list_leftovers)" ""

# A signal stops check-hardware during the hang.
(
    RTL_HARDWARE_ON="$tap_top/tests/vgpu/run --lib $tap_top/$O/tests/libvgpu.so --execute --script $work/wrong --"
    export RTL_HARDWARE_ON
    exec tests/hardware/run --built "$O" --report "$work/stopped" --only index,clocks
) >"$work/said" 2>&1 &
runner=$!
tap_pids=$runner
clocks_run() { grep -q '^ok  *index' "$work/said" && test -n "$(list_leftovers)"; }
wait_until 60 clocks_run
kill -TERM "$runner"
wait "$runner"
is "stopped by a signal: exit status" $? 143
has "stopped by a signal: the report has the checks before" "$(cat "$work/stopped")" '^ok +index/read index'
has "stopped by a signal: the report says so" "$(cat "$work/stopped")" '^skipped +the rest +stopped from outside'
is "stopped by a signal: no program is left running" "$(list_leftovers)" ""
tap_pids=

# ---- faulty libraries: one file compiled with a fault ----
# compile_faulty FILE SED-COMMAND OBJECT: change FILE of src, compile OBJECT with it and link it into a library.
compile_faulty() {
    mkdir -p "$work/broken/$(dirname "$1")" "$work/broken/$(dirname "$3")"
    sed "$2" "src/$1" >"$work/broken/$1"
    if cmp -s "src/$1" "$work/broken/$1"; then
        echo "$1: the fault isn't in it"
        return 1
    fi
    source=src/$3.c
    [ "$1" != "$3.c" ] || source=$work/broken/$1
    # shellcheck disable=SC2086 # flags
    ${CC:-gcc} -std=c11 -D_GNU_SOURCE "-I$work/broken" -Isrc ${CPPFLAGS:-} -O1 -fPIC -fvisibility=hidden -ftls-model=initial-exec -c \
        -o "$work/broken/$3.o" "$source" || return 1
    rm "$work/broken/$1"
    find "$O/obj/pic/src/intercept" "$O/obj/pic/src/shm/segment_writer.o" "$O/obj/pic/src/stats/recorder.o" -name '*.o' |
        while read -r object; do
            mine=$work/broken/${object#"$O"/obj/pic/src/}
            if [ -e "$mine" ]; then echo "$mine"; else echo "$object"; fi
        done | xargs "${CC:-gcc}" -shared -Wl,-soname,librtl.so -Wl,-z,nodelete -o "$work/librtl.so" -pthread
}
# On native queues the library counts some kernels twice; on intercept queues it changes what they compute.
check "faulty library: a fault in counting compiles" compile_faulty intercept/hooks/packets.h \
    's/rtl_packet_count(tracker, &cell->calls, 1);/rtl_packet_count(tracker, \&cell->calls, packet->grid_size_x == 128 ? 2 : 1);/' \
    intercept/hooks/native_queue
check "faulty library: a fault that disturbs the program compiles" compile_faulty intercept/hooks/intercept_queue.c \
    's/^    writer(&copy, 1);/    copy.kernel.grid_size_x = copy.kernel.workgroup_size_x;\n&/' intercept/hooks/intercept_queue
run_hardware RTL_HARDWARE_LIBRARY="$work/librtl.so" RTL_HARDWARE_PROGRAMS="hsa_dispatch hip_compute" -- --quick --only alone,modes
report_says "faulty library: wrong counts are found" '^FAILED +modes/hsa_dispatch default native .*hsa_01 launched [0-9]+, counted [0-9]+'
report_says "faulty library: correct counts on intercept queues pass" '^ok +modes/hsa_dispatch default intercept '
report_says "faulty library: a disturbed program is found" '^FAILED +modes/hip_compute default intercept +status 1; its output is another one'
report_says "faulty library: the disturbed program's output is in the report" '^> FAILED '
report_says "faulty library: the undisturbed program passes" '^ok +modes/hip_compute off native '
rm -r "$work/broken"
check "faulty library: a fault in times compiles" compile_faulty intercept/worker/collect.c \
    's/uint64_t duration_ns = rtl_ticks_to_ns(&gpu->rate, end - start);/uint64_t duration_ns = rtl_ticks_to_ns(\&gpu->rate, end - start) * 6 \/ 5;/
     s/rtl_gpu_busy_ns(tracker->gpu), __ATOMIC/100 * &/' intercept/worker/collect
find_fault() { # name pattern check
    find_in_report "$1" "$2" RTL_HARDWARE_LIBRARY="$work/librtl.so" -- --only "$3"
}
find_fault "faulty library: the application's signals show wrong times" \
    '^FAILED +own/times as read native +sign0[0-9]: signals [0-9.]+ us in all, library ' own
find_fault "faulty library: the kernels' clock shows wrong times" '^FAILED +clocks/native .*spin_2: spun for 20[0-9.]+ us only, timed as 2400.00 us' clocks
find_fault "faulty library: HIP's events show wrong times" '^FAILED +elapsed/intercept .*elapsed_2: hipEventElapsedTime 5[0-9.]+ us, timed as 6000.00 us' elapsed
find_fault "faulty library: a GPU busy for longer than the run is found" '^FAILED +busy/native +busy for ' busy

# ---- no GPU, no access ----
RTL_HARDWARE_KFD=$work/kfd tests/hardware/run --report "$report" >"$work/said" 2>&1
is "no driver: exit status" $? 4
report_says "no driver: the report says so" '^skipped +all +no kfd in /dev: no driver for AMD GPUs is loaded'
is "no driver: the report has no check" "$(grep -cE '^(ok|FAILED)' "$report") $(sed -n 's/^on: //p' "$report")" "0 nothing"
if [ ! -e /dev/kfd ]; then
    : >"$work/kfd"
    RTL_HARDWARE_KFD=$work/kfd tests/hardware/run --built "$O" --report "$report" >"$work/said" 2>&1
    is "driver without a GPU: exit status" $? 4
    report_says "driver without a GPU: the report says so" '^skipped +all +the runtime finds no GPU: hsa_init: HSA_STATUS_ERROR'
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    : >"$work/kfd"
    chmod 660 "$work/kfd"
    chmod 711 "$work"
    mkdir "$work/theirs"
    chown 65534:65534 "$work/theirs"
    cp -r tests "$work/theirs/tests" && mkdir -p "$work/theirs/src/base" && cp src/base/version.h "$work/theirs/src/base"
    RTL_HARDWARE_KFD=$work/kfd setpriv --reuid 65534 --regid 65534 --clear-groups \
        "$work/theirs/tests/hardware/run" --report "$work/theirs/report" >"$work/said" 2>&1
    is "no access to the GPU: exit status" $? 4
    has "no access to the GPU: the report names the owner" "$(cat "$work/theirs/report")" '^skipped +all +this user may not use kfd \(it is for the groups .*root'
    has "no access to the GPU: the message names the groups to join" "$(cat "$work/said")" 'sudo usermod -aG render,video'
fi

# ---- command line ----
tests/hardware/run --only nonsense >"$work/said" 2>&1
is "--only: an unknown check is refused" "$? $(cat "$work/said")" "2 tests/hardware/run: --only nonsense: no such check (--help lists them)"
tests/hardware/run --limit 0 >"$work/said" 2>&1
is "--limit: 0 is refused" "$? $(wc -l <"$work/said")" "2 1"
is "make check-hardware: calls tests/hardware/run" "$(make --no-print-directory -n check-hardware QUICK=1 O=build/elsewhere | sed 's/.* O=/O=/')" "O='build/elsewhere' tests/hardware/run --quick"

# A vendor's ROCm
mkdir -p "$work/rocm/bin" "$work/rocm/lib" "$work/rocm/include/hsa"
: >"$work/rocm/lib/libhsa-runtime64.so"
: >"$work/rocm/include/hsa/hsa.h"
printf '#!/bin/sh\n' >"$work/rocm/bin/hipcc"
chmod +x "$work/rocm/bin/hipcc"
make -n O="$work/o" ROCM_PATH="$work/rocm" GFX='gfx1100 gfx1036' NEEDS=hardware hardware hardware-hip >"$work/said" 2>&1
has "vendor's ROCm: its hipcc compiles programs for the given GPUs" "$(cat "$work/said")" \
    "^$work/rocm/bin/hipcc .*--offload-arch=gfx1100 --offload-arch=gfx1036 .*/hip_basic .* -L$work/rocm/lib "
has "vendor's ROCm: its hipcc compiles code objects" "$(cat "$work/said")" "^$work/rocm/bin/hipcc .*--offload-arch=gfx1036 -o .*/spin-gfx1036.co"
has "vendor's ROCm: programs use its headers and libraries" "$(cat "$work/said")" "^gcc .*-L$work/rocm/lib -Wl,-rpath,$work/rocm/lib .*hardware_clocks"
is "vendor's ROCm: the build needs nothing of the software GPU" "$(grep -c -e 'has-gpu' -e libvgpu "$work/said")" 0
finish

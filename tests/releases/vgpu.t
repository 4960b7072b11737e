#!/bin/sh
# The software GPU with the newer releases' runtimes: the same self-tests as with this system's, and kernels that compute on
# gfx942, which this system's runtime doesn't know.
. "$(dirname "$0")/../e2e/tap.sh"
. "$tap_top/tests/vgpu/selftest/suite.sh"
vgpu_build
make --no-print-directory O="$O" vgpu programs all >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
program=$O/tests/programs/hip_compute-gfx942

gfx942() { # arguments of hip_compute
    tests/vgpu/run --release "$release" --gfx gfx942 --execute -- "$program" "$@" >"$work/out" 2>"$work/err"
}

computes() { # how
    gfx942
    is "$release, gfx942, $1: every result is right" "$? $(tail -n 1 "$work/out" | cut -d ' ' -f 2-4)" "0 PASS, 88 checks,"
    is "$release, gfx942, $1: standard error is empty" "$(filter_runtimes_lines <"$work/err")" ""
}

for release in ${RTL_RELEASES:-experimental trixie sid}; do
    [ "$release" != here ] || continue
    vgpu_options="--release $release"
    RTL_RELEASE=$release
    export vgpu_options
    found=$(tests/vgpu/releases list "$release")
    has "$release: the fetched release is listed" "$found" "^$release: libhsa-runtime64 [0-9]"
    vgpu_suite "$release"
    vgpu_options="--release $release --gfx gfx942"
    is "$release: the runtime knows gfx942" "$(hsa agents | cut -d ' ' -f 1-5)" "gfx942 bdf 0300 cus 304"

    computes "alone"
    for way in native intercept; do
        if [ "$way" = intercept ] && ! may_intercept; then
            skip "$release, gfx942, with librtl.so, intercept" "the library makes no intercept queues here: they overwrite memory"
            continue
        fi
        HSA_TOOLS_LIB=$tap_top/$O/librtl.so RTL_QUEUES=$way
        export HSA_TOOLS_LIB RTL_QUEUES
        computes "with librtl.so, $way"
        unset HSA_TOOLS_LIB RTL_QUEUES
    done
    gfx942 sync
    is "$release, gfx942: a barrier over the whole grid works" "$? $(cat "$work/out") $(filter_runtimes_lines <"$work/err")" "0 7680 of 7680 "
    gfx942 fault
    has "$release, gfx942: a fault names the address and the kernel" "$(cat "$work/err")" \
        '^vgpu: gpu 0 queue [0-9]+: compute_read touches address 0x123456789000 at \+0x[0-9a-f]+ of its code, which isn.t GPU memory'
    gfx942 gws
    has "$release, gfx942: an unmodelled instruction is reported by name" "$(cat "$work/err")" \
        '^vgpu: .* NOT MODELLED: ds_gws_sema_p \(encoding d9390000 00000000 at \+0x[0-9a-f]+ of compute_gws\).* NOT TO BE TRUSTED'
done
finish

#!/bin/sh
# The software GPU below the newer releases' runtimes: the same self-tests as on this system, and kernels that compute on
# gfx942, which this system's runtime doesn't know.
. "$(dirname "$0")/../e2e/tap.sh"
. "$tap_top/tests/vgpu/selftest/suite.sh"
vgpu_build
make --no-print-directory O="$O" vgpu programs all >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
program=$O/tests/programs/hip_compute-gfx942

gfx942() { # what hip_compute should do
    tests/vgpu/run --release "$release" --gfx gfx942 --execute -- "$program" "$@" >"$work/out" 2>"$work/err"
}

computes() { # how
    gfx942
    is "$release, gfx942, $1: every result is right" "$? $(tail -n 1 "$work/out" | cut -d ' ' -f 2-4)" "0 PASS, 88 checks,"
    is "$release, gfx942, $1: and nothing is said" "$(without_runtimes_own <"$work/err")" ""
}

for release in ${RTL_RELEASES:-experimental trixie sid}; do
    [ "$release" != here ] || continue
    vgpu_options="--release $release"
    RTL_RELEASE=$release
    export vgpu_options
    found=$(tests/vgpu/releases list "$release")
    has "$release: fetched" "$found" "^$release: libhsa-runtime64 [0-9]"
    vgpu_suite "$release"
    vgpu_options="--release $release --gfx gfx942"
    is "$release: a GPU that this system's runtime doesn't know" "$(hsa agents | cut -d ' ' -f 1-5)" "gfx942 bdf 0300 cus 304"

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
    is "$release, gfx942: a barrier of the whole grid" "$? $(cat "$work/out") $(without_runtimes_own <"$work/err")" "0 7680 of 7680 "
    gfx942 fault
    has "$release, gfx942: an address that is no memory is named with the kernel" "$(cat "$work/err")" \
        '^vgpu: gpu 0 queue [0-9]+: compute_read touches address 0x123456789000 at \+0x[0-9a-f]+ of its code, which isn.t GPU memory'
    gfx942 gws
    has "$release, gfx942: an instruction that isn't modelled names itself" "$(cat "$work/err")" \
        '^vgpu: .* NOT MODELLED: ds_gws_sema_p \(encoding d9390000 00000000 at \+0x[0-9a-f]+ of compute_gws\).* NOT TO BE TRUSTED'
done
finish

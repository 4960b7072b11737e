#!/bin/sh
# The software GPU below the newer releases' runtimes: the same self-tests as on this system.
. "$(dirname "$0")/../e2e/tap.sh"
. "$tap_top/tests/vgpu/selftest/suite.sh"
vgpu_build

for release in trixie sid; do
    vgpu_options="--release $release"
    export vgpu_options
    found=$(tests/vgpu/releases list "$release")
    has "$release: fetched" "$found" "^$release: libhsa-runtime64 [0-9]"
    vgpu_suite "$release"
    vgpu_options="--release $release --gfx gfx942"
    is "$release: a GPU that this system's runtime doesn't know" "$(hsa agents | cut -d ' ' -f 1-5)" "gfx942 bdf 0300 cus 304"
done
finish

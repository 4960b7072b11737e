#!/bin/sh
# The software GPU's launcher and its files: options, wrong usage, scripts, seeds, truth.
. "$(dirname "$0")/tap.sh"
. "$tap_top/tests/vgpu/selftest/suite.sh"
vgpu_build

fails_with() { # STATUS PATTERN ARGS...: prints one line on stderr and exits with the status
    want=$1 pattern=$2
    shift 2
    tests/vgpu/run "$@" >"$work/out" 2>"$work/err"
    got=$?
    cat "$work/err"
    [ "$got" = "$want" ] && [ "$(wc -l <"$work/err")" = 1 ] && [ ! -s "$work/out" ] && grep -qE -e "$pattern" "$work/err"
}

has "launcher: --help lists every option" "$(tests/vgpu/run --help)" '^  --release NAME'
check "launcher: no program is an error" fails_with 2 'no program given'
check "launcher: an unknown option is an error" fails_with 2 'unknown option --gpu ' --gpu 2 -- true
check "launcher: an option without its value is an error" fails_with 2 '--gpus needs a value' --gpus
check "launcher: 17 GPUs are an error" fails_with 2 '1 to 16' --gpus 17 -- true
check "launcher: --gpus two is an error" fails_with 2 'whole number' --gpus two -- true
check "launcher: a GPU that isn't modelled is an error" fails_with 2 'gfx90a, gfx906 or gfx942' --gfx gfx1100 -- true
check "launcher: an unknown read index is an error" fails_with 2 'late or early' --read-index soon -- true
check "launcher: a duration without unit is an error" fails_with 2 'is needed' --duration 5 -- true
check "launcher: a missing script is an error" fails_with 2 'cannot be read' --script "$work/none" -- true
echo 'k gauss 1us' >"$work/bad"
check "launcher: a script with an error is refused" fails_with 2 'line 1: unknown distribution' --script "$work/bad" -- true
check "launcher: a truth file in a missing folder is an error" fails_with 2 'no folder' --truth "$work/none/truth" -- true
check "launcher: a missing release is an error" fails_with 125 'is not in' --release "$work/none" -- true
for name in '' '..' 'a/b' 'sid trixie' '*' 'sid;true' "$(printf 'sid\nmain')"; do
    VGPU_RELEASES=$work tests/vgpu/releases list "$name" >"$work/out" 2>"$work/err"
    is "releases: $(echo "'$name'" | tr '\n' ' ')is refused as a name" "$? $(wc -l <"$work/err") $(grep -c 'is neither a release nor' "$work/err")" "2 1 1"
done
check "launcher: a missing library is an error" fails_with 125 'run .make vgpu.' --lib "$work/none" -- true
tests/vgpu/run -- sh -c 'exit 42'
is "launcher: the program's exit status is passed on" $? 42
is "launcher: the program replaces the launcher" "$(sh -c 'echo $$; exec tests/vgpu/run -- sh -c "echo \$\$"' | uniq | wc -l)" 1
check "launcher: a program without GPU runs unchanged" tests/vgpu/run -- sh -c 'ls /sys /dev >/dev/null && cat /etc/os-release >/dev/null'

vgpu_options='--seed 7'
hsa draw 200 >"$work/one"
hsa draw 200 >"$work/two"
vgpu_options='--seed 8'
hsa draw 200 >"$work/three"
vgpu_options=''
check "--seed: the same seed draws the same durations" cmp "$work/one" "$work/two"
check "--seed: another seed draws other durations" sh -c "! cmp -s '$work/one' '$work/three'"
tests/vgpu/run --duration 2.5us -- "$vgpu_out/vgpu_hsa" "$vgpu_out/kernels-gfx90a.co" basic >"$work/out"
check "--duration: every kernel takes that long" all_are "$work/out" 250 100
tests/vgpu/run --truth "$work/%p.truth" -- sh -c "'$vgpu_out/vgpu_hsa' '$vgpu_out/kernels-gfx90a.co' basic; true" >"$work/out"
is "--truth: %p becomes the pid" "$(find "$work" -name '[0-9]*.truth' | wc -l)" 1
rm -f "$work/truth"
tests/vgpu/run --drift 50 --script "$work/vgpu.script" --truth "$work/truth" -- "$vgpu_out/vgpu_hsa" "$vgpu_out/kernels-gfx90a.co" clock
is "--drift: times still convert" $? 0
seen=$(tests/vgpu/run --verbose -- "$vgpu_out/vgpu_hsa" "$vgpu_out/kernels-gfx90a.co" agents 2>&1)
has "--verbose: prints the driver's calls" "$seen" '^vgpu: KFD ACQUIRE_VM: ok'
# This runtime writes a semaphore's file itself, and the signal would end it on hardware, too.
sh -c "trap '' XFSZ; ulimit -f 0; tests/vgpu/run -- '$vgpu_out/vgpu_hsa' '$vgpu_out/kernels-gfx90a.co' agents >/dev/null 2>&1"
is "RLIMIT_FSIZE of 0: the program runs" $? 0
finish

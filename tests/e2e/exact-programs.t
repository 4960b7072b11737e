#!/bin/sh
# Every kernel's count is exact, and every timed kernel's durations equal the software GPU's. Runs raw HSA and HIP
# programs, on the GPUs that Debian 12's hipcc compiles for and on one that it doesn't know.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/exact.sh"

cat >"$work/script" <<'EOF'
hsa_0*              lognormal 12us 0.6
hsa_1*              bimodal 4us 300us 0.95
launch_0*           pareto 3us 1.4 5ms
launch_1*           uniform 1us 90us
basic_event         fixed 250us
basic_thread        fixed 0ns
*                   lognormal 20us 0.3
EOF

programs=$O/tests/programs
run_exact "raw HSA, gfx90a" --script "$work/script" --gfx gfx90a -- "$programs/hsa_dispatch" --launches 60000 --queues 6 --threads 3
run_exact "raw HSA, own signals, gfx906" --script "$work/script" --gfx gfx906 -- "$programs/hsa_dispatch" --launches 20000 --signals 10
check_mostly_timed "raw HSA, own signals, gfx906"
run_exact "raw HSA, two GPUs" --script "$work/script" --gpus 2 -- "$programs/hsa_dispatch" --launches 20000 --gpus 2
run_exact "HIP, gfx90a" --script "$work/script" --gfx gfx90a -- "$programs/hip_basic"
check_mostly_timed "HIP, gfx90a"
run_exact "HIP, gfx906" --script "$work/script" --gfx gfx906 -- "$programs/hip_basic"
run_exact "HIP, two GPUs" --script "$work/script" --gpus 2 -- "$programs/hip_basic" --rounds 2
check_mostly_timed "HIP, two GPUs"
run_exact "HIP launches, 4 threads" --script "$work/script" --gfx gfx90a -- "$programs/hip_launches" --launches 100000 --threads 4
run_exact "HIP launches with events" --script "$work/script" --gfx gfx90a -- "$programs/hip_launches" --launches 20000 --events 20
check_mostly_timed "HIP launches with events"
if [ -n "${RTL_RELEASE:-}" ]; then # older releases don't know this GPU
    run_exact "raw HSA, gfx942" --script "$work/script" --gfx gfx942 -- "$programs/hsa_dispatch" --launches 20000
    run_exact "HIP, gfx942" --script "$work/script" --gfx gfx942 -- "$programs/hip_basic-gfx942"
fi
finish

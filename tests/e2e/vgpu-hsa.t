#!/bin/sh
# The software GPU below this system's real HSA runtime and HIP: time, memory, events, queues, starts and ends.
. "$(dirname "$0")/tap.sh"
. "$tap_top/tests/vgpu/selftest/suite.sh"
vgpu_build

"$vgpu_out/pure" >"$work/pure.out" 2>"$work/pure.err"
is "sanitizers: scripts, distributions, heap, clocks and events" $? 0
"$vgpu_out/pure_sdma" >"$work/pure.out" 2>"$work/pure.err"
is "sanitizers: SDMA commands, also those that no runtime sends" $? 0
"$vgpu_out/pure_bell" >"$work/pure.out" 2>"$work/pure.err"
is "sanitizers: doorbells of all threads arrive" $? 0

vgpu_suite "this system"

# Tests that one release suffices for
hsa reload >"$work/out" 2>"$work/err"
names() { awk -F '\t' '$7 ~ /^vg_/ { print $7 }' "$work/truth" | awk '$0 != (NR % 2 ? "vg_short" : "vg_other") { exit 1 } END { exit NR != 20 }'; }
check "reload: kernels at reused addresses get their own names" names
check "reload: addresses are reused" grep -q '^[1-9][0-9]* of 19' "$work/out"
grown=$(hsa queues 12)
check "768 queues, 64 at a time: the process grows by less than 2 MB ($grown kB)" test "$grown" -lt 2000
is "memory: allocations stop at the GPU's size" "$(hsa limit 2>/dev/null)" 68719476736

vgpu_options='--gpus 3 --gfx gfx906' vgpu_gfx=gfx906
is "three GPUs: properties of another kind" "$(hsa agents | cut -d ' ' -f 1-7 | tr '\n' ';')" \
    "gfx906 bdf 0300 cus 60 vram 16;gfx906 bdf 0400 cus 60 vram 16;gfx906 bdf 0500 cus 60 vram 16;"
hsa every-gpu >"$work/out" 2>"$work/err"
is "three GPUs: each has its own dispatches" "$(awk -F '\t' '$7 == "vg_short" { n[$1]++ } END { print n[0] + 0, n[1] + 0, n[2] + 0 }' "$work/truth")" "1 2 3"
check "three GPUs: copies between them succeed" hsa copy
# The engine sleeps when a GPU's doorbells are mapped: it must notice them.
check "three GPUs: doorbells that are mapped late work" env vgpu_options="$vgpu_options" vgpu_gfx=gfx906 "$0" --late
vgpu_options='' vgpu_gfx=gfx90a

check "exec: another program starts while the parent works" hsa exec "$vgpu_out/vgpu_hsa"
for how in return exit _exit; do
    check "$how: ends with kernels in flight" hsa exit "$how"
done
hsa exit abort 2>/dev/null
is "abort: ends with kernels in flight" $? 134
hsa exit kill 2>/dev/null
is "SIGKILL: ends with kernels in flight" $? 137
check "SIGKILL: the truth ends with a complete line" test -z "$(tail -c 1 "$work/truth" | tr -d '\n')"

seen=$(hsa bad-packet type 2>&1)
is "unknown packet: is a queue error" $? 3
has "unknown packet: the message has its type" "$seen" '^vgpu: gpu 0 queue [0-9]+ packet 0: unknown AQL packet type 9'
seen=$(hsa bad-packet vendor 2>&1)
has "unknown vendor packet: the message has its format" "$seen" '^vgpu: .* vendor packet with unknown AmdFormat 77'
seen=$(hsa bad-packet kernel 2>&1)
has "kernel object 0: the message says so" "$seen" '^vgpu: .* kernel object is 0'

# idles_calmly SLEEPS COMMAND...: in three seconds, the software GPU sleeps at most SLEEPS times and doesn't poll without
# sleeping. How long each wake-up takes depends on the machine. The least of three: other load delays the first sleeps.
idles_calmly() {
    most=$1
    shift
    for _ in 1 2 3; do
        "$@"
    done >"$work/idle"
    cat "$work/idle"
    sort -k2n "$work/idle" | awk -v most="$most" 'NR == 1 { good = NF == 2 && $2 <= most && $1 < 1000000 } END { exit !good }'
}
check "idle software GPU: sleeps" idles_calmly 300 hsa idle 3
sed 's/^/# us and sleeps: /' "$work/idle"
check "idle software GPU without userfaultfd: sleeps 2 ms at a time" idles_calmly 2000 env VGPU_NAP=1 "$0" --case idle 3
sed 's/^/# us and sleeps: /' "$work/idle"
check "software GPU: threads work without userfaultfd" env VGPU_NAP=1 "$0" --case threads 20
finish

#!/bin/sh
# The software GPU below the real HSA runtime and HIP of this system: time, memory, events, queues, coming and going.
. "$(dirname "$0")/tap.sh"
. "$tap_top/tests/vgpu/selftest/suite.sh"
vgpu_build

"$vgpu_out/pure" >"$work/pure.out" 2>"$work/pure.err"
is "scripts, distributions, heap, clocks and events under the sanitizers" $? 0
"$vgpu_out/pure_sdma" >"$work/pure.out" 2>"$work/pure.err"
is "SDMA commands, also those that no runtime sends, under the sanitizers" $? 0
"$vgpu_out/pure_bell" >"$work/pure.out" 2>"$work/pure.err"
is "doorbells: whoever rings is heard and goes on" $? 0

vgpu_suite "this system"

# what needs to be seen on one release only
hsa reload >"$work/out" 2>"$work/err"
names() { awk -F '\t' '$7 ~ /^vg_/ { print $7 }' "$work/truth" | awk '$0 != (NR % 2 ? "vg_short" : "vg_other") { exit 1 } END { exit NR != 20 }'; }
check "kernels that are loaded where others were get their own names" names
check "at the same addresses indeed" grep -q '^[1-9][0-9]* of 19' "$work/out"
grown=$(hsa queues 12)
check "768 queues, 64 at a time: the process grows by $grown kB" test "$grown" -lt 2000
is "the size of a GPU's memory is its limit" "$(hsa limit 2>/dev/null)" 68719476736

vgpu_options='--gpus 3 --gfx gfx906' vgpu_gfx=gfx906
is "three GPUs of another kind" "$(hsa agents | cut -d ' ' -f 1-7 | tr '\n' ';')" \
    "gfx906 bdf 0300 cus 60 vram 16;gfx906 bdf 0400 cus 60 vram 16;gfx906 bdf 0500 cus 60 vram 16;"
hsa every-gpu >"$work/out" 2>"$work/err"
is "each does its own work" "$(awk -F '\t' '$7 == "vg_short" { n[$1]++ } END { print n[0] + 0, n[1] + 0, n[2] + 0 }' "$work/truth")" "1 2 3"
check "copies between them" hsa copy
# the engine is asleep by the time a GPU's doorbells are mapped: it must hear them all the same
check "doorbells that are mapped late" env vgpu_options="$vgpu_options" vgpu_gfx=gfx906 "$0" --late
vgpu_options='' vgpu_gfx=gfx90a

check "another program by exec while the parent works" hsa exec "$vgpu_out/vgpu_hsa"
for how in return exit _exit; do
    check "ends with kernels in flight: $how" hsa exit "$how"
done
hsa exit abort 2>/dev/null
is "abort with kernels in flight" $? 134
hsa exit kill 2>/dev/null
is "SIGKILL with kernels in flight" $? 137
check "and the truth ends with a whole line" test -z "$(tail -c 1 "$work/truth" | tr -d '\n')"

seen=$(hsa bad-packet type 2>&1)
is "an unknown packet is a queue error" $? 3
has "and names itself" "$seen" '^vgpu: gpu 0 queue [0-9]+ packet 0: unknown AQL packet type 9'
seen=$(hsa bad-packet vendor 2>&1)
has "a vendor packet of unknown format too" "$seen" '^vgpu: .* vendor packet with unknown AmdFormat 77'
seen=$(hsa bad-packet kernel 2>&1)
has "a kernel object of 0 too" "$seen" '^vgpu: .* kernel object is 0'

# The least of three: what else the machine does makes it more, and nothing makes it less.
used_idle() { # COMMAND...
    for _ in 1 2 3; do
        "$@"
    done | sort -n | head -n 1
}
used=$(used_idle hsa idle 3)
check "idle: below 2 % of a core ($used us of 3 s)" test "$used" -lt 60000
used=$(used_idle env VGPU_NAP=1 "$0" --case idle 3)
check "idle without userfaultfd: below 2 % of a core ($used us of 3 s)" test "$used" -lt 60000
check "threads without userfaultfd" env VGPU_NAP=1 "$0" --case threads 20
finish

#!/bin/sh
# What tests/hardware compares, with made-up accounts on both sides of each tolerance; and that what is private goes from
# its report. The whole of it on the software GPU: hardware.t
. "$(dirname "$0")/tap.sh"

judge() { # what [awk options]: of standard input
    what=$1
    shift
    awk -v what="$what" "$@" -f tests/hardware/judge.awk
}
# given NAME WHAT LINES PATTERN [awk options]
given() {
    has "$1" "$(printf '%b\n' "$3" | judge "$2" ${5+"$5" "$6"})" "$4"
}

launched='launched a 3\nlaunched b 2'
library='counted 5\ntimed 5\nuntimed_total 0'
given "counts that agree" counts "$launched\n$library\nkernel a 3 3 0 0\nkernel b 2 2 0 0\nkernel other 7 7 0 0" '^ok 2 kernels, 5 launches$'
given "one too few" counts "$launched\n$library\nkernel a 2 2 0 0\nkernel b 2 2 0 0" '^FAILED a launched 3, counted 2 '
given "one too many" counts "$launched\n$library\nkernel a 3 3 0 0\nkernel b 3 3 0 0" '^FAILED b launched 2, counted 3 '
given "one not at all" counts "$launched\n$library\nkernel a 3 3 0 0" '^FAILED b launched 2, counted 0 '
given "nothing launched" counts "$library\nkernel a 3 3 0 0" '^FAILED the program launched nothing'
given "no library" counts "launched a 0" '^FAILED .*the library says nothing'
given "a program that keeps no account, as before" counts "$library\nkernel a 3 3 0 0\nkernel __amd_rocclr_copy 9 9 0 0" \
    '^ok 3 dispatches, as in its other runs$' -v tally=3
given "and not" counts "$library\nkernel a 4 4 0 0" '^FAILED 4 dispatches counted, in another run 3' -v tally=3
given "what rtl-top observes" counts "$launched\nseen a 3\nseen b 2" '^ok 2 kernels'

given "accounts" accounts "$library" '^ok 100.0 % timed$' -v mode=default
given "with reasons" accounts "counted 5\ntimed 4\nuntimed_total 1\nuntimed no_signal 1" '^ok 80.0 % timed, not: no_signal 1$' -v mode=default
given "what isn't accounted for" accounts "counted 6\ntimed 5\nuntimed_total 0" '^FAILED counted 6, timed 5, untimed 0' -v mode=default
given "times that make no sense" accounts "counted 5\ntimed 4\nuntimed_total 1\nuntimed bad_time 1" '^FAILED 1 with times that make no sense' -v mode=default
given "auto times" accounts "$library" '^FAILED 5 timed without a viewer' -v mode=auto
given "auto counts" accounts "counted 5\ntimed 0\nuntimed_total 5\nuntimed unwatched 5" '^ok 0.0 % timed' -v mode=auto
given "default doesn't time" accounts "counted 5\ntimed 0\nuntimed_total 5\nuntimed no_worker 5" '^FAILED none timed: no_worker 5' -v mode=default

own='own a 10 50000 4000 6000\nraw a 10 5000 400 600\ngpu 0 x busy_ns 1 tick_hz 100000000\ncounted 10'
given "own signals" own "$own\nkernel a 10 10 0 50000 4000 6000" '^ok 10 dispatches, off by 0.0 ns'
given "a tick each is rounding" own "$own\nkernel a 10 10 0 50100 4010 5990" '^ok 10 dispatches, off by 10.0 ns'
given "more isn't" own "$own\nkernel a 10 10 0 50110 4000 6000" '^FAILED a: signals 50.00 us in all, library 50.11 us'
given "a minimum that is another" own "$own\nkernel a 10 10 0 50000 4012 6000" '^FAILED a: signals 4.00 us to 6.00 us, library 4.01 us'
given "a maximum that is another" own "$own\nkernel a 10 10 0 50000 4000 6020" '^FAILED a: signals 4.00 us'
given "one that wasn't timed" own "$own\nkernel a 10 9 1 50000 4000 6000" '^FAILED a: 10 read, 9 timed'
given "what the application reads is another" own \
    "own a 10 61000 4000 6000\nraw a 10 5000 400 600\ngpu 0 x tick_hz 100000000 bdf 0\ncounted 10\nkernel a 10 10 0 50000 4000 6000" \
    '^FAILED a: the application reads 61.00 us in all, library 50.00 us'
given "a clock of unknown rate" own "own a 10 50000 4000 6000\nraw a 10 5000 400 600\ncounted 10\nkernel a 10 10 0 50000 4000 6000" \
    '^FAILED the rate of the GPU.s clock'

given "order" order "waits 10 900 2000\nearly 5000\nlate 5000\nbackwards 0" '^ok starts before submission by 5.00 us'
given "a start too early" order "waits 10 900 2000\nearly 5001\nlate 0\nbackwards 0" '^FAILED a start lies 5.00 us before'
given "an end too late" order "waits 10 900 2000\nearly 0\nlate 5001\nbackwards 0" '^FAILED an end lies 5.00 us behind'
given "backwards" order "waits 10 900 2000\nearly 0\nlate 0\nbackwards 1" '^FAILED 1 ended before they started'

given "waits" waits "waits 10 10000 2000\ncounted 10\nqueue 0 wait 10 15900 1 waited 9 9 20000" '^ok wait p50 10.00 us by the application, library 15.90 us'
given "waits that are others" waits "waits 10 10000 2000\ncounted 10\nqueue 0 wait 10 16100 1 waited 9 9 20000" '^FAILED wait p50'
given "one too few" waits "waits 10 10000 2000\ncounted 10\nqueue 0 wait 9 10000 1 waited 9 9 20000" '^FAILED waits of 10 dispatches, library 9'
given "one of an hour" waits "waits 10 10000 2000\ncounted 10\nqueue 0 wait 10 10000 1 waited 9 9 3600000000000" '^FAILED a wait of'

spun='hz 100000000\nexecuted 20 of 20\noutside 0 0\nclock s 20 100000\nstamps s 20 100050'
given "spins" clocks "$spun" '^ok spun/timed: s 1000.00/1000.50 us'
given "as the library times them" clocks "$spun\ncounted 20\nkernel s 20 20 0 1 1029000 1" '^ok spun/timed: s 1000.00/1029.00 us'
given "too long" clocks "$spun\ncounted 20\nkernel s 20 20 0 1 1031000 1" '^FAILED s: spun for 1000.00 us only, timed as 1031.00 us'
given "too short" clocks "$spun\ncounted 20\nkernel s 20 20 0 1 987900 1" '^FAILED s: spun for 1000.00 us, timed as 987.90 us'
given "at the library's rate" clocks "$spun\ncounted 20\ngpu 0 tick_hz 50000000 bdf 0\nkernel s 20 20 0 1 2020000 1" '^ok spun/timed: s 2000.00/2020.00 us'
given "not executed" clocks "hz 100000000\nexecuted 19 of 20\nclock s 20 100000\nstamps s 20 100050" '^FAILED only 19 of 20'
given "outside" clocks "hz 100000000\nexecuted 20 of 20\noutside 3 5\nclock s 20 100000\nstamps s 20 100050" '^ok .*3 of 20 read the clock outside their times, by 0.05 us'

timed='counted 20\nkernel e 20 20 0 1 1000000 1'
given "elapsed" elapsed "$timed\nbetween e 11 1219000 1219000\nown_events e 11 1014000 1014000" '^ok between events/own events/timed: e 1219.00/1014.00/1000.00 us'
given "shorter than the kernel" elapsed "$timed\nbetween e 11 988000 988000\nown_events e 11 1000000 1000000" '^FAILED e: hipEventElapsedTime 988.00 us'
given "much longer" elapsed "$timed\nbetween e 11 1221000 1221000\nown_events e 11 1000000 1000000" '^FAILED e: hipEventElapsedTime 1221.00 us, timed as only'
given "the median decides about what is too short" elapsed "$timed\nbetween e 11 900000 1000000\nown_events e 11 1000000 1000000" '^ok '
given "own events off" elapsed "$timed\nbetween e 11 1000000 1000000\nown_events e 11 1016000 1016000" '^FAILED e: events of its own 1016.00 us'
given "own events too short" elapsed "$timed\nbetween e 11 1000000 1000000\nown_events e 11 900000 988000" '^FAILED e: events of its own 988.00 us'
given "a barrier in front of most" elapsed "$timed\nbetween e 11 1000000 1000000\nown_events e 11 1000000 1900000" '^ok '
given "not timed" elapsed "counted 20\nkernel e 20 0 20 0 0 0\nbetween e 11 1000000 1000000\nown_events e 11 1016000 1016000" "^FAILED e isn't timed"

given "busy" busy "lasted 1000000000\nsum 300000000\ncounted 1\ngpu 0 busy_ns 1001000000 tick_hz 100000000 x" '^ok busy 1.001 of the time; .* 3.00 of it'
given "busier than can be" busy "lasted 1000000000\nsum 3000000000\ncounted 1\ngpu 0 busy_ns 1001200000" '^FAILED busy for'
given "never busy" busy "lasted 1000000000\nsum 3000000000\ncounted 1\ngpu 0 busy_ns 0" '^FAILED never busy'

index='ahead 0\nback 0\nshort 0'
given "early" index "$index\npast 81 of 100" '^ok read index early: 81 of 100'
given "late" index "$index\npast 19 of 100" '^ok read index late'
given "neither" index "$index\npast 50 of 100" '^FAILED neither early nor late'
given "ahead" index "ahead 1\nback 0\nshort 0\npast 0 of 100" '^FAILED ahead of what was submitted in 1 looks'
given "back" index "ahead 0\nback 2\nshort 0\npast 0 of 100" '^FAILED it went back in 2 looks'
given "stuck" index "ahead 0\nback 0\nshort 1\npast 0 of 100" '^FAILED behind 1 kernels half a second after'
given "not seen" index "$index\npast 0 of 0" '^FAILED no kernel was seen running'
given "no such judgement" nonsense "" '^FAILED no check nonsense'

scrubbed() { printf '%s\n' "$1" | awk -v user=ann -v host=box7 -v home=/users/ann -f tests/hardware/scrub.awk; }
is "paths go" "$(scrubbed 'loaded /srv/models/x.bin and /opt/rocm/lib/libhsa.so, "/a/b"')" 'loaded <path> and /opt/rocm/lib/libhsa.so, "<path>"'
is "the home goes" "$(scrubbed 'in /users/ann, /users/ann/x.c')" 'in <home>, <home>/x.c'
is "user and machine go" "$(scrubbed 'ann@box7: box7, ann; annual box77')" '<user>@<host>: <host>, <user>; annual box77'
is "names of processes in the driver's words go" "$(scrubbed 'amdgpu: Process serve-x pid 12 thread serve-y:cs0 pid 13)')" \
    'amdgpu: process <name> pid 12 thread <name> pid 13)'
is "the driver's files stay" "$(scrubbed '/dev/kfd /dev/dri/renderD128 /sys/class/kfd')" '/dev/kfd /dev/dri/renderD128 /sys/class/kfd'

# ---- the report ----
here=$tap_top/tests/hardware
# shellcheck disable=SC2034 # what report.sh wants to know
top=$tap_top
# shellcheck source=tests/hardware/report.sh
. "$here/report.sh"
report_of() { # software, checks...
    # shellcheck disable=SC2034 # the same
    software=$1
    shift
    printf '%s\n' "$@" >"$work/checks"
    write_report >"$work/report"
}
printf '%s\n' 'software 0' 'kernel Linux 6.8 x86_64' 'driver amdgpu 6.12' 'rocm 6.4.1' 'gpu 0 gfx1100, Some Card, 96 CUs, 2500 MHz' \
    'gpu 1 gfx1100, Some Card, 96 CUs, 2500 MHz' 'isa gfx1100' >"$work/machine"
printf '%s\n' '  runtime loaded: HSA runtime 1.15' >"$work/attached"
report_of 0 'ok       a/b     x' 'ok       a/c     x' 'skipped  d       y' 'figure   e/f     12 ns'
has "on hardware: said" "$(cat "$work/report")" '^on: hardware$'
has "with the counts" "$(cat "$work/report")" '^verdict: every check passed: 2 ok, 0 FAILED, 1 skipped, 0 hung$'
has "and the line for the table" "$(cat "$work/report")" \
    '^\| ROCr HSA runtime 1.15, ROCm 6.4.1 \| 2 x gfx1100, Some Card; Linux 6.8 x86_64, amdgpu 6.12 \| rtl-top [0-9.]+, [-0-9]+: 2 ok, 0 FAILED, 1 skipped \|$'
report_of 0 'ok       a/b     x' 'FAILED   a/c     x'
has "a failure decides" "$(cat "$work/report")" '^verdict: a check failed: 1 ok, 1 FAILED'
report_of 0 'hung     a/b     x' 'FAILED   a/c     x'
has "a hang more so" "$(cat "$work/report")" '^verdict: A PROGRAM HUNG'
report_of 1 'ok       a/b     x'
is "software is never called hardware" "$(grep -cE '^\| ROCr|^on: hardware' "$work/report")" 0
has "but what it is" "$(cat "$work/report")" '^verdict: every check passed, on the software GPU: 1 ok'
finish

#!/bin/sh
# tests/hardware: its comparisons, with made-up accounts on both sides of each tolerance, and the removal of private data
# from its report. hardware.t runs all of it on the software GPU.
. "$(dirname "$0")/tap.sh"

judge() { # WHAT [AWK OPTIONS]: judge standard input
    what=$1
    shift
    awk -v what="$what" "$@" -f tests/hardware/judge.awk
}
# check_judge NAME WHAT LINES PATTERN [awk options]
check_judge() {
    has "judge $2: $1" "$(printf '%b\n' "$3" | judge "$2" ${5+"$5" "$6"})" "$4"
}

launched='launched a 3\nlaunched b 2'
library='counted 5\ntimed 5\nuntimed_total 0'
check_judge "counts that agree" counts "$launched\n$library\nkernel a 3 3 0 0\nkernel b 2 2 0 0\nkernel other 7 7 0 0" '^ok 2 kernels, 5 launches$'
check_judge "one too few" counts "$launched\n$library\nkernel a 2 2 0 0\nkernel b 2 2 0 0" '^FAILED a launched 3, counted 2 '
check_judge "one too many" counts "$launched\n$library\nkernel a 3 3 0 0\nkernel b 3 3 0 0" '^FAILED b launched 2, counted 3 '
check_judge "one not at all" counts "$launched\n$library\nkernel a 3 3 0 0" '^FAILED b launched 2, counted 0 '
check_judge "nothing launched" counts "$library\nkernel a 3 3 0 0" '^FAILED the program launched nothing'
check_judge "no library" counts "launched a 0" '^FAILED .*the library says nothing'
check_judge "a program without an account, same number as in its other run" counts "$library\nkernel a 3 3 0 0\nkernel __amd_rocclr_copy 9 9 0 0" \
    '^ok 3 dispatches, as in its other runs$' -v tally=3
check_judge "a program without an account, another number" counts "$library\nkernel a 4 4 0 0" '^FAILED 4 dispatches counted, in another run 3' -v tally=3
check_judge "rtl-top's observations" counts "$launched\nseen a 3\nseen b 2" '^ok 2 kernels'

check_judge "all timed" accounts "$library" '^ok 100.0 % timed$' -v mode=default
check_judge "untimed ones have reasons" accounts "counted 5\ntimed 4\nuntimed_total 1\nuntimed no_signal 1" '^ok 80.0 % timed, not: no_signal 1$' -v mode=default
check_judge "a dispatch without account" accounts "counted 6\ntimed 5\nuntimed_total 0" '^FAILED counted 6, timed 5, untimed 0' -v mode=default
check_judge "impossible times" accounts "counted 5\ntimed 4\nuntimed_total 1\nuntimed bad_time 1" '^FAILED 1 with times that make no sense' -v mode=default
check_judge "mode auto times without a viewer" accounts "$library" '^FAILED 5 timed without a viewer' -v mode=auto
check_judge "mode auto counts without a viewer" accounts "counted 5\ntimed 0\nuntimed_total 5\nuntimed unwatched 5" '^ok 0.0 % timed' -v mode=auto
check_judge "mode default times nothing" accounts "counted 5\ntimed 0\nuntimed_total 5\nuntimed no_worker 5" '^FAILED none timed: no_worker 5' -v mode=default

own='own a 10 50000 4000 6000\nraw a 10 5000 400 600\ngpu 0 x busy_ns 1 tick_hz 100000000\ncounted 10'
check_judge "times agree" own "$own\nkernel a 10 10 0 50000 4000 6000" '^ok 10 dispatches, off by 0.0 ns'
check_judge "a tick for each dispatch is rounding" own "$own\nkernel a 10 10 0 50100 4010 5990" '^ok 10 dispatches, off by 10.0 ns'
check_judge "more than a tick for each is a failure" own "$own\nkernel a 10 10 0 50110 4000 6000" '^FAILED a: signals 50.00 us in all, library 50.11 us'
check_judge "another minimum" own "$own\nkernel a 10 10 0 50000 4012 6000" '^FAILED a: signals 4.00 us to 6.00 us, library 4.01 us'
check_judge "another maximum" own "$own\nkernel a 10 10 0 50000 4000 6020" '^FAILED a: signals 4.00 us'
check_judge "one dispatch untimed" own "$own\nkernel a 10 9 1 50000 4000 6000" '^FAILED a: 10 read, 9 timed'
check_judge "the application reads another time" own \
    "own a 10 61000 4000 6000\nraw a 10 5000 400 600\ngpu 0 x tick_hz 100000000 bdf 0\ncounted 10\nkernel a 10 10 0 50000 4000 6000" \
    '^FAILED a: the application reads 61.00 us in all, library 50.00 us'
check_judge "a clock of unknown rate" own "own a 10 50000 4000 6000\nraw a 10 5000 400 600\ncounted 10\nkernel a 10 10 0 50000 4000 6000" \
    '^FAILED the rate of the GPU.s clock'

check_judge "tolerated" order "waits 10 900 2000\nearly 5000\nlate 5000\nbackwards 0" '^ok starts before submission by 5.00 us'
check_judge "a start too early" order "waits 10 900 2000\nearly 5001\nlate 0\nbackwards 0" '^FAILED a start lies 5.00 us before'
check_judge "an end too late" order "waits 10 900 2000\nearly 0\nlate 5001\nbackwards 0" '^FAILED an end lies 5.00 us behind'
check_judge "backwards" order "waits 10 900 2000\nearly 0\nlate 0\nbackwards 1" '^FAILED 1 ended before they started'

check_judge "they agree" waits "waits 10 10000 2000\ncounted 10\nqueue 0 wait 10 15900 1 waited 9 9 20000" '^ok wait p50 10.00 us by the application, library 15.90 us'
check_judge "they differ" waits "waits 10 10000 2000\ncounted 10\nqueue 0 wait 10 16100 1 waited 9 9 20000" '^FAILED wait p50'
check_judge "a wait too few" waits "waits 10 10000 2000\ncounted 10\nqueue 0 wait 9 10000 1 waited 9 9 20000" '^FAILED waits of 10 dispatches, library 9'
check_judge "a wait of an hour" waits "waits 10 10000 2000\ncounted 10\nqueue 0 wait 10 10000 1 waited 9 9 3600000000000" '^FAILED a wait of'

spun='hz 100000000\nexecuted 20 of 20\noutside 0 0\nclock s 20 100000\nstamps s 20 100050'
check_judge "spun as timed" clocks "$spun" '^ok spun/timed: s 1000.00/1000.50 us'
check_judge "the library's time within tolerance" clocks "$spun\ncounted 20\nkernel s 20 20 0 1 1029000 1" '^ok spun/timed: s 1000.00/1029.00 us'
check_judge "the library's time too long" clocks "$spun\ncounted 20\nkernel s 20 20 0 1 1031000 1" '^FAILED s: spun for 1000.00 us only, timed as 1031.00 us'
check_judge "the library's time too short" clocks "$spun\ncounted 20\nkernel s 20 20 0 1 987900 1" '^FAILED s: spun for 1000.00 us, timed as 987.90 us'
check_judge "at the library's rate" clocks "$spun\ncounted 20\ngpu 0 tick_hz 50000000 bdf 0\nkernel s 20 20 0 1 2020000 1" '^ok spun/timed: s 2000.00/2020.00 us'
check_judge "a dispatch not executed" clocks "hz 100000000\nexecuted 19 of 20\nclock s 20 100000\nstamps s 20 100050" '^FAILED only 19 of 20'
check_judge "clock read outside the dispatch's times" clocks "hz 100000000\nexecuted 20 of 20\noutside 3 5\nclock s 20 100000\nstamps s 20 100050" '^ok .*3 of 20 read the clock outside their times, by 0.05 us'

timed='counted 20\nkernel e 20 20 0 1 1000000 1'
check_judge "they agree" elapsed "$timed\nbetween e 11 1219000 1219000\nown_events e 11 1014000 1014000" '^ok between events/own events/timed: e 1219.00/1014.00/1000.00 us'
check_judge "shorter than the kernel" elapsed "$timed\nbetween e 11 988000 988000\nown_events e 11 1000000 1000000" '^FAILED e: hipEventElapsedTime 988.00 us'
check_judge "much longer than the kernel" elapsed "$timed\nbetween e 11 1221000 1221000\nown_events e 11 1000000 1000000" '^FAILED e: hipEventElapsedTime 1221.00 us, timed as only'
check_judge "the median decides" elapsed "$timed\nbetween e 11 900000 1000000\nown_events e 11 1000000 1000000" '^ok '
check_judge "own events off" elapsed "$timed\nbetween e 11 1000000 1000000\nown_events e 11 1016000 1016000" '^FAILED e: events of its own 1016.00 us'
check_judge "own events too short" elapsed "$timed\nbetween e 11 1000000 1000000\nown_events e 11 900000 988000" '^FAILED e: events of its own 988.00 us'
check_judge "a barrier before most of them" elapsed "$timed\nbetween e 11 1000000 1000000\nown_events e 11 1000000 1900000" '^ok '
check_judge "an untimed kernel" elapsed "counted 20\nkernel e 20 0 20 0 0 0\nbetween e 11 1000000 1000000\nown_events e 11 1016000 1016000" "^FAILED e isn't timed"

check_judge "as long as the run" busy "lasted 1000000000\nsum 300000000\ncounted 1\ngpu 0 busy_ns 1001000000 tick_hz 100000000 x" '^ok busy 1.001 of the time; .* 3.00 of it'
check_judge "busier than can be" busy "lasted 1000000000\nsum 3000000000\ncounted 1\ngpu 0 busy_ns 1001200000" '^FAILED busy for'
check_judge "never busy" busy "lasted 1000000000\nsum 3000000000\ncounted 1\ngpu 0 busy_ns 0" '^FAILED never busy'

index='ahead 0\nback 0\nshort 0'
check_judge "read index early" index "$index\npast 81 of 100" '^ok read index early: 81 of 100'
check_judge "read index late" index "$index\npast 19 of 100" '^ok read index late'
check_judge "read index neither early nor late" index "$index\npast 50 of 100" '^FAILED neither early nor late'
check_judge "read index ahead of submissions" index "ahead 1\nback 0\nshort 0\npast 0 of 100" '^FAILED ahead of what was submitted in 1 looks'
check_judge "read index goes back" index "ahead 0\nback 2\nshort 0\npast 0 of 100" '^FAILED it went back in 2 looks'
check_judge "read index stays behind" index "ahead 0\nback 0\nshort 1\npast 0 of 100" '^FAILED behind 1 kernels half a second after'
check_judge "no kernel seen running" index "$index\npast 0 of 0" '^FAILED no kernel was seen running'
check_judge "an unknown check is a failure" nonsense "" '^FAILED no check nonsense'

scrub() { printf '%s\n' "$1" | awk -v user=ann -v host=box7 -v home=/users/ann -f tests/hardware/scrub.awk; }
is "scrub: replaces paths, except those of ROCm" "$(scrub 'loaded /srv/models/x.bin and /opt/rocm/lib/libhsa.so, "/a/b"')" 'loaded <path> and /opt/rocm/lib/libhsa.so, "<path>"'
is "scrub: replaces the home folder" "$(scrub 'in /users/ann, /users/ann/x.c')" 'in <home>, <home>/x.c'
is "scrub: replaces user and host" "$(scrub 'ann@box7: box7, ann; annual box77')" '<user>@<host>: <host>, <user>; annual box77'
is "scrub: replaces process names in the driver's messages" "$(scrub 'amdgpu: Process serve-x pid 12 thread serve-y:cs0 pid 13)')" \
    'amdgpu: process <name> pid 12 thread <name> pid 13)'
is "scrub: keeps the driver's files" "$(scrub '/dev/kfd /dev/dri/renderD128 /sys/class/kfd')" '/dev/kfd /dev/dri/renderD128 /sys/class/kfd'

# ---- the report ----
here=$tap_top/tests/hardware
# shellcheck disable=SC2034 # report.sh reads it
top=$tap_top
# shellcheck source=tests/hardware/report.sh
. "$here/report.sh"
make_report() { # software, checks...
    # shellcheck disable=SC2034 # report.sh reads it
    software=$1
    shift
    printf '%s\n' "$@" >"$work/checks"
    write_report >"$work/report"
}
printf '%s\n' 'software 0' 'kernel Linux 6.8 x86_64' 'driver amdgpu 6.12' 'rocm 6.4.1' 'gpu 0 gfx1100, Some Card, 96 CUs, 2500 MHz' \
    'gpu 1 gfx1100, Some Card, 96 CUs, 2500 MHz' 'isa gfx1100' >"$work/machine"
printf '%s\n' '  runtime loaded: HSA runtime 1.15' >"$work/attached"
make_report 0 'ok       a/b     x' 'ok       a/c     x' 'skipped  d       y' 'figure   e/f     12 ns'
has "report: names hardware as the machine" "$(cat "$work/report")" '^on: hardware$'
has "report: has the counts" "$(cat "$work/report")" '^verdict: every check passed: 2 ok, 0 FAILED, 1 skipped, 0 hung$'
has "report: has the line for the table" "$(cat "$work/report")" \
    '^\| ROCr HSA runtime 1.15, ROCm 6.4.1 \| 2 x gfx1100, Some Card; Linux 6.8 x86_64, amdgpu 6.12 \| rtl-top [0-9.]+, [-0-9]+: 2 ok, 0 FAILED, 1 skipped \|$'
make_report 0 'ok       a/b     x' 'FAILED   a/c     x'
has "report: a failure decides the verdict" "$(cat "$work/report")" '^verdict: a check failed: 1 ok, 1 FAILED'
make_report 0 'hung     a/b     x' 'FAILED   a/c     x'
has "report: a hang decides the verdict before a failure" "$(cat "$work/report")" '^verdict: A PROGRAM HUNG'
make_report 1 'ok       a/b     x'
is "report: the software GPU is never called hardware" "$(grep -cE '^\| ROCr|^on: hardware' "$work/report")" 0
has "report: the verdict names the software GPU" "$(cat "$work/report")" '^verdict: every check passed, on the software GPU: 1 ok'
finish

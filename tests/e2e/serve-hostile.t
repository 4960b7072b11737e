#!/bin/bash
# rtl-top serve among processes that mean harm: segments as large as can be, which grow all the time. Pages come, with what
# the others count now; what is left out is said. And clients that read slowly, or not at all.
# shellcheck source-path=SCRIPTDIR disable=SC2119
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/serve.sh"

# --- forged segments; of another user's, where there may be one: then his share bounds what he costs ---
mkdir "$work/pub"
cp "$O/tests/programs/forge_segment" "$work/pub"
chmod 755 "$work" "$work/pub"
mallory=''
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mallory='setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps -all --bounding-set -all'
fi
forge() {
    # shellcheck disable=SC2086 # a list
    $mallory "$work/pub/forge_segment" "$@" >"$work/forged" 2>&1 &
    tap_pids="$tap_pids $!"
    forgers="$forgers $!"
    wait_until 60 test -s "$work/forged"
    rm -f "$work/forged"
}
"$O/tests/programs/segment_demo" --kernels 12 --seconds 600 >/dev/null &
demo=$!
tap_pids="$tap_pids $demo"
wait_until 60 traced "$demo"
forgers=''
for kind in 'segment 16384 24' 'segment 9000 24' 'segment 16384 4' api holes holes; do
    # shellcheck disable=SC2086 # KIND NUMBERS
    forge $kind
done
start hostile -p "$$"
check "all of them are met" wait_until 60 at_least rtl_serve_processes 7
check "some are late, and that is said" wait_until 60 at_least rtl_serve_processes_late 1
process() { sample "rtl_process_dispatches_total{pid=\"$demo\"}"; }
grown() { now=$(process) && [ -n "$now" ] && [ "$now" -gt "$before" ]; }
for page in 1 2 3; do
    before=$(process)
    check "the honest one's numbers go on, page $page" wait_until 60 grown
done
own() { page | grep -c '^rtl_kernel_duration_seconds_count{kernel="triton pointwise'; }
check "its kernels have series of their own" test "$(own)" -ge 1
other_page() { page >"$work/page" && ! cmp -s "$work/page" "$work/last"; }
new_page() { wait_until 60 other_page && cp "$work/page" "$work/last"; } # one is made at most four times a second
from=$(sample rtl_serve_cpu_seconds_total)
for page in 1 2 3 4; do
    new_page
done
echo "# four pages took $(awk -v a="$from" -v b="$(sed -n 's/^rtl_serve_cpu_seconds_total //p' "$work/page")" 'BEGIN { print b - a }') s of CPU, the last $(sample rtl_serve_last_scrape_seconds) s"
check "and pages cost less than a second of CPU each" awk -v a="$from" -v b="$(sed -n 's/^rtl_serve_cpu_seconds_total //p' "$work/page")" 'BEGIN { exit b - a >= 4 }'
anonymous() { sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$server/status"; }
check "nor does its memory grow beyond bounds" test "$(anonymous)" -lt 1500000
if [ -n "$mallory" ]; then
    check "one user's names are no more than his share" test "$(sample rtl_serve_kernels)" -le $((8192 + 12))
    check "and what goes beyond it is told" wait_until 60 at_least rtl_serve_kernels_left_out_total 1
fi
for pid in $forgers; do kill "$pid"; done
check "when they have ended they are let go of" wait_until 120 sh -c "! ls -l /proc/$server/fd | grep -q 'rtl-api'"
only_the_honest() { [ "$(sample rtl_serve_processes)" = 1 ]; }
check "the honest one is left" wait_until 120 only_the_honest
forgotten() { [ "$(sample rtl_serve_kernels)" -le 52 ]; }
check "and their names are forgotten, but for those that are shown" wait_until 120 forgotten

# --- names: what a reader keeps of them is what a user holds, too ---
if [ -n "$mallory" ]; then
    forgers=''
    for i in $(seq 40); do forge names; done
    enough() { [ "$(sample rtl_serve_processes_left_out)" -ge 20 ] && new_page; }
    check "who brings megabytes of names with each process is left out beyond his share" wait_until 120 enough
    # 256 MB, and what pages and names of all users take
    check "and memory is bounded" test "$(anonymous)" -lt 400000
    echo "# $(anonymous) kB"
    for pid in $forgers; do kill "$pid"; done
    check "they go" wait_until 120 only_the_honest
fi

# --- clients that ask and don't read: pages are bounded, and others are answered ---
for i in $(seq 28); do
    eval "exec $((i + 20))<>/dev/tcp/127.0.0.1/$port && printf 'GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n' >&$((i + 20))"
    [ $((i % 7)) != 0 ] || new_page
done
before=$(process)
check "while many clients read nothing, others get pages of now" wait_until 60 grown
for i in $(seq 28); do eval "exec $((i + 20))>&-"; done
finish

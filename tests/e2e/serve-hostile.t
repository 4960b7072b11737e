#!/bin/bash
# rtl-top serve among hostile processes, whose segments are as large as possible and grow all the time. Pages arrive with the
# current counts of other processes; omissions are reported. And clients that read slowly, or not at all.
# shellcheck source-path=SCRIPTDIR disable=SC2119
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/serve.sh"

# --- forged segments, of another user if possible: then that user's share bounds their cost ---
mkdir "$work/pub"
cp "$O/tests/programs/forge_segment" "$work/pub"
chmod 755 "$work" "$work/pub"
mallory=''
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mallory='setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps -all --bounding-set -all'
fi
forge() {
    rm -f "$work/forged" # of the one before
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
wait_until 60 is_traced "$demo"
forgers=''
for kind in 'segment 16384 24' 'segment 9000 24' 'segment 16384 4' api holes holes; do
    # shellcheck disable=SC2086 # KIND NUMBERS
    forge $kind
done
start_server hostile -p "$$"
check "hostile segments: serve finds all processes" wait_until 60 sample_at_least rtl_serve_processes 7
check "hostile segments: serve reports late processes" wait_until 60 sample_at_least rtl_serve_processes_late 1
count_dispatches() { get_sample "rtl_process_dispatches_total{pid=\"$demo\"}"; }
grown() { now=$(count_dispatches) && [ -n "$now" ] && [ "$now" -gt "$before" ]; }
for page in 1 2 3; do
    before=$(count_dispatches)
    check "hostile segments: the other process's counts grow, page $page" wait_until 60 grown
done
own_series() { get_page | grep -c '^rtl_kernel_duration_seconds_count{kernel="triton pointwise'; }
check "hostile segments: the other process's kernels have their own series" test "$(own_series)" -ge 1
other_page() { get_page >"$work/page" && ! cmp -s "$work/page" "$work/last"; }
new_page() { wait_until 60 other_page && cp "$work/page" "$work/last"; } # serve makes at most four pages a second
from=$(get_sample rtl_serve_cpu_seconds_total)
for page in 1 2 3 4; do
    new_page
done
echo "# four pages took $(awk -v a="$from" -v b="$(sed -n 's/^rtl_serve_cpu_seconds_total //p' "$work/page")" 'BEGIN { print b - a }') s of CPU, the last $(get_sample rtl_serve_last_scrape_seconds) s"
check "hostile segments: a page takes less than a second of CPU" awk -v a="$from" -v b="$(sed -n 's/^rtl_serve_cpu_seconds_total //p' "$work/page")" 'BEGIN { exit b - a >= 4 }'
memory_kb() { sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/${1:-$server}/status"; }
check "hostile segments: serve's memory is bounded" test "$(memory_kb)" -lt 1500000
if [ -n "$mallory" ]; then
    check "hostile segments: one user's names don't exceed the user's share" test "$(get_sample rtl_serve_kernels)" -le $((8192 + 12))
    check "hostile segments: names over the share are reported" wait_until 60 sample_at_least rtl_serve_kernels_left_out_total 1
fi
for pid in $forgers; do kill "$pid"; done
check "hostile segments ended: serve closes their files" wait_until 120 sh -c "! ls -l /proc/$server/fd | grep -q 'rtl-api'"
only_the_honest() { [ "$(get_sample rtl_serve_processes)" = 1 ]; }
check "hostile segments ended: the other process is left" wait_until 120 only_the_honest
forgotten() { [ "$(get_sample rtl_serve_kernels)" -le 52 ]; }
check "hostile segments ended: serve drops their names, except those in series" wait_until 120 forgotten

# --- names: serve counts the names that it keeps for a user ---
if [ -n "$mallory" ]; then
    forgers=''
    for i in $(seq 40); do forge names; done
    enough() { [ "$(get_sample rtl_serve_processes_left_out)" -ge 20 ] && new_page; }
    check "megabytes of names: processes over the user's share are left out" wait_until 120 enough
    # 256 MB, and the memory for pages and names of all users
    check "megabytes of names: serve's memory is bounded" test "$(memory_kb)" -lt 400000
    echo "# $(memory_kb) kB"
    # rtl-top with a name or -a has the same limits
    "$top" -p forge_segment -b -d 0.2 >/dev/null 2>"$work/viewer.err" &
    viewer=$!
    tap_pids="$tap_pids $viewer"
    check "megabytes of names: a viewer leaves out processes, too" wait_until 120 grep -q 'are left out: the processes of their user exceed' "$work/viewer.err"
    check "megabytes of names: the viewer's memory is bounded" test "$(memory_kb "$viewer")" -lt 600000
    echo "# $(memory_kb "$viewer") kB"
    end_process "$viewer"
    for pid in $forgers; do kill "$pid"; done
    check "megabytes of names: only the other process is left" wait_until 120 only_the_honest
fi

# --- places: two users have more processes than serve or a viewer has places ---
if [ -n "$mallory" ]; then
    forgers=''
    forge empty 130
    mallory=${mallory//54321/54322}
    forge empty 130
    check "two users take all places" wait_until 120 sample_at_least rtl_serve_processes 256
    mkdir -m 755 "$work/pub/third"
    cp "$O/tests/programs/segment_demo" "$work/pub/third/forge_segment" # so that the viewer finds it by that name
    ${mallory//54322/54323} "$work/pub/third/forge_segment" --kernels 3 --seconds 600 >/dev/null &
    third=$!
    tap_pids="$tap_pids $third"
    third_has_series() { get_page | grep -q "^rtl_process_dispatches_total{pid=\"$third\""; }
    check "all places taken: a third user's process gets one" wait_until 120 third_has_series
    check "all places taken: processes without a place are reported" sample_at_least rtl_serve_processes_left_out 5
    "$top" -p forge_segment --json -n 1 >"$work/all.json" 2>"$work/viewer.err"
    is "all places taken: a viewer shows the third user's process, too" "$(jq "[.processes[] | select(.pid == $third and .counted > 0)] | length" "$work/all.json")" 1
    has "all places taken: the viewer says how many are left out" "$(cat "$work/viewer.err")" '^rtl-top: [0-9]+ processes are left out: '
    for pid in $forgers $third; do kill "$pid"; done
    check "places: only the other process is left" wait_until 120 only_the_honest
fi

# --- clients that send a request and don't read: pages are bounded, other clients get answers ---
for i in $(seq 28); do
    eval "exec $((i + 20))<>/dev/tcp/127.0.0.1/$port && printf 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' >&$((i + 20))"
    [ $((i % 7)) != 0 ] || new_page
done
before=$(count_dispatches)
check "clients that don't read: other clients get current pages" wait_until 60 grown
for i in $(seq 28); do eval "exec $((i + 20))>&-"; done
finish

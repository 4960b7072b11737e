#!/bin/bash
# rtl-top serve: metrics of processes that come and go, over HTTP; bad input, and clients that mean harm.
# shellcheck source-path=SCRIPTDIR disable=SC2016,SC2119
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/serve.sh"

"$O/tests/programs/segment_demo" --kernels 12 --seconds 600 >/dev/null &
demo=$!
tap_pids="$tap_pids $demo"
wait_until 60 traced "$demo"
start first -p "$$" 127.0.0.1:0
check "it says where it listens" test -n "$port"
wait_until 60 at_least rtl_serve_processes 1
page >"$work/page"
has "a process is there with its command" "$(cat "$work/page")" "^rtl_process_info\{pid=\"$demo\",.*command=\"segment_demo --kernels 12"
is "each kernel has a series, and the rest one" "$(grep -c '^rtl_kernel_dispatches_total' "$work/page")" 13
is "every metric is said once" "$(grep '^# TYPE' "$work/page" | sort | uniq -d)" ""
is "every sample, too" "$(grep -v '^#' "$work/page" | sed 's/ [^ ]*$//' | sort | uniq -d)" ""
is "and none of its numbers is taken for one that can't be" "$(sed -n 's/^rtl_serve_numbers_left_out_total //p' "$work/page")" 0
# a histogram: buckets grow towards +Inf, which is the count
# shellcheck disable=SC2016 # awk's
check "buckets add up" awk '
    /^rtl_kernel_duration_seconds_bucket/ { value = $NF; if ($0 ~ /le="0.000000511"/) last = 0; if (value < last) exit 1; last = value; n++ }
    /^rtl_kernel_duration_seconds_count/ { if ($NF != last) exit 1; counts++ }
    END { exit !(n > 100 && counts == 13) }' "$work/page"
has "without being asked for it is no OpenMetrics" "$(get /metrics)" '^Content-Type: text/plain; version=0.0.4'
openmetrics='Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
has "who asks for OpenMetrics gets it" "$(get /metrics "$openmetrics")" '^Content-Type: application/openmetrics-text; version=1.0.0'
is "with its end" "$(page "$openmetrics" | tail -n 1)" "# EOF"
families='Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;q=0.5'
has "who asks for Protocol Buffers gets those" "$(get /metrics "$families" | tr -d '\0' | sed '/^\r*$/q')" \
    '^Content-Type: application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'
get /metrics "$families" | sed '1,/^\r*$/d' >"$work/families"
# each message behind its length, to the last byte
check "whole ones" perl -0777 -ne 'my $at = 0; while ($at < length) { my ($n, $shift, $byte) = (0, 0);
    do { $byte = ord substr $_, $at++, 1; $n |= ($byte & 127) << $shift; $shift += 7 } while $byte & 128;
    substr($_, $at, 1) eq "\n" or die "no family at $at"; $at += $n; $count++ } die "$at of " . length if $at != length; exit($count < 30)' "$work/families"
has "and metrics by their own names" "$(page "$openmetrics")" '^# TYPE rtl_kernel_dispatches counter$'

# --- counters survive their process ---
before=$(page | sed -n 's/^rtl_family_dispatches_total{family="gemm"} //p')
wait_until 60 sh -c "test \$('$top' -p $demo --json -n 1 | jq '[.kernels[] | select(.family == \"gemm\").calls] | add') -gt $before"
kill -STOP "$demo" # what it counts from now on nobody has asked for
counted=$("$top" -p "$demo" --json -n 1 | jq '[.kernels[] | select(.family == "gemm").calls] | add')
end_process "$demo" KILL
# not asked before it has let go of it: a page would read it, too
check "a process that has ended is let go" wait_until 60 sh -c "! ls -l /proc/$server/fd | grep -q rtl-segment"
is "and counted" "$(sample rtl_serve_processes_ended_total)" 1
page >"$work/page"
is "what has ended is gone" "$(grep -c "pid=\"$demo\"" "$work/page")" 0
is "and what it counted stays, to the last" "$(sed -n 's/^rtl_family_dispatches_total{family="gemm"} //p' "$work/page")" "$counted"
"$O/tests/programs/segment_demo" --kernels 12 --seconds 600 >/dev/null &
demo=$!
tap_pids="$tap_pids $demo"
wait_until 60 at_least rtl_serve_processes 1
check "and goes on from there" wait_until 60 at_least 'rtl_family_dispatches_total{family="gemm"}' "$((counted + 1))"

# --- what isn't there, and what isn't HTTP ---
is "another path is not found" "$(get /metrics/../etc/passwd | status_of) $(get /nonsense | status_of) $(get / | status_of)" "404 404 200"
is "HEAD is answered" "$(ask 'HEAD /metrics HTTP/1.1\r\nHost: here\r\n\r\n' | status_of)" 200
is "nothing else is" "$(ask 'POST /metrics HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n' | status_of)" 405
big=$(printf 'x%.0s' {1..40000})
has "a request that is too long is refused" "$(ask "GET /$big HTTP/1.1\r\nHost: here\r\n\r\n" | status_of)" '^(4..|)$'
has "so are too many headers" "$(get /metrics "X: $big" | status_of)" '^(4..|)$'
ask 'nonsense\r\n\r\n' >/dev/null
ask '\0\0\0\0\r\n\r\n' >/dev/null
check "after all of that it serves" at_least rtl_serve_scrapes_total 1
# more clients than there are places, which say nothing: they are told off in time
for i in $(seq 40); do eval "exec $((i + 20))<>/dev/tcp/127.0.0.1/$port"; done 2>/dev/null
check "clients that say nothing are sent away, and others come in again" wait_until 120 at_least rtl_serve_processes 1
for i in $(seq 40); do eval "exec $((i + 20))>&-"; done

# --- a process without the library, from outside ---
echo '* 200us' >"$work/script"
tests/vgpu/run --script "$work/script" -- "$O/tests/programs/intercept_paced" 3 2000 >"$work/plain.log" 2>&1 &
plain=$!
tap_pids="$tap_pids $plain"
check "a program without the library runs" wait_until 120 sh -c "grep -q libhsa-runtime64 /proc/$plain/maps || { cat $work/plain.log; false; }"
first_port=$port
start outside --observe -p "$plain"
observed() { at_least 'rtl_kernel_dispatches_total{kernel="pace03",.*}' "$1"; }
check "its dispatches are counted" wait_until 60 observed 100
page >"$work/page"
has "it is said to be observed" "$(cat "$work/page")" "^rtl_process_info\{pid=\"$plain\",.*mode=\"observed\"\}"
is "no time is made up: none was measured" "$(sed -n 's/^rtl_kernel_duration_seconds_count{kernel="pace03",.*} //p; s/^rtl_gpu_busy_seconds_total{.*} //p' "$work/page" | tr '\n' ' ')" "0 0.0 "
has "and why is said" "$(cat "$work/page")" '^rtl_untimed_dispatches_total\{reason="observed"\} [1-9]'
is "nor does the process have a time" "$(grep -c "^rtl_process_gpu_busy_seconds_total{pid=\"$plain\"" "$work/page")" 0
counted=$(sed -n 's/^rtl_kernel_dispatches_total{kernel="pace03",.*} //p' "$work/page")
end_process "$plain"
check "it is let go when it ends" wait_until 60 at_least rtl_serve_processes_ended_total 1
check "what it counted stays" observed "$counted"
port=$first_port
is "without --observe it isn't there" "$(page | grep -c "pid=\"$plain\"")" 0
end_process "$server"

# --- one process of several; fewer series; the other format of an address ---
start second -p "$demo" --kernels 3 --buckets 1 ":0"
wait_until 60 at_least rtl_serve_processes 1
page >"$work/page"
is "as many kernels as were asked for, and the others" "$(grep -c '^rtl_kernel_dispatches_total' "$work/page")" 4
is "as many buckets" "$(grep -c '^rtl_kernel_duration_seconds_bucket{kernel="(other)"' "$work/page")" 27
end_process "$server"
is "a signal ends it, and that is no failure" "$?" 0

# --- bad input ---
refuses() { # PATTERN ARGS...
    local pattern=$1
    shift
    timeout 60 "$top" serve "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qE -- "$pattern" "$work/err"
}
start third -p "$demo" 127.0.0.1:0
check "a port that is taken" refuses 'is in use' "127.0.0.1:$port"
check "what is no port" refuses 'is no ADDR:PORT' 127.0.0.1:99999
check "an address of another machine" refuses 'is no address of this machine' 192.0.2.1:0
check "two addresses" refuses 'takes one ADDR:PORT' :0 :0
check "no kernels" refuses '1 to 1000' --kernels 0
timeout 60 "$top" serve -p 4194305 :0 >"$work/out" 2>"$work/err" </dev/null
is "a process that there isn't is no process" "$? $(cat "$work/err")" "2 rtl-top: no process 4194305: rtl-top list shows which are traced"
start hopeful -p "$demo,4194305" :0
has "one of several is told" "$(cat "$work/hopeful.err")" '^rtl-top: no process 4194305: '
end_process "$server"
start named -p nonesuch :0
has "of a name that nobody has so far it is said that it is waited for" "$(cat "$work/named.err")" "^rtl-top: no process is named 'nonesuch' yet"
end_process "$server"
check "odd buckets" refuses '1, 2 or 4' --buckets 3
start everywhere -p "$demo" 0.0.0.0:0
has "who listens on all addresses is warned" "$(cat "$work/everywhere.err")" '^rtl-top: everyone who can reach'
# systemd's way: descriptor 3, and who it is for
cat >"$work/handover.pl" <<'PERL'
use Socket;
BEGIN { $^F = 10 } # descriptors up to here outlive exec
my $s;
socket($s, PF_INET, SOCK_STREAM, 0) && bind($s, sockaddr_in(0, INADDR_LOOPBACK)) && listen($s, 5) or die;
use POSIX;
POSIX::dup2(fileno($s), 3);
$ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = $ENV{FDS} // 1;
exec @ARGV;
PERL
perl "$work/handover.pl" "$top" serve -p "$demo" >"$work/handed.out" 2>&1 &
tap_pids="$tap_pids $!"
wait_until 60 grep -q '/metrics$' "$work/handed.out"
port=$(sed -n 's,^serving http://.*:\([0-9]*\)/metrics$,\1,p' "$work/handed.out")
check "a socket that systemd hands over is served" wait_until 60 at_least rtl_serve_processes 1
has "two of them are refused" "$(FDS=2 timeout 60 perl "$work/handover.pl" "$top" serve 2>&1)" 'systemd passed 2 descriptors'
finish

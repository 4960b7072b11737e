#!/bin/bash
# rtl-top serve: metrics of processes that start and end, over HTTP; bad input, and hostile clients.
# shellcheck source-path=SCRIPTDIR disable=SC2016,SC2119
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/serve.sh"

"$O/tests/programs/segment_demo" --kernels 12 --seconds 600 >/dev/null &
demo=$!
tap_pids="$tap_pids $demo"
wait_until 60 is_traced "$demo"
start_server first -p "$$" 127.0.0.1:0
check "serve: prints its address" test -n "$port"
wait_until 60 sample_at_least rtl_serve_processes 1
get_page >"$work/page"
has "page: has the process with its command" "$(cat "$work/page")" "^rtl_process_info\{pid=\"$demo\",.*command=\"segment_demo --kernels 12"
is "page: each shown kernel has a series, the others share one" "$(grep -c '^rtl_kernel_dispatches_total' "$work/page")" 13
is "page: every metric has one TYPE" "$(grep '^# TYPE' "$work/page" | sort | uniq -d)" ""
is "page: no sample occurs twice" "$(grep -v '^#' "$work/page" | sed 's/ [^ ]*$//' | sort | uniq -d)" ""
is "page: no number is left out as impossible" "$(sed -n 's/^rtl_serve_numbers_left_out_total //p' "$work/page")" 0
# In a histogram buckets grow towards +Inf, which is the count.
# shellcheck disable=SC2016 # awk expands it
check "page: buckets add up" awk '
    /^rtl_kernel_duration_seconds_bucket/ { value = $NF; if ($0 ~ /le="0.000000511"/) last = 0; if (value < last) exit 1; last = value; n++ }
    /^rtl_kernel_duration_seconds_count/ { if ($NF != last) exit 1; counts++ }
    END { exit !(n > 100 && counts == 13) }' "$work/page"
has "page: plain text by default" "$(get_path /metrics)" '^Content-Type: text/plain; version=0.0.4'
openmetrics='Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
has "page: OpenMetrics on request" "$(get_path /metrics "$openmetrics")" '^Content-Type: application/openmetrics-text; version=1.0.0'
is "page: OpenMetrics has its end mark" "$(get_page "$openmetrics" | tail -n 1)" "# EOF"
families='Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;q=0.5'
has "page: Protocol Buffers on request" "$(get_path /metrics "$families" | tr -d '\0' | sed '/^\r*$/q')" \
    '^Content-Type: application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'
get_path /metrics "$families" | sed '1,/^\r*$/d' >"$work/families"
# Each message follows its length, to the last byte.
check "page: Protocol Buffers are complete messages" perl -0777 -ne 'my $at = 0; while ($at < length) { my ($n, $shift, $byte) = (0, 0);
    do { $byte = ord substr $_, $at++, 1; $n |= ($byte & 127) << $shift; $shift += 7 } while $byte & 128;
    substr($_, $at, 1) eq "\n" or die "no family at $at"; $at += $n; $count++ } die "$at of " . length if $at != length; exit($count < 30)' "$work/families"
has "page: OpenMetrics has the metrics' base names" "$(get_page "$openmetrics")" '^# TYPE rtl_kernel_dispatches counter$'

# --- counters outlive their process ---
before=$(get_page | sed -n 's/^rtl_family_dispatches_total{family="gemm"} //p')
wait_until 60 sh -c "test \$('$top' -p $demo --json -n 1 | jq '[.kernels[] | select(.family == \"gemm\").calls] | add') -gt $before"
kill -STOP "$demo" # no page has its last counts
counted=$("$top" -p "$demo" --json -n 1 | jq '[.kernels[] | select(.family == "gemm").calls] | add')
end_process "$demo" KILL
# Wait without a request for a page: it would read the segment, too.
check "process ends: serve closes its segment" wait_until 60 sh -c "! ls -l /proc/$server/fd | grep -q rtl-segment"
is "process ends: serve counts it" "$(get_sample rtl_serve_processes_ended_total)" 1
get_page >"$work/page"
is "process ends: its series are gone" "$(grep -c "pid=\"$demo\"" "$work/page")" 0
is "process ends: its counts stay, including the last ones" "$(sed -n 's/^rtl_family_dispatches_total{family="gemm"} //p' "$work/page")" "$counted"
"$O/tests/programs/segment_demo" --kernels 12 --seconds 600 >/dev/null &
demo=$!
tap_pids="$tap_pids $demo"
wait_until 60 sample_at_least rtl_serve_processes 1
check "next process: its counts are added" wait_until 60 sample_at_least 'rtl_family_dispatches_total{family="gemm"}' "$((counted + 1))"

# --- unknown paths, and requests that aren't HTTP ---
is "HTTP: an unknown path gets 404" "$(get_path /metrics/../etc/passwd | http_status) $(get_path /nonsense | http_status) $(get_path / | http_status)" "404 404 200"
is "HTTP: HEAD gets 200" "$(send_request 'HEAD /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n' | http_status)" 200
is "HTTP: POST gets 405" "$(send_request 'POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n' | http_status)" 405
host_status() { send_request "GET /metrics HTTP/1.1\r\nHost: $1\r\n\r\n" | http_status; }
is "Host: another machine's name gets 421 (DNS rebinding)" "$(host_status evil.example) $(host_status "evil.example:$port") $(host_status localhost.evil.example)" "421 421 421"
has "Host: the refusal names the option" "$(send_request 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n')" '^not permitted under this name: rtl-top serve --allow-host NAME permits it'
is "Host: addresses, localhost and this machine's name get 200" "$(for host in "127.0.0.1:$port" '[::1]:80' LOCALHOST. "$(uname -n)"; do host_status "$host"; done | tr '\n' ' ')" "200 200 200 200 "
is "Host: none is an error in HTTP/1.1, not in HTTP/1.0; two are an error" "$(for head in 1.1 1.0 '1.1\r\nHost: localhost\r\nHost: evil.example'; do send_request "GET / HTTP/$head\r\n\r\n" | http_status; done | tr '\n' ' ')" "400 200 400 "
big=$(printf 'x%.0s' {1..40000})
has "HTTP: a request that is too long is refused" "$(send_request "GET /$big HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" | http_status)" '^(4..|)$'
has "HTTP: headers that are too long are refused" "$(get_path /metrics "X: $big" | http_status)" '^(4..|)$'
send_request 'nonsense\r\n\r\n' >/dev/null
send_request '\0\0\0\0\r\n\r\n' >/dev/null
check "HTTP: serve works after bad requests" sample_at_least rtl_serve_scrapes_total 1
# More silent clients than connections: a new client replaces the oldest one. The others stay until they have been silent
# for too long.
is_connected() { timeout 0.1 cat <&"$1" >/dev/null; [ $? = 124 ]; } # FD: nothing comes, not even an end
for i in $(seq 200); do eval "exec $((i + 20))<>/dev/tcp/127.0.0.1/$port"; done 2>/dev/null
check "HTTP: among 200 silent clients others get answers" sample_at_least rtl_serve_processes 1
check "HTTP: the youngest silent clients are still connected then" is_connected 219
check "HTTP: the oldest silent client is not" wait_until 60 eval '! is_connected 21'
check "HTTP: silent clients are disconnected in time" wait_until 120 eval '! is_connected 219'
for i in $(seq 200); do eval "exec $((i + 20))>&-"; done

# --- a process without the library, observed from outside ---
echo '* 200us' >"$work/script"
tests/vgpu/run --script "$work/script" -- "$O/tests/programs/intercept_paced" 3 2000 >"$work/plain.log" 2>&1 &
plain=$!
tap_pids="$tap_pids $plain"
check "observed process: it loads the runtime" wait_until 120 sh -c "grep -q libhsa-runtime64 /proc/$plain/maps || { cat $work/plain.log; false; }"
first_port=$port
start_server outside --observe -p "$plain"
observed() { sample_at_least 'rtl_kernel_dispatches_total{kernel="pace03",.*}' "$1"; }
check "observed process: its dispatches are counted" wait_until 60 observed 100
get_page >"$work/page"
has "observed process: its mode is observed" "$(cat "$work/page")" "^rtl_process_info\{pid=\"$plain\",.*mode=\"observed\"\}"
is "observed process: unmeasured times are 0" "$(sed -n 's/^rtl_kernel_duration_seconds_count{kernel="pace03",.*} //p; s/^rtl_gpu_busy_seconds_total{.*} //p' "$work/page" | tr '\n' ' ')" "0 0.0 "
has "observed process: its dispatches are untimed as observed" "$(cat "$work/page")" '^rtl_untimed_dispatches_total\{reason="observed"\} [1-9]'
is "observed process: it has no busy time" "$(grep -c "^rtl_process_gpu_busy_seconds_total{pid=\"$plain\"" "$work/page")" 0
counted=$(sed -n 's/^rtl_kernel_dispatches_total{kernel="pace03",.*} //p' "$work/page")
end_process "$plain"
check "observed process: serve notices its end" wait_until 60 sample_at_least rtl_serve_processes_ended_total 1
check "observed process: its counts stay" observed "$counted"
port=$first_port
is "without --observe: the process has no series" "$(get_page | grep -c "pid=\"$plain\"")" 0
end_process "$server"

# --- one of several processes; fewer series; an address without host ---
start_server second -p "$demo" --kernels 3 --buckets 1 --allow-host proxy.example,node7 ":0"
wait_until 60 sample_at_least rtl_serve_processes 1
is "serve --allow-host: these names are permitted" "$(host_status Proxy.example:443) $(host_status node7.) $(host_status node8)" "200 200 421"
get_page >"$work/page"
is "serve --kernels: that many kernels have a series" "$(grep -c '^rtl_kernel_dispatches_total' "$work/page")" 4
is "serve --buckets: each histogram has that many buckets" "$(grep -c '^rtl_kernel_duration_seconds_bucket{kernel="(other)"' "$work/page")" 27
end_process "$server"
is "serve: SIGTERM ends it with status 0" "$?" 0

# --- bad input ---
refuses() { # PATTERN ARGS...
    local pattern=$1
    shift
    timeout 60 "$top" serve "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qE -- "$pattern" "$work/err"
}
start_server third -p "$demo" 127.0.0.1:0
check "serve: a port in use is refused" refuses 'is in use' "127.0.0.1:$port"
check "serve: an invalid port is refused" refuses 'is no ADDR:PORT' 127.0.0.1:99999
check "serve: another machine's address is refused" refuses 'is no address of this machine' 192.0.2.1:0
check "serve: two addresses are refused" refuses 'takes one ADDR:PORT' :0 :0
check "serve: --allow-host with a port is refused" refuses "^rtl-top: --allow-host: 'node7:80' is no host name" --allow-host node7:80
check "serve: --kernels 0 is refused" refuses '1 to 1000' --kernels 0
timeout 60 "$top" serve -p 4194305 :0 >"$work/out" 2>"$work/err" </dev/null
is "serve: an unknown process exits with 2" "$? $(cat "$work/err")" "2 rtl-top: no process 4194305: rtl-top list shows which are traced"
start_server hopeful -p "$demo,4194305" :0
has "serve: one unknown process of several is reported" "$(cat "$work/hopeful.err")" '^rtl-top: no process 4194305: '
end_process "$server"
start_server named -p nonesuch :0
has "serve: an unknown name is reported" "$(cat "$work/named.err")" "^rtl-top: no process is named 'nonesuch' yet"
end_process "$server"
check "serve: --buckets 3 is refused" refuses '1, 2 or 4' --buckets 3
start_server everywhere -p "$demo" 0.0.0.0:0
has "serve: listening on all addresses prints a warning" "$(cat "$work/everywhere.err")" '^rtl-top: everyone who can reach'
# systemd's protocol: descriptor 3, and the pid that it is for
cat >"$work/handover.pl" <<'PERL'
use Socket;
BEGIN { $^F = 10 } # descriptors up to 10 survive exec
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
check "systemd: serve answers on the given socket" wait_until 60 sample_at_least rtl_serve_processes 1
has "systemd: two sockets are refused" "$(FDS=2 timeout 60 perl "$work/handover.pl" "$top" serve 2>&1)" 'systemd passed 2 descriptors'
finish

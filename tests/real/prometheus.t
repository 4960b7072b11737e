#!/bin/bash
# rtl-top serve against Prometheus as Debian packages it: what promtool says of the page, a p99 of PromQL's against the
# screen's, two exporters, restarts of both sides, each query of the dashboard, each alert.
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2016
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need prometheus
bin=$real_store/prometheus/usr/bin
top=$tap_top/$O/rtl-top

serve() { # NAME PORT ARGS...: server, port
    local name=$1 at=$2
    shift 2
    rm -f "$work/$name.out"
    "$top" serve "$@" "127.0.0.1:$at" >"$work/$name.out" 2>&1 &
    server=$!
    tap_pids="$tap_pids $server"
    wait_until 60 grep -q '/metrics$' "$work/$name.out"
    port=$(sed -n 's,^serving http://.*:\([0-9]*\)/metrics$,\1,p' "$work/$name.out")
}
page() { # PORT [HEADER]
    exec 7<>"/dev/tcp/127.0.0.1/$1" || return
    printf 'GET /metrics HTTP/1.1\r\nHost: here\r\n%b\r\n' "${2:+$2\\r\\n}" >&7
    timeout 60 cat <&7 | tr -d '\r' | sed '1,/^$/d'
    exec 7>&-
}
prometheus() { # starts it, as it was left
    "$bin/prometheus" --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" --web.listen-address=127.0.0.1:0 \
        >"$work/prometheus.log" 2>&1 &
    prometheus=$!
    tap_pids="$tap_pids $prometheus"
    wait_until 120 grep -q 'Server is ready' "$work/prometheus.log"
    url=http://127.0.0.1:$(sed -n 's/.*msg="Listening on" address=127.0.0.1:\([0-9]*\).*/\1/p' "$work/prometheus.log")
}
query() { "$bin/promtool" query instant "$url" "$1"; }                # {LABELS} => VALUE @[TIME], a line each
value() { query "$1" | sed -n 's/.* => \([^ ]*\) @.*/\1/p' | head -n 1; }
has_data() { [ -n "$(query "$1" 2>>"$work/query.err")" ]; }
all_there() { [ "$(value "count(up == 1)")" = 2 ]; }

# --- two machines' worth: a server on a software GPU that records its calls, and two ranks with what looks like traffic ---
(RTL_MODE=hip LD_PRELOAD=$tap_top/$O/librtl-hip.so HSA_TOOLS_LIB=$tap_top/$O/librtl.so exec tests/vgpu/run --gpus 2 --gfx gfx90a \
    --script tests/programs/serve.script -- "$O/tests/programs/serve" --gpus 2 >"$work/serve.log" 2>&1 </dev/null) &
first=$!
RANK=0 "$O/tests/programs/segment_demo" --kernels 30 --seconds 3000 >/dev/null &
rank0=$!
RANK=1 "$O/tests/programs/segment_demo" --kernels 30 --seconds 3000 >/dev/null &
rank1=$!
mkfifo "$work/go-on"
(RTL_MODE=hip LD_PRELOAD=$tap_top/$O/librtl-hip.so exec "$O/tests/programs/roctx_ranges" --hold <"$work/go-on" >"$work/ranges.out") &
ranges=$!
exec 3>"$work/go-on"
tap_pids="$tap_pids $first $rank0 $rank1 $ranges"
wait_until 120 traced "$first"
wait_until 60 traced "$rank1"
wait_until 60 grep -q '^holding' "$work/ranges.out"
serve a 0 -p "$first,$ranges"
a=$server port_a=$port
serve b 0 -p "$rank0,$rank1"
port_b=$port

page "$port_b" >"$work/page"
check "promtool finds nothing to say of the page" sh -c "test -s '$work/page' && '$bin/promtool' check metrics <'$work/page'"
page "$port_a" >"$work/page"
check "nor of the other one" sh -c "test -s '$work/page' && '$bin/promtool' check metrics <'$work/page'"

cat >"$work/prometheus.yml" <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ['$tap_top/monitoring/alerts.yml']
scrape_configs:
  - job_name: rtl-top
    static_configs: [{targets: ['127.0.0.1:$port_a', '127.0.0.1:$port_b']}]
END
check "promtool finds nothing to say of the rules" "$bin/promtool" check rules monitoring/alerts.yml
prometheus
check "Prometheus scrapes both" wait_until 120 all_there
has "as OpenMetrics" "$(page "$port_a" 'Accept: application/openmetrics-text')" '^# EOF$'

# --- p99: of a process that stands still, PromQL's and the screen's lie in the same bucket, for each kernel ---
kill -STOP "$rank0" "$rank1"
same_now() { # the page of now has been scraped
    local now
    now=$(page "$port_b" | sed -n 's/^rtl_family_dispatches_total{family="gemm"} //p')
    [ -n "$now" ] && [ "$(value "rtl_family_dispatches_total{instance=\"127.0.0.1:$port_b\",family=\"gemm\"}")" = "$now" ]
}
check "it scrapes what there is now" wait_until 60 same_now
"$top" -p "$rank0,$rank1" --json -n 1 >"$work/json"
jq -r '.kernels[] | select(.timed > 0) | [.short, .timed, .total_ns, .p99_ns] | @tsv' "$work/json" | sort >"$work/screen"
cut -f 1 "$work/screen" | uniq -d >"$work/alike" # the page tells these apart by their ids
kernels="{instance=\"127.0.0.1:$port_b\",id!=\"\"}"
query "histogram_quantile(0.99, rtl_kernel_duration_seconds_bucket$kernels)" |
    sed -n 's/.*kernel="\([^"]*\)".* => \([^ ]*\) @.*/\1\t\2/p' | sort >"$work/promql"
query "rtl_kernel_duration_seconds_count$kernels" | sed -n 's/.*kernel="\([^"]*\)".* => \([^ ]*\) @.*/\1\t\2/p' | sort >"$work/counts"
join -t '	' <(sort -u -t '	' -k 1,1 "$work/screen") "$work/counts" | grep -vFf <(sed '/^$/d' "$work/alike" | sed 's/$/\t/') >"$work/joined"
check "counts are the screen's" awk -F '\t' '{ n++; if ($2 != $5) { print; bad = 1 } } END { exit bad || n < 15 }' "$work/joined"
join -t '	' <(sort -u -t '	' -k 1,1 "$work/screen") "$work/promql" | grep -vFf <(sed '/^$/d' "$work/alike" | sed 's/$/\t/') >"$work/joined"
check "and each p99 lies in the bucket in which the screen's does" awk -F '\t' '
    function bucket(ns, at) { # as src/serve/classes.h: two in each factor of two, from 512 ns on; edges belong to what is below
        for (at = 512; at < ns; at *= 2)
            if (ns <= at * 1.5)
                return at * 1.5
        return at
    }
    { n++; if (bucket($4 + 1) != bucket($5 * 1e9 + 0.999)) { print; bad = 1 } }
    END { exit bad || n < 15 }' "$work/joined"
kill -CONT "$rank0" "$rank1"

# --- the dashboard: each panel has data ---
jq -r '.panels[] | .title as $t | .targets[] | "\($t)\t\(.expr)"' monitoring/dashboard.json |
    sed 's/\$__rate_interval/20s/g; s/\$instance/.*/g' >"$work/panels"
check "there are panels" test "$(wc -l <"$work/panels")" -gt 15
while IFS='	' read -r title expression; do
    check "panel '$title' has data" wait_until 60 has_data "$expression"
done <"$work/panels"
# what they ask for is what is served
jq -r '.panels[].targets[].expr' monitoring/dashboard.json | cat - monitoring/alerts.yml | grep -oE '\brtl_[a-z_]+' | sort -u >"$work/asked"
cat >"$work/metrics.c" <<'END'
#include "serve/metrics.h"
#define METRIC(sym, name, type, labels, text) name
RTL_METRICS(METRIC)
END
"${CC:-gcc}" -Isrc -E -P "$work/metrics.c" | tr -d '"' | tr ' ' '\n' | grep -v '^$' >"$work/served"
is "dashboard and alerts ask for metrics that there are" \
    "$(sed -E 's/_(total|info|bucket|sum|count)$//' "$work/asked" | sort -u | grep -vxFf "$work/served")" ""

# --- alerts: each fires on what it is for ---
cp monitoring/alerts.yml "$work/alerts-under-test.yml"
cp tests/real/alerts.yml "$work/alerts-test.yml"
check "each alert fires in time, and only then" "$bin/promtool" test rules "$work/alerts-test.yml"
is "and each of them is tested" "$(grep -o 'alert: .*' monitoring/alerts.yml | cut -d ' ' -f 2 | sort)" \
    "$(grep -oE 'alertname: Rtl[A-Za-z]*' tests/real/alerts.yml | cut -d ' ' -f 2 | sort -u)"

# --- restarts ---
dispatches="sum(rtl_family_dispatches_total{instance=\"127.0.0.1:$port_a\"})"
end_process "$a"
check "Prometheus sees that one is gone" wait_until 60 sh -c "test \"\$('$bin/promtool' query instant '$url' 'count(up == 1)' | sed 's/.*=> \([0-9]*\) .*/\1/')\" = 1"
serve a "$port_a" -p "$first,$ranges"
check "and that it is there again" wait_until 60 all_there
resets="sum(resets(rtl_family_dispatches_total{instance=\"127.0.0.1:$port_a\"}[10m]))"
more_than() { awk -v a="$(value "$1")" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 > b + 0) }'; }
check "what the process counted before is there again" wait_until 60 more_than "$dispatches" 0
is "so that Prometheus sees no reset" "$(value "$resets")" 0
before=$(value "count_over_time(up{instance=\"127.0.0.1:$port_b\"}[1h])")
end_process "$prometheus"
prometheus
check "Prometheus goes on with what it had, after a restart of its own" wait_until 60 more_than \
    "count_over_time(up{instance=\"127.0.0.1:$port_b\"}[1h])" "$before"
exec 3>&-
finish

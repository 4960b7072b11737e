#!/bin/bash
# rtl-top serve against Debian's Prometheus, with and without native histograms: promtool's check of the page, p99 of PromQL
# against the screen's, two exporters, restarts of both sides, and each query of the dashboard.
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2016
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need prometheus
. "$(dirname "$0")/prometheus.sh"
all_there() { [ "$(value "count(up == 1)")" = 2 ]; }

# --- two exporters: one of a server on a software GPU that records its calls, one of two ranks with simulated traffic ---
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
wait_until 120 is_traced "$first"
wait_until 60 is_traced "$rank1"
wait_until 60 grep -q '^holding' "$work/ranges.out"
serve a 0 -p "$first,$ranges"
a=$server port_a=$port
serve b 0 -p "$rank0,$rank1"
port_b=$port

page "$port_b" >"$work/page"
check "promtool: no complaint about the page of the ranks" sh -c "test -s '$work/page' && '$bin/promtool' check metrics <'$work/page'"
page "$port_a" >"$work/page"
check "promtool: no complaint about the page of the server" sh -c "test -s '$work/page' && '$bin/promtool' check metrics <'$work/page'"

cat >"$work/classic.yml" <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ['$tap_top/monitoring/alerts.yml']
scrape_configs:
  - job_name: rtl-top
    static_configs: [{targets: ['127.0.0.1:$port_a', '127.0.0.1:$port_b']}]
END
cp "$work/classic.yml" "$work/native.yml"
check "promtool: no complaint about the alert rules" "$bin/promtool" check rules monitoring/alerts.yml
prometheus native --enable-feature=native-histograms
native_url=$url
prometheus classic
classic_url=$url
check "Prometheus: scrapes both exporters" wait_until 120 all_there
has "serve: answers OpenMetrics on request" "$(page "$port_a" 'Accept: application/openmetrics-text')" '^# EOF$'

# --- p99 of a stopped process: PromQL's and the screen's are in the same bucket, for each kernel ---
kill -STOP "$rank0" "$rank1"
"$top" -p "$rank0,$rank1" --json -n 1 >"$work/json"
stopped_at=$(jq '[.kernels[] | select(.family == "gemm") | .calls] | add' "$work/json")
same_now() { # passes once Prometheus has scraped the counts at which the processes stopped: a page may be a second old
    [ "$(value "rtl_family_dispatches_total{instance=\"127.0.0.1:$port_b\",family=\"gemm\"}")" = "$stopped_at" ]
}
check "it scrapes the counts at which the processes stopped" wait_until 60 same_now
jq -r '.kernels[] | select(.timed > 0) | [.short, .timed, .total_ns, .p99_ns] | @tsv' "$work/json" | sort >"$work/screen"
cut -f 1 "$work/screen" | uniq -d >"$work/alike" # names of several kernels, which the page distinguishes by id
kernels="{instance=\"127.0.0.1:$port_b\",id!=\"\"}"
query "histogram_quantile(0.99, rtl_kernel_duration_seconds_bucket$kernels)" |
    sed -n 's/.*kernel="\([^"]*\)".* => \([^ ]*\) @.*/\1\t\2/p' | sort >"$work/promql"
query "rtl_kernel_duration_seconds_count$kernels" | sed -n 's/.*kernel="\([^"]*\)".* => \([^ ]*\) @.*/\1\t\2/p' | sort >"$work/counts"
join -t '	' <(sort -u -t '	' -k 1,1 "$work/screen") "$work/counts" | grep -vFf <(sed '/^$/d' "$work/alike" | sed 's/$/\t/') >"$work/joined"
check "classic histograms: counts equal the screen's" awk -F '\t' '{ n++; if ($2 != $5) { print; bad = 1 } } END { exit bad || n < 15 }' "$work/joined"
join -t '	' <(sort -u -t '	' -k 1,1 "$work/screen") "$work/promql" | grep -vFf <(sed '/^$/d' "$work/alike" | sed 's/$/\t/') >"$work/joined"
check "classic histograms: each p99 is in the bucket of the screen's" awk -F '\t' '
    function bucket(ns, at) { # as src/serve/prom_buckets.h: two per factor of two, from 512 ns on; an edge belongs to the lower bucket
        for (at = 512; at < ns; at *= 2)
            if (ns <= at * 1.5)
                return at * 1.5
        return at
    }
    { n++; if (bucket($4 + 1) != bucket($5 * 1e9 + 0.999)) { print; bad = 1 } }
    END { exit bad || n < 15 }' "$work/joined"

# native histograms: the same counts and sums, and each p99 is off by at most a bucket (src/serve/prom_buckets.h)
url=$native_url
check "native Prometheus: scrapes both exporters" wait_until 120 all_there
check "native Prometheus: has the current counts" wait_until 60 same_now
has "native Prometheus: has no classic bucket" "$(value 'count({__name__=~".*_bucket",__name__!~"prometheus_.*"}) or vector(0)')" '^0$'
query "histogram_quantile(0.99, rtl_kernel_duration_seconds$kernels)" |
    sed -n 's/.*kernel="\([^"]*\)".* => \([^ ]*\) @.*/\1\t\2/p' | sort >"$work/native-promql"
for f in count sum; do
    query "histogram_$f(rtl_kernel_duration_seconds$kernels)" |
        sed -n 's/.*kernel="\([^"]*\)".* => \([^ ]*\) @.*/\1\t\2/p' | sort >"$work/native-$f"
done
join -t '	' <(sort -u -t '	' -k 1,1 "$work/screen") "$work/native-count" | join -t '	' - "$work/native-sum" |
    grep -vFf <(sed '/^$/d' "$work/alike" | sed 's/$/\t/') >"$work/joined"
check "native histograms: counts and sums equal the screen's" awk -F '\t' '
    { n++; off = $6 * 1e9 / $3 - 1; if ($2 != $5 || off > 1e-9 || off < -1e-9) { print; bad = 1 } }
    END { exit bad || n < 15 }' "$work/joined"
join -t '	' <(sort -u -t '	' -k 1,1 "$work/screen") "$work/native-promql" | grep -vFf <(sed '/^$/d' "$work/alike" | sed 's/$/\t/') >"$work/joined"
check "native histograms: each p99 is off by at most 11 %" awk -F '\t' '
    { n++; off = $5 * 1e9 / $4; if (off > worst) worst = off; if (1 / off > worst) worst = 1 / off; if (off > 1.11 || off < 1 / 1.11) { print; bad = 1 } }
    END { print "worst: " worst; exit bad || n < 15 }' "$work/joined"
sed -n 's/^worst/# p99 of native histograms against the screen, worst/p' "$work/check.out"
kill -CONT "$rank0" "$rank1"

# --- the dashboard: each panel has data ---
jq -r '.panels[] | .title as $t | .targets[] | "\($t)\t\(.expr)"' monitoring/dashboard.json |
    sed 's/\$__rate_interval/20s/g; s/\$instance/.*/g' >"$work/panels"
is "dashboard: panels have unique ids, known types, valid places, and use the chosen data source" "$(jq '[.panels[] |
    select((.type | IN("timeseries", "stat", "table", "gauge", "barchart", "heatmap")) and (.id | type == "number") and
        (.title | length > 0) and .datasource == {type: "prometheus", uid: "${datasource}"} and
        (.gridPos | .w > 0 and .h > 0 and .x >= 0 and .x + .w <= 24) and
        ([.targets[] | select((.expr | length > 0) and .datasource.uid == "${datasource}") | .refId] | length > 0 and length == (unique | length))) |
    .id] | unique | length' monitoring/dashboard.json)" "$(jq '.panels | length' monitoring/dashboard.json)"
is "dashboard: no two panels overlap" "$(jq '[.panels[] | .gridPos as $g | range($g.x; $g.x + $g.w) as $x | range($g.y; $g.y + $g.h) | [$x, .]] |
    length == (unique | length)' monitoring/dashboard.json)" true
check "dashboard: has more than 15 queries" test "$(wc -l <"$work/panels")" -gt 15
for histograms in classic native; do
    url=${histograms}_url
    url=${!url}
    while IFS='	' read -r title expression; do
        check "$histograms: panel '$title' has data" wait_until 60 has_data "$expression"
    done <"$work/panels"
done
url=$classic_url
# every queried metric is served
jq -r '.panels[].targets[].expr' monitoring/dashboard.json | cat - monitoring/alerts.yml | grep -oE '\brtl_[a-z_]+' | sort -u >"$work/asked"
cat >"$work/metrics.c" <<'END'
#include "serve/metrics.h"
#define METRIC(sym, name, type, labels, text) name
RTL_METRICS(METRIC)
END
"${CC:-gcc}" -Isrc -E -P "$work/metrics.c" | tr -d '"' | tr ' ' '\n' | grep -v '^$' >"$work/served"
is "dashboard and alerts query only existing metrics" \
    "$(sed -E 's/_(total|info|bucket|sum|count)$//' "$work/asked" | sort -u | grep -vxFf "$work/served")" ""

# --- restarts ---
dispatches="sum(rtl_family_dispatches_total{instance=\"127.0.0.1:$port_a\"})"
end_process "$a"
check "restart of an exporter: Prometheus sees that it has ended" wait_until 60 sh -c "test \"\$('$bin/promtool' query instant '$url' 'count(up == 1)' | sed 's/.*=> \([0-9]*\) .*/\1/')\" = 1"
serve a "$port_a" -p "$first,$ranges"
check "restart of an exporter: Prometheus sees it again" wait_until 60 all_there
resets="sum(resets(rtl_family_dispatches_total{instance=\"127.0.0.1:$port_a\"}[10m]))"
more_than() { awk -v a="$(value "$1")" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 > b + 0) }'; }
check "restart of an exporter: earlier counts of the process are back" wait_until 60 more_than "$dispatches" 0
is "restart of an exporter: Prometheus sees no reset" "$(value "$resets")" 0
before=$(value "count_over_time(up{instance=\"127.0.0.1:$port_b\"}[1h])")
end_process "$prometheus"
prometheus classic
check "restart of Prometheus: it continues with its data" wait_until 60 more_than \
    "count_over_time(up{instance=\"127.0.0.1:$port_b\"}[1h])" "$before"
exec 3>&-
finish

#!/bin/bash
# rtl-top serve against Prometheus as Debian packages it, once with native histograms and once without: what promtool says
# of the page, a p99 of PromQL's against the screen's, two exporters, restarts of both sides, each query of the dashboard.
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2016
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need prometheus
. "$(dirname "$0")/prometheus.sh"
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

cat >"$work/classic.yml" <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ['$tap_top/monitoring/alerts.yml']
scrape_configs:
  - job_name: rtl-top
    static_configs: [{targets: ['127.0.0.1:$port_a', '127.0.0.1:$port_b']}]
END
cp "$work/classic.yml" "$work/native.yml"
check "promtool finds nothing to say of the rules" "$bin/promtool" check rules monitoring/alerts.yml
prometheus native --enable-feature=native-histograms
native_url=$url
prometheus classic
classic_url=$url
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
    function bucket(ns, at) { # as src/serve/prom_buckets.h: two in each factor of two, from 512 ns on; edges belong to what is below
        for (at = 512; at < ns; at *= 2)
            if (ns <= at * 1.5)
                return at * 1.5
        return at
    }
    { n++; if (bucket($4 + 1) != bucket($5 * 1e9 + 0.999)) { print; bad = 1 } }
    END { exit bad || n < 15 }' "$work/joined"

# native histograms: the same counts and sums, and no p99 is off by more than a bucket (src/serve/prom_native.h)
url=$native_url
check "the Prometheus with native histograms scrapes both, too" wait_until 120 all_there
check "and what there is now" wait_until 60 same_now
has "without a classic bucket" "$(value 'count({__name__=~".*_bucket",__name__!~"prometheus_.*"}) or vector(0)')" '^0$'
query "histogram_quantile(0.99, rtl_kernel_duration_seconds$kernels)" |
    sed -n 's/.*kernel="\([^"]*\)".* => \([^ ]*\) @.*/\1\t\2/p' | sort >"$work/native-promql"
for f in count sum; do
    query "histogram_$f(rtl_kernel_duration_seconds$kernels)" |
        sed -n 's/.*kernel="\([^"]*\)".* => \([^ ]*\) @.*/\1\t\2/p' | sort >"$work/native-$f"
done
join -t '	' <(sort -u -t '	' -k 1,1 "$work/screen") "$work/native-count" | join -t '	' - "$work/native-sum" |
    grep -vFf <(sed '/^$/d' "$work/alike" | sed 's/$/\t/') >"$work/joined"
check "its counts and sums are the screen's" awk -F '\t' '
    { n++; off = $6 * 1e9 / $3 - 1; if ($2 != $5 || off > 1e-9 || off < -1e-9) { print; bad = 1 } }
    END { exit bad || n < 15 }' "$work/joined"
join -t '	' <(sort -u -t '	' -k 1,1 "$work/screen") "$work/native-promql" | grep -vFf <(sed '/^$/d' "$work/alike" | sed 's/$/\t/') >"$work/joined"
check "and each p99 is off by 11 % at most" awk -F '\t' '
    { n++; off = $5 * 1e9 / $4; if (off > worst) worst = off; if (1 / off > worst) worst = 1 / off; if (off > 1.11 || off < 1 / 1.11) { print; bad = 1 } }
    END { print "worst: " worst; exit bad || n < 15 }' "$work/joined"
sed -n 's/^worst/# p99 of native histograms against the screen, worst/p' "$work/check.out"
kill -CONT "$rank0" "$rank1"

# --- the dashboard: each panel has data ---
jq -r '.panels[] | .title as $t | .targets[] | "\($t)\t\(.expr)"' monitoring/dashboard.json |
    sed 's/\$__rate_interval/20s/g; s/\$instance/.*/g' >"$work/panels"
is "panels are told apart, of kinds that Grafana has, in its grid, and ask the data source that is chosen" "$(jq '[.panels[] |
    select((.type | IN("timeseries", "stat", "table", "gauge", "barchart", "heatmap")) and (.id | type == "number") and
        (.title | length > 0) and .datasource == {type: "prometheus", uid: "${datasource}"} and
        (.gridPos | .w > 0 and .h > 0 and .x >= 0 and .x + .w <= 24) and
        ([.targets[] | select((.expr | length > 0) and .datasource.uid == "${datasource}") | .refId] | length > 0 and length == (unique | length))) |
    .id] | unique | length' monitoring/dashboard.json)" "$(jq '.panels | length' monitoring/dashboard.json)"
is "no two panels lie on one another" "$(jq '[.panels[] | .gridPos as $g | range($g.x; $g.x + $g.w) as $x | range($g.y; $g.y + $g.h) | [$x, .]] |
    length == (unique | length)' monitoring/dashboard.json)" true
check "there are panels" test "$(wc -l <"$work/panels")" -gt 15
for histograms in classic native; do
    url=${histograms}_url
    url=${!url}
    while IFS='	' read -r title expression; do
        check "$histograms: panel '$title' has data" wait_until 60 has_data "$expression"
    done <"$work/panels"
done
url=$classic_url
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
prometheus classic
check "Prometheus goes on with what it had, after a restart of its own" wait_until 60 more_than \
    "count_over_time(up{instance=\"127.0.0.1:$port_b\"}[1h])" "$before"
exec 3>&-
finish

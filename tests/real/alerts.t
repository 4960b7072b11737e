#!/bin/bash
# The alert rules for rtl-top serve: each fires in a real Prometheus, with classic and with native histograms, on matching
# processes, and not before; and on synthetic series at its stated times.
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2016
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need prometheus
. "$(dirname "$0")/prometheus.sh"

# --- synthetic series, with the rules' own times ---
cp monitoring/alerts.yml "$work/alerts-under-test.yml"
cp tests/real/alerts.yml "$work/alerts-test.yml"
check "synthetic series: each alert fires at its time, and only then" "$bin/promtool" test rules "$work/alerts-test.yml"
is "synthetic series: every alert rule has a test" "$(grep -o 'alert: .*' monitoring/alerts.yml | cut -d ' ' -f 2 | sort)" \
    "$(grep -oE 'alertname: Rtl[A-Za-z]*' tests/real/alerts.yml | cut -d ' ' -f 2 | sort -u)"

# --- processes: real runtimes on software GPUs, each with its own kernel; the same rules with seconds instead of minutes ---
sed -E 's/\[5m\]/[8s]/g; s/\[1h\] offset 20m/[16s] offset 16s/g; s/for: [0-9]+m/for: 2s/' monitoring/alerts.yml >"$work/quick.yml"
is "quick rules: no minutes or hours remain" "$(grep -cE '[0-9][mh]\b' "$work/quick.yml")" 0
paced() { # DURATION VARIABLES... -- KERNEL EVERY_US [signalled]: start it in the background
    local duration=$1
    shift
    echo "* $duration" >"$work/script-$duration"
    env HSA_TOOLS_LIB="$tap_top/$O/librtl.so" "$@" &
    paced=$!
    tap_pids="$tap_pids $paced"
    wait_until 120 is_traced "$paced"
}
gpu() { echo "tests/vgpu/run --script $work/script-$1 -- $O/tests/programs/intercept_paced"; }
# shellcheck disable=SC2046 # lists of words
{
    paced 200us $(gpu 200us) 3 1000
    steady=$paced
    # mode lite does not time these
    paced 201us RTL_MODE=lite $(gpu 201us) 4 1000 signalled
    ranks=''
    for rank in 0 1 2; do
        duration=500us
        [ $rank != 2 ] || duration=650us
        paced $duration RANK=$rank $(gpu $duration) 5 2000
        ranks=$ranks${ranks:+,}$paced
    done
}
# On a software GPU each packet waits longer than the rule allows for an empty queue, so simulate this process.
"$O/tests/programs/segment_demo" --late --gpus 1 --kernels 5 --rate 500 >/dev/null &
late=$!
tap_pids="$tap_pids $late"
wait_until 60 is_traced "$late"

serve kernels 0 -p "$$" # all descendants of this test
kernels=$port
serve late 0 -p "$late"
late_port=$port
cat >"$work/classic.yml" <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ['$work/quick.yml']
scrape_configs:
  - job_name: rtl-top
    static_configs: [{targets: ['127.0.0.1:$kernels', '127.0.0.1:$late_port']}]
END
cp "$work/classic.yml" "$work/native.yml"
prometheus classic
classic=$url
prometheus native --enable-feature=native-histograms
native=$url

firing() { has_data "ALERTS{alertstate=\"firing\",alertname=\"$1\",$2}"; }
everywhere() { # COMMAND: passes with both Prometheus servers
    for url in "$classic" "$native"; do "$@" || return; done
}
fires() { check "$1 fires: $3" wait_until 120 everywhere firing "$1" "$2"; }
fires RtlUntimed "instance=\"127.0.0.1:$kernels\"" "many dispatches carry signals, which mode lite does not time"
fires RtlRankSlow 'rank="2"' "a rank takes 30 % longer than two others"
fires RtlHostLate "instance=\"127.0.0.1:$late_port\"" "the queue is empty half of the time"
old() { [ "$(value "count_over_time(rtl_kernel_dispatches_total{kernel=\"pace03\"}[5m])" || echo 0)" -ge 40 ]; }
check "RtlKernelSlower: a kernel has a p99 for 40 samples" wait_until 120 everywhere old
# one of these three may stop firing on a busy machine, after it was seen to fire
others() {
    query 'count by (alertname, rank) (ALERTS{alertstate="firing"})' | sed 's/.*{\(.*\)}.*/\1/' |
        awk '!/^alertname="(RtlHostLate|RtlUntimed|RtlRankSlow", rank="2)"$/; END { if (!NR) print "no alert fires" }'
}
for url in "$classic" "$native"; do
    is "no other alert fires before the kernel gets slower" "$(others)" ""
done
end_process "$steady"
# shellcheck disable=SC2046
paced 500us $(gpu 500us) 3 1000
fires RtlKernelSlower 'kernel="pace03"' "another process runs it with other sizes"
finish

#!/bin/bash
# The alert rules for rtl-top serve: each fires in a real Prometheus, with classic histograms and with native ones, on
# processes that are what it is for, and not before; and on series that are made up, at the times that it says.
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2016
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need prometheus
. "$(dirname "$0")/prometheus.sh"

# --- on made-up series, with the rules' own times ---
cp monitoring/alerts.yml "$work/alerts-under-test.yml"
cp tests/real/alerts.yml "$work/alerts-test.yml"
check "each alert fires in time, and only then" "$bin/promtool" test rules "$work/alerts-test.yml"
is "and each of them is tested" "$(grep -o 'alert: .*' monitoring/alerts.yml | cut -d ' ' -f 2 | sort)" \
    "$(grep -oE 'alertname: Rtl[A-Za-z]*' tests/real/alerts.yml | cut -d ' ' -f 2 | sort -u)"

# --- on processes: real runtimes on software GPUs, a kernel number for each; the same rules with seconds for minutes ---
sed -E 's/\[5m\]/[8s]/g; s/\[1h\] offset 20m/[16s] offset 16s/g; s/for: [0-9]+m/for: 2s/' monitoring/alerts.yml >"$work/quick.yml"
is "all times are shorter" "$(grep -cE '[0-9][mh]\b' "$work/quick.yml")" 0
paced() { # DURATION VARIABLES... -- KERNEL EVERY_US [signalled]: in the background
    local duration=$1
    shift
    echo "* $duration" >"$work/script-$duration"
    env HSA_TOOLS_LIB="$tap_top/$O/librtl.so" "$@" &
    paced=$!
    tap_pids="$tap_pids $paced"
    wait_until 120 traced "$paced"
}
gpu() { echo "tests/vgpu/run --script $work/script-$1 -- $O/tests/programs/intercept_paced"; }
# shellcheck disable=SC2046 # lists of words
{
    paced 200us $(gpu 200us) 3 1000
    steady=$paced
    # what mode lite leaves alone
    paced 201us RTL_MODE=lite $(gpu 201us) 4 1000 signalled
    ranks=''
    for rank in 0 1 2; do
        duration=500us
        [ $rank != 2 ] || duration=650us
        paced $duration RANK=$rank $(gpu $duration) 5 2000
        ranks=$ranks${ranks:+,}$paced
    done
}
# On a software GPU each packet waits for longer than the rule takes for a queue that was empty: this one is made up.
"$O/tests/programs/segment_demo" --late --gpus 1 --kernels 5 --rate 500 >/dev/null &
late=$!
tap_pids="$tap_pids $late"
wait_until 60 traced "$late"

serve kernels 0 -p "$$" # whatever we start
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
everywhere() { # QUERY COMMAND: in both
    for url in "$classic" "$native"; do "$@" || return; done
}
fires() { check "$1 fires: $3" wait_until 120 everywhere firing "$1" "$2"; }
fires RtlUntimed "instance=\"127.0.0.1:$kernels\"" "many dispatches carry signals that mode lite leaves alone"
fires RtlRankSlow 'rank="2"' "it takes 30 % longer than two others"
fires RtlHostLate "instance=\"127.0.0.1:$late_port\"" "half of the time nothing is there to run"
old() { [ "$(value "count_over_time(rtl_kernel_dispatches_total{kernel=\"pace03\"}[5m])" || echo 0)" -ge 40 ]; }
check "a kernel has had its p99 for a while" wait_until 120 everywhere old
# one of these three may pause on a busy machine; that it fired was seen
others() {
    query 'count by (alertname, rank) (ALERTS{alertstate="firing"})' | sed 's/.*{\(.*\)}.*/\1/' |
        awk '!/^alertname="(RtlHostLate|RtlUntimed|RtlRankSlow", rank="2)"$/; END { if (!NR) print "nothing at all fires" }'
}
for url in "$classic" "$native"; do
    is "until then nothing else fires" "$(others)" ""
done
end_process "$steady"
# shellcheck disable=SC2046
paced 500us $(gpu 500us) 3 1000
fires RtlKernelSlower 'kernel="pace03"' "another process runs it with other sizes"
finish

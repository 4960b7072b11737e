# Sourced by the tests against a real Prometheus, after look.sh: servers, pages, Prometheus itself, queries.
# shellcheck shell=bash disable=SC2034,SC2154 # variables that tap.sh and look.sh set, and variables that the tests use

bin=$real_store/prometheus/usr/bin
top=$tap_top/$O/rtl-top

serve() { # NAME PORT ARGS...: start rtl-top serve; sets server, port
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
    printf 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n%b\r\n' "${2:+$2\\r\\n}" >&7
    timeout 60 cat <&7 | tr -d '\r' | sed '1,/^$/d'
    exec 7>&-
}
prometheus() { # NAME OPTIONS...: start it with NAME.yml and its earlier data; sets prometheus, url
    local name=$1
    shift
    "$bin/prometheus" --config.file="$work/$name.yml" --storage.tsdb.path="$work/$name.tsdb" --web.listen-address=127.0.0.1:0 "$@" \
        >"$work/$name.log" 2>&1 &
    prometheus=$!
    tap_pids="$tap_pids $prometheus"
    wait_until 120 grep -q 'Server is ready' "$work/$name.log"
    url=http://127.0.0.1:$(sed -n 's/.*msg="Listening on" address=127.0.0.1:\([0-9]*\).*/\1/p' "$work/$name.log")
}
query() { "$bin/promtool" query instant "$url" "$1"; }                # prints lines {LABELS} => VALUE @[TIME]
value() { query "$1" | sed -n 's/.* => \([^ ]*\) @.*/\1/p' | head -n 1; }
has_data() { [ -n "$(query "$1" 2>>"$work/query.err")" ]; }

# Sourced by the tests of rtl-top serve, after tap.sh: start the server and query it.
# shellcheck shell=bash disable=SC2034,SC2119,SC2120,SC2154 # tap.sh sets them, or the tests use them
top=$tap_top/$O/rtl-top

start_server() { # NAME ARGS...: serve in the background; sets $server and $port
    local name=$1
    shift
    "$top" serve "$@" >"$work/$name.out" 2>"$work/$name.err" &
    server=$!
    tap_pids="$tap_pids $server"
    wait_until 60 grep -q '/metrics$' "$work/$name.out"
    port=$(sed -n 's,^serving http://.*:\([0-9]*\)/metrics$,\1,p' "$work/$name.out")
}
send_request() { # TEXT with CR LF at each line's end: send it and print the answer
    exec 7<>"/dev/tcp/127.0.0.1/$port" || return
    printf '%b' "$1" >&7 2>/dev/null
    timeout 60 cat <&7
    exec 7>&-
}
get_path() { send_request "GET $1 HTTP/1.1\r\nHost: 127.0.0.1\r\n${2:+$2\r\n}\r\n"; }
get_page() { get_path /metrics "${1:-}" | tr -d '\r' | sed '1,/^$/d'; }
http_status() { head -n 1 | cut -d ' ' -f 2; }
get_sample() { get_page | sed -n "s/^$1 //p"; } # NAME{LABELS}
sample_at_least() { [ "$(get_sample "$1")" -ge "$2" ] 2>/dev/null; }

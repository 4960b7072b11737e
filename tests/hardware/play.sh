# Sourced by run: programs on the GPU, one at a time, with a time limit, and what is looked at when one hangs.
# shellcheck shell=sh disable=SC2154,SC2034 # what run sets, and what others use

program='' # the process of the program that runs

# begin [NAME=VALUE]... PROGRAM [ARGS]: in the background, with a pipe as its standard input
begin() {
    rm -f "$work/in"
    mkfifo "$work/in"
    : >"$work/out" # at once: what it says is waited for, and the program before it has said the same
    : >"$work/err"
    (
        cd "$work/folder" || exit 125
        while :; do
            case $1 in *=*) export "${1?}" ;; *) break ;; esac
            shift
        done
        # shellcheck disable=SC2086 # a command with its options, or nothing
        exec $on "$@"
    ) <"$work/in" >"$work/out" 2>"$work/err" &
    program=$!
    exec 3>"$work/in"
    until_when=$(($(date +%s) + limit + ${more_time:-0}))
}

# One that has ended stays a zombie until it is waited for.
alive() {
    case $(sed 's/.*) //; s/ .*//' "/proc/$program/stat" 2>/dev/null) in '' | Z) return 1 ;; esac
}

# until_line PATTERN: it has printed such a line, or fails when it has ended; doesn't come back from a hang
until_line() {
    until grep -qE "$1" "$work/out"; do
        alive || return 1
        [ "$(date +%s)" -lt "$until_when" ] || hung
        sleep 0.05
    done
}

# until_end: its standard input is closed, and it goes; $status is how
until_end() {
    exec 3>&-
    while alive; do
        [ "$(date +%s)" -lt "$until_when" ] || hung
        sleep 0.05
    done
    wait "$program" 2>/dev/null
    status=$?
    program=
}

# Ends what is still there: a process of ours, by its number.
end_program() { # signal
    [ -n "$program" ] || return 0
    exec 3>&-
    kill "-$1" "$program" 2>/dev/null
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        alive || break
        sleep 0.25
    done
    if alive; then
        left=$(sed -n 's/^State:[[:blank:]]*//p' "/proc/$program/status" 2>/dev/null)
    else
        wait "$program" 2>/dev/null
    fi
    program=
}

# dump: what the library says of the program; waits until what is in flight is accounted for, for a while
dump() {
    dump_until=$(($(date +%s) + 20))
    while :; do
        "$bin/intercept_dump" "$program" >"$work/dump" 2>&1
        awk '$1 == "counted" { c = $2 } $1 == "timed" { t = $2 } $1 == "untimed_total" { u = $2 } END { exit c == "" || c != t + u }' \
            "$work/dump" && return 0
        [ "$(date +%s)" -lt "$dump_until" ] || return 1
        sleep 0.1
    done
}

# attach TITLE: standard input goes to the report, without what is private
attach() {
    {
        echo "--- $1"
        awk -v user="$(id -un)" -v host="$(uname -n)" -v home="${HOME:-}" -f "$here/scrub.awk"
    } >>"$work/attached"
}

# A program that doesn't come to its end: what its threads wait for, as far as a user may see, what it said last, and what
# the driver says. Nothing is tried after that.
hung() {
    {
        echo "after $((limit + ${more_time:-0})) s; threads:"
        for task in /proc/"$program"/task/*; do
            echo "  $(cat "$task/comm" 2>/dev/null): state $(sed -n 's/^State:[[:blank:]]*//p' "$task/status" 2>/dev/null)," \
                "wchan $(cat "$task/wchan" 2>/dev/null), syscall $(cut -d ' ' -f 1 "$task/syscall" 2>/dev/null)"
            sed 's/^/    /' "$task/stack" 2>/dev/null
        done
        echo "the last lines that it said:"
        tail -n 10 "$work/out" "$work/err" | sed 's/^/  /'
        echo "the library's counters:"
        "$bin/intercept_dump" "$program" 2>&1 | grep -vE '^(kernel|shape) ' | sed 's/^/  /'
        echo "the driver's last lines:"
        dmesg 2>/dev/null | grep -E 'amdgpu|kfd|drm' | tail -n 30 | sed 's/^/  /'
    } 2>/dev/null | attach "hang: $doing"
    left=
    end_program KILL
    say hung "$doing" "no end after $((limit + ${more_time:-0})) s; it was killed${left:+, and is there still: $left}"
    finish_report
}

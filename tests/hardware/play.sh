# Sourced by run: run programs on the GPU, one at a time, with a time limit, and report a hang.
# shellcheck shell=sh disable=SC2154,SC2034 # variables that run sets, and variables that other files use

program='' # pid of the running program

# begin [NAME=VALUE]... PROGRAM [ARGS]: start it in the background, with a pipe as its standard input
begin() {
    rm -f "$work/in"
    mkfifo "$work/in"
    : >"$work/out" # empty it now: until_line must not find a line of the program before
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

# False also for a zombie: a program that ended but was not waited for.
alive() {
    case $(sed 's/.*) //; s/ .*//' "/proc/$program/stat" 2>/dev/null) in '' | Z) return 1 ;; esac
}

# until_line PATTERN: wait until the program prints such a line; fails if it ends first; does not return from a hang
until_line() {
    until grep -qE "$1" "$work/out"; do
        alive || return 1
        [ "$(date +%s)" -lt "$until_when" ] || hung
        sleep 0.05
    done
}

# until_end: close the program's standard input and wait for its end; $status is its status
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

# End the program, if it runs, by pid; $left is its state if it does not end.
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

# dump: write the library's counters of the program; waits up to 20 s until dispatches in flight are accounted for
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

# attach TITLE: add standard input to the report, without private data
attach() {
    {
        echo "--- $1"
        awk -v user="$(id -un)" -v host="$(uname -n)" -v home="${HOME:-}" -f "$here/scrub.awk"
    } >>"$work/attached"
}

# Report a hang and end the run: what the program's threads wait for (as far as this user may read it), its last output, and
# the driver's last messages.
hung() {
    {
        echo "after $((limit + ${more_time:-0})) s; threads:"
        for task in /proc/"$program"/task/*; do
            echo "  $(cat "$task/comm" 2>/dev/null): state $(sed -n 's/^State:[[:blank:]]*//p' "$task/status" 2>/dev/null)," \
                "wchan $(cat "$task/wchan" 2>/dev/null), syscall $(cut -d ' ' -f 1 "$task/syscall" 2>/dev/null)"
            sed 's/^/    /' "$task/stack" 2>/dev/null
        done
        echo "its last lines:"
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

# Sourced by the end-to-end tests in shell: TAP lines, waiting for conditions, and processes that never outlive the test.
# shellcheck shell=sh

tap_top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$tap_top" || exit 1
O=${O:-build}
tap_number=0
tap_failed=0
tap_pids=''
work=$(mktemp -d "${TMPDIR:-/tmp}/rtl-test.XXXXXX") # each test has its own folder
XDG_CONFIG_HOME=$work/config # not the user's configuration
LC_ALL=C.UTF-8 # not the user's language
export XDG_CONFIG_HOME LC_ALL

tap_end() {
    status=$?
    trap - EXIT
    for pid in $tap_pids; do kill -9 "$pid" 2>/dev/null; done
    [ -z "${tap_tmux:-}" ] || tmux -L "$tap_tmux" kill-server 2>/dev/null
    rm -rf "$work"
    exit "$status"
}
trap tap_end EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# check NAME COMMAND...: passes when the command succeeds; prints the command's output when it fails.
check() {
    tap_name=$1
    shift
    tap_number=$((tap_number + 1))
    if "$@" >"$work/check.out" 2>&1; then
        echo "ok $tap_number - $tap_name"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_number - $tap_name"
        echo "# $*" >&2
        head -n 40 "$work/check.out" | sed 's/^/#   /' >&2
    fi
}

# is NAME GOT WANTED
is() {
    check "$1" test "$2" = "$3"
}

# has NAME TEXT PATTERN: an extended regular expression matches a line of the text
has() {
    printf '%s\n' "$2" >"$work/has.txt"
    check "$1" grep -qE -e "$3" "$work/has.txt"
}

# skip NAME WHY: report a test that can't run here; tests/run counts and lists skipped tests separately.
skip() {
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $1 # SKIP $2"
}

# can_be_other_user NAME: can the test run as another user? If not, skip NAME.
can_be_other_user() {
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then return 0; fi
    skip "$1" "needs root and setpriv"
    return 1
}

# wait_until SECONDS COMMAND...: poll the command; fail when three times as many seconds are over. Choose SECONDS for a busy
# machine; the factor is for one where others take most of the processor. A long time delays only a failing test.
wait_until() {
    wait_end=$(($(date +%s) + 3 * $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt "$wait_end" ] || return 1
        sleep 0.05
    done
}

# Some tests fail if a viewer opens their process in mode auto, and others open all processes of the machine, as rtl-top
# list does. A lock separates them, in whatever checkout they run: any number of the first kind runs, or one of the
# second. A waiting test blocks later ones, so that each gets its turn. The lock is held until unlock_viewing, or until the
# test ends.
tap_among=${TMPDIR:-/tmp}/rtl-tests-$(id -u)
lock_out_viewers() { tap_lock -s; }
lock_for_viewing_all() { tap_lock -x; }
unlock_viewing() { exec 9>&-; }
tap_lock() { # -s | -x
    exec 9>>"$tap_among.next"
    flock 9
    exec 8>>"$tap_among.held"
    flock "$1" 8
    exec 9>&- 9>&8 8>&-
}

# End a process that the test started, and wait for it.
end_process() { # pid [signal]
    kill "-${2:-TERM}" "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

is_alive() { # pid; false for a zombie: a child that ended stays visible until its parent waits for it
    case $(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) in '' | Z) return 1 ;; esac
}

is_traced() { # pid: does it have a segment?
    for tap_fd in /proc/"$1"/fd/*; do
        case $(readlink "$tap_fd" 2>/dev/null) in *rtl-segment*) return 0 ;; esac
    done
    return 1
}

# on_gpu [OPTIONS OF tests/vgpu/run] -- PROGRAM ARGS &: replace this shell by the program on the software GPU with
# librtl.so loaded, so that $! is its pid. Call it only in the background or in a subshell. RTL_RELEASE names the Debian
# release of the runtime (tests/run releases); default: this system's.
on_gpu() {
    HSA_TOOLS_LIB=$tap_top/$O/librtl.so exec tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} "$@"
}

# run_without_library PROGRAM ARGS: run with the same runtime, without a tool and without the variables that a test sets for
# its programs.
run_without_library() {
    env -u HSA_TOOLS_LIB -u LD_PRELOAD -u RTL_MODE INTERCEPT_KERNELS="$tap_top/$O/tests/programs" \
        tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} -- "$@" </dev/null
}

# filter_runtimes_lines: print standard error (from stdin) without the lines that the runtime prints without the library,
# too, after queues have come and gone. Numbers may differ: ROCm 7.2 counts signals that were not returned, and no tool
# can return any at its end.
filter_runtimes_lines() {
    tap_own=$work/runtimes.own${RTL_RELEASE:-}
    if [ ! -e "$tap_own" ]; then
        run_without_library "$O/tests/programs/intercept_scenes" any 2>&1 >/dev/null | sed 's/[0-9][0-9]*/N/g' >"$tap_own"
    fi
    awk -v own="$tap_own" 'BEGIN { while ((getline line <own) > 0) known[line] }
        { line = $0; gsub(/[0-9]+/, "N", line); if (!(line in known)) print }'
}

# may_intercept: does the library make intercept queues on request? It does not where they overwrite memory.
may_intercept() {
    [ "$(RTL_QUEUES=intercept tests/e2e/queue-path "${RTL_RELEASE:-}")" = intercept ]
}

# The last line of a test: print the plan, and exit with the verdict.
finish() {
    echo "1..$tap_number"
    [ "$tap_failed" -eq 0 ]
    exit
}

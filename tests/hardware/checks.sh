# Sourced by run: the checks. Each prints one line or more; README.md has their purpose and tolerances.
# shellcheck shell=sh disable=SC2154,SC2034 # variables that run sets, and variables that other files use

# The programs, and their arguments. All print what they launched, wait with --hold to be inspected, and verify what they
# compute or copy. raw_programs need no hipcc.
raw_programs='hsa_dispatch'
if_hip='hip_basic hip_compute hip_copies hip_graph hip_launches'
arguments() {
    case $1 in
    hsa_dispatch) echo --launches "$($quick && echo 4000 || echo 20000)" --signals 7 ;;
    hip_copies) echo --rounds 20 ;;
    hip_graph) echo --nodes 50 --replays 60 ;;
    hip_launches) echo --launches 10000 --threads 4 --events 9 --kernels 100 ;;
    esac
}
programs() {
    if [ -n "$other_programs" ]; then
        echo "$other_programs" | tr ' ' '\n'
        return
    fi
    echo "$raw_programs"
    for each in $(if $quick; then echo hip_basic hip_compute; else echo "$if_hip"; fi); do
        [ ! -x "$bin/$each" ] || echo "$each"
    done
}
needs_hip() { # check program
    [ -x "$bin/$2" ] || say skipped "$1" "no HIP program for it"
    [ -x "$bin/$2" ]
}

# Print a program's output without the lines that differ between runs.
steady() {
    grep -vE '^(holding|elapsed|memory|waits)' "$1"
}

# judged NAME WHAT [awk options] -- FILES: print the result line
judged() {
    name=$1
    what=$2
    shift 2
    verdict=$(awk -v what="$what" "$@" -f "$here/judge.awk" "$work/out" "$work/dump" 2>&1)
    case $verdict in ok\ *) ;; FAILED\ *) keep_output "$name" ;; *) verdict="FAILED $verdict" ;; esac
    say "${verdict%% *}" "$name" "${verdict#* }"
}

keep_output() { # name
    { tail -n 5 "$work/out"; tail -n 10 "$work/err"; } | attach "output of the program: $1"
}

# play_traced MODE WAY PROGRAM ARGS: run it until it holds, and dump the library's counters; fails if it ends before
play_traced() {
    mode=$1
    way=$2
    path=$3
    shift 3
    preload=${LD_PRELOAD:-}
    [ "$mode" != hip ] || preload=$lib/librtl-hip.so${preload:+:$preload}
    begin LD_PRELOAD="$preload" HSA_TOOLS_LIB="$library" RTL_MODE="$mode" RTL_QUEUES="$way" "$path" "$@"
    if until_line '^holding'; then
        dump
        return 0
    fi
    until_end
    keep_output "$doing"
    say FAILED "$doing" "ended with status $status before it was done"
    return 1
}

# --- without the library ---

check_alone() {
    for each in $(programs); do
        doing="alone/$each"
        # shellcheck disable=SC2046 # several arguments
        begin "$bin/$each" $(arguments "$each") --hold
        until_line '^holding'
        until_end
        steady "$work/out" >"$work/alone.$each"
        if [ "$status" = 0 ]; then
            say ok "$doing" "without the library: status 0, $(grep -c '^launched' "$work/out") kernels"
        else
            rm -f "$work/alone.$each"
            keep_output "$doing"
            say skipped "$doing" "status $status already without the library: nothing to compare with"
        fi
    done
}

check_index() {
    doing="index/read index"
    begin "$bin/hardware_clocks" index
    until_end
    : >"$work/dump"
    if [ "$status" = 0 ]; then
        judged "$doing" index
        convention=$(sed -n 's/^ok .* read index \([a-z]*\): .*/\1/p' "$work/checks" | tail -n 1)
    else
        keep_output "$doing"
        say FAILED "$doing" "ended with status $status"
    fi
}

# --- with it ---

# tell_way WAY PROGRAM: report the ways of the queues, and what the library knows of runtime and GPUs
tell_way() {
    timeout 60 "$lib/rtl-top" report -p "$program" 2>&1 | sed "s/^process $program: /process: /" >"$work/way.$1"
    grep -v '^  kernel ' "$work/way.$1" | attach "rtl-top report of $2, queues: $1"
    ways=$(sed -n 's/^  queue in slot .*, way \([a-z]* ([a-z_]*)\), .*/\1/p' "$work/way.$1" | sort -u | paste -sd, -)
    case $ways in
    "$1 "*) say ok "ways/$1" "$ways" ;;
    '') say FAILED "ways/$1" "rtl-top report has no queues" ;;
    *) say skipped "ways/$1" "requested $1, but the library uses $ways: the checks of $1 test that" ;;
    esac
}

# one_mode MODE WAY PROGRAM: check status, output, counts and accounts, in one result line
one_mode() {
    doing="modes/$3 $1 $2"
    # shellcheck disable=SC2046 # several arguments
    play_traced "$1" "$2" "$bin/$3" $(arguments "$3") --hold || return 0
    if $viewer && [ "$1" = default ] && [ ! -e "$work/way.$2" ]; then tell_way "$2" "$3"; fi
    until_end
    wrongs=''
    [ "$status" = 0 ] || wrongs="status $status; "
    steady "$work/out" >"$work/traced"
    if ! cmp -s "$work/alone.$3" "$work/traced"; then
        wrongs="${wrongs}its output is another one than without the library; "
        diff "$work/alone.$3" "$work/traced" | head -n 10 | attach "output without the library and with it: $3 $1 $2"
    fi
    if grep -q '^librtl' "$work/err"; then wrongs="${wrongs}the library complains; "; fi
    if [ "$1" = off ]; then
        grep -q '^counted 0$' "$work/dump" || wrongs="${wrongs}something was counted; "
        figures="nothing counted"
    else
        figures=''
        # compare a program that prints no launches with its first run
        if ! grep -q '^launched ' "$work/out" && [ ! -e "$work/tally.$3" ]; then
            awk '$1 == "kernel" && $2 !~ /^(__amd_rocclr_|<)/ { n += $3 } END { print n + 0 }' "$work/dump" >"$work/tally.$3"
        fi
        for what in counts accounts; do
            verdict=$(awk -v what="$what" -v mode="$1" -v tally="$(cat "$work/tally.$3" 2>/dev/null)" -f "$here/judge.awk" "$work/out" "$work/dump" 2>&1)
            case $verdict in ok\ *) figures="$figures, ${verdict#ok }" ;; *) wrongs="$wrongs${verdict#FAILED }; " ;; esac
        done
        figures=${figures#, }
    fi
    if [ -n "$wrongs" ]; then
        keep_output "$doing"
        say FAILED "$doing" "${wrongs%; }"
    else
        say ok "$doing" "status 0, output equal, $figures"
    fi
}

check_modes() {
    for each in $(programs); do
        if [ ! -e "$work/alone.$each" ]; then
            case " $only " in *' alone '*) say skipped "modes/$each" "it doesn't pass without the library" ;;
            *) say skipped "modes/$each" "needs the check alone" ;; esac
            continue
        fi
        one_mode off native "$each"
        for way in intercept native; do
            for mode in lite default auto hip; do
                if $quick && [ "$each" != hsa_dispatch ] && [ $mode != default ]; then continue; fi
                one_mode "$mode" "$way" "$each"
            done
        done
    done
}

check_own() {
    doing="own/signals alone"
    begin "$bin/hardware_signals" --hold
    until_line '^holding'
    until_end
    : >"$work/dump"
    if [ "$status" = 0 ]; then judged "$doing" order; else say FAILED "$doing" "ended with status $status"; fi
    for way in intercept native; do
        doing="own/signals $way"
        play_traced default $way "$bin/hardware_signals" --hold || continue
        until_end
        judged "own/order of times $way" order
        judged "own/times as read $way" own
        judged "own/waits $way" waits
        judged "own/counts $way" counts
    done
}

# Run the traced program in both ways of queues and judge it by the check of that name.
both_ways() { # check command...
    of=$1
    shift
    for way in intercept native; do
        doing="$of/$way"
        play_traced default $way "$@" || continue
        until_end
        judged "$doing" "$of"
    done
}

check_clocks() {
    doing="clocks/alone"
    begin "$bin/hardware_clocks" durations --hold
    until_line '^holding'
    until_end
    : >"$work/dump"
    if [ "$status" = 0 ]; then judged "$doing" clocks; else say FAILED "$doing" "ended with status $status"; fi
    both_ways clocks "$bin/hardware_clocks" durations --hold
}

check_elapsed() {
    needs_hip elapsed hardware_elapsed || return 0
    both_ways elapsed "$bin/hardware_elapsed" --hold
}

check_busy() {
    both_ways busy "$bin/hardware_clocks" busy --hold
}

# Check what rtl-top observes of a process without the library, if this user may read it.
check_observe() {
    if ! $viewer; then
        say skipped observe "no rtl-top"
        return
    fi
    doing="observe/counts"
    begin "$bin/observe_play" 4 16384
    if ! until_line '^ready'; then
        until_end
        keep_output "$doing"
        say FAILED "$doing" "ended with status $status before it was ready"
        return
    fi
    # while it runs: rtl-top must decide which packet is the running one
    "$lib/rtl-top" -p "$program" --observe --no-children --json -d 0.2 3>&- >"$work/json" 2>/dev/null &
    observer=$!
    echo "run 8000 7 60 500" >&3
    echo "done" >&3
    until_line '^done'
    sleep 0.5 # two of its frames
    kill "$observer"
    wait "$observer" 2>/dev/null
    timeout 60 "$lib/rtl-top" -p "$program" --observe --no-children --csv -n 1 3>&- >"$work/csv" 2>"$work/observe.err"
    seen=$?
    if [ $seen = 4 ]; then
        say skipped "$doing" "this user may not read another process here (ptrace_scope, or a container)"
    elif [ $seen != 0 ]; then
        attach "output of rtl-top: $doing" <"$work/observe.err"
        say FAILED "$doing" "rtl-top ended with status $seen"
    else
        awk -F, 'NR > 1 { print "seen", $4, $6 }' "$work/csv" >"$work/dump"
        judged "$doing" counts
        judges=$(grep -o '"read_index": *"[a-z]*"' "$work/json" | tail -n 1 | sed 's/.*"\([a-z]*\)"$/\1/')
        case ${convention:-none}.$judges in
        none.* | *. | *.unknown) say skipped "observe/read index" "rtl-top takes it for ${judges:-unknown}, the check index for ${convention:-unknown}" ;;
        early.early | late.late) say ok "observe/read index" "rtl-top takes it for $judges, as it is" ;;
        *) say FAILED "observe/read index" "rtl-top takes it for $judges, and it is $convention" ;;
        esac
    fi
    until_end
}

# --- figures ---

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

check_cost() {
    : >"$work/costs"
    for _ in $($quick && echo 1 || echo 1 2 3); do
        for case in plain no-op off lite-native default-native auto-native lite-intercept default-intercept auto-intercept; do
            doing="cost/$case"
            case $case in
            plain) set -- ;;
            no-op) set -- HSA_TOOLS_LIB="$bin/intercept_noop_preload.so" ;;
            off) set -- HSA_TOOLS_LIB="$library" RTL_MODE=off ;;
            *) set -- HSA_TOOLS_LIB="$library" RTL_MODE="${case%-*}" RTL_QUEUES="${case#*-}" ;;
            esac
            begin "$@" "$bench/dispatch_hsa" "$($quick && echo 20000 || echo 200000)" 100
            until_end
            if [ "$status" != 0 ]; then
                keep_output "$doing"
                say FAILED "$doing" "ended with status $status"
                return
            fi
            sed -n "s/^ns_per_dispatch/$case/p" "$work/out" >>"$work/costs"
        done
    done
    for case in plain no-op off lite-native default-native auto-native lite-intercept default-intercept auto-intercept; do
        say figure "cost/$case" "$(awk -v c="$case" '$1 == c { print $2 }' "$work/costs" | median) ns a dispatch submitted, p99 $(
            awk -v c="$case" '$1 == c { print $3 }' "$work/costs" | median
        ) (raw HSA, one thread)"
    done
}

# --- soak ---

check_soak() {
    needs_hip soak soak || return 0
    seconds=$(((soak + 1) / 2))
    more_time=$seconds
    for way in intercept native; do
        doing="soak/$way"
        play_traced default $way "$bin/soak" --seconds "$seconds" --drained --hold || continue
        until_end
        judged "soak/counts $way, $seconds s" counts
        judged "soak/accounts $way, $seconds s" accounts -v mode=default
        [ "$status" = 0 ] || say FAILED "$doing" "ended with status $status: $(grep '^FAILED' "$work/out" | head -n 1)"
        say figure "soak/memory $way" "$(sed -n 's/^memory \([0-9]*\) rss \([0-9]*\) .*/\1 s: \2 kB/p' "$work/out" | sed -n '1p;$p' | paste -sd, - | sed 's/,/, /')"
    done
    more_time=0
}

#!/bin/bash
# Commands on the command line: what is meant by a wrong word, and completions in the shells themselves.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"
top=$tap_top/$O/rtl-top

refuses() { # PATTERN ARGS...: one line that says why, status 1
    local pattern=$1
    shift
    "$top" "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && [ ! -s "$work/out" ] && grep -qE -- "$pattern" "$work/err"
}
check "a command that is none is told with the one that was meant" refuses "no command 'nmes'; did you mean names\\?" nmes
check "an option, too" refuses 'no option --windw; did you mean --window\?' --windw 3
check "that of a command" refuses "no option --fial-over; did you mean --fail-over\\? 'rtl-top diff --help'" diff --fial-over 3
check "a job without a file" refuses 'record needs the name of one FILE' record -p 1
check "what a terminal obeys is escaped" refuses 'no option --na\\x1b\[2Jmes' "$(printf -- '--na\033[2Jmes')"
check "completions for no shell that there is" refuses 'one of bash, zsh, fish' completions tcsh

commands=$("$top" --help all | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p')
statuses=$("$top" --help all | sed -n '/^exit status/,/^$/s/^  \([0-9][0-9]*\) .*/\1/p')
is "exit statuses are listed in their order, each once" "$statuses" "$(echo "$statuses" | sort -nu)"
check "there are exit statuses" test "$(echo "$statuses" | wc -l)" -gt 15
check "there are commands" test "$(echo "$commands" | wc -l)" -gt 7
options() { "$top" help "${1:-all}" | grep -oE '^  (-[A-Za-z], |    )--[a-z0-9-]+' | grep -oE -e '--[a-z0-9-]+'; }

# --- jobs, on a process ---
"$O/tests/programs/segment_demo" --kernels 5 --seconds 600 >"$work/demo.out" &
demo=$!
tap_pids="$tap_pids $demo"
wait_until 60 traced "$demo"
wait_until 60 test -s "$work/demo.out"
"$top" record -p "$demo" -n 3 -d 0.05 "$work/run.db" >"$work/out" 2>"$work/err"
is "record ends after its frames, and shows nothing" "$? $(cat "$work/out" "$work/err")" '0 '
is "replay has them" "$("$top" replay --json "$work/run.db" | wc -l)" 3
is "as -r does" "$("$top" replay --csv "$work/run.db" | md5sum)" "$("$top" -r "$work/run.db" --csv | md5sum)"
has "snapshot adds to a file" "$("$top" snapshot -p "$demo" "$work/run.db")" '5 kernels of process [0-9]* written to'
has "mode changes nothing that can't be changed" "$("$top" mode -p "$demo" lite 2>&1)" '[Mm]ode'
has "a job without a process says which there are" "$("$top" record "$work/x.db" 2>&1)" "-p PID.* $demo"
is "and the scripts of the shells are told" "$("$top" completions --pids | grep -cx "$demo")" 1
check "no progress where there is no terminal" test ! -s "$work/err"
has "the version says with what it was built" "$("$top" --version | tr '\n' '|')" '^rtl-top [0-9.]* .*built with (gcc|clang) .*SQLite 3\.[0-9.]*, ncurses'
end_process "$demo"

# --- bash ---
"$top" completions bash >"$work/bash"
if command -v shellcheck >/dev/null; then check "the script for bash is clean" shellcheck -s bash "$work/bash"; fi
PATH=$tap_top/$O:$PATH
# shellcheck disable=SC1091
. "$work/bash"
check "and says what it completes" complete -p rtl-top
completed() { # WORDS...: what comes for the last one
    COMP_WORDS=(rtl-top "$@")
    COMP_CWORD=$#
    COMP_LINE="rtl-top $*"
    _rtl_top rtl-top "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
    [ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
}
is "all commands" "$(completed '')" "$commands"
is "a command from its beginning" "$(completed repl)" replay
for command in '' $commands; do
    is "all options of rtl-top $command" "$(completed ${command:+"$command"} -- | sort)" "$(options "$command" | sort)"
done
is "a mode" "$(completed mode l)" lite
is "an option's mode" "$(completed --mode o)" off
is "a key to sort by" "$(completed -s p9 | tr '\n' ' ')" 'p90 p99 '
is "with =, which is a word of its own" "$(completed record --sort = p99)" p99
is "a shell" "$(completed completions z)" zsh
is "a file" "$(cd "$work" && touch one.db two.db && completed replay on)" one.db
is "for an option, too" "$(cd "$work" && completed export --csv tw)" two.db
is "nothing for a number" "$(completed record -n '')" ""
is "processes that can be watched: none here is no trouble" "$(completed -p 999999999)" ""

# --- help ---
is "help is --help" "$("$top" help; "$top" help all)" "$("$top" --help; "$top" --help all)"
"$top" --help >"$work/card"
is "--help: it fits into 80x24" "$(awk 'length > 80 { print "too long: " $0 } END { if (NR > 24) print NR " lines" }' "$work/card")" ""
is "--help: each command has an example" "$(sed -n '/^commands/,/^All/s/^  \([a-z]*\).*/\1/p' "$work/card" | sort)" "$(echo "$commands" | sort)"
is "--help: each option in an example is one of its command" "$(sed -n 's/^  \(.\{31\}\).*/\1/p' "$work/card" | while read -r command words; do
    for word in $words; do
        case $word in --) ;; -*) "$top" "$command" --help | grep -qE -e "^ .*${word}[, ]" || echo "$command $word" ;; esac
    done
done)" ""
is "of a command, too" "$("$top" help diff; "$top" help help)" "$("$top" diff --help; "$top" help --help)"
is "of no command" "$("$top" help dif 2>&1; echo $?)" "rtl-top: no command 'dif'; did you mean diff? 'rtl-top --help' lists them
1"
is "of nothing like one" "$("$top" help zzzzzz 2>&1; echo $?)" "rtl-top: no command 'zzzzzz'; 'rtl-top help' lists them
1"

# --- zsh and fish, where they are ---
if command -v zsh >/dev/null; then
    "$top" completions zsh >"$work/_rtl-top"
    cat >"$work/in.zsh" <<'END'
# types a line with a tab into a zsh, in which rtl-top prints its words; what is typed is echoed, once or twice, so
# that what is waited for is never in it
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "PS1= PS2= RPS1=; unsetopt prompt_cr prompt_sp; fpath=($2 \$fpath); autoload -U compinit; compinit -u -D"
zpty -w shell 'rtl-top() { [ "$1" = completions ] && echo 4711 || print -r -- G"OT <$*> EN"D; }'
zpty -w shell 'echo READY""NOW'
zpty -r -m shell REPLY '*READYNOW*'
zpty -w -n shell "$1"
zpty -w -n shell $'\t'
zpty -w -n shell $'\n'
zpty -r -m shell REPLY '*GOT*END*'
print -r -- ${${REPLY##*GOT <}%%> END*}
zpty -d shell
END
    zshed() { timeout 60 zsh -f "$work/in.zsh" "$1" "$work" | sed 's/ *$//'; }
    is "zsh: a command" "$(zshed 'rtl-top repl')" replay
    is "zsh: an option" "$(zshed 'rtl-top record --fram')" 'record --frames'
    is "zsh: a mode" "$(zshed 'rtl-top mode li')" 'mode lite'
    is "zsh: a key to sort by" "$(zshed 'rtl-top -s rat')" '-s rate'
    is "zsh: a process" "$(zshed 'rtl-top mode -p ')" 'mode -p 4711'
else
    echo "ok $((tap_number += 1)) - completions in zsh # SKIP zsh is not installed"
fi
if command -v fish >/dev/null; then
    "$top" completions fish >"$work/fish"
    fished() { HOME=$work XDG_DATA_HOME=$work fish --no-config -c "source '$work/fish'; complete -C '$1'" | cut -f1; }
    is "fish: all commands" "$(fished 'rtl-top ' | sort)" "$(echo "$commands" | sort)"
    is "fish: a command" "$(fished 'rtl-top repl')" replay
    for command in '' $commands; do
        is "fish: all options of rtl-top $command" "$(fished "rtl-top $command --" | sort)" "$(options "$command" | sort)"
    done
    is "fish: a mode" "$(fished 'rtl-top mode li')" lite
    is "fish: an option's key to sort by" "$(fished 'rtl-top record -s rat')" rate
else
    echo "ok $((tap_number += 1)) - completions in fish # SKIP fish is not installed"
fi
finish

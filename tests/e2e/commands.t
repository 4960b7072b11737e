#!/bin/bash
# Commands on the command line: suggestions for a wrong word, and completions in the shells.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"
top=$tap_top/$O/rtl-top

refuses() { # PATTERN ARGS...: prints one line with the reason, status 1
    local pattern=$1
    shift
    "$top" "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && [ ! -s "$work/out" ] && grep -qE -- "$pattern" "$work/err"
}
check "command line: an unknown command gets a suggestion" refuses "no command 'nmes'; did you mean names\\?" nmes
check "command line: an unknown option gets a suggestion" refuses 'no option --windw; did you mean --window\?' --windw 3
check "command line: an unknown option of a command gets a suggestion" refuses "no option --fial-over; did you mean --fail-over\\? 'rtl-top diff --help'" diff --fial-over 3
check "command line: record without a file is refused" refuses 'record needs the name of one FILE' record -p 1
check "command line: messages escape terminal control sequences" refuses 'no option --na\\x1b\[2Jmes' "$(printf -- '--na\033[2Jmes')"
check "completions: an unknown shell is refused" refuses 'one of bash, zsh, fish' completions tcsh

commands=$("$top" --help all | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p')
statuses=$("$top" --help all | sed -n '/^exit status/,/^$/s/^  \([0-9][0-9]*\) .*/\1/p')
is "--help: exit statuses are listed in order, each once" "$statuses" "$(echo "$statuses" | sort -nu)"
check "--help: there are over 15 exit statuses" test "$(echo "$statuses" | wc -l)" -gt 15
check "--help: there are over 7 commands" test "$(echo "$commands" | wc -l)" -gt 7
list_options() { "$top" help "${1:-all}" | grep -oE '^  (-[A-Za-z], |    )--[a-z0-9-]+' | grep -oE -e '--[a-z0-9-]+'; }

# --- commands that work on a process ---
"$O/tests/programs/segment_demo" --kernels 5 --seconds 600 >"$work/demo.out" &
demo=$!
tap_pids="$tap_pids $demo"
wait_until 60 is_traced "$demo"
wait_until 60 test -s "$work/demo.out"
"$top" record -p "$demo" -n 3 -d 0.05 "$work/run.db" >"$work/out" 2>"$work/err"
is "record: ends after its frames and prints nothing" "$? $(cat "$work/out" "$work/err")" '0 '
is "replay: prints the recorded frames" "$("$top" replay --json "$work/run.db" | wc -l)" 3
is "replay: prints the same as -r" "$("$top" replay --csv "$work/run.db" | md5sum)" "$("$top" -r "$work/run.db" --csv | md5sum)"
has "snapshot: adds to an existing file" "$("$top" snapshot -p "$demo" "$work/run.db")" '5 kernels of process [0-9]* written to'
has "mode: refuses to change a mode that can't be changed" "$("$top" mode -p "$demo" lite 2>&1)" '[Mm]ode'
has "record without a process: lists the processes" "$("$top" record "$work/x.db" 2>&1)" "-p PID.* $demo"
is "completions --words: offers the process once" "$("$top" completions --words -- mode -p '' | grep -cx "$demo")" 1
is "completions --words: offers a sort key behind =" "$("$top" completions --words -- --sort=p9 | grep -c '^--sort=p99	')" 1
is "completions --words: offers nothing for a number" "$("$top" completions --words -- record -n '')" ""
is "completions --words: completes no command behind an option" "$("$top" completions --words -- -a '')" ""
is "completions --words: offers all commands for the first word" "$("$top" completions --words -- '' | cut -f1)" "$commands"
check "record without a terminal: prints no progress" test ! -s "$work/err"
has "--version: prints compiler and libraries" "$("$top" --version | tr '\n' '|')" '^rtl-top [0-9.]* .*built with (gcc|clang) .*SQLite 3\.[0-9.]*, ncurses'
end_process "$demo"

# --- bash ---
"$top" completions bash >"$work/bash"
if command -v shellcheck >/dev/null; then check "completions bash: shellcheck finds nothing" shellcheck -s bash "$work/bash"; fi
PATH=$tap_top/$O:$PATH
# shellcheck disable=SC1091
. "$work/bash"
check "completions bash: the script registers rtl-top" complete -p rtl-top
complete_words() { # WORDS...: print the completions of the last word
    COMP_WORDS=(rtl-top "$@")
    COMP_CWORD=$#
    COMP_LINE="rtl-top $*"
    _rtl_top rtl-top "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
    [ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
}
is "bash: completes all commands" "$(complete_words '')" "$commands"
is "bash: completes a command from its beginning" "$(complete_words repl)" replay
for command in '' $commands; do
    is "bash: completes all options of rtl-top $command" "$(complete_words ${command:+"$command"} -- | sort)" "$(list_options "$command" | sort)"
done
is "bash: completes a mode" "$(complete_words mode l)" lite
is "bash: completes the mode of --mode" "$(complete_words --mode o)" off
is "bash: completes a key to sort by" "$(complete_words -s p9 | tr '\n' ' ')" 'p90 p99 '
is "bash: completes after =, which is a word of its own" "$(complete_words record --sort = p99)" p99
is "bash: completes a shell" "$(complete_words completions z)" zsh
is "bash: completes a file" "$(cd "$work" && touch one.db two.db && complete_words replay on)" one.db
is "bash: completes an option's file" "$(cd "$work" && complete_words export --csv tw)" two.db
is "bash: completes nothing for a number" "$(complete_words record -n '')" ""
is "bash: completes no process if none is traced" "$(complete_words -p 999999999)" ""

# --- help ---
is "help: prints the same as --help" "$("$top" help; "$top" help all)" "$("$top" --help; "$top" --help all)"
"$top" --help >"$work/card"
is "--help: fits into 80x24" "$(awk 'length > 80 { print "too long: " $0 } END { if (NR > 24) print NR " lines" }' "$work/card")" ""
is "--help: each command has an example" "$(sed -n '/^commands/,/^All/s/^  \([a-z]*\).*/\1/p' "$work/card" | sort)" "$(echo "$commands" | sort)"
is "--help: each option in an example is one of its command" "$(sed -n 's/^  \(.\{31\}\).*/\1/p' "$work/card" | while read -r command words; do
    for word in $words; do
        case $word in --) ;; -*) "$top" "$command" --help | grep -qE -e "^ .*${word}[, ]" || echo "$command $word" ;; esac
    done
done)" ""
is "help COMMAND: prints the same as COMMAND --help" "$("$top" help diff; "$top" help help)" "$("$top" diff --help; "$top" help --help)"
is "help: an unknown command gets a suggestion" "$("$top" help dif 2>&1; echo $?)" "rtl-top: no command 'dif'; did you mean diff? 'rtl-top --help' lists them
1"
is "help: an unknown command without a similar one gets no suggestion" "$("$top" help zzzzzz 2>&1; echo $?)" "rtl-top: no command 'zzzzzz'; 'rtl-top help' lists them
1"

# --- zsh and fish, if installed ---
if command -v zsh >/dev/null; then
    "$top" completions zsh >"$work/_rtl-top"
    cat >"$work/in.zsh" <<'END'
# Types a line with a tab into a zsh, in which rtl-top prints its words. zsh echoes the input once or twice, so the
# awaited text is never part of the input.
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "PS1= PS2= RPS1=; unsetopt prompt_cr prompt_sp; fpath=($2 \$fpath); autoload -U compinit; compinit -u -D"
zpty -w shell 'rtl-top() { case "$*" in *" -p ") echo 4711;; completions*) command rtl-top "$@";; *) print -r -- G"OT <$*> EN"D; esac; }'
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
    is "zsh: completes a command" "$(zshed 'rtl-top repl')" replay
    is "zsh: completes an option" "$(zshed 'rtl-top record --fram')" 'record --frames'
    is "zsh: completes a mode" "$(zshed 'rtl-top mode li')" 'mode lite'
    is "zsh: completes a key to sort by" "$(zshed 'rtl-top -s rat')" '-s rate'
    is "zsh: completes a process" "$(zshed 'rtl-top mode -p ')" 'mode -p 4711'
else
    echo "ok $((tap_number += 1)) - completions in zsh # SKIP zsh is not installed"
fi
if command -v fish >/dev/null; then
    "$top" completions fish >"$work/fish"
    fished() { HOME=$work XDG_DATA_HOME=$work fish --no-config -c "source '$work/fish'; complete -C '$1'" | cut -f1; }
    is "fish: completes all commands" "$(fished 'rtl-top ' | sort)" "$(echo "$commands" | sort)"
    is "fish: completes a command" "$(fished 'rtl-top repl')" replay
    for command in '' $commands; do
        is "fish: completes all options of rtl-top $command" "$(fished "rtl-top $command --" | sort)" "$(list_options "$command" | sort)"
    done
    is "fish: completes a mode" "$(fished 'rtl-top mode li')" lite
    is "fish: completes an option's key to sort by" "$(fished 'rtl-top record -s rat')" rate
else
    echo "ok $((tap_number += 1)) - completions in fish # SKIP fish is not installed"
fi
finish

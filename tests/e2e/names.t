#!/bin/sh
# Kernel names on the screen: readable by a written rule (tests/e2e/name-rule), for a list of names and for names that
# were not used while making the rules; rtl-top names; the user's own rules.
. "$(dirname "$0")/tap.sh"

top=$PWD/$O/rtl-top
list=tests/fixtures/kernel-names.txt
apart=tests/fixtures/kernel-names-apart.txt

# --- the rule, first on wrong cells ---
print_cells() { "$top" names -w "$1" <"$2"; }
per_mille_bad() { # LIST WIDTH: print how many per mille are bad
    print_cells "$2" "$1" | tests/e2e/name-rule "$1" | awk '{ printf "%d\n", 1000 * $1 / $3 + 0.999; exit }'
}
rule_reason() { printf '%s\n' "$2" >"$work/one"; printf '%s\n' "$1" | tests/e2e/name-rule -v "$work/one" | sed -n '1s/\t.*//p'; }
gemm=Cijk_Alik_Bljk_BBS_BH_MT128x64x32_MI16x16x1_SN
silu='void at::native::vectorized_elementwise_kernel<4, at::native::silu_kernel(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)'
is "name rule: accepts a good name" "$(rule_reason 'vec4 silu bf16' "$silu")" ""
is "name rule: a hash is not readable" "$(rule_reason 'vec4 silu bf16~a48' "$silu")" hash
is "name rule: a meaningless part is refused" "$(rule_reason 'vec4 silu bf16 array<char*,2>' "$silu")" plumbing
is "name rule: the operation is required" "$(rule_reason 'vec4 bf16' "$silu")" operation
is "name rule: the type is required" "$(rule_reason 'vec4 silu' "$silu")" type
is "name rule: a tile is required" "$(rule_reason 'gemm TN bf16' "$gemm")" tile
is "name rule: the transposed operands are required" "$(rule_reason 'gemm bf16 128x64x32' "$gemm")" operation
printf '%s\n' "$gemm" "${gemm}_SK3" >"$work/two"
is "name rule: two equal rows are both bad" "$(printf 'gemm TN bf16 128x64x32\n%.0s' 1 2 | tests/e2e/name-rule "$work/two")" '1 of 2'

# --- the aim: at most 5 % bad cells on an 80-column screen (30 and more), 1 % on one of 120 columns and wider ---
check "names: the list has 260 names" test "$(wc -l <$list)" = 260
check "names: the names apart are over 300" test "$(wc -l <$apart)" -gt 300
is "names: no name is in both lists" "$(sort $list $apart | uniq -d)" ""
for at in 30:50 43:50 58:10 100:10; do
    check "names: at most ${at#*:} per mille of the list are bad in ${at%:*} columns" test "$(per_mille_bad $list "${at%:*}")" -le "${at#*:}"
    check "names: at most ${at#*:} per mille of the names apart are bad in ${at%:*} columns" test "$(per_mille_bad $apart "${at%:*}")" -le "${at#*:}"
done
cut -f3 tests/fixtures/kernels.tsv | grep -v '^#' >"$work/launched"
check "names: at most 50 per mille of real programs' kernels are bad in 43 columns" test "$(per_mille_bad "$work/launched" 43)" -le 50

# --- rtl-top names ---
is "names: different names never look the same, at any width" "$(for width in 16 20 26 34 43 58 80 100; do
    print_cells $width $list | sort | uniq -d
    print_cells $width $apart | sort | uniq -d
done)" ""
is "names: prints a line each, in order" "$(printf '%s\n' "$silu" '' "$gemm" "$silu" | "$top" names | tr '\n' '|')" \
    'vec4 silu bf16||gemm TN bf16 128x64x32 MI16x16x1|vec4 silu bf16|'
is "names --family: prints the family" "$(printf '%s\n' "$silu" "$gemm" | "$top" names --family | cut -f1 | tr '\n' ' ')" 'elementwise gemm '
is "names --names template: prints that form" "$(printf '%s\n' _ZN2ns1fIfEEvT_ | "$top" names --names template)" 'ns::f<float>'
is "names -w 12 -U: prints at most 12 ASCII characters" "$("$top" names -w 12 -U <$list | LC_ALL=C grep -cE '[^ -~]|.{13}')" 0
is "names: prints nothing for no input" "$("$top" names </dev/null)" ""
is "names: escapes control characters" "$(printf 'a\033[2Jb\n' | "$top" names)" 'a\x1b[2Jb'
refuses() { # PATTERN ARGS...: prints one line with the reason, status 1
    pattern=$1
    shift
    "$top" names "$@" >"$work/out" 2>"$work/err"
    [ $? = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qE "^rtl-top: .*$pattern" "$work/err"
}
check "names: -w 0 is refused" refuses '-w needs columns from 1' -w 0 </dev/null
check "names: -w x is refused" refuses "not 'x'" -w x </dev/null
check "names: an unknown form is refused" refuses 'needs short, template' --names long </dev/null
check "names: an unknown option gets a suggestion" refuses 'no option --wide; did you mean --width\?' --wide </dev/null
check "names: a file as argument is refused" refuses 'rtl-top names <FILE' "$list" </dev/null
head -c 70000 /dev/zero | tr '\0' a >"$work/long"
check "names: a line over 65536 bytes is refused" refuses 'more than 65536 bytes' <"$work/long"
seq 20000 >"$work/many"
check "names: over 16384 different names are refused" refuses 'more than 16384 different names' <"$work/many"
printf 'a\nb\0c\n' >"$work/nul"
check "names: a line with a 0 byte is refused" refuses 'line 2 contains a zero byte' <"$work/nul"
(head -c 70000 /dev/zero; echo) >"$work/zeros"
check "names: a long line of 0 bytes is refused" refuses 'line 1 contains a zero byte' <"$work/zeros"
check "names: a folder as input is refused" refuses 'cannot read standard input: Is a directory' <"$work"
fails_unwritten() { # REDIRECTION WORDS: an endless list ends when the output can't be written: one line, status 12
    yes | timeout 60 sh -c "exec '$top' names $1" 2>"$work/err"
    status=$?
    cat "$work/err"
    [ "$status" = 12 ] && grep -qE "^rtl-top: cannot write to standard output: $2" "$work/err" && [ "$(wc -l <"$work/err")" = 1 ]
}
check "names: a full disk is reported" fails_unwritten '>/dev/full' 'No space'
check "names: a closed output is reported" fails_unwritten '>&-' 'Bad file descriptor'
"$top" names <$list >&- 2>"$work/err" # descriptors that it opens for names must not become the closed output
is "names: a closed output is reported after other files were opened" "$? $(cat "$work/err")" '12 rtl-top: cannot write to standard output: Bad file descriptor'
has "names: reading from a terminal prints a hint" \
    "$(printf 'tango_f32\n\004' | script -qec "'$top' names" /dev/null)" '^rtl-top: reading names from the terminal, one a line; Ctrl-D ends'
check "names: a reader that closes the pipe is no error" sh -c "'$top' names <'$PWD/$list' | head -n 1"
check "names --help: prints the command's own help" sh -c "'$top' names --help | grep -q '^usage: rtl-top names '"
is "names --help: works at any position" "$("$top" names -w 3 --help 2>&1; "$top" diff a.db --fail-over 3 -h b.db 2>&1)" \
    "$("$top" names --help; "$top" diff --help)"
check "names: an option after -- is an argument" refuses 'not .--help.' -- --help </dev/null

# --- the configuration ---
mkdir -p "$work/config/rtl-top"
config=$work/config/rtl-top/config
cat >"$config" <<'EOF_CONFIG'
# a comment

rule moe silu_dance = dance $type0 x$1
family copy *tango*
	nickname Cijk_*_MT128x64x32_* = the small one
rule gem x = y
sort = time
rule gemm x = $foo
nickname alone
EOF_CONFIG
printf '%s\n' 'void my::silu_dance<float, 3>(int)' tango_f32 "$gemm" _ZN1a4restEv | "$top" names --family >"$work/out" 2>"$work/err"
is "configuration: rules, families and nicknames are applied" "$(tr '\n' '|' <"$work/out")" \
    "moe	dance f32 x3|copy	tango_f32|gemm	the small one|other	rest|"
is "configuration: each wrong line is reported with file and line" "$(sed 's/^rtl-top: \(.*:[0-9]*:\) .*/\1/' "$work/err")" \
    "$(for line in 6 7 8 9; do echo "$config:$line:"; done)"
has "configuration: an unknown family is reported with the known ones" "$(cat "$work/err")" "'gem' is not a family; the families are gemm attention"
has "configuration: a wrong line is reported with its form" "$(cat "$work/err")" 'write it as: nickname PATTERN = TEXT'
is "configuration: is read from HOME without XDG_CONFIG_HOME" "$(mkdir -p "$work/home/.config" && cp -r "$work/config/rtl-top" "$work/home/.config/" &&
    echo "$gemm" | env -u XDG_CONFIG_HOME HOME="$work/home" "$top" names 2>/dev/null)" 'the small one'
is "configuration: a relative XDG_CONFIG_HOME is ignored" "$(cd "$work" && echo "$gemm" | XDG_CONFIG_HOME=config HOME=/nowhere "$top" names 2>&1)" \
    'gemm TN bf16 128x64x32 MI16x16x1'
cat >"$config" <<'EOF_CONFIG'
nickname silu_dance = by its own name
nickname my::tan* = with its namespace
nickname void*rumba<float>(int) = by its full name
nickname _Z5polka* = mangled
EOF_CONFIG
is "configuration: nicknames match short, full and mangled names" "$(printf '%s\n' 'void my::silu_dance<float>(int)' \
    'void my::tango<int>(float*)' 'void rumba<float>(int)' _Z5polkai 'void a::silu_dancer<int>()' | "$top" names 2>&1 | tr '\n' '|')" \
    'by its own name|with its namespace|by its full name|mangled|silu_dancer<i32>|'
{
    echo "rule gemm x = $(printf 'word %.0s' $(seq 150))\$typo"
    echo rule
    echo 'nickname x = y # z'
} >"$config"
echo x | "$top" names >"$work/out" 2>"$work/err"
has "configuration: a mistake in a long line is reported" "$(cat "$work/err")" ':1: word .*: there is no such .\$.; see NAMES in rtl-top\(1\)$'
has "configuration: an incomplete line is reported" "$(cat "$work/err")" ':2: write it as: rule FAMILY PATTERN = WORDS$'
is "configuration: only a line that begins with # is a comment" "$(cat "$work/out")" 'y # z'
yes 'wrong line' | head -n 100 >"$config"
is "configuration: many wrong lines are reported in few" "$(echo x | "$top" names 2>&1 >/dev/null | wc -l)" 11
head -c 300000 /dev/zero | tr '\0' '\n' >"$config"
has "configuration: a file that is too long is reported" "$(echo x | "$top" names 2>&1)" 'has more than 262144 bytes; continuing without it'
rm "$config"
mkfifo "$config"
has "configuration: a pipe is not read" "$(echo x | timeout 60 "$top" names 2>&1)" 'is not a regular file; continuing without it'
rm "$config"
printf 'nickname x = \033[2J' >"$config"
is "configuration: control characters of a nickname are escaped" "$(echo x | "$top" names)" '\x1b[2J'
finish

#!/bin/sh
# Kernel names as they are shown: readable by a written rule (tests/e2e/name-rule), on a list and on names that nobody looked
# at while the rules were made; rtl-top names; the user's own rules.
. "$(dirname "$0")/tap.sh"

top=$PWD/$O/rtl-top
list=tests/fixtures/kernel-names.txt
apart=tests/fixtures/kernel-names-apart.txt

# --- the rule, first on cells that are wrong ---
cells() { "$top" names -w "$1" <"$2"; }
judged() { # LIST WIDTH: how many per mille are bad
    cells "$2" "$1" | tests/e2e/name-rule "$1" | awk '{ printf "%d\n", 1000 * $1 / $3 + 0.999; exit }'
}
reasons() { printf '%s\n' "$2" >"$work/one"; printf '%s\n' "$1" | tests/e2e/name-rule -v "$work/one" | sed -n '1s/\t.*//p'; }
gemm=Cijk_Alik_Bljk_BBS_BH_MT128x64x32_MI16x16x1_SN
silu='void at::native::vectorized_elementwise_kernel<4, at::native::silu_kernel(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)'
is "the rule takes a good name" "$(reasons 'vec4 silu bf16' "$silu")" ""
is "a hash is not readable" "$(reasons 'vec4 silu bf16~a48' "$silu")" hash
is "nor is what says nothing" "$(reasons 'vec4 silu bf16 array<char*,2>' "$silu")" plumbing
is "the operation has to be there" "$(reasons 'vec4 bf16' "$silu")" operation
is "and the type" "$(reasons 'vec4 silu' "$silu")" type
is "and a tile" "$(reasons 'gemm TN bf16' "$gemm")" tile
is "and which operand is transposed" "$(reasons 'gemm bf16 128x64x32' "$gemm")" operation
printf '%s\n' "$gemm" "${gemm}_SK3" >"$work/two"
is "two rows that look the same are both bad" "$(printf 'gemm TN bf16 128x64x32\n%.0s' 1 2 | tests/e2e/name-rule "$work/two")" '1 of 2'

# --- the aim: at most 5 % in the cell of an 80-column screen (30 and more), 1 % in that of 120 columns and wider ---
check "the list has 260 names" test "$(wc -l <$list)" = 260
check "the names apart are more than 300" test "$(wc -l <$apart)" -gt 300
is "none of them is in the list" "$(sort $list $apart | uniq -d)" ""
for at in 30:50 43:50 58:10 100:10; do
    check "of the list at most ${at#*:} per mille are bad in ${at%:*} columns" test "$(judged $list "${at%:*}")" -le "${at#*:}"
    check "of the names apart at most ${at#*:} per mille are bad in ${at%:*} columns" test "$(judged $apart "${at%:*}")" -le "${at#*:}"
done
cut -f3 tests/fixtures/kernels.tsv | grep -v '^#' >"$work/launched"
check "of the kernels of real programs at most 50 per mille are bad in 43 columns" test "$(judged "$work/launched" 43)" -le 50

# --- rtl-top names ---
is "different names never look alike, at any width" "$(for width in 16 20 26 34 43 58 80 100; do
    cells $width $list | sort | uniq -d
    cells $width $apart | sort | uniq -d
done)" ""
is "a line each, in order, and the same for the same name" "$(printf '%s\n' "$silu" '' "$gemm" "$silu" | "$top" names | tr '\n' '|')" \
    'vec4 silu bf16||gemm TN bf16 128x64x32 MI16x16x1|vec4 silu bf16|'
is "with the family" "$(printf '%s\n' "$silu" "$gemm" | "$top" names --family | cut -f1 | tr '\n' ' ')" 'elementwise gemm '
is "in another form" "$(printf '%s\n' _ZN2ns1fIfEEvT_ | "$top" names --names template)" 'ns::f<float>'
is "no wider than asked for, in ASCII" "$("$top" names -w 12 -U <$list | LC_ALL=C grep -cE '[^ -~]|.{13}')" 0
is "nothing in, nothing out" "$("$top" names </dev/null)" ""
is "a hostile name is escaped" "$(printf 'a\033[2Jb\n' | "$top" names)" 'a\x1b[2Jb'
refuses() { # PATTERN ARGS...: one line that says why, status 1
    pattern=$1
    shift
    "$top" names "$@" >"$work/out" 2>"$work/err"
    [ $? = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -qE "^rtl-top: .*$pattern" "$work/err"
}
check "-w 0 is refused" refuses '-w needs columns from 1' -w 0 </dev/null
check "-w x is refused" refuses "not 'x'" -w x </dev/null
check "an unknown form is refused" refuses 'needs short, template' --names long </dev/null
check "an unknown option is refused" refuses 'no option --wide; did you mean --width\?' --wide </dev/null
check "a file is read from standard input" refuses 'rtl-top names <FILE' "$list" </dev/null
head -c 70000 /dev/zero | tr '\0' a >"$work/long"
check "a line without end is refused" refuses 'more than 65536 bytes' <"$work/long"
seq 20000 >"$work/many"
check "as are more names than there are rows" refuses 'more than 16384 different names' <"$work/many"
printf 'a\nb\0c\n' >"$work/nul"
check "what is no text is refused" refuses 'line 2 contains a zero byte' <"$work/nul"
(head -c 70000 /dev/zero; echo) >"$work/zeros"
check "however long it is" refuses 'line 1 contains a zero byte' <"$work/zeros"
check "a folder is refused" refuses 'cannot read standard input: Is a directory' <"$work"
unwritten() { # REDIRECTION WORDS: an endless list ends when nobody can take what is printed: one line, status 12
    yes | timeout 60 sh -c "exec '$top' names $1" 2>"$work/err"
    status=$?
    cat "$work/err"
    [ "$status" = 12 ] && grep -qE "^rtl-top: cannot write to standard output: $2" "$work/err" && [ "$(wc -l <"$work/err")" = 1 ]
}
check "a full disk is told" unwritten '>/dev/full' 'No space'
check "a closed output is told" unwritten '>&-' 'Bad file descriptor'
"$top" names <$list >&- 2>"$work/err" # its names make it open descriptors, which must not become that of the output
is "however many others are opened" "$? $(cat "$work/err")" '12 rtl-top: cannot write to standard output: Bad file descriptor'
has "on a terminal it says what it waits for" \
    "$(printf 'tango_f32\n\004' | script -qec "'$top' names" /dev/null)" '^rtl-top: reading names from the terminal, one a line; Ctrl-D ends'
check "a reader that has enough is no error" sh -c "'$top' names <'$PWD/$list' | head -n 1"
check "--help of the command is its own" sh -c "'$top' names --help | grep -q '^usage: rtl-top names '"
is "wherever it stands" "$("$top" names -w 3 --help 2>&1; "$top" diff a.db --fail-over 3 -h b.db 2>&1)" \
    "$("$top" names --help; "$top" diff --help)"
check "behind -- it is an argument" refuses 'not .--help.' -- --help </dev/null

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
is "rules, families and nicknames are taken" "$(tr '\n' '|' <"$work/out")" \
    "moe	dance f32 x3|copy	tango_f32|gemm	the small one|other	rest|"
is "each wrong line is told with file and line" "$(sed 's/^rtl-top: \(.*:[0-9]*:\) .*/\1/' "$work/err")" \
    "$(for line in 6 7 8 9; do echo "$config:$line:"; done)"
has "with what to do about it" "$(cat "$work/err")" "'gem' is not a family; the families are gemm attention"
has "and what a line wants to be" "$(cat "$work/err")" 'write it as: nickname PATTERN = TEXT'
is "HOME is where it is without XDG_CONFIG_HOME" "$(mkdir -p "$work/home/.config" && cp -r "$work/config/rtl-top" "$work/home/.config/" &&
    echo "$gemm" | env -u XDG_CONFIG_HOME HOME="$work/home" "$top" names 2>/dev/null)" 'the small one'
is "a relative XDG_CONFIG_HOME is none" "$(cd "$work" && echo "$gemm" | XDG_CONFIG_HOME=config HOME=/nowhere "$top" names 2>&1)" \
    'gemm TN bf16 128x64x32 MI16x16x1'
cat >"$config" <<'EOF_CONFIG'
nickname silu_dance = by its own name
nickname my::tan* = with its namespace
nickname void*rumba<float>(int) = by its full name
nickname _Z5polka* = mangled
EOF_CONFIG
is "nicknames are for what is seen, for full names and for mangled ones" "$(printf '%s\n' 'void my::silu_dance<float>(int)' \
    'void my::tango<int>(float*)' 'void rumba<float>(int)' _Z5polkai 'void a::silu_dancer<int>()' | "$top" names 2>&1 | tr '\n' '|')" \
    'by its own name|with its namespace|by its full name|mangled|silu_dancer<i32>|'
{
    echo "rule gemm x = $(printf 'word %.0s' $(seq 150))\$typo"
    echo rule
    echo 'nickname x = y # z'
} >"$config"
echo x | "$top" names >"$work/out" 2>"$work/err"
has "what is wrong with a long line is told" "$(cat "$work/err")" ':1: word .*: there is no such .\$.; see NAMES in rtl-top\(1\)$'
has "and with a word alone" "$(cat "$work/err")" ':2: write it as: rule FAMILY PATTERN = WORDS$'
is "only a line that begins with # is a comment" "$(cat "$work/out")" 'y # z'
yes 'wrong line' | head -n 100 >"$config"
is "many wrong lines are told in few" "$(echo x | "$top" names 2>&1 >/dev/null | wc -l)" 11
head -c 300000 /dev/zero | tr '\0' '\n' >"$config"
has "a file that is too long is told" "$(echo x | "$top" names 2>&1)" 'has more than 262144 bytes; continuing without it'
rm "$config"
mkfifo "$config"
has "a pipe is not waited for" "$(echo x | timeout 60 "$top" names 2>&1)" 'is not a regular file; continuing without it'
rm "$config"
printf 'nickname x = \033[2J' >"$config"
is "what it says controls no terminal" "$(echo x | "$top" names)" '\x1b[2J'
finish

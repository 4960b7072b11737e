#!/bin/sh
# The manual pages, README and CONTRIBUTING agree with the programs and the shared tables.
# shellcheck disable=SC2013 # words are wanted
. "$(dirname "$0")/tap.sh"

for page in man/*.[0-9]; do
    is "$page is a clean manual page" "$(mandoc -Tlint -Wwarning "$page" 2>&1)" ""
done

# --- librtl(7) against src/shm/tables.h and hip_api.h, both ways ---
cat >"$work/tables.c" <<'EOF'
#include "shm/hip_api.h"
#include "shm/tables.h"
#define MODE(sym, num, name, text) @Sh MODES@name@text@
#define REASON(sym, num, key, text, writer) @Sh WHY@key@text@
#define COPY_REASON(sym, num, key, text, writer) @Sh WHY@key@text@
#define NOTE(sym, bit, key, text) @Sh NOTES@key@text@
#define WAY(sym, num, key, text) @Sh WAYS@key@text@
RTL_MODES(MODE)
RTL_UNTIMED_REASONS(REASON)
RTL_COPY_REASONS(COPY_REASON)
RTL_NOTES(NOTE)
RTL_QUEUE_PATHS(WAY)
RTL_PATH_REASONS(WAY)
RTL_HIP_API_UNLINKED(WAY)
EOF
${CC:-gcc} -Isrc -E -P "$work/tables.c" | tr '@' '\n' | sed -n 's/^"\(.*\)"$/\1/p' | paste -d'|' - - | sort >"$work/in-tables"
awk '/^\.Sh/ { part = $2 } /^\.It Cm/ { key = $3; getline; if (part != "DESCRIPTION") print key "|" $0 }' man/librtl.7 |
    sort >"$work/in-man"
is "librtl(7): lists exactly the modes, reasons, notes and paths of the tables, in their words" \
    "$(diff "$work/in-tables" "$work/in-man")" ""
check "librtl(7): lists over 20 modes, reasons, notes and paths" test "$(wc -l <"$work/in-tables")" -gt 20

# doc/use.md's table of modes, word by word
cat >"$work/modes.c" <<'EOF'
#include "shm/tables.h"
#define MODE(sym, num, name, text) @name@text@
RTL_MODES(MODE)
EOF
${CC:-gcc} -Isrc -E -P "$work/modes.c" | tr '@' '\n' | sed -n 's/^"\(.*\)"$/\1/p' | paste -d'|' - - >"$work/modes"
# shellcheck disable=SC2016 # backquotes of the text
sed -n '/^| .RTL_MODE/,/^$/s/^| `\([a-z]*\)` | \(.*\) |$/\1|\2/p' doc/use.md >"$work/in-readme"
check "tables.h: has over 3 modes" test "$(wc -l <"$work/modes")" -gt 3
is "doc/use.md: lists every mode in the words of the table" "$(diff "$work/modes" "$work/in-readme")" ""

for variable in $(grep -rhoE 'getenv\("[A-Z_]+"\)' src | sed 's/.*"\(.*\)".*/\1/' | grep ^RTL_ | sort -u); do
    check "librtl(7) or rtl-top(1) explains $variable" grep -qE "Ev $variable" man/librtl.7 man/rtl-top.1
done

# librtl(7) against the variables that the library publishes
cat >"$work/environment.c" <<'EOF'
#include "shm/tables.h"
#define VARIABLE(name, use) @name@
RTL_ENVIRONMENT(VARIABLE)
EOF
${CC:-gcc} -Isrc -E -P "$work/environment.c" | tr '@' '\n' | sed -n 's/^"\(.*\)"$/\1/p' | sort >"$work/in-tables"
sed -n '/^The library also reads/,/^\.Sh/s/^\.Ev //p' man/librtl.7 | tr -d ' ' | tr ',' '\n' | grep . | sort >"$work/in-man"
is "librtl(7): lists exactly the variables that the library publishes" "$(diff "$work/in-tables" "$work/in-man")" ""

# rtl-top(1) against the families of kernels and the lines of the configuration
cat >"$work/names.c" <<'EOF'
#include "options/config.h"
#define FAMILY(sym, name, text) @name@text@
#define LINE(sym, word, form, text) @word@text@
RTL_NAME_FAMILIES(FAMILY)
RTL_CONFIG_LINES(LINE)
EOF
${CC:-gcc} -Isrc -E -P "$work/names.c" | tr '@' '\n' | sed -n 's/^"\(.*\)"$/\1/p' | paste -d'|' - - | sort >"$work/in-tables"
awk '/^\.Sh/ { part = $2 } /^\.It Cm/ && part == "NAMES" { key = $3; getline; print key "|" $0 }' man/rtl-top.1 | sort >"$work/in-man"
is "rtl-top(1): lists every family and every line of the configuration" "$(diff "$work/in-tables" "$work/in-man")" ""
check "rtl-top(1): lists over 10 families and lines" test "$(wc -l <"$work/in-tables")" -gt 10
# shellcheck disable=SC2016 # expanded by the inner shell
check "rtl-top(1): explains every \$ of a rule" sh -c 'for word in $(sed -n "s/^ \* *\(\$[a-z{}]*\)[0-9]* .*/\1/p" src/text/names_rules.h); do
    grep -qF -e "$word" man/rtl-top.1 || { echo "$word"; exit 1; }
done'

# rtl-top(1) against the fields of probe --json that the sources write
grep -ohE '(put_[a-z]+|(object|array)_in|put)\(&?w, [a-z]+, "[a-z0-9_]+"|put_histogram\(w, o, s->[a-z_]+, "[a-z]+"' src/command/probe_report.c \
    src/command/json_probe.c | grep -oE '"[a-z0-9_]+"' | tr -d '"' | sort -u | grep -vxF -e stage -e code_bytes -e probe >"$work/in-tables"
awk '/^The object has$/ { on = 1 } /^On the screen$/ { on = 0 } on && /Li / { sub(/^.*Li /, ""); gsub(/[,;:.]/, ""); gsub(/ +/, "\n"); print }' \
    man/rtl-top.1 | grep -v '^$' | sort -u >"$work/in-man"
is "rtl-top(1): lists exactly the fields of probe --json" "$(diff "$work/in-tables" "$work/in-man")" ""
check "rtl-top(1): lists over 50 fields of probe --json" test "$(wc -l <"$work/in-tables")" -gt 50

# rtl-top-serve(1) against its metrics
cat >"$work/metrics.c" <<'EOF'
#include "serve/metrics.h"
#define METRIC(sym, name, type, labels, text) ROW name text #type labels
RTL_METRICS(METRIC)
EOF
${CC:-gcc} -Isrc -E -P "$work/metrics.c" | tr '\n' ' ' | sed 's/ROW/\n/g' | awk -F '"' 'NF > 8 {
    gsub(",", ", ", $8); print $2 "|" $4 "|" tolower($6) ($8 == "" ? "" : "; by " $8) }' >"$work/in-tables"
awk '/^\.Sh/ { part = $2 } /^\.It Cm/ && part == "METRICS" { key = $3; getline; text = $0; getline; getline; print key "|" text "|" $0 }' \
    man/rtl-top-serve.1 >"$work/in-man"
is "rtl-top-serve(1): lists every metric in the words of the table" "$(diff "$work/in-tables" "$work/in-man")" ""
check "rtl-top-serve(1): lists over 30 metrics" test "$(wc -l <"$work/in-tables")" -gt 30

# --- rtl-top --help all against rtl-top(1) ---
"$O/rtl-top" --help all >"$work/help"
list_options() { grep -oE -e '(^|[^[:alnum:]-])--?[[:alpha:]][[:alnum:]-]*' | grep -oE -e '--?[[:alpha:]].*' | sort -u; }
list_options <"$work/help" >"$work/in-help"
mandoc -Tascii man/rtl-top.1 | sed 's/.\x08//g' | list_options >"$work/in-page"
check "rtl-top --help all lists options" test "$(wc -l <"$work/in-help")" -gt 10
is "rtl-top(1): explains every option of --help all" "$(comm -23 "$work/in-help" "$work/in-page")" ""

# --- README and CONTRIBUTING name only things that exist ---
make -s help >"$work/targets"
for target in $(cat README.md doc/*.md CONTRIBUTING.md | grep -oE '(^|[`(]|sudo )make [a-z][a-z-]+' | awk '{ print $NF }' | sort -u); do
    check "README, doc: make $target is a target" grep -qE "^make $target " "$work/targets"
done
for option in $(grep -ohE 'rtl-top -[^|&;`]*' README.md doc/*.md | list_options); do
    check "README, doc: rtl-top has option $option" grep -qxF -e "$option" "$work/in-help"
done
# shellcheck disable=SC2016 # backquotes of the text
for path in $(grep -ohE '`(src|tests|tools|man|\.ci)/[A-Za-z0-9_./-]*`' README.md doc/*.md CONTRIBUTING.md tests/vgpu/README.md | tr -d '`' | sort -u); do
    check "README, doc: $path exists" test -e "$path"
done
for package in $(sed -n '/apt-get install/,/^```/p' README.md | tr -s ' ' '\n' | grep -E '^(lib|gcc|g\+\+|hip)'); do
    check "README: tools/deps installs $package" sh -c "tools/deps --print build gpu unit test | grep -qxF '$package'"
done
for command in $(grep -ohE '(^|`)rtl-top [a-z]+' README.md doc/*.md | awk '{ print $2 }' | sort -u); do
    check "README, doc: rtl-top $command is a command" grep -qE "^  $command  " "$work/help"
done
for link in $(grep -ohE '\]\([^)]*\.md\)' README.md | tr -d '])('); do
    check "README: its link $link exists" test -e "$link"
done
for release in $(sed -n 's/^#define RTL_RELEASES_TESTED "\(.*\)"/\1/p' src/base/version.h | tr -d ,); do
    check "doc/verified.md: lists release $release" grep -q "^| ROCr $release" doc/verified.md
    check "README: lists release $release" grep -qF "$release" README.md
done
# shellcheck disable=SC2016 # backquotes of the text
grep -oE '`[A-Za-z0-9_]+` in `[a-z_/]+\.[ch]`' src/README.md | tr -d '`' >"$work/places"
check "src/README: names the places of at least 12 paths" test "$(wc -l <"$work/places")" -ge 36
while read -r symbol _ file; do
    check "src/README: $symbol is in src/$file" grep -qw "$symbol" "src/$file"
done <"$work/places"
check "README: has at most 150 lines" test "$(wc -l <README.md)" -le 150
check "CONTRIBUTING: has at most 170 lines" test "$(wc -l <CONTRIBUTING.md)" -le 170
finish

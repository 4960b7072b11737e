#!/bin/sh
# The repository: only sources, readable files, and nothing of the developers' machines.
. "$(dirname "$0")/tap.sh"

if git rev-parse --git-dir >/dev/null 2>&1; then files=$(git ls-files); else files=$(find . -type f ! -path './build/*' ! -path './cache/*'); fi
text=$(echo "$files" | grep -E '\.(c|h|hip|t|sh|md|[0-9])$|^(Makefile|tools/|\.ci/|tests/(run|one))')

check "repository: has over 30 text files" test "$(echo "$text" | wc -l)" -gt 30
is "repository: no file has an absolute path of a developer's machine" "$(echo "$text" | grep -v tidy.t | xargs grep -nE '(^|[^A-Za-z0-9_])/(work|home/[a-z]+|Users)/' /dev/null)" ""
is "repository: no file has the address of a package mirror" "$(echo "$text" | grep -v tidy.t | xargs grep -nE '(deb|security|ftp)\.debian\.org' /dev/null)" ""
is "repository: no file has a TODO" "$(echo "$text" | grep -v tidy.t | xargs grep -nwE 'TODO|FIXME|XXX' /dev/null)" ""
is "repository: no built file, and no file of a fuzzer" "$(echo "$files" | grep -E '\.(o|so|a|d|co|hsaco)$|(^|/)(crash|leak|oom|slow-unit|timeout)-[0-9a-f]{40}$')" ""
is "C files: each begins with a comment" "$(for file in $(echo "$files" | grep -E '\.(c|h|hip)$'); do
    head -c 2 "$file" | grep -qE '^(/\*|//)' || echo "$file"
done)" ""
is "scripts: each begins with a comment" "$(for file in $(echo "$text" | xargs grep -lE '^#! ?/bin/(ba)?sh' /dev/null); do
    sed -n 2p "$file" | grep -qE '^# ' || echo "$file"
done)" ""
is "tests: all are executable" "$(for file in $(echo "$files" | grep -E '\.t$'); do [ -x "$file" ] || echo "$file"; done)" ""
is "C files: no line ends with a blank" "$(echo "$text" | grep -E '\.(c|h|hip)$' | xargs grep -nE '[ 	]+$' /dev/null | head)" ""
# Versions of the formatter differ in details.
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    is "C files: clang-format -i changes nothing" \
        "$(echo "$files" | grep -E '\.(c|h)$' | xargs clang-format --dry-run -Werror 2>&1 | grep 'error:')" ""
fi

check "tests/mutants: its lists fit the code" tests/mutants/run --list

# --- language and names ---
is "language: no sentence breaks the rules (tests/e2e/language)" \
    "$(echo "$text" | grep -vE '^tests/e2e/language|^cache/' | xargs tests/e2e/language)" ""
printf '%s\n' '/* Of the queues, the first. */' '/* The worker is told. */' '/* The worker stops whoever waits. */' \
    '/* The worker polls. */' >"$work/bad.c"
is "language: an opening, a missing actor and a nameless one are found" \
    "$(tests/e2e/language "$work/bad.c" | sed 's/.*bad.c://' | cut -d: -f1,2)" "$(printf '%s\n' '1: opens with "Of"' \
    '2: no actor' '3: who is that')"
awk 'BEGIN { for (i = 0; i < 36; i++) printf "word "; print "end." }' >"$work/bad.md"
is "language: a sentence of 37 words in a document is found" "$(tests/e2e/language "$work/bad.md" | grep -c '37 words')" 1
is "names: a tag of a struct, enum or union is defined once" \
    "$(grep -rhoE '^(struct|enum|union) [a-z_0-9]+ \{' src | awk '{ print $2 }' | sort | uniq -d)" ""
is "names: a header's name is used once" "$(find src -name '*.h' | sed 's,.*/,,' | sort | uniq -d)" ""

# The direction between folders (CONTRIBUTING.md)
is "includes: librtl.so includes nothing of the viewer" "$(grep -rn '#include "' src/intercept src/shm/segment_writer.c src/stats/recorder.c |
    grep -vE '"(intercept/.*|base/.*|shm/(hip_api|hip_api_clock|hip_api_link|control|event_ring|hash|probe|probe_page|probe_state|segment|segment_writer|tables|trace_size)\.h|stats/(histogram|recorder)\.h)"$')" ""
is "includes: librtl-hip.so includes only contracts and arithmetic" "$(grep -rn '#include "' src/hip |
    grep -vE '"(hip/.*|base/.*|shm/(hip_api|hip_api_clock|hip_api_link|hash|tables|trace_size)\.h|stats/histogram\.h)"$')" ""
# The library's folders, from bottom to top: only load.c includes all of them.
while read -r room above; do
    is "includes: src/intercept/$room includes nothing above it" \
        "$(grep -rnE "#include \"intercept/($above)[/.]" "src/intercept/$room")" ""
done <<'EOF'
base track|worker|hooks|load
track worker|hooks|load
worker hooks|load
hooks load
EOF
# No circles of any length, between files (a .c counts with its .h as one) and between folders
is "includes: no circle of files" "$(tests/e2e/circles src)" ""
is "includes: no circle of folders" "$(tests/e2e/circles --folders src)" ""
# Nor by calls of functions that a third file declares; a build has the objects.
if [ -e "$O/obj/pic/src/intercept/load.o" ] && [ -e "$O/obj/exe/src/main.o" ]; then
    for folder in src/*/; do
        objects=$O/obj/exe:$O/obj/pic
        case $folder in src/intercept/ | src/hip/) objects=$O/obj/pic ;; esac
        is "calls: no circle of files in ${folder%/}" "$(tests/e2e/circles --objects "$objects" "${folder%/}" 2>&1)" ""
    done
    # (Without hip: it exports functions with HIP's names, and is in no program.)
    # shellcheck disable=SC2046 # a list
    is "calls: no circle of folders" "$(tests/e2e/circles --folders --objects "$O/obj/exe:$O/obj/pic" \
        $(find src -mindepth 1 -maxdepth 1 ! -name hip) 2>&1)" ""
fi
mkdir -p "$work/src/low" "$work/src/high"
echo '#include "low/b.h"' >"$work/src/low/a.c"
echo '#include "high/c.h"' >"$work/src/low/b.c"
: >"$work/src/low/b.h"
: >"$work/src/high/c.h"
find_circles() { (cd "$work" && "$OLDPWD/tests/e2e/circles" "$@" src); }
is "circles: finds none if files only include lower ones" "$(find_circles)$(find_circles --folders)" ""
echo '#include "low/a.h"' >"$work/src/high/d.c"
is "circles: finds two folders that include each other" "$(find_circles)$(find_circles --folders)" "src/high src/low"
echo '#include "low/a.h"' >"$work/src/high/c.h"
is "circles: finds three files in a circle" "$(find_circles)" "src/high/c src/low/a src/low/b"
viewer='src/observe src/probe src/text src/model src/options src/launch src/watch src/probing src/command src/serve src/tui src/main.c'
# shellcheck disable=SC2086 # a list
is "includes: the viewer includes nothing of the library" "$(grep -rnE '#include "intercept/|shm/segment_writer|stats/recorder' $viewer)" ""
# Each folder of the viewer, and the folders above it, which it must not include
while read -r room above; do
    is "includes: src/$room includes nothing above it" "$(grep -rnE "#include \"($above)/" "src/$room")" ""
done <<'EOF'
base shm|stats|observe|probe|text|model|options|launch|watch|probing|command|serve|tui|record|intercept
shm stats|observe|probe|text|model|options|launch|watch|probing|command|serve|tui|record|intercept
stats observe|probe|text|model|options|launch|watch|probing|command|serve|tui|record|intercept
observe probe|text|model|options|launch|watch|probing|command|serve|tui|record|intercept
probe stats|observe|text|model|options|launch|watch|probing|command|serve|tui|record|intercept
text observe|probe|model|options|launch|watch|probing|command|serve|tui|record
model observe|probe|options|launch|watch|probing|command|serve|tui|record
record observe|probe|text|model|options|launch|watch|probing|command|serve|tui
options launch|watch|probing|command|serve|tui
launch watch|probing|command|serve|tui
watch probing|command|serve|tui
probing options|launch|watch|command|serve|tui
command serve|tui
serve command|tui
tui command|serve
EOF
is "includes: the recorder includes nothing of the library" "$(grep -nE '#include "intercept/|shm/segment_writer|stats/recorder' src/record/*.c src/record/*.h)" ""
check "includes: only one file includes curses" test "$(grep -lE '#include <n?curses' src -r | wc -l)" -le 1
is "includes: only the database layer includes SQLite" "$(grep -rlE '#include <sqlite3' src | grep -vE '^src/record/db(_[a-z]+)?\.[ch]$')" ""
is "includes: only the database layer includes its headers" "$(grep -rlE '#include "record/db_' src | grep -vE '^src/record/db(_[a-z]+)?\.[ch]$')" ""
is "repository: the version is in one place" "$(grep -rnE '"[0-9]+\.[0-9]+\.[0-9]+"' src | grep -v '^src/base/version\.h:')" ""
is "repository: only one file reads clocks, and one a process's CPU time" \
    "$(grep -rn 'clock_gettime' src | grep -vE '^src/(base/clock\.h|text/demangle\.c):')" ""
is "includes: only one file includes libmicrohttpd" "$(grep -rlE '#include <microhttpd' src)" src/serve/http.c
is "includes: only one file includes zlib" "$(grep -rlE '#include <zlib' src)" src/record/sink.c
# One place escapes the messages on standard error. The screen's message about a crash is constant text, and /dev/stderr
# may be an output.
# shellcheck disable=SC2086 # a list
is "repository: only rtl_complain and the progress line write to standard error" "$(grep -rnwE 'stderr|perror|STDERR_FILENO' $viewer src/record src/shm |
    grep -vE '^src/(options/complain|record/outfile)\.c:|^src/tui/screen_curses\.c:.*write_all\(STDERR_FILENO, text, sizeof text')" ""
finish

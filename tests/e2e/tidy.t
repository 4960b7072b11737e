#!/bin/sh
# The repository itself: sources only, readable files, nothing of the machine that they were written on.
. "$(dirname "$0")/tap.sh"

if git rev-parse --git-dir >/dev/null 2>&1; then files=$(git ls-files); else files=$(find . -type f ! -path './build/*' ! -path './cache/*'); fi
text=$(echo "$files" | grep -E '\.(c|h|hip|t|sh|md|[0-9])$|^(Makefile|tools/|\.ci/|tests/(run|one))')

check "it has files" test "$(echo "$text" | wc -l)" -gt 30
is "no absolute path of a developer's machine" "$(echo "$text" | grep -v tidy.t | xargs grep -nE '(^|[^A-Za-z0-9_])/(work|home/[a-z]+|Users)/' /dev/null)" ""
is "no address of a package mirror" "$(echo "$text" | grep -v tidy.t | xargs grep -nE '(deb|security|ftp)\.debian\.org' /dev/null)" ""
is "nothing left to be done later" "$(echo "$text" | grep -v tidy.t | xargs grep -nwE 'TODO|FIXME|XXX' /dev/null)" ""
is "no built file, and nothing that a fuzzer found" "$(echo "$files" | grep -E '\.(o|so|a|d|co|hsaco)$|(^|/)(crash|leak|oom|slow-unit|timeout)-[0-9a-f]{40}$')" ""
is "every C file opens with what it is for" "$(for file in $(echo "$files" | grep -E '\.(c|h|hip)$'); do
    head -c 2 "$file" | grep -qE '^(/\*|//)' || echo "$file"
done)" ""
is "every script says what it is for" "$(for file in $(echo "$text" | xargs grep -lE '^#! ?/bin/(ba)?sh' /dev/null); do
    sed -n 2p "$file" | grep -qE '^# ' || echo "$file"
done)" ""
is "tests are executable" "$(for file in $(echo "$files" | grep -E '\.t$'); do [ -x "$file" ] || echo "$file"; done)" ""
is "lines end without blanks" "$(echo "$text" | grep -E '\.(c|h|hip)$' | xargs grep -nE '[ 	]+$' /dev/null | head)" ""
# the style is that of one version of the formatter: others differ in details
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    is "C code is in the house style (clang-format -i)" \
        "$(echo "$files" | grep -E '\.(c|h)$' | xargs clang-format --dry-run -Werror 2>&1 | grep 'error:')" ""
fi

check "the lists of small faults fit the code" tests/mutants/run --list

# the direction between the parts (CONTRIBUTING.md)
is "the library includes nothing of the viewer" "$(grep -rn '#include "' src/intercept src/shm/segment_writer.c src/stats/recorder.c |
    grep -vE '"(intercept/.*|base/.*|shm/(hip_api|hip_api_clock|hip_api_link|control|event_ring|hash|probe|probe_page|probe_state|segment|segment_writer|tables|trace_size)\.h|stats/(histogram|recorder)\.h)"$')" ""
is "librtl-hip.so includes nothing but contracts and arithmetic" "$(grep -rn '#include "' src/hip |
    grep -vE '"(hip/.*|base/.*|shm/(hip_api|hip_api_clock|hip_api_link|hash|tables|trace_size)\.h|stats/histogram\.h)"$')" ""
# its rooms, from the bottom to the top: load.c alone knows all of them
while read -r room above; do
    is "src/intercept/$room includes nothing of what is built on it" \
        "$(grep -rnE "#include \"intercept/($above)[/.]" "src/intercept/$room")" ""
done <<'EOF'
base track|worker|hooks|load
track worker|hooks|load
worker hooks|load
hooks load
EOF
# No circles, between files (a .c counts with its .h as one) and between folders, however far round they go
is "no file includes another that includes it" "$(tests/e2e/circles src)" ""
is "nor does a folder" "$(tests/e2e/circles --folders src)" ""
# nor by functions that a third file declares; objects are there behind a build
if [ -e "$O/obj/pic/src/intercept/load.o" ] && [ -e "$O/obj/exe/src/main.o" ]; then
    is "nor do functions of the library's files call each other in a circle" \
        "$(tests/e2e/circles --objects "$O/obj/pic" src/intercept 2>&1)" ""
    is "nor do those of librtl-hip.so's" "$(tests/e2e/circles --objects "$O/obj/pic" src/hip 2>&1)" ""
    # (which exports names of HIP's, and is in no program)
    # shellcheck disable=SC2046 # a list
    is "nor those of folders" "$(tests/e2e/circles --folders --objects "$O/obj/exe:$O/obj/pic" \
        $(find src -mindepth 1 -maxdepth 1 ! -name hip) 2>&1)" ""
fi
mkdir -p "$work/src/low" "$work/src/high"
echo '#include "low/b.h"' >"$work/src/low/a.c"
echo '#include "high/c.h"' >"$work/src/low/b.c"
: >"$work/src/low/b.h"
: >"$work/src/high/c.h"
circles() { (cd "$work" && "$OLDPWD/tests/e2e/circles" "$@" src); }
is "what includes only what is below it is no circle" "$(circles)$(circles --folders)" ""
echo '#include "low/a.h"' >"$work/src/high/d.c"
is "two folders that need each other are one" "$(circles)$(circles --folders)" "src/high src/low"
echo '#include "low/a.h"' >"$work/src/high/c.h"
is "and three files that do, too" "$(circles)" "src/high/c src/low/a src/low/b"
viewer='src/observe src/probe src/text src/model src/options src/launch src/watch src/probing src/command src/serve src/tui src/main.c'
# shellcheck disable=SC2086 # a list
is "the viewer includes nothing of the library" "$(grep -rnE '#include "intercept/|shm/segment_writer|stats/recorder' $viewer)" ""
# each room of the viewer, and what is built on it, which it must not look into
while read -r room above; do
    is "src/$room includes nothing of what is built on it" "$(grep -rnE "#include \"($above)/" "src/$room")" ""
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
is "the recorder includes nothing of the library" "$(grep -nE '#include "intercept/|shm/segment_writer|stats/recorder' src/record/*.c src/record/*.h)" ""
check "only one file includes curses" test "$(grep -lE '#include <n?curses' src -r | wc -l)" -le 1
is "only the files of the database layer include SQLite" "$(grep -rlE '#include <sqlite3' src | grep -vE '^src/record/db(_[a-z]+)?\.[ch]$')" ""
is "and are included by nobody else" "$(grep -rlE '#include "record/db_' src | grep -vE '^src/record/db(_[a-z]+)?\.[ch]$')" ""
is "the version is said in one place" "$(grep -rnE '"[0-9]+\.[0-9]+\.[0-9]+"' src | grep -v '^src/base/version\.h:')" ""
is "clocks are read in one place, but for a helper's CPU time" \
    "$(grep -rn 'clock_gettime' src | grep -vE '^src/(base/clock\.h|text/demangle\.c):')" ""
is "only one file includes libmicrohttpd" "$(grep -rlE '#include <microhttpd' src)" src/serve/http.c
is "only one file includes zlib" "$(grep -rlE '#include <zlib' src)" src/record/sink.c
# what is told on standard error is escaped in one place; a crash on the screen has a text of its own there, and
# /dev/stderr may be an output
# shellcheck disable=SC2086 # a list
is "only rtl_complain and the line of progress write to standard error" "$(grep -rnwE 'stderr|perror|STDERR_FILENO' $viewer src/record src/shm |
    grep -vE '^src/(options/complain|options/progress|record/outfile)\.c:|^src/tui/screen_curses\.c:.*write_all\(STDERR_FILENO, text, sizeof text')" ""
finish

#!/bin/sh
# Tracing beside rocprofiler-sdk: stand-ins for rocprofiler-register and the SDK, and the real runtime, which loads its
# tools like AMD's. HSA_TOOLS_ROCPROFILER_V1_TOOLS=1 loads both; a preloaded librtl.so needs no HSA_TOOLS_LIB.
# shellcheck disable=SC2034 # intercept.sh reads them
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

unset HSA_TOOLS_LIB HSA_TOOLS_ROCPROFILER_V1_TOOLS ROCP_TOOL_LIBRARIES ROCPROFILER_REGISTER_LIBRARY LD_PRELOAD RTL_MODE
rtl=$tap_top/$O/librtl.so
programs=$tap_top/$O/tests/programs
sdk=$programs/register_sdk_preload.so
REGISTER_LOG=$work/registered
export REGISTER_LOG
gpu="--preload $programs/register_getenv_preload.so"

check_untraced() { # NAME
    is "$1: there is no segment" "$(dump_segment counted | head -n 1 | grep -c '^counted')" 0
    close_scene
    is "$1: exit status is 0" "$status" 0
}
check_all_counted() { # NAME
    check "$1: every dispatch is settled" wait_until 60 settled 0
    check "$1: counts equal the program's" counted_as_launched
    is "$1: the segment has no note" "$(dump_segment note)" ""
    close_scene
    is "$1: exit status is 0" "$status" 0
}

# --- the stand-ins without the library ---
queue_paths() { # print the queue paths that check shows
    "$tap_top/$O/rtl-top" check -p "$program" | sed -n 's/^ok     queues //p'
}
tools=$rtl
play any
way=$(queue_paths)
check_all_counted "no SDK, HSA_TOOLS_LIB"
is "no SDK: the runtime registers its table" "$(cat "$REGISTER_LOG")" "registered hsa 1 1"
ROCPROFILER_REGISTER_LIBRARY=$sdk
export ROCPROFILER_REGISTER_LIBRARY
play any
check_untraced "an SDK, HSA_TOOLS_LIB ignored"
has "an SDK: it has wrapped the table" "$(cat "$work/err")" '^sdk: [1-9][0-9]* queues'

# --- the runtime loads both ---
HSA_TOOLS_ROCPROFILER_V1_TOOLS=1
export HSA_TOOLS_ROCPROFILER_V1_TOOLS
play any
has "without the SDK: check reports live queues" "$way" live
is "both by HSA_TOOLS_ROCPROFILER_V1_TOOLS: queues have the same path as without the SDK" "$(queue_paths)" "$way"
check_all_counted "both by HSA_TOOLS_ROCPROFILER_V1_TOOLS"
has "both by HSA_TOOLS_ROCPROFILER_V1_TOOLS: the SDK has its queues" "$(cat "$work/err")" '^sdk: [1-9][0-9]* queues'

# --- preloaded ---
preload=$rtl
rm -f "$REGISTER_LOG"
play any
check_all_counted "preloaded and listed"
is "preloaded and listed: the table is registered once" "$(cat "$REGISTER_LOG")" "registered hsa 1 0"
for REGISTER_RUNTIME in old new; do
    export REGISTER_RUNTIME
    play any
    check_all_counted "preloaded, a runtime that ignores HSA_TOOLS_LIB ($REGISTER_RUNTIME)"
    has "preloaded, $REGISTER_RUNTIME: the SDK has its queues" "$(cat "$work/err")" '^sdk: [1-9][0-9]* queues'
done
unset REGISTER_RUNTIME
REGISTER_SDK=intercept
export REGISTER_SDK
play any
check_all_counted "preloaded, an SDK with intercept queues"
has "preloaded, an SDK with intercept queues: the SDK sees every packet" "$(cat "$work/err")" '^sdk: [1-9][0-9]* queues, [0-9]{4,} packets'
unset REGISTER_SDK

# --- the runtime's end: the runtime calls no OnUnload, so the library counts hsa_init and hsa_shut_down ---
REGISTER_RUNTIME=new
export REGISTER_RUNTIME
tools=
preload=
play again # ROCr 6.4 can't start twice in a process
grep -q '^holding' "$work/out"
twice=$?
close_scene
preload=$rtl
play again
if [ "$twice" = 0 ]; then
    check "second hsa_init: every dispatch is settled, in one segment" wait_until 60 settled 0
    check "second hsa_init: counts continue" counted_as_launched
    is "second hsa_init: the state is live" "$(dump_segment state)" "state live"
    close_scene
    is "second hsa_init: exit status is 0" "$status" 0
else
    close_scene
    is "second hsa_init: exit status is that without the library" "$status" 2
fi
play opened-twice
check "opened twice, shut down once: every dispatch is settled" wait_until 60 settled 0
check "opened twice, shut down once: counts equal the program's" counted_as_launched
is "opened twice, shut down once: the state is live and every dispatch is timed" "$(dump_segment state) $(dump_segment untimed_total)" "state live untimed_total 0"
close_scene
is "opened twice, shut down once: exit status is 0" "$status" 0
play end shutdown
wait_until 60 settled 1
check "shut down with a kernel in flight: the kernel is counted" settled 1
close_scene
is "shut down with a kernel in flight: exit status is 0" "$status" 0
play fork
check "fork: every dispatch is settled" wait_until 60 settled 0
check "fork: children count nothing in the parent's segment" counted_as_launched
close_scene
is "fork: exit status is 0" "$status" 0
scenes=intercept_children
play spawn
check "spawned children: the parent's counts equal its own tally" counted_as_launched
is "spawned children: each has its own segment" \
    "$(sed -n 's/^child //p' "$work/out" | while read -r child kernel n; do "$dump" "$child" kernel | grep -c "$kernel $n"; done | tr '\n' ' ')" "1 1 "
close_scene
is "spawned children: exit status is 0" "$status" 0
scenes=
unset REGISTER_RUNTIME ROCPROFILER_REGISTER_LIBRARY HSA_TOOLS_ROCPROFILER_V1_TOOLS
tools=$rtl
preload=

# --- rtl-top run ---
top=$tap_top/$O/rtl-top
# run_under NAME OPTIONS -- PROGRAM ARGS: compare its snapshot with the truth
run_under() {
    name=$1
    shift
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    rm -f "$work/truth" "$work/run.db"
    # shellcheck disable=SC2086 # several options, or none
    "$top" run --snapshot "$work/run.db" $options -- tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} $gpu --truth "$work/truth" \
        -- "$@" >"$work/out" 2>"$work/err"
    is "$name: exit status is 0" "$?" 0
    "$top" -r "$work/run.db" --json 2>"$work/err2" | tail -n 1 >"$work/json"
    jq -r '.kernels[] | select(.calls > 0) | "\(.calls) \(.name)"' "$work/json" | sort >"$work/counted"
    awk -F'\t' 'NR > 1 && $7 !~ /^</ { n[$7]++ } END { for (k in n) print n[k], k }' "$work/truth" | sort >"$work/true"
    check "$name: counts equal the truth" diff "$work/true" "$work/counted"
    check "$name: the truth has dispatches" test -s "$work/true"
}
hip="$programs/hip_launches --launches 20000"
export ROCPROFILER_REGISTER_LIBRARY="$sdk"
# shellcheck disable=SC2086 # several words
run_under "run, beside an SDK, HIP" -- $hip
has "run, beside an SDK, HIP: the SDK has its queues" "$(cat "$work/err")" '^sdk: [1-9][0-9]* queues'
run_under "run, beside an SDK, HSA" -- "$programs/hsa_dispatch"
REGISTER_RUNTIME=new
export REGISTER_RUNTIME
# shellcheck disable=SC2086 # options
"$top" run --snapshot "$work/none.db" -- tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} $gpu -- "$programs/hsa_dispatch" >/dev/null 2>"$work/err"
is "run, a runtime that ignores HSA_TOOLS_LIB: exit status is 3" "$?" 3
# shellcheck disable=SC2086 # several words
run_under "run --preload, HIP" --preload -- $hip
run_under "run --preload, HSA" --preload -- "$programs/hsa_dispatch"
# shellcheck disable=SC2086 # several words
run_under "run --preload --mode hip" --preload --mode hip -- $hip

# --- a preloaded library in processes without ROCm ---
LD_PRELOAD=$rtl sh -c 'cat /proc/self/status; ls /proc/self/fd | wc -l' >"$work/with"
sh -c 'cat /proc/self/status; ls /proc/self/fd | wc -l' >"$work/without"
is "preloaded without ROCm: threads and descriptors are those without the library" "$(sed -n '/^Threads/p; $p' "$work/with")" "$(sed -n '/^Threads/p; $p' "$work/without")"
is "preloaded without ROCm: there is no segment" "$(LD_PRELOAD=$rtl grep -c rtl-segment /proc/self/maps)" 0

# --- rtl-top env and check ---
unset REGISTER_RUNTIME ROCPROFILER_REGISTER_LIBRARY
is "env --preload: the library follows the current entries of LD_PRELOAD" "$(LD_PRELOAD=$work/x.so "$top" env --preload --shell json 2>/dev/null | jq -r .LD_PRELOAD)" "$work/x.so:$(realpath "$rtl")"
is "env --preload --mode hip: LD_PRELOAD has both libraries" "$("$top" env --preload --mode hip --shell json | jq -r .LD_PRELOAD)" \
    "$(realpath "$rtl"):$(realpath "$O/librtl-hip.so")"
mkdir "$work/a b"
cp "$rtl" "$work/a b"
refused=$("$top" env --preload --library "$work/a b/librtl.so" 2>&1)
is "env --preload: a path that LD_PRELOAD can't hold is refused" "$? $(echo "$refused" | grep -c 'can.t hold a path with a blank')" "1 1"
has "check --preload: names a path that LD_PRELOAD can't hold" "$("$top" check --preload --library "$work/a b/librtl.so" -- cat)" '^wrong  preload .*can.t hold a path with a blank'

# The files of runtimes: the libraries that they need, and the variables that they know
cd "$work" || exit 1
echo 'int hsa_init(void); int hsa_init(void) { return 0; }' >lib.c
echo 'int rocprofiler_register_library_api_table(void); int registers(void); int registers(void) { return rocprofiler_register_library_api_table(); }' >registers.c
echo 'int hsa_init(void); int main(void) { return hsa_init(); }' >main.c
make_runtime() { # FOLDER VARIABLE...: make a program with a runtime that knows these; $linked has linker options
    mkdir "$1"
    { cat lib.c; n=0; for v in $2 $3; do echo "const char v$((n += 1))[] = \"$v\";"; done; } >"$1/lib.c"
    # shellcheck disable=SC2086 # options
    gcc -shared -fPIC -Wl,-soname,libhsa-runtime64.so.1 -o "$1/libhsa-runtime64.so.1" "$1/lib.c" $linked
    gcc -o "$1/program" main.c "$1/libhsa-runtime64.so.1" -Wl,-rpath,"$work/$1" -Wl,-rpath-link,"$programs"
}
linked="registers.c $programs/librocprofiler-register.so.0 -Wl,-rpath,$programs"
make_runtime knows-both HSA_TOOLS_LIB HSA_TOOLS_ROCPROFILER_V1_TOOLS
make_runtime knows-list HSA_TOOLS_LIB
make_runtime knows-none
linked=
make_runtime unlinked HSA_TOOLS_LIB
cd "$tap_top" || exit 1
check_says() { # NAME PATTERN COMMAND...: the command prints a matching line; its output is in $found
    name=$1 pattern=$2
    shift 2
    found=$("$@" 2>&1)
    has "check: $name" "$found" "$pattern"
}
check_says "ROCP_TOOL_LIBRARIES activates the SDK, run sets the variable" '^ok     profiler .*active \(ROCP_TOOL_LIBRARIES=x\.so\): HSA_TOOLS_ROCPROFILER_V1_TOOLS=1, which rtl-top run' \
    env ROCP_TOOL_LIBRARIES=x.so "$top" check -- "$work/knows-both/program"
check_says "ROCPROFILER_REGISTER_LIBRARY activates the SDK" '^ok     profiler .*active \(ROCPROFILER_REGISTER_LIBRARY=y\.so\)' \
    env ROCPROFILER_REGISTER_LIBRARY=y.so "$top" check -- cat
check_says "ROCPROFILER_REGISTER_FORCE_LOAD activates the SDK" '^ok     profiler .*FORCE_LOAD=1' env ROCPROFILER_REGISTER_FORCE_LOAD=1 "$top" check -- cat
for value in 0 off False NO; do
    is "check: ROCPROFILER_REGISTER_ENABLED=$value switches the SDK off" \
        "$(ROCP_TOOL_LIBRARIES=x.so ROCPROFILER_REGISTER_ENABLED=$value "$top" check -- cat | grep -c profiler)" 0
done
is "check without an SDK: has no line about a profiler" "$(ROCP_TOOL_LIBRARIES='' "$top" check -- "$work/knows-both/program" | grep -c profiler)" 0
check_says "HSA_TOOLS_LIB by hand, without the variable" '^wrong  profiler .*in this environment the runtime leaves out HSA_TOOLS_LIB' \
    env ROCP_TOOL_LIBRARIES=x.so HSA_TOOLS_LIB=librtl.so "$top" check -- cat
check_says "HSA_TOOLS_LIB by hand, the variable is 0, as an SDK sets it for its children" '^wrong  profiler .*leaves out HSA_TOOLS_LIB' \
    env ROCP_TOOL_LIBRARIES=x.so HSA_TOOLS_ROCPROFILER_V1_TOOLS=0 HSA_TOOLS_LIB=librtl.so "$top" check -- cat
check_says "HSA_TOOLS_LIB by hand, with the variable" '^ok     profiler .*librtl.so, too$' \
    env ROCP_TOOL_LIBRARIES=x.so HSA_TOOLS_ROCPROFILER_V1_TOOLS=yes HSA_TOOLS_LIB=librtl.so "$top" check -- cat
check_says "a runtime that doesn't know the variable" '^open   profiler .*not seen to know HSA_TOOLS_ROCPROFILER_V1_TOOLS.*--preload' \
    env ROCP_TOOL_LIBRARIES=x.so "$top" check -- "$work/knows-list/program"
check_says "a preloaded librtl.so needs no variable" '^ok     profiler .*the preloaded librtl.so' env ROCP_TOOL_LIBRARIES=x.so "$top" check --preload -- "$work/knows-list/program"
check_says "a runtime that doesn't read HSA_TOOLS_LIB" '^open   tools .*not seen to read HSA_TOOLS_LIB.*--preload' "$top" check -- "$work/knows-none/program"
check_says "a runtime without rocprofiler-register" '^ok     profiler .*built without rocprofiler-register: it reads HSA_TOOLS_LIB' \
    env ROCP_TOOL_LIBRARIES=x.so "$top" check -- "$work/unlinked/program"
check_says "--preload doesn't help a runtime without rocprofiler-register" '^open   preload .*built without rocprofiler-register' "$top" check --preload -- "$work/unlinked/program"
echo 'int main(void) { return 0; }' >"$work/foreign.c"
gcc -o "$work/foreign" "$work/foreign.c" -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1
check_says "--preload would end programs of another libc" "^open   preload .*musl.*it ends every program with --preload" "$top" check --preload -- "$work/foreign"
# A tool exports a symbol: the program, one of its libraries or a preloaded library. A weak reference to the symbol is no
# tool.
echo 'int rocprofiler_configure(void); int rocprofiler_configure(void) { return 0; }' >"$work/tool.c"
gcc -shared -fPIC -Wl,-soname,libtool.so -o "$work/libtool.so" "$work/tool.c"
echo 'int rocprofiler_configure(void) __attribute__((weak)); int main(void) { return rocprofiler_configure ? rocprofiler_configure() : 0; }' >"$work/asks.c"
gcc -o "$work/linked" "$work/asks.c" -Wl,--no-as-needed "$work/libtool.so" -Wl,-rpath,"$work"
gcc -rdynamic -o "$work/has" "$work/asks.c" "$work/tool.c"
gcc -o "$work/asks" "$work/asks.c"
check_says "a library that exports rocprofiler_configure" "^ok     profiler .*active \\($work/libtool\\.so exports rocprofiler_configure" "$top" check -- "$work/linked"
check_says "a program that exports it" "^ok     profiler .*active \\($work/has exports rocprofiler_configure" "$top" check -- "$work/has"
check_says "a preloaded tool" "^ok     profiler .*active \\($work/libtool\\.so exports" env LD_PRELOAD="$work/libtool.so" "$top" check -- cat
is "check: a program with only a weak reference to rocprofiler_configure has no line about a profiler" "$("$top" check -- "$work/asks" | grep -c profiler)" 0

# Processes, by their files in /proc
start_sleeper() { # VARIABLE=VALUE...: start a process with these; $sleeping
    [ -z "${sleeping:-}" ] || end_process "$sleeping"
    env "$@" sleep 600 >/dev/null 2>&1 &
    sleeping=$!
    tap_pids="$tap_pids $sleeping"
    wait_until 60 grep -q sleep "/proc/$sleeping/comm"
}
start_sleeper ROCP_TOOL_LIBRARIES="$(printf 'a\033[2Jb')" HSA_TOOLS_LIB="$rtl"
check_says "a process whose runtime will ignore HSA_TOOLS_LIB" '^wrong  process .*has rocprofiler-sdk \(ROCP_TOOL_LIBRARIES=a.\[2Jb\), beside which the runtime leaves out HSA_TOOLS_LIB: start it with HSA_TOOLS_ROCPROFILER_V1_TOOLS=1' \
    "$top" check -p "$sleeping"
is "check: control characters of a process's environment are escaped" "$(printf '%s' "$found" | tr -d '\n' | grep -c '[[:cntrl:]]')" 0
start_sleeper LD_PRELOAD="$rtl"
check_says "a process with the library preloaded, before it uses the GPU" 'has not used the GPU' "$top" check -p "$sleeping"
start_sleeper LD_PRELOAD="$work/libtool.so"
check_says "a process with a tool" "^open   profiler .*active \\($work/libtool\\.so exports" "$top" check -p "$sleeping"
# A process with another root, where the name of its library is a link to a file outside
end_process "$sleeping"
sleeping=
if [ "$(id -u)" = 0 ]; then
    cat >"$work/jailed.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int fd = open(argv[argc - 2], O_RDONLY);
    if (mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED || chroot(argv[argc - 1]) || puts("jailed") < 0 || fflush(stdout))
        return 1;
    return pause();
}
END
    gcc -o "$work/jailed" "$work/jailed.c"
    cp "$work/asks" "$work/plain.so"
    mkdir -p "$work/jail$work"
    ln -s "$work/libtool.so" "$work/jail$work/plain.so"
    "$work/jailed" "$work/plain.so" "$work/jail" >"$work/jailed.out" 2>/dev/null &
    sleeping=$!
    tap_pids="$tap_pids $sleeping"
    wait_until 60 grep -q jailed "$work/jailed.out"
    is "check: a file outside isn't read for a process with another root" "$("$top" check -p "$sleeping" | grep -c exports)" 0
    cp "$work/libtool.so" "$work/jail$work/real.so"
    ln -sf "$work/real.so" "$work/jail$work/plain.so"
    check_says "a tool of a process with another root, reached by a link inside" "^open   profiler .*active \\($work/plain\\.so exports" "$top" check -p "$sleeping"
else
    skip "check: a file outside isn't read for a process with another root" "chroot needs root"
fi
big=$(head -c 100000 /dev/zero | tr '\0' x)
start_sleeper A="$big" B="$big" ROCP_TOOL_LIBRARIES="$big"
check_says "a very long value" '^open   profiler .*ROCP_TOOL_LIBRARIES=xxx' "$top" check -p "$sleeping"
end_process "$sleeping"
export ROCPROFILER_REGISTER_LIBRARY="$sdk"
play any
check_says "a process whose runtime ignored HSA_TOOLS_LIB" '^wrong  process .*has rocprofiler-sdk \(ROCPROFILER_REGISTER_LIBRARY=.*sdk_preload.so\), beside which the runtime leaves out' "$top" check -p "$program"
close_scene
export HSA_TOOLS_ROCPROFILER_V1_TOOLS=1
play any
check_says "a traced process beside the SDK" '^ok     profiler .*active \(ROCPROFILER_REGISTER_LIBRARY=.*\), and so is librtl.so' "$top" check -p "$program"
close_scene
REGISTER_RUNTIME=old
export REGISTER_RUNTIME
play any
check_says "a process whose runtime ignored HSA_TOOLS_LIB despite the variable" '^wrong  process .*in spite of HSA_TOOLS_ROCPROFILER_V1_TOOLS=1: preload librtl.so' "$top" check -p "$program"
close_scene
finish

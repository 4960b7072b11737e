#!/bin/sh
# librtl-hip.so: each function's calls, return codes and bytes are what the program counted itself, and the memory in
# use is what it holds; however the program finds HIP, no second one is loaded and nothing else changes.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/hip.sh"
programs=$O/tests/programs

gpu="--gpus 2"
play "$programs/hip_api" --hold
is "calls, codes, bytes and memory in use are the program's own tally" "$(told)" "$(recorded)"
check "there are more than 30 functions, and return codes" sh -c \
    "test \$(grep -c '^called' '$work/out') -gt 30 && test \$(grep -c '^code' '$work/out') -gt 4"
is "the peak is what was allocated at once" "$(api --json | jq -c '[.memory[].peak_bytes]')" \
    '[67108864,67108864,25689]'
is "each function's memory adds up to all of it" "$(api --json | jq '[.api[].in_use_bytes] | add')" \
    "$(api --json | jq '[.memory[].in_use_bytes] | add')"
is "errors are all of them but hipErrorNotReady" "$(api --json | jq -r '.api[] | select(.errors > 0) | "\(.name) \(.errors)"' | sort)" \
    "$(awk '$1 == "code" && $3 != 600 { print $2, $4 }' "$work/out" | sort)"
check "quantiles lie between nothing and the longest, which the total holds" sh -c \
    "'$O/rtl-top' api -p $program --json | jq -e '[.api[] | select(.p50_ns > .p99_ns or .p99_ns > .max_ns or .max_ns > .total_ns)] == []'"
has "a table for people" "$(api)" '^ +[0-9.]+k? .* hipMemcpyAsync_spt$'
has "with errors by name" "$(api)" '160 x 1 hipErrorInvalidValue'
has "and memory" "$(api)" '^GPU 0 '
csv=$(api --csv)
has "CSV has a heading" "$csv" '^pid,name,kind,calls,total_ns,'
is "and a line a function" "$(echo "$csv" | wc -l)" "$(($(grep -c '^called' "$work/out") + 1))"
is "the mode is hip" "$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.mode')" hip
close_play
is "it ends as it would" "$status" 0
# what it says without us, but for what depends on luck: how often an event wasn't ready
plain=$(tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --gpus 2 -- "$programs/hip_api" --hold </dev/null)
is "and said what it says without" "$(grep -v hipEventQuery "$work/out")" "$(echo "$plain" | grep -v hipEventQuery)"

for mode in default off lite; do
    play "$programs/hip_api" --hold
    check "mode $mode records no calls" sh -c "'$O/rtl-top' api -p $program 2>'$work/why'; test \$? = 3"
    is "and the program runs as it does without" "$(grep -v hipEventQuery "$work/out")" "$(echo "$plain" | grep -v hipEventQuery)"
    close_play
done
has "what to do is said" "$(cat "$work/why")" 'RTL_MODE=hip LD_PRELOAD=librtl-hip.so'
mode=hip
gpu=

# --- programs that aren't linked to HIP ---
hip=libamdhip64.so.5 # every release's library is there under this name
cat >"$work/plugin.c" <<'END'
#include <stddef.h>
#include <stdio.h>
int hipMalloc(void **at, size_t n);
int hipFree(void *at);
int hipGetDeviceCount(int *n);
void plugin_run(void)
{
    void *at;
    int n;
    hipGetDeviceCount(&n);
    for (int i = 0; i < 20; i++)
        if (hipMalloc(&at, 1000) == 0 && i % 4)
            hipFree(at);
    puts("called hipFree 15\ncalled hipGetDeviceCount 1\ncalled hipMalloc 20");
}
END
# linked to a versioned HIP that it finds in a folder of its own, as a wheel of PyTorch's brings it
mkdir "$work/lib"
found=$(LD_TRACE_LOADED_OBJECTS=1 "$programs/hip_api" | awk '/libamdhip64/ { print $3 }')
[ -z "${RTL_RELEASE:-}" ] || found=$(find "${VGPU_RELEASES:-cache/releases}/$RTL_RELEASE/usr/lib/" -name 'libamdhip64.so.*.*.*' | head -n 1)
ln -s "$(realpath "$found")" "$work/lib/libamdhip64.so"
${CC:-gcc} -shared -fPIC -o "$work/plugin.so" "$work/plugin.c" -Wl,-rpath,"$work/lib" -L "$work/lib" -lamdhip64 \
    -Wl,--allow-shlib-undefined
# (the folder is on the path because hipGetProcAddress opens libamdhip64.so by that name, to look into itself)
calls() { api --json | jq -r '.api[] | "called \(.name) \(.calls)"' | sort; }
for way in "dlsym $hip" "proc $hip" "plugin $work/plugin.so"; do
    # shellcheck disable=SC2086 # two words
    set -- $way
    if [ "$1" = proc ] && ! nm -D --defined-only "$work/lib/libamdhip64.so" | grep -q ' hipGetProcAddress'; then
        continue # came with 6.1
    fi
    LD_LIBRARY_PATH=$work/lib play "$programs/hip_found" "$1" "$2" --hold
    is "${1}: calls are seen" "$(calls)" "$(grep ^called "$work/out")"
    is "${1}: memory in use" "$(api --json | jq -c '[.memory[] | .in_use_bytes, .allocations]')" '[5000,5]'
    has "${1}: HIP is there once" "$(cat "$work/out")" '^libraries 1$'
    has "${1}: and nobody else finds one" "$(cat "$work/out")" "^everybody's no\$"
    close_play
    is "${1}: it ends as it would" "$status" 0
done

# --- guards ---
for library in librtl.so librtl-hip.so; do
    is "$library needs libc alone" "$(readelf -d "$O/$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc|ld-linux.*|libpthread|libdl)\.so')" ""
    is "$library names no tracer and no HIP library" "$(nm -D --undefined-only "$O/$library" | grep -iE 'roctracer|rocprofiler|amdhip')" ""
done
is "librtl.so exports no function of HIP or roctx" "$(nm -D --defined-only "$O/librtl.so" | grep -E ' (hip|roctx)')" ""
finish

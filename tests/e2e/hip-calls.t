#!/bin/sh
# librtl-hip.so: each function's calls, return codes and bytes, and the memory in use, equal the program's own tally.
# Whichever way the program finds HIP, no second HIP is loaded and nothing else changes.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/hip.sh"
programs=$O/tests/programs

gpu="--gpus 2"
play "$programs/hip_api" --hold
is "mode hip: calls, codes, bytes and memory in use equal the program's tally" "$(print_tally)" "$(print_recorded)"
check "mode hip: the tally has over 30 functions and over 4 codes" sh -c \
    "test \$(grep -c '^called' '$work/out') -gt 30 && test \$(grep -c '^code' '$work/out') -gt 4"
is "mode hip: the peak is the memory allocated at once" "$(run_api --json | jq -c '[.memory[].peak_bytes]')" \
    '[67108864,67108864,25689]'
is "mode hip: the functions' memory adds up to the total" "$(run_api --json | jq '[.api[].in_use_bytes] | add')" \
    "$(run_api --json | jq '[.memory[].in_use_bytes] | add')"
is "mode hip: errors are all codes except hipErrorNotReady" "$(run_api --json | jq -r '.api[] | select(.errors > 0) | "\(.name) \(.errors)"' | sort)" \
    "$(awk '$1 == "code" && $3 != 600 { print $2, $4 }' "$work/out" | sort)"
check "mode hip: p50 <= p99 <= maximum <= total" sh -c \
    "'$O/rtl-top' api -p $program --json | jq -e '[.api[] | select(.p50_ns > .p99_ns or .p99_ns > .max_ns or .max_ns > .total_ns)] == []'"
has "api: the table lists functions" "$(run_api)" '^ +[0-9.]+k? .* hipMemcpyAsync_spt$'
has "api: the table has errors by name" "$(run_api)" '160 x 1 hipErrorInvalidValue'
has "api: the table has memory" "$(run_api)" '^device 0 '
csv=$(run_api --csv)
has "api --csv: has a heading" "$csv" '^pid,name,kind,calls,total_ns,'
is "api --csv: has a line for each function" "$(echo "$csv" | wc -l)" "$(($(grep -c '^called' "$work/out") + 1))"
is "mode hip: JSON has the mode" "$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.mode')" hip
close_play
is "mode hip: exit status is that without rtl-top" "$status" 0
# The output without the library, except how often an event wasn't ready: this depends on timing.
plain=$(tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --gpus 2 -- "$programs/hip_api" --hold </dev/null)
is "mode hip: output is that without rtl-top" "$(grep -v hipEventQuery "$work/out")" "$(echo "$plain" | grep -v hipEventQuery)"

for mode in default off lite; do
    play "$programs/hip_api" --hold
    check "mode $mode: records no calls" sh -c "'$O/rtl-top' api -p $program 2>'$work/why'; test \$? = 3"
    is "mode $mode: output is that without rtl-top" "$(grep -v hipEventQuery "$work/out")" "$(echo "$plain" | grep -v hipEventQuery)"
    close_play
done
has "api without mode hip: says how to record calls" "$(cat "$work/why")" 'RTL_MODE=hip LD_PRELOAD=librtl-hip.so'
mode=hip
gpu=

# --- programs that aren't linked with HIP ---
hip=libamdhip64.so.5 # a link of this name leads to every release's library
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
# A plugin linked with a versioned HIP in its own folder, as in a wheel of PyTorch
mkdir "$work/lib"
found=$(LD_TRACE_LOADED_OBJECTS=1 "$programs/hip_api" | awk '/libamdhip64/ { print $3 }')
[ -z "${RTL_RELEASE:-}" ] || found=$(find "${VGPU_RELEASES:-cache/releases}/$RTL_RELEASE/usr/lib/" -name 'libamdhip64.so.*.*.*' | head -n 1)
ln -s "$(realpath "$found")" "$work/lib/libamdhip64.so"
${CC:-gcc} -shared -fPIC -o "$work/plugin.so" "$work/plugin.c" -Wl,-rpath,"$work/lib" -L "$work/lib" -lamdhip64 \
    -Wl,--allow-shlib-undefined
# (The folder is on the path because hipGetProcAddress opens libamdhip64.so by name to find its own symbols.)
list_calls() { run_api --json | jq -r '.api[] | "called \(.name) \(.calls)"' | sort; }
for way in "dlsym $hip" "proc $hip" "plugin $work/plugin.so"; do
    # shellcheck disable=SC2086 # two words
    set -- $way
    if [ "$1" = proc ] && ! nm -D --defined-only "$work/lib/libamdhip64.so" | grep -q ' hipGetProcAddress'; then
        continue # exists since 6.1
    fi
    LD_LIBRARY_PATH=$work/lib play "$programs/hip_found" "$1" "$2" --hold
    is "${1}: calls equal the program's tally" "$(list_calls)" "$(grep ^called "$work/out")"
    is "${1}: memory in use is recorded" "$(run_api --json | jq -c '[.memory[] | .in_use_bytes, .allocations]')" '[5000,5]'
    has "${1}: HIP is loaded once" "$(cat "$work/out")" '^libraries 1$'
    has "${1}: no HIP becomes visible to other libraries" "$(cat "$work/out")" "^everybody's no\$"
    close_play
    is "${1}: exit status is that without rtl-top" "$status" 0
done

# --- guards ---
for library in librtl.so librtl-hip.so; do
    is "$library: needs only libc" "$(readelf -d "$O/$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc|ld-linux.*|libpthread|libdl)\.so')" ""
    is "$library: imports nothing of a tracer or of HIP" "$(nm -D --undefined-only "$O/$library" | grep -iE 'roctracer|rocprofiler|amdhip')" ""
done
is "librtl.so: exports no function of HIP or roctx" "$(nm -D --defined-only "$O/librtl.so" | grep -E ' (hip|roctx)')" ""
finish

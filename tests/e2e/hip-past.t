#!/bin/sh
# Plugins that could call HIP without librtl-hip.so. Calls of plugins opened with RTLD_DEEPBIND are recorded. rtl-top
# reports the files of plugins with a HIP linked into them, or in a namespace of their own, if there are dispatches that
# no recorded call submitted.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/hip.sh"
programs=$O/tests/programs
cc=${CC:-gcc}
list_calls() { run_api --json | jq -r '.api[] | "called \(.name) \(.calls)"' | sort; }
check_process() { "$O/rtl-top" check -p "$program"; }

found=$(LD_TRACE_LOADED_OBJECTS=1 "$programs/hip_api" | awk '/libamdhip64/ { print $3 }')
[ -z "${RTL_RELEASE:-}" ] || found=$(find "${VGPU_RELEASES:-cache/releases}/$RTL_RELEASE/usr/lib/" -name 'libamdhip64.so.*.*.*' | head -n 1)
mkdir "$work/lib"
ln -s "$(realpath "$found")" "$work/lib/libamdhip64.so"
cat >"$work/plugin.c" <<'END_OF_C'
#include <stddef.h>
#include <stdio.h>
int hipMalloc(void **at, size_t n);
int hipFree(void *at);
int hipGetDeviceCount(int *n);
int (*const pointer)(void *) = hipFree;
void plugin_run(void)
{
    void *at;
    int n;
    hipGetDeviceCount(&n);
    for (int i = 0; i < 20; i++)
        if (hipMalloc(&at, 1000) == 0 && i % 4)
            (i % 2 ? pointer : hipFree)(at);
    puts("called hipFree 15\ncalled hipGetDeviceCount 2\ncalled hipMalloc 20");
}
END_OF_C
for way in "lazy -Wl,-z,lazy -Wl,-z,norelro" "now -Wl,-z,now -Wl,-z,relro" "direct -fno-plt -Wl,-z,now" "symbolic -Wl,-Bsymbolic"; do
    # shellcheck disable=SC2086 # several words
    set -- $way
    name=$1
    shift
    "$cc" -shared -fPIC -o "$work/$name.so" "$work/plugin.c" "$@" -Wl,-rpath,"$work/lib" -L "$work/lib" -lamdhip64 \
        -Wl,--allow-shlib-undefined || exit 1
    play "$programs/hip_found" deep "$work/$name.so" --hold
    is "RTLD_DEEPBIND, plugin linked $name: calls equal the program's tally" "$(list_calls)" "$(grep ^called "$work/out")"
    has "RTLD_DEEPBIND, plugin linked $name: check says that calls are recorded" "$(check_process)" '^ok +calls +those of HIP'
    close_play
    is "RTLD_DEEPBIND, plugin linked $name: exit status is that without rtl-top" "$status" 0
done

# --- a library with HIP inside: no call can be recorded, but its dispatches are counted ---
cp "$work/lib/libamdhip64.so" "$work/libinside.so"
play "$programs/hip_found" past "$work/libinside.so" --hold
said=$(check_process)
has "HIP inside a library: check counts dispatches without a recorded call" "$said" \
    '^wrong +calls +[0-9]+ of [0-9]+ dispatches have no recorded call \(submitted outside of any recorded call\)$'
has "HIP inside a library: check names its file" "$said" "^wrong +calls +$work/libinside.so has HIP linked into it"
is "HIP inside a library: check does not say that calls are recorded" "$(echo "$said" | grep -cE '^ok +calls')" 0
has "HIP inside a library: the coverage line has the share" "$("$O/rtl-top" -p "$program" -b -n 1)" '100% without a recorded HIP call'
has "HIP inside a library: api has the number" "$(run_api)" '^dispatches without a recorded call [0-9]+ of [0-9]+ \(rtl-top check -p [0-9]+\)$'
close_play
is "HIP inside a library: exit status is that without rtl-top" "$status" 0

# --- a namespace of its own ---
play "$programs/hip_found" space "$work/now.so" --hold
has "dlmopen: check names the plugin" "$(check_process)" "^wrong +calls +$work/now.so was opened by dlmopen, in a namespace of its own"
close_play
is "dlmopen: exit status is that without rtl-top" "$status" 0

# --- recorded calls only ---
play "$programs/hip_api" --hold
is "recorded calls only: the coverage line has no remark" \
    "$("$O/rtl-top" -p "$program" -b -n 1 | grep -c 'recorded HIP call')" 0
close_play
finish

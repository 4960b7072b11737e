#!/bin/sh
# Mode hip of rtl-top run, env and check. librtl-hip.so is preloaded by its absolute path, after other preloaded
# libraries. rtl-top reports whatever prevents recording before the program runs.
. "$(dirname "$0")/tap.sh"

unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE RTL_QUEUES LD_PRELOAD
top=$tap_top/$O/rtl-top
library=$(realpath "$O/librtl.so")
hip=$(realpath "$O/librtl-hip.so")
program=$tap_top/$O/tests/programs/hip_api

# --- env ---
is "env: prints all variables of mode hip" "$("$top" env --mode hip | tr '\n' ' ')" \
    "export HSA_TOOLS_LIB='$library' export HSA_TOOLS_ROCPROFILER_V1_TOOLS='1' export RTL_MODE='hip' export LD_PRELOAD='$hip' "
is "env: RTL_MODE=hip in the environment sets LD_PRELOAD" "$(RTL_MODE=hip "$top" env --shell json | jq -r .LD_PRELOAD)" "$hip"
is "env: another mode sets no LD_PRELOAD" "$("$top" env --shell json --mode default | jq -r '.LD_PRELOAD')" null
is "env: --mode overrides RTL_MODE" "$(RTL_MODE=hip "$top" env --shell json --mode auto | jq -r '.LD_PRELOAD')" null
print_preload() { # LIST: print the resulting LD_PRELOAD
    LD_PRELOAD="$1" "$top" env --shell json --mode hip 2>/dev/null | jq -r .LD_PRELOAD
}
mkdir "$work/lib" "$work/other"
cp "$library" "$hip" "$work/other"
: >"$work/empty.c"
${CC:-gcc} -shared -fPIC -o "$work/lib/one.so" "$work/empty.c"
${CC:-gcc} -shared -fPIC -o "$work/lib/two.so" "$work/empty.c"
is "env: librtl-hip.so comes after other preloaded libraries" "$(print_preload "$work/lib/one.so  $work/lib/two.so:")" "$work/lib/one.so:$work/lib/two.so:$hip"
is "env: librtl-hip.so is preloaded once" "$(print_preload "$hip:$work/lib/one.so")" "$hip:$work/lib/one.so"
is "env: another librtl-hip.so is replaced" "$(print_preload "$work/other/librtl-hip.so $work/lib/one.so")" "$work/lib/one.so:$hip"
is "env: --library chooses the librtl-hip.so beside it" \
    "$("$top" env --shell json --mode hip --library "$work/other/librtl.so" | jq -r .LD_PRELOAD)" "$work/other/librtl-hip.so"
eval "set -- $("$top" env --shell docker --mode hip | tr '\n' ' ')"
is "env: a container gets both libraries" "$2 $4" "$library:$library:ro $hip:$hip:ro"

check_refused() { # NAME PATTERN COMMAND...: status 1, one line on standard error, nothing else
    name=$1 pattern=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    is "$name: status" "$?" 1
    is "$name: prints nothing on standard output" "$(cat "$work/out")" ""
    is "$name: prints one line on standard error" "$(wc -l <"$work/err")" 1
    has "$name: says why" "$(cat "$work/err")" "$pattern"
}
mkdir "$work/alone" "$work/a b"
cp "$library" "$work/alone"
cp "$library" "$hip" "$work/a b"
check_refused "env: a missing librtl-hip.so" 'librtl-hip.so, which records HIP calls, is not beside .*/alone/librtl.so' \
    "$top" env --mode hip --library "$work/alone/librtl.so"
check_refused "env: a folder that LD_PRELOAD can't name" "can't hold a path with a blank" "$top" env --mode hip --library "$work/a b/librtl.so"
check_refused "run: a missing librtl-hip.so" 'is not beside' "$top" run -b --mode hip --library "$work/alone/librtl.so" -- true
check_refused "run: an unknown mode" "^rtl-top: --mode needs one of off lite default auto hip, not 'hop'" "$top" run -b --mode hop -- true
check_refused "mode: hip for a running process" 'start the process with it: rtl-top run --mode hip' "$top" mode -p $$ hip

# --- run ---
# shellcheck disable=SC2016 # the command expands it
"$top" run -b -o "$work/frames" --mode hip -- sh -c 'echo "$RTL_MODE $LD_PRELOAD"' >"$work/out" 2>"$work/err"
is "run: the command has RTL_MODE and LD_PRELOAD" "$(cat "$work/out")" "hip $hip"
mkfifo "$work/in"
"$top" run --json -o "$work/frames" --mode hip -- \
    tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} -- "$program" --hold <"$work/in" >"$work/out" 2>"$work/err" &
run=$!
tap_pids="$tap_pids $run"
exec 3>"$work/in"
wait_until 120 sh -c "grep -q '^holding' '$work/out' && test -s '$work/frames'"
pid=$(head -n 1 "$work/frames" | jq .pid)
"$top" api -p "$pid" --json >"$work/api.json"
is "api --json: large integers have twins" "$(tests/e2e/json-exact "$work/api.json")" start_time_ns
is "run: each call is recorded" "$("$top" api -p "$pid" --json | jq -r '.api[] | "called \(.name) \(.calls) \(.bytes)"' | sort)" \
    "$(grep '^called' "$work/out" | sort)"
has "check -p: calls are recorded" "$("$top" check -p "$pid")" '^ok     calls        those of HIP are recorded, by librtl-hip.so [0-9]'
exec 3>&-
wait "$run"
is "run: exits with the command's status" "$?" 0

# --- check ---
# check_finds NAME PATTERN COMMAND...: check --mode hip prints a matching line
check_finds() {
    name=$1 pattern=$2
    shift 2
    found=$("$top" check --mode hip -- "$@" 2>&1)
    has "check: $name" "$found" "$pattern"
}
check_finds "a program that is linked with HIP" '^ok     calls        those of /.*/libamdhip64\.so\.[0-9]+ are recorded' "$program"
has "check: names the library" "$found" "^ok     calls        $hip\$"
is "check: another mode doesn't mention calls" "$("$top" check --mode default -- "$program" | grep -c ' calls ')" 0
RTL_MODE=hip
export RTL_MODE
has "check: RTL_MODE=hip in the environment selects the mode" "$("$top" check -- "$program")" '^ok     calls        those of /'
has "check: RTL_MODE=hip is reported" "$("$top" check -- "$program")" '^ok     environment  RTL_MODE=hip'
unset RTL_MODE
check_finds "a program that may load HIP later" '^open   calls        .* is not seen to be linked with HIP' cat
printf '#!/bin/sh\nexit 0\n' >"$work/script"
chmod +x "$work/script"
check_finds "a script" '^open   calls        all that the script starts' "$work/script"
# The name of a setting marks a program with HIP linked into it.
echo 'int main(void) { static const char *volatile name = "AMD_DIRECT_DISPATCH"; return name[0]; }' >"$work/main.c"
${CC:-gcc} -o "$work/whole" "$work/main.c"
check_finds "a program with HIP linked into it" '^wrong  calls        .* has HIP linked into it: its calls go there directly' "$work/whole"
echo 'int main(void) { return 4; }' >"$work/main.c"
if ${CC:-gcc} -static -o "$work/static" "$work/main.c" 2>/dev/null; then
    check_finds "a static program" '^wrong  program .*linked statically' "$work/static"
fi
sed 's,/lib64/ld-linux-x86-64.so.2,/lib/ld-musl-x86_64_.so.1\x00,' "$program" >"$work/foreign"
chmod +x "$work/foreign"
check_finds "another libc's loader" '^open   calls        .* has its own loader \(/lib/ld-musl' "$work/foreign"
LD_PRELOAD=$work/lib/one.so
export LD_PRELOAD
check_finds "other preloaded libraries are listed" '^ok     preload      LD_PRELOAD also loads .*/one\.so, before ours' cat
unset LD_PRELOAD
has "check: a library that can't be preloaded is listed" "$(LD_PRELOAD=$work/lib/none.so "$top" check --mode hip -- cat 2>/dev/null)" \
    '^open   preload      LD_PRELOAD lists .*/none\.so: No such file'
has "check: a missing librtl-hip.so is an error" "$("$top" check --mode hip --library "$work/alone/librtl.so" -- cat)" \
    '^wrong  calls        librtl-hip\.so, which .* is not beside'
cp "$hip" "$work/alone"
sed -i 's/GLIBC_2\.2\.5/GLIBC_9.2.5/' "$work/alone/librtl-hip.so"
has "check: a librtl-hip.so for a newer libc is an error" "$("$top" check --mode hip --library "$work/alone/librtl.so" -- cat)" \
    '^wrong  calls        .*GLIBC_9\.2\.5'
if can_be_other_user "check: a set-user-ID program is an error"; then
    chmod 755 "$work"
    mkdir -m 755 "$work/pub"
    cp "$top" "$library" "$hip" "$work/pub"
    cp "$(command -v cat)" "$work/pub/risen"
    chmod 4755 "$work/pub/risen"
    has "check: a set-user-ID program is an error" \
        "$(setpriv --reuid 54321 --regid 54321 --clear-groups env HOME=/ "$work/pub/rtl-top" check --mode hip -- "$work/pub/risen")" \
        '^wrong  calls        the loader preloads no library'
fi
finish

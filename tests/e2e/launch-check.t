#!/bin/sh
# rtl-top check: of commands that would be traced, and of all that would come in between; of processes.
# shellcheck disable=SC2086 # $alice are the words of a command line
. "$(dirname "$0")/tap.sh"

unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE RTL_QUEUES ROCP_TOOL_LIBRARIES HSA_TOOLS_ROCPROFILER_V1_TOOLS
top=$tap_top/$O/rtl-top
program=$tap_top/$O/tests/programs/hsa_dispatch
# finds NAME STATUS PATTERN COMMAND...: the status, and a line; empty status: not looked at
finds() {
    name=$1 wanted=$2 pattern=$3
    shift 3
    found=$("$@" 2>&1)
    got=$?
    [ -z "$wanted" ] || is "$name: status" "$got" "$wanted"
    has "$name" "$found" "$pattern"
}
finds "a program that is linked with the runtime" '' '^ok     runtime      HSA runtime 1\.[0-9]+, /.*/libhsa-runtime64\.so' "$top" check -- "$program"
has "the program" "$found" "^ok     program      $program\$"
has "the library" "$found" '^ok     library      /.*/librtl\.so$'
has "the segment" "$found" '^ok     segment      a memfd of [0-9]+ MB'
finds "queues are native by default" '' '^ok     queues       native: queues are native by default$' "$top" check -- "$program"
way=$(echo "$found" | sed -n 's/^ok     queues       \([a-z]*\):.*/\1/p')
on_gpu -- "$tap_top/$O/tests/programs/serve" --seconds 60 >/dev/null 2>&1 &
serve=$!
tap_pids="$tap_pids $serve"
wait_until 120 sh -c "'$top' check -p $serve | grep -q '^ok     queues'"
finds "a traced process's queues are what check named before" 0 "^ok     queues       [0-9]+ live: [0-9]+ $way\$" \
    "$top" check -p "$serve"
finds "the runtime of a traced process, with the version of its API" 0 '^ok     runtime      (HSA runtime|ROCm) [0-9].*, HSA API 1\.[0-9]+$' "$top" check -p "$serve"
finds "a traced process" 0 "^ok     process      $serve \(serve .*\) is traced, by librtl.so [0-9.]+" "$top" check -p "$serve"
has "its mode" "$found" '^ok     mode         default'
has "and what it hasn't" "$found" '^open   trace        no event ring: .*RTL_TRACE=1'
end_process "$serve"
for way in native intercept; do
    RTL_QUEUES=$way finds "$way queues as asked for" '' "^ok     queues       $way: RTL_QUEUES says so" "$top" check -- "$program"
done
mkdir -p "$work/rocm-7.2.4/lib"
cp -L "$(ldd "$program" | awk '/libhsa-runtime64/ { print $3 }')" "$work/rocm-7.2.4/lib/libhsa-runtime64.so.1"
RTL_QUEUES=intercept LD_LIBRARY_PATH=$work/rocm-7.2.4/lib finds "intercept queues on a release where they overwrite memory" 3 \
    '^wrong  queues .*overwrite memory.*unset RTL_QUEUES' "$top" check -- "$program"
LD_LIBRARY_PATH=$work/rocm-7.2.4/lib finds "native queues on a release whose intercept queues overwrite memory" '' \
    '^ok     queues       native: queues are native by default$' "$top" check -- "$program"

# --- what can't be known ---
printf '#!/bin/sh\nexit 9 >%s/ran\n' "$work" >"$work/script"
chmod +x "$work/script"
finds "a script" '' '^open   runtime      it is a script: .*before it runs' "$top" check -- "$work/script"
has "is named with its interpreter" "$found" "^ok     program      $work/script \(#!/bin/sh\)"
check "and not run" test ! -e "$work/ran"
finds "a program that may load a runtime later" '' '^open   runtime      .*is not linked with the HSA runtime' "$top" check -- cat
# the loader runs what a file names as its audit, and maps what it lists
printf 'void ran(void) __attribute__((constructor));\nint creat(const char *, unsigned);\nvoid ran(void) { creat("%s/audited", 0600); }\n' "$work" >"$work/audit.c"
gcc -shared -fPIC -o "$work/audit.so" "$work/audit.c"
echo 'int main(void) { return 0; }' >"$work/main.c"
gcc -o "$work/audited-program" "$work/main.c" -Wl,--audit="$work/audit.so"
finds "a program that audits" '' '^open   runtime      .*names an auditing library, which the loader would run' "$top" check -- "$work/audited-program"
check "whose audit isn't run" test ! -e "$work/audited"
if as_others "another user's program"; then
    cp "$program" "$work/theirs"
    chown 54321 "$work/theirs"
    finds "another user's program" '' '^open   runtime      another user can change' "$top" check -- "$work/theirs"
fi
# a loader of its own: not ours is started
sed 's,/lib64/ld-linux-x86-64.so.2,/lib64/ld-other-x86-64.so.2,' "$program" >"$work/foreign"
chmod +x "$work/foreign"
finds "a loader of its own" '' '^open   runtime      .*its own loader \(/lib64/ld-other' "$top" check -- "$work/foreign"

# --- what is wrong ---
finds "no such command" 127 '^wrong  program      no-such-command: not found in PATH' "$top" check -- no-such-command
finds "no such file" 127 '^wrong  program      .*there is no such file' "$top" check -- "$work/none"
: >"$work/plain"
finds "not executable" 126 '^wrong  program .*chmod' "$top" check -- "$work/plain"
mkdir "$work/path"
: >"$work/path/plain"
PATH=$work/path:$PATH finds "not executable, in PATH" 126 'chmod' "$top" check -- plain
finds "a folder" 126 'executed' "$top" check -- "$work/path"
{ printf '\177ELF\001\001\001' && head -c 100 /dev/zero; } >"$work/bits32"
chmod +x "$work/bits32"
finds "a 32-bit program" 3 '^wrong  program      .* is a 32-bit program' "$top" check -- "$work/bits32"
{ head -c 18 "$program" && printf '\050\000' && tail -c +21 "$program"; } >"$work/arm"
chmod +x "$work/arm"
finds "another machine's" 3 '^wrong  program      .*another machine' "$top" check -- "$work/arm"
head -c 200 "$program" >"$work/half"
chmod +x "$work/half"
finds "half a program" '' 'program .*damaged' "$top" check -- "$work/half"
echo 'int main(void) { return 4; }' >"$work/static.c"
if ${CC:-gcc} -static -o "$work/static" "$work/static.c" 2>/dev/null; then
    finds "a static program" 3 '^wrong  program .*linked statically' "$top" check -- "$work/static"
fi
sed 's/libhsa-runtime64\.so\.1/libhsa-runtime64.so.7/' "$program" >"$work/missing"
chmod +x "$work/missing"
finds "a library that isn't there" 3 "^wrong  runtime .*libhsa-runtime64\.so\.7.*(not found|cannot open)" "$top" check -- "$work/missing"
finds "no librtl.so" 3 '^wrong  library' "$top" check --library "$work/none" -- cat
cp "$O/librtl.so" "$work/newer.so"
sed -i 's/GLIBC_2\.2\.5/GLIBC_9.2.5/' "$work/newer.so"
finds "a librtl.so for a newer libc" 3 '^wrong  library .*GLIBC_9\.2\.5' "$top" check --library "$work/newer.so" -- cat
finds "a list on which the runtime hangs" 3 '^wrong  tools .*hangs' env HSA_TOOLS_LIB="x\\" "$top" check -- cat
finds "another tool that isn't there" 3 "^wrong  tools .*lists $work/none.so: No such file" env HSA_TOOLS_LIB="$work/none.so" "$top" check -- cat
finds "another tool" '' '^ok     tools        HSA_TOOLS_LIB also loads .*newer.so, before ours' env HSA_TOOLS_LIB="$work/newer.so" "$top" check -- cat
finds "a profiler" '' '^ok     profiler .*HSA_TOOLS_ROCPROFILER_V1_TOOLS=1' env ROCP_TOOL_LIBRARIES=x.so "$top" check -- cat
finds "an unknown mode" 3 '^wrong  environment  RTL_MODE=fast is not understood: default' env RTL_MODE=fast "$top" check -- cat
finds "unknown queues" 3 '^wrong  environment  RTL_QUEUES=odd is not understood: auto' env RTL_QUEUES=odd "$top" check -- cat
# the limit that stops the library is the one that is named: blocks of 1024 bytes; the segment's size in them
megabytes=$("$top" check -- cat | sed -n 's/.*a memfd of \([0-9]*\) MB.*/\1/p')
check "a segment has a size" test "$megabytes" -gt 100
# shellcheck disable=SC2016 # its own
limit() { bash -c 'ulimit -f "$1"; shift; exec "$@"' - "$(($1 * 1024))" "$top" check -- cat; }
finds "files may not be so large" 3 '^wrong  segment .*ulimit -f unlimited' limit "$((megabytes - 1))"
finds "files may just be" '' '^ok     segment' limit "$megabytes"
demo=$tap_top/$O/tests/programs/segment_demo
check "which is the library's rule" bash -c "! (ulimit -f $(((megabytes - 1) * 1024)); exec timeout 60 '$demo' --seconds 0.1)"
check "on both sides" bash -c "(ulimit -f $((megabytes * 1024)); exec timeout 60 '$demo' --seconds 0.1)"

# --- devices: a folder of our own in place of /dev ---
device() { # SCRIPT: what is done in it first
    unshare -m sh -c "mount -t tmpfs none /dev && mkdir /dev/dri && mknod -m 666 /dev/null c 1 3 && ($1) && exec '$top' check -- '$program'"
}
if unshare -m sh -c 'mount -t tmpfs none /dev && mknod /dev/null c 1 3' 2>/dev/null; then
    finds "all is well" 0 '^ok     device       /dev/kfd may be opened' device 'touch /dev/kfd /dev/dri/renderD128'
    has "render nodes, too" "$found" '1 of 1 render nodes'
    is "then nothing is wrong" "$(echo "$found" | grep -c '^wrong')" 0
    finds "no driver" 3 '^wrong  device       there is no /dev/kfd' device 'touch /dev/dri/renderD128'
    finds "no GPU" 3 '^wrong  device       there is no render node' device 'touch /dev/kfd'
else
    echo "ok $((tap_number += 1)) - devices # SKIP the kernel refuses a mount namespace with a /dev of its own"
fi

# --- other users, as root ---
if as_others "other users' programs and processes"; then
    chmod 755 "$work"
    mkdir -m 755 "$work/pub"
    cp "$top" "$O/librtl.so" "$work/pub"
    cp "$(command -v cat)" "$work/pub/risen"
    chmod 4755 "$work/pub/risen"
    alice="setpriv --reuid 54321 --regid 54321 --clear-groups env HOME=/ $work/pub/rtl-top"
    finds "set-user-ID" 3 '^wrong  program .*set-user-ID' $alice check -- "$work/pub/risen"
    sleep 100 &
    sleeper=$!
    tap_pids="$tap_pids $sleeper"
    finds "another user's process" 4 '^wrong  process .*\(uid 0\).*uid 54321.*sudo rtl-top -p' $alice check -p "$sleeper"
    if unshare -m sh -c 'mount -t tmpfs none /dev && mknod /dev/null c 1 3' 2>/dev/null; then
        finds "not in the group of the device" 3 'belongs to uid 0, gid 44 and you are uid 54321, gid 54321: .*usermod' \
            unshare -m sh -c "mount -t tmpfs none /dev && touch /dev/kfd && chown 0:44 /dev/kfd && chmod 660 /dev/kfd && exec $alice check -- cat"
    else
        skip "not in the group of the device" "the kernel refuses unshare -m"
    fi
fi
finds "no such process" 2 '^wrong  process      no process' "$top" check -p 2147483647
finds "not traced" 3 'is not traced, and has not used the GPU' "$top" check -p $$
finds "neither" 1 '^rtl-top: rtl-top check takes a command or a process' "$top" check
for option in --preload --mode=hip --library=x; do
    finds "a process, and $option, which is for a command" 1 '^rtl-top: -p can.t be combined with --mode, --preload or --library' "$top" check "$option" -p $$
done
finds "both" 1 'takes a command or a process' "$top" check -p 1 -- ls
finds "no number" 1 "^rtl-top: -p needs a pid, not '1x'" "$top" check -p 1x
finds "hostile names are escaped" 127 '^wrong  program      no\\x1b\[2Jsuch' "$top" check -- "$(printf 'no\033[2Jsuch')"
finish

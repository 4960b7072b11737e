#!/bin/sh
# rtl-top check: of commands and of everything that decides whether they can be traced; of processes.
# shellcheck disable=SC2086 # $alice has several words
. "$(dirname "$0")/tap.sh"

unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE RTL_QUEUES ROCP_TOOL_LIBRARIES HSA_TOOLS_ROCPROFILER_V1_TOOLS
top=$tap_top/$O/rtl-top
program=$tap_top/$O/tests/programs/hsa_dispatch
# check_finds NAME STATUS PATTERN COMMAND...: check exits with the status and prints a matching line; empty status: any.
check_finds() {
    name=$1 wanted=$2 pattern=$3
    shift 3
    found=$("$@" 2>&1)
    got=$?
    [ -z "$wanted" ] || is "check, $name: exit status" "$got" "$wanted"
    has "check, $name" "$found" "$pattern"
}
check_finds "a linked program: names the runtime" '' '^ok     runtime      HSA runtime 1\.[0-9]+, /.*/libhsa-runtime64\.so' "$top" check -- "$program"
has "check, a linked program: names the program" "$found" "^ok     program      $program\$"
has "check, a linked program: names the library" "$found" '^ok     library      /.*/librtl\.so$'
has "check, a linked program: names the segment's size" "$found" '^ok     segment      a memfd of [0-9]+ MB'
check_finds "a linked program: queues are native by default" '' '^ok     queues       native: queues are native by default$' "$top" check -- "$program"
way=$(echo "$found" | sed -n 's/^ok     queues       \([a-z]*\):.*/\1/p')
on_gpu -- "$tap_top/$O/tests/programs/serve" --seconds 60 >/dev/null 2>&1 &
serve=$!
tap_pids="$tap_pids $serve"
wait_until 120 sh -c "'$top' check -p $serve | grep -q '^ok     queues'"
check_finds "a traced process: its queues have the announced path" 0 "^ok     queues       [0-9]+ live: [0-9]+ $way\$" \
    "$top" check -p "$serve"
check_finds "a traced process: has the runtime and the version of its API" 0 '^ok     runtime      (HSA runtime|ROCm) [0-9].*, HSA API 1\.[0-9]+$' "$top" check -p "$serve"
check_finds "a traced process" 0 "^ok     process      $serve \(serve .*\) is traced, by librtl.so [0-9.]+" "$top" check -p "$serve"
has "check, a traced process: has its mode" "$found" '^ok     mode         default'
has "check, a traced process: has no event ring" "$found" '^open   trace        no event ring: .*RTL_TRACE=1'
end_process "$serve"
for way in native intercept; do
    RTL_QUEUES=$way check_finds "$way queues as requested" '' "^ok     queues       $way: RTL_QUEUES says so" "$top" check -- "$program"
done
mkdir -p "$work/rocm-7.2.4/lib"
cp -L "$(ldd "$program" | awk '/libhsa-runtime64/ { print $3 }')" "$work/rocm-7.2.4/lib/libhsa-runtime64.so.1"
RTL_QUEUES=intercept LD_LIBRARY_PATH=$work/rocm-7.2.4/lib check_finds "intercept queues where they overwrite memory" 3 \
    '^wrong  queues .*overwrite memory.*unset RTL_QUEUES' "$top" check -- "$program"
LD_LIBRARY_PATH=$work/rocm-7.2.4/lib check_finds "native queues where intercept queues overwrite memory" '' \
    '^ok     queues       native: queues are native by default$' "$top" check -- "$program"

# --- what can't be known in advance ---
printf '#!/bin/sh\nexit 9 >%s/ran\n' "$work" >"$work/script"
chmod +x "$work/script"
check_finds "a script" '' '^open   runtime      it is a script: .*before it runs' "$top" check -- "$work/script"
has "check, a script: names its interpreter" "$found" "^ok     program      $work/script \(#!/bin/sh\)"
check "check, a script: doesn't run it" test ! -e "$work/ran"
check_finds "a program that may load a runtime later" '' '^open   runtime      .*is not linked with the HSA runtime' "$top" check -- cat
# The loader runs a library that a file names as its audit library, and maps the libraries that the file lists.
printf 'void ran(void) __attribute__((constructor));\nint creat(const char *, unsigned);\nvoid ran(void) { creat("%s/audited", 0600); }\n' "$work" >"$work/audit.c"
gcc -shared -fPIC -o "$work/audit.so" "$work/audit.c"
echo 'int main(void) { return 0; }' >"$work/main.c"
gcc -o "$work/audited-program" "$work/main.c" -Wl,--audit="$work/audit.so"
check_finds "a program with an audit library" '' '^open   runtime      .*names an auditing library, which the loader would run' "$top" check -- "$work/audited-program"
check "check, a program with an audit library: the library doesn't run" test ! -e "$work/audited"
if can_be_other_user "another user's program"; then
    cp "$program" "$work/theirs"
    chown 54321 "$work/theirs"
    check_finds "another user's program" '' '^open   runtime      another user can change' "$top" check -- "$work/theirs"
fi
# A program with its own loader: check doesn't start that loader.
sed 's,/lib64/ld-linux-x86-64.so.2,/lib64/ld-other-x86-64.so.2,' "$program" >"$work/foreign"
chmod +x "$work/foreign"
check_finds "a program with its own loader" '' '^open   runtime      .*its own loader \(/lib64/ld-other' "$top" check -- "$work/foreign"

# --- errors ---
check_finds "unknown command" 127 '^wrong  program      no-such-command: not found in PATH' "$top" check -- no-such-command
check_finds "missing file" 127 '^wrong  program      .*there is no such file' "$top" check -- "$work/none"
: >"$work/plain"
check_finds "file that isn't executable" 126 '^wrong  program .*chmod' "$top" check -- "$work/plain"
mkdir "$work/path"
: >"$work/path/plain"
PATH=$work/path:$PATH check_finds "file in PATH that isn't executable" 126 'chmod' "$top" check -- plain
check_finds "a folder" 126 'executed' "$top" check -- "$work/path"
{ printf '\177ELF\001\001\001' && head -c 100 /dev/zero; } >"$work/bits32"
chmod +x "$work/bits32"
check_finds "a 32-bit program" 3 '^wrong  program      .* is a 32-bit program' "$top" check -- "$work/bits32"
{ head -c 18 "$program" && printf '\050\000' && tail -c +21 "$program"; } >"$work/arm"
chmod +x "$work/arm"
check_finds "a program for another machine" 3 '^wrong  program      .*another machine' "$top" check -- "$work/arm"
head -c 200 "$program" >"$work/half"
chmod +x "$work/half"
check_finds "a truncated program" '' 'program .*damaged' "$top" check -- "$work/half"
echo 'int main(void) { return 4; }' >"$work/static.c"
if ${CC:-gcc} -static -o "$work/static" "$work/static.c" 2>/dev/null; then
    check_finds "a static program" 3 '^wrong  program .*linked statically' "$top" check -- "$work/static"
fi
sed 's/libhsa-runtime64\.so\.1/libhsa-runtime64.so.7/' "$program" >"$work/missing"
chmod +x "$work/missing"
check_finds "a missing library" 3 "^wrong  runtime .*libhsa-runtime64\.so\.7.*(not found|cannot open)" "$top" check -- "$work/missing"
check_finds "a missing librtl.so" 3 '^wrong  library' "$top" check --library "$work/none" -- cat
cp "$O/librtl.so" "$work/newer.so"
sed -i 's/GLIBC_2\.2\.5/GLIBC_9.2.5/' "$work/newer.so"
check_finds "a librtl.so for a newer libc" 3 '^wrong  library .*GLIBC_9\.2\.5' "$top" check --library "$work/newer.so" -- cat
check_finds "an HSA_TOOLS_LIB on which the runtime hangs" 3 '^wrong  tools .*hangs' env HSA_TOOLS_LIB="x\\" "$top" check -- cat
check_finds "a missing other tool" 3 "^wrong  tools .*lists $work/none.so: No such file" env HSA_TOOLS_LIB="$work/none.so" "$top" check -- cat
check_finds "another tool" '' '^ok     tools        HSA_TOOLS_LIB also loads .*newer.so, before ours' env HSA_TOOLS_LIB="$work/newer.so" "$top" check -- cat
check_finds "a profiler" '' '^ok     profiler .*HSA_TOOLS_ROCPROFILER_V1_TOOLS=1' env ROCP_TOOL_LIBRARIES=x.so "$top" check -- cat
check_finds "an unknown mode" 3 '^wrong  environment  RTL_MODE=fast is not understood: default' env RTL_MODE=fast "$top" check -- cat
check_finds "unknown queues" 3 '^wrong  environment  RTL_QUEUES=odd is not understood: auto' env RTL_QUEUES=odd "$top" check -- cat
# check names the file size limit in blocks of 1024 bytes; here the segment's size in such blocks.
megabytes=$("$top" check -- cat | sed -n 's/.*a memfd of \([0-9]*\) MB.*/\1/p')
check "check: the segment's size is over 100 MB" test "$megabytes" -gt 100
# shellcheck disable=SC2016 # the inner shell expands it
check_with_limit() { bash -c 'ulimit -f "$1"; shift; exec "$@"' - "$(($1 * 1024))" "$top" check -- cat; }
check_finds "a file size limit just below the segment" 3 '^wrong  segment .*ulimit -f unlimited' check_with_limit "$((megabytes - 1))"
check_finds "a file size limit of the segment's size" '' '^ok     segment' check_with_limit "$megabytes"
demo=$tap_top/$O/tests/programs/segment_demo
check "library: a file size limit just below the segment is refused" bash -c "! (ulimit -f $(((megabytes - 1) * 1024)); exec timeout 60 '$demo' --seconds 0.1)"
check "library: a file size limit of the segment's size is accepted" bash -c "(ulimit -f $((megabytes * 1024)); exec timeout 60 '$demo' --seconds 0.1)"

# --- devices: a folder in place of /dev ---
check_with_dev() { # SCRIPT: prepares the folder
    unshare -m sh -c "mount -t tmpfs none /dev && mkdir /dev/dri && mknod -m 666 /dev/null c 1 3 && ($1) && exec '$top' check -- '$program'"
}
if unshare -m sh -c 'mount -t tmpfs none /dev && mknod /dev/null c 1 3' 2>/dev/null; then
    check_finds "accessible devices" 0 '^ok     device       /dev/kfd may be opened' check_with_dev 'touch /dev/kfd /dev/dri/renderD128'
    has "check, accessible devices: render nodes are listed" "$found" '1 of 1 render nodes'
    is "check, accessible devices: no line is wrong" "$(echo "$found" | grep -c '^wrong')" 0
    check_finds "no /dev/kfd" 3 '^wrong  device       there is no /dev/kfd' check_with_dev 'touch /dev/dri/renderD128'
    check_finds "no render node" 3 '^wrong  device       there is no render node' check_with_dev 'touch /dev/kfd'
else
    echo "ok $((tap_number += 1)) - check, devices # SKIP the kernel refuses a mount namespace with its own /dev"
fi

# --- other users, as root ---
if can_be_other_user "check, other users' programs and processes"; then
    chmod 755 "$work"
    mkdir -m 755 "$work/pub"
    cp "$top" "$O/librtl.so" "$work/pub"
    cp "$(command -v cat)" "$work/pub/risen"
    chmod 4755 "$work/pub/risen"
    alice="setpriv --reuid 54321 --regid 54321 --clear-groups env HOME=/ $work/pub/rtl-top"
    check_finds "a set-user-ID program" 3 '^wrong  program .*set-user-ID' $alice check -- "$work/pub/risen"
    sleep 100 &
    sleeper=$!
    tap_pids="$tap_pids $sleeper"
    check_finds "another user's process" 4 '^wrong  process .*\(uid 0\).*uid 54321.*sudo rtl-top -p' $alice check -p "$sleeper"
    if unshare -m sh -c 'mount -t tmpfs none /dev && mknod /dev/null c 1 3' 2>/dev/null; then
        check_finds "a user outside the device's group" 3 'belongs to uid 0, gid 44 and you are uid 54321, gid 54321: .*usermod' \
            unshare -m sh -c "mount -t tmpfs none /dev && touch /dev/kfd && chown 0:44 /dev/kfd && chmod 660 /dev/kfd && exec $alice check -- cat"
    else
        skip "check, a user outside the device's group" "the kernel refuses unshare -m"
    fi
fi
check_finds "unknown process" 2 '^wrong  process      no process' "$top" check -p 2147483647
check_finds "an untraced process" 3 'is not traced, and has not used the GPU' "$top" check -p $$
check_finds "neither command nor process" 1 '^rtl-top: rtl-top check takes a command or a process' "$top" check
for option in --preload --mode=hip --library=x; do
    check_finds "a process with $option" 1 '^rtl-top: -p can.t be combined with --mode, --preload or --library' "$top" check "$option" -p $$
done
check_finds "both command and process" 1 'takes a command or a process' "$top" check -p 1 -- ls
check_finds "an invalid process number" 1 "^rtl-top: -p needs a pid, not '1x'" "$top" check -p 1x
check_finds "a name with control characters" 127 '^wrong  program      no\\x1b\[2Jsuch' "$top" check -- "$(printf 'no\033[2Jsuch')"
finish

#!/bin/sh
# A viewer on the host and processes in namespaces of their own (pids, files, users), the other way round, and what is
# said to whoever may not look, or looks at a process that uses the GPU untraced.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE
play=$tap_top/$O/tests/programs/launch_play

# container OPTIONS OF unshare...: a container with its own /proc and a librtl.so that only it has; $inner is the host's
# number of its program, $outer that of unshare
container() {
    rm -f "$work/c.out"
    mkdir -p "$work/box"
    cat >"$work/enter" <<END
mount -t tmpfs none '$work/box' && cp '$tap_top/$O/librtl.so' '$work/box/librtl.so' || exit 77
export HSA_TOOLS_LIB='$work/box/librtl.so' RTL_MODE=auto
exec tests/vgpu/run ${RTL_RELEASE:+--release $RTL_RELEASE} --script '$work/script' -- '$tap_top/$O/tests/programs/serve' --seconds 600
END
    unshare "$@" --kill-child sh "$work/enter" >"$work/c.out" 2>&1 &
    outer=$!
    tap_pids="$tap_pids $outer"
    wait_until 60 sh -c "grep -q . /proc/$outer/task/$outer/children || ! kill -0 $outer"
    inner=$(tr -d ' ' <"/proc/$outer/task/$outer/children" 2>/dev/null)
    wait_until 120 sh -c "'$top' check -p '$inner' | grep -q '^ok     queues       [0-9]'"
}
echo '* fixed 20us' >"$work/script"

for case in "pids and files:-pfm" "pids, files and users:-Urpfm"; do
    name=${case%%:*} how=${case#*:}
    if ! unshare "$how" --mount-proc true 2>/dev/null; then
        skip "$name" "the kernel refuses unshare $how"
        continue
    fi
    container "$how" --mount-proc
    check "$name: its program is process 1 in there" grep -qE "^NSpid:.*[[:space:]]1\$" "/proc/$inner/status"
    check "$name: the library is there alone" test ! -e "$work/box/librtl.so"
    "$top" -p "$inner" --json -n 3 -d 0.3 >"$work/frames"
    is "$name: it is watched from the host" "$?" 0
    check "$name: by the host's number" sh -c "tail -n 1 '$work/frames' | jq -e '.pid == $inner or .process.pid == $inner'"
    check "$name: kernels are timed, so the heartbeat arrives" wait_until 60 sh -c "'$top' -p $inner --json -n 3 -d 0.3 |
        tail -n 1 | jq -e '[.kernels[] | select(.window.calls > 0 and .p99_ns != null)] | length > 0'"
    has "$name: its mode can be changed from the host" "$("$top" -p "$inner" --mode lite)" 'mode lite'
    has "$name: it is among the traced processes" "$("$top" -b 2>&1)" "traced now:.* $inner( |\$)"
    terminal 100 24 "$top -p $inner -d 0.1; exec cat"
    check "$name: the screen has both numbers" shows "pid $inner" '\[LIVE\]'
    keys q
    has "$name: from inside it is process 1" "$(nsenter -t "$inner" -p -m -U --preserve-credentials "$top" check -p 1 2>&1 || nsenter -t "$inner" -p -m "$top" check -p 1 2>&1)" 'process      1 \(serve'
    kill -9 "$outer" "$inner" 2>/dev/null
done

# a viewer in a user namespace of its own, which has no rights over those of the host
if unshare -Ur true 2>/dev/null; then
    sleep 600 &
    sleeper=$!
    tap_pids="$tap_pids $sleeper"
    if as_others "a container's root on a process of the host's: status"; then
        chmod 755 "$work"
        cp "$top" "$O/librtl.so" "$work"
        found=$(setpriv --reuid 54321 --regid 54321 --clear-groups unshare -Ur "$work/rtl-top" -p "$sleeper" -b 2>&1)
        is "a container's root on a process of the host's: status" "$?" 4
        has "it says whose it is, and what to do" "$found" "process $sleeper \(sleep\) of uid 65534, gid 65534, although you are root: .*run rtl-top on the host"
    fi
else
    skip "a container's root on a process of the host's" "the kernel refuses unshare -U"
fi

# --- uses the GPU, and isn't traced ---
tests/vgpu/run -- "$play" runtime >"$work/p.out" 2>&1 &
untraced=$!
tap_pids="$tap_pids $untraced"
wait_until 60 grep -q holding "$work/p.out"
found=$("$top" -p "$untraced" -b 2>&1)
is "a process that uses the GPU untraced: status" "$?" 3
has "it is told as such, with what to do" "$found" "process $untraced \(launch_play\) uses the GPU and is not traced: .*rtl-top run -- launch_play"
"$play" >"$work/p.out" 2>&1 &
idle=$!
tap_pids="$tap_pids $idle"
wait_until 60 grep -q holding "$work/p.out"
has "one that doesn't use it, likewise" "$("$top" -p "$idle" -b 2>&1)" "is not traced, and has not used the GPU"
finish

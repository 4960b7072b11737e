#!/bin/sh
# A viewer on the host and processes in their own namespaces (pids, files, users), and the reverse. Messages for a user
# without access, and for a process that uses the GPU untraced.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE
play=$tap_top/$O/tests/programs/launch_play

# start_container OPTIONS OF unshare...: start a container with its own /proc and its own librtl.so. $inner is the host's
# number of its program, $outer that of unshare.
start_container() {
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
    start_container "$how" --mount-proc
    check "$name: its program is process 1 inside" grep -qE "^NSpid:.*[[:space:]]1\$" "/proc/$inner/status"
    check "$name: the library exists only inside" test ! -e "$work/box/librtl.so"
    "$top" -p "$inner" --json -n 3 -d 0.3 >"$work/frames"
    is "$name: rtl-top watches it from the host" "$?" 0
    check "$name: JSON has the host's number" sh -c "tail -n 1 '$work/frames' | jq -e '.pid == $inner or .process.pid == $inner'"
    check "$name: kernels are timed, so the heartbeat arrives" wait_until 60 sh -c "'$top' -p $inner --json -n 3 -d 0.3 |
        tail -n 1 | jq -e '[.kernels[] | select(.window.calls > 0 and .p99_ns != null)] | length > 0'"
    has "$name: --mode from the host changes the mode" "$("$top" -p "$inner" --mode lite)" 'mode lite'
    has "$name: it is listed among the traced processes" "$("$top" -b 2>&1)" "traced now:.* $inner( |\$)"
    start_terminal 100 24 "$top -p $inner -d 0.1; exec cat"
    check "$name: the screen shows it by the host's number" shows "pid $inner" '\[LIVE\]'
    keys q
    has "$name: check inside sees process 1" "$(nsenter -t "$inner" -p -m -U --preserve-credentials "$top" check -p 1 2>&1 || nsenter -t "$inner" -p -m "$top" check -p 1 2>&1)" 'process      1 \(serve'
    kill -9 "$outer" "$inner" 2>/dev/null
done

# A viewer in its own user namespace has no rights over the host's namespaces.
if unshare -Ur true 2>/dev/null; then
    sleep 600 &
    sleeper=$!
    tap_pids="$tap_pids $sleeper"
    if can_be_other_user "container's root, host's process"; then
        chmod 755 "$work"
        cp "$top" "$O/librtl.so" "$work"
        found=$(setpriv --reuid 54321 --regid 54321 --clear-groups unshare -Ur "$work/rtl-top" -p "$sleeper" -b 2>&1)
        is "container's root, host's process: exit status is 4" "$?" 4
        has "container's root, host's process: names the owner and a way out" "$found" "process $sleeper \(sleep\) of uid 65534, gid 65534, although you are root: .*run rtl-top on the host"
    fi
else
    skip "container's root, host's process" "the kernel refuses unshare -U"
fi

# --- processes that use the GPU untraced ---
tests/vgpu/run -- "$play" runtime >"$work/p.out" 2>&1 &
untraced=$!
tap_pids="$tap_pids $untraced"
wait_until 60 grep -q holding "$work/p.out"
found=$("$top" -p "$untraced" -b 2>&1)
is "an untraced process that uses the GPU: exit status is 3" "$?" 3
has "an untraced process that uses the GPU: the message says how to trace it" "$found" "process $untraced \(launch_play\) uses the GPU and is not traced: .*rtl-top run -- launch_play"
"$play" >"$work/p.out" 2>&1 &
idle=$!
tap_pids="$tap_pids $idle"
wait_until 60 grep -q holding "$work/p.out"
has "an untraced process without GPU: the message says so" "$("$top" -p "$idle" -b 2>&1)" "is not traced, and has not used the GPU"
finish

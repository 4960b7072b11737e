#!/bin/sh
# The segment of a real program on the software GPU: its memory, access rights, containers seen from outside and from inside,
# and that it leaves nothing behind.
. "$(dirname "$0")/tap.sh"

top=$PWD/$O/rtl-top
has_calls() { # PID: a frame of the process has kernels with calls
    "$top" -p "$1" --json -n 1 -d 0.1 2>"$work/err" | jq -es '.[-1] | .dispatches.counted > 0 and (.kernels | length) > 5'
}
run_serve() { on_gpu --gpus 2 -- "$O/tests/programs/serve" --seconds 120 >"$work/serve.out" 2>&1; }

run_serve &
pid=$!
tap_pids="$tap_pids $pid"
check "segment: the program is traced" wait_until 60 is_traced "$pid"
check "segment: its kernels have calls" wait_until 60 has_calls "$pid"

links=''
for link in /proc/"$pid"/fd/*; do
    case $(readlink "$link") in *rtl-segment*) links="$links $link" ;; esac
done
links=${links# }
is "segment: the process has one descriptor of it" "$(echo "$links" | wc -w)" 1
check "segment: its descriptor is above the program's own" test "${links##*/}" -ge 512
has "segment: its descriptor is closed by exec" "$(cat "/proc/$pid/fdinfo/${links##*/}")" '^flags:.*02[0-7]{6}$'
kilobytes=$(($(stat -L -c '%b' "$links") / 2))
check "segment: at most 2 MB ($kilobytes kB) of $(($(stat -L -c '%s' "$links") >> 20)) MB are allocated" test "$kilobytes" -le 2048
check "segment: other processes can't write to it" sh -c "! dd if=/dev/zero of=$links bs=4096 count=1 conv=notrunc"
check "segment: other processes can't truncate it" sh -c "! truncate -s 4096 $links"
has_calls "$pid" >/dev/null
after=$(($(stat -L -c '%b' "$links") / 2))
check "segment: reading allocates at most 256 kB ($kilobytes kB, then $after kB)" test "$after" -le $((kilobytes + 256))

if can_be_other_user "another user's process"; then
    chmod 711 "$work" # the other user may not have access to the sources' folder
    cp "$top" "$work/rtl-top"
    run_as() { # GID COMMAND...: run as a user without a name
        gid=$1
        shift
        setpriv --reuid=54321 --regid="$gid" --clear-groups "$@"
    }
    run_as 54321 "$work/rtl-top" -p "$pid" -b >/dev/null 2>"$work/err"
    is "another user's process: rtl-top exits with 4" "$?" 4
    has "another user's process: rtl-top names the owner" "$(cat "$work/err")" 'belongs to user root \(uid 0\).*sudo'
    is "another user's process: rtl-top prints one line" "$(wc -l <"$work/err")" 1

    setpriv --reuid=54321 --regid=54321 --clear-groups sleep 100 &
    sleeper=$!
    tap_pids="$tap_pids $sleeper"
    wait_until 60 grep -q 'sleep' "/proc/$sleeper/comm"
    run_as 54322 "$work/rtl-top" -p "$sleeper" -b >/dev/null 2>"$work/err"
    is "the same user in another group: rtl-top exits with 4" "$?" 4
    has "the same user in another group: rtl-top names the group" "$(cat "$work/err")" 'gid 54321.*gid 54322'
    end_process "$sleeper"
fi

end_process "$pid" KILL
check "segment: no file is left of it" sh -c '! ls /dev/shm /tmp | grep rtl-segment'
"$top" -p "$pid" -b >/dev/null 2>"$work/err"
is "segment: rtl-top exits with 2 after the process's end" "$?" 2

# A container with its own pids and mounts
if [ "$(id -u)" = 0 ] && unshare --pid --mount --fork --mount-proc true 2>/dev/null; then
    HSA_TOOLS_LIB=$PWD/$O/librtl.so unshare --pid --mount --fork --kill-child --mount-proc \
        tests/vgpu/run -- "$O/tests/programs/serve" --seconds 120 >"$work/inner.out" 2>&1 &
    outer=$!
    tap_pids="$tap_pids $outer"
    inner_of() { cat "/proc/$outer/task/$outer/children"; }
    is_up() { inner=$(inner_of) && [ -n "$inner" ] && is_traced "${inner% }"; }
    check "container: its program is traced" wait_until 60 is_up
    inner=$(inner_of)
    inner=${inner% }
    check "container: rtl-top outside watches it by the outer pid" wait_until 60 has_calls "$inner"
    is "container: the inner pid is 1" "$(sed -n 's/^NSpid:.*[[:space:]]//p' "/proc/$inner/status")" 1
    nsenter --target "$inner" --pid --mount "$top" -p 1 --json -n 1 -d 0.1 >"$work/json" 2>"$work/err"
    is "container: rtl-top inside watches pid 1" "$?" 0
    is "container: rtl-top inside sees its kernels" "$(jq -s '.[-1].kernels | length > 5' "$work/json")" true
    end_process "$outer" KILL
else
    skip "container: its program is traced" "the kernel refuses unshare, or this is not root"
fi
finish

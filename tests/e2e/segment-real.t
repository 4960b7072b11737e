#!/bin/sh
# The segment of a real program on the software GPU: what it takes, who may look into it, containers seen from outside and
# from inside, nothing left behind.
. "$(dirname "$0")/tap.sh"

top=$PWD/$O/rtl-top
has_calls() { # status 0 when a snapshot of the process has kernels with calls
    "$top" -p "$1" --json -n 1 -d 0.1 2>"$work/err" | jq -es '.[-1] | .dispatches.counted > 0 and (.kernels | length) > 5'
}
serve() { on_gpu --gpus 2 -- "$O/tests/programs/serve" --seconds 120 >"$work/serve.out" 2>&1; }

serve &
pid=$!
tap_pids="$tap_pids $pid"
check "a program is traced" wait_until 60 traced "$pid"
check "its kernels show" wait_until 60 has_calls "$pid"

links=''
for link in /proc/"$pid"/fd/*; do
    case $(readlink "$link") in *rtl-segment*) links="$links $link" ;; esac
done
links=${links# }
is "there is one descriptor of it" "$(echo "$links" | wc -w)" 1
check "out of the way of the program's own" test "${links##*/}" -ge 512
has "closed by exec" "$(cat "/proc/$pid/fdinfo/${links##*/}")" '^flags:.*02[0-7]{6}$'
kilobytes=$(($(stat -L -c '%b' "$links") / 2))
check "it takes no more than 2 MB ($kilobytes kB) of $(($(stat -L -c '%s' "$links") >> 20)) MB" test "$kilobytes" -le 2048
check "nobody else can write to it" sh -c "! dd if=/dev/zero of=$links bs=4096 count=1 conv=notrunc"
check "nor cut it" sh -c "! truncate -s 4096 $links"
has_calls "$pid" >/dev/null
after=$(($(stat -L -c '%b' "$links") / 2))
check "looking at it adds nothing to speak of ($kilobytes kB, then $after kB)" test "$after" -le $((kilobytes + 256))

if as_others "another user's process"; then
    chmod 711 "$work" # a copy that everybody can reach, wherever the sources are
    cp "$top" "$work/rtl-top"
    as() { # GID COMMAND...: as a user of no name
        gid=$1
        shift
        setpriv --reuid=54321 --regid="$gid" --clear-groups "$@"
    }
    as 54321 "$work/rtl-top" -p "$pid" -b >/dev/null 2>"$work/err"
    is "another user's: 4" "$?" 4
    has "it names the owner" "$(cat "$work/err")" 'belongs to user root \(uid 0\).*sudo'
    is "in one line" "$(wc -l <"$work/err")" 1

    setpriv --reuid=54321 --regid=54321 --clear-groups sleep 100 &
    sleeper=$!
    tap_pids="$tap_pids $sleeper"
    wait_until 60 grep -q 'sleep' "/proc/$sleeper/comm"
    as 54322 "$work/rtl-top" -p "$sleeper" -b >/dev/null 2>"$work/err"
    is "the same user, another group: 4" "$?" 4
    has "it names the group" "$(cat "$work/err")" 'gid 54321.*gid 54322'
    end_process "$sleeper"
fi

end_process "$pid" KILL
check "nothing is left of it" sh -c '! ls /dev/shm /tmp | grep rtl-segment'
"$top" -p "$pid" -b >/dev/null 2>"$work/err"
is "then there is no such process: 2" "$?" 2

# in a container: its own pids, its own mounts
if [ "$(id -u)" = 0 ] && unshare --pid --mount --fork --mount-proc true 2>/dev/null; then
    HSA_TOOLS_LIB=$PWD/$O/librtl.so unshare --pid --mount --fork --kill-child --mount-proc \
        tests/vgpu/run -- "$O/tests/programs/serve" --seconds 120 >"$work/inner.out" 2>&1 &
    outer=$!
    tap_pids="$tap_pids $outer"
    inner_of() { cat "/proc/$outer/task/$outer/children"; }
    is_up() { inner=$(inner_of) && [ -n "$inner" ] && traced "${inner% }"; }
    check "a program in a container is traced" wait_until 60 is_up
    inner=$(inner_of)
    inner=${inner% }
    check "seen from outside, by the pid that it has there" wait_until 60 has_calls "$inner"
    is "which is 1 inside" "$(sed -n 's/^NSpid:.*[[:space:]]//p' "/proc/$inner/status")" 1
    nsenter --target "$inner" --pid --mount "$top" -p 1 --json -n 1 -d 0.1 >"$work/json" 2>"$work/err"
    is "seen from inside as pid 1" "$?" 0
    is "with its kernels" "$(jq -s '.[-1].kernels | length > 5' "$work/json")" true
    end_process "$outer" KILL
else
    skip "a program in a container" "the kernel refuses unshare, or this is not root"
fi
finish

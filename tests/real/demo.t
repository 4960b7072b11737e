#!/bin/sh
# make demo SERVER=llama in a terminal: kernels with moving numbers, and no process or folder left after any kind of end; and
# its error messages.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need "$llama_set"
leftover() { # print running programs of the fetched folder, and folders of the demo
    for exe in /proc/[0-9]*/exe; do
        case $(readlink "$exe" 2>/dev/null) in "$(realpath "$real_llama")"/*) echo "$exe" ;; esac
    done
    ls -d "$work"/rtl-demo.* 2>/dev/null
}
nothing_left() { [ -z "$(leftover)" ]; }
none_left() { # name
    check "$1" wait_until 30 nothing_left
    leftover | sed 's/^/# left: /'
}
export TMPDIR="$work"
check "demo: no demo runs before the test" wait_until 60 nothing_left
check "demo: shows kernels and ends with key q" tests/e2e/watch-demo 180 make O="$O" SERVER=llama demo
sed 's/^/# /' "$work/check.out"
none_left "demo: leaves nothing"
check "demo EXECUTE=1: shows kernels and ends with key q" tests/e2e/watch-demo 300 make O="$O" SERVER=llama EXECUTE=1 demo
none_left "demo EXECUTE=1: leaves nothing"

screen_has() { tmux -L "$tap_tmux" capture-pane -p | grep -qE "$1"; }
in_terminal() { # start the demo and wait for kernels on the screen; $demo is the script's pid
    rm -f "$work/pid"
    tap_tmux=rtl-real-$$-$((${session:-0} + 1)) # its own tmux server, because a server that is ending accepts no session
    session=$((${session:-0} + 1))
    tmux -L "$tap_tmux" -f /dev/null new-session -d -x 100 -y 30 \
        "LC_ALL=C.UTF-8 SERVER=llama TMPDIR='$work' O='$O' sh -c 'echo \$\$ >\"$work/pid\"; exec tools/demo'; echo \"ended \$?\"; stty -a; sleep 600"
    wait_until 120 screen_has 'rms_norm_f32'
    demo=$(cat "$work/pid")
}
for signal in TERM INT; do
    in_terminal
    check "demo, $signal: kernels are on the screen before" screen_has 'rms_norm_f32'
    kill "-$signal" "$demo"
    check "demo, $signal: exits with 128 + the signal" wait_until 60 screen_has "^ended 1(43|30)"
    check "demo, $signal: restores the terminal" wait_until 60 screen_has '[^-]icanon.* echo '
    none_left "demo, $signal: leaves nothing"
    tmux -L "$tap_tmux" kill-server
done
in_terminal
tmux -L "$tap_tmux" kill-server # the terminal is gone
none_left "demo, HUP: leaves nothing"
in_terminal
kill -KILL "$(pgrep -P "$demo" -x llama-server)"
check "demo, killed server: rtl-top reports the end" wait_until 60 screen_has 'EXITED|exited|ended'
tmux -L "$tap_tmux" send-keys q
check "demo, killed server: key q ends the demo" wait_until 60 screen_has '^ended '
none_left "demo, killed server: leaves nothing"
tmux -L "$tap_tmux" kill-server

# --- errors: one line and a status ---
terminal() { # ENVIRONMENT...: run the demo with it in a terminal to its end; its output is in $work/said
    env "$@" SERVER=llama O="$O" script -qec tools/demo /dev/null >"$work/said" 2>&1 </dev/null
}
terminal VGPU_DURATION_NS=nonsense
is "demo, server does not start: status 1" "$?" 1
has "demo, server does not start: the message has the reason" "$(cat "$work/said")" 'VGPU_DURATION_NS=nonsense: a whole number'
none_left "demo, server does not start: leaves nothing"
mkdir "$work/bin"
printf '#!/bin/sh\necho "E: Could not resolve the mirror" >&2\ncase "$*" in *indextargets*) exec /usr/bin/apt-get "$@" ;; esac\nexit 100\n' >"$work/bin/apt-get"
chmod +x "$work/bin/apt-get"
terminal VGPU_RELEASES="$work/none" PATH="$work/bin:$PATH"
is "make demo without a network: status 1" "$?" 1
has "make demo without a network: the failed fetch is reported" "$(cat "$work/said")" "^releases: llama: no list of experimental's packages from .*is there a network.*Could not resolve"
rm "$work/bin/apt-get"
printf '#!/bin/sh\necho Filesystem; echo "x 1 1 1000 1%% /"\n' >"$work/bin/df"
chmod +x "$work/bin/df"
PATH="$work/bin:$PATH" VGPU_RELEASES="$work/none" tests/vgpu/releases llama >"$work/said" 2>&1
is "releases on a full disk: status 4" "$?" 4
has "releases on a full disk: the space needed and the free space are reported" "$(cat "$work/said")" '^releases: llama: needs [0-9]+ MB in .*, where [0-9]+ MB are free'
is "releases on a full disk: no file remains" "$(find "$work/none" -type f ! -name '.*.lock')" ""
mkdir "$work/half"
VGPU_RELEASES="$work/half" tests/vgpu/releases smi >"$work/said" 2>&1 &
fetching=$!
tap_pids="$tap_pids $fetching"
wait_until 60 test -s "$work/half/.smi.new/log"
end_process "$fetching"
is "releases: an interrupted fetch leaves nothing" "$(ls "$work/half")$(find "$work/half" -mindepth 1 ! -name '.*.lock')" ""
EXECUTE=1 tools/demo >"$work/said" 2>&1
is "demo: EXECUTE=1 without SERVER=llama is refused" "$? $(cat "$work/said")" "1 make demo: EXECUTE=1 needs SERVER=llama"
EXECUTE=yes SERVER=llama tools/demo >"$work/said" 2>&1
is "demo: another value of EXECUTE is refused" "$? $(cat "$work/said")" "1 make demo: EXECUTE=yes: use 1, or leave it unset"
SERVER=other tools/demo >"$work/said" 2>&1
is "demo: an unknown SERVER is refused" "$? $(cat "$work/said")" "1 make demo: SERVER=other: use llama, or leave it unset"
finish

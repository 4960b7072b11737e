#!/bin/sh
# rtl-top report: what it says of a process on the GPU, and that nothing private is in it.
. "$(dirname "$0")/tap.sh"
top=$O/rtl-top

(on_gpu --gpus 1 -- "$O/tests/programs/serve" --gpus 1 >/dev/null 2>&1 </dev/null) &
program=$!
tap_pids=$program
wait_until 120 traced "$program"
counted() { "$top" report -p "$program" | grep -cE '^  kernel [0-9a-f]{16} [a-z]+: calls [1-9]|^  dispatches: .* timed [1-9]' | grep -q '[2-9]'; }
check "a process's kernels are there, by a hash" wait_until 60 counted
"$top" report -p "$program" >"$work/report"
has "the version" "$(cat "$work/report")" "^rtl-top $("$top" --version | sed -n '1s/^rtl-top \([0-9.]*\).*/\1/p'), "
has "the runtime" "$(cat "$work/report")" '^  runtime loaded: [A-Z].* [0-9]'
has "queues and which way" "$(cat "$work/report")" '^  queue in slot 0 of G0: live, way (native|intercept) \([a-z_]+\), [0-9]+ packets'
has "the GPU" "$(cat "$work/report")" '^  G0 .*gfx[0-9a-f]+: [0-9]+ CUs'
has "what was counted" "$(cat "$work/report")" '^  dispatches: counted [1-9][0-9]*, timed [1-9]'
is "no path, no command line, no name of a kernel" "$(grep -E '(^|[^A-Za-z])/|--gpus|Cijk' "$work/report" | grep -v '^driver: ')" ""
has "names come when they are asked for" "$("$top" report -p "$program" --names)" '^  kernel .* Cijk_'
has "without a process it is about all" "$("$top" report)" "^process $program: librtl.so [0-9.]+, mode default"
end_process "$program" KILL
tap_pids=
# a container's ROCm is its own, also where a link in it begins with /
cat >"$work/in-container" <<'END'
mount -t tmpfs none /opt && mkdir -p /opt/rocm-9/.info && ln -s /opt/rocm-9 /opt/rocm && echo 9.8.7-1 >/opt/rocm-9/.info/version && exec "$@"
END
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    unshare -m sh "$work/in-container" "$O/tests/programs/segment_demo" --seconds 600 >/dev/null &
    contained=$!
    tap_pids=$contained
    wait_until 60 traced "$contained"
    has "of a process in a container it is the container's ROCm" "$("$top" report -p "$contained")" '^  runtime loaded: .*; ROCm there: 9\.8\.7-1$'
    end_process "$contained" KILL
    tap_pids=
fi
"$top" report -p "$program" >"$work/report" 2>"$work/err"
is "what can't be read is told, with its status" "$? $(wc -l <"$work/err")" "2 1"
has "and the system is reported still" "$(cat "$work/report")" '^system: Linux '
"$top" report nonsense 2>"$work/err"
is "a word too many is refused" "$? $(wc -l <"$work/err")" "1 1"
finish

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
# --- of which release the runtime is: by what stands beside it, in a container that the test makes ---
runtime=$(ldd "$O/tests/programs/hsa_dispatch" | sed -n 's/.*libhsa-runtime64.so.* => \([^ ]*\) .*/\1/p')
# in_container SETUP [LIBRARY]: a traced process with that under /opt, which has the library loaded; $contained is its pid
in_container() {
    cat >"$work/in-container" <<END
mount -t tmpfs none /opt && cd /opt && { $1; } && cd "$tap_top" && LD_PRELOAD=${2:-} exec "$O/tests/programs/segment_demo" --seconds 600
END
    unshare -m sh -e "$work/in-container" >/dev/null &
    contained=$!
    tap_pids=$contained
    wait_until 60 traced "$contained"
}
leave() {
    end_process "$contained" KILL
    tap_pids=
}
put() { echo "mkdir -p \"\$(dirname $1)\" && cp '$runtime' $1"; } # PATH
# loaded NAME VERSION: report and check say it of the process in the container
loaded() {
    has "report: $1" "$("$top" report -p "$contained")" "^  runtime loaded: $2; ROCm there: "
    has "check: $1" "$("$top" check -p "$contained")" "^ok     runtime      $2, HSA API [0-9.]+\$"
    leave
}
if [ "$(id -u)" = 0 ] && [ -n "$runtime" ] && unshare -m true 2>/dev/null; then
    in_container 'mkdir -p rocm-9/.info && ln -s /opt/rocm-9 rocm && echo 9.8.7-1 >rocm-9/.info/version'
    has "report: a process in a container has the container's ROCm" "$("$top" report -p "$contained")" '^  runtime loaded: .*; ROCm there: 9\.8\.7-1$'
    leave
    in_container "$(put rocm-7.2.4/lib/libhsa-runtime64.so.1) && mkdir rocm-7.2.4/.info && echo 7.2.4-93 >rocm-7.2.4/.info/version" \
        /opt/rocm-7.2.4/lib/libhsa-runtime64.so.1
    loaded "ROCm in a folder of its own, by .info/version" 'ROCm 7\.2\.4-93 \(\.info/version\)'
    in_container "$(put rocm/core-7.14/lib/libhsa-runtime64.so.1) && mkdir rocm/.info rocm/core-7.14/.info && echo 1.2.3 >rocm/.info/version && echo 7.14.0 >rocm/core-7.14/.info/version" \
        /opt/rocm/core-7.14/lib/libhsa-runtime64.so.1
    loaded "ROCm in /opt/rocm/core-7.14, beside another" 'ROCm 7\.14\.0 \(\.info/version\)'
    in_container "$(put rocm/core-7.14/lib/libhsa-runtime64.so.1)" /opt/rocm/core-7.14/lib/libhsa-runtime64.so.1
    loaded "ROCm in /opt/rocm/core-7.14 without a version in it" "ROCm 7\\.14 \\(its folder's name\\)"
    in_container "$(put rocm/lib/libhsa-runtime64.so.1.18.70204)" /opt/rocm/lib/libhsa-runtime64.so.1.18.70204
    loaded "a file that is named for its release" "ROCm 7\\.2\\.4 \\(its file's name\\)"
    in_container "$(put rocm/lib/libhsa-runtime64.so.1.18.70200) && mkdir rocm/.info && echo 7.2.4-93 >rocm/.info/version" \
        /opt/rocm/lib/libhsa-runtime64.so.1.18.70200
    rm "/proc/$contained/root/opt/rocm/lib/libhsa-runtime64.so.1.18.70200"
    loaded "a runtime whose file was replaced by a newer ROCm" "ROCm 7\\.2\\.0 \\(its file's name\\)"
    site=venv/lib/python3.12/site-packages
    in_container "$(put $site/_rocm_sdk_core/lib/libhsa-runtime64.so.1) && mkdir $site/rocm_sdk_core-7.14.0rc1.dist-info $site/rocm_sdk_libs-9.9.9.dist-info" \
        /opt/$site/_rocm_sdk_core/lib/libhsa-runtime64.so.1
    loaded "a Python wheel" 'ROCm 7\.14\.0rc1 \(Python wheel\)'
    # what a hostile container writes there is neither believed nor printed, nor is anything but a plain file opened
    in_container "$(put rocm-6.4.3/lib/libhsa-runtime64.so.1) && mkdir rocm-6.4.3/.info && printf '6.4.3\\033[2J\\n' >rocm-6.4.3/.info/version" \
        /opt/rocm-6.4.3/lib/libhsa-runtime64.so.1
    loaded "a version with control characters is no version" "ROCm 6\\.4\\.3 \\(its folder's name\\)"
    in_container "$(put rocm-6.4.3/lib/libhsa-runtime64.so.1) && mkdir rocm-6.4.3/.info && mkfifo rocm-6.4.3/.info/version" \
        /opt/rocm-6.4.3/lib/libhsa-runtime64.so.1
    loaded "a version that is a pipe is not waited for" "ROCm 6\\.4\\.3 \\(its folder's name\\)"
    in_container "$(put rocm-6.4.3/lib/libhsa-runtime64.so.1) && mkdir rocm-6.4.3/.info && ln -s /etc/hostname rocm-6.4.3/.info/version && mount -t tmpfs none /etc && echo 6.6.6 >/etc/hostname" \
        /opt/rocm-6.4.3/lib/libhsa-runtime64.so.1
    loaded "a link is followed below the container's root" 'ROCm 6\.6\.6 \(\.info/version\)'
    # without a process: what is installed
    cat >"$work/installed" <<END
mount -t tmpfs none /opt && mkdir -p /opt/rocm-7.2.4/.info /opt/rocm/.info /opt/rocm/core-7.14/.info /opt/$site/rocm_sdk_core-7.13.1.dist-info
echo 7.2.4-93 >/opt/rocm-7.2.4/.info/version; echo 7.2.4-93 >/opt/rocm/.info/version; echo 7.14.0 >/opt/rocm/core-7.14/.info/version
exec "$tap_top/$top" report
END
    has "report without a process: lists every installed ROCm" "$(unshare -m sh -e "$work/installed")" \
        '^driver: .*; ROCm installed: 7\.2\.4-93 \(/opt/rocm\), 7\.14\.0 \(/opt/rocm/core-\*\), 7\.2\.4-93 \(/opt/rocm-\*\), 7\.13\.1 \(Python wheel\)$'
else
    skip "of which release the runtime in a container is" "needs root, unshare -m and a runtime"
fi
"$top" report -p "$program" >"$work/report" 2>"$work/err"
is "what can't be read is told, with its status" "$? $(wc -l <"$work/err")" "2 1"
has "and the system is reported still" "$(cat "$work/report")" '^system: Linux '
"$top" report nonsense 2>"$work/err"
is "a word too many is refused" "$? $(wc -l <"$work/err")" "1 1"
finish

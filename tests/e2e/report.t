#!/bin/sh
# rtl-top report: its description of a process on the GPU, without private data.
. "$(dirname "$0")/tap.sh"
top=$O/rtl-top

(on_gpu --gpus 1 -- "$O/tests/programs/serve" --gpus 1 >/dev/null 2>&1 </dev/null) &
program=$!
tap_pids=$program
wait_until 120 is_traced "$program"
has_counts() { "$top" report -p "$program" | grep -cE '^  kernel [0-9a-f]{16} [a-z]+: calls [1-9]|^  dispatches: .* timed [1-9]' | grep -q '[2-9]'; }
check "report: has a process's kernels by hash" wait_until 60 has_counts
"$top" report -p "$program" >"$work/report"
has "report: has the version" "$(cat "$work/report")" "^rtl-top $("$top" --version | sed -n '1s/^rtl-top \([0-9.]*\).*/\1/p'), "
has "report: has the runtime" "$(cat "$work/report")" '^  runtime loaded: [A-Z].* [0-9]'
has "report: has queues and their path" "$(cat "$work/report")" '^  queue in slot 0 of G0: live, way (native|intercept) \([a-z_]+\), [0-9]+ packets'
has "report: has the GPU" "$(cat "$work/report")" '^  G0 .*gfx[0-9a-f]+: [0-9]+ CUs'
has "report: has the counts" "$(cat "$work/report")" '^  dispatches: counted [1-9][0-9]*, timed [1-9]'
is "report: has no path, no command line, no kernel name" "$(grep -E '(^|[^A-Za-z])/|--gpus|Cijk' "$work/report" | grep -v '^driver: ')" ""
has "report --names: has kernel names" "$("$top" report -p "$program" --names)" '^  kernel .* Cijk_'
has "report without a process: describes all traced ones" "$("$top" report)" "^process $program: librtl.so [0-9.]+, mode default"
end_process "$program" KILL
tap_pids=
# --- the runtime's release, by the files beside it, in a container that the test makes ---
runtime=$(ldd "$O/tests/programs/hsa_dispatch" | sed -n 's/.*libhsa-runtime64.so.* => \([^ ]*\) .*/\1/p')
# start_container SETUP [LIBRARY]: start a traced process with SETUP under /opt and the library loaded; its pid is
# $contained
start_container() {
    cat >"$work/in-container" <<END
mount -t tmpfs none /opt && cd /opt && { $1; } && cd "$tap_top" && LD_PRELOAD=${2:-} exec "$O/tests/programs/segment_demo" --seconds 600
END
    unshare -m sh -e "$work/in-container" >/dev/null &
    contained=$!
    tap_pids=$contained
    wait_until 60 is_traced "$contained"
}
end_container() {
    end_process "$contained" KILL
    tap_pids=
}
copy_command() { echo "mkdir -p \"\$(dirname $1)\" && cp '$runtime' $1"; } # PATH
# check_version NAME VERSION: report and check print the version for the process in the container
check_version() {
    has "report: $1" "$("$top" report -p "$contained")" "^  runtime loaded: $2; ROCm there: "
    has "check: $1" "$("$top" check -p "$contained")" "^ok     runtime      $2, HSA API [0-9.]+\$"
    end_container
}
if [ "$(id -u)" = 0 ] && [ -n "$runtime" ] && unshare -m true 2>/dev/null; then
    start_container 'mkdir -p rocm-9/.info && ln -s /opt/rocm-9 rocm && echo 9.8.7-1 >rocm-9/.info/version'
    has "report: a process in a container has the container's ROCm version" "$("$top" report -p "$contained")" '^  runtime loaded: .*; ROCm there: 9\.8\.7-1$'
    end_container
    start_container "$(copy_command rocm-7.2.4/lib/libhsa-runtime64.so.1) && mkdir rocm-7.2.4/.info && echo 7.2.4-93 >rocm-7.2.4/.info/version" \
        /opt/rocm-7.2.4/lib/libhsa-runtime64.so.1
    check_version "ROCm in a folder of its own, by .info/version" 'ROCm 7\.2\.4-93 \(\.info/version\)'
    start_container "$(copy_command rocm/core-7.14/lib/libhsa-runtime64.so.1) && mkdir rocm/.info rocm/core-7.14/.info && echo 1.2.3 >rocm/.info/version && echo 7.14.0 >rocm/core-7.14/.info/version" \
        /opt/rocm/core-7.14/lib/libhsa-runtime64.so.1
    check_version "ROCm in /opt/rocm/core-7.14, beside another" 'ROCm 7\.14\.0 \(\.info/version\)'
    start_container "$(copy_command rocm/core-7.14/lib/libhsa-runtime64.so.1)" /opt/rocm/core-7.14/lib/libhsa-runtime64.so.1
    check_version "ROCm in /opt/rocm/core-7.14 without a version in it" "ROCm 7\\.14 \\(its folder's name\\)"
    start_container "$(copy_command rocm/lib/libhsa-runtime64.so.1.18.70204)" /opt/rocm/lib/libhsa-runtime64.so.1.18.70204
    check_version "a file that is named for its release" "ROCm 7\\.2\\.4 \\(its file's name\\)"
    start_container "$(copy_command rocm/lib/libhsa-runtime64.so.1.18.70200) && mkdir rocm/.info && echo 7.2.4-93 >rocm/.info/version" \
        /opt/rocm/lib/libhsa-runtime64.so.1.18.70200
    rm "/proc/$contained/root/opt/rocm/lib/libhsa-runtime64.so.1.18.70200"
    check_version "a runtime whose file was replaced by a newer ROCm" "ROCm 7\\.2\\.0 \\(its file's name\\)"
    site=venv/lib/python3.12/site-packages
    start_container "$(copy_command $site/_rocm_sdk_core/lib/libhsa-runtime64.so.1) && mkdir $site/rocm_sdk_core-7.14.0rc1.dist-info $site/rocm_sdk_libs-9.9.9.dist-info" \
        /opt/$site/_rocm_sdk_core/lib/libhsa-runtime64.so.1
    check_version "a Python wheel" 'ROCm 7\.14\.0rc1 \(Python wheel\)'
    # A hostile container's text is neither believed nor printed, and only plain files are opened.
    start_container "$(copy_command rocm-6.4.3/lib/libhsa-runtime64.so.1) && mkdir rocm-6.4.3/.info && printf '6.4.3\\033[2J\\n' >rocm-6.4.3/.info/version" \
        /opt/rocm-6.4.3/lib/libhsa-runtime64.so.1
    check_version "a version with control characters is no version" "ROCm 6\\.4\\.3 \\(its folder's name\\)"
    start_container "$(copy_command rocm-6.4.3/lib/libhsa-runtime64.so.1) && mkdir rocm-6.4.3/.info && mkfifo rocm-6.4.3/.info/version" \
        /opt/rocm-6.4.3/lib/libhsa-runtime64.so.1
    check_version "a version that is a pipe is not read" "ROCm 6\\.4\\.3 \\(its folder's name\\)"
    start_container "$(copy_command rocm-6.4.3/lib/libhsa-runtime64.so.1) && mkdir rocm-6.4.3/.info && ln -s /etc/hostname rocm-6.4.3/.info/version && mount -t tmpfs none /etc && echo 6.6.6 >/etc/hostname" \
        /opt/rocm-6.4.3/lib/libhsa-runtime64.so.1
    check_version "a link is followed below the container's root" 'ROCm 6\.6\.6 \(\.info/version\)'
    # Without a process: every installed release
    cat >"$work/installed" <<END
mount -t tmpfs none /opt && mkdir -p /opt/rocm-7.2.4/.info /opt/rocm/.info /opt/rocm/core-7.14/.info /opt/$site/rocm_sdk_core-7.13.1.dist-info
echo 7.2.4-93 >/opt/rocm-7.2.4/.info/version; echo 7.2.4-93 >/opt/rocm/.info/version; echo 7.14.0 >/opt/rocm/core-7.14/.info/version
exec "$tap_top/$top" report
END
    has "report without a process: lists every installed ROCm" "$(unshare -m sh -e "$work/installed")" \
        '^driver: .*; ROCm installed: 7\.2\.4-93 \(/opt/rocm\), 7\.14\.0 \(/opt/rocm/core-\*\), 7\.2\.4-93 \(/opt/rocm-\*\), 7\.13\.1 \(Python wheel\)$'
else
    skip "report: the release of a container's runtime" "needs root, unshare -m and a runtime"
fi
"$top" report -p "$program" >"$work/report" 2>"$work/err"
is "report of an unreadable process: exits with 2 and one line" "$? $(wc -l <"$work/err")" "2 1"
has "report of an unreadable process: still describes the system" "$(cat "$work/report")" '^system: Linux '
"$top" report nonsense 2>"$work/err"
is "report: a second argument is refused" "$? $(wc -l <"$work/err")" "1 1"
finish

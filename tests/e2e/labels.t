#!/bin/bash
# Workers of servers: labels from titles, environments and lists of devices; rtl-top compares ranks within their group.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/serve.sh"

lock_for_viewing_all

cat >"$work/script" <<'END'
*_MT128x128x64_*  fixed 400us
*                 fixed 100us
END
sed 's/400us/600us/' "$work/script" >"$work/slower"
sed 's/400us/1500us/' "$work/script" >"$work/slowest"
cat >"$work/launcher" <<END
titled() { # TITLE SCRIPT
    TITLE=\$1 tests/vgpu/run --gpus 4 --script \$2 --preload "$tap_top/$O/tests/programs/title_preload.so" -- \
        "$O/tests/programs/serve" --gpus 1 --layers 1 --seconds 300 &
}
titled VLLM::Worker_DP0_TP0_EP0 $work/script
titled VLLM::Worker_DP0_TP1_EP1 $work/slower
titled VLLM::Worker_DP1_TP0_EP2 $work/slowest
titled VLLM::Worker_DP1_TP1_EP3 $work/slowest
titled VLLM::EngineCore_DP1 $work/script
titled VLLM::EngineCore_DP1 $work/script
RANK=5 titled sglang::scheduler $work/script
ROCR_VISIBLE_DEVICES=0 HIP_VISIBLE_DEVICES=0 titled a $work/script
ROCR_VISIBLE_DEVICES=1 HIP_VISIBLE_DEVICES=0 titled b $work/script
ROCR_VISIBLE_DEVICES=2,3 CUDA_VISIBLE_DEVICES=1 titled c $work/script
wait
END
(HSA_TOOLS_LIB=$tap_top/$O/librtl.so exec sh "$work/launcher") >"$work/out" 2>&1 &
launcher=$!
disown "$launcher" # bash prints no line when the test ends it
tap_pids="$tap_pids $launcher"
are_listed() {
    "$top" -p "$launcher" --json -d 1 -n 2 >"$work/json" 2>/dev/null
    [ "$(tail -n 1 "$work/json" | jq '[.processes[] | select(.counted > 0)] | length')" = 10 ]
}
check "all processes dispatch" wait_until 120 are_listed
query() { tail -n 1 "$work/json" | jq -r "$1"; }
for pid in $(query '.processes[].pid'); do tap_pids="$tap_pids $pid"; done
labels() { query ".processes[] | select(.command | test(\"$1\")) | \"\(.label) \(.rank)\"" | sort | tr '\n' ' '; }

is "JSON: labels have all coordinates of the titles" "$(labels Worker)" \
    'DP0_TP0_EP0 null DP0_TP1_EP1 null DP1_TP0_EP2 null DP1_TP1_EP3 null '
has "JSON: equal titles are distinguished by the pid" "$(labels EngineCore)" '^DP1\[[0-9]+\] 1 DP1\[[0-9]+\] 1 $'
is "JSON: no two processes have the same label" "$(query '[.processes[].label] | length - (unique | length)')" 0
is "JSON: the rank survives a title over the environment" "$(labels scheduler)" 'R5 5 '
is "JSON: ROCR_VISIBLE_DEVICES=0 HIP_VISIBLE_DEVICES=0 is device 0" "$(labels '^a$')" 'D0 null '
is "JSON: ROCR_VISIBLE_DEVICES=1 HIP_VISIBLE_DEVICES=0 is device 1" "$(labels '^b$')" 'D1 null '
is "JSON: ROCR_VISIBLE_DEVICES=2,3 CUDA_VISIBLE_DEVICES=1 is device 3" "$(labels '^c$')" 'D3 null '

# --- all ranks of the second data parallel group are slow; in the first group only one rank is ---
slowest_is() { # LABEL, of the kernel whose durations differ
    "$top" -p "$launcher" --json -d 1 -n 3 >"$work/json"
    [ "$(query '.kernels[] | select(.name | test("MT128x128x64")) | .slowest.label')" = "$1" ]
}
check "JSON: the slowest rank is that of its data parallel group" wait_until 60 slowest_is DP0_TP1_EP1
shows_whole_label() { "$top" -p "$launcher" -b -d 1 -n 3 | grep -qE ' DP0_TP1_EP1 1\.[3-7]x .*128x128x64'; }
check "text: SLOWEST shows the whole label" wait_until 60 shows_whole_label

# --- the metrics ---
start_server labels -p "$launcher" 127.0.0.1:0
has_worker() { get_page >"$work/page" && grep -q 'rtl_process_dispatches_total{.*rank="DP1_TP1_EP3"' "$work/page"; }
check "serve: the rank of a worker has all coordinates" wait_until 60 has_worker
check "serve: a rank that is a number stays one" grep -q 'rtl_process_dispatches_total{.*rank="5"' "$work/page"
end_process "$server"

# --- observed from outside: /proc shows an overwritten environment, so the label comes from the title ---
observed() { # VARIABLES: start an untraced process; sets pid
    env -u HSA_TOOLS_LIB "$@" tests/vgpu/run --gpus 4 --script "$work/script" \
        --preload "$tap_top/$O/tests/programs/title_preload.so" -- \
        "$O/tests/programs/serve" --gpus 1 --layers 1 --seconds 300 >/dev/null 2>&1 &
    pid=$!
    tap_pids="$tap_pids $pid"
}
observed RANK=5 TITLE=sglang::scheduler_DP2_TP1
titled=$pid
observed ROCR_VISIBLE_DEVICES=2,3 HIP_VISIBLE_DEVICES=1
are_observed() {
    "$top" -p "$titled" -p "$pid" --json -d 1 -n 2 >"$work/json" 2>/dev/null
    [ "$(query '[.processes[].label] | sort | join(" ")')" = 'D3 DP2_TP1' ]
}
check "JSON: observed processes have labels of title and devices" wait_until 60 are_observed
finish

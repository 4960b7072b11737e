#!/bin/sh
# llama.cpp's server, started without the library and observed from outside, on one GPU and with its layers over two: every
# kernel's count equals the software GPU's, except for packets that are reported as lost.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need "$llama_set"
check "llama-server: a model of random weights is made" llama_make_model
python() {
    (llama_python "$tap_top/tests/real/ask.py" "$work/llama.sock" "$@")
}

# observed NAME GPUS ARGS
observed() {
    name=$1 gpus=$2
    shift 2
    rm -f "$work/truth" "$work/llama.sock" "$work/frames"
    (llama_server "$work/llama.sock" "--gpus $gpus --truth $work/truth" "$@" >"$work/out" 2>&1 </dev/null) &
    program=$!
    tap_pids="$tap_pids $program"
    # observe from the start, because a queue's ring may hold fewer packets than arrive
    wait_until 60 sh -c "grep -q libhsa-runtime64 /proc/$program/maps || ! kill -0 $program"
    "$O/rtl-top" -p "$program" --observe --no-children --json -d 0.2 >"$work/frames" 2>"$work/err" &
    observer=$!
    tap_pids="$tap_pids $observer"
    check "$name: the server starts" python ready "$program"
    check "$name: the server answers" python answers 3
    check "$name: every dispatch is counted under its kernel, or as lost" wait_until 60 counted
    sed 's/^/# /' "$work/counted"
    is "$name: number of GPUs whose queues had dispatches" "$(last '[.queues[] | select(.dispatches > 0) | .gpu] | unique | length')" "$gpus"
    kill "$program"
    wait "$program"
    is "$name: the server ends with status 0" "$?" 0
    wait "$observer"
    is "$name: rtl-top ends with the server, with status 6" "$?" 6
    tap_pids=
}
last() { tail -n 2 "$work/frames" | head -n 1 | jq -r "$1"; } # query the last complete frame

# Compare each kernel's count with the truth and print one line; passes if at most the lost packets are missing.
counted() {
    last '.kernels[] | select(.calls > 0 and (.name | startswith("(") | not)) | "\(.name)\t\(.calls)"' >"$work/said"
    awk -F '\t' -v lost="$(last '.observed.packets_lost // 0')" '
        NR == FNR { said[$1] = $2; next }
        FNR > 1 && $7 !~ /^</ { launched[$7]++; all++ }
        END {
            for (kernel in launched) {
                kernels++
                if (said[kernel] > launched[kernel]) more++
                missing += launched[kernel] - said[kernel]
            }
            for (kernel in said) if (!(kernel in launched)) more++
            printf "%d kernels, %d dispatches, %d missing, %d said to be lost, %d with too many\n", kernels, all, missing, lost, more
            exit !(all > 0 && more == 0 && missing <= lost)
        }' "$work/said" "$work/truth" >"$work/counted"
}

observed "one GPU" 1
observed "layers over two GPUs" 2
finish

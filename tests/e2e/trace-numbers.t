#!/bin/sh
# GPUs and queues have the same number and name everywhere. A process that sees its two GPUs in reverse order of their addresses
# is compared on the screen's JSON and text, in its trace, in exports and in a recording. Then a process with the other order is
# is_traced into the same file.
. "$(dirname "$0")/tap.sh"

top=$O/rtl-top
sql() { sqlite3 -separator ' ' "$1" "$2" 2>&1; }
is_held() { grep -q '^holding' "$work/out" || ! is_alive "$program"; }

# start_program NAME VISIBLE: start hsa_dispatch on two GPUs in that order; $program is its pid; the caller holds its input open
start_program() {
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in"
    (ROCR_VISIBLE_DEVICES=$2 RTL_TRACE=1 on_gpu --gpus 2 --truth "$work/$1.truth" -- "$O/tests/programs/hsa_dispatch" \
        --launches 2000 --queues 4 --threads 2 --gpus 2 --hold <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
}
wait_settled() {
    wait_until 60 is_held
    wait_until 30 sh -c "'$top' -p $program --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'"
}
# The screen's queues with dispatches, one a line: address, number of GPU and queue, name, dispatches
screen_rows() {
    jq -r '. as $all | .queues[] | select(.dispatches > 0) | . as $q | ($all.gpus[] | select(.id == $q.gpu)) as $g |
        "\($g.pci) \($q.gpu) \($q.id) \($q.name) \($q.dispatches)"' "$1" | sort
}

start_program reversed 1,0
exec 3>"$work/in"
wait_settled
"$top" -p "$program" --json -n 1 >"$work/json"
screen_rows "$work/json" >"$work/screen"
is "reverse order: the process sees its GPUs reversed" "$(jq -r '.gpus[] | "\(.id) \(.pci)"' "$work/json" | tr '\n' ' ')" \
    "0 0000:04:00.0 1 0000:03:00.0 "
is "reverse order: four queues have dispatches" "$(wc -l <"$work/screen")" 4
# The model numbers GPUs by address.
is "reverse order: dispatches of each GPU equal the model's" \
    "$(awk 'FNR > 1 && $7 !~ /^</ { n[$1]++ } END { print n[0], n[1] }' "$work/reversed.truth")" \
    "$(awk '{ n[$1] += $NF } END { print n["0000:03:00.0"], n["0000:04:00.0"] }' "$work/screen")"

"$top" -p "$program" --trace "$work/trace.db" -n 1 -d 0.1 2>"$work/said"
# trace_rows PID: the trace's rows by queue, in the form of screen_rows, with the file's numbers and names
trace_rows() {
    sql "$work/trace.db" "SELECT json_extract(g.value, '\$.pci'), o.gpuId, o.queueId, json_extract(q.value, '\$.name'), count(*)
        FROM rocpd_op o JOIN rocpd_metadata g ON g.tag = 'gpu ' || o.gpuId
        JOIN (SELECT tag, iif(json_valid(value), value, '{}') AS value FROM rocpd_metadata) q
            ON q.tag = 'queue ' || o.queueId AND json_extract(q.value, '\$.gpu') = o.gpuId
        JOIN (SELECT tag, iif(json_valid(value), value, '{}') AS value FROM rocpd_metadata) p
            ON p.tag = 'process ' || json_extract(q.value, '\$.process')
        WHERE json_extract(p.value, '\$.pid') = $1 GROUP BY 2, 3" | sort
}
is "trace: numbers, names and dispatches equal the screen's" "$(trace_rows "$program")" "$(cat "$work/screen")"

"$top" export "$work/trace.db" --csv "$work/trace.csv" --perfetto "$work/trace.json" 2>"$work/said"
cut -d' ' -f4- "$work/screen" | sed 's/ [0-9]*$//' | sort >"$work/names"
csv_columns() { # FILE NAME...: print these columns of the CSV
    file=$1
    shift
    sqlite3 -separator ' ' :memory: ".import --csv $file csv" "SELECT $(echo "$*" | sed 's/ /, /g') FROM csv"
}
is "CSV: numbers, names and dispatches equal the screen's" "$(csv_columns "$work/trace.csv" gpu_pci gpu queue queue_name | sort | uniq -c | awk '{ n = $1; $1 = ""; print substr($0, 2), n }' | sort)" \
    "$(cat "$work/screen")"
is "CSV: has the GPU's name, the process and the kernel's short name" "$(csv_columns "$work/trace.csv" gpu_name pid short kernel | sort -u | head -n 1)" \
    "gfx90a $program hsa_00 hsa_00"
is "Perfetto: tracks have the screen's names" \
    "$(jq -r '.traceEvents[] | select(.name == "thread_name") | .args.name' "$work/trace.json" | sed "s/ of process $program.*//" | sort -u)" \
    "$(cat "$work/names")"
is "Perfetto: GPUs have the screen's names" "$(jq -r '.traceEvents[] | select(.name == "process_name" and .pid >= 5000000) | .args.name' "$work/trace.json" | sort)" \
    "$(printf 'G0 04:00.0 gfx90a\nG1 03:00.0 gfx90a')"
is "text: queues have the screen's names" "$("$top" -p "$program" -b -n 1 | sed -n 's/^\(G[0-9]* [^ ]* queue [0-9]*\)\( destroyed\)*  .*/\1/p' | grep -Fxf "$work/names" | sort)" \
    "$(cat "$work/names")"
"$top" -p "$program" --snapshot "$work/snapshot.db"
is "recording: queues and dispatches equal the screen's" "$(sql "$work/snapshot.db" "SELECT g.address, s.gpu, s.queue_id, s.dispatches FROM rtl_queue_sample s
    JOIN rtl_gpu g ON g.gpu = s.gpu WHERE s.dispatches > 0" | sort)" "$(sed 's/ G.* queue [0-9]*//' "$work/screen")"
"$top" -r "$work/snapshot.db" --json -n 1 >"$work/replayed"
is "replay: queues and dispatches equal the screen's" "$(screen_rows "$work/replayed")" "$(cat "$work/screen")"

# --- the same file gets a process with its GPUs in order of address ---
first=$program
exec 4>&3
start_program straight 0,1
exec 3>"$work/in"
wait_settled
"$top" -p "$program" --json -n 1 >"$work/json.2"
screen_rows "$work/json.2" >"$work/screen.2"
"$top" -p "$program" --trace "$work/trace.db" -n 1 -d 0.1 2>"$work/said"
is "second process: the first one's rows are unchanged" "$(trace_rows "$first")" "$(cat "$work/screen")"
is "second process: a GPU has one number in the file" "$(sql "$work/trace.db" "SELECT gpuId, count(*) FROM rocpd_op GROUP BY 1" | tr '\n' ' ')" \
    "$(cat "$work/screen" "$work/screen.2" | awk '{ n[$1] += $NF } END { print "0", n["0000:04:00.0"], "1", n["0000:03:00.0"], "" }')"
is "second process: queues keep their own names" "$(trace_rows "$program" | sed 's/^\([^ ]*\) [0-9]* [0-9]* /\1 /' | sort)" \
    "$(sed 's/^\([^ ]*\) [0-9]* [0-9]* /\1 /' "$work/screen.2" | sort)"
check "second process: every row equals the model's" tests/e2e/compare-trace "$work/straight.truth" "$work/trace.db" "$program"
check "first process: every row equals the model's" sh -c "awk 'BEGIN { FS = OFS = \"\\t\" } FNR == 1 || \$1 ~ /^[01]\$/' '$work/reversed.truth' >'$work/t' &&
    tests/e2e/compare-trace '$work/t' '$work/trace.db' $first"
"$top" export "$work/trace.db" --perfetto "$work/both.json" 2>"$work/said"
is "Perfetto: GPUs that processes number differently are named by address" \
    "$(jq -r '.traceEvents[] | select(.name == "process_name" and .pid >= 5000000) | .args.name' "$work/both.json" | sort)" \
    "$(printf '0000:03:00.0 gfx90a\n0000:04:00.0 gfx90a')"
is "Perfetto: tracks name their process" \
    "$(jq -r '.traceEvents[] | select(.name == "thread_name") | .args.name' "$work/both.json" | grep "of process $program" | sed 's/ of process.*//' | sort -u)" \
    "$(cut -d' ' -f4- "$work/screen.2" | sed 's/ [0-9]*$//' | sort)"
exec 3>&- 4>&-
wait "$program" "$first"
finish

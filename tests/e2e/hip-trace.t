#!/bin/sh
# HIP calls and roctx ranges in a trace and in its exports. Each dispatch and copy is linked to the call that submitted
# it and to its range, in the tables and columns that readers of rocpd use.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/hip.sh"
top=$O/rtl-top
programs=$O/tests/programs
sql() { sqlite3 "$1" "$2" 2>&1; }
recording_value() { sql "$1" "SELECT json_extract(value, '\$.$2') FROM rocpd_metadata WHERE tag = 'recording ${3:-0}'"; }
wait_settled() { wait_until 60 sh -c "'$top' -p $program --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'"; }

# check_references NAME FILE: every reference in the trace has its target, and no kernel starts before its call.
check_references() {
    is "$1: each link has its call and its op" "$(sql "$2" "SELECT count(*) FROM rocpd_api_ops l
        LEFT JOIN rocpd_api a ON a.id = l.api_id LEFT JOIN rocpd_op o ON o.id = l.op_id
        WHERE a.id IS NULL OR o.id IS NULL")" 0
    is "$1: no op is linked twice" "$(sql "$2" "SELECT count(*) - count(DISTINCT op_id) FROM rocpd_api_ops")" 0
    # (The tolerance is the clocks' error. Copies are left out: this GPU's engines stamp a delayed copy with its
    # scheduled time.)
    is "$1: no kernel starts before its call" "$(sql "$2" "SELECT count(*) FROM rocpd_api_ops l
        JOIN rocpd_api a ON a.id = l.api_id JOIN rocpd_op o ON o.id = l.op_id
        WHERE a.end < a.start OR (o.start + 10000 < a.start AND o.description_id <> 1)")" 0
    is "$1: an op's correlation is that of its call" "$(sql "$2" "SELECT count(*) FROM rocpd_op o
        WHERE gpuId >= 0 AND correlation_id IS NOT ifnull((SELECT a.correlation_id
            FROM rocpd_api_ops l JOIN rocpd_api a ON a.id = l.api_id WHERE l.op_id = o.id), 0)")" 0
    is "$1: an op's range is a marker with its own id, around its call" "$(sql "$2" "SELECT count(*) FROM rocpd_op o
        JOIN rocpd_api a ON a.id = o.correlation_id LEFT JOIN rocpd_op m ON m.gpuId < 0 AND m.roctxId = o.roctxId
        WHERE o.gpuId >= 0 AND o.roctxId > 0 AND (m.id IS NULL OR a.start < m.start OR a.end > m.end)")" 0
    is "$1: rows of kernelapi and copyapi belong to calls" "$(sql "$2" "SELECT count(*)
        FROM (SELECT api_ptr_id AS p, api_id AS i FROM rocpd_kernelapi UNION ALL SELECT api_ptr_id, api_id FROM rocpd_copyapi)
        WHERE p <> i OR p NOT IN (SELECT id FROM rocpd_api)")" 0
    is "$1: markers are no GPU work" \
        "$(sql "$2" "SELECT count(*) FROM top WHERE Name GLOB 'thread *' OR Name GLOB 'part *'")" 0
}

export RTL_TRACE=128M
gpu="--duration 1us ${RTL_RELEASE:+--title}"
play "$programs/hip_links" --launches 8000 --hold
wait_settled
check "launches: rtl-top trace succeeds" "$top" trace -p "$program" "$work/links.db" -n 1 -d 0.1
db=$work/links.db
check_references "launches" "$db"
timed=$("$top" -p "$program" --json -n 1 | jq .dispatches.timed)
is "launches: every timed one is linked" \
    "$(sql "$db" 'SELECT count(*) FROM rocpd_api_ops') $(recording_value "$db" linked)" "$timed $timed"
is "launches: all calls are in the trace" \
    "$(sql "$db" "SELECT apiName, count(*) FROM api WHERE apiName GLOB 'hip*' GROUP BY 1 ORDER BY 1")" \
    "$(run_api --json | jq -r '.api[] | "\(.name)|\(.calls)"' | sort)"
is "launches: no call is lost" "$(recording_value "$db" calls_lost) $(recording_value "$db" waiting)" "0 0"
# The grid encodes the launching thread (y) and its launch number (x), so the call's thread is known.
sed -n 's/^thread \([0-9]*\) \([0-9]*\) .*/\1 \2/p' "$work/out" | sort >"$work/threads"
sql "$db" "SELECT DISTINCT k.gridY - 1, a.tid FROM rocpd_kernelapi k JOIN rocpd_api a ON a.id = k.api_id" |
    tr '|' ' ' | sort >"$work/got"
is "launches: each belongs to its thread" "$(diff "$work/threads" "$work/got")" ""
is "launches: each is in the range of its part and of its thread" "$(sql "$db" "SELECT count(*)
    FROM op o JOIN rocpd_op r USING(id) JOIN rocpd_op m ON m.gpuId < 0 AND m.roctxId = r.roctxId
    JOIN rocpd_string s ON s.id = m.description_id JOIN rocpd_kernelapi k ON k.api_id = r.correlation_id
    WHERE r.gpuId >= 0 AND s.string = 'part ' || ((k.gridX - 1) / 100 % 10)")" "$timed"
is "launches: ranges are rows of rocpd_api" \
    "$(sql "$db" "SELECT count(*) FROM api WHERE apiName = 'UserMarker' AND args GLOB 'thread [0-7]'")" 8
is "launches: each range of rocpd_op is counted as a marker" \
    "$(sql "$db" "SELECT count(*) FROM rocpd_op WHERE gpuId < 0")" "$(recording_value "$db" markers)"
is "launches: calls and markers have their domain" \
    "$(sql "$db" "SELECT DISTINCT domain FROM api WHERE domain <> '' ORDER BY 1" | tr '\n' ' ')" "hip roctx "
rows=$(sql "$db" 'SELECT (SELECT count(*) FROM rocpd_op) + (SELECT count(*) FROM rocpd_api_ops)')
check "launches: rtl-top trace into the same file succeeds" "$top" trace -p "$program" "$db" -n 1 -d 0.1
is "launches: a second trace into the same file adds no op and no link" \
    "$(sql "$db" 'SELECT (SELECT count(*) FROM rocpd_op) + (SELECT count(*) FROM rocpd_api_ops)')" \
    "$rows"

# Exports
"$top" export "$db" --perfetto "$work/links.json" 2>/dev/null
jq -c '.traceEvents[]' "$work/links.json" >"$work/events"
is "Perfetto: an arrow leads from each call to its kernel" \
    "$(grep -c '"ph":"s"' "$work/events") $(grep -c '"ph":"f"' "$work/events")" "$timed $timed"
is "Perfetto: both ends of an arrow have the same id" \
    "$(jq -s '[.[] | select(.ph == "s" or .ph == "f") | .id] |
        group_by(.) | map(length) | unique == [2]' "$work/events")" true
is "Perfetto: an arrow begins in a call of that thread" "$(jq -s '
    ([.[] | select(.cat == "api") | "\(.tid) \(.ts)"] | unique) as $calls |
    [.[] | select(.ph == "s") | "\(.tid) \(.ts)"] | unique - $calls | length' "$work/events")" 0
is "Perfetto: each thread has a track" "$(jq -s -c '[.[] | select(.cat == "api") | .tid] | unique | length' "$work/events")" 9
is "Perfetto: a range is drawn once" "$(grep -c '"name":"thread [0-7]"' "$work/events")" 8
is "Perfetto: no event is before the beginning" "$(jq -s '[.[] | select(.ts != null and .ts < 0)] | length' "$work/events")" 0
is "Perfetto: threads have names" "$(jq -s '[.[] | select(.cat == "api") | .tid] | unique' "$work/events")" \
    "$(jq -s "[.[] | select(.name == \"thread_name\" and .pid == $program) | .tid] | unique" "$work/events")"
is "Perfetto: the process has its command" "$(jq -rs "[.[] |
    select(.name == \"process_name\" and .pid == $program) | .args.name |
        test(\"^process $program: .*hip_links\")] | tostring" "$work/events")" '[true]'
is "Perfetto: rtl-top's own notes aren't drawn" "$(grep -c 'rtl-top --trace' "$work/events")" 0
"$top" export "$db" --csv "$work/links.csv" 2>/dev/null
cat >"$work/markers.py" <<'END'
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["gpu"] == "-1"]
for row in sorted({(r["kernel"], r["short"], r["pid"], r["marker"][:7]) for r in rows}):
    print("|".join(row))
END
is "CSV: markers are no kernels and have their process" "$(python3 "$work/markers.py" "$work/links.csv")" \
    "$(for marker in 'part 0' 'part 1' 'part 2' 'part 3' 'part 4' 'part 5' 'part 6' 'part 7' 'part 8' 'part 9' 'thread '; do
        echo "||$program|$marker"
    done)"
# The path of a reader of rocprofv3's JSON: kinds and operations by index, kernels by symbols, calls by correlation
"$top" export "$db" --rocprofv3 "$work/links.v3.json" 2>/dev/null
tool='."rocprofiler-sdk-tool"[0]'
is "rocprofv3: has every dispatch" "$(jq "$tool.buffer_records.kernel_dispatch | length" "$work/links.v3.json")" "$timed"
is "rocprofv3: dispatches have their kernel's name" "$(jq -c "$tool |
    (.kernel_symbols | map({key: (.kernel_id | tostring), value: .kernel_name}) | from_entries) as \$k |
    [.buffer_records.kernel_dispatch[].dispatch_info.kernel_id | \$k[tostring]] | unique" "$work/links.v3.json")" '["linked"]'
is "rocprofv3: each dispatch has a call that began before it" "$(jq "$tool.buffer_records |
    (.hip_api | map({key: (.correlation_id.internal | tostring), value: .}) | from_entries) as \$c |
    [.kernel_dispatch[] |
        select((\$c[.correlation_id.internal | tostring].start_timestamp // 1e18) > .start_timestamp + 10000)] |
    length" "$work/links.v3.json")" 0
is "rocprofv3: calls have their function by operation" "$(jq -r "$tool | .strings.buffer_records as \$s |
    .buffer_records.hip_api | map(\$s[.kind].operations[.operation]) |
    group_by(.)[] | \"\(.[0])|\(length)\"" "$work/links.v3.json" | sort)" \
    "$(sql "$db" "SELECT apiName, count(*) FROM api WHERE apiName GLOB 'hip*' GROUP BY 1 ORDER BY 1")"
is "rocprofv3: ranges have their text" "$(jq "$tool |
    (.strings.marker_api | map({key: (.key | tostring), value: .value}) | from_entries) as \$m |
    [.buffer_records.marker_api[] |
        \$m[.correlation_id.internal | tostring] | select(test(\"^thread [0-7]$\"))] | length" "$work/links.v3.json")" 8
is "rocprofv3: markers are no kernels" "$(jq -c "[$tool.kernel_symbols[].kernel_name]" "$work/links.v3.json")" '["linked"]'
is "rocprofv3: rtl-top's own notes are no markers" \
    "$(jq -c "[$tool.strings.marker_api[].value | select(test(\"rtl-top\"))]" "$work/links.v3.json")" '[]'
has "rocprofv3: metadata has the command" "$(jq -r "$tool.metadata.command[0]" "$work/links.v3.json")" 'hip_links'
is "rocprofv3: init_time is the first start, fini_time the last end" "$(jq "$tool |
    ([.buffer_records[][] | .start_timestamp] | min) == .metadata.init_time and
    ([.buffer_records[][] | .end_timestamp] | max) == .metadata.fini_time" "$work/links.v3.json")" true
is "rocprofv3: kinds have rocprofiler-sdk's indices" "$(jq -c "[$tool.strings.buffer_records | to_entries[] |
    select(.value.kind | IN(\"KERNEL_DISPATCH\", \"HIP_RUNTIME_API\", \"MEMORY_COPY\")) |
    .key]" "$work/links.v3.json")" '[5,10,11]'
is "rocprofv3: GPUs are agents" "$(jq -c "$tool |
    [.agents[] | select(.type == 2).id.handle] -
    [.buffer_records.kernel_dispatch[].dispatch_info.agent_id.handle]" "$work/links.v3.json")" '[]'
close_play
is "launches: exit status is that without rtl-top" "$status" 0

# Graphs, fills and copies, traced while they run. (On gfx90a HIP 7.2 makes copies to the host by kernels: hip-links.t)
gpu="$gpu --gfx gfx906"
play "$programs/hip_links" --kinds --hold
wait_settled
check "kinds: rtl-top trace succeeds" "$top" trace -p "$program" "$work/kinds.db" -n 1 -d 0.1
"$top" trace -p "$program" "$db" -n 1 -d 0.1 2>/dev/null # adds to the first process's trace
"$top" export "$db" --rocprofv3 "$work/both.v3.json" 2>/dev/null
is "rocprofv3 of two processes: each has an entry" \
    "$(jq -r '."rocprofiler-sdk-tool" | "\(length) \(.[1].metadata.pid)"' "$work/both.v3.json")" "2 $program"
is "rocprofv3 of two processes: the first entry is unchanged" \
    "$(jq -c '."rocprofiler-sdk-tool"[0]' "$work/both.v3.json" | md5sum)" \
    "$(jq -c '."rocprofiler-sdk-tool"[0]' "$work/links.v3.json" | md5sum)"
is "rocprofv3 of two processes: all dispatches and copies are exported" \
    "$(jq '[."rocprofiler-sdk-tool"[].buffer_records |
        .kernel_dispatch, .memory_copy | length] | add' "$work/both.v3.json")" \
    "$(sql "$db" 'SELECT count(*) FROM rocpd_op WHERE gpuId >= 0')"
check_references "kinds" "$work/kinds.db"
is "kinds: a graph's kernels are linked to its launch, and the first one describes it" \
    "$(sql "$work/kinds.db" "SELECT count(*), count(k.api_id) FROM rocpd_api a
        JOIN rocpd_string s ON s.id = a.apiName_id AND s.string = 'hipGraphLaunch'
        LEFT JOIN rocpd_kernelapi k ON k.api_id = a.id")" "20|20"
is "kinds: copies have their bytes, direction and whether the call waits" \
    "$(sql "$work/kinds.db" "SELECT DISTINCT c.kind, c.sync, c.size > 0 FROM rocpd_copyapi c
        JOIN rocpd_api_ops l ON l.api_id = c.api_id JOIN rocpd_op o ON o.id = l.op_id
        JOIN rocpd_string t ON t.id = o.opType_id AND t.string GLOB 'Copy*' ORDER BY 1")" "1|0|1
2|0|1"
close_play
finish

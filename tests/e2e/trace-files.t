#!/bin/sh
# Traces as files that other tools change: two are merged, one is trimmed, rows of other tools are imported, shapes are written
# into their column; and files whose columns are generated.
. "$(dirname "$0")/tap.sh"

top=$O/rtl-top
sql() { sqlite3 -bail "$@" 2>&1; }
count_ops() { sql "$1" 'SELECT count(*) FROM rocpd_op'; }
is_held() { grep -q '^holding' "$work/out" || ! is_alive "$program"; }
export_csv() { "$top" export "$1" --csv - 2>/dev/null | tail -n +2; }

for n in 1 2; do
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in"
    (RTL_TRACE=1 on_gpu --gpus 2 -- "$O/tests/programs/hsa_dispatch" --launches "${n}000" --gpus 2 --hold <"$work/in" \
        >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 60 is_held
    wait_until 30 sh -c "'$top' -p $program --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'"
    "$top" -p "$program" --trace "$work/$n.db" -n 1 -d 0.1 2>"$work/said"
    pids="${pids:-} $program"
    [ "$n" = 2 ] || {
        exec 3>&-
        wait "$program"
    }
done
is "trace: two traces have all rows" "$(count_ops "$work/1.db") $(count_ops "$work/2.db")" "1000 2000"
is "trace: no column of a table is generated" "$(sql "$work/1.db" "SELECT count(*) FROM sqlite_master m, pragma_table_xinfo(m.name)
    WHERE m.type = 'table' AND hidden > 0")" 0

# --- merged by whole rows; the second trace's processes get new numbers ---
cp "$work/1.db" "$work/merged.db"
is "merge: rows of one trace can be inserted into another" "$(sql "$work/merged.db" "ATTACH '$work/2.db' AS b; BEGIN;
    CREATE TEMP TABLE s AS SELECT y.id AS was, y.string FROM b.rocpd_string y;
    INSERT OR IGNORE INTO rocpd_string(string) SELECT string FROM s;
    CREATE TEMP TABLE o AS SELECT * FROM b.rocpd_op;
    UPDATE o SET id = id + (1 << 40),
        description_id = (SELECT n.id FROM rocpd_string n JOIN s ON s.string = n.string WHERE s.was = description_id),
        opType_id = (SELECT n.id FROM rocpd_string n JOIN s ON s.string = n.string WHERE s.was = opType_id);
    INSERT INTO rocpd_op SELECT * FROM o;
    INSERT INTO rocpd_api(pid, tid, start, end, apiName_id, args_id) SELECT pid, tid, start, end, 1, 1 FROM b.rocpd_api;
    INSERT INTO rocpd_monitor(deviceType, deviceId, monitorType, start, end, value)
        SELECT deviceType, deviceId, monitorType, start, end, value FROM b.rocpd_monitor;
    COMMIT")" ""
is "merge: tables and views have all rows" "$(count_ops "$work/merged.db") $(sql "$work/merged.db" 'SELECT sum(Calls) FROM top')" "3000 3000"
is "merge: times, numbers and shapes are unchanged" \
    "$(export_csv "$work/merged.db" | cut -d, -f2-15 | sort)" "$( (export_csv "$work/1.db" && export_csv "$work/2.db") | cut -d, -f2-15 | sort)"
# As by a tool that names the columns it knows
cp "$work/1.db" "$work/named.db"
is "merge: rows can be inserted by named columns" "$(sql "$work/named.db" "ATTACH '$work/2.db' AS b;
    INSERT INTO rocpd_op(gpuId, queueId, sequenceId, completionSignal, start, end, description_id, opType_id)
        SELECT gpuId, queueId, sequenceId, completionSignal, start, end, description_id, opType_id FROM b.rocpd_op") $(count_ops "$work/named.db")" " 3000"

# --- trimmed ---
cp "$work/2.db" "$work/trimmed.db"
middle=$(sql "$work/trimmed.db" 'SELECT start FROM rocpd_op ORDER BY start LIMIT 1 OFFSET 1000')
kept=$(sql "$work/trimmed.db" "SELECT count(*) FROM rocpd_op WHERE start < $middle")
check "trim: some rows stay, some go" test "$kept" -gt 0 -a "$kept" -lt 2000
is "trim: rows are deleted, and those across the edge are cut" "$(sql "$work/trimmed.db" "DELETE FROM rocpd_op WHERE start >= $middle;
    UPDATE rocpd_op SET end = min(end, $middle); UPDATE rocpd_api SET end = $middle;
    SELECT count(*), max(end) <= $middle FROM rocpd_op")" "$kept|1"
is "trim: the views have the remaining rows" "$(sql "$work/trimmed.db" 'SELECT sum(Calls) FROM top') $(sql "$work/trimmed.db" 'SELECT sum(ops) FROM busy')" "$kept $kept"

# --- imported: rows of other tools ---
is "import: rows of other tools can be inserted" "$(sql "$work/1.db" "INSERT INTO rocpd_string(string) VALUES ('imported'), ('hipLaunchKernel');
    INSERT INTO rocpd_op(id, gpuId, queueId, sequenceId, completionSignal, start, end, description_id, opType_id)
        VALUES (5 << 40, 0, 9, '', 'hwq=0x9 wg=8,4,2 grid=80,40,20', 5000, 6000, (SELECT id FROM rocpd_string WHERE string = 'imported'), 2);
    INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, args_id)
        VALUES (77, 1, 2, 4000, 4100, (SELECT id FROM rocpd_string WHERE string = 'hipLaunchKernel'), 1);
    INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (77, 5 << 40);
    INSERT INTO rocpd_kernelapi(api_id, stream, gridX) VALUES (77, '0', 80);
    INSERT INTO rocpd_copyapi(api_ptr_id, stream, size) VALUES (77, '0', 80)")" ""
is "import: view op has the row" "$(sql "$work/1.db" "SELECT gpuId, queueId, start, end, description, opType, completionSignal FROM op WHERE id = 5 << 40")" \
    "0|9|5000|6000|imported|KernelExecution|hwq=0x9 wg=8,4,2 grid=80,40,20"
is "import: view api has the row" "$(sql "$work/1.db" "SELECT pid, tid, start, end, domain, category, apiName, args FROM api WHERE id = 77")" "1|2|4000|4100|||hipLaunchKernel|"
is "import: the CSV has the row's shape" "$(export_csv "$work/1.db" | grep imported | cut -d, -f5-15)" "5000,6000,1000,8,4,2,80,40,20,KernelExecution,imported"
check "import: a second trace succeeds" "$top" -p "$program" --trace "$work/1.db" -n 1 -d 0.1
is "import: the second trace adds rows" "$(count_ops "$work/1.db")" 3001

# --- the tables alone, filled by another tool that has no empty string, or at another id ---
sql "$work/2.db" .schema | sql "$work/bare.db"
is "tables filled by another tool: views use strings, not their ids" "$(sql "$work/bare.db" "INSERT INTO rocpd_string VALUES (1, 'kernel'), (2, 'KernelExecution');
    INSERT INTO rocpd_op(gpuId, start, end, description_id, opType_id) VALUES (0, 10, 20, 1, 2), (0, 30, NULL, 1, 2), (-1, 10, 90, 1, 2);
    SELECT Name, Calls, TotalNs, Pct FROM top; SELECT gpuId, ops, busy_ns FROM busy;
    INSERT INTO rocpd_string VALUES (3, ''), (4, 'Copy'); INSERT INTO rocpd_op(gpuId, start, end, description_id, opType_id) VALUES (0, 10, 15, 3, 4);
    SELECT Name, Calls, TotalNs FROM top; SELECT gpuId, ops, busy_ns FROM busy" | tr '\n' ' ')" "kernel|1|10|100.0 0|1|10 kernel|1|10 Copy|1|5 0|1|10 "

# --- the shape in its column, where other tools' converters read it ---
export_csv "$work/2.db" >"$work/before"
is "shapes: can be written into their column" "$(sql "$work/2.db" "UPDATE rocpd_op SET completionSignal = (SELECT completionSignal FROM op
    WHERE op.id = rocpd_op.id); SELECT count(*) FROM rocpd_op WHERE completionSignal GLOB 'hwq=0x* wg=*,*,* grid=*,*,*'")" 2000
is "shapes: the CSV is unchanged" "$(export_csv "$work/2.db" | diff - "$work/before" | head -n 3)" ""

is "shapes: the column has precedence" "$(sql "$work/2.db" "UPDATE rocpd_op SET completionSignal = 'hwq=0x9 wg=3,2,1 grid=30,20,10'
    WHERE id = (SELECT min(id) FROM rocpd_op); SELECT completionSignal FROM op ORDER BY id LIMIT 1") $(export_csv "$work/2.db" | sort -n | head -n 1 | cut -d, -f8-13)" \
    "hwq=0x9 wg=3,2,1 grid=30,20,10 3,2,1,30,20,10"

# --- a trace of another tool, with generated columns ---
sql "$work/old.db" "PRAGMA application_id = 0x52544c54; PRAGMA user_version = 1;
    CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT UNIQUE);
    CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER,
        sequenceId INTEGER GENERATED ALWAYS AS (id & 1099511627775) VIRTUAL,
        completionSignal TEXT GENERATED ALWAYS AS (printf('hwq=0x%x wg=64,1,1 grid=%d,1,1', queueId, dims)) VIRTUAL,
        start INTEGER, end INTEGER GENERATED ALWAYS AS (start + duration) VIRTUAL,
        description_id INTEGER, opType_id INTEGER, roctxId INTEGER DEFAULT 0, correlation_id INTEGER DEFAULT 0, duration INTEGER, dims);
    CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
    INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, 'old');
    INSERT INTO rocpd_metadata(tag, value) VALUES ('process 0', '{\"host\":\"h\",\"pid\":77}'), ('gpu 0', '{\"host\":\"h\",\"pci\":\"0000:03:00.0\",\"name\":\"gfx90a\"}'),
        ('queue 0', '{\"process\":0,\"slot\":1,\"generation\":2,\"gpu\":0,\"queue\":5}'), ('queue 1', '{\"process\":0,\"copies\":true,\"gpu\":0,\"queue\":null}');
    INSERT INTO rocpd_op(id, gpuId, queueId, start, duration, description_id, opType_id, dims) VALUES (7, 0, 0, 1000, 50, 3, 2, 640), (8, 0, 1, 1000, 50, 3, 2, 64)"
is "generated columns: CSV has its rows" "$(export_csv "$work/old.db")" \
    "$(printf '7,0,0,7,1000,1050,50,64,1,1,640,1,1,KernelExecution,old,,old,,0000:03:00.0,gfx90a,77,,,\n8,0,1,8,1000,1050,50,64,1,1,64,1,1,KernelExecution,old,,old,copies,0000:03:00.0,gfx90a,77,,,')"
is "generated columns: Perfetto has its tracks" "$("$top" export "$work/old.db" --perfetto - 2>/dev/null | jq -r '.traceEvents[] | select(.ph == "M" and .args.name) | .args.name' | tr '\n' ',')" \
    "0000:03:00.0 gfx90a,queue 0 of process 77,copies of process 77,process 77,"
exec 3>&-
# shellcheck disable=SC2086 # pids
wait $pids
finish

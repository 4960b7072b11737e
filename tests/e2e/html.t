#!/bin/sh
# rtl-top html: the page in a real browser. The page agrees with --json, it sorts and searches, it shows no number that was
# not measured, it loads nothing, and hostile names stay text.
# shellcheck disable=SC2016 # programs of jq and awk
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

# --- browser ---
browse() { # file:///PAGE#FRAGMENT OPTIONS: run the browser without a profile of its own and without a network
    url=$1
    shift
    HOME=$work TZ=UTC timeout 60 chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --disable-breakpad --hide-scrollbars --user-data-dir="$work/profile" \
        --host-resolver-rules='MAP * ~NOTFOUND' "$@" "$url" 2>"$work/browser.err"
}
# dom PAGE [FRAGMENT]: $work/dom has the drawn document, a tag a line, without style and scripts
dom() {
    browse "file://$1${2:+#$2}" --dump-dom >"$work/document"
    sed 's/</\n</g' "$work/document" | awk '/^<(style|script)/ { off = 1 } !off { print } /^<\/(style|script)/ { off = 0 }' >"$work/dom"
}
# page_data PAGE FILTER OPTIONS: the data in a page
page_data() { page_file=$1; shift; sed -n 's/.*id="data">\(.*\)<\/script>.*/\1/p' "$page_file" | jq -r "$@"; }
count() { grep -cE -e "$1" "$work/dom"; }
# cells TABLE COLUMN: each row's value of a column in order, "-" for none; hidden rows are left out
cells() {
    awk -v table="<table id=\"$1\"" -v key="data-key=\"$2\"" 'index($0, table) { on = 1; depth = 0 }
        on && /^<table/ { depth++ } on && /^<\/table/ && !--depth { on = 0 }
        on && /^<tr/ { hidden = /hidden/ } on && depth == 1 && !hidden && /^<t[dh] / && index($0, key) && !/scope="col"/ {
            print (match($0, /data-value="[^"]*"/) ? substr($0, RSTART + 12, RLENGTH - 13) : "-") }' "$work/dom"
}
is_drawn() { # NAME: the script has run to its end, without an error
    is "$1: is drawn without an error" "$(grep -c 'data-drawn="yes"' "$work/document") $(count 'id="error"')" "1 0"
}
if ! command -v chromium >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        check "html: the browser is installed (tools/deps test)" command -v chromium
    else
        skip "html: the page in a browser" "needs chromium, and this user can't install it"
    fi
    finish
fi

# --- recording of one process ---
start_demo --kernels 40 --gpus 2 --rate 20000
"$top" -p "$demo" --json -n 9 -d 0.2 -w "$work/run.db" >"$work/frames"
"$top" -p "$demo" --json -n 4 -d 0.2 -w "$work/later.db" >/dev/null
"$top" snapshot -p "$demo" "$work/once.db" >/dev/null
end_process "$demo" KILL
sed -n '1p; $p' "$work/frames" | jq -s . >"$work/ends"
"$top" html "$work/run.db" -o "$work/run.html" >"$work/out" 2>"$work/said"
is "recording: exits with 0 and prints only the message" "$? $(cat "$work/out")" "0 "
has "recording: the message has the path and the size" "$(cat "$work/said")" "^rtl-top: page written to $work/run.html \([0-9.]+K\)$"
dom "$work/run.html"
is_drawn "recording"
kernels=$(jq '.[1].kernels | length' "$work/ends")
is "recording: the table has a row for each kernel" "$(cells kernels name | wc -l)" "$kernels"
is "recording: calls are those between first and last frame" "$(cells kernels calls | sort -n | tr '\n' ' ')" \
    "$(jq -r '(.[0].kernels | map({key: .name, value: .calls}) | from_entries) as $first |
        [.[1].kernels[] | .calls - ($first[.name] // 0)] | sort | map("\(.) ") | add' "$work/ends")"
page_data "$work/run.html" . >"$work/data.json"
is "recording: the points in time add up to the whole time" "$(jq '[.files[0].samples[].calls] | add' "$work/data.json") $(jq '[.files[0].samples[].kernels[0].ns] | add' "$work/data.json")" \
    "$(jq '[.files[0].total.kernels[].window.calls] | add' "$work/data.json") $(jq '.files[0].total.kernels[0].window.total_ns' "$work/data.json")"
is "recording: the table begins with the highest share of time" "$(cells kernels share | grep -v -e - | sort -rn | head -n 1)" "$(cells kernels share | head -n 1)"
has "recording: the kernel without a timed dispatch has calls" "$(cells kernels p99 | paste - - -s -d ' ')" ' -'
is "recording: an unmeasured value is a dash with its reason" "$(grep 'data-key="p99"' "$work/dom" | grep -v data-value | grep -v 'scope="col"' | sort -u)" \
    '<td class="number" data-key="p99" title="not known">–'
is "recording: the chart of kernels has eight areas and all others" "$(count '<path class="area (c[0-9]|others)')" 9
is "recording: no path is broken" "$(grep -cE 'NaN|undefined|Infinity' "$work/dom")" 0
is "recording: the first kernel shows its durations" "$(count '<path class="area bars" d="M.*L')" 1
gpus=$(jq '.[1].gpus | length' "$work/ends")
points=$(($(wc -l <"$work/frames") - 1))
is "recording: each GPU has a verdict for each point in time" "$(count '<article class="gpu"') $(count '<rect class="verdict v-[a-z_]+"')" "$gpus $((gpus * points))"
is "recording: each queue has a row with its dispatches" "$(cells queue-table dispatches | sort -n | tr '\n' ' ')" \
    "$(jq -r '(.[0].queues | map({key: "\(.id)", value: .dispatches}) | from_entries) as $first |
        [.[1].queues[] | .dispatches - ($first["\(.id)"] // 0)] | sort | map("\(.) ") | add' "$work/ends")"
is "recording: the title names the process" "$(sed -n 's/^<h1>//p' "$work/dom")" "segment_demo --kernels 40 --gpus 2 --rate 20000"
has "recording: the time has its zone" "$(cat "$work/dom")" '^<dd>.* UTC to .* UTC'

# --- order and search ---
dom "$work/run.html" 'sort=p99&metric=p99&kernel=2'
is "sort: the fragment orders by p99, unknown values last" "$(cells kernels p99 | tr '\n' ' ')" \
    "$( (cells kernels p99 | grep -v -e - | sort -rn; cells kernels p99 | grep -e -) | tr '\n' ' ')"
is "sort: the header tells the order" "$(sed -n 's/^<th.* data-key="\([a-z0-9]*\)".* aria-sort="\([a-z]*\)".*/\1 \2/p' "$work/dom" | head -n 1)" "p99 descending"
is "metric: p99 draws a line for each chosen kernel" "$(count '<path class="line c[0-9]')" 8
dom "$work/run.html" 'sort=-calls&search=gemm'
is "sort: a minus orders upwards" "$(cells kernels calls | tr '\n' ' ')" "$(cells kernels calls | sort -n | tr '\n' ' ')"
is "search: only the kernels with the text are shown" "$(cells kernels name | wc -l)" \
    "$(jq '[.[1].kernels[] | select((.name + .short + .family) | ascii_downcase | contains("gemm"))] | length' "$work/ends")"
check "search: leaves some kernels and hides some" test "$(cells kernels name | wc -l)" -gt 0 -a "$(cells kernels name | wc -l)" -lt "$kernels"
"$top" html "$work/run.db" -F gemm -o "$work/gemm.html" 2>/dev/null
is "-F: the page has only the kernels with the text" "$(page_data "$work/gemm.html" '.files[0].total.kernels | length')" \
    "$("$top" replay "$work/run.db" --json -F gemm | tail -n 1 | jq '.kernels | length')"

"$top" html "$work/run.db" --step "$(page_data "$work/run.html" '.files[0].total.kernels[3].name')" -o "$work/steps.html" 2>/dev/null
dom "$work/steps.html"
is_drawn "--step"
is "--step: the page counts a step for each call of the kernel" "$(sed -n 's/^<p class="note">\([0-9]*\) steps, .*Marked by kernel .*/\1/p' "$work/dom")" \
    "$(page_data "$work/run.html" '.files[0].total.kernels[3].window.calls')"
is "--step: the page has the step's families and its duration over time" "$(cells step-families ns | wc -l) $(count '<path class="line steps" d="M')" \
    "$(page_data "$work/steps.html" '[.files[0].samples[].step.families[]?.name] | unique | length') 1"

# --- snapshot, difference ---
"$top" html "$work/once.db" -o "$work/once.html" 2>/dev/null
dom "$work/once.html"
is_drawn "snapshot"
is "snapshot: calls count from the process's start" "$(cells kernels calls | sort -n | tail -n 1)" \
    "$("$top" replay "$work/once.db" --json | jq '[.kernels[].calls] | max')"
is "snapshot: has no chart over time" "$(count 'id="over-time"')" 0
"$top" html "$work/run.db" "$work/later.db" -o "$work/both.html" 2>/dev/null
is "difference: exits with 0" "$?" 0
dom "$work/both.html" 'sort=-p50A'
is_drawn "difference"
"$top" diff "$work/run.db" "$work/later.db" --json | jq -s 'map(select(.kind == "kernel"))' >"$work/rows"
is "difference: p50 of A equals rtl-top diff" "$(cells kernels p50A | grep -v -e -)" "$(jq -r '.[].a.p50_ns // empty' "$work/rows" | sort -n)"
is "difference: calls of B equal rtl-top diff" "$(cells kernels callsB | sort -n)" "$(jq -r '.[].b.calls' "$work/rows" | sort -n)"
is "difference: costs equal rtl-top diff to a microsecond" "$(cells kernels cost | grep -v '^-$' | awk '{ printf "%.0f\n", $1 / 1000 }' | sort -n)" \
    "$(jq -r '.[] | select(.a.timed + .b.timed > 0) | .cost_ns' "$work/rows" | awk '{ printf "%.0f\n", $1 / 1000 }' | sort -n)"
is "difference: shows durations of both sides and both over time" "$(count 'class="outline side[01]"') $(count 'id="over-time-[ab]"')" "2 2"

# --- several processes ---
ranks=''
for rate in 4000 6000 8000; do
    start_demo --kernels 20 --gpus 1 --rate "$rate"
    ranks="$ranks,$demo"
done
"$top" -p "${ranks#,}" --json -n 4 -d 0.2 -w "$work/ranks.db" >"$work/frames"
for pid in $(echo "$ranks" | tr , ' '); do end_process "$pid" KILL; done
"$top" html "$work/ranks.db" -o "$work/ranks.html" 2>/dev/null
dom "$work/ranks.html"
is_drawn "several processes"
is "several processes: each has a row" "$(cells process-table pid | tr '\n' ,)" "$(echo "${ranks#,}" | tr , '\n' | sort -n | tr '\n' ,)"
is "several processes: a kernel shows each rank" "$(cells ranks process | wc -l)" 3
"$top" html "$work/ranks.db" -p "$demo" -o "$work/rank.html" 2>/dev/null
is "-p: the page has one process" "$(page_data "$work/rank.html" '.files[0].total | "\(.pid) \(.processes)"')" "$demo null"

# --- trace, with names that are markup ---
evil='</script><script>document.title="owned"</script><!--<img src=x onerror=alert(1)>'
sqlite3 "$work/trace.db" <<EOF2
CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT UNIQUE);
CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, completionSignal TEXT,
    start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, apiName_id INTEGER,
    args_id INTEGER);
INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, '$evil' || char(0x2028, 0x202e, 27, 127) || x'ff'),
    (4, 'slow'), (5, 'CopyHostToDevice');
WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
    INSERT INTO rocpd_op SELECT i + 1, 0, 8, 0, '', 1000000 + 10000 * i, 1001000 + 10000 * i, 3, 2 FROM n;
INSERT INTO rocpd_op VALUES (2000, 1, 9, 0, '', 1000000, 6000000, 4, 2), (2001, 1, 9, 0, '', 8500000, 11000000, 1, 5),
    (2002, 1, 9, 0, '', 2000000, 5000000, 3, 2);
EOF2
"$top" html "$work/trace.db" -o "$work/trace.html" 2>"$work/said"
is "trace: exits with 0" "$? $(wc -l <"$work/said")" "0 1"
dom "$work/trace.html" 'sort=calls'
is_drawn "trace with hostile names"
is "trace: counts each kernel and copy" "$(cells kernels calls | tr '\n' ' ')$(cells kernels total | tr '\n' ' ')" "1001 1 1 4000000 5000000 2500000 "
is "trace: the median of equal durations and the maximum are exact" "$(cells kernels p50 | head -n 1) $(cells kernels max | head -n 1)" "1003 3000000"
has "trace: a GPU's busy time counts overlaps with spans exactly" "$(cat "$work/dom")" '^<strong>busy 75\.[0-9] %'
is "trace: each GPU has no verdict, and the page says why" "$(count '<rect class="verdict') $(grep -c "a trace doesn't have the reason" "$work/dom")" "0 2"
is "hostile names: no script of a name runs" "$(sed -n 's/^<title>\(rtl-top: .*\)/\1/p' "$work/dom" | head -n 1)" "rtl-top: $work/trace.db"
is "hostile names: no element is made of a name" "$(count '^<img')" 0
is "hostile names: the page has its data and its script only" "$(grep -c '<script' "$work/document")" 2
has "hostile names: the name is shown as text" "$(cat "$work/dom")" 'script&gt;document.title="owned"&lt;/script&gt;'
sed -n 's/.*id="data">\(.*\)<\/script>.*/\1/p' "$work/trace.html" >"$work/data.json"
is "hostile names: the data has no markup, and only valid UTF-8" "$(grep -c '[<>&]' "$work/data.json") $(iconv -f utf-8 -t utf-8 "$work/data.json" >/dev/null 2>&1; echo $?)" "0 0"
"$top" html "$work/trace.db" -F slo -o "$work/slow.html" 2>/dev/null
is "trace: -F leaves only kernels with the text, and the GPUs as they are" "$(page_data "$work/slow.html" '.files[0] | (.kernels[].name, ([.spans[].gpus[].busy_ns // 0] | add))' | tr '\n' ' ')" "slow 8500000 "
sqlite3 "$work/trace.db" "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
    INSERT INTO rocpd_string SELECT 1000 + i, 'small ' || i FROM n;
    INSERT INTO rocpd_op SELECT 5000 + id, 0, 8, 0, '', 3000000, 3000000 + id - 1000, id, 2 FROM rocpd_string WHERE id > 1000"
"$top" html "$work/trace.db" -o "$work/many.html" 2>/dev/null
dom "$work/many.html"
is "trace: kernels beyond the hundred with most time are summed" "$(cells kernels name | wc -l) $( (cells kernels name >"$work/names"; cells kernels calls) | paste - "$work/names" | grep 'all other')" "101 $(printf '23\t(all other kernels)')"
check "hostile names: the data is JSON" jq -e '.files[0].kernels | length == 3' "$work/data.json"
sqlite3 "$work/run.db" "UPDATE rtl_kernel SET name = '$evil' || char(0x2028) || x'ff' || kernel;
    UPDATE rtl_recording SET title = '$evil', command = '$evil', comm = '$evil';"
"$top" html "$work/run.db" -o "$work/evil.html" 2>"$work/said"
dom "$work/evil.html"
is_drawn "recording with hostile names"
is "recording with hostile names: no name becomes an element or a script" "$(count '^<img') $(grep -c '^<title>owned' "$work/dom")" "0 0"
has "recording with hostile names: kernels are shown as text" "$(cells kernels name)" 'script&gt;'


# --- a page has a bounded size ---
sqlite3 "$work/run.db" "UPDATE rtl_kernel SET name = printf('%.*c', 22000, '<') || kernel"
"$top" html "$work/run.db" -o "$work/long.html" 2>/dev/null
check "size: long names leave fewer rows, in at most 8 MB" test "$(wc -c <"$work/long.html")" -lt 8500000
is "size: the page says how many rows a list has" "$(page_data "$work/long.html" -c '[.rows_max, (.files[0].total.kernels | length), .files[0].kernels]')" "[31,31,$kernels]"
sqlite3 "$work/run.db" "UPDATE rtl_kernel SET name = printf('%.*c', 60000, '<') || kernel"
"$top" html "$work/run.db" -o "$work/longer.html" 2>"$work/said"
is "size: a page that would be too long is refused" "$? $(cat "$work/said")" "1 rtl-top: the page would have more than 8 MB: show fewer kernels with -F"

# --- one file, no network ---
is "network: the page has no address but the namespace of SVG" "$(grep -oE 'https?://[^"]*|(src|href)="[^#"][^"]*|url\(|@import' "$work/gemm.html" | sort -u)" "http://www.w3.org/2000/svg"
requests() { # PAGE: the addresses that the page asks for; the browser asks its maker for updates
    browse "file://$1" --log-net-log="$work/net.json" --dump-dom >"$work/document"
    grep -oE '"url":"(https?|wss?|ftp)://[^"]*"' "$work/net.json" | grep -vE '//[a-z0-9.-]*google(apis)?\.com/' | sort -u
}
echo '<img src="http://elsewhere.test/x.png">' >"$work/asks.html"
is "network: the log shows the requests of a page" "$(requests "$work/asks.html")" '"url":"http://elsewhere.test/x.png"'
is "network: the page asks for nothing" "$(requests "$work/gemm.html")" ""
is_drawn "page of which the requests are seen"
has "network: the page's policy allows only its own style and script" "$(cat "$work/gemm.html")" \
    "Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-[^ ]*'; script-src 'sha256-[^ ]*'\""
sed 's,<main,<script>document.title = "owned"</script><main,' "$work/gemm.html" >"$work/injected.html"
dom "$work/injected.html"
is_drawn "injected script"
is "network: the policy stops a script that is not the page's" "$(grep -c '^<title>owned' "$work/dom")" 0

# --- pictures, as a phone and a wide screen see them ---
for size in 360,1600 1280,1600; do
    browse "file://$work/ranks.html" --window-size=$size --screenshot="$work/picture-$size.png" >/dev/null
    check "picture: $size has content" test "$(wc -c <"$work/picture-$size.png")" -gt 20000
done

# --- errors are one line and damage no file ---
fails() { # STATUS PATTERN ARGUMENTS...
    wanted=$1 pattern=$2
    shift 2
    "$top" html "$@" >"$work/out" 2>"$work/said" </dev/null
    [ $? = "$wanted" ] || { cat "$work/said"; return 1; }
    [ ! -s "$work/out" ] && [ "$(wc -l <"$work/said")" = 1 ] && grep -qE "^rtl-top: .*$pattern" "$work/said"
}
echo keep >"$work/there.html"
check "errors: an existing page is replaced only with --force" fails 10 'exists' "$work/once.db" -o "$work/there.html"
is "errors: the existing page is unchanged" "$(cat "$work/there.html")" keep
check "errors: the recording is never the page" fails 10 '' "$work/once.db" --force -o "$work/once.db"
"$top" html "$work/once.db" --force -o "$work/there.html" 2>/dev/null
is "--force: replaces the page" "$(head -c 15 "$work/there.html")" '<!DOCTYPE html>'
is "-o -: writes the page to standard output" "$("$top" html "$work/once.db" -o - 2>/dev/null | head -c 15)" '<!DOCTYPE html>'
echo text >"$work/text.db"
sqlite3 "$work/empty.db" 'CREATE TABLE t(x)'
check "errors: no file" fails 1 'needs a recording' -o "$work/new.html"
check "errors: a missing file" fails 10 '' "$work/missing.db" -o "$work/new.html"
check "errors: a file that is no database" fails 11 '' "$work/text.db" -o "$work/new.html"
check "errors: a database with neither a recording nor a trace" fails 15 'neither a recording nor a trace' "$work/empty.db" -o "$work/new.html"
check "errors: -p with a trace" fails 1 'select from a recording' "$work/trace.db" -p 7 -o "$work/new.html"
check "errors: -p with two files" fails 1 'select from one file' "$work/run.db" "$work/later.db" -p 7 -o "$work/new.html"
is "errors: no file is left behind" "$(find "$work" -name '*new.html*')" ""
finish

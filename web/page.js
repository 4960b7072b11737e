/*
 * The page of `rtl-top html`: draws the data of the element #data as tables and charts.
 *
 * Names in the data are untrusted. They reach the document only as text nodes and attribute values of elements that this
 * script makes: never as markup, and never as an address. A value that was not measured is null and shown as a dash.
 *
 * The fragment of the address keeps the view: #sort=p99, #sort=-name, #search=gemm, #metric=p99, #kernel=2.
 */
"use strict";

(() => {

const NONE = "–";
const TOP = 20; /* kernels in the chart */
const SHOWN = 8; /* of these, at first */
const SVG = "http://www.w3.org/2000/svg";
const page = document.getElementById("page");

/* --- elements --- */

/* Control characters, and marks that hide or reorder text, become visible escapes. */
function visible(text) {
    return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
        c => "\\u{" + c.charCodeAt(0).toString(16) + "}");
}

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {}))
        if (value !== null && value !== undefined && value !== false)
            element.setAttribute(name, value === true ? "" : visible(value));
    for (const child of children)
        if (child !== null && child !== undefined)
            element.append(child instanceof Node ? child : visible(child));
    return element;
}

function make(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

function report(message) {
    document.body.prepend(make("p", {id: "error", role: "alert"}, "This page has a fault: " + message));
}
window.onerror = (message, source, line) => report(message + " (line " + line + ")");

/* --- numbers --- */

const known = value => typeof value === "number" && Number.isFinite(value);

function digits(value) { /* three of them */
    return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, units, factor) {
    let unit = 0;
    while (unit < units.length - 1 && Number(digits(value)) >= factor) {
        value /= factor;
        unit++;
    }
    return digits(value) + units[unit];
}

/* Removes zeros at the end of a fraction, for marks of an axis. */
const short = text => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

const count = value => !known(value) ? NONE : value < 100000 ? String(Math.round(value)) :
    scaled(value / 1000, ["k", "M", "G", "T"], 1000);
const rate = value => !known(value) ? NONE : value === 0 ? "0" : value < 1000 ? digits(value) :
    scaled(value / 1000, ["k/s", "M/s", "G/s"], 1000).replace("/s", "");
const bytes = value => !known(value) ? NONE : scaled(value, [" B", " KiB", " MiB", " GiB", " TiB"], 1024);

function time(ns) {
    if (!known(ns))
        return NONE;
    if (ns < 1)
        return ns ? "<1 ns" : "0";
    if (ns < 1e11)
        return scaled(ns, [" ns", " µs", " ms", " s"], 1000);
    return ns < 6e12 ? scaled(ns / 1e9, [" s", "k s"], 7200) : digits(ns / 3.6e12) + " h";
}

function percent(share) {
    if (!known(share))
        return NONE;
    return share > 0 && share < 0.001 ? "<0.1 %" : share >= 0.9995 ? Math.round(100 * share) + " %" :
        (100 * share).toFixed(1) + " %";
}

const ratio = value => known(value) ? value.toFixed(2) + "×" : NONE;

function change(value) {
    if (!known(value))
        return NONE;
    return (value < 0 ? "−" : "+") + (Math.abs(value) < 100 ? (100 * Math.abs(value)).toFixed(1) + " %" :
        Math.abs(value).toFixed(0) + "×");
}

const signed = ns => !known(ns) ? NONE : (ns < 0 ? "−" : ns > 0 ? "+" : "") + time(Math.abs(ns));
const grown = (now, before) => !known(now) ? null : known(before) ? Math.max(0, now - before) : now;
const sum = values => values.reduce((a, b) => a + (known(b) ? b : 0), 0);
const mean = values => {
    const some = values.filter(known);
    return some.length ? sum(some) / some.length : null;
};
const most = values => values.reduce((a, b) => known(b) && (a === null || b > a) ? b : a, null);

/* --- histograms: numbers of buckets as in the segment, 64 to a factor of two --- */

/* "[gap,count,gap,count...]" -> pairs of bucket and count; a bucket is the sum of the gaps up to it */
function readBuckets(text) {
    const numbers = text ? JSON.parse(text) : [];
    const pairs = [];
    for (let i = 0, bucket = 0; i + 1 < numbers.length; i += 2) {
        bucket += numbers[i];
        pairs.push([bucket, numbers[i + 1]]);
    }
    return pairs;
}

const shiftOf = bucket => bucket < 128 ? 0 : Math.floor(bucket / 64) - 1;
const lowOf = bucket => (bucket - 64 * shiftOf(bucket)) * 2 ** shiftOf(bucket);
const widthOf = bucket => 2 ** shiftOf(bucket);
const middleOf = bucket => lowOf(bucket) + Math.floor((widthOf(bucket) - 1) / 2);

/* Nearest rank; the least and the highest value are known exactly. */
function quantile(pairs, q, least, highest) {
    const total = sum(pairs.map(pair => pair[1]));
    let left = Math.max(1, Math.ceil(q * total));
    for (const [bucket, number] of pairs)
        if ((left -= number) <= 0)
            return Math.min(highest, Math.max(least, middleOf(bucket)));
    return null;
}

function addBuckets(lists) {
    const all = new Map();
    for (const pairs of lists)
        for (const [bucket, number] of pairs)
            all.set(bucket, (all.get(bucket) || 0) + number);
    return [...all].sort((a, b) => a[0] - b[0]);
}

/* --- what the page shows, in one form for recordings and traces --- */

function kernelOfFrame(kernel, index, view, histograms) {
    const part = view.snapshot ? kernel : kernel.window;
    const ns = known(part.estimated_ns) ? part.estimated_ns : part.total_ns;
    return {index, name: kernel.name, short: kernel.short, family: kernel.family, calls: part.calls, ns,
        estimated: known(part.estimated_ns), p50: part.p50_ns, p99: part.p99_ns, launch: part.launch_p50_ns,
        slowest: kernel.slowest, processes: kernel.processes, buckets: readBuckets(histograms[index].buckets)};
}

function gpuOfFrame(gpu, view, data) {
    const before = (data.first.gpus || []).find(other => other.id === gpu.id);
    const line = data.samples.map(sample => (sample.gpus || []).find(other => other.id === gpu.id) || {});
    const idle = gpu.idle && !view.snapshot ? gpu.idle.map((gap, i) => ({below: gap.below_ns,
        ns: grown(gap.total_ns, before && before.idle && before.idle[i].total_ns)})) : null;
    return {id: gpu.id, label: "G" + gpu.id + (gpu.pci ? " " + gpu.pci.replace(/^0000:/, "") : "") + " " + gpu.name,
        busy: gpu.busy, verdict: gpu.verdict, call: gpu.host_call, callShare: gpu.host_call_share, wait: gpu.wait_p99_ns,
        bound: gpu.busy_is_bound, idle,
        line: line.map(one => ({busy: one.busy, verdict: one.verdict, call: one.host_call, wait: one.wait_p99_ns}))};
}

function queueOfFrame(queue, view, data) {
    const same = other => other.id === queue.id && other.gpu === queue.gpu && other.pid === queue.pid;
    const before = (data.first.queues || []).find(same);
    const line = data.samples.map(sample => (sample.queues || []).find(same));
    return {name: queue.name, pid: queue.pid, way: queue.way, error: queue.error && queue.error.text, now: queue.depth,
        dispatches: grown(queue.dispatches, data.samples.length && before ? before.dispatches : 0),
        depth: line.map(one => one ? one.depth : null), wait: line.map(one => one ? one.window.wait_p99_ns : null),
        p50: view.snapshot ? queue.wait.p50_ns : queue.window.wait_p50_ns,
        p99: view.snapshot ? queue.wait.p99_ns : queue.window.wait_p99_ns};
}

function viewOfFrames(data) {
    const total = data.total;
    const view = {file: data.file, snapshot: !data.samples.length, clock: true, title: data.title, pid: total.pid,
        from: data.first.time_ns / 1e6, to: total.time_ns / 1e6, span: total.time_ns - data.first.time_ns,
        all: data.kernels, host: total.api, copies: total.copies, processes: total.processes,
        mode: total.mode, notes: total.notes, observed: total.observed};
    view.kernels = total.kernels.map((kernel, i) => kernelOfFrame(kernel, i, view, data.histograms));
    view.points = data.samples.map(sample => ({at: sample.time_ns / 1e6, ns: sample.window_ns, mode: sample.mode, step: sample.step,
        all: {calls: sample.calls, ns: sample.ns}, processes: sample.processes,
        kernels: sample.kernels.map(one => ({calls: null, ns: null, p50: null, p99: null, ...one}))}));
    view.gpus = total.gpus.map(gpu => gpuOfFrame(gpu, view, data));
    view.queues = total.queues.map(queue => queueOfFrame(queue, view, data));
    return view;
}

/* Busy time in a span that ends behind the span belongs to the next ones. */
function busyOfSpans(data, gpu) {
    const shares = [];
    let excess = 0;
    data.spans.forEach((span, i) => {
        const one = (span.gpus || [])[gpu] || {};
        let ns = (one.busy_ns || 0) + excess;
        const over = known(one.busy_to) ? Math.max(0, one.busy_to - (i + 1) * data.span_ns) : excess - data.span_ns;
        excess = Math.min(ns, Math.max(0, over));
        ns -= excess;
        shares.push(Math.min(1, ns / data.span_ns));
    });
    return shares;
}

function viewOfTrace(data) {
    const start = data.from_ns === null ? 0 : data.from_ns / 1e6;
    const view = {file: data.file, clock: data.from_ns !== null, ops: data.ops, opsLeftOut: data.ops_left_out, title: data.title, from: start, span: data.spans.length * data.span_ns,
        to: start + data.spans.length * data.span_ns / 1e6, queues: [], all: data.kernels.length, trace: true};
    const cells = data.spans.map(span => new Map(span.kernels.map(cell => [cell.kernel, cell])));
    view.kernels = data.kernels.map((kernel, index) => {
        const parts = cells.map(cell => cell.get(index)).filter(Boolean);
        const buckets = addBuckets(parts.map(part => readBuckets(part.buckets)));
        const least = Math.min(...parts.map(part => part.min_ns)), highest = Math.max(...parts.map(part => part.max_ns));
        return {index, name: kernel.name, short: kernel.short, calls: sum(buckets.map(pair => pair[1])),
            ns: sum(parts.map(part => part.ns)), p50: quantile(buckets, 0.5, least, highest),
            p99: quantile(buckets, 0.99, least, highest), max: highest, buckets};
    });
    const others = cells.flatMap(cell => [...cell.values()].filter(one => one.kernel >= data.kernels.length));
    if (others.length) {
        const buckets = addBuckets(others.map(one => readBuckets(one.buckets)));
        view.kernels.push({index: view.kernels.length, name: "kernels with less time than those above",
            short: "(all other kernels)", calls: sum(buckets.map(pair => pair[1])), ns: sum(others.map(one => one.ns)), buckets});
        view.all++;
    }
    view.points = cells.map((cell, i) => ({at: start + (i + 1) * data.span_ns / 1e6, ns: data.span_ns,
        all: {calls: sum([...cell.values()].map(one => sum(readBuckets(one.buckets).map(pair => pair[1])))),
            ns: sum([...cell.values()].map(one => one.ns))},
        kernels: view.kernels.slice(0, TOP).map(kernel => {
            const one = cell.get(kernel.index);
            const pairs = one ? readBuckets(one.buckets) : [];
            return {calls: sum(pairs.map(pair => pair[1])), ns: one ? one.ns : 0,
                p50: one ? quantile(pairs, 0.5, one.min_ns, one.max_ns) : null,
                p99: one ? quantile(pairs, 0.99, one.min_ns, one.max_ns) : null};
        })}));
    const bounds = [1e4, 1e5, 1e6, 1e7, 1e8, null];
    view.gpus = data.gpus.map((gpu, i) => {
        const busy = busyOfSpans(data, i);
        return {id: gpu.id, label: "G" + gpu.id + (gpu.pci ? " " + gpu.pci.replace(/^0000:/, "") : "") + " " +
            (gpu.name || ""), busy: mean(busy), verdict: null, idle: gpu.gaps.map((ns, c) => ({below: bounds[c], ns})),
            line: busy.map(share => ({busy: share, verdict: null}))};
    });
    return view;
}

/* --- the address's fragment --- */

function readFragment() {
    const choices = {};
    for (const part of location.hash.slice(1).split("&")) {
        const at = part.indexOf("=");
        try {
            if (at > 0)
                choices[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
        } catch (e) { /* not a fragment of this page */ }
    }
    return choices;
}

function keepChoice(name, value) {
    const choices = {...readFragment(), [name]: value};
    const text = Object.entries(choices).filter(([, v]) => v !== "" && v !== null)
        .map(([k, v]) => k + "=" + encodeURIComponent(v)).join("&");
    history.replaceState(null, "", "#" + text);
}

/* --- tables --- */

/*
 * A table whose columns sort. A column: {key, title, tip, get: row -> value, show: value, row -> text or node, text: true
 * for words, wide: true if a phone leaves the column out}. Options: sort, down; fragment: the address keeps the order;
 * detail: row -> element, shown below the chosen row. Returns the element; its sortBy(key, down) sorts, its choose(row)
 * shows a row's detail, its filter(row -> bool) hides rows.
 */
function makeTable(id, caption, columns, rows, options) {
    const settings = {sort: null, detail: null, ...options};
    let chosen = null, below = null;
    const body = make("tbody");
    const heads = columns.map(column => {
        const button = make("button", {type: "button", title: column.tip}, column.title);
        const head = make("th", {scope: "col", class: kind(column), "data-key": column.key, "data-title": column.title},
            button);
        button.addEventListener("click", () => sortBy(column.key, column.key === settings.sort ? !settings.down :
            !column.text, true));
        return head;
    });
    const table = make("table", {id}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heads)), body);
    const lines = new Map(rows.map(row => [row, makeLine(row)]));

    function kind(column) {
        return (column.text ? "text" : "number") + (column.wide ? " wide" : "") + (column.name ? " name" : "");
    }

    function makeLine(row) {
        return make("tr", {}, ...columns.map((column, i) => {
            const value = column.get(row);
            const shown = column.show ? column.show(value, row) : value === null || value === undefined ? NONE : value;
            return make(i ? "td" : "th", {class: kind(column), scope: i ? null : "row", "data-key": column.key,
                "data-value": value === null || value === undefined ? null : value,
                title: shown === NONE ? "not known" : column.title_of && column.title_of(row)}, shown);
        }));
    }

    function compare(column, a, b) {
        const x = column.get(a), y = column.get(b);
        const none = v => v === null || v === undefined || v === "";
        if (none(x) || none(y))
            return none(x) - none(y); /* rows without a value are last in both directions */
        const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y));
        return settings.down ? -order : order;
    }

    function sortBy(key, down, keep) {
        const column = columns.find(one => one.key === key);
        if (!column)
            return;
        settings.sort = key;
        settings.down = down;
        rows.sort((a, b) => compare(column, a, b));
        heads.forEach((head, i) => columns[i] === column ?
            head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
        place();
        if (keep && settings.fragment)
            keepChoice("sort", (down ? "" : "-") + key);
    }

    function place() {
        body.replaceChildren(...rows.map(row => lines.get(row)));
        if (chosen) {
            lines.get(chosen).after(below);
            below.hidden = lines.get(chosen).hidden;
        }
    }

    function choose(row) {
        const again = row === chosen;
        if (chosen)
            lines.get(chosen).classList.remove("chosen");
        chosen = again ? null : row;
        below = again ? null : make("tr", {class: "detail"}, make("td", {colspan: columns.length}, settings.detail(row)));
        if (chosen)
            lines.get(chosen).classList.add("chosen");
        place();
        if (below)
            below.querySelectorAll(".paint").forEach(host => host.paint(true));
    }

    function filter(fits) {
        let shown = 0;
        for (const [row, line] of lines) {
            line.hidden = !fits(row);
            shown += !line.hidden;
        }
        place();
        return shown;
    }

    if (settings.detail)
        for (const [row, line] of lines)
            line.addEventListener("click", () => {
                choose(row);
                if (settings.fragment)
                    keepChoice("kernel", chosen ? row.index : "");
            });
    body.replaceChildren(...rows.map(row => lines.get(row)));
    if (settings.sort)
        sortBy(settings.sort, settings.down !== false);
    return Object.assign(make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption}, table),
        {sortBy, choose, filter});
}

function section(id, title, ...children) {
    return make("section", {id, "aria-labelledby": id + "-title"}, make("h2", {id: id + "-title"}, title), ...children);
}

/* --- charts --- */

function colour(index) {
    return "c" + index % 10 + (index >= 10 ? " second" : "");
}

/* Ends of an axis with round steps: at most `steps` of them. */
function axisSteps(high, steps, units) {
    const raw = high / steps;
    const ten = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(n => n * ten).find(n => n >= raw) || raw;
    const marks = [];
    for (let at = 0; at <= high * 1.0001; at += step)
        marks.push(at);
    return {marks, high: units === "share" ? high : Math.max(high, marks[marks.length - 1])};
}

function clockText(ms, view, seconds) {
    if (!view.clock)
        return time((ms - view.from) * 1e6);
    const options = {hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(seconds ? {second: "2-digit"} : {}),
        ...(seconds && view.to - view.from < 2e4 ? {fractionalSecondDigits: 1} : {})};
    return new Date(ms).toLocaleTimeString([], options);
}

/* Adds the axis of time below a chart: as many marks as fit. */
function drawTimes(svg, view, box) {
    const steps = Math.max(1, Math.floor(box.width / 130));
    for (let i = 0; i <= steps; i++) {
        const ms = view.from + (view.to - view.from) * i / steps, x = box.left + box.width * i / steps;
        svg.append(draw("line", {class: "mark", x1: x, x2: x, y1: box.top + box.height, y2: box.top + box.height + 4}),
            draw("text", {class: "label", x, y: box.top + box.height + 16,
                "text-anchor": i === 0 ? "start" : i === steps ? "end" : "middle"},
            clockText(ms, view, view.to - view.from < 36e5)));
    }
}

const across = (view, box, ms) => box.left + box.width * (ms - view.from) / Math.max(1e-6, view.to - view.from);

/* Path along the points; a point without a value interrupts the line. */
function linePath(view, box, values, high) {
    let path = "", on = false;
    values.forEach((value, i) => {
        if (!known(value)) {
            on = false;
            return;
        }
        const x = across(view, box, view.points[i].at), y = box.top + box.height * (1 - Math.min(1, value / high));
        const alone = !on && !known(values[i + 1]); /* a point between gaps is a short line */
        path += (on ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1) + (alone ? "h2" : "");
        on = true;
    });
    return path;
}

/* Area of steps between two curves: a point's value covers the span before the point. */
function stepPath(view, box, low, above, high) {
    const y = value => (box.top + box.height * (1 - Math.min(1, value / high))).toFixed(1);
    let there = "", back = "";
    view.points.forEach((point, i) => {
        const from = across(view, box, Math.max(view.from, point.at - point.ns / 1e6)).toFixed(1);
        const to = across(view, box, point.at).toFixed(1);
        there += (i ? "L" : "M") + from + " " + y(above[i]) + "L" + to + " " + y(above[i]);
        back = "L" + to + " " + y(low[i]) + "L" + from + " " + y(low[i]) + back;
    });
    return there ? there + back + "Z" : "";
}

const METRICS = {
    time: {title: "Time", tip: "kernel time per second of the process, stacked: above 1 s where kernels run at once",
        stacked: true, get: (one, point) => known(one.ns) ? one.ns / point.ns * 1e9 : null, show: time},
    share: {title: "Share", tip: "share of all timed kernel time", stacked: true, limit: 1,
        get: (one, point) => point.all.ns ? one.ns / point.all.ns : null, show: percent},
    p50: {title: "p50", tip: "median duration", get: one => one.p50, show: time},
    p99: {title: "p99", tip: "99th percentile of the durations", get: one => one.p99, show: time},
    calls: {title: "Calls", tip: "dispatches per second", get: (one, point) => known(one.calls) ?
        one.calls / point.ns * 1e9 : null, show: rate},
};

/* The chosen kernels over time. A stacked chart also has the sum of all others. */
function drawKernels(view, chosen, metric, width, readout) {
    const box = {left: 56, top: 8, width: Math.max(120, width - 68), height: width < 500 ? 180 : 260};
    const series = chosen.map(index => ({index, title: view.kernels[index].short,
        values: view.points.map(point => point.kernels[index] ? metric.get(point.kernels[index], point) : null)}));
    if (metric.stacked)
        series.push({index: null, title: "all others", values: view.points.map((point, i) => {
            const all = metric.get(point.all, point);
            return known(all) ? Math.max(0, all - sum(series.map(one => one.values[i]))) : null;
        })});
    const tops = metric.stacked ? view.points.map((point, i) => sum(series.map(one => one.values[i]))) :
        series.flatMap(one => one.values);
    const axis = axisSteps(metric.limit || 1.05 * most(tops) || 1, 4, metric.limit ? "share" : "");
    const svg = draw("svg", {class: "chart", width, height: box.height + 32, viewBox: "0 0 " + width + " " +
        (box.height + 32), role: "img", "aria-label": "kernels over time: " + metric.tip});
    for (const mark of axis.marks) {
        const y = box.top + box.height * (1 - mark / axis.high);
        svg.append(draw("line", {class: "grid", x1: box.left, x2: box.left + box.width, y1: y, y2: y}),
            draw("text", {class: "label", x: box.left - 6, y: y + 4, "text-anchor": "end"}, short(metric.show(mark))));
    }
    let low = view.points.map(() => 0);
    for (const one of series) {
        let path;
        if (metric.stacked) {
            const above = low.map((value, i) => value + (known(one.values[i]) ? one.values[i] : 0));
            path = draw("path", {class: "area " + (one.index === null ? "others" : colour(one.index)),
                d: stepPath(view, box, low, above, axis.high)});
            low = above;
        } else {
            path = draw("path", {class: "line " + colour(one.index), d: linePath(view, box, one.values, axis.high)});
        }
        path.append(draw("title", {}, one.title));
        svg.append(path);
    }
    drawTimes(svg, view, box);
    const cursor = draw("line", {class: "cursor", y1: box.top, y2: box.top + box.height, visibility: "hidden"});
    svg.append(cursor);
    svg.addEventListener("pointermove", event => {
        const x = event.clientX - svg.getBoundingClientRect().left;
        const at = view.points.findIndex(point => across(view, box, point.at) >= x);
        if (at < 0)
            return;
        const point = view.points[at];
        cursor.setAttribute("x1", across(view, box, point.at));
        cursor.setAttribute("x2", across(view, box, point.at));
        cursor.setAttribute("visibility", "visible");
        const parts = series.filter(one => known(one.values[at])).sort((a, b) => b.values[at] - a.values[at]);
        readout.replaceChildren(clockText(point.at, view, true) + ": " + (parts.slice(0, 4).map(one =>
            visible(one.title) + " " + metric.show(one.values[at])).join(", ") || NONE));
    });
    return svg;
}

/* Distributions of durations on one logarithmic axis: bars for one histogram, two outlines for A and B. */
function drawHistogram(sides, width, title) {
    const box = {left: 44, top: 8, width: Math.max(120, width - 56), height: 140};
    const all = sides.flatMap(side => side.pairs);
    const svg = draw("svg", {class: "chart histogram", width, height: box.height + 32, viewBox: "0 0 " + width + " " +
        (box.height + 32), role: "img", "aria-label": title});
    if (!all.length)
        return make("p", {class: "note"}, "No duration was measured.");
    let low = Math.max(1, Math.min(...all.map(pair => lowOf(pair[0]))));
    let high = Math.max(...all.map(pair => lowOf(pair[0]) + widthOf(pair[0])));
    if (high < 1.2 * low) { /* a single bucket stands in the middle */
        low /= 1.1;
        high *= 1.1;
    }
    const bins = Math.max(16, Math.min(72, Math.floor(box.width / 8)));
    const place = ns => bins * Math.log(Math.max(low, ns) / low) / Math.log(high / low);
    sides.forEach((side, number) => {
        const heights = new Array(bins).fill(0);
        const total = sum(side.pairs.map(pair => pair[1]));
        for (const [bucket, value] of side.pairs) { /* a bucket that bins share is divided among them */
            const from = place(lowOf(bucket)), to = Math.max(from + 1e-9, place(lowOf(bucket) + widthOf(bucket)));
            for (let bin = Math.floor(from); bin < bins && bin < to; bin++)
                heights[bin] += value * (Math.min(to, bin + 1) - Math.max(from, bin)) / (to - from);
        }
        side.heights = heights.map(value => total ? value / total : 0);
        side.total = total;
        side.number = number;
    });
    const top = most(sides.flatMap(side => side.heights)) || 1;
    for (const side of sides) {
        let path = "M" + box.left + " " + (box.top + box.height);
        side.heights.forEach((value, bin) => {
            const y = (box.top + box.height * (1 - value / top)).toFixed(1);
            path += "L" + (box.left + box.width * bin / bins).toFixed(1) + " " + y +
                "L" + (box.left + box.width * (bin + 1) / bins).toFixed(1) + " " + y;
        });
        path += "L" + (box.left + box.width) + " " + (box.top + box.height) + (sides.length > 1 ? "" : "Z");
        svg.append(draw("path", {class: sides.length > 1 ? "outline side" + side.number : "area bars", d: path},
            draw("title", {}, (side.title ? side.title + ": " : "") + count(side.total) + " timed")));
    }
    svg.append(draw("text", {class: "label", x: box.left - 6, y: box.top + 8, "text-anchor": "end"}, percent(top)));
    for (const ns of durationMarks(low, high)) {
        const x = box.left + box.width * place(ns) / bins;
        svg.append(draw("line", {class: "mark", x1: x, x2: x, y1: box.top + box.height, y2: box.top + box.height + 4}),
            draw("text", {class: "label", x, y: box.top + box.height + 16, "text-anchor": "middle"}, short(time(ns))));
    }
    return svg;
}

/* Round durations between two: in steps if these are close, else a few for each factor of ten. */
function durationMarks(low, high) {
    const marks = [];
    if (high < 8 * low) {
        const {marks: steps} = axisSteps(high - low, 5, "");
        const step = steps[1] - steps[0];
        for (let ns = Math.ceil(low / step) * step; ns <= high; ns += step)
            marks.push(ns);
        return marks;
    }
    for (let ten = 10 ** Math.floor(Math.log10(low)); ten <= high; ten *= 10)
        for (const n of high > 300 * low ? [1] : [1, 2, 5])
            if (n * ten >= low && n * ten <= high)
                marks.push(n * ten);
    return marks;
}

/* A GPU: busy as an area, and below it a strip with the verdict of each point. */
function drawGpu(view, gpu, width) {
    const box = {left: 44, top: 6, width: Math.max(120, width - 56), height: 64};
    const strip = box.top + box.height + 2;
    const svg = draw("svg", {class: "chart", width, height: box.height + 44, viewBox: "0 0 " + width + " " +
        (box.height + 44), role: "img", "aria-label": gpu.label + ": busy " + percent(gpu.busy)});
    svg.append(draw("rect", {class: "back", x: box.left, y: box.top, width: box.width, height: box.height}),
        draw("path", {class: "area busy", d: stepPath(view, box, gpu.line.map(() => 0),
            gpu.line.map(one => known(one.busy) ? one.busy : 0), 1)}),
        draw("text", {class: "label", x: box.left - 6, y: box.top + 8, "text-anchor": "end"}, "100 %"),
        draw("text", {class: "label", x: box.left - 6, y: box.top + box.height, "text-anchor": "end"}, "0"));
    gpu.line.forEach((one, i) => {
        if (view.trace)
            return;
        const point = view.points[i];
        const from = across(view, box, Math.max(view.from, point.at - point.ns / 1e6));
        const to = across(view, box, point.at);
        const text = clockText(point.at, view, true) + ": busy " + percent(one.busy) + ", " + wordsOf(view, one.verdict) +
            (one.call ? ", host in " + one.call : "");
        svg.append(draw("rect", {class: "verdict v-" + (one.verdict || "unknown"), x: from.toFixed(1), y: strip,
            width: Math.max(0.5, to - from).toFixed(1), height: 10}, draw("title", {}, text)));
        if (!known(one.busy))
            svg.append(draw("rect", {class: "unmeasured", x: from.toFixed(1), y: box.top,
                width: Math.max(0.5, to - from).toFixed(1), height: box.height}, draw("title", {}, "not measured")));
    });
    drawTimes(svg, view, {...box, height: box.height + (view.trace ? 0 : 12)});
    return svg;
}

/* A small line without axes, for a cell. */
function drawSpark(values, title) {
    const top = most(values);
    if (!known(top))
        return NONE;
    let path = "", on = false;
    values.forEach((value, i) => {
        if (known(value))
            path += (on ? "L" : "M") + (100 * i / Math.max(1, values.length - 1)).toFixed(1) + " " +
                (top ? 17 - 16 * value / top : 17).toFixed(1);
        on = known(value);
    });
    return draw("svg", {class: "spark", width: 100, height: 18, viewBox: "0 0 100 18", role: "img", "aria-label": title},
        draw("path", {class: "line", d: path}));
}

/* Shows what `paint(width)` makes, and paints it again when the width changes. */
function paintable(paint) {
    const host = make("div", {class: "paint"});
    let width = 0;
    host.paint = (force, given) => {
        const now = given || Math.floor(host.clientWidth) || 800;
        if (!force && now === width)
            return;
        width = now;
        host.replaceChildren(paint(now));
    };
    paintables.push(host);
    return host;
}
const paintables = [];

/* --- parts of the page --- */

const wordsOf = (view, key) => !key ? "not known" : (view.verdicts[key] || key).split(": ")[0];
const meaningOf = (view, key) => key && view.verdicts[key] ? view.verdicts[key].split(": ").slice(1).join(": ") : "";

function partKernels(view, id, title) {
    const limit = Math.min(TOP, view.kernels.length);
    const chosen = new Set([...Array(Math.min(SHOWN, limit)).keys()]);
    const first = view.kernels.some(kernel => kernel.ns) ? "time" : "calls"; /* of untimed kernels only calls are known */
    let metric = METRICS[readFragment().metric] ? readFragment().metric : first;
    const readout = make("p", {class: "readout"}, "Move over the chart to read it.");
    const chart = paintable(width => drawKernels(view, [...chosen].sort((a, b) => a - b), METRICS[metric], width, readout));
    const buttons = Object.entries(METRICS).map(([key, one]) => {
        const button = make("button", {type: "button", title: one.tip, "aria-pressed": String(key === metric)}, one.title);
        button.addEventListener("click", () => {
            metric = key;
            buttons.forEach(other => other.setAttribute("aria-pressed", String(other === button)));
            keepChoice("metric", key);
            chart.paint(true);
        });
        return button;
    });
    const legend = make("ul", {class: "legend"}, ...view.kernels.slice(0, limit).map(kernel => {
        const box = make("input", {type: "checkbox", checked: chosen.has(kernel.index)});
        box.addEventListener("change", () => {
            if (box.checked)
                chosen.add(kernel.index);
            else
                chosen.delete(kernel.index);
            chart.paint(true);
        });
        return make("li", {}, make("label", {title: kernel.name}, box, make("span", {class: "swatch " +
            colour(kernel.index)}), kernel.short));
    }));
    return section(id, title, make("div", {class: "controls", role: "group",
        "aria-label": "what the chart shows"}, ...buttons), chart, readout, legend);
}

const KERNEL_COLUMNS = [
    {key: "name", title: "Kernel", text: true, name: true, get: row => row.short, title_of: row => row.name,
        show: (value, row) => make("button", {type: "button", class: "choose"},
            row.index < TOP ? make("span", {class: "swatch " + colour(row.index)}) : null, value)},
    {key: "share", title: "%Time", tip: "share of all timed kernel time", get: row => row.share, show: percent},
    {key: "calls", title: "Calls", tip: "dispatches, timed or not", get: row => row.calls, show: count},
    {key: "total", title: "Total", tip: "time of all timed dispatches; ~: estimated", wide: true, get: row => row.ns,
        show: (ns, row) => (row.estimated ? "~" : "") + time(ns)},
    {key: "p50", title: "p50", tip: "median duration", get: row => row.p50, show: time},
    {key: "p99", title: "p99", tip: "99th percentile of the durations", get: row => row.p99, show: time},
    {key: "max", title: "Max", tip: "longest duration", get: row => row.max, show: time},
    {key: "launch", title: "Launch", tip: "median time from the HIP call to the kernel's start", wide: true,
        get: row => row.launch, show: time},
    {key: "slowest", title: "Slowest", tip: "slowest process, compared with the median of the others", wide: true,
        get: row => row.slowest ? row.slowest.ratio : null,
        show: (value, row) => !known(value) ? NONE : row.slowest.arrives_last ? row.slowest.label + " last" :
            value < 1.05 ? "=" : row.slowest.label + " " + ratio(value)},
    {key: "family", title: "Family", tip: "purpose of the kernel", text: true, wide: true, get: row => row.family},
];

function partTable(view) {
    const total = sum(view.kernels.map(kernel => kernel.ns));
    for (const kernel of view.kernels)
        kernel.share = known(kernel.ns) && total ? kernel.ns / total : null;
    const columns = KERNEL_COLUMNS.filter(column => ["name", "share", "calls", "total", "p50", "p99"].includes(column.key) ||
        view.kernels.some(kernel => column.get(kernel) !== null && column.get(kernel) !== undefined));
    const table = makeTable("kernels", "Kernels in " + (view.snapshot ? "the time since the process's start" :
        "the time of this page"), columns, [...view.kernels],
    {sort: "share", fragment: true, detail: row => detailOf(view, row)});
    const search = make("input", {type: "search", id: "search", placeholder: "part of a name", autocomplete: "off"});
    const found = make("span", {class: "note", role: "status"});

    function filter() {
        const words = search.value.toLowerCase();
        const shown = table.filter(row => (row.short + "\n" + row.name + "\n" + (row.family || "")).toLowerCase().includes(words));
        found.replaceChildren(words ? shown + " of " + view.kernels.length : "");
    }

    search.addEventListener("input", () => {
        filter();
        keepChoice("search", search.value);
    });
    const choices = readFragment();
    search.value = choices.search || "";
    filter();
    if (choices.sort)
        table.sortBy(choices.sort.replace(/^-/, ""), choices.sort[0] !== "-");
    const left = view.all - view.kernels.length;
    const part = section("table", "Kernels", make("div", {class: "controls"}, make("label", {for: "search"}, "Search"),
        search, found), table, left > 0 ? make("p", {class: "note"}, "The page has the " + view.kernels.length +
        " kernels with most time, and not the other " + left + ".") : null);
    part.begin = () => view.kernels.length && table.choose(view.kernels[Number(choices.kernel)] || view.kernels[0]);
    return part;
}

/* Makes the detail of a chosen kernel: its full name, its durations, and its numbers in each process. */
function detailOf(view, row) {
    const detail = make("div", {}, make("p", {class: "full"}, row.name));
    if (row.buckets && row.buckets.length)
        detail.append(make("h4", {}, "Durations"), paintable(width => drawHistogram([{pairs: row.buckets}], width,
            "durations of " + row.short)));
    else
        detail.append(make("p", {class: "note"}, "No duration of this kernel was measured."));
    if (row.processes && row.processes.length)
        detail.append(makeTable("ranks", "This kernel in each process", rankColumns(view), [...row.processes],
            {sort: "p99"}));
    return detail;
}

function rankColumns(view) {
    const labels = new Map((view.processes || []).map(process => [process.pid, process]));
    return [
        {key: "process", title: "Process", text: true, get: row => labels.has(row.pid) ? labels.get(row.pid).label :
            String(row.pid)},
        {key: "calls", title: "Calls", get: row => view.snapshot ? row.calls : row.window.calls, show: count},
        {key: "total", title: "Total", get: row => view.snapshot ? row.total_ns : row.window.total_ns, show: time},
        {key: "p50", title: "p50", get: row => row.window.p50_ns, show: time},
        {key: "p99", title: "p99", get: row => row.window.p99_ns, show: time},
        {key: "bar", title: "p99 compared", wide: true, get: row => row.window.p99_ns, show: (value, row) => drawBar(value,
            most(view.rankTop.get(row) || [value]))},
    ];
}

function drawBar(value, top) {
    return known(value) && top ? draw("svg", {class: "spark", width: 100, height: 12, viewBox: "0 0 100 12",
        role: "img", "aria-label": percent(value / top) + " of the longest"},
    draw("rect", {class: "bar", x: 0, y: 1, width: (100 * value / top).toFixed(1), height: 10})) : NONE;
}

function partGpus(view) {
    const parts = [...view.gpus].sort((a, b) => a.id - b.id).map(gpu => {
        const words = gpu.verdict ? wordsOf(view, gpu.verdict) : view.trace ? "a trace doesn't have the reason" :
            view.snapshot ? "a snapshot doesn't have the reason" : "reason not known";
        const points = view.points.length;
        const spent = new Map();
        gpu.line.forEach(one => one.verdict && spent.set(one.verdict, (spent.get(one.verdict) || 0) + 1 / points));
        const times = [...spent].sort((a, b) => b[1] - a[1]).map(([key, share]) => make("li", {title: meaningOf(view, key)},
            make("span", {class: "swatch v-" + key}), wordsOf(view, key) + " " + percent(share)));
        const idleAll = sum((gpu.idle || []).map(one => one.ns));
        const gaps = (gpu.idle || []).filter(one => one.ns > 0).map(one =>
            (one.below ? "below " + short(time(one.below)) : "longer") + ": " + percent(one.ns / idleAll));
        return make("article", {class: "gpu", "data-gpu": gpu.id}, make("h3", {}, gpu.label),
            make("p", {}, make("strong", {}, "busy " + (gpu.bound ? "at most " : "") + percent(gpu.busy)), ", " + words,
                meaningOf(view, gpu.verdict) ? make("span", {class: "note"}, " (" + meaningOf(view, gpu.verdict) + ")") : null,
                gpu.call ? ". Host in " + gpu.call + " for " + percent(gpu.callShare) + " of the time" : null,
                known(gpu.wait) ? ". Wait in queues: p99 " + time(gpu.wait) : null),
            points ? paintable(width => drawGpu(view, gpu, width)) : null,
            times.length ? make("ul", {class: "legend"}, ...times) : null,
            gaps.length ? make("p", {class: "note"}, "Idle time by the length of the gaps between kernels: " +
                gaps.join(", ") + ".") : null);
    });
    return parts.length ? section("gpus", "GPUs", ...parts) : null;
}

function partQueues(view) {
    if (!view.queues.length)
        return null;
    const labels = new Map((view.processes || []).map(process => [process.pid, process.label]));
    return section("queues", "Queues", makeTable("queue-table", "Queues: packets in flight, and how long packets waited", [
        {key: "name", title: "Queue", text: true, name: true, get: row => row.name},
        ...(labels.size ? [{key: "process", title: "Process", text: true, get: row => labels.get(row.pid) || row.pid}] : []),
        {key: "dispatches", title: "Dispatches", get: row => row.dispatches, show: count},
        {key: "depth", title: "Depth", tip: "packets in flight, mean", get: row => row.depth.length ? mean(row.depth) :
            row.now, show: value => known(value) ? digits(value) : NONE},
        {key: "deepest", title: "Most", tip: "packets in flight, highest at a point of this page",
            get: row => most(row.depth), show: count},
        {key: "wait50", title: "Wait p50", tip: "median time of a packet in the queue", get: row => row.p50, show: time},
        {key: "wait99", title: "Wait p99", get: row => row.p99, show: time},
        {key: "line", title: "Wait p99 over time", wide: true, get: row => most(row.wait),
            show: (value, row) => drawSpark(row.wait, "p99 of the waits over time")},
        {key: "way", title: "Kind", tip: "how the library sees the queue's packets", text: true, wide: true,
            get: row => row.way},
        {key: "error", title: "Error", text: true, wide: true, get: row => row.error},
    ].filter(column => !["deepest", "line"].includes(column.key) || view.points.length)
        .filter(column => column.key !== "error" || view.queues.some(row => row.error)), [...view.queues],
    {sort: "dispatches"}));
}

function partProcesses(view) {
    if (!view.processes || !view.processes.length)
        return null;
    const line = (pid, key) => view.points.map(point => ((point.processes || []).find(one => one.pid === pid) || {})[key]);
    return section("processes", "Processes", makeTable("process-table", "Processes and ranks", [
        {key: "label", title: "Process", text: true, get: row => row.label},
        {key: "pid", title: "Pid", get: row => row.pid},
        {key: "busy", title: "Busy", tip: "mean of its GPUs", get: row => row.busy, show: percent},
        {key: "rate", title: "Calls/s", get: row => row.dispatches_per_s, show: rate},
        {key: "line", title: "Busy over time", wide: true, get: row => row.busy,
            show: (value, row) => drawSpark(line(row.pid, "busy"), "busy over time")},
        {key: "top", title: "Most time", text: true, wide: true, get: row => row.top_kernel},
        {key: "worst", title: "Highest p99", wide: true, get: row => row.worst_p99_ns,
            show: (value, row) => known(value) ? time(value) + " " + row.worst_kernel : NONE},
        {key: "state", title: "State", text: true, wide: true, get: row => row.state},
        {key: "command", title: "Command", text: true, wide: true, get: row => row.command},
    ], [...view.processes], {sort: "pid", down: false}));
}

/* The cost of a step: the points in time weighted by their steps. */
function meanStep(view) {
    const points = view.points.map(point => point.step).filter(step => step && step.steps && known(step.step_ns));
    const steps = sum(points.map(step => step.steps));
    const weigh = get => {
        const some = points.filter(step => known(get(step)));
        return some.length ? sum(some.map(step => get(step) * step.steps)) / sum(some.map(step => step.steps)) : null;
    };
    if (!steps)
        return null;
    const last = points[points.length - 1];
    const names = [...new Set(points.flatMap(step => (step.families || []).map(family => family.name)))];
    const part = name => step => ((step.families || []).find(family => family.name === name) || {ns: 0}).ns;
    const labels = [...new Set(points.flatMap(step => (step.ranks || []).map(rank => rank.label)))];
    const rank = (label, key) => step => ((step.ranks || []).find(one => one.label === label) || {})[key];
    return {marker: last.marker, kind: last.kind, automatic: last.automatic, estimated: last.estimated, steps,
        ns: weigh(step => step.step_ns), idle: weigh(step => step.idle_ns), rate: mean(points.map(step => step.steps_per_s)),
        families: names.map(name => ({name, ns: weigh(part(name))})),
        ranks: labels.map(label => ({label, ns: weigh(rank(label, "step_ns")), busy: weigh(rank(label, "busy"))}))};
}

/* The duration of a step over time. */
function drawSteps(view, width) {
    const box = {left: 56, top: 8, width: Math.max(120, width - 68), height: 110};
    const values = view.points.map(point => point.step ? point.step.step_ns : null);
    const axis = axisSteps(1.05 * most(values) || 1, 3, "");
    const svg = draw("svg", {class: "chart", width, height: box.height + 32, viewBox: "0 0 " + width + " " +
        (box.height + 32), role: "img", "aria-label": "duration of a step over time"});
    for (const mark of axis.marks) {
        const y = box.top + box.height * (1 - mark / axis.high);
        svg.append(draw("line", {class: "grid", x1: box.left, x2: box.left + box.width, y1: y, y2: y}),
            draw("text", {class: "label", x: box.left - 6, y: y + 4, "text-anchor": "end"}, short(time(mark))));
    }
    svg.append(draw("path", {class: "line steps", d: linePath(view, box, values, axis.high)}));
    drawTimes(svg, view, box);
    return svg;
}

function partSteps(view) {
    const step = meanStep(view);
    if (!step)
        return null;
    const share = row => known(row.ns) && step.ns ? row.ns / step.ns : null;
    const about = step.estimated ? "~" : "";
    return section("steps", "Steps", make("p", {}, make("strong", {}, about + time(step.ns) + " a step"), ": " +
        [...step.families].sort((a, b) => b.ns - a.ns).slice(0, 5).map(family => family.name + " " + time(family.ns)).join(", ") +
        (known(step.idle) ? ", idle " + time(step.idle) : "") + "."),
    make("p", {class: "note"}, count(step.steps) + " steps, " + rate(step.rate) + " a second. " +
        (step.automatic ? "Marked automatically by " : "Marked by ") + (step.kind || "") + " " + step.marker + ". Times of GPUs that work at " +
        "once add up."), paintable(width => drawSteps(view, width)),
    makeTable("step-families", "Time of a step by family", [
        {key: "name", title: "Family", text: true, get: row => row.name},
        {key: "ns", title: "Time a step", get: row => row.ns, show: value => about + time(value)},
        {key: "share", title: "Of a step", get: share, show: percent}], [...step.families], {sort: "ns"}),
    step.ranks.length > 1 ? makeTable("step-ranks", "Steps of each process", [
        {key: "label", title: "Process", text: true, get: row => row.label},
        {key: "ns", title: "Step", get: row => row.ns, show: time},
        {key: "busy", title: "Busy", get: row => row.busy, show: percent}], [...step.ranks], {sort: "ns"}) : null);
}

function hostTable(view, id, caption, first, rows, extra) {
    const of = row => view.snapshot ? row : row.window;
    return rows && rows.length ? makeTable(id, caption, [
        {key: "name", title: first, text: true, name: true, get: row => row.name},
        {key: "calls", title: "Calls", get: row => of(row).calls, show: count},
        {key: "total", title: "Total", tip: "time of the host's threads", get: row => of(row).total_ns, show: time},
        {key: "p50", title: "p50", get: row => of(row).p50_ns, show: time},
        {key: "p99", title: "p99", get: row => of(row).p99_ns, show: time},
        ...extra], [...rows], {sort: "total"}) : null;
}

function partHost(view) {
    const functions = view.host && hostTable(view, "functions", "HIP functions", "Function", view.host.functions, [
        {key: "errors", title: "Errors", wide: true, get: row => row.errors, show: count}]);
    const ranges = view.host && hostTable(view, "ranges", "roctx ranges and marks", "Range", view.host.ranges, []);
    return functions || ranges ? section("host", "Host", functions, ranges) : null;
}

function partCopies(view) {
    if (!view.copies || !view.copies.length)
        return null;
    const of = row => view.snapshot ? {...row, bytes_per_s: null} : row.window;
    return section("copies", "Copies", makeTable("copy-table", "Copies of each GPU by direction", [
        {key: "gpu", title: "GPU", get: row => row.gpu, show: value => "G" + value},
        {key: "direction", title: "Direction", text: true, get: row => row.direction},
        {key: "count", title: "Copies", get: row => of(row).count, show: count},
        {key: "bytes", title: "Bytes", get: row => of(row).bytes, show: bytes},
        {key: "speed", title: "Bytes/s", get: row => of(row).bytes_per_s, show: bytes},
        {key: "p50", title: "p50", get: row => of(row).p50_ns, show: time},
        {key: "p99", title: "p99", get: row => of(row).p99_ns, show: time},
    ], [...view.copies], {sort: "bytes"}));
}

function dateText(ms) {
    return new Date(ms).toLocaleString([], {year: "numeric", month: "short", day: "numeric", hour: "2-digit",
        minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short"});
}

function head(title, facts) {
    document.title = "rtl-top: " + visible(title);
    return make("header", {}, make("h1", {}, title), make("dl", {class: "facts"}, ...facts.filter(([, value]) =>
        value !== null && value !== undefined && value !== "").flatMap(([name, value]) =>
        [make("dt", {}, name), make("dd", {}, value)])));
}

function foot(data) {
    return make("footer", {}, make("p", {}, "Made by rtl-top " + data.version + ", " + dateText(data.made_ns / 1e6) +
        ". A list has at most " + data.rows_max + " rows. " + NONE + ": not known. The page loads nothing and sends nothing."));
}

function timeSpan(view) {
    return !view.clock ? null : view.snapshot ? dateText(view.to) : dateText(view.from) + " to " + dateText(view.to);
}

/* Shows the parts below the head, with links to them. */
function compose(title, facts, parts, data) {
    page.replaceChildren(head(title, facts), make("nav", {"aria-label": "parts"}, ...parts.map(part =>
        make("a", {href: "#" + part.id}, part.querySelector("h2").textContent))), ...parts, foot(data));
    parts.forEach(part => part.begin && part.begin());
}

function showFile(data, view) {
    view.rankTop = new Map(view.kernels.flatMap(kernel => (kernel.processes || []).map(process =>
        [process, kernel.processes.map(other => other.window.p99_ns)])));
    const points = view.points.length;
    compose(view.title || view.file, [["File", view.file],
        ["Process", view.processes && view.processes.length > 1 ? view.processes.length + " processes" : view.pid],
        ["Time", timeSpan(view)], ["Length", view.snapshot ? null : time(view.span)],
        ["Points", points ? points + " of " + time(view.points[points - 1].ns) : null],
        ["Ops", view.ops ? count(view.ops) + (view.opsLeftOut ? ", " + count(view.opsLeftOut) + " left out" : "") : null],
        ["Mode", view.mode], ["Filter", data.filter], ["Notes", (view.notes || []).join(", ")],
        ["Times", view.observed ? "observed from outside: calls exact, times estimated where marked ~" : null]],
    [points ? partKernels(view, "over-time", "Kernels over time") : null, partTable(view), partGpus(view), partSteps(view),
        partProcesses(view), partQueues(view), partHost(view), partCopies(view)].filter(Boolean), data);
}

/* --- two files: the difference from A to B --- */

const P50_LEAST = 10, P99_LEAST = 500; /* timed dispatches on both sides, as for rtl-top diff */

/* True if B is a later snapshot of A's process: what A counted is in B, too. */
function contains(a, b) {
    const calls = new Map(b.kernels.map(kernel => [kernel.name, kernel.calls]));
    return a.snapshot && b.snapshot && a.pid === b.pid && a.title === b.title && a.to < b.to &&
        a.kernels.every(kernel => calls.get(kernel.name) >= kernel.calls);
}

/* The kernels of `later` count from `earlier` on. */
function subtract(earlier, later) {
    const before = new Map(earlier.kernels.map(kernel => [kernel.name, kernel]));
    return later.kernels.map(kernel => {
        const was = before.get(kernel.name);
        if (!was)
            return kernel;
        const counts = new Map(was.buckets);
        const buckets = kernel.buckets.map(([bucket, number]) => [bucket, number - (counts.get(bucket) || 0)])
            .filter(pair => pair[1] > 0);
        return {...kernel, calls: kernel.calls - was.calls, ns: grown(kernel.ns, was.ns), buckets,
            p50: quantile(buckets, 0.5, 0, Infinity), p99: quantile(buckets, 0.99, 0, Infinity)};
    });
}

function differenceOf(kernelsA, kernelsB) {
    const sides = [kernelsA, kernelsB].map(kernels => {
        const all = sum(kernels.map(kernel => kernel.ns));
        return new Map(kernels.filter(kernel => kernel.calls).map(kernel => {
            const timed = sum(kernel.buckets.map(pair => pair[1]));
            return [kernel.name, {...kernel, timed, share: known(kernel.ns) && all ? kernel.ns / all : null}];
        }));
    });
    return [...new Set([...sides[0].keys(), ...sides[1].keys()])].map((name, index) => {
        const none = {calls: null, timed: 0, ns: null, p50: null, p99: null, share: null, buckets: []};
        const a = sides[0].get(name) || none, b = sides[1].get(name) || none;
        const grew = (key, least) => a.timed >= least && b.timed >= least ? b[key] / a[key] - 1 : null;
        return {index, name, short: (b.short || a.short), a, b, p50: grew("p50", P50_LEAST), p99: grew("p99", P99_LEAST),
            cost: a.timed && b.timed ? b.ns - a.ns / a.timed * b.timed : b.timed ? b.ns : a.timed ? -a.ns : null};
    });
}

const DIFF_COLUMNS = [
    {key: "name", title: "Kernel", text: true, name: true, get: row => row.short, title_of: row => row.name,
        show: (value, row) => make("button", {type: "button", class: "choose"}, value + (row.a.calls ? row.b.calls ? "" :
            " (gone)" : " (new)"))},
    {key: "cost", title: "Cost", tip: "(mean B - mean A) times the timed dispatches of B", get: row => row.cost,
        show: value => make("span", {class: value > 0 ? "slower" : value < 0 ? "faster" : ""}, signed(value))},
    {key: "p50", title: "p50", tip: "change of the median; from " + P50_LEAST + " timed dispatches on both sides",
        get: row => row.p50, show: change},
    {key: "p99", title: "p99", tip: "change of the 99th percentile; from " + P99_LEAST + " timed dispatches on both sides",
        get: row => row.p99, show: change},
    ...["A", "B"].flatMap(letter => {
        const side = row => row[letter.toLowerCase()];
        return [
            {key: "p50" + letter, title: "p50 " + letter, wide: true, get: row => side(row).p50, show: time},
            {key: "p99" + letter, title: "p99 " + letter, wide: true, get: row => side(row).p99, show: time},
            {key: "share" + letter, title: "%" + letter, wide: true, get: row => side(row).share, show: percent},
            {key: "calls" + letter, title: "Calls " + letter, wide: true, get: row => side(row).calls, show: count}];
    }),
];

function showDifference(data, a, b) {
    const later = contains(a, b);
    const rows = differenceOf(a.kernels, later ? subtract(a, b) : b.kernels);
    const describe = view => [view.file, view.title, view.pid ? "process " + view.pid : null, timeSpan(view)]
        .filter(Boolean).join(", ");

    function detail(row) {
        const sides = [{title: "A", pairs: row.a.buckets}, {title: "B", pairs: row.b.buckets}];
        return make("div", {}, make("p", {class: "full"}, row.name), make("ul", {class: "legend"},
            ...sides.map((one, i) => make("li", {}, make("span", {class: "swatch side" + i}), one.title))),
        paintable(width => drawHistogram(sides, width, "durations of " + row.short + " in A and B")));
    }

    const table = makeTable("kernels", "Kernels: from A to B", DIFF_COLUMNS, rows, {sort: "cost", fragment: true, detail});
    const choices = readFragment();
    if (choices.sort)
        table.sortBy(choices.sort.replace(/^-/, ""), choices.sort[0] !== "-");
    const part = section("table", "Kernels", table);
    part.begin = () => rows.length && table.choose(rows.find(row => row.index === Number(choices.kernel)) || rows[0]);
    compose(a.file + " and " + b.file, [["A", describe(a)], ["B", describe(b) + (later ? ", counted from A on" : "")],
        ["Filter", data.filter]], [part, a.points.length ? partKernels(a, "over-time-a", "A over time") : null,
        b.points.length ? partKernels(b, "over-time-b", "B over time") : null].filter(Boolean), data);
}

/* --- begin --- */

const data = JSON.parse(document.getElementById("data").textContent);
const views = data.files.map(file => file.spans ? viewOfTrace(file) : viewOfFrames(file));
views.forEach(view => {
    view.verdicts = data.verdicts;
});
if (views.length > 1)
    showDifference(data, ...views);
else
    showFile(data, views[0]);
paintables.forEach(host => host.paint(true));
let waiting = 0;
window.addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => paintables.forEach(host => host.isConnected && host.paint(false)));
});
const PAPER = 680; /* the width of A4 and letter */
window.addEventListener("beforeprint", () => paintables.forEach(host => host.isConnected && host.paint(true, PAPER)));
window.addEventListener("afterprint", () => paintables.forEach(host => host.isConnected && host.paint(true)));
document.documentElement.setAttribute("data-drawn", "yes");

})();

# Compare two accounts of the same work: awk -v what=CHECK -f judge.awk FILE...
# FILEs are the output of a program about itself and that of intercept_dump about the program. Prints one line,
# "ok FIGURES" or "FAILED FIGURES". README.md gives the reason for each tolerance. Pure: uses no clock and no file of its own.

# printed by the program
$1 == "launched" { launched[$2] = $3; names++ }
$1 == "own" { own_n[$2] = $3; own_total[$2] = $4; own_min[$2] = $5; own_max[$2] = $6 }
$1 == "raw" { raw_total[$2] = $4; raw_min[$2] = $5; raw_max[$2] = $6 }
$1 == "clock" { clock_min[$2] = $4 }
$1 == "stamps" { stamps_min[$2] = $4 }
$1 == "between" { between[$2] = $4; between_p50[$2] = $5 }
$1 == "own_events" { own_events[$2] = $4; own_events_p50[$2] = $5 }
$1 == "waits" { waits = $2; waits_p50 = $3; waits_p99 = $4 }
NF == 2 && $1 ~ /^(early|late|backwards|ahead|back|short|lasted|sum)$/ { said[$1] = $2 }
$1 == "executed" { executed = $2; to_execute = $4 }
$1 == "outside" { outside = $2; outside_by = $3 }
$1 == "hz" { measured_hz = $2 }
$1 == "past" { past = $2; looks = $4 }
# printed by intercept_dump
$1 == "counted" { counted = $2; dumped = 1 }
$1 == "timed" { timed = $2 }
$1 == "untimed_total" { untimed = $2 }
$1 == "untimed" && $3 > 0 { why = why " " $2 " " $3; reason[$2] = $3 }
$1 == "kernel" { calls[$2] = $3; kernel_timed[$2] = $4; total[$2] = $6; min[$2] = $7; max[$2] = $8 }
$1 == "queue" {
    for (i = 2; i <= NF; i++) {
        if ($i == "wait") { wait_n += $(i + 1); if ($(i + 1)) wait_p50 = $(i + 2) }
        if ($i == "waited" && $(i + 3) > wait_max) wait_max = $(i + 3)
    }
}
$1 == "gpu" { for (i = 2; i < NF; i++) { if ($i == "busy_ns") busy += $(i + 1); if ($i == "tick_hz") hz = $(i + 1) } }
# from rtl-top --csv, fields 4 and 6 (these programs' names have no commas): see check_observe in checks.sh
$1 == "seen" { calls[$2] = $3; dumped = 1 }

function fail(text) { bad = bad (bad ? "; " : "") text }
function add(text) { good = good (good ? ", " : "") text }
function us(ns) { return sprintf("%.2f us", ns / 1000) }
function off(a, b) { return a > b ? a - b : b - a }

function counts(    k, sum) {
    if (!names && tally) { # a program without an account: as many launches as in its other runs
        for (k in calls)
            sum += k ~ /^(__amd_rocclr_|<)/ ? 0 : calls[k]
        if (sum + 0 != tally)
            fail(sum + 0 " dispatches counted, in another run " tally)
        add(sum + 0 " dispatches, as in its other runs")
        return
    }
    for (k in launched) {
        if (calls[k] + 0 != launched[k])
            fail(k " launched " launched[k] ", counted " calls[k] + 0)
        sum += launched[k]
    }
    if (!names || !sum)
        fail("the program launched nothing")
    add(names " kernels, " sum + 0 " launches")
}

# every counted dispatch is timed or has a reason, and the mode keeps its promise
function accounts() {
    if (counted != timed + untimed)
        fail("counted " counted ", timed " timed ", untimed " untimed)
    if (reason["bad_time"])
        fail(reason["bad_time"] " with times that make no sense")
    if (mode == "auto" && timed)
        fail(timed " timed without a viewer")
    if (mode != "auto" && !timed && counted)
        fail("none timed:" why)
    add(sprintf("%.1f %% timed", counted ? 100 * timed / counted : 0) (why ? ", not:" why : ""))
}

# for kernels with signals of the application: the library's times against those that the application reads
function own_times(    k, tick, worst, worst_read, d) {
    tick = hz ? 1e9 / hz : 0
    if (!tick)
        fail("the rate of the GPU's clock isn't known")
    for (k in own_n) {
        if (kernel_timed[k] != own_n[k]) {
            fail(k ": " own_n[k] " read, " kernel_timed[k] + 0 " timed")
            continue
        }
        # sums: a tick each for rounding, and 1 in 10,000 for two measurements of the clock's rate
        d = off(total[k], raw_total[k] * tick)
        if (d > own_n[k] * tick + raw_total[k] * tick / 10000)
            fail(k ": signals " us(raw_total[k] * tick) " in all, library " us(total[k]))
        if (off(min[k], raw_min[k] * tick) > tick + min[k] / 10000 || off(max[k], raw_max[k] * tick) > tick + max[k] / 10000)
            fail(k ": signals " us(raw_min[k] * tick) " to " us(raw_max[k] * tick) ", library " us(min[k]) " to " us(max[k]))
        if (d / own_n[k] > worst) worst = d / own_n[k]
        # as the runtime converts them, which renews its conversion in between: 1 us and 1 in 1,000
        d = off(total[k], own_total[k])
        if (d > own_n[k] * 1000 + total[k] / 1000)
            fail(k ": the application reads " us(own_total[k]) " in all, library " us(total[k]))
        if (d / own_n[k] > worst_read) worst_read = d / own_n[k]
        n += own_n[k]
    }
    if (!n)
        fail("none compared")
    add(n + 0 sprintf(" dispatches, off by %.1f ns each at most (ticks), %.1f ns (as read)", worst, worst_read))
}

function order() {
    if (said["backwards"])
        fail(said["backwards"] " ended before they started")
    if (said["early"] > 5000)
        fail("a start lies " us(said["early"]) " before its submission")
    if (said["late"] > 5000)
        fail("an end lies " us(said["late"]) " behind the moment at which it was known")
    if (!waits)
        fail("no waits")
    add("starts before submission by " us(said["early"]) ", ends behind knowing by " us(said["late"]) " at most, wait p50 " us(waits_p50))
}

function library_waits() {
    if (wait_n != waits)
        fail("waits of " waits " dispatches, library " wait_n + 0)
    if (wait_max > 60e9)
        fail("a wait of " us(wait_max))
    # the library notes the submission after the application, never before
    if (off(wait_p50, waits_p50) > 5000 + waits_p50 / 10)
        fail("wait p50 " us(waits_p50) " by the application, library " us(wait_p50))
    add("wait p50 " us(waits_p50) " by the application, library " us(wait_p50) ", max " us(wait_max))
}

function clocks(    k, source, tick) {
    if (!to_execute)
        fail("no kernel")
    else if (executed != to_execute)
        fail("only " executed " of " to_execute " kernels answered")
    # the check own compares the library's rate
    tick = 1e9 / (hz ? hz : measured_hz ? measured_hz : 1)
    for (k in clock_min) {
        source = dumped ? min[k] : stamps_min[k] * tick # without the library: the signals'
        clock_min[k] *= tick
        if (source < clock_min[k] * 0.99 - 2000)
            fail(k ": spun for " us(clock_min[k]) ", timed as " us(source))
        if (source > clock_min[k] * 1.01 + 20000)
            fail(k ": spun for " us(clock_min[k]) " only, timed as " us(source))
        figures = figures sprintf(" %s %.2f/%.2f us", k, clock_min[k] / 1000, source / 1000)
    }
    add("spun/timed:" figures)
    if (executed)
        add(outside " of " executed " read the clock outside their times" (outside ? ", by " us(outside_by * tick) " at most" : ""))
}

function elapsed(    k) {
    for (k in between) {
        if (!min[k]) {
            fail(k " isn't timed")
            continue
        }
        if (between_p50[k] < min[k] * 0.99 - 1000)
            fail(k ": hipEventElapsedTime " us(between_p50[k]) ", timed as " us(min[k]))
        if (between[k] > min[k] * 1.02 + 200000)
            fail(k ": hipEventElapsedTime " us(between[k]) ", timed as only " us(min[k]))
        # HIP sometimes uses the start of a barrier before the kernel as the kernel's start
        if (own_events_p50[k] < min[k] * 0.99 - 1000)
            fail(k ": events of its own " us(own_events_p50[k]) ", timed as " us(min[k]))
        if (own_events[k] > min[k] * 1.01 + 5000)
            fail(k ": events of its own " us(own_events[k]) ", timed as only " us(min[k]))
        figures = figures sprintf(" %s %.2f/%.2f/%.2f us", k, between[k] / 1000, own_events[k] / 1000, min[k] / 1000)
        n++
    }
    if (!n)
        fail("none compared")
    add("between events/own events/timed:" figures)
}

function busy_time() {
    if (!busy)
        fail("never busy")
    if (busy > said["lasted"] * 1.001 + 100000)
        fail("busy for " us(busy) " of " us(said["lasted"]))
    add(sprintf("busy %.3f of the time; the kernels' durations add up to %.2f of it", said["lasted"] ? busy / said["lasted"] : 0,
        said["lasted"] && hz ? said["sum"] / hz * 1e9 / said["lasted"] : 0))
}

function read_index() {
    if (!looks)
        fail("no kernel was seen running")
    if (said["ahead"])
        fail("ahead of what was submitted in " said["ahead"] " looks")
    if (said["back"])
        fail("it went back in " said["back"] " looks")
    if (said["short"])
        fail("behind " said["short"] " kernels half a second after their end")
    # a read may hit the moment of the kernel's end; an observer has to know early from late
    if (past > 0.8 * looks) when = "early"
    else if (past < 0.2 * looks) when = "late"
    else fail("neither early nor late")
    add("read index " (when ? when : "unclear") ": " past + 0 " of " looks + 0 " looks found it behind the running kernel")
}

END {
    if (what == "counts") counts()
    else if (what == "accounts") accounts()
    else if (what == "own") own_times()
    else if (what == "order") order()
    else if (what == "waits") library_waits()
    else if (what == "clocks") clocks()
    else if (what == "elapsed") elapsed()
    else if (what == "busy") busy_time()
    else if (what == "index") read_index()
    else fail("no check " what)
    if (what ~ /^(counts|accounts|own|waits|elapsed|busy)$/ && !dumped)
        fail("the library says nothing")
    print (bad ? "FAILED " bad " (" good ")" : "ok " good)
}

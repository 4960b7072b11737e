#!/bin/sh
# Beside rocprofiler-sdk: stand-ins for rocprofiler-register and the SDK, and the real runtime, which loads its tools as a
# runtime of AMD's does. HSA_TOOLS_ROCPROFILER_V1_TOOLS=1 has both loaded; a preloaded librtl.so needs no HSA_TOOLS_LIB.
# shellcheck disable=SC2034 # what intercept.sh reads
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

unset HSA_TOOLS_LIB HSA_TOOLS_ROCPROFILER_V1_TOOLS ROCP_TOOL_LIBRARIES ROCPROFILER_REGISTER_LIBRARY LD_PRELOAD RTL_MODE
rtl=$tap_top/$O/librtl.so
programs=$tap_top/$O/tests/programs
sdk=$programs/register_sdk_preload.so
REGISTER_LOG=$work/registered
export REGISTER_LOG
gpu="--preload $programs/register_getenv_preload.so"

untraced() { # name
    is "$1: no segment" "$(look counted | head -n 1 | grep -c '^counted')" 0
    close_scene
    is "$1: ends well" "$status" 0
}
all_counted() { # name
    check "$1: all over" wait_until 60 settled 0
    check "$1: counts are the program's" counted_as_launched
    is "$1: nothing to say" "$(look note)" ""
    close_scene
    is "$1: ends well" "$status" 0
}

# --- what the stand-ins do without us ---
tools=$rtl
play any
all_counted "no SDK: HSA_TOOLS_LIB is read"
is "no SDK: its table was registered" "$(cat "$REGISTER_LOG")" "registered hsa 1 1"
ROCPROFILER_REGISTER_LIBRARY=$sdk
export ROCPROFILER_REGISTER_LIBRARY
play any
untraced "an SDK: HSA_TOOLS_LIB is left out"
has "an SDK: it has wrapped the table" "$(cat "$work/err")" '^sdk: [1-9][0-9]* queues'

# --- both loaded by the runtime ---
HSA_TOOLS_ROCPROFILER_V1_TOOLS=1
export HSA_TOOLS_ROCPROFILER_V1_TOOLS
play any
all_counted "both by HSA_TOOLS_ROCPROFILER_V1_TOOLS"
has "both by HSA_TOOLS_ROCPROFILER_V1_TOOLS: the SDK has its queues" "$(cat "$work/err")" '^sdk: [1-9][0-9]* queues'

# --- preloaded ---
preload=$rtl
rm -f "$REGISTER_LOG"
play any
all_counted "preloaded and listed"
is "preloaded and listed: registered once" "$(cat "$REGISTER_LOG")" "registered hsa 1 0"
for REGISTER_RUNTIME in old new; do
    export REGISTER_RUNTIME
    play any
    all_counted "preloaded, a runtime that leaves HSA_TOOLS_LIB out ($REGISTER_RUNTIME)"
    has "preloaded, $REGISTER_RUNTIME: the SDK has its queues" "$(cat "$work/err")" '^sdk: [1-9][0-9]* queues'
done
unset REGISTER_RUNTIME
REGISTER_SDK=intercept
export REGISTER_SDK
play any
all_counted "preloaded, an SDK with intercept queues"
has "preloaded, an SDK with intercept queues: it sees every packet" "$(cat "$work/err")" '^sdk: [1-9][0-9]* queues, [0-9]{4,} packets'
unset REGISTER_SDK

# --- its end, as the runtime tells nobody: hsa_shut_down and hsa_init are counted ---
REGISTER_RUNTIME=new
export REGISTER_RUNTIME
tools=
preload=
play again # ROCr 6.4 can't be started a second time in a process
grep -q '^holding' "$work/out"
twice=$?
close_scene
preload=$rtl
play again
if [ "$twice" = 0 ]; then
    check "again: all accounted for, in one segment" wait_until 60 settled 0
    check "again: counts go on" counted_as_launched
    is "again: it is live" "$(look state)" "state live"
    close_scene
    is "again: ends well" "$status" 0
else
    close_scene
    is "again: fails as without the library" "$status" 2
fi
play end shutdown
wait_until 60 settled 1
check "shut down with a kernel in flight: it is counted" settled 1
close_scene
is "shut down with a kernel in flight: ends well" "$status" 0
play fork
check "fork: all over" wait_until 60 settled 0
check "fork: children counted nothing" counted_as_launched
close_scene
is "fork: ends well" "$status" 0
scenes=intercept_children
play spawn
check "spawned children: the parent's counts are its own" counted_as_launched
is "spawned children: each has a segment of its own" \
    "$(sed -n 's/^child //p' "$work/out" | while read -r child kernel n; do "$dump" "$child" kernel | grep -c "$kernel $n"; done | tr '\n' ' ')" "1 1 "
close_scene
is "spawned children: all end well" "$status" 0
finish

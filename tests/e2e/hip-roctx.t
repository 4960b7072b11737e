#!/bin/sh
# Ranges and marks of roctx under librtl-hip.so. The functions return what libroctx64 returns, whether that library is in
# the process or not. Each range is counted by name. Needs no GPU.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/hip.sh"
cc=${CC:-gcc}
program_path=$O/tests/programs/roctx_ranges

cat >"$work/wanted" <<'END'
pop of nothing: -1 -1
levels: 0 1 2, 2 1 0
levels: 0 1 2, 2 1 0
pop of nothing: -1
lengthy: 0
pop: 0
nameless: 0 0
deep: 199
back: 0
ids: 1 1
other thread: 0 1
pop: 1
END
# libroctx64 of the release that make check-real fetches, if it is there
real=$(find "${VGPU_RELEASES:-cache/releases}" -path '*/lib/x86_64-linux-gnu/libroctx64.so.4' 2>/dev/null | head -n 1)
if [ -n "$real" ]; then
    real=$(realpath "$real")
    is "libroctx64: returns the values that this test expects" "$(LD_PRELOAD=$real "$program_path" | diff "$work/wanted" -)" ""
fi

for behind in "" $real; do
    rm -f "$work/in"
    mkfifo "$work/in"
    (RTL_MODE=hip LD_PRELOAD=$hip_library${behind:+:$behind} exec "$program_path" --hold <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 60 grep -q '^holding' "$work/out"
    name="alone"
    [ -z "$behind" ] || name="with libroctx64"
    is "$name: return values are libroctx64's" "$(grep -v holding "$work/out" | diff "$work/wanted" -)" ""
    run_api --json >"$work/json"
    is "$name: ranges are counted by name" "$(jq -r '.ranges[] | "\(.kind) \(.name | .[0:9] | gsub("[^a-zA-Z ]"; "_")) \(.calls) \(.open)"' "$work/json" | sort)" \
        'mark token 10 0
range _no name_ 1 0
range _x_b___mr 10 0
range attention 10 0
range decode 10 0
range deep 64 0
range inner 1 0
range never sto 0 1
range request 2 0
range xxxxxxxxx 1 0'
    is "$name: nested ranges take no longer than their outer range" \
        "$(jq '[.ranges[] | select(.name == "attention" or .name == "decode")] | sort_by(.name) | .[0].total_ns <= .[1].total_ns' "$work/json")" true
    is "$name: unbalanced ends are counted" \
        "$(jq -c '[.ends_unbalanced, .ranges_deep, .ranges_unfinished, .ranges_other]' "$work/json")" '[5,136,1,0]'
    check "$name: a range's name controls no terminal" sh -c "'$O/rtl-top' api -p $program | grep -q 'x1b.31mred' &&
        ! '$O/rtl-top' api -p $program | grep -q '$(printf '\033')'"
    is "$name: a long name is cut and gets its hash" \
        "$(jq -r '.ranges[] | select(.name | startswith("xxx")) | .name | length, .[175:176]' "$work/json" | tr '\n' ' ')" "192 ~ "
    exec 3>&-
    wait "$program"
    is "$name: exit status is that without rtl-top" "$?" 0
done
# A limit that leaves room for all but the pairs of ranges and kernels
mib=$((1 << 20))
play prlimit --as=$((630 * mib)) "$program_path" --hold
is "no room for pairs: ranges are recorded" "$(run_api --json | jq '[.ranges[] | select(.name == "attention").calls]' -c)" '[10]'
close_play

# libroctx64 is loaded in the middle: ranges that began without it end without it.
cat >"$work/late.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int roctxRangePushA(const char *), roctxRangePop(void);
int main(int argc, char **argv)
{
    int outer = roctxRangePushA("outer"), inner = roctxRangePushA("inner");
    printf("%d %d %d", outer, inner, argc > 1 && dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL));
    inner = roctxRangePop();
    printf(" %d %d\n", inner, roctxRangePop());
    return 0;
}
END
echo 'int roctxRangePushA(const char *m) { return m ? 70 : 71; } int roctxRangePop(void) { return 77; }' >"$work/other.c"
"$cc" -shared -fPIC -o "$work/libroctx64.so" "$work/other.c"
"$cc" -o "$work/late" "$work/late.c" "$hip_library"
is "libroctx64 loaded later: gets no end of an earlier begin" \
    "$(RTL_MODE=hip LD_PRELOAD=$hip_library "$work/late" "$work/libroctx64.so")" "0 1 1 1 0"
is "libroctx64 loaded first: its return values are passed on" "$(RTL_MODE=hip LD_PRELOAD=$hip_library:$work/libroctx64.so "$work/late")" "70 70 0 77 77"
"$program_path" >"$work/out"
is "without libroctx64 and librtl-hip.so: no function is found" "$?" 3
LD_PRELOAD=$hip_library "$program_path" >"$work/out"
is "mode off: librtl-hip.so alone provides no function" "$?" 3
finish

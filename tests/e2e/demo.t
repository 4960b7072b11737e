#!/bin/sh
# make demo in a terminal: at least ten kernels with changing numbers, a detail page, and no process left behind.
. "$(dirname "$0")/tap.sh"

list_leftovers() { # demo programs that run from this build
    for exe in /proc/[0-9]*/exe; do
        case $(readlink "$exe" 2>/dev/null) in "$tap_top/$O/tests/programs/serve"*) echo "$exe" ;; esac
    done
}

nothing_left() { [ -z "$(list_leftovers)" ]; }
check "make demo: no demo of this build runs before the test" wait_until 60 nothing_left
check "make demo: shows its kernels and ends on q" tests/e2e/watch-demo 180 make O="$O" demo
sed 's/^/# /' "$work/check.out"
check "make demo: its workload has ended" wait_until 60 nothing_left

make O="$O" demo RELEASE=experimental SERVER=llama >"$work/out" 2>&1
check "make demo: RELEASE with SERVER=llama is refused" test "$?" -ne 0
has "make demo: the refusal of RELEASE with SERVER=llama says why" "$(cat "$work/out")" '^make demo: RELEASE=experimental excludes SERVER=llama'
make O="$O" demo RELEASE=no/release >"$work/out" 2>&1
check "make demo: an invalid RELEASE name is refused" test "$?" -ne 0
has "make demo: the refusal names the wrong RELEASE" "$(cat "$work/out")" "'no/release' is neither a release"
if [ -d cache/releases/experimental ]; then
    check "make demo on ROCm 7.2.4: shows its kernels and ends on q" tests/e2e/watch-demo 180 make O="$O" demo RELEASE=experimental
    check "make demo on ROCm 7.2.4: the program has ended" wait_until 60 nothing_left
else
    skip "make demo on ROCm 7.2.4" "tests/vgpu/releases experimental hasn't fetched it"
fi

make O="$O" demo >"$work/out" 2>&1 </dev/null
check "make demo: fails without a terminal" test "$?" -ne 0
has "make demo: its refusal without a terminal says what to do" "$(cat "$work/out")" 'needs a terminal.*make demo'
finish

#!/bin/sh
# The slots of the API table that the library uses are those of the runtime's own headers: here the ones that are
# installed; RTL_HSA_HEADERS names the folder of others (the one that has hsa/hsa_api_trace.h in it).
. "$(dirname "$0")/tap.sh"

compiler=$(command -v g++ || command -v clang++)
layout() { # definitions...
    "$compiler" -std=c++17 -DAMD_INTERNAL_BUILD ${RTL_HSA_HEADERS:+-I"$RTL_HSA_HEADERS"} -Isrc "$@" -fsyntax-only \
        tests/programs/device/intercept_table_layout.cc
}
check "slots and types are the runtime's" layout
sed 's/X(queue_destroy, CORE, 9,/X(queue_destroy, CORE, 10,/' src/intercept/base/hsa_table.h >"$work/wrong.h"
check "a wrong slot would be noticed" sh -c "grep -q 'CORE, 10,' '$work/wrong.h' &&
    mkdir -p '$work/intercept/base' && mv '$work/wrong.h' '$work/intercept/base/hsa_table.h'"
check "and is" sh -c "! '$compiler' -std=c++17 -DAMD_INTERNAL_BUILD -I'$work' -fsyntax-only \
    tests/programs/device/intercept_table_layout.cc"
finish

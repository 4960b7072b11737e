#!/bin/sh
# The API table's slots that the library uses are those of the runtime's headers: the installed ones, or those in the
# folder RTL_HSA_HEADERS (with hsa/hsa_api_trace.h).
. "$(dirname "$0")/tap.sh"

compiler=$(command -v g++ || command -v clang++)
compile_layout() { # DEFINITIONS...
    "$compiler" -std=c++17 -DAMD_INTERNAL_BUILD ${RTL_HSA_HEADERS:+-I"$RTL_HSA_HEADERS"} -Isrc "$@" -fsyntax-only \
        tests/programs/device/intercept_table_layout.cc
}
check "API table: slots and types are the runtime's" compile_layout
sed 's/X(queue_destroy, CORE, 9,/X(queue_destroy, CORE, 10,/' src/intercept/base/hsa_table.h >"$work/wrong.h"
check "API table: the test makes a copy with a wrong slot" sh -c "grep -q 'CORE, 10,' '$work/wrong.h' &&
    mkdir -p '$work/intercept/base' && mv '$work/wrong.h' '$work/intercept/base/hsa_table.h'"
check "API table: a wrong slot doesn't compile" sh -c "! '$compiler' -std=c++17 -DAMD_INTERNAL_BUILD -I'$work' -fsyntax-only \
    tests/programs/device/intercept_table_layout.cc"
finish

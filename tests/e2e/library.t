#!/bin/sh
# librtl.so as a file: its needs, its exports, and what it must not contain.
. "$(dirname "$0")/tap.sh"

library=$O/librtl.so
needed=$(ldd "$library" | awk '{ print $1 }' | sed 's,.*/,,' | sort | tr '\n' ' ')
is "librtl.so: needs only libc" "$needed" "ld-linux-x86-64.so.2 libc.so.6 linux-vdso.so.1 "

exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort | tr '\n' ' ')
is "librtl.so: exports only OnLoad, OnUnload and rocprofiler-register's function" "$exported" \
    "OnLoad OnUnload rocprofiler_register_library_api_table "
# A preloaded librtl.so is in every process: none of its code runs before a runtime calls it.
is "librtl.so: has no constructor except the compiler's" \
    "$(readelf -SW "$library" | awk '/ \.init_array / { sub(/.*INIT_ARRAY */, ""); print $3 }')" 000008

imported=$(nm -D --undefined-only "$library" | awk '{ print $2 }')
check "librtl.so: imports no function of the HSA runtime" sh -c "! echo '$imported' | grep -E '^(hsa|roctx|rocprofiler)'"
check "librtl.so: contains no SQLite" sh -c "! strings -a '$library' | grep -i sqlite"
is "librtl.so: imports no symbol of SQLite" "$(nm -D "$library" | grep -i sqlite)" ""
check "librtl.so: stays loaded for late callbacks (NODELETE)" sh -c "readelf -d '$library' | grep -q NODELETE"
check "librtl.so: resolves its symbols when it is loaded (NOW)" sh -c "readelf -d '$library' | grep -qE 'BIND_NOW|NOW'"
check "librtl.so: its stack is not executable" sh -c "readelf -lW '$library' | grep GNU_STACK | grep -qv 'RWE'"
is "librtl.so: its soname is librtl.so" "$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')" librtl.so
finish

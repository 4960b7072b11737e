#!/bin/sh
# librtl.so as a file: what it needs, what it exports, what it may not contain.
. "$(dirname "$0")/tap.sh"

library=$O/librtl.so
needed=$(ldd "$library" | awk '{ print $1 }' | sed 's,.*/,,' | sort | tr '\n' ' ')
is "it needs nothing but libc" "$needed" "ld-linux-x86-64.so.2 libc.so.6 linux-vdso.so.1 "

exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort | tr '\n' ' ')
is "librtl.so exports OnLoad, OnUnload and rocprofiler-register's function only" "$exported" \
    "OnLoad OnUnload rocprofiler_register_library_api_table "
# preloaded, it is in every process that is started: nothing of it runs before a runtime calls it
is "librtl.so has no constructor but the compiler's own" \
    "$(readelf -SW "$library" | awk '/ \.init_array / { sub(/.*INIT_ARRAY */, ""); print $3 }')" 000008

imported=$(nm -D --undefined-only "$library" | awk '{ print $2 }')
check "it calls no function of the HSA runtime by name" sh -c "! echo '$imported' | grep -E '^(hsa|roctx|rocprofiler)'"
check "there is no SQLite in it" sh -c "! strings -a '$library' | grep -i sqlite"
is "it imports no symbol of SQLite's" "$(nm -D "$library" | grep -i sqlite)" ""
check "it stays loaded for late callbacks (NODELETE)" sh -c "readelf -d '$library' | grep -q NODELETE"
check "it resolves its symbols when it is loaded (NOW)" sh -c "readelf -d '$library' | grep -qE 'BIND_NOW|NOW'"
check "its stack is not executable" sh -c "readelf -lW '$library' | grep GNU_STACK | grep -qv 'RWE'"
is "its name is librtl.so" "$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')" librtl.so
finish

#!/bin/sh
# make install and make uninstall: install copies every file, uninstall removes every file.
. "$(dirname "$0")/tap.sh"

list_files() { (cd "$1" && find . ! -type d | sort | tr '\n' ' '); }

to=$work/to
touch "$work/before"
check "make install: succeeds with PREFIX and DESTDIR" make -s O="$O" PREFIX=/opt/rtl DESTDIR="$to" install
is "make install: each file is in its place" "$(list_files "$to")" "./opt/rtl/bin/rtl-top ./opt/rtl/lib/librtl-hip.so ./opt/rtl/lib/librtl.so \
./opt/rtl/share/doc/rtl-top/LICENSE ./opt/rtl/share/doc/rtl-top/README.md \
./opt/rtl/share/doc/rtl-top/doc/costs.md ./opt/rtl/share/doc/rtl-top/doc/screen.svg ./opt/rtl/share/doc/rtl-top/doc/serve.md ./opt/rtl/share/doc/rtl-top/doc/use.md ./opt/rtl/share/doc/rtl-top/doc/verified.md \
./opt/rtl/share/man/man1/rtl-top-serve.1 ./opt/rtl/share/man/man1/rtl-top.1 ./opt/rtl/share/man/man5/rtl-top-db.5 ./opt/rtl/share/man/man7/librtl.7 "
check "make install: the installed viewer runs" "$to/opt/rtl/bin/rtl-top" -V
check "make install: only the program is executable; all files are readable" sh -c \
    "test \"\$(find '$to' -type f -name rtl-top -perm 755 | wc -l)\" = 1 &&
     test \"\$(find '$to' -type f ! -name rtl-top -perm 644 | wc -l)\" = 13"

echo "not ours" >"$to/opt/rtl/bin/other"
check "make uninstall: succeeds" make -s O="$O" PREFIX=/opt/rtl DESTDIR="$to" uninstall
is "make uninstall: leaves only foreign files" "$(list_files "$to")" "./opt/rtl/bin/other "
check "make uninstall: succeeds if nothing is installed" make -s O="$O" PREFIX=/opt/rtl DESTDIR="$to" uninstall
check "make install: writes nothing outside DESTDIR" test ! -e /opt/rtl
is "make install: rebuilds nothing that other tests use" "$(find "$O/librtl.so" "$O/librtl-hip.so" "$O/rtl-top" -newer "$work/before")" ""
finish

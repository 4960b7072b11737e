#!/bin/sh
# make install and make uninstall: everything arrives, and uninstall leaves nothing of it behind.
. "$(dirname "$0")/tap.sh"

list() { (cd "$1" && find . ! -type d | sort | tr '\n' ' '); }

to=$work/to
touch "$work/before"
check "make install with PREFIX and DESTDIR" make -s O="$O" PREFIX=/opt/rtl DESTDIR="$to" install
is "each file is where it belongs" "$(list "$to")" "./opt/rtl/bin/rtl-top ./opt/rtl/lib/librtl-hip.so ./opt/rtl/lib/librtl.so \
./opt/rtl/share/doc/rtl-top/LICENSE ./opt/rtl/share/doc/rtl-top/README.md \
./opt/rtl/share/doc/rtl-top/doc/costs.md ./opt/rtl/share/doc/rtl-top/doc/screen.svg ./opt/rtl/share/doc/rtl-top/doc/serve.md ./opt/rtl/share/doc/rtl-top/doc/use.md ./opt/rtl/share/doc/rtl-top/doc/verified.md \
./opt/rtl/share/man/man1/rtl-top-serve.1 ./opt/rtl/share/man/man1/rtl-top.1 ./opt/rtl/share/man/man5/rtl-top-db.5 ./opt/rtl/share/man/man7/librtl.7 "
check "the installed viewer runs" "$to/opt/rtl/bin/rtl-top" -V
check "the programs are executable by all, the rest is readable by all" sh -c \
    "test \"\$(find '$to' -type f -name rtl-top -perm 755 | wc -l)\" = 1 &&
     test \"\$(find '$to' -type f ! -name rtl-top -perm 644 | wc -l)\" = 13"

echo "not ours" >"$to/opt/rtl/bin/other"
check "make uninstall" make -s O="$O" PREFIX=/opt/rtl DESTDIR="$to" uninstall
is "only what wasn't ours is left" "$(list "$to")" "./opt/rtl/bin/other "
check "uninstall twice is no error" make -s O="$O" PREFIX=/opt/rtl DESTDIR="$to" uninstall
check "nothing was installed elsewhere" test ! -e /opt/rtl
is "nothing was built anew, under the tests that use it" "$(find "$O/librtl.so" "$O/librtl-hip.so" "$O/rtl-top" -newer "$work/before")" ""
finish

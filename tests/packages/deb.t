#!/bin/sh
# Install, upgrade and remove the Debian package in a fresh system; check the tarball of `make dist`.
. "$(dirname "$0")/../e2e/tap.sh"

version=$("$O/rtl-top" --version | sed -n '1s/^rtl-top \([0-9.]*\).*/\1/p')
tarball=$O/packages/rtl-top-$version.tar.gz
check "make dist: the tarball has the version in its name" test -s "$tarball"
tools/package dist >/dev/null
before=$(sha256sum <"$tarball")
tools/package dist >/dev/null
is "make dist: a second tarball is identical" "$(sha256sum <"$tarball")" "$before"
if git rev-parse --git-dir >/dev/null 2>&1; then
    is "make dist: the tarball has the files of git" "$(tar -tzf "$tarball" | sed "s,^rtl-top-$version/,," | sort)" "$(git ls-files | sort)"
fi
deb=$O/packages/rtl-top_${version}_amd64.deb
check "Debian package: its version is the one of rtl-top" test "$(dpkg-deb -f "$deb" Version)" = "$version"
check "Debian package: lintian finds nothing" lintian --allow-root --fail-on error,warning "$deb"
if [ "$(id -u)" = 0 ]; then
    tools/chroot-check installs >"$work/chroot" 2>&1
    status=$?
    sed 's/^/# /' "$work/chroot"
    check "Debian package: installs, upgrades and is purged in a fresh Debian 12" test "$status" = 0
    check "Debian package: all ten steps passed" test "$(grep -c '^ok - ' "$work/chroot")" = 10
else
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - Debian package: installs, upgrades and is purged in a fresh Debian 12 # SKIP only root can chroot"
fi
finish

#!/bin/sh
# The Debian package in a fresh system: installed, upgraded, removed; and what `make dist` and the units hold.
. "$(dirname "$0")/../e2e/tap.sh"

version=$("$O/rtl-top" --version | sed -n '1s/^rtl-top \([0-9.]*\).*/\1/p')
tarball=$O/packages/rtl-top-$version.tar.gz
check "the tarball has the version" test -s "$tarball"
tools/package dist >/dev/null
before=$(sha256sum <"$tarball")
tools/package dist >/dev/null
is "made twice it is the same" "$(sha256sum <"$tarball")" "$before"
if git rev-parse --git-dir >/dev/null 2>&1; then
    is "it has what git has" "$(tar -tzf "$tarball" | sed "s,^rtl-top-$version/,," | sort)" "$(git ls-files | sort)"
fi
deb=$O/packages/rtl-top_${version}_amd64.deb
check "the package has it, too" test "$(dpkg-deb -f "$deb" Version)" = "$version"
check "lintian finds nothing" lintian --allow-root --fail-on error,warning "$deb"
if [ "$(id -u)" = 0 ]; then
    tools/chroot-check installs >"$work/chroot" 2>&1
    status=$?
    sed 's/^/# /' "$work/chroot"
    check "it installs, upgrades and goes in a fresh Debian 12" test "$status" = 0
    check "ten things were looked at" test "$(grep -c '^ok - ' "$work/chroot")" = 10
else
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - it installs, upgrades and goes in a fresh Debian 12 # SKIP only root can chroot"
fi
finish

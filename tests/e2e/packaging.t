#!/bin/sh
# What is shipped beside the binaries: one version everywhere, a unit with sufficient rights, templates and an example
# for hosted CI whose commands exist.
# shellcheck disable=SC2013 # words are wanted
. "$(dirname "$0")/tap.sh"
top=$tap_top/$O/rtl-top

version=$(sed -n 's/^#define RTL_VERSION "\(.*\)"/\1/p' src/base/version.h)
is "version: rtl-top --version prints it" "$("$top" --version | sed -n '1s/^rtl-top \([^ ]*\) .*/\1/p')" "$version"
has "version: CHANGELOG.md begins with it" "$(grep '^## ' CHANGELOG.md | head -n 1)" "^## $version(,|$)"
is "version: no other file repeats it" "$(grep -rnF "$version" packaging tools Makefile .github)" ""

"$top" --help all >"$work/help"
for command in $(grep -ohE 'rtl-top [a-z]+' .github/*/*.md packaging/systemd/* | awk '{ print $2 }' | sort -u); do
    check "templates and units: rtl-top $command is a command" grep -qE "^  $command  " "$work/help"
done
make -s help >"$work/targets"
for target in $(sed -n 's/^ *- run: make \([a-z-]*\)$/\1/p' .github/workflows/*.yml); do
    check "the example for CI: make $target is a target" grep -qE "^make $target " "$work/targets"
done
is "systemd drop-in: sets the variables of rtl-top env" "$(sed -n 's/^Environment=\(HSA[A-Z0-9_]*\)=.*/\1/p' packaging/systemd/traced.conf)" \
    "$("$top" env --shell systemd | sed -n 's/^Environment="\(HSA[A-Z0-9_]*\)=.*/\1/p')"
is "systemd socket: listens on the default address" \
    "$(sed -n 's/^ListenStream=//p' packaging/systemd/rtl-top-serve.socket)" \
    "$(sed -n 's/^#define RTL_SERVE_HOST "\(.*\)"/\1/p' src/serve/parse.h):$(sed -n 's/^#define RTL_SERVE_PORT \(.*\)/\1/p' src/serve/parse.h)"

# Only the unit's rights, on a process of another user
if can_be_other_user "systemd unit: its rights suffice for another user's process"; then
    rights=$(sed -n 's/^CapabilityBoundingSet=//p' packaging/systemd/rtl-top-serve.service | tr '[:upper:]' '[:lower:]' | sed 's/cap_/+/g; s/ /,/g')
    cp "$O/tests/programs/segment_demo" "$work/demo"
    chmod 755 "$work" "$work/demo"
    (exec setpriv --reuid 65534 --regid 65534 --clear-groups "$work/demo" --kernels 3 --seconds 600 >/dev/null) &
    other=$!
    tap_pids=$other
    wait_until 60 is_traced "$other"
    report_with_rights() { setpriv "--bounding-set=-all$1" --no-new-privs "$top" report -p "$other"; }
    "$top" report -p "$other" >/dev/null 2>&1 || {
        skip "systemd unit: its rights suffice for another user's process" "root lacks these rights here"
        finish
    }
    has "systemd unit: its rights suffice for another user's process" "$(report_with_rights ",$rights")" "^process $other: "
    for one in $(echo "$rights" | tr ',' ' '); do
        check "systemd unit: without $one its rights don't suffice" sh -c "! setpriv --bounding-set=-all,$(echo "$rights" | tr ',' '\n' | grep -vxF -- "$one" | paste -sd,) \
            --no-new-privs '$top' report -p $other 2>&1 | grep '^process'"
    done
fi
finish

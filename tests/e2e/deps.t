#!/bin/sh
# Missing tools and libraries: the build prints one line that names the packages; tools/deps installs them.
. "$(dirname "$0")/tap.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS # of the make that runs the tests

is "tools/deps --check: nothing is missing here" "$(tools/deps --check build gpu unit test 2>&1)" ""
check "tools/deps: installs nothing if nothing is missing" env PATH="$work:$PATH" tools/deps build gpu unit test

make CC=no-such-compiler O="$work/o" >"$work/make.out" 2>&1
is "make without a compiler: fails" "$?" 2
is "make without a compiler: prints one line that names the packages" "$(grep -c 'rtl-top: missing: no-such-compiler.*apt-get install gcc' "$work/make.out")" 1
check "make without a compiler: prints at most three lines" sh -c "test \"\$(wc -l <'$work/make.out')\" -le 3"

make CPPFLAGS=-nostdinc O="$work/o" >"$work/make.out" 2>&1
has "make without headers: names each header and its package" "$(cat "$work/make.out")" \
    'missing:.* ncurses.h json-c/json.h sqlite3.h.* apt-get install .*libncurses-dev libjson-c-dev libsqlite3-dev'

# A system whose dpkg knows no package, and a user who is not root.
for tool in sh awk sort printf env cat; do ln -s "$(command -v $tool)" "$work/$tool"; done
printf '#!/bin/sh\nexit 1\n' >"$work/dpkg-query"
printf '#!/bin/sh\necho 1000\n' >"$work/id"
printf '#!/bin/sh\necho "$*" >>"%s/apt.log"\n' "$work" >"$work/apt-get"
chmod +x "$work/dpkg-query" "$work/id" "$work/apt-get"
message=$(PATH=$work tools/deps build 2>&1)
is "tools/deps without root or sudo: fails" "$?" 1
has "tools/deps without root or sudo: names the packages" "$message" 'neither root nor sudo.* gcc .*libjson-c-dev'

printf '#!/bin/sh\necho sudo >>"%s/apt.log"\nexec "$@"\n' "$work" >"$work/sudo"
chmod +x "$work/sudo"
check "tools/deps with sudo: installs" env PATH="$work" tools/deps build
check "tools/deps with sudo: calls sudo and apt-get" sh -c "grep -q sudo '$work/apt.log' && grep -q 'install.* libhsa-runtime-dev' '$work/apt.log'"

is "tools/deps --print: lists packages" "$(tools/deps --print build | tr '\n' ' ')" \
    "g++ gcc libc6-dev libhsa-runtime-dev libjson-c-dev libmicrohttpd-dev libncurses-dev libsqlite3-dev zlib1g-dev "
check "tools/deps: an unknown set is an error" sh -c '! tools/deps nonsense'
finish

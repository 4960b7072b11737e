#!/bin/sh
# The Python wheel in a virtual environment: rtl-top on its path, as a module, with its library beside it.
. "$(dirname "$0")/../e2e/tap.sh"

wheel=$(find "$O/packages" -name 'rtl_top-*.whl')
check "a virtual environment" /usr/bin/python3 -m venv "$work/venv"
check "pip installs it" "$work/venv/bin/pip" install --no-index --disable-pip-version-check "$wheel"
is "rtl-top is on the path" "$("$work/venv/bin/rtl-top" --version)" "$("$O/rtl-top" --version)"
is "and a module" "$("$work/venv/bin/python" -m rtl_top --version)" "$("$O/rtl-top" --version)"
has "it finds its own library" "$("$work/venv/bin/rtl-top" env)" "$work/venv/lib/.*/rtl_top/librtl.so"
"$work/venv/bin/python" -m rtl_top --nonsense 2>/dev/null
is "and passes on its status" "$?" 1
# shellcheck disable=SC2016 # what it starts expands it
"$work/venv/bin/python" -m rtl_top run -b -n 1 -- sh -c 'echo "with $HSA_TOOLS_LIB"; exit 7' >"$work/out" 2>&1
has "what it starts gets the library" "$(cat "$work/out")" "^with $work/venv/.*/rtl_top/librtl.so"
check "pip takes it away" "$work/venv/bin/pip" uninstall -y rtl-top
is "all of it" "$(find "$work/venv" -name '*rtl_top*' -o -name '*rtl-top*')" ""
finish

#!/bin/sh
# The Python wheel in a virtual environment: rtl-top is on the path, is a module, and finds its library beside it.
. "$(dirname "$0")/../e2e/tap.sh"

wheel=$(find "$O/packages" -name 'rtl_top-*.whl')
check "wheel: a virtual environment is created" /usr/bin/python3 -m venv "$work/venv"
check "wheel: pip installs it" "$work/venv/bin/pip" install --no-index --disable-pip-version-check "$wheel"
is "wheel: rtl-top is on the path" "$("$work/venv/bin/rtl-top" --version)" "$("$O/rtl-top" --version)"
is "wheel: rtl_top is a module" "$("$work/venv/bin/python" -m rtl_top --version)" "$("$O/rtl-top" --version)"
has "wheel: rtl-top finds its own librtl.so" "$("$work/venv/bin/rtl-top" env)" "$work/venv/lib/.*/rtl_top/librtl.so"
"$work/venv/bin/python" -m rtl_top --nonsense 2>/dev/null
is "wheel: the module returns the status of rtl-top" "$?" 1
# shellcheck disable=SC2016 # the program that rtl-top starts expands it
"$work/venv/bin/python" -m rtl_top run -b -n 1 -- sh -c 'echo "with $HSA_TOOLS_LIB"; exit 7' >"$work/out" 2>&1
has "wheel: a program that rtl-top starts gets the library" "$(cat "$work/out")" "^with $work/venv/.*/rtl_top/librtl.so"
check "wheel: pip uninstalls it" "$work/venv/bin/pip" uninstall -y rtl-top
is "wheel: uninstalling leaves no file" "$(find "$work/venv" -name '*rtl_top*' -o -name '*rtl-top*')" ""
finish

#!/bin/sh
# rtl-top env: what it prints, put to use: by shells, by a second tool, from folders with any name.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

top=$tap_top/$O/rtl-top
unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE
library=$(realpath "$O/librtl.so")
is "env: HSA_TOOLS_LIB has the absolute path of the library beside the program" "$("$top" env | head -n 1)" "export HSA_TOOLS_LIB='$library'"
is "env: HSA_TOOLS_ROCPROFILER_V1_TOOLS is 1" "$("$top" env | tail -n +2)" "export HSA_TOOLS_ROCPROFILER_V1_TOOLS='1'"
is "env: HSA_TOOLS_ROCPROFILER_V1_TOOLS is 1 even if the environment has 0" "$(HSA_TOOLS_ROCPROFILER_V1_TOOLS=0 "$top" env | tail -n +2)" \
    "export HSA_TOOLS_ROCPROFILER_V1_TOOLS='1'"
for form in "bash:export HSA_TOOLS_ROCPROFILER_V1_TOOLS='1'" "fish:set -gx HSA_TOOLS_ROCPROFILER_V1_TOOLS '1'" \
    'systemd:Environment="HSA_TOOLS_ROCPROFILER_V1_TOOLS=1"' "docker:-e HSA_TOOLS_ROCPROFILER_V1_TOOLS='1'"; do
    is "env --shell ${form%%:*}: HSA_TOOLS_ROCPROFILER_V1_TOOLS is 1" "$("$top" env --shell "${form%%:*}" | grep V1_TOOLS)" "${form#*:}"
done
is "env --shell json: HSA_TOOLS_ROCPROFILER_V1_TOOLS is 1" "$("$top" env --shell json | jq -r .HSA_TOOLS_ROCPROFILER_V1_TOOLS)" 1
ln -s "$top" "$work/elsewhere"
is "env through a symbolic link: the library beside the program" "$("$work/elsewhere" env | head -n 1)" "export HSA_TOOLS_LIB='$library'"
mkdir -p "$work/prefix/bin" "$work/prefix/lib" "$work/alone"
cp "$top" "$work/prefix/bin"
cp "$library" "$work/prefix/lib"
is "env of an installed rtl-top: the library in ../lib" "$("$work/prefix/bin/rtl-top" env | head -n 1)" "export HSA_TOOLS_LIB='$work/prefix/lib/librtl.so'"
is "in mode and with a ring" "$("$top" env --mode standard --trace | tail -n 2 | tr '\n' ' ')" \
    "export RTL_MODE='default' export RTL_TRACE='1' "
is "a ring's size stays" "$(RTL_TRACE=64M "$top" env --trace | tail -n 1)" "export RTL_TRACE='64M'"

# a folder with all that shells, systemd and the runtime take for something else
odd="$work/it's \"one\" \\ %h \$HOME; x"
mkdir "$odd"
cp "$library" "$odd/librtl.so"
try() { "$top" env --library "$odd/librtl.so" "$@"; }
for shell in sh bash zsh fish; do
    case $shell in fish) form=fish ;; *) form=bash ;; esac
    if command -v "$shell" >/dev/null; then
        try --shell "$form" >"$work/exports"
        value=$("$shell" -c ". '$work/exports'; printenv HSA_TOOLS_LIB")
        is "$shell reads what was meant" "$value" "$(try --shell json | jq -r .HSA_TOOLS_LIB)"
    else
        echo "ok $((tap_number += 1)) - $shell reads what was meant # SKIP no $shell here"
    fi
done
check "JSON has all of it" sh -c "'$top' env --shell json --mode lite --trace | jq -e '.RTL_MODE == \"lite\" and .RTL_TRACE == \"1\"'"
# shellcheck disable=SC2016 # as it is
is "systemd's quotes, backslashes and percents" "$(cd "$odd" && "$top" env --library librtl.so --shell systemd | head -n 1 | sed 's/.*it/it/')" \
    'it'"'"'s\\ \\\"one\\\"\\ \\\\\\ %%h\\ $HOME;\\ x/librtl.so"'
eval "set -- $("$top" env --library "$odd/librtl.so" --shell docker | tr '\n' ' ')"
is "a container's command line, as a shell reads it" "$1 $2 $3 $#" "-v $odd/librtl.so:$odd/librtl.so:ro -e 6"
is "the same for podman" "$("$top" env --shell podman)" "$("$top" env --shell docker)"

# the runtime loads it, beside what was there
NOOP_COUNT=1
export NOOP_COUNT
mkdir "$work/a b"
cp "$noop" "$work/a b/no\"op.so"
noop_name=$(printf '%s' "$work/a b/no\"op.so" | sed 's/[ "]/\\&/g')
tools=$(HSA_TOOLS_LIB=$noop_name try --shell json | jq -r .HSA_TOOLS_LIB)
play any
check "from such a folder, behind a tool from such another: all over" wait_until 60 settled 0
check "every dispatch is counted" counted_as_launched
close_scene
is "the program ends well" "$status" 0
has "the other tool was loaded, too" "$(cat "$work/err")" '^noop: [0-9]{4} packets$'

# --- what is wrong is said ---
refused() { # NAME PATTERN ARGS...: status 1, one line on standard error, nothing else
    name=$1 pattern=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    is "$name: status" "$?" 1
    is "$name: nothing is printed" "$(cat "$work/out")" ""
    is "$name: one line" "$(wc -l <"$work/err")" 1
    has "$name: it says what" "$(cat "$work/err")" "$pattern"
}
refused "unknown shell" "^rtl-top: --shell needs one of bash, .*'csh'" "$top" env --shell csh
refused "unknown mode" "^rtl-top: --mode needs one of off .*'fast'" "$top" env --mode fast
refused "a command" 'rtl-top run -- ls' "$top" env -- ls
refused "no library there" 'No such file' "$top" env --library "$work/none.so"
: >"$work/empty.so"
refused "an empty one" 'is not a library for' "$top" env --library "$work/empty.so"
head -c 100 "$library" >"$work/half.so"
refused "half a library" 'damaged' "$top" env --library "$work/half.so"
cp "$top" "$work/alone"
check "nowhere to be found, or installed" sh -c "'$work/alone/rtl-top' env 2>&1 | grep -qE 'not beside this rtl-top|/lib/librtl.so'"
mkdir "$work/a:b"
cp "$library" "$work/a:b"
refused "a colon for docker" 'colon' "$top" env --shell docker --library "$work/a:b/librtl.so"
refused "a list on which the runtime hangs" 'ends with a backslash' env HSA_TOOLS_LIB="x\\" "$top" env
refused "a control character in it" 'control character' env HSA_TOOLS_LIB="$(printf 'a\033[2J')" "$top" env
finish

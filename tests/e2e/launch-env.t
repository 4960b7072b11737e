#!/bin/sh
# rtl-top env: shells, a second tool and folders with any name use its output.
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
is "env --mode --trace: prints mode and ring" "$("$top" env --mode standard --trace | tail -n 2 | tr '\n' ' ')" \
    "export RTL_MODE='default' export RTL_TRACE='1' "
is "env --trace: keeps a ring's size from the environment" "$(RTL_TRACE=64M "$top" env --trace | tail -n 1)" "export RTL_TRACE='64M'"

# A folder with all characters that shells, systemd or the runtime interpret
odd="$work/it's \"one\" \\ %h \$HOME; x"
mkdir "$odd"
cp "$library" "$odd/librtl.so"
env_odd() { "$top" env --library "$odd/librtl.so" "$@"; }
for shell in sh bash zsh fish; do
    case $shell in fish) form=fish ;; *) form=bash ;; esac
    if command -v "$shell" >/dev/null; then
        env_odd --shell "$form" >"$work/exports"
        value=$("$shell" -c ". '$work/exports'; printenv HSA_TOOLS_LIB")
        is "env: $shell reads the library's path" "$value" "$(env_odd --shell json | jq -r .HSA_TOOLS_LIB)"
    else
        echo "ok $((tap_number += 1)) - $shell env # SKIP no $shell here"
    fi
done
check "env --shell json: has mode and ring" sh -c "'$top' env --shell json --mode lite --trace | jq -e '.RTL_MODE == \"lite\" and .RTL_TRACE == \"1\"'"
# shellcheck disable=SC2016 # literal
is "env --shell systemd: escapes quotes, backslashes and percents" "$(cd "$odd" && "$top" env --library librtl.so --shell systemd | head -n 1 | sed 's/.*it/it/')" \
    'it'"'"'s\\ \\\"one\\\"\\ \\\\\\ %%h\\ $HOME;\\ x/librtl.so"'
eval "set -- $("$top" env --library "$odd/librtl.so" --shell docker | tr '\n' ' ')"
is "env --shell docker: a shell reads the right arguments" "$1 $2 $3 $#" "-v $odd/librtl.so:$odd/librtl.so:ro -e 6"
is "env --shell podman: prints the same as docker" "$("$top" env --shell podman)" "$("$top" env --shell docker)"

# The runtime loads the library beside the other tools.
NOOP_COUNT=1
export NOOP_COUNT
mkdir "$work/a b"
cp "$noop" "$work/a b/no\"op.so"
noop_name=$(printf '%s' "$work/a b/no\"op.so" | sed 's/[ "]/\\&/g')
tools=$(HSA_TOOLS_LIB=$noop_name env_odd --shell json | jq -r .HSA_TOOLS_LIB)
play any
check "env, odd paths: every dispatch is settled" wait_until 60 settled 0
check "env, odd paths: every dispatch is counted" counted_as_launched
close_scene
is "env, odd paths: exit status is 0" "$status" 0
has "env, odd paths: the other tool is loaded, too" "$(cat "$work/err")" '^noop: [0-9]{4} packets$'

# --- refusals ---
check_refused() { # NAME PATTERN ARGS...: status 1, one line on standard error, nothing else
    name=$1 pattern=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    is "env, $name: exit status is 1" "$?" 1
    is "env, $name: prints nothing on standard output" "$(cat "$work/out")" ""
    is "env, $name: prints one line on standard error" "$(wc -l <"$work/err")" 1
    has "env, $name: says why" "$(cat "$work/err")" "$pattern"
}
check_refused "unknown shell" "^rtl-top: --shell needs one of bash, .*'csh'" "$top" env --shell csh
check_refused "unknown mode" "^rtl-top: --mode needs one of off .*'fast'" "$top" env --mode fast
check_refused "a command" 'rtl-top run -- ls' "$top" env -- ls
check_refused "missing library" 'No such file' "$top" env --library "$work/none.so"
: >"$work/empty.so"
check_refused "empty library" 'is not a library for' "$top" env --library "$work/empty.so"
head -c 100 "$library" >"$work/half.so"
check_refused "truncated library" 'damaged' "$top" env --library "$work/half.so"
cp "$top" "$work/alone"
check "env, no library beside rtl-top: says so, or uses the installed one" sh -c "'$work/alone/rtl-top' env 2>&1 | grep -qE 'not beside this rtl-top|/lib/librtl.so'"
mkdir "$work/a:b"
cp "$library" "$work/a:b"
check_refused "a path with a colon for docker" 'colon' "$top" env --shell docker --library "$work/a:b/librtl.so"
check_refused "an HSA_TOOLS_LIB on which the runtime hangs" 'ends with a backslash' env HSA_TOOLS_LIB="x\\" "$top" env
check_refused "an HSA_TOOLS_LIB with a control character" 'control character' env HSA_TOOLS_LIB="$(printf 'a\033[2J')" "$top" env
finish

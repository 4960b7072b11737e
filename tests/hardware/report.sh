# Sourced by run: print one line for each check during the run, and the report at the end.
# shellcheck shell=sh disable=SC2154 # variables that run sets

given_up='' # the exit status, if the checks don't determine it

# say ok|FAILED|skipped|hung|figure CHECK TEXT
say() {
    printf '%-8s %-34s %s\n' "$1" "$2" "$3" | tee -a "$work/checks"
}

how_many() { # word
    grep -c "^$1 " "$work/checks"
}

# Print the line for the table in doc/verified.md. Not for the software GPU.
table_line() {
    version=$(sed -n 's/^#define RTL_VERSION "\(.*\)"/\1/p' "$top/src/base/version.h")
    runtime=$(sed -n 's/^ *runtime loaded: //p' "$work/attached" | head -n 1)
    gpus=$(sed -n 's/^gpu [0-9]* \(gfx[^,]*, [^,]*\), .*/\1/p' "$work/machine" | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd';' -)
    echo "| ROCr ${runtime:-?}, ROCm $(sed -n 's/^rocm //p' "$work/machine") | $gpus; $(sed -n 's/^kernel //p' "$work/machine")," \
        "amdgpu $(sed -n 's/^driver amdgpu //p' "$work/machine") | rtl-top $version, $(date +%F): $(how_many ok) ok," \
        "$(how_many FAILED) FAILED, $(how_many skipped) skipped |"
}

verdict() {
    if [ -n "$given_up" ]; then
        words=$([ "$(how_many ok)" = 0 ] && echo "no check could run" || echo "some checks could not run")
    elif [ "$(how_many hung)" != 0 ]; then
        words="A PROGRAM HUNG, which ended the run"
    elif [ "$(how_many FAILED)" != 0 ]; then
        words="a check failed"
    else
        words="every check passed"
    fi
    echo "$words$([ "${software:-}" != 1 ] || echo ', on the software GPU')"
}

write_report() {
    echo "rtl-top hardware report, format 1"
    echo "rtl-top $(sed -n 's/^#define RTL_VERSION "\(.*\)"/\1/p' "$top/src/base/version.h"), $(date +%F)"
    case ${software:-} in
    0) echo "on: hardware" ;;
    1) echo "on: THE SOFTWARE GPU (tests/vgpu). Nothing below was seen on hardware." ;;
    *) echo "on: nothing" ;;
    esac
    echo "verdict: $(verdict): $(how_many ok) ok, $(how_many FAILED) FAILED, $(how_many skipped) skipped, $(how_many hung) hung"
    echo
    echo "== machine"
    if [ -s "$work/machine" ]; then
        grep -vE '^(software|isa) ' "$work/machine"
    else
        echo "kernel $(uname -srm)"
    fi
    echo "ptrace_scope $(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo -)"
    env | grep -E '^(HSA|HIP|ROCR|ROC|GPU|AMD|RTL|VGPU)_' | sort | awk -v user="$(id -un)" -v host="$(uname -n)" -v home="${HOME:-}" -f "$here/scrub.awk" |
        sed 's/^/environment /'
    echo
    echo "== checks"
    grep -v '^figure ' "$work/checks"
    echo
    echo "== figures, not checked"
    grep '^figure ' "$work/checks"
    echo
    if [ -s "$work/attached" ]; then
        echo "== attached"
        cat "$work/attached"
        echo
    fi
    if [ "${software:-}" = 0 ] && [ -z "$given_up" ]; then
        echo "== line for the table in doc/verified.md"
        table_line
    elif [ "${software:-}" = 1 ]; then
        echo "(the software GPU: no line for the table of what was verified on hardware)"
    fi
}

# Handle a signal: report the results so far.
stopped() { # status
    trap '' INT HUP TERM
    end_program KILL
    say skipped "the rest" "stopped from outside"
    given_up=$1
    finish_report
}

finish_report() {
    write_report >"$work/report"
    if ! cp "$work/report" "$report"; then
        wrong "can't write the report"
    fi
    echo
    sed -n 's/^verdict: //p' "$work/report"
    echo "the report: $report: it has no name of a user or a machine, no path and no command line"
    if [ "${software:-}" = 0 ] && [ -z "$given_up" ]; then
        echo "please attach it to an issue; for the table in doc/verified.md:"
        table_line
    fi
    [ -z "$given_up" ] || exit "$given_up"
    [ "$(how_many hung)" = 0 ] || exit 3
    [ "$(how_many FAILED)" = 0 ] || exit 1
    exit 0
}

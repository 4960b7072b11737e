# Sourced by run: check access to the GPU, build the programs, and collect facts about the machine.
# shellcheck shell=sh disable=SC2154,SC2034 # variables that run sets, and variables that other files use

# give_up WHY [WHAT TO DO]: report WHY and exit with status 4
give_up() {
    say skipped "all" "$1"
    [ -z "${2:-}" ] || echo "$2"
    given_up=4
    finish_report
}

# A user needs /dev/kfd and the render nodes. Only print what to ask for; change no permission.
machine_access() {
    [ -z "$on" ] || return 0
    if [ ! -e "$kfd" ]; then
        give_up "no ${kfd##*/} in /dev: no driver for AMD GPUs is loaded" \
            "In a container: start it with --device /dev/kfd --device /dev/dri."
    fi
    for device in "$kfd" /dev/dri/renderD*; do
        [ -e "$device" ] || continue
        if [ ! -r "$device" ] || [ ! -w "$device" ]; then
            groups=$(for each in "$kfd" /dev/dri/renderD*; do stat -c %G "$each" 2>/dev/null; done | sort -u | paste -sd, -)
            give_up "this user may not use ${device##*/} (it is for the groups $groups)" \
                "Ask for: sudo usermod -aG render,video \$USER   (or the groups above), and log in again.
In a container: --group-add with the numbers of the machine's groups, as \`getent group render video\` says there."
        fi
    done
}

# make_for TARGET...: build for the GPUs found, in a separate folder. All but rtl-top needs little more than a compiler and the
# runtime, so a user without the right to install packages can run most checks.
make_for() {
    ${MAKE:-make} --no-print-directory -C "$top" -j"$(getconf _NPROCESSORS_ONLN)" O="$O/hardware" "$@" \
        >"$work/make.log" 2>&1
}

machine_programs() {
    if [ -n "$built" ]; then
        bin=$built/tests/programs bench=$built/tests/bench lib=$built
        [ -x "$bin/hardware_gpus" ] || wrong "--built: no tests/programs/hardware_gpus in it"
    else
        lib=$O/hardware bin=$O/hardware/tests/programs bench=$O/hardware/tests/bench
        echo "building the program that finds GPUs ..."
        if ! make_for BASICS=hardware NEEDS=hardware "$bin/hardware_gpus"; then
            tail -n 20 "$work/make.log" >&2
            exit 2
        fi
    fi
    library=${other_library:-$lib/librtl.so}
    INTERCEPT_KERNELS=$bin
    export INTERCEPT_KERNELS
}

why_not() {
    grep -iE 'missing:|error' "$work/make.log" | head -n 1 | cut -c1-160 | awk -v user="$(id -un)" -v host="$(uname -n)" \
        -v home="${HOME:-}" -f "$here/scrub.awk"
}

machine_facts() {
    doing="looking for GPUs"
    begin "$bin/hardware_gpus"
    until_end
    cp "$work/out" "$work/machine"
    software=$(sed -n 's/^software //p' "$work/machine")
    isas=$(sed -n 's/^isa //p' "$work/machine" | paste -sd' ' -)
    [ -n "$isas" ] || give_up "the runtime finds no GPU: $(sed -n 's/^none //p' "$work/machine" | cut -c1-120)"
    echo "GPUs: $(grep -c '^gpu [0-9]* gfx[0-9a-f]*, ' "$work/machine"), $isas$([ "$software" = 0 ] || echo ', SOFTWARE: this says nothing about hardware')"
    viewer=true
    [ -z "$built" ] || return 0
    echo "building the programs for $isas ..."
    if ! make_for BASICS=hardware NEEDS=hardware GFX="$isas" hardware; then
        tail -n 20 "$work/make.log" >&2
        exit 2
    fi
    # make -k: one program may need a feature that the GPU lacks
    if ! make_for -k BASICS=hardware NEEDS=hip GFX="$isas" hardware-hip; then
        say skipped HIP "not all of its programs can be built: $(why_not)"
    fi
    if ! make_for all; then
        viewer=false
        say skipped rtl-top "it can't be built: $(why_not)"
    fi
}

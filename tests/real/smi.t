#!/bin/sh
# rocm-smi, amd-smi and rocminfo on the software GPU: what they list is what is modelled, and what the runtime says of the same GPUs.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need smi
real_smi=$real_store/smi
smi() { # GPU-OPTIONS ARGS
    options=$1
    shift
    # shellcheck disable=SC2086 # options without blanks
    (PYTHONHOME=$real_smi/usr PYTHONDONTWRITEBYTECODE=1 exec "$tap_top/tests/vgpu/run" --release "$real_smi" $options -- \
        "$real_smi/usr/bin/python3" "$tap_top/tests/real/smi.py" "$real_smi/vgpu-lib/python3" \
        "$real_smi/usr/libexec/rocm_smi/rocm_smi.py" "$@")
}

check "rocm-smi runs" smi "--gpus 3"
sed 's/^/# /' "$work/check.out"
is "it lists three GPUs" "$(grep -cE '^[0-9] ' "$work/check.out")" 3
smi "--gpus 2" --showbus --showid --showmeminfo vram --showuse --showuniqueid --json >"$work/json"
card() { jq -r ".$1 | [.\"PCI Bus\", .\"Device ID\", .\"VRAM Total Memory (B)\", .\"VRAM Total Used Memory (B)\", .\"GPU use (%)\"] | join(\" \")" "$work/json"; }
is "the first GPU's address, kind, memory and use" "$(card card0)" "0000:03:00.0 0x740f 68719476736 0 0"
is "and the second's" "$(card card1)" "0000:04:00.0 0x740f 68719476736 0 0"
is "other GPUs are others" "$(smi "--gfx gfx942" --showid --json | jq -r '.card0."Device ID"')" 0x74a1
amd_smi() {
    (PYTHONHOME=$real_smi/usr PYTHONPATH=$real_smi/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 exec "$tap_top/tests/vgpu/run" \
        --release "$real_smi" --gpus 2 -- "$real_smi/usr/bin/python3" "$real_smi/usr/libexec/amdsmi_cli/amdsmi_cli.py" "$@" 2>"$work/err")
}
is "amd-smi lists the GPUs, by address" "$(amd_smi list | awk '/ BDF: / { print $2 }' | tr '\n' ' ')" "0000:03:00.0 0000:04:00.0 "
info=$( (exec "$tap_top/tests/vgpu/run" --release "$real_smi" --gpus 2 -- "$real_smi/usr/bin/rocminfo") 2>&1)
is "rocminfo has the same GPUs" "$(echo "$info" | awk '/^ *Name: +gfx/ { print $2 }' | tr '\n' ' ')" "gfx90a gfx90a "
has "by the same address: bus 3" "$info" 'BDFID: +768 *$'
finish

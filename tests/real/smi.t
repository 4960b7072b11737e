#!/bin/sh
# rocm-smi, amd-smi and rocminfo on the software GPU: they list the modelled GPUs, as the runtime does.
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
is "rocm-smi: lists three GPUs" "$(grep -cE '^[0-9] ' "$work/check.out")" 3
smi "--gpus 2" --showbus --showid --showmeminfo vram --showuse --showuniqueid --json >"$work/json"
card() { jq -r ".$1 | [.\"PCI Bus\", .\"Device ID\", .\"VRAM Total Memory (B)\", .\"VRAM Total Used Memory (B)\", .\"GPU use (%)\"] | join(\" \")" "$work/json"; }
is "rocm-smi: address, kind, memory and use of the first GPU" "$(card card0)" "0000:03:00.0 0x740f 68719476736 0 0"
is "rocm-smi: address, kind, memory and use of the second GPU" "$(card card1)" "0000:04:00.0 0x740f 68719476736 0 0"
is "rocm-smi: gfx942 has its own device id" "$(smi "--gfx gfx942" --showid --json | jq -r '.card0."Device ID"')" 0x74a1
amd_smi() {
    (PYTHONHOME=$real_smi/usr PYTHONPATH=$real_smi/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 exec "$tap_top/tests/vgpu/run" \
        --release "$real_smi" --gpus 2 -- "$real_smi/usr/bin/python3" "$real_smi/usr/libexec/amdsmi_cli/amdsmi_cli.py" "$@" 2>"$work/err")
}
is "amd-smi: lists both GPUs by address" "$(amd_smi list | awk '/ BDF: / { print $2 }' | tr '\n' ' ')" "0000:03:00.0 0000:04:00.0 "
info=$( (exec "$tap_top/tests/vgpu/run" --release "$real_smi" --gpus 2 -- "$real_smi/usr/bin/rocminfo") 2>&1)
is "rocminfo: lists both GPUs" "$(echo "$info" | awk '/^ *Name: +gfx/ { print $2 }' | tr '\n' ' ')" "gfx90a gfx90a "
has "rocminfo: the first GPU is on bus 3" "$info" 'BDFID: +768 *$'
finish

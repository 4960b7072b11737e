#!/bin/sh
# The software GPU's /sys, read as any program reads it: links, folders and files, none of which
# exists. rocm-smi itself is in tests/real/smi.t.
. "$(dirname "$0")/tap.sh"

sys() { tests/vgpu/run --gpus 2 -- "$@" 2>&1; }
card=/sys/class/drm/card1
is "cards and render nodes are there" "$(sys ls /sys/class/drm | tr '\n' ' ')" "card0 card1 renderD128 renderD129 "
is "a card leads to its device, and that to its monitor" \
    "$(sys cat $card/device/uevent $card/device/hwmon/hwmon1/name | tail -n 2 | tr '\n' ' ')" "PCI_SLOT_NAME=0000:04:00.0 amdgpu "
is "a monitor leads to the same device" "$(sys cat /sys/class/hwmon/hwmon1/device/unique_id $card/device/unique_id | uniq | wc -l)" 1
is "links are links" "$(sys readlink $card $card/device | tr '\n' ' ')" \
    "/sys/devices/pci0000:00/0000:04:00.0/drm/card1 /sys/devices/pci0000:00/0000:04:00.0 "
is "the same file by two paths is one" "$(sys stat -L -c %i $card/device /sys/bus/pci/devices/0000:04:00.0 | uniq | wc -l)" 1
is "and another card's another" "$(sys stat -L -c %i $card/device /sys/class/drm/card0/device | uniq | wc -l)" 2
is "paths go up and down" "$(sys cat /sys/class/drm/../drm/card0/./device//drm/card0/device/vendor)" 0x1002
is "memory by PCI address" "$(sys cat /sys/bus/pci/devices/0000:04:00.0/mem_info_vram_total)" 68719476736
is "of a GPU of another kind" "$(tests/vgpu/run --gfx gfx906 -- cat /sys/class/drm/card0/device/mem_info_vram_total)" 17179869184
is "a folder of folders" "$(sys ls /sys/devices/pci0000:00/0000:03:00.0/drm | tr '\n' ' ')" "card0 renderD128 "
is "a folder of the topology, by a path with and without a slash at its end" \
    "$(for slash in '' /; do sys ls "/sys/class/kfd/kfd/topology/nodes/1/io_links$slash"; done | tr '\n' ' ')" "0 1 0 1 "
is "files and folders are told apart" "$(sys stat -c %F $card/device/drm $card/device/vendor | tr '\n' ' ')" "directory regular file "
has "what isn't there isn't" "$(sys cat /sys/class/drm/card2/device/vendor)" 'No such file'
has "nothing can be written" "$(sys sh -c "echo high >$card/device/power_dpm_force_performance_level")" 'ermission denied'
has "nor is it said to be" "$(sys sh -c "test -w $card/device/vendor || echo no")" '^no$'
# in a chroot there may be none
is "the rest of /sys is this system's" "$(sys cat /sys/class/net/lo/mtu 2>&1)" "$(cat /sys/class/net/lo/mtu 2>&1)"
finish

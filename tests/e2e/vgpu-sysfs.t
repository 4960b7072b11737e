#!/bin/sh
# The software GPU's /sys, read by ordinary programs: links, folders and files, none of which exists. tests/real/smi.t
# has rocm-smi.
. "$(dirname "$0")/tap.sh"

run_on_gpu() { tests/vgpu/run --gpus 2 -- "$@" 2>&1; }
card=/sys/class/drm/card1
is "sysfs: has cards and render nodes" "$(run_on_gpu ls /sys/class/drm | tr '\n' ' ')" "card0 card1 renderD128 renderD129 "
is "sysfs: a card leads to its device, and the device to its monitor" \
    "$(run_on_gpu cat $card/device/uevent $card/device/hwmon/hwmon1/name | tail -n 2 | tr '\n' ' ')" "PCI_SLOT_NAME=0000:04:00.0 amdgpu "
is "sysfs: a monitor leads to the same device" "$(run_on_gpu cat /sys/class/hwmon/hwmon1/device/unique_id $card/device/unique_id | uniq | wc -l)" 1
is "sysfs: links are links" "$(run_on_gpu readlink $card $card/device | tr '\n' ' ')" \
    "/sys/devices/pci0000:00/0000:04:00.0/drm/card1 /sys/devices/pci0000:00/0000:04:00.0 "
is "sysfs: two paths of a file have the same inode" "$(run_on_gpu stat -L -c %i $card/device /sys/bus/pci/devices/0000:04:00.0 | uniq | wc -l)" 1
is "sysfs: two cards have different inodes" "$(run_on_gpu stat -L -c %i $card/device /sys/class/drm/card0/device | uniq | wc -l)" 2
is "sysfs: paths with . and .. work" "$(run_on_gpu cat /sys/class/drm/../drm/card0/./device//drm/card0/device/vendor)" 0x1002
is "sysfs: a PCI device has its memory size" "$(run_on_gpu cat /sys/bus/pci/devices/0000:04:00.0/mem_info_vram_total)" 68719476736
is "sysfs: another kind of GPU has its memory size" "$(tests/vgpu/run --gfx gfx906 -- cat /sys/class/drm/card0/device/mem_info_vram_total)" 17179869184
is "sysfs: a folder lists its folders" "$(run_on_gpu ls /sys/devices/pci0000:00/0000:03:00.0/drm | tr '\n' ' ')" "card0 renderD128 "
is "sysfs: a topology folder is listed with and without a slash at its end" \
    "$(for slash in '' /; do run_on_gpu ls "/sys/class/kfd/kfd/topology/nodes/1/io_links$slash"; done | tr '\n' ' ')" "0 1 0 1 "
is "sysfs: files and folders have their types" "$(run_on_gpu stat -c %F $card/device/drm $card/device/vendor | tr '\n' ' ')" "directory regular file "
has "sysfs: a missing card's file can't be opened" "$(run_on_gpu cat /sys/class/drm/card2/device/vendor)" 'No such file'
has "sysfs: no file can be written" "$(run_on_gpu sh -c "echo high >$card/device/power_dpm_force_performance_level")" 'ermission denied'
has "sysfs: no file is reported as writable" "$(run_on_gpu sh -c "test -w $card/device/vendor || echo no")" '^no$'
# A chroot may have no /sys.
is "sysfs: other files of /sys are this system's" "$(run_on_gpu cat /sys/class/net/lo/mtu 2>&1)" "$(cat /sys/class/net/lo/mtu 2>&1)"
finish

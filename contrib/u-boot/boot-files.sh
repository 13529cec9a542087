#!/bin/sh
# Writes what U-Boot needs to start a kernel under mmioscope into a folder: boot.scr, and the files that it loads. Copy
# them to the first partition of the card, or to the TFTP server's folder.
#
#   boot-files.sh --hypervisor FILE --kernel FILE --dtb FILE [--initrd FILE] [--append TEXT] [--set PROPERTY=TEXT]... DIR
#
#   --hypervisor FILE    build/hyp-48000000.elf or another one: the board's memory begins 128 MiB below this address
#   --set PROPERTY=TEXT  a property of /chosen, such as mmioscope,stream=serial2, mmioscope,engine=emulation
#
# Example, Orange Pi PC:
#   contrib/u-boot/boot-files.sh --hypervisor build/hyp-48000000.elf --kernel zImage --dtb sun8i-h3-orangepi-pc.dtb \
#       --append console=ttyS0 --set mmioscope,stream=/soc/serial@1c28800 /media/card
set -eu

die() { echo "boot-files.sh: $*" >&2; exit 2; }
hypervisor='' kernel='' tree='' ramdisk='' line='' chosen=''
while [ $# -gt 1 ]; do
    case $1 in
    --hypervisor) hypervisor=$2 ;;
    --kernel) kernel=$2 ;;
    --dtb) tree=$2 ;;
    --initrd) ramdisk=$2 ;;
    --append) line=$2 ;;
    --set) case $2 in
        ?*=*) chosen="$chosen
fdt set /chosen ${2%%=*} '${2#*=}'" ;;
        *) die "--set $2: must be PROPERTY=TEXT" ;;
        esac ;;
    *) die "unknown option $1; the head of this file has a description" ;;
    esac
    shift 2
done
[ $# = 1 ] || die "there is no folder; the head of this file has a description"
to=$1
for file in "$hypervisor" "$kernel" "$tree" ${ramdisk:+"$ramdisk"}; do
    [ -f "$file" ] || die "no such file: '$file' (--hypervisor, --kernel and --dtb are needed)"
done
command -v mkimage >/dev/null || die "mkimage is missing: apt-get install u-boot-tools"

# As in hyp/abi/layout.hpp and host-tools/run/board.hpp. The board's tree may lie anywhere else in memory.
base=$(arm-none-eabi-readelf -h "$hypervisor" | sed -n 's/.*Entry point address: *//p')
ram=$((base - (128 << 20)))
at() { printf '0x%08x' $((ram + ($1 << 20))); }
modules="fdt mknode /chosen module@kernel
fdt set /chosen/module@kernel compatible multiboot,kernel multiboot,module
fdt set /chosen/module@kernel reg <$(at 48) 0x\${kernel_size}>"
[ -z "$ramdisk" ] || modules="$modules
fdt mknode /chosen module@ramdisk
fdt set /chosen/module@ramdisk compatible multiboot,ramdisk multiboot,module
fdt set /chosen/module@ramdisk reg <$(at 64) 0x\${ramdisk_size}>"

mkdir -p "$to"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
# fdt_high: the tree stays where it is; U-Boot would move it to where the trace will be.
cat >"$made/boot.cmd" <<CMD
if test -n "\${devtype}"; then
    setenv get load \${devtype} \${devnum}:\${distro_bootpart}
else
    setenv get tftpboot
fi
setenv fdt_high ffffffff
setenv initrd_high ffffffff
setenv bootargs '$line'
\${get} $(at 48) \${prefix}kernel.img
setenv kernel_size \${filesize}
${ramdisk:+\${get\} $(at 64) \${prefix\}ramdisk.img
setenv ramdisk_size \${filesize\}
}\${get} $(at 112) \${prefix}board.dtb
fdt addr $(at 112)
fdt resize 65536
fdt set /chosen '#address-cells' <1>
fdt set /chosen '#size-cells' <1>
$modules$chosen
\${get} $(at 32) \${prefix}mmioscope.img
bootm $(at 32) - $(at 112)
CMD
arm-none-eabi-objcopy -O binary "$hypervisor" "$made/hypervisor"
mkimage -A arm -O linux -T kernel -C none -a "$base" -e "$base" -n mmioscope -d "$made/hypervisor" "$to/mmioscope.img" >/dev/null
mkimage -A arm -T script -C none -n mmioscope -d "$made/boot.cmd" "$to/boot.scr" >/dev/null
cp "$kernel" "$to/kernel.img"
cp "$tree" "$to/board.dtb"
[ -z "$ramdisk" ] || cp "$ramdisk" "$to/ramdisk.img"

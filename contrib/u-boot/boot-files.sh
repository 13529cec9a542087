#!/bin/sh
# Writes what U-Boot needs to start a kernel under mmioscope into a folder, for the first partition of the card or the
# TFTP server: boot.scr, and mmioscope.itb, a FIT image with hypervisor, kernel, ramdisk and device tree. By hand, over
# any wire, `mmioscope plan` has the commands; the single files that they load are in the folder, too.
#
#   boot-files.sh --kernel FILE --dtb FILE [--memory BASE+SIZE] [--place low|top] [--initrd FILE] [--append TEXT]
#                 [--set PROPERTY[=TEXT]]... [--build DIR] DIR
#
#   --memory BASE+SIZE     the board's memory, if the tree does not say it, as for `mmioscope plan`
#   --place low|top        where the hypervisor lies, as for `mmioscope plan` (default: low)
#   --set PROPERTY[=TEXT]  a property of /chosen, such as mmioscope,stream=serial2, mmioscope,engine=emulation
#   --build DIR            where mmioscope and the hypervisor are (default: build)
#
# Example, Orange Pi PC:
#   contrib/u-boot/boot-files.sh --kernel zImage --dtb sun8i-h3-orangepi-pc.dtb --memory 0x40000000+1G \
#       --append console=ttyS0 --set mmioscope,stream=/soc/serial@1c28800 /media/card
# shellcheck disable=SC2046,SC2086,SC2016 # words of the plan's commands; U-Boot's variables
set -eu

die() { echo "boot-files.sh: $*" >&2; exit 2; }
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
kernel='' tree='' memory='' place=low ramdisk='' line='' build=build
while [ $# -gt 1 ]; do
    case $1 in
    --kernel) kernel=$2 ;;
    --dtb) tree=$2 ;;
    --memory) memory=$2 ;;
    --place) place=$2 ;;
    --initrd) ramdisk=$2 ;;
    --append) line=$2 ;;
    --set) printf '%s\n' "$2" >>"$made/set" ;;
    --build) build=$2 ;;
    *) die "unknown option $1; the head of this file has a description" ;;
    esac
    shift 2
done
[ $# = 1 ] || die "there is no folder; the head of this file has a description"
to=$1
for file in "$kernel" "$tree" ${ramdisk:+"$ramdisk"}; do
    [ -f "$file" ] || die "no such file: '$file' (--kernel and --dtb are needed)"
done
for program in mkimage fdtput; do
    command -v $program >/dev/null || die "$program is missing: apt-get install u-boot-tools device-tree-compiler"
done

# All addresses and names are the plan's.
"$build/mmioscope" plan "$tree" ${memory:+--memory "$memory"} --place "$place" --wide >"$made/plan" ||
    die "$tree: $(sed -n 's/^verdict *//p' "$made/plan"); mmioscope plan has the rest"
section() { sed -n "/^$1/,/^\$/p" "$made/plan" | sed '1d; /^$/d'; }
section 'in U-Boot;' >"$made/by-hand"
load=$(sed -n 's/^mkimage .* -e \([^ ]*\) .*/\1/p' "$made/plan")
image=$build/$(sed -n 's/^arm-none-eabi-objcopy .* \(hyp-.*[.]elf\) .*/\1/p' "$made/plan")
[ -f "$image" ] || make --no-print-directory BUILD="$build" "$image" >"$made/said" 2>&1 || die "cannot make $image: $(tail -n 1 "$made/said")"
at() { sed -n "s/^load mmc 0:1 \([^ ]*\) $1\$/\1/p" "$made/by-hand"; }

mkdir -p "$to"
arm-none-eabi-objcopy -O binary "$image" "$made/hypervisor"
mkimage -A arm -O linux -T kernel -C none -a "$load" -e "$load" -n mmioscope -d "$made/hypervisor" "$to/mmioscope.img" >/dev/null
cp "$kernel" "$to/zImage"
cp "$tree" "$to/board.dtb"
[ -z "$ramdisk" ] || cp "$ramdisk" "$to/initrd.img"

# The tree as the commands by hand would make it; here the sizes are known already.
put() { fdtput -p -t "$@"; }
kernel_size=$(printf '%x' "$(wc -c <"$kernel")")
ramdisk_size=$(printf '%x' "$([ -z "$ramdisk" ] || wc -c <"$ramdisk")")
cp "$tree" "$made/tree"
[ -z "$line" ] || put s "$made/tree" /chosen bootargs "$line"
sed -n 's/^fdt set //p' "$made/by-hand" | tr -d "'<>" | while read -r node property values; do
    case $node in */module@ramdisk) [ -n "$ramdisk" ] || continue ;; esac
    case $property in
    '#'*) put i "$made/tree" "$node" "$property" "$values" ;;
    reg) put x "$made/tree" "$node" reg $(echo "$values" |
        sed "s/\${kernel_size}/$kernel_size/; s/\${ramdisk_size}/$ramdisk_size/; s/0x//g") ;;
    *) put s "$made/tree" "$node" "$property" $values ;;
    esac
done
[ ! -f "$made/set" ] || while IFS= read -r set; do
    case $set in
    ?*=*) put s "$made/tree" /chosen "${set%%=*}" "${set#*=}" ;;
    *) put s "$made/tree" /chosen "$set" ;;
    esac
done <"$made/set"

# part NAME TYPE FILE ADDRESS [ENTRY]. For U-Boot kernel and ramdisk are just files to load: it starts the hypervisor.
part() {
    echo "$1 { data = /incbin/(\"$(realpath "$3")\"); type = \"$2\"; arch = \"arm\"; os = \"linux\"; compression = \"none\";"
    echo "    load = <$4>; ${5:+entry = <$5>;} hash { algo = \"crc32\"; }; };"
}
{
    echo '/dts-v1/; / { description = "mmioscope"; #address-cells = <1>; images {'
    part hypervisor kernel "$made/hypervisor" "$load" "$load"
    part tree flat_dt "$made/tree" "$(at board.dtb)"
    part kernel firmware "$kernel" "$(at zImage)"
    [ -z "$ramdisk" ] || part ramdisk firmware "$ramdisk" "$(at initrd.img)"
    echo '}; configurations { default = "board"; board { kernel = "hypervisor"; fdt = "tree";'
    echo "    loadables = \"kernel\"${ramdisk:+, \"ramdisk\"}; }; }; };"
} >"$made/its"
mkimage -f "$made/its" "$to/mmioscope.itb" >"$made/said" 2>&1 || die "mkimage: $(tail -n 1 "$made/said")"

# From the card, or from wherever U-Boot got this script.
{
    cat <<'CMD'
setenv get load ${devtype} ${devnum}:${distro_bootpart}
if test -z "${devtype}" -o "${devtype}" = dhcp; then
    setenv get tftpboot
    setenv prefix
fi
CMD
    echo "setenv bootargs '$line'"
    section 'or in U-Boot' | sed 's/^load mmc 0:1 \([^ ]*\) /${get} \1 ${prefix}/'
} >"$made/boot.cmd"
mkimage -A arm -T script -C none -n mmioscope -d "$made/boot.cmd" "$to/boot.scr" >/dev/null

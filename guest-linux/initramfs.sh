#!/bin/sh
# Build the guest's initial RAM disk: busybox, init, the modules each step of init needs, and other programs.
# The same input gives the same bytes.  No root needed: the only device node that has to exist
# before devtmpfs is mounted, /dev/console, is in the initramfs built into every kernel.
#
#   initramfs.sh GUEST_DIR INIT [PROGRAM...]
set -eu
umask 022
export LC_ALL=C

guest=${1:?usage: initramfs.sh GUEST_DIR INIT [PROGRAM...]} init=${2:?usage: initramfs.sh GUEST_DIR INIT [PROGRAM...]}
shift 2
tree=$guest/modules/lib/modules/$(cat "$guest/release")

die() { printf 'guest-linux/initramfs.sh: %s\n' "$*" >&2; exit 1; }

root=$(mktemp -d)
trap 'rm -rf "$root" "$guest/.initrd.$$"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

chmod 755 "$root"
mkdir -p "$root/bin" "$root/lib/modules" "$root/dev" "$root/proc" "$root/sys" "$root/mnt"
install -m 755 "$guest/busybox" "$root/bin/busybox"
install -m 755 "$init" "$root/init"
for program; do install -m 755 "$program" "$root/bin/"; done
ln -s busybox "$root/bin/sh"

# shellcheck source=guest-linux/modules.sh
. "$(dirname "$0")/modules.sh"
add sysreg leds-gpio vexpress-regulator
add sd     armmmci mmc_block crc32c_generic ext4
add net    smsc smsc911x
# The other boards in `boards`: what of it this kernel has.
add_some() { # STEP MODULE...
    step=$1; shift
    for module; do [ -z "$(find "$tree" -name "$module.ko*")" ] || add "$step" "$module"; done
}
add_some sd-boards  gpio-mxc sdhci-esdhc-imx sunxi-mmc bcm2835
add      sd-boards  mmc_block crc32c_generic ext4
add_some net-boards virtio_mmio virtio_net dwmac-sun8i mdio-aspeed ftgmac100

(cd "$root" &&
    find . -exec touch -h -d @0 {} + &&
    find . | sort | cpio --quiet -o -H newc --owner=0:0 --reproducible) | gzip -9n > "$guest/.initrd.$$"
mv "$guest/.initrd.$$" "$guest/initrd.img"

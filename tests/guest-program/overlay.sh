#!/bin/sh
# The part of the RAM disk for the cases of tests/qemu/cases/guest_program.sh, and for those with drivers on boards
# other than vexpress-a15: an init, a program, and modules for network and card of the boards that guest-linux/init does
# not serve.
#
#   overlay.sh GUEST_DIR IMAGE INIT PROGRAM
set -eu
umask 022
guest=${1:?} image=${2:?} init=${3:?} program=${4:?}
tree=$guest/modules/lib/modules/$(cat "$guest/release")

die() { printf 'tests/guest-program/overlay.sh: %s\n' "$*" >&2; exit 1; }
# shellcheck source=guest-linux/modules.sh
. guest-linux/modules.sh

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root/bin" "$root/lib/modules"
install -m 755 "$init" "$root/guest-program"
install -m 755 "$program" "$root/bin/"
add net-virt virtio_mmio virtio_net
add net-sun8i dwmac-sun8i
add sd-sun8i sunxi-mmc mmc_block
(cd "$root" && find . | cpio --quiet -o -H newc --owner=0:0) | gzip -9n >"$image"

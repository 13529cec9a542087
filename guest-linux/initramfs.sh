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

# add STEP MODULE...: copy modules and, first, what they depend on (read from the modules
# themselves, so that kmod is not needed), and note the order for init.
add() {
    list=$root/lib/modules/$1; shift
    touch "$list"
    for module; do add_one "$module"; done
}

add_one() {
    # '-' and '_' are the same in a module's name, but not in its file's.
    set -- "$1" "$(find "$tree" -name "$(echo "$1" | sed 's/[-_]/[-_]/g').ko")"
    if [ -z "$2" ]; then
        grep -q "/$1\.ko\$" "$tree/modules.builtin" && return
        die "module $1 is neither in $tree nor built in"
    fi
    for needed in $(tr '\0' '\n' < "$2" | sed -n 's/^depends=//p' | tr , ' '); do
        add_one "$needed"
    done
    grep -qx "$1.ko" "$list" && return
    install -m 644 "$2" "$root/lib/modules/$1.ko"
    echo "$1.ko" >> "$list"
}

add sysreg leds-gpio vexpress-regulator
add sd     armmmci mmc_block crc32c_generic ext4
add net    smsc smsc911x

(cd "$root" &&
    find . -exec touch -h -d @0 {} + &&
    find . | sort | cpio --quiet -o -H newc --owner=0:0 --reproducible) | gzip -9n > "$guest/.initrd.$$"
mv "$guest/.initrd.$$" "$guest/initrd.img"

#!/bin/sh
# Build the guest's SD card: an ext2 file system (no partition table) with one file of
# pseudo-random data and its SHA256.  The same size gives the same bytes.
#
#   sdcard.sh GUEST_DIR MIB      MIB: size of the file
set -eu
umask 022
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin      # mke2fs, debugfs

guest=${1:?usage: sdcard.sh GUEST_DIR MIB} mib=${2:?usage: sdcard.sh GUEST_DIR MIB}

root=$(mktemp -d)
trap 'rm -rf "$root" "$guest/.sd.$$"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The "minimal standard" generator: its products stay below 2^53, so every awk computes the same.
# Bytes 1 to 255 only, since not every awk can print a zero byte.
awk -v bytes=$((mib * 1048576)) 'BEGIN {
    for (x = 1; bytes > 0; bytes--) {
        x = (x * 16807) % 2147483647
        printf "%c", int(x / 4096) % 255 + 1
    }
}' > "$root/content"
(cd "$root" && sha256sum content > content.sha256)

size=16                         # QEMU wants a power of two
while [ $size -lt $((mib + mib / 8 + 1)) ]; do size=$((size * 2)); done

uuid=6d6d696f-7363-6f70-6500-000000000001
export E2FSPROGS_FAKE_TIME=1
mke2fs -q -t ext2 -b 1024 -L mmioscope -U $uuid -E root_owner=0:0,hash_seed=$uuid "$guest/.sd.$$" ${size}M >/dev/null
# Not "mke2fs -d": that copies the builder's user id and the time of day.
image=$(realpath "$guest")/.sd.$$
(cd "$root" && printf 'write %s %s\n' content content content.sha256 content.sha256 |
    debugfs -w -f - "$image") >/dev/null 2>&1
[ "$(debugfs -R "cat content" "$image" 2>/dev/null | sha256sum)" = "$(sha256sum < "$root/content")" ] ||
    { echo "guest-linux/sdcard.sh: cannot write $guest/sd.img" >&2; exit 1; }
mv "$guest/.sd.$$" "$guest/sd.img"

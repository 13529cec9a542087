# PCI functions and the addresses of their BARs, as `stat --pci` finds them in the trace, equal those in the guest's own
# sysfs. What a BAR answers is a device's register like any other.
# shellcheck shell=bash disable=SC2154

# PID 1 of the guest: prints a line for each function, with its BARs as NUMBER=START+SIZE; and one in the format of
# Linux' mmiotrace. Then reads a register of the e1000: its status.
pci_init() {
    init_head
    cat <<'INIT'
for f in /sys/bus/pci/devices/*; do
    name=${f##*/} vendor=$(cat "$f/vendor") device=$(cat "$f/device") class=$(cat "$f/class")
    name=${name#0000:} bars= starts= sizes= n=0
    while read -r start end flags && [ $n -lt 7 ]; do
        size=0
        [ $((end)) = 0 ] || size=$((end - start + 1))
        [ $size = 0 ] || [ $n = 6 ] || bars="$bars $(printf '%d=0x%x+0x%x' $n $((start)) $size)"
        starts="$starts $(printf '%x' $((start | flags & 15)))" sizes="$sizes $(printf '%x' $size)" n=$((n + 1))
    done <"$f/resource"
    echo "pci $name ${vendor#0x}:${device#0x} ${class#0x}$bars"
    slot=${name#*:}
    printf 'PCIDEV %s%02x %s%s %x%s%s \n' "${name%%:*}" $((0x${slot%.*} << 3 | ${slot#*.})) "${vendor#0x}" "${device#0x}" \
        "$(cat "$f/irq")" "$starts" "$sizes"
done
e1000=$(dirname "$(grep -l 0x100e /sys/bus/pci/devices/*/device)")
echo 1 >"$e1000/enable"
read -r start rest <"$e1000/resource"
echo "status $start $(devmem $((start + 8)) 32)"
echo "pci end"
poweroff -f
INIT
}

# A BAR of ports, of memory with 32 and 64 bits, a bridge and what is behind it. None of them has a driver here.
pci() {
    mkdir "$out/root"
    pci_init >"$out/root/pci"
    chmod 755 "$out/root/pci"
    (cd "$out/root" && echo pci | cpio --quiet -o -H newc --owner=0:0 | gzip -9n) | cat "$guest/initrd.img" - >"$out/initrd.img"
    local device devices=()
    for device in e1000,romfile= virtio-rng-pci pci-bridge,chassis_nr=1,id=bridge sdhci-pci,bus=bridge,addr=3; do
        devices+=(--qemu-arg=-device "--qemu-arg=$device")
    done
    run --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" --no-net --no-print --append 'console=ttyAMA0 rdinit=/pci quiet' \
        --expect 'pci end' --access-log "$out/access.log" "${devices[@]}"
    complete
    verified
    rm -r "$out/root" "$out/initrd.img"
    tr -d '\r' <"$out/console" | sed -n 's/^pci \([0-9a-f]*:.*\)/\1/p' >"$out/sysfs"
    [ "$(wc -l <"$out/sysfs")" = 5 ] || fail "the guest has not five functions"
    "$mmioscope" stat --pci "$out/trace.mmio" >"$out/stat" || fail "stat --pci: exit status $?"
    local start status offset
    read -r start status < <(tr -d '\r' <"$out/console" | sed -n 's/^status //p')
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    offset=$(printf '0x%03x' $((start + 8 - 0x10000000)))
    has print " R4 pcie@10000000\\[2\\] +\\+$offset ${status,,} " "no read of the status register, $status"
    sed -n '2,/^$/{/./s/  */ /gp}' "$out/stat" | sed 's/ $//' | diff "$out/sysfs" - >"$out/differences" ||
        fail "functions (<: sysfs): $(grep '^[<>]' "$out/differences" | head -n 4 | xargs)"
    "$mmioscope" export --as mmiotrace -i "$out/trace.mmio" -o "$out/mmiotrace" 2>/dev/null || fail "export: exit status $?"
    diff <(tr -d '\r' <"$out/console" | grep ^PCIDEV) <(grep ^PCIDEV "$out/mmiotrace") >"$out/differences" ||
        fail "PCIDEV (<: sysfs): $(grep '^[<>]' "$out/differences" | head -n 4 | xargs)"
}

add test pci 20 virt pci

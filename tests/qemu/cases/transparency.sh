# Linux and U-Boot, with and without the hypervisor: the same binaries and device tree, every device traced, and every
# line on the console the same except for what tests/transparency/normalise.sh names.
# shellcheck shell=bash disable=SC2154

# shellcheck source=tests/transparency/normalise.sh
source tests/transparency/normalise.sh

made=$build/tests/transparency
virt=virt,gic-version=2,highmem=off

# The device tree given to the hypervisor's guest, as its trace keeps it.
guest_tree() { # TRACE, not packed; to standard output
    local at size
    at=$(LC_ALL=C grep -obUaPm1 '\xd0\x0d\xfe\xed' "$1" | head -n 1 | cut -d: -f1)
    [ -n "$at" ] || fail "no device tree in the trace"
    size=$((16#$(od -An -tx1 -j $((at + 4)) -N 4 "$1" | tr -d ' ')))
    tail -c +$((at + 1)) "$1" | head -c $size
}

# The guest's tree equals the board's, except for memory, /chosen, and a UART of the hypervisor's own, which is
# disabled.
tree_kept() {
    local changed tree=$board_tree may="#address-cells #size-cells bootargs linux,initrd-end linux,initrd-start reg reg-names"
    may="$may compatible mmioscope }" # the control page's node
    if [ "$board" = virt ]; then
        tree=$out/board.dtb may="$may kaslr-seed rng-seed" # QEMU's, other ones each time
        qemu-system-arm -M "$virt,dumpdtb=$tree" -cpu cortex-a15 -smp 2 -m 512 -nic none 2>/dev/null
    else
        may="$may status"
    fi
    changed=$(diff <(dtc -q -O dts "$tree") <(dtc -q -O dts "$out/guest.dtb") |
        sed -nE 's/^[<>][[:space:]]*([^ ;]+).*/\1/p' | sort -u | xargs)
    [ "$changed" = "$(tr ' ' '\n' <<<"$may" | sort | xargs)" ] ||
        fail "the guest's tree differs from the board's in: $changed"
}

# Non-secure and without Hyp; the CPUs, the memory and all addresses are as with the hypervisor.
native() { # KERNEL QEMU-ARGUMENT...
    local kernel=$1 ram=0x80000000 machine=(-M "vexpress-a15,secure=off,virtualization=off" -nic "user,model=lan9118"
        -drive "if=sd,format=raw,snapshot=on,file=$guest/sd.img")
    shift
    [ "$board" != virt ] || ram=0x40000000 machine=(-M "$virt" -cpu cortex-a15 -nic none)
    timeout 120 qemu-system-arm "${machine[@]}" -smp 2 -m 512 -display none -monitor none -no-reboot \
        -audiodev none,id=audio -global pl041.audiodev=audio -kernel "$made/loader-$board.elf" \
        -device "$(loaded "$kernel" $((ram + 0x3000000)))" -device "$(loaded "$out/guest.dtb" $((ram + 0x7e00000)))" "$@"
}
loaded() { echo "loader,file=$1,addr=$(printf '%#x' "$2"),force-raw=on"; }

# same FILE FILE: the differences are in $out/differences.
same() { diff <(normalise "$1") <(normalise "$2") >"$out/differences"; }

expect_same() {
    same "$out/native" "$out/console" || {
        echo "$(grep -c '^[<>]' "$out/differences") lines differ (<: without the hypervisor):"
        fail "$(head -n 20 "$out/differences")"
    }
}

# The comparison notices one line missing, one changed, two swapped.
notices() {
    local line damage
    line=$(grep -n '^hw-breakpoint: found' "$out/console" | head -n 1 | cut -d: -f1)
    for damage in "${line}d" "${line}s/found 5/found 6/" "${line}{h;d};$((line + 1))G"; do
        sed "$damage" "$out/console" >"$out/damaged"
        ! same "$out/native" "$out/damaged" || fail "the comparison does not notice sed '$damage'"
    done
}

transparent() { # GUEST-FOLDER ARGUMENT...
    local from=$1
    shift
    cat "$from/initrd.img" "$made/overlay.img" >"$out/initrd.img"
    local devices=(--sd "$guest/sd.img")
    if [ "$board" = virt ]; then
        devices=(--no-net)
        cat "$made/kexec.img" >>"$out/initrd.img"
    fi
    run --kernel "$from/vmlinuz" --initrd "$out/initrd.img" "${devices[@]}" --no-print --plain \
        --append "console=ttyAMA0 rdinit=/transparency $settled" --expect '== done' --trace all "$@"
    complete
    guest_tree "$out/trace.mmio" >"$out/guest.dtb"
    tree_kept
    local ramdisk=0x84000000
    [ "$board" != virt ] || ramdisk=0x44000000
    native "$from/vmlinuz" -serial "file:$out/native" -device "$(loaded "$out/initrd.img" $ramdisk)" ||
        fail "the guest does not end without the hypervisor"
    has native '^reboot: Restarting system' # how it ends, natively too
    [ "$board" != virt ] || has native '^== end' # and the second kernel came to its end
    [ "$(wc -l <"$out/native")" -gt 500 ] || fail "only $(wc -l <"$out/native") lines"
    expect_same
    notices
    rm -f "$out/initrd.img" "$out/guest.dtb"
}

# And the trace equals QEMU's own log, whatever a debugger did.
transparent_verified() { # GUEST-FOLDER ARGUMENT...
    transparent "$@" --access-log "$out/access.log"
    verified
}

add test transparent-shadow 30 transparent "$guest" --engine shadow
for engine in shadow emulation; do
    add nightly "transparent-verified-$engine" 40 transparent_verified "$guest" --engine $engine
    add nightly "transparent-armmp-$engine" 60 with_guest armmp transparent --engine $engine # short descriptors
    add nightly "transparent-virt-$engine" 40 virt transparent "$guest" --engine $engine
done

# U-Boot with and without the hypervisor, with every device traced, even the flash that it programs: the same on the
# console. It runs from virt's first flash (tests/transparency/from_flash.S), as on a real board.
# shellcheck shell=bash disable=SC2154

# Flash in the second bank, the UART and the interrupt controller in all widths, the clock, the devices it finds, the
# files of fw-cfg, whose registers are big-endian, reset.
uboot_commands=(
    'version' 'bdinfo' 'flinfo 1' 'protect off 4100000 +40000' 'erase 4100000 +40000' 'md.b 4100000 20'
    'mw.l 42000000 deadbeef 1000' 'cp.b 42000000 4100000 1000' 'cmp.b 42000000 4100000 1000' 'crc32 4100000 2000'
    'md.l 4100ff0 8' 'protect on 4100000 +40000' 'erase 4100000 +40000' 'md.b 4100000 20'
    'md.b 9000fe0 20' 'md.w 9000fe0 10' 'md.l 9000fe0 8' 'mw.b 9000000 41' 'mw.w 9000000 42' 'mw.l 9000000 43'
    'md.b 8000fe0 20' 'date 010112002030' 'date' 'dm tree' 'pci' 'qfw list' 'reset'
)

# await PATTERN COUNT FILE: waits until FILE has that many matching lines.
await() {
    for _ in {1..1200}; do
        [ "$(grep -aoE "$1" "$3" 2>/dev/null | wc -l)" -lt "$2" ] || return 0
        kill -0 "$pid" 2>/dev/null || fail "the guest has ended; it should have said '$1'"
        sleep 0.05
    done
    fail "U-Boot does not say '$1'"
}
# Types each command after the previous one: $1 is the console's log, descriptor 3 the keyboard.
type_commands() {
    local n=0 command
    await 'stop autoboot' 1 "$1"
    printf ' ' >&3
    for command in "${uboot_commands[@]}"; do
        n=$((n + 1))
        await '(^|[^=])=> ' $n "$1"
        printf '%s\r' "$command" >&3
    done
}

uboot() { # ARGUMENT...
    local firmware
    firmware=$(loaded "$build/guest-u-boot/u-boot.bin" 0)
    mkfifo "$out/keyboard"
    exec 3<>"$out/keyboard"
    run --bare --kernel "$made/from_flash.bin" --no-net --no-print --plain --console --trace all --trace 0x4000000+0x4000000 \
        --access-log "$out/access.log" \
        --qemu-arg=-device --qemu-arg="$firmware" "$@" <"$out/keyboard" &
    pid=$!
    type_commands "$out/console"
    wait "$pid" || fail "the run has failed: $(last_words)"
    "$mmioscope" print --summary "$out/trace.mmio" >"$out/summary" || fail "print: exit status $?"
    has summary '^complete: [0-9]+ events, 0 lost$'
    verified
    has summary '^fw-cfg@9020000 +[1-9]+ +[1-9][0-9] '
    has summary '^flash@0\[1\] +[1-9][0-9]{4}'

    guest_tree "$out/trace.mmio" >"$out/guest.dtb"
    native "$made/from_flash.bin" -device "$firmware" -chardev "stdio,id=console,logfile=$out/native" \
        -serial chardev:console <"$out/keyboard" >"$out/native.stdout" &
    pid=$!
    type_commands "$out/native"
    wait "$pid" || fail "U-Boot does not end without the hypervisor"
    has native 'Total of 4096 byte\(s\) were the same'
    expect_same
}

add test uboot-shadow 15 virt uboot --engine shadow
add nightly uboot-emulation 15 virt uboot --engine emulation

# The card of an orangepi-pc, as on the board: SPL, U-Boot with PSCI 0.1 firmware, boot.scr, the hypervisor, stock Debian on
# all CPUs; QEMU loads nothing. The trace leaves over a UART. This firmware cannot end the machine: the guest halts.
uboot_card() {
    local card=$out/card.img qemu tries
    boards_initrd
    contrib/u-boot/boot-files.sh --hypervisor "$build/hyp-48000000.elf" --kernel "$guest/vmlinuz" \
        --dtb "$guest/sun8i-h3-orangepi-pc.dtb" --initrd "$out/initrd.img" \
        --append 'console=ttyS0 panic=-1 rdinit=/init-boards' --set mmioscope,stream=/soc/serial@1c28800 "$out/card" ||
        fail "boot-files.sh: exit status $?"
    truncate -s 64M "$card"
    echo '8192,,c' | /usr/sbin/sfdisk -q "$card" || fail "sfdisk: exit status $?"
    /usr/sbin/mkfs.vfat --offset 8192 -F 32 "$card" $((60 << 10)) >/dev/null || fail "mkfs.vfat: exit status $?"
    mcopy -i "$card@@4M" "$out"/card/* :: || fail "mcopy: exit status $?"
    dd if="$build/guest-u-boot/u-boot-sunxi.bin" of="$card" bs=1k seek=8 conv=notrunc status=none
    rm -r "$out/card" "$out/initrd.img"
    # U-Boot sets CNTFRQ to 24 MHz, whatever the counter does.
    timeout 110 qemu-system-arm -M orangepi-pc -m 1G -nic none -display none -monitor none \
        -global cortex-a7-arm-cpu.cntfrq=24000000 -drive "if=sd,format=raw,file=$card" \
        -serial "file:$out/console" -serial null -serial "file:$out/wire" -serial null 2>"$out/qemu" &
    qemu=$!
    for ((tries = 2000; tries > 0; tries--)); do
        ! grep -qs 'System halted' "$out/console" && kill -0 $qemu 2>/dev/null || break
        sleep 0.05
    done
    sleep 1 # 100 ms of silence, and the end of the stream
    kill $qemu
    wait $qemu 2>/dev/null
    rm "$card"
    has console 'guest: done' "the guest does not end: $(tail -n 1 "$out/console")"
    has console '^mmioscope: xunlong,orangepi-pc, 4 CPUs, shadow engine'
    has console 'Brought up 1 node, 4 CPUs'
    has_not console 'mmioscope: stop'
    "$mmioscope" record "$out/wire" -o "$out/trace.mmio" >"$out/stdout" 2>&1 || fail "record: $(last_words)"
    has stdout '^complete: [34][0-9]{4} events, 0 lost$'
    "$mmioscope" print --last 1 "$out/trace.mmio" >"$out/last" || fail "print: exit status $?"
    has last '^recording ended: the guest halted'
    has last ' R4 interrupt-controller@1c81000\[1\] +\+0x00c 0x00000004 ' 'the last record is not the interrupt that stops a CPU'
}
add test uboot-card 60 uboot_card

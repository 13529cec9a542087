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

# An orangepi-pc as on the board: SPL, U-Boot with PSCI 0.1 firmware, boot.scr, the hypervisor, stock Debian on all CPUs;
# QEMU loads nothing. The trace leaves over a UART. This firmware cannot end the machine: the guest halts.
sunxi_files() { # FOLDER ARGUMENT...
    local folder=$1
    shift
    boards_initrd
    contrib/u-boot/boot-files.sh --build "$build" --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" \
        --dtb "$guest/sun8i-h3-orangepi-pc.dtb" --memory 0x40000000+1G --set mmioscope,stream=/soc/serial@1c28800 \
        --append 'console=ttyS0 panic=-1 rdinit=/init-boards' "$@" "$folder" || fail "boot-files.sh: exit status $?"
    rm "$out/initrd.img"
}

# sunxi_boot CARD ARGUMENT...: until the guest halts, and a little longer.
sunxi_boot() {
    local card=$1 qemu
    shift
    dd if="$build/guest-u-boot/u-boot-sunxi.bin" of="$card" bs=1k seek=8 conv=notrunc status=none
    # U-Boot sets CNTFRQ to 24 MHz, whatever the counter does.
    timeout 110 qemu-system-arm -M orangepi-pc -m 1G -display none -monitor none \
        -global cortex-a7-arm-cpu.cntfrq=24000000 -drive "if=sd,format=raw,file=$card" \
        -serial "file:$out/console" -serial null -serial "file:$out/wire" -serial null "$@" 2>"$out/qemu" &
    qemu=$!
    until_console $qemu 'System halted'
    sleep 1 # 100 ms of silence, and the end of the stream
    kill $qemu
    wait $qemu 2>/dev/null
    rm "$card"
}

sunxi_complete() {
    has console 'guest: done' "the guest does not end: $(tail -n 1 "$out/console")"
    has console '^mmioscope: xunlong,orangepi-pc, 4 CPUs, shadow engine'
    has console 'Brought up 1 node, 4 CPUs'
    has console '^mmioscope: clk_ignore_unused is added to the guest.s command line'
    has console 'clk: Not disabling unused clocks' 'Linux turns off the clocks of the hypervisor.s UARTs'
    has_not console 'mmioscope: stop'
    "$mmioscope" record "$out/wire" -o "$out/trace.mmio" >"$out/stdout" 2>&1 || fail "record: $(last_words)"
    has stdout '^complete: [34][0-9]{4} events, 0 lost$'
    "$mmioscope" print --last 1 "$out/trace.mmio" >"$out/last" || fail "print: exit status $?"
    has last '^recording ended: the guest halted'
    has last ' R4 interrupt-controller@1c81000\[1\] +\+0x00c +0x00000004 ' 'the last record is not the interrupt that stops a CPU'
}

# From a card, to the end of the memory, where U-Boot has been: the guest's memory is in one piece.
uboot_card() {
    local card=$out/card.img
    sunxi_files "$out/card" --place top
    truncate -s 64M "$card"
    echo '8192,,c' | /usr/sbin/sfdisk -q "$card" || fail "sfdisk: exit status $?"
    /usr/sbin/mkfs.vfat --offset 8192 -F 32 "$card" $((60 << 10)) >/dev/null || fail "mkfs.vfat: exit status $?"
    mcopy -i "$card@@4M" "$out"/card/boot.scr "$out/card/mmioscope.itb" :: || fail "mcopy: exit status $?"
    rm -r "$out/card"
    sunxi_boot "$card" -nic none
    sunxi_complete
    sees_one_piece 40000000 7affffff
}
add nightly uboot-card 60 uboot_card

# From a TFTP server: the card has U-Boot alone, which asks for boot.scr.uimg. Compared with QEMU's log from the
# hypervisor's first record on: it sets up its UART, the modem's lines last, and begins to print.
uboot_tftp() {
    sunxi_files "$out/tftp"
    mv "$out/tftp/boot.scr" "$out/tftp/boot.scr.uimg"
    truncate -s 64M "$out/card.img"
    sunxi_boot "$out/card.img" -nic "user,tftp=$out/tftp" -D "$out/all.log" -d guest_errors \
        -trace memory_region_ops_read -trace memory_region_ops_write
    rm -r "$out/tftp"
    has console 'TFTP from server'
    sunxi_complete
    awk 'go { print; next } { line[NR % 6] = $0 }
        / addr 0x1c28000 value 0x6d / && line[(NR - 2) % 6] ~ / addr 0x1c28010 value 0x3 / {
            for (n = NR - 5; n <= NR; n++) print line[n % 6]; go = 1 }' "$out/all.log" >"$out/access.log"
    rm "$out/all.log"
    "$mmioscope" verify "$out/trace.mmio" "$out/access.log" >"$out/verify" 2>&1
    # Firmware makes the interrupt controller Non-secure on each other CPU before that enters the hypervisor.
    has verify '^verify: [34][0-9]{4} events compared, 18 differences: 18 missing$'
    grep -E '^  (record|log line)' "$out/verify" | grep -vE ' cpu [123] value 0x[0-9a-f]+ gic_(dist|cpu)$' >"$out/unknown"
    [ ! -s "$out/unknown" ] || fail "a difference that is not known: $(head -n 1 "$out/unknown")"
}
add nightly uboot-tftp 60 uboot_tftp

# U-Boot on virt, which runs in Hyp and starts the hypervisor by bootm. Console and trace share the only UART, so QEMU's
# log cannot be compared: it does not say whose accesses there are.
# shellcheck disable=SC2054
virt_machine=(-machine virt,virtualization=on,gic-version=2,highmem=off -cpu cortex-a15 -smp 2 -m 512M -display none -monitor none)
virt_tree() { # QEMU makes room for a megabyte
    qemu-system-arm "${virt_machine[@]}" -machine "dumpdtb=$out/qemu.dtb" -nic none >/dev/null 2>&1
    dtc -q -I dtb -O dtb -o "$out/virt.dtb" "$out/qemu.dtb" || fail "QEMU gives no device tree"
}
virt_complete() {
    has console '^mmioscope: linux,dummy-virt, 2 CPUs'
    has console '^guest: done'
    has stdout '^complete: [0-9]{5,6} events, 0 lost$'
}

# From a TFTP server.
uboot_virt() {
    local qemu
    virt_tree
    boards_initrd
    contrib/u-boot/boot-files.sh --build "$build" --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" \
        --dtb "$out/virt.dtb" --append 'console=ttyAMA0 panic=-1 rdinit=/init-boards' "$out/tftp" ||
        fail "boot-files.sh: exit status $?"
    mv "$out/tftp/boot.scr" "$out/tftp/boot.scr.uimg"
    timeout 110 qemu-system-arm "${virt_machine[@]}" -bios "$build/guest-u-boot/u-boot.bin" -serial "file:$out/wire" \
        -netdev "user,id=net,tftp=$out/tftp" -device virtio-net-device,netdev=net 2>"$out/qemu" &
    qemu=$!
    until grep -aqs 'System halted' "$out/wire" || ! kill -0 $qemu 2>/dev/null; do sleep 0.1; done
    sleep 1
    kill $qemu
    wait $qemu 2>/dev/null
    rm -r "$out/tftp" "$out/initrd.img"
    "$mmioscope" record "$out/wire" --console "$out/console" -o "$out/trace.mmio" >"$out/stdout" 2>&1 ||
        fail "record: $(last_words)"
    virt_complete
}
add nightly uboot-virt 45 uboot_virt

# Over one serial cable, as somebody does who has nothing else: the image by YMODEM, then console and trace on the same
# line. A bare guest, because Debian would take ten minutes.
uboot_serial() {
    local line reader
    virt_tree
    fdtput -t s "$out/virt.dtb" /psci method hvc # as this guest calls
    contrib/u-boot/boot-files.sh --build "$build" --kernel "$build/tests/guest/virt/hammer.bin" --dtb "$out/virt.dtb" \
        --set mmioscope,policy=stall "$out/files" || fail "boot-files.sh: exit status $?"
    timeout 280 qemu-system-arm "${virt_machine[@]}" -bios "$build/guest-u-boot/u-boot.bin" -nic none -no-reboot -serial pty \
        >"$out/qemu" 2>&1 &
    pid=$!
    until line=$(grep -oE '/dev/pts/[0-9]+' "$out/qemu") || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
    exec 3<>"$line"
    stty raw -echo <&3
    cat <&3 >"$out/typed" &
    reader=$!
    await 'stop autoboot' 1 "$out/typed"
    printf ' ' >&3
    await '=> ' 1 "$out/typed"
    printf 'setenv fdt_high ffffffff\r' >&3
    await '=> ' 2 "$out/typed"
    printf 'loady 0x49000000\r' >&3
    await 'Ready for binary' 1 "$out/typed"
    kill $reader
    wait $reader 2>/dev/null
    sb -k "$out/files/mmioscope.itb" <&3 >&3 2>"$out/sent" || fail "sb: $(tail -n 1 "$out/sent")"
    timeout 120 "$mmioscope" record "$line" --console "$out/console" -o "$out/trace.mmio" >"$out/stdout" 2>"$out/stderr" &
    reader=$!
    until_true 10 test -s "$out/console" || fail "U-Boot does not say what has arrived"
    printf 'bootm 0x49000000\r' >&3
    wait $reader || fail "record: $(last_words)"
    kill $pid 2>/dev/null
    wait $pid 2>/dev/null
    rm -r "$out/files"
    virt_complete
}
add nightly uboot-serial 60 uboot_serial

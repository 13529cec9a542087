# Boards that have no cases of their own: stock Debian on all CPUs, everything traced, and compared with QEMU's log.
# shellcheck shell=bash disable=SC2154,SC2034

# PID 1 that uses nothing but the console, and halts: not all of these boards can switch themselves off.
boards_initrd() {
    mkdir -p "$out/root"
    {
        init_head
        echo 'echo "guest: done"; halt -f'
    } >"$out/root/init-boards"
    chmod 755 "$out/root/init-boards"
    (cd "$out/root" && find . | cpio --quiet -o -H newc | gzip -1) | cat "$guest/initrd.img" - >"$out/initrd.img"
}

# The differences but those of the log's end: QEMU is ended while CPUs stop, and what they are doing then has no record.
not_cut() { # LINES-OF-THE-LOG
    awk -v lines="$1" '!($1 == "log" && $2 == "line" && $3 + 0 > lines - 20)'
}

# boards_linux BOARD CPUS TREE CONSOLE KNOWN ARGUMENT...: no difference to the log but at addresses that match KNOWN.
boards_linux() {
    board=$1 board_tree=$guest/$3.dtb
    local cpus=$2 console=$4 known=$5
    shift 5
    boards_initrd
    run --cpus "$cpus" --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" \
        --append "console=$console panic=-1 rdinit=/init-boards" --no-print --access-log "$out/access.log" --expect 'guest: done' --stop-at 'System halted' "$@"
    rm "$out/initrd.img"
    complete
    has console "Brought up 1 node, $cpus CPU"
    [ "$(events)" -ge 20000 ] || fail "only $(events) events"
    "$mmioscope" verify "$out/trace.mmio" "$out/access.log" >"$out/verify" 2>&1 || true
    has verify '^verify: [0-9]+ events compared, '
    grep -E '^  (record|log line)' "$out/verify" | grep -vE "$known" | not_cut "$(wc -l <"$out/access.log")" >"$out/unknown"
    [ ! -s "$out/unknown" ] || fail "a difference that is not known: $(head -n 1 "$out/unknown")"
}

add test boards-imx7 45 boards_linux mcimx7d-sabre 2 imx7d-sdb ttymxc0 'none'
# QEMU's mailbox is RAM if it starts a kernel by itself, and RAM is not in its log.
add test boards-ast2600 45 boards_linux ast2600-evb 2 aspeed-ast2600-evb ttyS4 'addr 0x1e6e21[89ab]'
# QEMU has nothing at the second register range of the power manager.
add test boards-raspi2 45 boards_linux raspi2b 4 bcm2836-rpi-2-b ttyAMA0 'addr 0x3f00a0'

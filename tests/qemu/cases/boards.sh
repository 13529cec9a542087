# Boards that have no cases of their own: stock Debian on all CPUs, everything traced, and compared with QEMU's log.
# shellcheck shell=bash disable=SC2154,SC2034

# PID 1 that uses nothing but the console, then COMMANDs, and halts: not all of these boards can switch themselves off.
boards_initrd() { # COMMAND...
    mkdir -p "$out/root"
    {
        init_head
        [ $# -eq 0 ] || printf '%s\n' "$@"
        echo 'echo "guest: done"; halt -f'
    } >"$out/root/init-boards"
    chmod 755 "$out/root/init-boards"
    (cd "$out/root" && find . | cpio --quiet -o -H newc | gzip -1) | cat "$guest/initrd.img" - >"$out/initrd.img"
}

# The differences but those of the log's end: QEMU is ended while CPUs stop, and what they are doing then has no record.
not_cut() { # LINES-OF-THE-LOG
    awk -v lines="$1" '!($1 == "log" && $2 == "line" && $3 + 0 > lines - 20)'
}

# The addresses at which QEMU's log may differ.
declare -A known_differences=(
    # QEMU's mailbox is RAM if it starts a kernel by itself, and RAM is not in its log.
    [ast2600-evb]="0x1e6e21[89ab]|0x1e6a[13]00"
    [rainier-bmc]="0x1e6e21[89ab]|0x1e6a[13]00"
    [fuji-bmc]="0x1e6e21[89ab]|0x1e6a[13]00"
    # QEMU has nothing at the second register range of the power manager.
    [raspi2b]="0x3f00a0"
    # QEMU's log cuts the accesses to the capabilities of an EHCI.
    [mcimx6ul-evk]="0x02184[13]0"
)
# What a board has: its CPUs, the name of its tree, its console, and those addresses.
declare -A boards=()
while read -r name row; do
    read -r cpus tree console _ <<<"$row"
    boards[$name]="$cpus $tree $console ${known_differences[$name]:-none}"
done < <(grep -v '^#' guest-linux/boards)

# differs_only_at KNOWN: $out/verify, of a boot, has no difference to QEMU's log but at addresses that match KNOWN.
differs_only_at() {
    has verify '^verify: [0-9]+ events compared, '
    grep -E '^  (record|log line)' "$out/verify" | grep -Ev "addr ($1)" | not_cut "$(wc -l <"$out/access.log")" >"$out/unknown"
    [ ! -s "$out/unknown" ] || fail "a difference that is not known: $(head -n 1 "$out/unknown")"
}

# boards_linux KERNEL-FOLDER BOARD ARGUMENT...: no difference to the log but at addresses that are known. The guest carries
# out the commands $in_guest of the caller.
boards_linux() {
    local folder=$1 cpus tree console known
    board=$2
    shift 2
    read -r cpus tree console known <<<"${boards[$board]}"
    board_tree=$folder/$tree.dtb
    [ -e "$board_tree" ] || board_tree=$guest/$tree.dtb # Debian's 5.10 has no tree of ast2600-evb
    boards_initrd "${in_guest[@]}"
    run --cpus "$cpus" --kernel "$folder/vmlinuz" --initrd "$out/initrd.img" \
        --append "console=$console panic=-1 rdinit=/init-boards" --no-print --access-log "$out/access.log" --expect 'guest: done' --stop-at 'System halted' "$@"
    rm "$out/initrd.img"
    complete
    has console "Brought up 1 node, $cpus CPU"
    [ "$(events)" -ge 20000 ] || fail "only $(events) events"
    "$mmioscope" verify "$out/trace.mmio" "$out/access.log" >"$out/verify" 2>&1 || true
    differs_only_at "$known"
    [ "$board" != raspi2b ] || advised
}

# The modules of the kernel that name a device of TREE, with what they need, as the list `drivers` of the RAM disk.
boards_drivers() { # TREE
    local root=$out/root tree aliases # root, tree: for modules.sh
    tree=$guest/modules/lib/modules/$(cat "$guest/release")
    mkdir -p "$root/lib/modules"
    dtc -q -I dtb -O dts "$1" | sed -n 's/^\t*compatible = //p' | grep -o '"[^"]*"' | tr -d '"' | sed 's/\\0/\n/g' |
        sort -u >"$out/compatible"
    # -z: a module's description is strings that end in zero.
    aliases=$(find "$tree" -name '*.ko' -exec grep -azoH 'alias=of:N\*T\*C[^*]*' {} + | tr '\0' '\n' |
        awk -v compatible="$out/compatible" 'BEGIN { while ((getline line < compatible) > 0) named[line] = 1 }
            { file = $0; sub(/:?alias=of:.*/, "", file); sub(/.*alias=of:N\*T\*C/, "") } $0 in named { print file }' | sort -u)
    [ -n "$aliases" ] || fail "no module names a device of $1"
    # shellcheck disable=SC1091,SC2034,SC2046,SC2086 # words
    (. guest-linux/modules.sh && die() { fail "$*"; } && add drivers $(basename -s .ko -a $aliases)) || fail "modules"
}

# Stock Debian with the drivers of all devices, which are used as programs do: network, clock, sensors, memory cards.
boards_used() { # BOARD PRECISION RECALL
    boards_drivers "$guest/$(read -r _ tree _ <<<"${boards[$1]}" && echo "$tree").dtb"
    local in_guest=('while read -r module; do insmod "/lib/modules/$module"; done </lib/modules/drivers; sleep 2'
        'for net in /sys/class/net/*; do ip link set "${net##*/}" up; done; sleep 3'
        'cat /sys/class/rtc/*/time /sys/class/hwmon/*/*_input /sys/bus/iio/devices/*/in_*_raw >/dev/null'
        'for disk in /dev/mmcblk? /dev/mtd? /dev/sd?; do [ -e "$disk" ] && dd if="$disk" of=/dev/null bs=64k count=1; done')
    boards_linux "$guest" "$1"
    registers_judged "$2" "$3"
}

# The trace over a UART of i.MX: the same as the log.
boards_stream_imx() { # ARGUMENT...
    boards_linux "$guest" mcimx7d-sabre --stream serial2 --stream-file "$out/wire" "$@"
    has verify '^note: [0-9]+ accesses in the log were made by the stream'
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 || fail "record: $(tail -n 1 "$out/recorded")"
    has recorded "^complete: $(events) events, 0 lost$"
}

boards_judged() { # BOARD
    boards_linux "$guest" "$1"
    registers_judged 0.8 0.6
}

# The commands of docs/porting.md, which port ast2600-evb.
boards_porting() {
    local command here=$PWD
    boards_initrd
    ln -s "$guest/vmlinuz" "$out/zImage"
    ln -s "$guest/aspeed-ast2600-evb.dtb" "$out"
    sed -n '/^```$/,/^```$/s/^\$ //p' docs/porting.md >"$out/commands"
    [ -s "$out/commands" ] || fail "docs/porting.md has no commands"
    cd "$out" || fail "no folder"
    while read -r command; do
        PATH=$build:$PATH bash -o pipefail -c "$command" >>said 2>&1 </dev/null || fail "exit status $? of: $command"
    done <commands
    rm initrd.img
    mv boot.mmio trace.mmio
    cd "$here" || fail "no folder"
    has said '^complete: [0-9]{5} events, 0 lost$'
    differs_only_at '0x1e6e21[89ab]'
    registers_judged 0.6 0.5 # five claims
}

add test boards-imx7 45 boards_judged mcimx7d-sabre
add test stream-imx 45 boards_stream_imx
add nightly boards-midway 45 boards_linux "$guest" midway
add test porting 45 boards_porting
add nightly boards-raspi2 45 boards_judged raspi2b

for name in mcimx6ul-evk rainier-bmc midway fuji-bmc; do
    add nightly "regs-$name" 60 boards_used "$name" 0.8 0.7
done

# A board without firmware and without a GIC, which Linux cannot switch off: its halt, by mailboxes, ends the stream.
boards_halt() {
    boards_initrd
    "$mmioscope" run --board raspi2b --dtb "$guest/bcm2836-rpi-2-b.dtb" --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" \
        --append 'console=ttyAMA0 panic=-1 rdinit=/init-boards' --no-print --time-limit 200 --stream serial0 --stream-shared \
        --stream-file "$out/wire" --console-log "$out/console" -o "$out/trace.mmio" >"$out/stdout" 2>"$out/stderr" &
    until_console $! 'System halted'
    sleep 1 # 100 ms of silence, and the end of the stream
    kill $!
    wait $!
    rm "$out/initrd.img"
    "$mmioscope" record "$out/wire" --console "$out/separated" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 ||
        fail "record: $(tail -n 1 "$out/recorded")"
    has recorded '^complete: [0-9]{5} events, 0 lost$'
    "$mmioscope" print --last 1 "$out/recorded.mmio" >"$out/last" || fail "print: exit status $?"
    has last '^recording ended: the guest halted'
}
add nightly boards-halt 45 boards_halt

# On one CPU Linux' halt is a loop that nothing leaves (docs/design.md, "A halt"): the stream has no end, and both
# receivers say why.
boards_halt_alone() {
    boards_initrd
    "$mmioscope" run --board vexpress-a15 --dtb "$guest/vexpress-v2p-ca15-tc1.dtb" --cpus 1 --kernel "$guest/vmlinuz" \
        --initrd "$out/initrd.img" --append 'console=ttyAMA0 panic=-1 rdinit=/init-boards' --no-print --time-limit 200 \
        --stream serial0 --stream-shared --stream-file "$out/wire" --console-log "$out/console" -o "$out/trace.mmio" \
        >"$out/stdout" 2>"$out/stderr" &
    until_console $! 'System halted'
    sleep 2 # longer than any record waits in a frame
    kill $!
    wait $!
    rm "$out/initrd.img"
    "$mmioscope" record "$out/wire" --console "$out/separated" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 &&
        fail "record: the trace is complete"
    local said
    for said in stdout recorded; do
        has $said '^incomplete: [0-9]{5} events, 0 lost; the stream has no end: the guest has halted, and on one CPU '
    done
}
add nightly boards-halt-alone 45 boards_halt_alone

# make matrix: each board with each kernel of Debian's and both engines. matrix.py makes the table from what they leave.
for name in "${!boards[@]}"; do
    for engine in shadow emulation; do
        add matrix "matrix-$name-lpae-$engine" 60 boards_linux "$guest" "$name" --engine "$engine"
        for kernel in bullseye armmp rt trixie; do
            case $name-$kernel in # 5.10 is built without CONFIG_SOC_IMX7D, and has no tree of fuji-bmc
            mcimx7d-sabre-bullseye | fuji-bmc-bullseye) continue ;;
            esac
            add matrix "matrix-$name-$kernel-$engine" 60 with_guest "$kernel" boards_linux "$name" --engine "$engine"
        done
    done
done

# The board whose UARTs are 8250s, four of them in one page: PSCI firmware, a bus that aborts at empty addresses, and a
# stream whose reader may stall without stopping the CPU (QEMU's PL011 waits, its 8250 does not).
# shellcheck shell=bash disable=SC2154,SC2034

# orangepi FUNCTION ARGUMENT...: the case on that board.
orangepi() {
    board=orangepi-pc board_tree=$guest/sun8i-h3-orangepi-pc.dtb
    "$@"
}

# Stock Debian on CPUS CPUs, everything traced, the trace over the second UART after the console; with drivers for card
# and network.
orangepi_linux() { # CPUS ARGUMENT...
    local cpus=$1
    shift
    cat "$guest/initrd.img" "$build/tests/guest-program/overlay.img" >"$out/initrd.img"
    run_linux '' --append 'console=ttyS0 panic=-1 rdinit=/guest-program scripts=drivers' --no-print --cpus "$cpus" \
        --initrd "$out/initrd.img" --access-log "$out/access.log" "$@"
    rm "$out/initrd.img"
    complete
    covered mmc@1c0f000 ethernet0 rtc@1f00000 serial0
    has console "Brought up 1 node, $cpus CPU"
    has_not hypervisor 'stop'
    verified
    advised
    registers_judged 0.55 0.6 # QEMU lacks some of the registers
}

native_says() { grep -Eqs "$1" "$out"/native*; }
# orangepi_native GUEST PATTERN ARGUMENT...: starts it without a hypervisor, in Secure state, and waits for PATTERN on its
# console.
orangepi_native() {
    timeout 20 qemu-system-arm -M orangepi-pc -m 1G -display none -monitor none -nic none -serial "file:$out/native" \
        -serial "file:$out/native-hypervisor" -kernel "$build/${1}.elf" "${@:3}" 2>"$out/native-stderr" &
    until_true 10 native_says "$2"
    kill $!
    wait $! 2>/dev/null
}

# The console, another UART of the guest's, the hypervisor's and the stream's share a page, which always traps.
orangepi_uarts() { # ENGINE ARGUMENT...
    local engine=$1
    shift
    run_bare uarts --engine "$engine" --cpus 1 --stream serial2 --access-log "$out/access.log" "$@"
    complete
    has stdout 'other records: .* 3202 fault'
    orangepi_native tests/guest/orangepi-pc/uarts '^uarts: nowhere.* status [0-9a-f]{8}'
    has console "^$(grep '^uarts: nowhere' "$out/native" | tr -d '\r')" "nowhere is not as without a hypervisor"
    local said
    said=$(grep -v '^mmioscope: clk_ignore_unused is added' "$out/hypervisor")
    [ "$said" = $'mmioscope: xunlong,orangepi-pc, 1 CPUs, '"$engine engine"$'\r' ] ||
        fail "the guest wrote to the hypervisor's UART"
}
orangepi_uarts_traced() { # ENGINE
    orangepi_uarts "$1"
    [ "$(events_of serial@1c28c00 reads)" = 100 ] || fail "$(events_of serial@1c28c00 reads) reads of the guest's UART"
    verified
}
# Nothing of the page is traced: there is no record, but the guest still cannot use the hypervisor's UARTs.
orangepi_uarts_untraced() {
    orangepi_uarts shadow --trace interrupt-controller@1c81000
    [ "$(events)" = 0 ] || fail "$(events) events"
    [ "$(statistic 0 unselected)" -ge 400 ] || fail "$(statistic 0 unselected) accesses to the page have trapped"
}

# The guest switches off the clocks of all UARTs, and resets them: the hypervisor's stay on, and each try is told of, in
# the trace and in the stream that leaves by one of them.
orangepi_clocks() { # ENGINE ARGUMENT...
    run_bare clocks --engine "$1" --cpus 1 --stream serial2 --stream-file "$out/wire" --stream-beside \
        --access-log "$out/access.log" "${@:2}"
    complete
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 || fail "record: $(tail -n 1 "$out/recorded")"
    local trace uart
    for trace in trace recorded; do
        "$mmioscope" print --all "$out/$trace.mmio" >"$out/print" || fail "print: exit status $?"
        for uart in 1c28400 1c28800; do
            [ "$(grep -c "the guest switches off /soc/serial@$uart, the hypervisor's UART: it stays on" "$out/print")" = 200 ] ||
                fail "not 200 tries to switch off serial@$uart in $trace.mmio"
            [ "$(grep -c "the guest switches off /soc/serial@$uart, the hypervisor's UART," "$out/print")" = 1 ] ||
                fail "serial@$uart is not switched off once in $trace.mmio"
        done
        has_not print 'switches off /soc/serial@1c28[0c]00'
    done
}
orangepi_clocks_traced() { # ENGINE
    orangepi_clocks "$1"
    verified
}
# Nothing of the controller is traced: it is told of, and kept, all the same.
orangepi_clocks_untraced() {
    orangepi_clocks shadow --trace interrupt-controller@1c81000
    [ "$(events)" = 0 ] || fail "$(events) events"
}

orangepi_hammer() {
    # shellcheck disable=SC2046 # arguments
    run_bare hammer $(hammer_of 25000 4) --access-log "$out/access.log"
    complete
    verified
}

# The stream's reader stops reading, and then continues or leaves: WHAT is that of stalling_reader.py.
orangepi_stalled() { # WHAT
    local policy=$1 reader numbers power
    [ "$1" != leave ] || policy=drop
    mkfifo "$out/line"
    tests/qemu/stalling_reader.py "$out/line" "$out/ram" "$out/wire" "$1" >"$out/reader" 2>&1 &
    reader=$!
    run_bare numbers --cpus 1 --trace interrupt-controller@1c81000 --policy "$policy" --area-size 1M --ram "$out/ram" \
        --stream serial2 --stream-file "$out/line" --stream-beside --time-limit 50
    rm -f "$out/ram"
    wait $reader || fail "reader: $(tail -n 1 "$out/reader")"
    has console '^guest: done' "the guest does not end"
    numbers=$(sed -n 's/^numbers: \([0-9]*\).*/\1/p' "$out/console")
    [ -n "$numbers" ] || fail "the guest does not say how many numbers it wrote"
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 || true
    has stdout "^policy: $policy$"
    has recorded "^policy: $policy$"
    "$mmioscope" print --all --raw "$out/recorded.mmio" 2>/dev/null | tests/qemu/numbers.py "$numbers" "$1" >"$out/judge" 2>&1 ||
        fail "numbers.py: $(tail -n 1 "$out/judge")"
    case $1 in
    # Both readers of the ring get the same.
    stall)
        complete
        [ "$(statistic 0 retries)" -ge 1000 ] || fail "the guest has not waited"
        ;;
    drop)
        exits_with 1
        [ "$(tail -n 1 "$out/stdout")" = "$(tail -n 1 "$out/recorded")" ] || fail "two verdicts"
        ;;
    flight) complete ;;
    # The guest's last output, and its power-off, are lost, and counted.
    leave)
        exits_with 1
        has recorded '^incomplete: [1-9]'
        power=$(grep -c '^other records: .* power' "$out/stdout")
        sed -nE 's/^incomplete: ([0-9]+) events, ([0-9]+)( records)? lost(, ([0-9]+) other records? lost)?.*/\1 + \2 + 10#0\5/p' \
            "$out/stdout" >"$out/sum"
        [ $(($(cat "$out/sum"))) = $((numbers + 1 - power)) ] || fail "$(cat "$out/sum") is not what was made: $numbers"
        ;;
    esac
}

# Started from its ELF file it is in Secure state, without the firmware that the tree promises: one sentence, on the guest's
# console.
orangepi_secure() {
    cp "$guest/sun8i-h3-orangepi-pc.dtb" "$out/tree.dtb"
    fdtput -p -t s "$out/tree.dtb" /psci compatible arm,psci-1.0 || fail "fdtput: exit status $?"
    orangepi_native hyp-48000000 'end of report' -device "loader,file=$out/tree.dtb,addr=0x48e00000,force-raw=on"
    has native '^mmioscope: stop: in Secure state'
}

add test orangepi-linux-4-shadow 50 orangepi orangepi_linux 4 --engine shadow --stream serial2
add nightly orangepi-linux-4-emulation 20 orangepi orangepi_linux 4 --engine emulation --stream serial2
add nightly orangepi-linux-1 25 orangepi orangepi_linux 1
for engine in shadow emulation; do add test orangepi-uarts-$engine 3 orangepi orangepi_uarts_traced $engine; done
add test orangepi-uarts-untraced 3 orangepi orangepi_uarts_untraced
for engine in shadow emulation; do add test orangepi-clocks-$engine 3 orangepi orangepi_clocks_traced $engine; done
add nightly orangepi-clocks-untraced 3 orangepi orangepi_clocks_untraced
add nightly orangepi-hammer 5 orangepi orangepi_hammer
for what in drop stall flight leave; do add test orangepi-reader-$what 12 orangepi orangepi_stalled $what; done
add test orangepi-fault 4 orangepi fault check 'unexpected value of VTTBR' '^checked before pc=0x480[01]' '^mmioscope: unchanged: text'
add test orangepi-secure 3 orangepi_secure

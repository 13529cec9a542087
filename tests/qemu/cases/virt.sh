# The second board: PSCI firmware starts its CPUs; one UART, a bus that aborts at empty addresses, QEMU's own device
# tree.
# shellcheck shell=bash disable=SC2154

# virt FUNCTION ARGUMENT...: the case on that board.
virt() {
    board=virt
    "$@"
}

# Stock Debian on CPUS CPUs, everything traced, with a driver for the network.
virt_linux() { # CPUS ARGUMENT...
    local cpus=$1
    shift
    cat "$guest/initrd.img" "$build/tests/guest-program/overlay.img" >"$out/initrd.img"
    run_linux 'rdinit=/guest-program scripts=drivers' --no-print --cpus "$cpus" --initrd "$out/initrd.img" \
        --access-log "$out/access.log" "$@"
    rm "$out/initrd.img"
    complete
    covered 'virtio_mmio@[0-9a-f]* +[1-9][0-9]' pl031@9010000 # a function that has a driver, not only a slot
    has console "Brought up 1 node, $cpus CPU"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -cE ' cpu [0-9] started at ' "$out/print")" = $((cpus - 1)) ] || fail "not $((cpus - 1)) CPUs started"
    has print 'machine off, cpu [0-9]'
    verified
}

add test virt-linux-4-shadow 25 virt virt_linux 4 --engine shadow
add nightly virt-linux-4-emulation 25 virt virt_linux 4 --engine emulation
add nightly virt-linux-1 15 virt virt_linux 1

# Guests that do what no sound guest does.
# shellcheck shell=bash disable=SC2154,SC2034

# Removes lines of `hostile` with the time, or with the Security and Virtualization Extensions: QEMU's CPU without them,
# on which the guest runs for comparison, reports this in its ID registers, unlike hardware. Nothing else may differ.
without_time_and_ids() { # FILE
    sed -E -e '/^PL1 p15 0 c14 c[23] 0 /s/ [0-9a-f]+$/ (time)/' \
        -e '/^PL[01] p15 [01] c14 /s/ [0-9a-f]{8} [0-9a-f]{8}$/ (time)/' \
        -e '/^PL1 p15 0 c0 c1 1 /s/ [0-9a-f]+$/ (ID_PFR1)/' \
        -e '/^PL1 p15 0 c0 c1 2 /s/ [0-9a-f]+$/ (ID_DFR0)/' \
        -e '/^PL1 p15 0 c1 c1 2 /d' \
        -e '/^PL1 p15: /d' "$out/$1" # NSACR, and one undefined less for it
}

# HVC, SMC and every encoding of the system registers: the answers equal those without the hypervisor.
hostile() { # BOARD CONSOLE UNDEFINED: the node of its console, and how many of the calls are undefined
    board=$1
    native_guest hostile
    run_bare hostile --trace "all,!$2"
    complete
    has console "^calls: 1000000, $3 undefined"
    for file in native console; do
        without_time_and_ids $file | grep -v '^mmioscope: ' >"$out/$file.normal"
        [ "$(wc -l <"$out/$file.normal")" -gt 2500 ] || fail "$file has too few lines to compare"
    done
    diff "$out/native.normal" "$out/console.normal" >"$out/diff" ||
        fail "$(grep -c '^[<>]' "$out/diff") lines differ, the first ones: $(sed -n '2p;4p' "$out/diff" | xargs)"
}

# All 40 bits of physical address: nothing of the hypervisor's is read or changed (it checks its checksums when the
# guest switches the board off), and each try is a record.
reach() { # ENGINE
    local tries fetches walks there
    run_bare reach --engine "$1" --trace all
    complete
    read -r tries fetches walks there < <(sed -nE \
        "s/^reach: ([0-9]+) to the hypervisor's memory, [0-9]+ above 4 GiB, ([0-9]+) fetches, ([0-9]+) walks, ([0-9]+) of them there.*/\1 \2 \3 \4/p" \
        "$out/console")
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    # QEMU 7.2 cuts the walks' addresses to 32 bits, so all but one are there.
    ! qemu-system-arm --version | grep -q 'version 7\.' || there=$((walks - 1))
    [ "$(grep -c "no access: the memory is the hypervisor's" "$out/print")" = $((tries + there)) ] ||
        fail "not $tries tries and $there walks in the trace"
    [ "$(grep -c '(fetch)' "$out/print")" = "$fetches" ] || fail "not $fetches fetches in the trace"
}

# The same with RAM in another GiB, and a bus that aborts at empty addresses.
virt_reach() { # ENGINE
    board=virt
    reach "$1"
}

for engine in shadow emulation; do
    add test "reach-$engine" 3 reach $engine
    add test "virt-reach-$engine" 3 virt_reach $engine
done
add test hostile 20 hostile vexpress-a15 serial0 1000000
add test virt-hostile 20 hostile virt pl011@9000000 562022

# A device writes 16 bytes into the hypervisor: this is found when the guest switches the machine off, which is then not
# carried out.
dma_to() { # WHAT PAGE ARGUMENT...: by its name in the report
    board=virt
    run_bare dma --qemu-arg=-device --qemu-arg=virtio-rng-device "${@:3}"
    exits_with 1
    has console '^dma: into the hypervisor'
    has console "^mmioscope: stop: the hypervisor's memory was changed on CPU 0"
    has console "^mmioscope: changed: $1 0x$2\+0x(1000|fe0)"
    has console '^mmioscope: end of report'
    has stdout '^incomplete: .*the hypervisor stopped(,|$)'
}
dma_at() { # WHAT ADDRESS
    dma_to "$1" "$(printf '%05x' $(($2 >> 12)))(000|020)" \
        --qemu-arg=-device --qemu-arg="loader,addr=$((0x42000000)),data=$(($2)),data-len=4"
}
dma_into_text() { dma_to text 48000000; }
# Data that the hypervisor reads only at boot.
dma_into_constants() {
    local at
    at=$(arm-none-eabi-nm "$build/hyp-48000000.elf" | sed -n 's/^\([0-9a-f]*\) r .*new_namesE$/\1/p')
    [ -n "$at" ] || fail "no such constant"
    dma_at constants 0x"$at"
}
# A report shows the guest's root in VTTBR. The table below it was allocated next; no walk for this guest reads its last
# two entries.
dma_into_tables() {
    local root
    dma_into_text
    root=$(sed -nE 's/^VTTBR=0x10000(48[0-9a-f]{6}) .*/\1/p' "$out/console")
    [ -n "$root" ] || fail "no VTTBR in the report"
    dma_at tables $((0x$root + 0x1ff0))
}
add test dma 3 dma_into_text
add test dma-constants 3 dma_into_constants
add test dma-tables 3 dma_into_tables

# The guest may write to the trace area, and forges everything there from which addresses, sizes and counts follow, while it
# asks for snapshots: each is carried out as ever, no device is read, and the hypervisor is unchanged (it checks its
# checksums when the guest switches the board off).
forged() { # ENGINE
    run_bare forged --engine "$1" --guest-reader --access-log "$out/access.log"
    complete
    verified
    has console '^forged: 2199 snapshots'
}
for engine in shadow emulation; do add test "forged-$engine" 5 forged $engine; done

# Other CPUs fetch from a device while one changes what is traced: the hypervisor, which looks at its checksums
# because of the fetches, must not take a change for damage.
fetches() { # ENGINE CPUS CHANGES
    board=virt
    run_bare fetches --engine "$1" --cpus "$2" \
        --qemu-arg=-device --qemu-arg="loader,addr=$((0x42000000)),data=$(($3 << 4 | $2)),data-len=4"
    complete
    has console "^fetches: $3 changes"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -c '(fetch)' "$out/print")" = "$(sed -n 's/.*changes, \([0-9]*\) fetches/\1/p' "$out/console" | tr -d '\r')" ] ||
        fail "not as many fetches as the guest made"
}
add test fetches 10 on_all_cpus fetches shadow 4 60
for engine in shadow emulation; do add nightly "fetches-$engine" 120 on_all_cpus fetches $engine 8 1000; done

# On a board with firmware: its functions, with valid and invalid arguments, are answered as without the hypervisor.
calls() { # ENGINE
    board=virt
    native_guest calls
    run_bare calls --engine "$1"
    complete
    [ "$(wc -l <"$out/native")" -gt 500 ] || fail "too few lines to compare"
    same_as_native
}
add test calls 10 calls shadow

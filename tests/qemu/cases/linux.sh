# Stock Debian.
# shellcheck shell=bash disable=SC2154

sd_reads=262144 # 1 MiB from the card's FIFO, 4 bytes each

# Every device traced: nothing missing, nothing different. STEPS: the part of the guest's command line about them.
proof() { # STEPS ARGUMENT...
    local steps=$1
    shift
    run_linux "$steps" --no-print --trace all --access-log "$out/access.log" "$@"
    complete
    [ "$(events_of mmc@50000 reads)" -ge $sd_reads ] ||
        fail "$(events_of mmc@50000 reads) reads of the SD controller"
    verified
}

# All drivers, one after the other and at the same time: the registers that they access have names.
drivers() { # ARGUMENT...
    proof mmioscope.steps=console,rtc,sysreg,irq,all "$@"
    covered mmc@50000 ethernet@202000000 rtc@170000 serial0
    "$mmioscope" sharing --all --format csv "$out/trace.mmio" >"$out/sharing" || fail "sharing: exit status $?"
    has_not sharing '^(lost update|never ended),'
    has sharing '^shared register,mmc@50000,'
    advised
    # One boot has few registers that show something: its shares vary. `make nightly` judges sixty.
    registers_judged 0.8 0.7
    # The boot that a model has learnt from; `make nightly` scores another one.
    tests/regs/score.py "$build" "$out/trace.mmio" "$out/trace.mmio" mmc=0.96 serial0=0.96 ethernet=0.8 >"$out/score" ||
        fail "regs --score: $(xargs <"$out/score")"
}

# Card, network, clock and console at the same time on two CPUs: eight copies of 1 MiB on the card, three million
# accesses.
load() { # ENGINE
    proof "mmioscope.steps=all mmioscope.sd_copies=8" --engine "$1" --policy stall --time-limit 900
    [ "$(events_of mmc@50000 writes)" -ge $((8 * sd_reads)) ] ||
        fail "$(events_of mmc@50000 writes) writes of the SD controller"
    share_of_fifo "$out/trace.mmio" >"$out/fifo"
    "$mmioscope" print --summary --shares "$out/trace.mmio" >"$out/shares" || fail "print: exit status $?"
}

# The same with rings that wrap at least ten times. A full ring stops its CPU, so a busy machine makes the run slower,
# not incomplete.
wrap() { # ENGINE
    drivers --engine "$1" --area-size 4M --policy stall
    # hyp/abi/ring.hpp: 64 KiB, then two rings, each a page and records of 64 bytes.
    local capacity=$((((4 << 20) - (64 << 10)) / 2 / 64)) most
    "$mmioscope" print --all --raw "$out/trace.mmio" | grep -cE ' cpu0 [RW]' >"$out/records-of-cpu0"
    most=$(cat "$out/records-of-cpu0")
    [ "$most" -ge $((10 * capacity)) ] || fail "$most records in a ring of $capacity: no ten turns"
}

# boot CPUS WHAT ARGUMENT...: boots and switches off, without using devices. WHAT: none, one or all devices are traced.
boot() {
    local cpus=$1 what=$2 trace=$2 type lines
    shift 2
    [ "$what" != one ] || trace=serial0
    run_linux mmioscope.steps=none --no-print --cpus "$cpus" --trace "$trace" \
        --access-log "$out/access.log" "$@"
    complete
    has console "Brought up 1 node, $cpus CPU"
    case $what in
    none) [ "$(events)" = 0 ] || fail "$(events) events, though nothing is traced" ;;
    one)
        [ "$(events)" -gt 100 ] || fail "$(events) events"
        [ "$(events)" = $(($(events_of serial0 reads) + $(events_of serial0 writes))) ] ||
            fail "events of other devices"
        ;;
    all)
        # Linux writes to the distributor once for a few of its lines: 160 on QEMU 7.2, 96 on 10 (GICD_TYPER).
        type=$("$mmioscope" print --all --raw "$out/trace.mmio" |
            awk '$4 == "interrupt-controller@2c001000" && $5 == "+0x004" && !seen++ { print $6 }')
        [ -n "$type" ] && lines=$(((type % 32 + 1) * 32)) &&
            [ "$(events_of 'interrupt-controller@2c001000' writes)" -gt $((lines * 5 / 8)) ] &&
            [ "$(events_of 'interrupt-controller@2c001000[1]' writes)" -gt 100 ] ||
            fail "the interrupt controller is not traced"
        verified
        # With the names that it needs.
        beside_times "$out/trace.mmio" 1.6
        ;;
    esac
}

# The second CPU goes offline and comes back.
hotplug() { # TIMES ARGUMENT...
    local times=$1
    shift
    run_linux "mmioscope.steps=hotplug mmioscope.hotplug=$times" --no-print --access-log "$out/access.log" "$@"
    complete
    has console '^mmioscope-guest: hotplug ok'
    verified
}

# The second CPU unloads and loads a driver, whose code makes accesses, while others read devices at PL1, one of them by
# another module, and at PL0.
modules() { # TIMES ARGUMENT...
    local times=$1
    shift
    run_linux "mmioscope.steps=modules mmioscope.modules=$times" --no-print --trace all --access-log "$out/access.log" \
        --time-limit 900 "$@"
    complete
    has console '^mmioscope-guest: modules ok'
    [ "$(events_of ethernet@202000000 reads)" -gt $((times * 10)) ] ||
        fail "$(events_of ethernet@202000000 reads) reads by the driver that comes and goes"
    [ "$("$mmioscope" print --all --raw "$out/trace.mmio" | grep -c ' usr')" -gt 0 ] || fail "no access at PL0"
    verified
}

# Repeats the load until the traces have this many events.
millions() { # EVENTS ENGINE
    local total=0
    while [ $total -lt "$1" ]; do
        load "$2"
        total=$((total + $(events)))
        echo "$total of $1 events" >&2
    done
}

# The kernel equals the package's, byte for byte.
unmodified() {
    (cd "$guest" && sha256sum --quiet -c vmlinuz.sha256) >"$out/sha256" 2>&1 ||
        fail "vmlinuz is not what was unpacked"
    grep -q "$(sha256sum <"$guest/vmlinuz" | cut -d' ' -f1)" "$guest/manifest.txt" ||
        fail "the manifest does not name this vmlinuz"
}

# Every PC equals that of the plugin's log. verify must be able to fail: it finds one record left out, changed or
# swapped, and nothing else.
noticed() {
    local how number arguments
    mapfile -t arguments < <(pc_log_arguments)
    boot 2 all "${arguments[@]}"
    verified_with_pcs 30000
    number=$(($(events) / 2))
    for how in drop alter swap pc; do
        "$build/tests/mutate-trace" $how $number "$out/trace.mmio" "$out/$how.mmio" || fail "mutate-trace $how"
        status=0
        "$mmioscope" verify "$out/$how.mmio" "$out/access.log" --pc-log "$out/pc.log" >"$out/$how" 2>&1 || status=$?
        exits_with 1
    done
    has drop '^verify: [0-9]+ events compared, 1 difference: 1 missing$'
    has drop '^the trace lacks 1 records of cpu'
    has alter '^verify: [0-9]+ events compared, 1 difference: 1 value$'
    has alter '^verify: [0-9]+ PCs compared, 0 differences$'
    has pc '^verify: [0-9]+ PCs compared, 1 difference: 1 pc$'
    has pc '^verify: [0-9]+ events compared, 0 differences$'
    has swap '^verify: [0-9]+ events compared, [1-3] differences?: '
    rm -f "$out"/{drop,alter,swap,pc}.mmio "$out/pc.log"
}

add test linux-unmodified 2 unmodified
add test linux-shadow 60 on_all_cpus drivers --engine shadow
add nightly linux-emulation 40 on_all_cpus drivers --engine emulation
add nightly linux-load-shadow 180 load shadow
add nightly linux-load-emulation 120 load emulation
add nightly linux-300m 7200 millions 300000000 emulation
for engine in shadow emulation; do
    add nightly hotplug-$engine 60 on_all_cpus hotplug 100 --engine $engine
    add nightly virt-hotplug-$engine 60 virt on_all_cpus hotplug 100 --engine $engine
    add nightly modules-$engine 90 on_all_cpus modules 20 --engine $engine
done
add nightly linux-wrap-emulation 40 wrap emulation
add nightly linux-wrap-shadow 60 wrap shadow
add test boot-none-2 10 boot 2 none
add test boot-one-1 10 boot 1 one
add test boot-all-1 10 boot 1 all
add nightly boot-none-1 10 boot 1 none
add nightly boot-one-2 10 boot 2 one
for cpus in 1 2; do
    add nightly "boot-none-$cpus-emulation" 10 boot $cpus none --engine emulation
    add nightly "boot-one-$cpus-emulation" 10 boot $cpus one --engine emulation
    add nightly "boot-all-$cpus-emulation" 10 boot $cpus all --engine emulation
done
add test verify-notices 25 noticed # everything with 2 CPUs, and the PCs

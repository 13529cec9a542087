# The guest resets the machine, and the run goes on: each boot's trace is whole, and QEMU's own log of that boot.
# shellcheck shell=bash disable=SC2154

# resets_boots BOOTS ARGUMENT...: Linux boots, and resets the machine, which boots again; stopped where it would once more.
resets_boots() {
    local boots=$1 boot suffix
    shift
    run_linux 'mmioscope.steps=none mmioscope.end=reboot' --no-print --reboots $((boots - 1)) \
        --access-log "$out/access.log" "$@"
    exits_with 0
    has stdout "^complete: $boots boots, 0 of them incomplete$"
    [ "$(grep -c '^mmioscope-guest: done' "$out/console")" = "$boots" ] || fail "the guest did not come up $boots times"
    for ((boot = 1; boot <= boots; boot++)); do
        suffix=
        [ $boot = 1 ] || suffix=.$boot
        has stdout "^boot $boot: complete: [0-9]{5,} events, 0 lost$"
        resets_verified "$suffix"
        resets_own_boot "$suffix"
    done
}
# The trace of that boot is its log, and ends with the reset, which is the board's own register or PSCI's.
resets_verified() { # SUFFIX
    "$mmioscope" verify "$out/trace$1.mmio" "$out/access$1.log" >"$out/verify$1" 2>&1 || true
    has "verify$1" '^verify: [0-9]{5,} events compared, 0 differences$' "$(tail -n 1 "$out/verify$1") (see $out/verify$1)"
    "$mmioscope" print --all "$out/trace$1.mmio" >"$out/print" || fail "print: exit status $?"
    grep -E '^ *[0-9]+\.[0-9]+ |machine reset' "$out/print" | tail -n 5 >"$out/end$1"
    has "end$1" ' W4 .* \+0x0*a4 0xc0900000 |machine reset, cpu [01]' "the last before the reset: $(tail -n 1 "$out/end$1")"
}
# Both CPUs were there again.
resets_own_boot() { # SUFFIX
    grep -qE ' cpu1 [RW]4 ' "$out/print" || fail "CPU 1 has done nothing in trace$1"
}

# The second boot's trace tells how the first one ended: the end of the first one's trace, and nothing unfinished.
resets_told() { # FILE...
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    local file
    for file; do
        status=0
        "$mmioscope" blackbox -n 300 "$out/$file" >"$out/blackbox" 2>&1 || status=$?
        [ "$status" = 0 ] || fail "blackbox $file: exit status $status: $(tail -n 1 "$out/blackbox")"
        has blackbox "^previous boot, id [0-9a-f]{32}, $board, 2 CPUs$"
        accesses_of blackbox >"$out/last"
        [ "$(wc -l <"$out/last")" -gt 250 ] || fail "$file tells only $(wc -l <"$out/last") accesses"
        accesses_of print | tail -n "$(wc -l <"$out/last")" | diff - "$out/last" >"$out/diff" ||
            fail "$file and the end of the trace differ: $(head -n 3 "$out/diff" | xargs)"
    done
    status=0
    "$mmioscope" blackbox "$out/trace.mmio" >"$out/blackbox" 2>&1 || status=$?
    exits_with 1
    has blackbox 'a trace that tells nothing of an earlier boot$'
}

# The stream's own file holds all boots: `record` makes of it what the run did.
resets_streamed() { # ARGUMENT...
    resets_boots 2 --stream serial2 --stream-file "$out/wire" "$@"
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 || fail "record: $(tail -n 1 "$out/recorded")"
    has recorded '^complete: 2 boots, 0 of them incomplete$'
    local suffix
    for suffix in '' .2; do
        "$build/tests/same-records" "$out/trace$suffix.mmio" "$out/recorded$suffix.mmio" >"$out/same" || fail "$(cat "$out/same")"
    done
    resets_told trace.2.mmio recorded.2.mmio wire
}

# A second kernel, started by the first one: CPUs off, one that jumps, CPUs on again, all in one trace.
resets_kexec() { # ARGUMENT...
    cat "$guest/initrd.img" "$build/tests/transparency/kexec.img" >"$out/initrd.img"
    run --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" --no-net --no-print --expect '== end' \
        --append 'console=ttyAMA0 rdinit=/kexec-traced' --access-log "$out/access.log" "$@"
    rm "$out/initrd.img"
    complete
    [ "$(grep -c 'Booting Linux on physical CPU' "$out/console")" = 2 ] || fail "not two kernels"
    has console '^== second kernel'
    verified
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    # Off and on once by each kernel's init, off before the jump, on in each kernel.
    sed -nE 's/^ *[0-9]+\.[0-9]+ cpu[01] (cpu 1 (started|switched off)|machine reset).*/\1/p' "$out/print" | xargs >"$out/power"
    local each='cpu 1 started cpu 1 switched off cpu 1 started'
    [ "$(cat "$out/power")" = "$each cpu 1 switched off $each machine reset" ] || fail "power: $(cat "$out/power")"
}

# The second CPU goes and comes back while the trace leaves over the UART.
resets_hotplug() { # TIMES ARGUMENT...
    hotplug "$@" --stream serial2
    has verify '^note: [0-9]+ accesses in the log are the stream'
}

add test resets-kexec 20 virt resets_kexec
add nightly resets-kexec-emulation 20 virt resets_kexec --engine emulation
for engine in shadow emulation; do
    add nightly "resets-hotplug-streamed-$engine" 60 resets_hotplug 100 --engine $engine
done
add test resets-streamed 30 resets_streamed
# The trace over shared memory tells it, too.
resets_virt() { # ARGUMENT...
    resets_boots 2 "$@"
    resets_told trace.2.mmio
}
add nightly resets-virt 25 virt resets_virt
add nightly resets-vexpress-10 80 resets_boots 10
add nightly resets-virt-10 80 virt resets_boots 10 --engine emulation

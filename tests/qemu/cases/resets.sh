# The guest resets the machine, and the run continues: each boot has a complete trace, which equals QEMU's own log of
# that boot.
# shellcheck shell=bash disable=SC2154

# resets_boots BOOTS reboot|panic ARGUMENT...: Linux boots, and resets the machine, which boots again; stopped before
# the boot after that.
resets_boots() {
    local boots=$1 end=$2 boot suffix
    shift 2
    local console=ttyAMA0
    [ "$board" != orangepi-pc ] || console=ttyS0
    run_linux '' --append "console=$console panic=-1 mmioscope.steps=none mmioscope.end=$end" --no-print \
        --reboots $((boots - 1)) --access-log "$out/access.log" "$@"
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
# The trace of that boot equals its log, and ends with the reset, by the board's own register or by PSCI.
resets_verified() { # SUFFIX
    "$mmioscope" verify "$out/trace$1.mmio" "$out/access$1.log" >"$out/verify$1" 2>&1 || true
    has "verify$1" '^verify: [0-9]{5,} events compared, 0 differences$' "$(tail -n 1 "$out/verify$1") (see $out/verify$1)"
    "$mmioscope" print --all --raw "$out/trace$1.mmio" >"$out/print" || fail "print: exit status $?"
    grep -E '^ *[0-9]+\.[0-9]+ |machine reset' "$out/print" | tail -n 5 >"$out/end$1"
    has "end$1" ' W4 .* \+0x0*a4 0xc0900000 |machine reset, cpu [01]' "the last before the reset: $(tail -n 1 "$out/end$1")"
}
# Both CPUs were active again.
resets_own_boot() { # SUFFIX
    grep -qE ' cpu1 [RW]4 ' "$out/print" || fail "CPU 1 has done nothing in trace$1"
}

# The second boot's trace shows how the first one ended: the end of the first one's trace, and nothing unfinished.
resets_told() { # FILE...
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    local file
    for file; do
        status=0
        "$mmioscope" blackbox --raw -n 300 "$out/$file" >"$out/blackbox" 2>&1 || status=$?
        [ "$status" = 0 ] || fail "blackbox $file: exit status $status: $(tail -n 1 "$out/blackbox")"
        has blackbox "^previous boot, id [0-9a-f]{32}, .*, 2 CPUs$"
        accesses_of blackbox >"$out/last"
        [ "$(wc -l <"$out/last")" -gt 250 ] || fail "$file tells only $(wc -l <"$out/last") accesses"
        accesses_of print | tail -n "$(wc -l <"$out/last")" | diff - "$out/last" >"$out/diff" ||
            fail "$file and the end of the trace differ: $(head -n 3 "$out/diff" | xargs)"
    done
    status=0
    "$mmioscope" blackbox "$out/trace.mmio" >"$out/blackbox" 2>&1 || status=$?
    exits_with 1
    has blackbox 'the trace has no records of an earlier boot; the last accesses of its own: mmioscope print --last 5 '
}

# The stream's own file has all boots: `record` makes the same from it as from shared memory, bit by bit.
resets_streamed() { # reboot|panic ARGUMENT...
    local end=$1
    shift
    resets_boots 2 "$end" --stream serial2 --stream-file "$out/wire" --stream-beside --stream-quantum 0 "$@"
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 || fail "record: $(tail -n 1 "$out/recorded")"
    has recorded '^complete: 2 boots, 0 of them incomplete$'
    local suffix
    for suffix in '' .2; do
        "$build/tests/same-records" "$out/trace$suffix.mmio" "$out/recorded$suffix.mmio" >"$out/same" || fail "$(cat "$out/same")"
    done
    resets_told trace.2.mmio recorded.2.mmio wire
}
# The guest panics; the machine's RAM shows it, too.
resets_panic() {
    resets_streamed panic --memory 256M --area-size 16M --ram "$out/ram"
    [ "$(grep -c '^.*Kernel panic - not syncing: sysrq triggered crash' "$out/console")" = 2 ] || fail "not two panics"
    resets_told ram
    rm "$out/ram"
}

# A second kernel, started by the first one: CPUs off, one that jumps, CPUs on again, all in one trace.
resets_kexec_run() { # ARGUMENT...
    cat "$guest/initrd.img" "$build/tests/transparency/kexec.img" >"$out/initrd.img"
    run --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" --no-net --no-print --expect '== end' \
        --append 'console=ttyAMA0 rdinit=/kexec-traced' --access-log "$out/access.log" "$@"
    rm "$out/initrd.img"
    complete
    [ "$(grep -c 'Booting Linux on physical CPU' "$out/console")" = 2 ] || fail "not two kernels"
    has console '^== second kernel'
}
resets_kexec_power() { # FILE
    "$mmioscope" print --all --raw "$out/$1" >"$out/print" || fail "print: exit status $?"
    # Off and on once by each kernel's init, off before the jump, on in each kernel.
    sed -nE 's/^ *[0-9]+\.[0-9]+ cpu[01] (cpu 1 (started|switched off)|machine reset).*/\1/p' "$out/print" | xargs >"$out/power"
    local each='cpu 1 started cpu 1 switched off cpu 1 started'
    [ "$(cat "$out/power")" = "$each cpu 1 switched off $each machine reset" ] || fail "power: $(cat "$out/power")"
}

resets_kexec() { # ARGUMENT...
    resets_kexec_run "$@"
    verified
    resets_kexec_power trace.mmio
}

# The trace leaves by the board's only UART, which is both kernels' console: the stream continues in the second one, and
# has everything that shared memory has. In QEMU's log that UART's accesses are first the hypervisor's, then the guest's
# and the stream's, which are not compared.
resets_kexec_streamed() {
    local own
    resets_kexec_run --trace 'all,!/pl011@9000000' --stream /pl011@9000000 --stream-shared --stream-file "$out/wire" \
        --stream-beside --stream-quantum 0
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" --console "$out/console.recorded" >"$out/recorded" 2>&1 ||
        fail "record: $(tail -n 1 "$out/recorded")"
    has recorded '^complete: [0-9]+ events, 0 lost$'
    "$build/tests/same-records" "$out/trace.mmio" "$out/recorded.mmio" >"$out/same" || fail "$(cat "$out/same")"
    cmp "$out/console" "$out/console.recorded" >"$out/cmp" 2>&1 || fail "the consoles differ: $(cat "$out/cmp")"
    resets_kexec_power recorded.mmio
    own=$(sed -n 's/^other records: \([0-9]*\) own.*/\1/p' "$out/stdout")
    awk -v own="$own" '/ name .pl011.$/ && ++n > own { next } 1' "$out/access.log" >"$out/others"
    mv "$out/others" "$out/access.log"
    mv "$out/recorded.mmio" "$out/trace.mmio"
    verified
}

# The second CPU goes offline and comes back while the trace leaves over the UART.
resets_hotplug() { # TIMES ARGUMENT...
    hotplug "$@" --stream serial2
    has verify '^note: [0-9]+ accesses in the log were made by the stream'
}

add test resets-kexec 20 virt resets_kexec
add nightly resets-kexec-emulation 20 virt resets_kexec --engine emulation
add nightly resets-kexec-streamed 30 virt resets_kexec_streamed
for engine in shadow emulation; do
    add nightly "resets-hotplug-streamed-$engine" 60 resets_hotplug 100 --engine $engine
done
add nightly resets-panic 25 resets_panic
add nightly resets-streamed 25 resets_streamed reboot
# The trace over shared memory shows it, too.
resets_told_directly() { # ARGUMENT...
    resets_boots 2 reboot "$@"
    resets_told trace.2.mmio
}
add nightly resets-virt 25 virt resets_told_directly
add nightly resets-vexpress-10 80 resets_boots 10 reboot
add nightly resets-virt-10 80 virt resets_boots 10 reboot --engine emulation
add nightly resets-orangepi 40 orangepi resets_told_directly
add nightly resets-orangepi-streamed 45 orangepi resets_streamed reboot

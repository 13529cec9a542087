# Instructions that make several accesses, or move VFP and NEON registers (tests/guest/beats.cpp).
# shellcheck shell=bash disable=SC2154

# A record for each access, with its value: nothing is left for verify to pass over.
beats() { # ENGINE
    run_bare beats --engine "$1" --trace all --access-log "$out/access.log"
    complete
    verified
    has_not verify 'does not decode' "records without a value"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has_not print ' \? +pc ' "a record without a value"
}

# Two CPUs count by exclusives: right, and to an end; natively too. Only what reached the device is a record.
exclusives() { # ENGINE
    timeout 60 qemu-system-arm -M vexpress-a15,secure=off,virtualization=off -smp 2 -m 512 -display none \
        -monitor none -serial "file:$out/native" -no-reboot -audiodev none,id=a -nic none \
        -kernel "$build/tests/guest/vexpress-a15/exclusives.elf" || fail "the guest does not end without a hypervisor"
    has native '^guest: done$' "without a hypervisor: $(tail -n 1 "$out/native")"
    run_bare exclusives --engine "$1" --trace all --access-log "$out/access.log"
    complete
    cmp -s "$out/native" "$out/console" || fail "the console differs from that without a hypervisor"
    verified
    has_not verify 'does not decode' "records without a value"
}

for engine in shadow emulation; do
    add test "beats-$engine" 5 beats $engine
    add test "exclusives-$engine" 10 on_all_cpus exclusives $engine
done

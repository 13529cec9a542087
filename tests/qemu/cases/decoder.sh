# Instructions that make several accesses, or move VFP and NEON registers (tests/guest/beats.cpp).
# shellcheck shell=bash disable=SC2154

# A record for each access, with its value: verify passes over nothing.
beats() { # ENGINE
    run_bare beats --engine "$1" --trace all --access-log "$out/access.log"
    complete
    verified
    has_not verify 'does not decode' "records without a value"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has_not print ' \? +pc ' "a record without a value"
}

# Two CPUs count by exclusives: correctly, and to the end; natively, too. Only accesses that reached the device are
# records.
exclusives() { # ENGINE ARGUMENT...
    timeout 60 qemu-system-arm -M vexpress-a15,secure=off,virtualization=off -smp 2 -m 512 -display none \
        -monitor none -serial "file:$out/native" -no-reboot -audiodev none,id=a -global pl041.audiodev=a -nic none \
        -kernel "$build/tests/guest/vexpress-a15/exclusives.elf" || fail "the guest does not end without a hypervisor"
    has native '^guest: done$' "without a hypervisor: $(tail -n 1 "$out/native")"
    run_bare exclusives --engine "$1" "${@:2}" --trace all --access-log "$out/access.log"
    complete
    cmp -s "$out/native" "$out/console" || fail "the console differs from that without a hypervisor"
    verified
    has_not verify 'does not decode' "records without a value"
}

# The same with everything for which the hypervisor uses exclusives itself, or that makes the guest wait: the guest's
# own succeed. A trigger that counts but never fires, room for 1,000 records of each CPU, and a reader that is not
# faster than a line.
exclusives_streamed() { # ENGINE
    native_guest exclusives
    run_bare exclusives --time-limit 60 --engine "$1" --trace all --access-log "$out/access.log" --pre --policy stall \
        --area-size 256K --stream serial2 --stream-baud 3000000 --at-start 'trigger stop count 1000000000'
    complete
    cmp -s "$out/native" "$out/console" || fail "the console differs from that without a hypervisor"
    verified
}
# With the stream on the console's own UART, a filter and samples: what is left out is not sent.
exclusives_filtered() { # ENGINE
    native_guest exclusives
    run_bare exclusives --time-limit 60 --engine "$1" --trace all --stream serial0 --stream-shared \
        --at-start 'filter direction w' --at-start 'sample 3'
    complete
    cmp -s "$out/native" "$out/console" || fail "the console differs from that without a hypervisor"
}

for engine in shadow emulation; do
    add test "beats-$engine" 5 beats $engine
    add test "exclusives-$engine" 10 on_all_cpus exclusives $engine
    add test "exclusives-streamed-$engine" 20 on_all_cpus exclusives_streamed $engine
    add test "exclusives-filtered-$engine" 20 on_all_cpus exclusives_filtered $engine
done
# Both CPUs step each load-exclusive.
exclusives_without_breakpoints() {
    local cpu
    exclusives emulation --no-breakpoints
    for cpu in 0 1; do
        [ "$(statistic $cpu stepped)" -gt 1000 ] || fail "CPU $cpu: $(statistic $cpu stepped) steps"
    done
}
add test exclusives-no-breakpoints 10 on_all_cpus exclusives_without_breakpoints

# Control while the guest runs, through the control page.
# shellcheck shell=bash disable=SC2154

# What is traced changes 4,000 times under two CPUs that use the page: all accesses while it is on, no other.
switching() { # ENGINE
    run_bare switching --engine "$1" --trace none --access-log "$out/access.log"
    complete
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    tests/qemu/switching.py "$out/access.log" "$out/print" >"$out/judge" || fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    has console '^switching: 2000 accesses make 0 traps untraced, [2-9][0-9]{3} traced'
}

# A million random writes to the control page: the only change in the trace is the marker behind them.
noise() {
    run_bare control_noise
    complete
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has_not print ' (configuration|change) '
    [ "$(grep -c ' marker ' "$out/print")" = 1 ] || fail "not one marker"
    has_not hypervisor 'stop:'
}

for engine in shadow emulation; do
    add test "switching-$engine" 15 switching $engine
done
add test control-noise 20 noise

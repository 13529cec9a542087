# Boards without breakpoints, as `--no-breakpoints` makes one: emulation does what it can, the guest steps the rest at
# PL1, and what is left is refused.
# shellcheck shell=bash disable=SC2154

says_so() {
    has hypervisor '^mmioscope: .* emulation engine'
    has hypervisor '^mmioscope: no breakpoints \(mmioscope,no-breakpoints\): no engine but emulation; what it cannot do is stepped by SMC'
}

# Stock Debian needs no step: every device traced, nothing refused, nothing different.
no_breakpoints_linux() {
    proof mmioscope.steps=console,rtc,sysreg,irq,all --engine shadow --no-breakpoints
    says_so
    [ "$(statistic 0 stepped)$(statistic 1 stepped)" = 00 ] || fail "the guest was stepped"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has_not print 'no access: '
    rm "$out/print"
}

# A guest whose accesses need steps: those at PL1 are records; each other is an abort and a record, and does not reach
# the device.
no_breakpoints_steps() { # BOARD
    board=$1
    run_bare steps --no-breakpoints --trace all --access-log "$out/access.log"
    complete
    says_so
    verified
    [ "$(statistic 0 stepped)" = 8 ] || fail "not 8 steps but $(statistic 0 stepped)"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -cE ' no access: it needs a breakpoint, and the CPU has none' "$out/print")" = 5 ] ||
        fail "not 5 records of refused accesses"
}

add test no-breakpoints-linux 50 on_all_cpus no_breakpoints_linux
add test no-breakpoints-steps 3 no_breakpoints_steps vexpress-a15

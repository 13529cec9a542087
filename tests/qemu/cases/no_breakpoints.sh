# Boards without breakpoints, as `--no-breakpoints` makes one: emulation does what it can, the rest is refused.
# shellcheck shell=bash disable=SC2154

says_so() {
    has hypervisor '^mmioscope: .* emulation engine'
    has hypervisor '^mmioscope: no breakpoints \(mmioscope,no-breakpoints\): no engine but emulation; '
    [ "$(statistic 0 stepped)$(statistic 1 stepped)" = 00 ] || fail "the guest was stepped"
}

# Stock Debian needs no step: every device traced, nothing refused, nothing different.
no_breakpoints_linux() {
    proof mmioscope.steps=console,rtc,sysreg,irq,all --engine shadow --no-breakpoints
    says_so
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has_not print 'no access: '
    rm "$out/print"
}

# A guest whose accesses need steps: each of them is an abort and a record, and none reaches the device.
no_breakpoints_refused() {
    run_bare refused --no-breakpoints --trace all --access-log "$out/access.log"
    complete
    says_so
    verified
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -cE ' clcd@1f0000 +\+0x200 no access: it needs a step, and the CPU has no breakpoints' "$out/print")" = 5 ] ||
        fail "not 5 records of refused accesses"
}

add test no-breakpoints-linux 50 on_all_cpus no_breakpoints_linux
add test no-breakpoints-refused 3 no_breakpoints_refused

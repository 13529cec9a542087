# `mmioscope regs` on devices that a guest uses in ways that Debian's drivers do not.
# shellcheck shell=bash disable=SC2154

# regs_of GUEST DEVICE LINE...: the table of the device has lines like these, and its manual agrees.
regs_of() {
    local guest_name=$1 device=$2 line
    shift 2
    run_bare "$guest_name" --cpus 1
    complete
    "$mmioscope" regs "$device" --format csv "$out/trace.mmio" >"$out/regs" || fail "regs: exit status $?"
    for line; do has regs "$line"; done
    tests/regs/judge.py "$build" "$out/trace.mmio" --tell >"$out/judge" || fail "judge: $(xargs <"$out/judge")"
}

add test regs-command 4 regs_of alarms timer@110000 ',Timer1Load,.*,command,.*polled.* bits 0x1 changed' \
    ',Timer1IntClr,.*,clear,.*: Timer1RIS' ',Timer1RIS,.*,status,.*cleared by Timer1IntClr'
add test regs-read-clears 4 orangepi regs_of overruns serial@1c28c00 ',LSR,.*,read-clears,.?bits 0x2 '

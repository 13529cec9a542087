# Each way in which a step can end, on both boards: the guest prints the same as without a
# hypervisor.
# shellcheck shell=bash disable=SC2154

ends() { # BOARD ENGINE
    board=$1
    native_guest ends
    run_bare ends --engine "$2" --access-log "$out/access.log"
    complete
    same_as_native
    verified
}

# Page tables of the guest in a device: it finds the same through them, and each walk and access has its record.
tables() { # ENGINE
    native_guest tables
    run_bare tables --engine "$1" --access-log "$out/access.log"
    complete
    same_as_native
    verified
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -c ' clcd@1f0000 .*(table_walk)' "$out/print")" -ge 60 ] || fail "too few walks"
    has_not print 'clcd@1f0000 .*\(cache\)'
}

# Except for User mode, where a step is refused, and for watchpoints, which do not fire at what Hyp does.
ends_without_breakpoints() {
    local side
    board=virt # its bus answers with errors
    native_guest ends
    run_bare ends --no-breakpoints --access-log "$out/access.log"
    complete
    for side in native console; do
        grep -vE '^mmioscope: |usr in front of nothing|usr halfway|watchpoint|likewise|^  entry' "$out/$side" >"$out/$side.same"
    done
    [ "$(grep -c '^end: svc' "$out/native.same")" -ge 30 ] || fail "too few ends"
    diff "$out/native.same" "$out/console.same" >"$out/diff" || fail "lines differ: $(head -n 3 "$out/diff" | xargs)"
    verified
}

for engine in shadow emulation; do
    add test "ends-$engine" 10 on_all_cpus ends vexpress-a15 $engine
    add test "virt-ends-$engine" 10 on_all_cpus ends virt $engine
    add test "tables-$engine" 3 tables $engine
done
add test virt-ends-no-breakpoints 10 on_all_cpus ends_without_breakpoints

# The machine ends while other CPUs store several words at a time without a pause: each that reached the device is in the
# trace, which says so.
endrace() { # BOARD ENGINE CPUS MODE: 0 off, 1 reset
    local n
    board=$1
    for n in 1 2 3 4; do
        run --bare --kernel "$build/tests/guest/$board/endrace.bin" --engine "$2" --cpus "$3" --no-net --no-print \
            --access-log "$out/access.log" --qemu-arg=-device \
            --qemu-arg="loader,addr=$((ram + (32 << 20))),data=$((n * 5 << 5 | $4 << 4 | $3)),data-len=4"
        complete
        [ "$(events)" -ge 100 ] || fail "$(events) events"
        verified
    done
}
vexpress_endrace() { ram=0x80000000; endrace vexpress-a15 "$1" 2 "$2"; }
virt_endrace() { ram=0x40000000; endrace virt "$1" 4 "$2"; }
for engine in shadow emulation; do
    add test "endrace-off-$engine" 10 on_all_cpus vexpress_endrace $engine 0
    add nightly "endrace-reset-$engine" 10 on_all_cpus vexpress_endrace $engine 1
    add nightly "virt-endrace-off-$engine" 10 on_all_cpus virt_endrace $engine 0
    add test "virt-endrace-reset-$engine" 10 on_all_cpus virt_endrace $engine 1
done

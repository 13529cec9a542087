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

# Except for User mode, where a step is refused, and for watchpoints, which do not fire at what Hyp does.
ends_without_breakpoints() {
    local side
    board=virt # its bus answers with errors
    native_guest ends
    run_bare ends --no-breakpoints --access-log "$out/access.log"
    complete
    for side in native console; do
        grep -vE '^mmioscope: |usr in front of nothing|watchpoint|likewise|^  entry' "$out/$side" >"$out/$side.same"
    done
    [ "$(grep -c '^end: svc' "$out/native.same")" -ge 30 ] || fail "too few ends"
    diff "$out/native.same" "$out/console.same" >"$out/diff" || fail "lines differ: $(head -n 3 "$out/diff" | xargs)"
    verified
}

for engine in shadow emulation; do
    add test "ends-$engine" 10 on_all_cpus ends vexpress-a15 $engine
    add test "virt-ends-$engine" 10 on_all_cpus ends virt $engine
done
add test virt-ends-no-breakpoints 10 on_all_cpus ends_without_breakpoints

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

for engine in shadow emulation; do
    add test "ends-$engine" 10 on_all_cpus ends vexpress-a15 $engine
    add test "virt-ends-$engine" 10 on_all_cpus ends virt $engine
done

# Many CPUs use one page: complete with both engines, lossy with the baseline.
# shellcheck shell=bash disable=SC2154

# contention ENGINE ACCESSES ARGUMENT...: by all four CPUs of virt together. $out/shares has each CPU's share and
# waiting times.
contention() {
    local each=$(($2 / 4)) engine=$1 cpu
    shift 2
    # shellcheck disable=SC2034 # run_bare uses it
    board=virt
    # shellcheck disable=SC2046 # words
    run_bare hammer $(hammer_of "$each" 4) --engine "$engine" --trace all --policy stall \
        --access-log "$out/access.log" "$@"
    complete
    "$mmioscope" print --summary --shares "$out/trace.mmio" >"$out/shares" || fail "print: exit status $?"
    for cpu in 0 1 2 3; do has shares "^intc@8000000 +$cpu +$each +25\.0%"; done
    verified
}

# The baseline loses events under contention, warns about it, and never calls a trace complete. `virt` has PCI windows.
baseline() { # BOARD
    board=$1
    run_bare hammer --engine unprotect --trace all --access-log "$out/access.log"
    exits_with 1
    has console '^guest: done$'
    [ "$board" = virt ] || has hypervisor 'unprotect engine: .*LOSES EVENTS'
    has stdout '^incomplete: [0-9]+ events, 0 lost; the unprotect engine loses events'
    status=0
    "$mmioscope" print --summary "$out/trace.mmio" >"$out/summary" 2>&1 || status=$?
    exits_with 1
    has summary '^incomplete: .*the unprotect engine loses events'
    "$mmioscope" verify --counts "$out/trace.mmio" "$out/access.log" >"$out/counts"
    has counts ' missing [1-9][0-9]* extra 0 ' "the baseline misses nothing: no comparison shows anything"
}

add test baseline 5 on_all_cpus baseline vexpress-a15
add test baseline-virt 5 on_all_cpus baseline virt
add test contention-shadow 20 on_all_cpus contention shadow 120000
add test contention-emulation 15 on_all_cpus contention emulation 120000
add nightly contention-1m-shadow 120 contention shadow 1000000 --time-limit 500
add nightly contention-1m-emulation 60 contention emulation 1000000 --time-limit 250
add soak contention-10m-shadow 1200 contention shadow 10000000 --time-limit 5000
add soak contention-10m-emulation 600 contention emulation 10000000 --time-limit 2500

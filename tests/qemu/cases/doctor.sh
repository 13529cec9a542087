# The self-test image (hyp/doctor/), in place of the hypervisor. Its guest is its own.
# shellcheck shell=bash disable=SC2154,SC2034

# examine IMAGE ARGUMENT...: the report is in $out/report.
examine() {
    run --bare --kernel VERSION --hypervisor "$build/doctor-$1.elf" --no-net --no-print "${@:2}"
    exits_with 1
    local log=hypervisor
    [ -e "$out/hypervisor" ] || log=console
    tr -d '\r' <"$out/$log" >"$out/report"
    [ "$(tail -n 1 "$out/report")" = 'mmioscope: end of report' ] || fail "the report has no end"
}
verdict() { # PATTERN: of the line before the last one
    tail -n 2 "$out/report" | grep -Eq "^mmioscope: stop: $1\$" || fail "$(grep '^mmioscope: stop' "$out/report")"
}

# sound BOARD TREE IMAGE CPUS ENTRY: every check is made on every CPU, and passes.
sound() {
    board=$1 board_tree=$guest/$2.dtb
    local checked cpu
    examine "$3" --cpus "$4"
    verdict 'doctor: this board can trace, engine shadow'
    has report "^doctor: entry state: ok: $5, MMU and caches off$"
    for checked in board PSCI 'debug unit' counter 'step by the slow path on CPU 0' 'emulation on CPU 0' 'monitor over a trap' timer UART; do
        has report "^doctor: $checked: ok: "
    done
    for ((cpu = 0; cpu < $4; ++cpu)); do
        for checked in 'caches of' 'CNTFRQ of' 'NSACR of' 'step on'; do has report "^doctor: $checked CPU $cpu: ok: "; done
        has report "^doctor: ACTLR.SMP of CPU $cpu: note: clear" # QEMU has no such bit
        [ "$cpu" = 0 ] || has report "^doctor: CPU $cpu: ok: "
    done
    [ "$board" = raspi2b ] || has report '^doctor: GIC: ok: '
}

secure='Secure Supervisor, which sets SCR.HCE and goes to Hyp'
add test doctor-vexpress-a15 2 on_all_cpus sound vexpress-a15 vexpress-v2p-ca15-tc1 88000000 2 "$secure"
add test doctor-virt 2 on_all_cpus sound virt '' 48000000 2 Hyp
add test doctor-orangepi-pc 2 on_all_cpus sound orangepi-pc sun8i-h3-orangepi-pc 48000000 4 Hyp
add test doctor-imx7 2 on_all_cpus sound mcimx7d-sabre imx7d-sdb 88000000 2 Hyp
add test doctor-ast2600 2 on_all_cpus sound ast2600-evb aspeed-ast2600-evb 88000000 2 "$secure"
add test doctor-raspi2 2 on_all_cpus sound raspi2b bcm2836-rpi-2-b 08000000 4 "$secure"

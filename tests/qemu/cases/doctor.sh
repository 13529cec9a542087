# The self-test image (hyp/doctor/), in place of the hypervisor. Its guest is its own.
# shellcheck shell=bash disable=SC2154,SC2034

# examine ELF ARGUMENT...: the report is in $out/report.
examine() {
    run --bare --kernel VERSION --hypervisor "$build/$1.elf" --no-net --no-print "${@:2}"
    exits_with 1
    local log=hypervisor
    [ -e "$out/hypervisor" ] || log=console
    tr -d '\r' <"$out/$log" >"$out/report"
    [ "$(tail -n 1 "$out/report")" = 'mmioscope: end of report' ] || fail "the report has no end"
}
# verdict PATTERN: of the line before the last one, and of what `record` says when it comes over a wire.
verdict() {
    tail -n 2 "$out/report" | grep -Eq "^mmioscope: stop: $1\$" || fail "$(grep '^mmioscope: stop' "$out/report")"
    local expected=1 status=0
    [[ $1 != *can\ trace* ]] || expected=0
    sed 's/$/\r/' "$out/report" | "$mmioscope" record -f - >"$out/said" 2>&1 || status=$?
    [ "$status" = "$expected" ] || fail "record: exit status $status"
    tail -n 1 "$out/said" | grep -Eq "${1#doctor: }\$" || fail "record says: $(tail -n 1 "$out/said")"
}

# sound BOARD TREE IMAGE CPUS ENTRY: every check is made on every CPU, and passes.
sound() {
    board=$1 board_tree=$guest/$2.dtb
    local checked cpu
    examine "doctor-$3" --cpus "$4"
    verdict 'doctor: this board can trace, engine shadow'
    has report "^doctor: entry state: ok: $5, MMU and caches off$"
    for checked in board PSCI 'debug unit' counter 'step by the slow path on CPU 0' 'emulation on CPU 0' 'monitor over a trap' HVC timer UART; do
        has report "^doctor: $checked: ok: "
    done
    for ((cpu = 0; cpu < $4; ++cpu)); do
        for checked in 'caches of' 'alignment of' 'CNTFRQ of' 'NSACR of' 'step on'; do has report "^doctor: $checked CPU $cpu: ok: "; done
        has report "^doctor: ACTLR.SMP of CPU $cpu: note: clear" # QEMU has no such bit
        [ "$cpu" = 0 ] || has report "^doctor: CPU $cpu: ok: "
    done
    [ "$board" = raspi2b ] || has report '^doctor: GIC: ok: '
    has report "^doctor: TLB invalidation: ok: [1-9][0-9]* ns for .*, by [1-9][0-9]* ticks for [1-9][0-9]*000, while $(($4 - 1)) other CPUs run; "
}

secure='Secure Supervisor, which sets SCR.HCE and goes to Hyp'
add test doctor-vexpress-a15 2 on_all_cpus sound vexpress-a15 vexpress-v2p-ca15-tc1 88000000 2 "$secure"
add test doctor-virt 2 on_all_cpus sound virt '' 48000000 2 Hyp
add test doctor-orangepi-pc 2 on_all_cpus sound orangepi-pc sun8i-h3-orangepi-pc 48000000 4 Hyp
add test doctor-imx7 2 on_all_cpus sound mcimx7d-sabre imx7d-sdb 88000000 2 Hyp
add test doctor-ast2600 2 on_all_cpus sound ast2600-evb aspeed-ast2600-evb 88000000 2 "$secure"
add test doctor-raspi2 2 on_all_cpus sound raspi2b bcm2836-rpi-2-b 08000000 4 "$secure"

# From here on something is not as it should be.

# behind KIND BOARD IMAGE ARGUMENT...: entered by a boot loader of that KIND (tests/doctor/entry.S).
behind() {
    board=$2
    local at=$((16#$3))
    examine "tests/doctor/loader-$3" --qemu-arg=-device --qemu-arg="loader,file=$build/tests/doctor/image-$3.bin,addr=$at,force-raw=on" \
        --qemu-arg=-device --qemu-arg="loader,addr=$((at - (8 << 20))),data=$1,data-len=4" "${@:4}"
}
# A copy of the board's tree, changed by fdtput.
changed_tree() { # -t TYPE NODE PROPERTY VALUE [-p]
    cp "$board_tree" "$out/changed.dtb"
    fdtput "$1" "$2" "${@:6}" "$out/changed.dtb" "${@:3:3}" || fail "fdtput: exit status $?"
    board_tree=$out/changed.dtb
}

nonsecure() {
    behind 1 vexpress-a15 88000000
    verdict 'in Non-secure Supervisor mode.* U-Boot with ARMV7_NONSEC and ARMV7_VIRT.* TF-A .*MODE32_hyp.*'
}
no_extensions() { # MACHINE
    board=${1%%,*}
    local image=88000000
    [ "$board" = vexpress-a15 ] || image=48000000
    examine "doctor-$image" --qemu-arg=-M --qemu-arg="$1"
    verdict 'this CPU has no Virtualization Extensions.*'
}
# The tree says that firmware answers, and the image is entered in Secure Supervisor mode.
no_firmware() {
    changed_tree -t s /psci compatible arm,psci-1.0 -p
    fdtput -t s "$board_tree" /psci method smc
    examine doctor-88000000
    verdict 'in Secure state, and nobody below to answer PSCI calls: start this board in Hyp'
}
frequency_of_one() {
    behind 2 vexpress-a15 88000000
    has report '^doctor: CNTFRQ of CPU 1: ok: 62500000 Hz$' # in Secure state the image has set it
    verdict 'doctor: this board can trace, engine shadow'
}
frequency_of_tree() {
    changed_tree -t u /timer clock-frequency 62500000
    behind 3 vexpress-a15 88000000
    has report '^doctor: CNTFRQ of CPU 0: ok: 62500000 Hz$'
    has report '^doctor: CNTFRQ of CPU 1: ok: 62500000 Hz$'
}
no_frequency() {
    behind 3 virt 48000000
    has report '^doctor: counter: FAILED: CNTFRQ is 0; the boot loader must set it .*COUNTER_FREQUENCY'
    verdict 'doctor: this board cannot trace: counter'
}
alone() {
    behind 4 vexpress-a15 88000000
    has report '^doctor: CPU 1: FAILED: it did not come within five seconds; '
    verdict 'doctor: this board cannot trace: CPU 1'
}
secure_interrupts() {
    behind 6 vexpress-a15 88000000
    has report '^doctor: GIC: FAILED: .*must be in Group 1'
    verdict 'doctor: this board cannot trace: GIC'
}
no_hce() {
    behind 7 vexpress-a15 88000000
    has report '^doctor: HVC: note: undefined: SCR.HCE is clear; '
}
mmu_on() { # BOARD IMAGE MODE
    behind 5 "$1" "$2"
    has report "^doctor: entry state: ok: $3, MMU or caches on$"
    verdict 'doctor: this board can trace, engine shadow'
}

# The board can trace, but not by steps.
no_steps() { # BOARD TREE IMAGE
    board=$1 board_tree=$guest/$2.dtb
    local cpu
    examine "doctor-$3" --no-breakpoints
    verdict 'doctor: this board can trace, engine emulation'
    has report '^doctor: debug unit: note: mmioscope,no-breakpoints: no engine but emulation'
    for cpu in 0 1; do
        has report "^doctor: emulation on CPU $cpu: ok: 1000 reads"
        has report "^doctor: step by SMC on CPU $cpu: ok: 1000 reads"
    done
    has_not report '^doctor: (step on|step by the|monitor)'
}

# Debian's U-Boot, in Hyp, boots the image as it boots a kernel; the tree is where `bootm` has put it.
by_uboot() {
    local machine=(-M "virt,virtualization=on,gic-version=2,highmem=off" -cpu cortex-a15 -smp 2 -m 512 -nic none)
    qemu-system-arm "${machine[@]}" -M dumpdtb="$out/whole.dtb" 2>/dev/null
    dtc -q -I dtb -O dtb "$out/whole.dtb" -o "$out/board.dtb" || fail "QEMU gives no tree"
    mkimage -A arm -O linux -T kernel -C none -a 0x48000000 -e 0x48000000 -d "$build/tests/doctor/image-48000000.bin" \
        "$out/image" >"$out/mkimage" || fail "mkimage: $(tail -n 1 "$out/mkimage")"
    mkfifo "$out/keyboard"
    exec 3<>"$out/keyboard"
    qemu-system-arm "${machine[@]}" -display none -monitor none -bios "$build/guest-u-boot/u-boot.bin" \
        -device loader,file="$out/image",addr=0x43000000,force-raw=on \
        -device loader,file="$out/board.dtb",addr=0x44000000,force-raw=on \
        -chardev stdio,id=console,logfile="$out/console" -serial chardev:console <&3 >/dev/null 2>&1 &
    pid=$!
    await 'stop autoboot' 1 "$out/console"
    printf ' ' >&3
    await '(^|[^=])=> ' 1 "$out/console"
    printf 'setenv fdt_high ffffffff; bootm 43000000 - 44000000\r' >&3
    await 'mmioscope: end of report' 1 "$out/console"
    kill "$pid"
    tr -d '\r' <"$out/console" >"$out/report"
    has report '^doctor: entry state: ok: Hyp, MMU and caches off$'
    has report '^doctor: CPU 1: ok: '
    verdict 'doctor: this board can trace, engine shadow'
}

# until_reported QEMU-ARGUMENT...: QEMU runs the self-test alone; its report is in $out/report.
until_reported() {
    timeout 60 qemu-system-arm -display none -monitor none -nic none -serial "file:$out/console" "$@" 2>"$out/qemu" &
    pid=$!
    await 'mmioscope: end of report' 1 "$out/console"
    kill "$pid"
    tr -d '\r' <"$out/console" >"$out/report"
}
# The UART is given by hand (tests/doctor/doctor.mk), since the tree has none.
unknown_uart() {
    local machine=(-M "virt,virtualization=on,gic-version=2,highmem=off" -cpu cortex-a15 -smp 2 -m 512)
    qemu-system-arm "${machine[@]}" -M dumpdtb="$out/whole.dtb" -nic none 2>/dev/null
    dtc -q -I dtb -O dtb "$out/whole.dtb" -o "$out/board.dtb" || fail "QEMU gives no tree"
    fdtput -r "$out/board.dtb" /pl011@9000000 || fail "fdtput: exit status $?"
    until_reported "${machine[@]}" -kernel "$build/tests/doctor/pl011-48000000.elf" \
        -device "loader,file=$out/board.dtb,addr=0x48e00000,force-raw=on"
    has report '^doctor: UART: ok: '
    verdict 'doctor: this board can trace, engine shadow'
}
# There is no tree at all.
no_tree() { # MACHINE ELF MEMORY
    until_reported -M "$1" -m "$3" -kernel "$build/tests/doctor/$2.elf"
    verdict 'no device tree at r2, nor 14 MiB above the image: the boot loader must load it'
}

# wild_r2 MACHINE PATTERN QEMU-ARGUMENT...: r2 leads to where the bus answers with an error.
wild_r2() {
    until_reported -M "$1" -cpu cortex-a15 -m 512 -kernel "$build/tests/doctor/loader-48000000.elf" \
        -device "loader,file=$build/tests/doctor/pl011-48000000.elf" \
        -device loader,addr=0x47800000,data=0x0b00000000000008,data-len=8 "${@:3}"
    [ "$(grep -c '^mmioscope: stop: ' "$out/report")" = 1 ] || fail "not one reason to stop"
    has report "^mmioscope: stop: $2"
}
# It is not read if there is a tree at the image's place for it.
wild_r2_and_tree() {
    local machine=virt,virtualization=on,gic-version=2,highmem=off
    qemu-system-arm -M "$machine,dumpdtb=$out/board.dtb" -cpu cortex-a15 -smp 1 -m 512 -nic none 2>/dev/null
    wild_r2 "$machine" 'doctor: this board can trace, engine shadow$' \
        -device "loader,file=$out/board.dtb,addr=0x48e00000,force-raw=on"
}

add test doctor-wild-r2 1 wild_r2 virt,virtualization=on,gic-version=2,highmem=off 'data abort on CPU 0$'
add test doctor-wild-r2-secure 1 wild_r2 virt,secure=on,gic-version=2,highmem=off \
    'data abort before Hyp mode, pc=0x480[0-9a-f]{5} .*DFAR=0x0b000000: no device tree was found until then; is r2 its address\?$'
add test doctor-wild-r2-and-tree 2 wild_r2_and_tree
add test doctor-uart-pl011 4 on_all_cpus unknown_uart
add test doctor-uart-8250 1 no_tree orangepi-pc uart8250-48000000 1G
add test doctor-uart-imx 1 no_tree mcimx7d-sabre imx-88000000 512M
add nightly doctor-uboot 8 by_uboot
add test doctor-nonsecure 1 nonsecure
add test doctor-no-hyp 1 no_extensions vexpress-a15,secure=off,virtualization=off
add nightly doctor-no-hyp-virt 1 no_extensions virt,virtualization=off,gic-version=2,highmem=off
add test doctor-no-firmware 1 no_firmware
add test doctor-frequency 2 on_all_cpus frequency_of_one
add nightly doctor-frequency-of-tree 2 on_all_cpus frequency_of_tree
add test doctor-no-frequency 1 no_frequency
add test doctor-no-breakpoints 2 on_all_cpus no_steps vexpress-a15 vexpress-v2p-ca15-tc1 88000000
add nightly doctor-no-breakpoints-virt 2 on_all_cpus no_steps virt '' 48000000
add test doctor-alone 7 alone
add test doctor-secure-interrupts 3 secure_interrupts
add nightly doctor-no-hce 7 no_hce
add test doctor-mmu-on 2 on_all_cpus mmu_on vexpress-a15 88000000 "$secure"
add test doctor-mmu-on-hyp 2 on_all_cpus mmu_on virt 48000000 Hyp

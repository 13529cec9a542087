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

# A boot whose keyboard and mouse are used, and nothing else.
typed() { # NAME SEED
    local run_pid
    rm -f "$out/monitor" "$out/console"
    run --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" --append "console=ttyAMA0 panic=-1 rdinit=/init-input" \
        --trace kmi@60000,kmi@70000 --no-print --expect 'guest: done' --qemu-arg=-monitor \
        --qemu-arg="unix:$out/monitor,server=on,wait=off" &
    run_pid=$!
    until_console $run_pid 'guest: ready'
    tests/qemu/typist.py "$out/monitor" 300 "$2" || fail "typist.py: exit status $?"
    wait $run_pid
    has stdout '^complete: [0-9]+ events, 0 lost$'
    mv "$out/trace.mmio" "$out/$1.mmio"
}

# A model of the keyboard's and the mouse's controller, which learnt from one boot, foretells another one. What is typed
# is data.
input_foretold() {
    local root=$out/root tree # tree: for modules.sh
    tree=$guest/modules/lib/modules/$(cat "$guest/release")
    mkdir -p "$root/lib/modules"
    # shellcheck disable=SC1091,SC2034
    . guest-linux/modules.sh
    (add input ambakmi psmouse evdev) || fail "modules"
    {
        init_head
        echo 'while read -r module; do insmod "/lib/modules/$module"; done </lib/modules/input'
        # The drivers look for their devices in a thread of the kernel.
        echo 'until [ "$(ls /dev/input 2>/dev/null | grep -c event)" -ge 2 ]; do usleep 100000; done'
        echo 'cat /dev/input/event0 >/dev/null & cat /dev/input/event1 >/dev/null &'
        echo 'usleep 500000; echo "guest: ready"; sleep 25; echo "guest: done"; poweroff -f'
    } >"$root/init-input"
    chmod 755 "$root/init-input"
    (cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) | cat "$guest/initrd.img" - >"$out/initrd.img"
    typed learnt 1
    typed other 2
    tests/regs/score.py "$build" "$out/learnt.mmio" "$out/other.mmio" kmi=0.85 >"$out/score" || fail "score: $(xargs <"$out/score")"
}

# A model that learnt from a boot of 6.1 foretells another boot, of the same kernel or another one, in which all devices are
# used at once. $out/score is what docs/regs.md says.
boot_foretold() { # GUEST STEPS DEVICE=SHARE...
    local steps=mmioscope.steps=$2 kernel
    for kernel in "$guest" "$1"; do
        [ ! -e "$out/trace.mmio" ] || mv "$out/trace.mmio" "$out/learnt.mmio"
        run_linux "$steps" --no-print --kernel "$kernel/vmlinuz" --initrd "$kernel/initrd.img"
        complete
    done
    score "${@:3}"
}
score() { # DEVICE=SHARE...; interrupts are input
    local gic=interrupt-controller
    [ "$board" != virt ] || gic=intc
    tests/regs/score.py "$build" "$out/learnt.mmio" "$out/trace.mmio" "$@" >"$out/score" || fail "score: $(xargs <"$out/score")"
    tests/regs/score.py "$build" "$out/learnt.mmio" "$out/trace.mmio" $gic=0.6 --interrupts-given >>"$out/score" ||
        fail "score: $(tail -n 2 "$out/score" | xargs)"
}
# Nobody can foretell the clock's first read, the date: 96 % takes 50 situations and more.
kernel_foretold() { # GUEST
    boot_foretold "$1" console,rtc,sysreg,irq,all mmc=0.96 serial0=0.96 sysreg=0.96 rtc=0.93 kmi=0.92 ethernet=0.87
}
virt_foretold() { boot_foretold "$guest" console,rtc,irq pl011=0.96 pl031=0.85 pl061=0.96 pcie=0.96; }

add nightly regs-input 120 input_foretold
add nightly regs-score-again 120 kernel_foretold "$guest"
for suite in rt bullseye trixie; do # 6.1 with PREEMPT_RT, 5.10, 6.12
    add nightly regs-score-$suite 120 with_guest $suite kernel_foretold
done
add nightly regs-score-virt 60 virt virt_foretold

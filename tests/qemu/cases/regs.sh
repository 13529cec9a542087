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

# A model that learnt from a boot of 6.1 foretells one of another kernel, with card, network and clock at once.
kernel_foretold() { # GUEST
    local steps=mmioscope.steps=console,rtc,sysreg,irq,all
    run_linux $steps --no-print
    complete
    mv "$out/trace.mmio" "$out/learnt.mmio"
    run_linux $steps --no-print --kernel "$1/vmlinuz" --initrd "$1/initrd.img"
    complete
    # Nobody can foretell the clock's first read, the date.
    tests/regs/score.py "$build" "$out/learnt.mmio" "$out/trace.mmio" mmc=0.96 serial0=0.96 sysreg=0.96 rtc=0.93 \
        ethernet=0.87 >"$out/score" || fail "score: $(xargs <"$out/score")"
}

add nightly regs-input 120 input_foretold
for suite in bullseye trixie; do # 5.10 and 6.12
    add nightly regs-score-$suite 120 with_guest $suite kernel_foretold
done

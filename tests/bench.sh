#!/bin/bash
# What tracing costs, in instructions: one CPU, QEMU counting instructions (-icount), so that the figures
# do not depend on the machine they are measured on. Usage: tests/bench.sh BUILD
set -eu
build=$1
out=$build/tests/bench
mkdir -p "$out"

# The counter ticks once in 16 instructions: 62.5 MHz, 1 ns each. The machine's last access, the write that
# switches it off, is in the system registers, so their last time is the length of the boot.
instructions_per_us=1000

boot() { # NAME ARGS...
    local name=$1
    shift
    "$build/mmioscope" run --cpus 1 --no-net --no-print --time-limit 600 \
        --kernel "$build/guest/vmlinuz" --dtb "$build/guest/vexpress-v2p-ca15-tc1.dtb" \
        --initrd "$build/guest/initrd.img" --append 'console=ttyAMA0 panic=-1 mmioscope.steps=none' \
        --expect 'mmioscope-guest: done' --console-log "$out/$name.console" -o "$out/$name.mmio" "$@" \
        --qemu-arg=-icount --qemu-arg=shift=0,sleep=off \
        --qemu-arg=-rtc --qemu-arg=base=2024-01-01,clock=vm > "$out/$name.log" || {
        echo "FAILED bench: $name: $(tail -n 1 "$out/$name.log")"
        exit 1
    }
}
end_us() { awk '$1 == "sysreg@10000" { print int($NF * 1000000) }' "$out/$1.log"; }
events() { sed -nE 's/^complete: ([0-9]+) events.*/\1/p' "$out/$1.log"; }

bytes() { stat -c %s "$out/$1.wire"; }
streamed() { boot "$1" --engine "$2" --stream serial2 --stream-file "$out/$1.wire"; }

boot nothing --trace sysreg@10000
boot shadow --engine shadow
boot emulation --engine emulation
streamed shadow-uart shadow
streamed emulation-uart emulation

base=$(end_us nothing)
printf '%-15s %9s %22s %26s %17s\n' engine events 'boot, M instructions' 'instructions per access' 'bytes per access'
printf '%-15s %9s %22s\n' "(one page)" "$(events nothing)" "$((base * instructions_per_us / 1000000))"
for row in shadow emulation shadow-uart emulation-uart; do
    total=$(end_us $row)
    sent=
    [ ! -e "$out/$row.wire" ] || sent=$(awk "BEGIN { printf \"%.2f\", $(bytes $row) / $(events $row) }")
    printf '%-15s %9s %22s %26s %17s\n' $row "$(events $row)" "$((total * instructions_per_us / 1000000))" \
        "$(((total - base) * instructions_per_us / $(events $row)))" "$sent"
done
echo "bench: 5 passed, 0 failed"

# Pages that move between CPUs, compared with what QEMU's CPUs use in turn (move_log.c), while all devices are traced.
# shellcheck shell=bash disable=SC2154

# move_log: sets $logged, arguments of run.
move_log() {
    local hyp=$(($(ram) + 0x8000000)) elf state
    elf=$build/hyp-$(printf %08x $hyp).elf
    state=$(arm-none-eabi-nm "$elf" | awk '$3 == "boot_stacks_end" { print "0x" $1 }')
    logged=(--qemu-arg=-accel --qemu-arg=tcg,thread=single --qemu-arg=-plugin
        --qemu-arg="file=$build/tests/move-log.so,out=$out/moves.log,begin=$(ram),size=0x20000000,hyp=$hyp,state=$state")
}

# Each use of a page that another CPU has used in another way has its record, FEWEST at least; of the records at most 1 in
# 50 were not needed.
moves_judged() { # FEWEST
    "$mmioscope" export --as csv-number -F move -o "$out/moves.csv" "$out/trace.mmio" 2>/dev/null ||
        fail "export: exit status $?"
    tests/qemu/moves.py "$out/moves.log" "$out/moves.csv" >"$out/judge" ||
        fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    tail -n 1 "$out/judge" | awk -v fewest="$1" '{ exit !($1 >= fewest && $(NF - 2) * 50 <= $1) }' || fail "$(tail -n 1 "$out/judge")"
}

moving_bare() { # ARGUMENT...
    local logged
    move_log
    run_bare moves --pages all --trace all --access-log "$out/access.log" "${logged[@]}" "$@"
    complete
    verified
    moves_judged 5
}

# Stock Debian.
moving() { # FEWEST ARGUMENT...
    local fewest=$1
    shift
    run_linux mmioscope.steps=none --pages all --access-log "$out/access.log" "$@"
    complete
    verified
    "$mmioscope" print -F move "$out/trace.mmio" >"$out/moves" || fail "print: exit status $?"
    [ "$(wc -l <"$out/moves")" -ge "$fewest" ] || fail "few: $(wc -l <"$out/moves")"
}

# Its boot up to a line of its console: in one thread of QEMU it gets no further than to where it stops all CPUs.
moving_judged() { # LINE FEWEST
    local logged
    move_log
    run --kernel "$guest/vmlinuz" --initrd "$guest/initrd.img" --append 'console=ttyAMA0 earlycon=pl011,0x1c090000' --stop-at "$1" \
        --pages all "${logged[@]}"
    complete
    moves_judged "$2"
}

for engine in shadow emulation; do
    add test "moving-bare-$engine" 20 on_all_cpus moving_bare --engine $engine
    add nightly "moving-virt-$engine" 90 virt moving 40000 --engine $engine --cpus 4
done
add test moving 40 on_all_cpus moving 10000
add test moving-judged 40 moving_judged 'Brought up 1 node, 2 CPUs' 2000
add nightly moving-judged-boot 300 moving_judged 'clk: Disabling unused clocks' 40000

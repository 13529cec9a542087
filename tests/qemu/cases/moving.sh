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
moves_judged() { # FEWEST [ARGUMENT of moves.py]
    "$mmioscope" export --as csv-number -F move -o "$out/moves.csv" "$out/trace.mmio" 2>/dev/null ||
        fail "export: exit status $?"
    tests/qemu/moves.py "$out/moves.log" "$out/moves.csv" "${@:2}" >"$out/judge" ||
        fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    tail -n 1 "$out/judge" | awk -v fewest="$1" '{ exit !($1 >= fewest && $(NF - 4) * 50 <= $1) }' || fail "$(tail -n 1 "$out/judge")"
}

moving_bare() { # ARGUMENT...
    local logged
    move_log
    run_bare moves --pages all --trace all --access-log "$out/access.log" "${logged[@]}" "$@"
    complete
    verified
    moves_judged 5
}
# With CPU_OFF and CPU_ON.
moving_power() {
    moving_bare "$@"
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -c ' cpu 1 started' "$out/print")" = 2 ] || fail "CPU 1 was not started again"
}

# Each record says of its page what those before do; FEWEST at least.
moves_agree() { # FEWEST [FILE [ARGUMENT of moves.py]]
    "$mmioscope" export --as csv-number -F move -o "$out/moves.csv" "$out/${2:-trace.mmio}" 2>/dev/null || fail "export: exit status $?"
    tests/qemu/moves.py "$out/moves.csv" "${@:3}" >"$out/judge" || fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    [ "$(cut -d ' ' -f 1 <<<"$(tail -n 1 "$out/judge")")" -ge "$1" ] || fail "few: $(tail -n 1 "$out/judge")"
}

# Stock Debian.
moving() { # FEWEST ARGUMENT...
    local fewest=$1
    shift
    run_linux mmioscope.steps=none --pages all --access-log "$out/access.log" "$@"
    complete
    verified
    moves_agree "$fewest"
    sed 2~100d "$out/moves.csv" >"$out/changed.csv"
    ! tests/qemu/moves.py "$out/changed.csv" >"$out/judge" || fail "records left out are not noticed"
}

# A CPU goes off and on: meanwhile the others take its pages. On vexpress it leaves the coherent CPUs, on virt it is
# powered down.
moving_hotplug() {
    hotplug 30 --pages all "$@"
    moves_agree 40000
}

# A second kernel finds the pages where the first one's CPUs have left them.
moving_kexec() {
    resets_kexec_run --trace all --pages all "$@"
    verified
    resets_kexec_power trace.mmio
    moves_agree 40000
}

# After a reset nobody has any.
moving_resets() {
    resets_boots 2 reboot --pages all "$@"
    moves_agree 20000
    moves_agree 20000 trace.2.mmio
}

# Its boot up to a line of its console: in one thread of QEMU it gets no further than to where it stops all CPUs.
moving_judged() { # LINE FEWEST ARGUMENT...
    local logged
    move_log
    run --kernel "$guest/vmlinuz" --initrd "$guest/initrd.img" --append 'console=ttyAMA0 earlycon=pl011,0x1c090000' --stop-at "$1" \
        --pages all "${logged[@]}" "${@:3}"
    complete
    [ ! -e "$out/probes.csv" ] || probes_judged 20
    moves_judged "$2" stopped $(cd "$out" && ls probes.csv calls.csv 2>/dev/null | sed "s,^,probes=$out/,")
}
moving_judged_probed() { # LINE FEWEST
    local probes=(--probe 'vfs_*' --probe 'kmem_cache_*' --probe 'mutex_*')
    { # a page waits for its first fetch without a record
        echo type,text,pc,lr
        "$mmioscope" at-start --kernel "$guest/vmlinuz" --memory "$(ram)" "${probes[@]}" | grep -o '0xc[0-9a-f]*' | sed 's/.*/change,probe &,,/'
    } >"$out/probes.csv"
    moving_judged "$@" --qemu-arg=-plugin "--qemu-arg=file=$build/tests/probe-log.so,out=$out/probe.log" --returns "${probes[@]}"
}

moving_judged_of() { # GUEST LINE FEWEST
    local guest=$1
    moving_judged "${@:2}"
}

for engine in shadow emulation; do
    add test "moving-bare-$engine" 20 on_all_cpus moving_bare --engine $engine
    add nightly "moving-power-$engine" 20 virt on_all_cpus moving_power --engine $engine
    add nightly "moving-virt-$engine" 90 virt moving 40000 --engine $engine --cpus 4
done
add nightly moving-hotplug 90 on_all_cpus moving_hotplug
add nightly moving-hotplug-virt 90 virt on_all_cpus moving_hotplug
add nightly moving-kexec 60 virt moving_kexec
add nightly moving-resets 60 virt moving_resets
add test moving 40 on_all_cpus moving 10000
add test moving-judged 40 moving_judged 'Brought up 1 node, 2 CPUs' 2000
# Pages that move too often are free for a while: the records say when.
moving_limited() { # MOVES LINE FEWEST
    moving_judged "${@:2}" --pages "limit=$1"
    has judge ' [1-9][0-9]* times free, '
}
moving_limited_boot() { # MOVES FEWEST
    moving "$2" --pages "limit=$1"
    has judge ' [1-9][0-9]* times free, '
}
add nightly moving-limited-boot 90 on_all_cpus moving_limited_boot 5 10000
add nightly moving-limited 60 moving_limited 2 'Brought up 1 node, 2 CPUs' 1000
add nightly moving-judged-boot 300 moving_judged 'clk: Disabling unused clocks' 40000
add nightly moving-judged-probed 60 moving_judged_probed 'Brought up 1 node, 2 CPUs' 2000
add nightly moving-judged-armmp 60 with_guest armmp moving_judged_of 'Brought up 1 node, 2 CPUs' 2000

# While functions have probes, each call and return, and no other, is a record, too.
moving_probed() {
    probed 60 --pages all --returns --probe start_kernel --probe 'vfs_*' --probe 'kmem_cache_*,sample=7' --probe '__sched*' \
        --probe '_raw_spin_*,sample=50' --probe 'mutex_lock' --probe 'd_*' "$@"
    moves_agree 20000 trace.mmio "probes=$out/calls.csv"
}
for engine in shadow emulation; do
    add nightly "moving-probed-$engine" 90 on_all_cpus moving_probed --engine $engine
done

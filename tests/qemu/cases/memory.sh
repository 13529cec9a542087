# Watched memory, compared with all loads and stores that QEMU makes there (memory_log.c), while all devices are traced.
# shellcheck shell=bash disable=SC2154

# Where memory begins; the hypervisor is 128 MiB above.
ram() { if [ "$board" = virt ]; then echo 0x40000000; else echo 0x80000000; fi; }

# memory_log BEGIN SIZE: sets $logged, arguments of run.
memory_log() {
    logged=(--qemu-arg=-plugin --qemu-arg="file=$build/tests/memory-log.so,out=$out/memory.log,begin=$1,size=$2")
}

# The accesses in $out/memory.log are those in the trace, FEWEST at least; of BEGIN+SIZE, if not all of it was watched.
memory_judged() { # FEWEST [BEGIN+SIZE...]
    "$mmioscope" export --as csv-number -F 'dev==memory' -o "$out/memory.csv" "$out/trace.mmio" 2>/dev/null ||
        fail "export: exit status $?"
    hyp_of_board=$(($(ram) + 0x8000000)) # and what lies below its trace area
    tests/qemu/memory.py "$out/memory.log" "$out/memory.csv" $hyp_of_board $((hyp_of_board + 0x1000000)) "${@:2}" >"$out/judge" ||
        fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    "$mmioscope" sharing --memory --by line "$out/trace.mmio" >"$out/moves" 2>/dev/null || fail "sharing: exit status $?"
    tail -n 1 "$out/moves" | grep -qF "$(grep '^moves by' "$out/judge") changed by another master: 0" ||
        fail "$(grep '^moves by' "$out/judge") by the judge: $(tail -n 1 "$out/moves")"
    [ "$(cut -d ' ' -f 1 <<<"$(tail -n 1 "$out/judge")")" -ge "$1" ] || fail "few: $(tail -n 1 "$out/judge")"
}

# A page that all CPUs use all the time, by the name of what lies there in Debian 6.1: stacks of the interrupt modes, and
# locks. Every access, those of exclusives among them, in the order in which they happened.
watched() { # FEWEST ARGUMENT...
    local fewest=$1 logged
    shift
    memory_log $(($(ram) + 0x17ae000)) 0x1000
    printf 'c0208000 T _stext\nc17ae000 B irq_stacks\nc17af000 B next\n' >"$out/System.map"
    run_linux mmioscope.steps=none --watch irq_stacks --symbols "$out/System.map" --access-log "$out/access.log" "${logged[@]}" "$@"
    complete
    verified
    memory_judged "$fewest"
}

# Of some bytes of that page, of which others are used all the time.
watched_bytes() { # FEWEST BEGIN+SIZE...
    local fewest=$1 logged part watches=()
    shift
    memory_log 0x817ae000 0x1000
    for part; do watches+=(--watch "$part"); done
    run_linux mmioscope.steps=none "${watches[@]}" --access-log "$out/access.log" "${logged[@]}"
    complete
    verified
    memory_judged "$fewest" "$@"
}

# The judge finds an access without a record, a record without that, and values that were not stored.
watched_judge() {
    watched "$@"
    local change
    for change in '$5 == "r" && !n++ { next } 1' '$5 == "w" && !n++ { print } 1' \
        '$5 == "r" && ++n % 1000 == 0 { $11 = "77" $11 } 1'; do
        awk -F, -v OFS=, "$change" "$out/memory.csv" >"$out/changed.csv"
        ! tests/qemu/memory.py "$out/memory.log" "$out/changed.csv" $hyp_of_board $((hyp_of_board + 0x1000000)) >"$out/judge" ||
            fail "$change: not noticed"
    done
    # By the names of variables, of which the file has those that were used.
    "$mmioscope" print -F 'reg==irq_stacks && func==_raw_spin_lock_irqsave && dir==w' "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has print ' W4 memory +irq_stacks\+3488 +0x[0-9a-f]+ +_raw_spin_lock_irqsave\+0x[0-9a-f]+ <- __patch_text_real'
}

# By requests over the stream's wire, while the guest runs: no access is missed between a watch and its end.
watched_asked() {
    local folder running logged n asked=0
    folder=$(mktemp -d)
    memory_log 0x817ae000 0x1000
    printf 'c0208000 T _stext\nc17ae000 B irq_stacks\nc17af000 B next\n' >"$out/System.map"
    run_linux mmioscope.steps=all --watches --stream serial2 --ctl "$folder/ctl" --trace none "${logged[@]}" &
    running=$!
    until_true 120 test -s "$out/console" || fail "the console stays empty"
    ctl() { "$mmioscope" ctl --timeout 60 "unix:$folder/ctl" --kernel "$out/System.map" "$@" >>"$out/ctl" 2>&1; }
    ctl unwatch irq_stacks && asked=1
    ctl watch nothing && asked=1
    ctl watch 0x1c090000+4K && asked=1
    for n in 1 2 3 4; do
        ctl watch irq_stacks || asked=1
        sleep 0.2
        ctl unwatch irq_stacks || asked=1
    done
    wait "$running"
    rm -r "$folder"
    [ "$asked" = 0 ] || fail "ctl: $(tail -n 1 "$out/ctl")"
    has ctl 'refused: no watched memory is there$'
    has ctl 'nothing: no such variable; give '
    has ctl 'refused: that is not all memory of the guest, '
    has stdout '^complete: [0-9]+ events, 0 lost$'
    "$mmioscope" export --as csv-number -F 'dev==memory || type==change' -o "$out/memory.csv" "$out/trace.mmio" 2>/dev/null || fail "export: exit status $?"
    tests/qemu/memory.py "$out/memory.log" "$out/memory.csv" 0x88000000 0x89000000 stretches >"$out/judge" ||
        fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    has judge '^[1-9][0-9]{2,} accesses, .* 0 different'
}

# A device writes to watched memory: the loads that find what it wrote, and only those, are not as stored last.
watched_dma() { # ENGINE
    board=virt
    local guest=$build/tests/guest/virt/dma.elf queue own
    queue=$(arm-none-eabi-nm "$guest" | sed -nE 's/^([0-9a-f]+) b .*queueE$/0x\1/p')
    own=$(arm-none-eabi-nm "$guest" | sed -nE 's/^([0-9a-f]+) b .*ownE$/0x\1/p')
    run_bare dma --engine "$1" --watch "$queue+12K" --qemu-arg=-device --qemu-arg=virtio-rng-device \
        --qemu-arg=-device --qemu-arg="loader,addr=$((0x42000000)),data=$((own)),data-len=4"
    complete
    has console '^dma: again'
    "$mmioscope" sharing --memory --by line --format csv "$out/trace.mmio" | cut -d, -f1,18 >"$out/changed" || fail "sharing: exit status $?"
    [ "$(grep -v ',$' "$out/changed" | sort | xargs)" = "$(printf '0x%x,2 0x%x,4 line,changed' $((queue + 4096)) $((own)))" ] ||
        fail "$(xargs <"$out/changed")"
    "$mmioscope" why "$("$mmioscope" sharing --memory --by line --format csv "$out/trace.mmio" 2>/dev/null | sed -n "s/^$own,.*,//p")" "$out/trace.mmio" >"$out/why-own" ||
        fail "why: exit status $?"
    has why-own '^0x[0-9a-f]+ changed since the previous write, by another master: no CPU stored it$'
}

# What the guest itself depends on: page tables, vectors, stacks, code. It computes what it computes without a watch.
watched_hostile() { # ENGINE
    run_bare watched --engine "$1" --cpus 2 --watches "${@:2}"
    complete
    has console '^watched: [0-9]+ works'
    "$mmioscope" print -F 'type==change' "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has print 'unwatch 0x[0-9a-f]+\+0x1000: the guest executes what lies there'
    has print 'unwatch 0x[0-9a-f]+\+0x1000: a page table of the guest.s code lies there'
    has print 'unwatch 0x[0-9a-f]+\+0x1000: an instruction accessed it in a way that cannot be followed'
}

add test watched 40 watched_judge 400000
for engine in shadow emulation; do
    add test "watched-dma-$engine" 3 watched_dma $engine
    add test "watched-hostile-$engine" 5 on_all_cpus watched_hostile $engine
    add nightly "watched-virt-$engine" 90 virt watched 400000 --engine $engine --cpus 4
done
add nightly watched-emulation 60 watched 400000 --engine emulation
# With a hypervisor that clears the CPU's monitor whenever it returns, as hardware may: exclusives make progress.
watched_clrex() { # ENGINE
    watched 400000 --engine "$1" --cpus 4 --hypervisor "$build/tests/core/clrex-48000000.elf"
}
watched_hostile_clrex() { # ENGINE
    watched_hostile "$1" --hypervisor "$build/tests/core/clrex-88000000.elf"
}
exclusives_clrex() { # ENGINE
    exclusives "$1" --hypervisor "$build/tests/core/clrex-88000000.elf"
}
for engine in shadow emulation; do
    add test "watched-hostile-clrex-$engine" 5 on_all_cpus watched_hostile_clrex $engine
    add test "exclusives-clrex-$engine" 10 on_all_cpus exclusives_clrex $engine
    add nightly "watched-clrex-$engine" 90 virt watched_clrex $engine
done
add nightly watched-bytes 60 watched_bytes 10000 0x817aeb02+0x31 0x817aecc0+4 0x817aee40+0x3f
add nightly watched-asked 60 watched_asked
add nightly watched-stall 60 watched 400000 --policy stall

# Watched memory, compared with all loads and stores that QEMU makes there (memory_log.c), while all devices are traced.
# shellcheck shell=bash disable=SC2154

# Where memory begins; the hypervisor is 128 MiB above.
ram() { if [ "$board" = virt ]; then echo 0x40000000; else echo 0x80000000; fi; }

# memory_log BEGIN SIZE: sets $logged, arguments of run.
memory_log() {
    logged=(--qemu-arg=-plugin --qemu-arg="file=$build/tests/memory-log.so,out=$out/memory.log,begin=$1,size=$2")
}

# The accesses in $out/memory.log are those in the trace, FEWEST at least.
memory_judged() { # FEWEST
    "$mmioscope" export --as csv-number -F 'dev==memory' -o "$out/memory.csv" "$out/trace.mmio" 2>/dev/null ||
        fail "export: exit status $?"
    hyp_of_board=$(($(ram) + 0x8000000)) # and what lies below its trace area
    tests/qemu/memory.py "$out/memory.log" "$out/memory.csv" $hyp_of_board $((hyp_of_board + 0x1000000)) >"$out/judge" ||
        fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
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

# The judge finds an access without a record, a record without that, and a value that was not stored.
watched_judge() {
    watched "$@"
    local change
    for change in '0,/,access,r,/{/,access,r,/d}' '0,/,access,w,/{/,access,w,/p}' \
        '0,/,access,r,4,memory,/s/\(,access,r,4,memory,[0-9]*,[0-9]*,,\)[0-9]*/\177/'; do
        sed "$change" "$out/memory.csv" >"$out/changed.csv"
        ! tests/qemu/memory.py "$out/memory.log" "$out/changed.csv" $hyp_of_board $((hyp_of_board + 0x1000000)) >"$out/judge" ||
            fail "$change: not noticed"
    done
}

add test watched 40 watched_judge 400000
for engine in shadow emulation; do
    add nightly "watched-virt-$engine" 90 virt watched 400000 --engine $engine --cpus 4
done
add nightly watched-emulation 60 watched 400000 --engine emulation
add nightly watched-stall 60 watched 400000 --policy stall

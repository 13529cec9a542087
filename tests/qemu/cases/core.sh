# The core alone, linked without hyp/services/: it boots Debian, and the proofs of exactness hold.
# shellcheck shell=bash disable=SC2154

core_alone() { # ENGINE
    drivers --engine "$1" --hypervisor "$build/tests/core/hyp-88000000.elf"
}

add nightly core-shadow 60 on_all_cpus core_alone shadow
add test core-emulation 60 on_all_cpus core_alone emulation

# A page of memory that one CPU has at a time (tests/core/one_cpus_page.cpp): the guest counts right, all accesses are in
# the trace, and each move has a record, from the CPU that had it before. A mark's number has who and how. There are at
# least as many as the guest has noticed.
one_cpus_page() { # ENGINE
    run_bare moves --engine "$1" --hypervisor "$build/tests/core/one-cpus-page-88000000.elf" --trace all \
        --access-log "$out/access.log"
    complete
    verified
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    local least
    least=$(sed -n 's/^moves: at least \([0-9]*\).*/\1/p' "$out/console")
    sed -n 's/.* mark \([0-9]*\)$/\1/p' "$out/print" | awk -v least="${least:-none}" 'BEGIN { has = 15 }
        { from = int($1 / 16) % 16; to = $1 % 16; kinds[int($1 / 256)]++ }
        from != has || from == to { print "move " NR ": from " from ", but " has " had it"; exit 1 }
        { has = to }
        END { printf "%d moves, by fetch %d, load %d, store %d\n", NR, kinds[0], kinds[1], kinds[2]
            if (NR < 5 || NR < least) { print "at least " least; exit 1 } }' \
        >"$out/moves" || fail "$(cat "$out/moves")"
}

for engine in shadow emulation; do
    add test "one-cpus-page-$engine" 20 on_all_cpus one_cpus_page $engine
done

# Instructions that make several accesses, or move VFP and NEON registers (tests/guest/beats.cpp).
# shellcheck shell=bash disable=SC2154

# A record for each access, with its value: nothing is left for verify to pass over.
beats() { # ENGINE
    run_bare beats --engine "$1" --trace all --access-log "$out/access.log"
    complete
    verified
    has_not verify 'does not decode' "records without a value"
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has_not print ' \? +pc ' "a record without a value"
}

for engine in shadow emulation; do
    add test "beats-$engine" 5 beats $engine
done

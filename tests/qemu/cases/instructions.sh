# The generated cases of tests/instructions/: every way to load and store.
# shellcheck shell=bash disable=SC2154

# The same states as natively, records as the generator expects, and a trace equal to QEMU's log.
instructions() { # ENGINE CASES.tsv ARGUMENT...
    native_guest instructions
    run_bare instructions --engine "$1" "${@:3}" --trace all --access-log "$out/access.log"
    complete
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    python3 -B tests/instructions/judge.py "$2" "$out/native" "$out/console" "$out/print" "${@:3}" >"$out/judge" ||
        fail "$(head -n 1 "$out/judge") ($(tail -n 1 "$out/judge"))"
    rm "$out/print"
    "$mmioscope" verify "$out/trace.mmio" "$out/access.log" >"$out/verify" 2>&1 || true
    has judge ' 0 records without a value' "records without a value"
    has verify '^verify: [0-9]+ events compared, 0 differences$' "$(tail -n 1 "$out/verify") (see $out/verify)"
    tail -n 1 "$out/judge" >&2
}

# Other registers, offsets and conditions each night.
anew() { # ENGINE OPTION-OF-GENERATE...
    local seed=${INSTRUCTIONS_SEED:-$RANDOM$RANDOM} into
    into=build/tests/qemu/$(basename "$out")/build
    echo "seed $seed" >&2
    make --no-print-directory BUILD="$into" CASES_FLAGS="--seed $seed ${*:2}" \
        "$into/tests/guest/$board/instructions.bin" >"$out/make" 2>&1 || fail "seed $seed: $(tail -n 1 "$out/make")"
    build=$into instructions "$1" "$into/tests/instructions/cases.tsv"
}
instructions_anew() { anew "$1" --extra 99 --few 99; } # all variants of each form
crossings_anew() { anew "$1" --crossings "${CROSSINGS:-5000}" --only /x; }

for engine in shadow emulation; do
    add test "instructions-$engine" 20 instructions $engine "$build/tests/instructions/cases.tsv"
    add nightly "instructions-anew-$engine" 120 instructions_anew $engine
    add nightly "crossings-anew-$engine" 120 crossings_anew $engine
done
add test instructions-no-breakpoints 20 instructions emulation "$build/tests/instructions/cases.tsv" --no-breakpoints

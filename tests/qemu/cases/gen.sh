# `mmioscope gen`: a guest plays the steps of a device, and its trace gives the same steps again.
# shellcheck shell=bash disable=SC2154

# Instructions are the machine's clock, so the timer expires behind as many polls on each machine: 10,000.
instruction_clock=(--qemu-arg=-icount --qemu-arg=shift=4,sleep=off)

# The steps in FILE without what may differ: times, the values that reads gave, and comments.
gen_steps() { # FILE
    sed -n 's|^    {MMIO_\(.*\)}, */\*.*|\1|p; s|^    {MMIO_\(DELAY\).*|\1|p' "$1" |
        sed -E 's/^(READ, [0-9]+, 0x[0-9a-f]+),.*/\1/'
}

# gen_again DEVICE ARGUMENT...: plays the steps of a device in $out/trace.mmio, and compares.
gen_again() {
    local device=$1 name
    shift
    "$mmioscope" gen "$device" "$@" "$out/trace.mmio" -o "$out/first.h" 2>"$out/gen" || fail "gen: $(cat "$out/gen")"
    name=$(sed -n 's/^static const struct mmio_step \(.*\)_steps.*/\1/p' "$out/first.h")
    cp "$out/first.h" "$out/replay.h"
    printf '#define REPLAY_BASE %s_base\n#define REPLAY_STEPS %s_steps\n' "$name" "$name" >>"$out/replay.h"
    rm -f "$build/tests/guest/vexpress-a15/replay".*
    make -s "$build/tests/guest/vexpress-a15/replay.bin" BUILD="$build" REPLAY="$out/replay.h" >"$out/make" 2>&1 ||
        fail "the steps do not compile: $(head -n 3 "$out/make")"
    mv "$out/trace.mmio" "$out/original.mmio"
    run_bare replay --cpus 1 "${instruction_clock[@]}"
    complete
    "$mmioscope" gen "$device" "$@" "$out/trace.mmio" -o "$out/second.h" 2>"$out/gen" || fail "gen: $(cat "$out/gen")"
    gen_steps "$out/first.h" >"$out/first"
    gen_steps "$out/second.h" >"$out/second"
    # A busy machine may pause anywhere, so the second trace may have more delays, but none less.
    diff "$out/first" "$out/second" | grep '^[<>]' | grep -vx '> DELAY' >"$out/differences"
    [ ! -s "$out/differences" ] ||
        fail "the steps of $device differ (<: the driver's): $(head -n 4 "$out/differences" | xargs)"
}

# Each kind of step is among them; a step that is changed is noticed.
gen_timer() {
    run_bare timer --cpus 1 "${instruction_clock[@]}"
    complete
    gen_again timer --limit 20000
    local kind
    for kind in WRITE READ CHECK POLL DELAY; do
        grep -q "^$kind" "$out/first" || fail "no step is a $kind"
    done
    has first '^POLL, 4, 0x010, 0x00000001, 0x00000001$'
    sed -i 's/{MMIO_CHECK, 4, 0x008, 0x00000002/{MMIO_CHECK, 4, 0x008, 0x00000003/' "$out/replay.h"
    rm -f "$build/tests/guest/vexpress-a15/replay".*
    make -s "$build/tests/guest/vexpress-a15/replay.bin" BUILD="$build" REPLAY="$out/replay.h" >"$out/make" 2>&1
    run_bare replay --cpus 1
    has console 'guest: failed a check or a poll failed'
}

# What Linux's drivers did: the steps of the clock, and of the card's controller up to its first data.
gen_linux() {
    run_linux mmioscope.steps=none --no-print
    complete
    cp "$out/trace.mmio" "$out/boot.mmio"
    gen_again rtc@170000
    mv "$out/boot.mmio" "$out/trace.mmio"
    gen_again kmi@60000
}

add test gen-timer 10 gen_timer
add test gen-linux 10 gen_linux

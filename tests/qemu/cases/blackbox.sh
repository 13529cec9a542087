# What is known of the last accesses when the machine hangs, resets, or is gone.
# shellcheck shell=bash disable=SC2154,SC2034

# A begin record for each access and nothing else changed: QEMU's log agrees.
pre_hammer() { # ENGINE
    run_bare hammer --engine "$1" --pre --access-log "$out/access.log"
    complete
    verified
    has stdout "^other records: $(events) begin" "not a begin record for each of $(events) events"
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has_not print 'no end recorded' "an access without an end"
}

# The console's reader stalls: QEMU's PL011 blocks the CPU in the middle of a store, which never returns.
pre_hang() { # ENGINE
    mkfifo "$out/wire"
    exec 9<>"$out/wire"
    python3 -c 'import fcntl; fcntl.fcntl(9, 1031, 4096)' # F_SETPIPE_SZ: the guest says more than that
    run_bare forms --engine "$1" --pre --trace all --console-log "$out/wire" --time-limit 6
    exits_with 1
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -c 'no end recorded' "$out/print")" = 1 ] || fail "not exactly one access without an end"
    # UARTDR (DDI 0183G 3.3.1), by the instruction that wrote it before.
    local last before
    last=$(grep 'no end recorded' "$out/print")
    before=$(grep -E 'W[14] serial0 +\+0x000 0x[0-9a-f]+ +pc' "$out/print" | grep -v 'no end' | tail -n 1)
    [[ $last =~ \ W[14]\ serial0\ +\+0x000\ 0x[0-9a-f]+\ +(pc\ 0x[0-9a-f]+) ]] || fail "it is: $last"
    [[ $before == *"${BASH_REMATCH[1]}"* ]] || fail "another instruction: $last"
}

for engine in shadow emulation; do
    add test "pre-hammer-$engine" 30 pre_hammer $engine
    add test "pre-hang-$engine" 8 pre_hang $engine
done

# The trace recorded by the traced kernel itself, with mmioscope-guest.
# shellcheck shell=bash disable=SC2154

guest_program_run() { # SCRIPTS PORT ARGUMENT...
    local scripts=$1 port=$2
    shift 2
    cat "$guest/initrd.img" "$build/tests/guest-program/overlay.img" >"$out/initrd.img"
    run_linux "rdinit=/guest-program quiet scripts=$scripts port=$port" --guest-reader --no-print \
        --initrd "$out/initrd.img" "$@"
}

# guest_program_listen COMMAND...: starts it; it says on its first line of stderr where it listens. Its port in $port.
guest_program_listen() {
    "$@" >"$out/listener.out" 2>"$out/listener.err" &
    listener=$!
    local _
    for _ in {1..100}; do
        port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$out/listener.err")
        [ -z "$port" ] || return 0
        sleep 0.1
    done
    fail "nobody listens: $(cat "$out/listener.err")"
}

# What the guest says, and what came to the host, is all that the host's reader has up to the end of the recording.
guest_program_same() { # FILE
    "$build/tests/same-records" --part "$out/$1" "$out/trace.mmio" >"$out/same" || fail "$1: $(cat "$out/same")"
    "$mmioscope" print --all "$out/$1" >"$out/print"
    has print '^recording ended: interrupted$'
    has print '^complete: [0-9]+ events, 0 lost$'
    has print ' mmc@50000 .* 0x' "$1: no access to the card"
    tr -d '\r' <"$out/console" >"$out/said"
    has said '^mmioscope-guest: record ends with 130$'
    has said '^record says: complete: [0-9]+ events, 0 lost$'
}

# Over TCP: the network device carries the trace, and is not traced meanwhile.
guest_program_tcp() {
    guest_program_listen "$mmioscope" record tcp:127.0.0.1:0,listen -o "$out/net.mmio" --time-limit 200
    guest_program_run over-tcp "$port"
    complete
    wait "$listener" || fail "record on the host: $(tail -n 1 "$out/listener.out")"
    has listener.out '^complete: [0-9]+ events, 0 lost$'
    guest_program_same net.mmio
    has said '^record says: mmioscope-guest: /.*ethernet@.* carries the trace and is not traced meanwhile'
    has said '^mmioscope-guest: another mmioscope-guest record reads the trace$'
    has said '^mmioscope-guest: a second one ends with 2$'
}

# To a file in memory, which nothing carries: nothing is left out, and all of the run is QEMU's own log. The network, by
# which the file leaves afterwards, is not traced: it would take a minute.
guest_program_file() { # ENGINE
    guest_program_listen tests/qemu/receive.py "$out/file.gz"
    guest_program_run to-file "$port" --engine "$1" --access-log "$out/access.log" \
        --trace 'all,!ethernet@202000000'
    complete
    sed -i '/lan9118-mmio/d' "$out/access.log"
    verified
    wait "$listener" || fail "nothing was received"
    gunzip -c "$out/file.gz" >"$out/file.mmio" || fail "what was received is damaged"
    guest_program_same file.mmio
    has_not said 'carries the trace'
}

add test guest-program-tcp 20 guest_program_tcp
add test guest-program-file 20 guest_program_file shadow

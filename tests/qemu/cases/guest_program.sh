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
    guest_program_run over-tcp "$port" --engine emulation
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

# Marks and changes by a shell in the guest, root's and, where the program is set-uid, a plain user's: each is in the trace
# where it was made, and what it says holds from there. The user's program has given root up before it reads its words.
guest_program_ctl() {
    guest_program_run ctl 0 --trace rtc@170000
    complete
    tr -d '\r' <"$out/console" >"$out/said"
    "$mmioscope" print --all "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    awk '/ mark "begin"/ { on = 1 } !on { next } / (mark|change) / { sub(/.* cpu[0-9] /, ""); print }
        / R4 rtc@170000 / { print "clock" }' "$out/print" >"$out/changes"
    diff - "$out/changes" >"$out/diff" <<'END' || fail "changes and reads: $(grep '^[<>]' "$out/diff" | head -n 3 | xargs)"
mark "begin"
change deselect 0x1c170000+0x1000
mark 7
change select 0x1c170000+0x1000
clock
clock
clock
mark "a text of some length"
mark 8
change stop
change start
clock
clock
clock
mark 10
change deselect 0x1c170000+0x1000
change select 0x1c170000+0x1000
clock
clock
clock
change stop
change start
clock
clock
clock
mark 11
END
    has said '^ctl says: tracing is on; 2 CPUs, [0-9]+ regions$'
    has said '^ctl says: traps +[1-9][0-9]* +[1-9][0-9]*$'
    has said '^mmioscope-guest: no device is called no-such-device'
    has said '^mmioscope-guest: no such device ends with 2$'
    grep -E '^(user says|rights): ' "$out/said" | sed 's/ (it takes root.*//' >"$out/user"
    diff - "$out/user" >"$out/diff" <<'END' || fail "a plain user: $(grep '^[<>]' "$out/diff" | head -n 3 | xargs)"
user says: mmioscope-guest: cannot open /dev/mem: Permission denied
user says: ends with 2
user says: ends with 0
user says: ends with 0
user says: ends with 0
user says: ends with 0
user says: ends with 0
user says: ends with 0
user says: mmioscope-guest: record takes root itself: the set-uid bit is for ctl
user says: ends with 2
rights: Uid: 1000 1000 1000 1000
rights: Gid: 1000 1000 1000 1000
rights: Groups: 1000 
rights: CapInh: 0000000000000000
rights: CapPrm: 0000000000000000
rights: CapEff: 0000000000000000
rights: CapAmb: 0000000000000000
rights: has /dev/full open
rights: has /dev/null open
rights: has /tmp/full open
rights: 4096 bytes of memory, rw-s
END
}

add test guest-program-ctl 15 guest_program_ctl
add test guest-program-tcp 20 guest_program_tcp
add nightly guest-program-file 20 guest_program_file shadow

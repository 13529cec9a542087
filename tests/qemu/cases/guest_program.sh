# The trace recorded by the traced kernel itself, with mmioscope-guest.
# shellcheck shell=bash disable=SC2154

guest_program_run() { # SCRIPTS PORT ARGUMENT...
    local line="rdinit=/guest-program quiet scripts=$1 port=$2" console=ttyAMA0
    [ "$board" != orangepi-pc ] || console=ttyS0
    shift 2
    cat "$guest/initrd.img" "$build/tests/guest-program/overlay.img" >"$out/initrd.img"
    run_linux '' --append "console=$console panic=-1 $line" --guest-reader --no-print --initrd "$out/initrd.img" "$@"
}

listens() { port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$out/listener.err") && [ -n "$port" ]; }
# guest_program_listen COMMAND...: starts it; its first line on stderr has its address. Stores the port in $port.
guest_program_listen() {
    "$@" >"$out/listener.out" 2>"$out/listener.err" &
    listener=$!
    until_true 10 listens || fail "nobody listens: $(cat "$out/listener.err")"
}

guest_program_device() { # used|net|clock: the board's name of what the guest uses, of its network device, of its clock
    case $board-$1 in
    vexpress-a15-used) echo mmc@50000 ;;
    vexpress-a15-net) echo ethernet@202000000 ;;
    vexpress-a15-clock) echo rtc@170000 ;;
    virt-net) echo 'virtio_mmio@[0-9a-f]*' ;;
    virt-*) echo pl031@9010000 ;;
    orangepi-pc-used) echo mmc@1c0f000 ;;
    orangepi-pc-net) echo ethernet@1c30000 ;;
    orangepi-pc-clock) echo rtc@1f00000 ;;
    esac
}

# The host received everything that its own reader has from the first record up to the end of the recording.
guest_program_part() { # FILE
    "$build/tests/same-records" --part "$out/$1" "$out/trace.mmio" >"$out/same-${1%.mmio}" ||
        fail "$1: $(cat "$out/same-${1%.mmio}")"
    "$mmioscope" print --all --raw "$out/$1" >"$out/print" || [ $? = 1 ] || fail "print $1: exit status $?"
    has print '^recording ended: interrupted$'
    has print " $(guest_program_device used) .* 0x" "$1: no access to $(guest_program_device used)"
    tr -d '\r' <"$out/console" >"$out/said"
    has said '^mmioscope-guest: record ends with 130$'
}
# And that is complete, also according to the guest.
guest_program_same() { # FILE
    guest_program_part "$1"
    has print '^complete: [0-9]+ events, 0 lost; the recording was cut: interrupted$'
    has said '^record says: policy: drop$'
    has said '^record says: complete: [0-9]+ events, 0 lost$'
}

# Packets are delivered every 0.4 s: what a recorder has sent is still in transit when the guest is turned off, unless
# the recorder waits for it.
late_packets=(--qemu-arg=-object --qemu-arg=filter-buffer,id=late,netdev=net,interval=400000)

# Over TCP: the network device carries the trace, and is not traced meanwhile. With other scripts before and after.
guest_program_tcp() { # [SCRIPT,] [,SCRIPT] ARGUMENT...
    guest_program_listen "$mmioscope" record tcp:127.0.0.1:0,listen -o "$out/net.mmio" --time-limit 90
    guest_program_run "${1-}over-tcp${2-}" "$port" --engine emulation "${@:3}"
    complete
    wait "$listener" || fail "record on the host: $(tail -n 1 "$out/listener.out")"
    has listener.out '^complete: [0-9]+ events, 0 lost; the recording was cut: interrupted$'
    guest_program_same net.mmio
    has said "^record says: mmioscope-guest: /.*$(guest_program_device net) carries the trace and is not traced meanwhile"
    has said '^mmioscope-guest: another mmioscope-guest record reads the trace$'
    has said '^mmioscope-guest: a second one ends with 2$'
}
# Only the accesses made by a module's own code: its text is from /proc/modules (vexpress-a15's card).
guest_program_own_module() {
    awk '/ change filter none/ { exit } on && / 0x[0-9a-f]+ +pc 0x/ { print }
        / change filter pc/ { on = 1; print }' "$out/print" >"$out/own"
    local range first size
    range=$(sed -n '1s/.*change filter pc //p' "$out/own")
    first=$((${range%+*})) size=$((${range#*+}))
    sed -n '2,$s/.* pc \(0x[0-9a-f]*\).*/\1/p' "$out/own" | while read -r pc; do
        [ $((pc)) -ge $first ] && [ $((pc)) -lt $((first + size)) ] || echo "$pc is not in $range"
    done >"$out/others"
    [ ! -s "$out/others" ] || fail "$(head -n 1 "$out/others")"
    [ "$(grep -c ' mmc@50000 ' "$out/own")" -ge 20 ] || fail "$(grep -c ' mmc@50000 ' "$out/own") accesses by the module"
}

# All three in one boot.
guest_program_live() { # RANGE of the clock, READS of three readings, CPUS
    guest_program_tcp ctl, ,own-module --cpus "$3"
    guest_program_steered "$@"
    guest_program_own_module
}

# To a file in memory, which needs no device: nothing is left out, and all of the run equals QEMU's own log. The
# network, which sends the file afterwards, is not traced: that would take a minute.
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

# If nothing can be deselected, only the network device's records are left out of the output, and the rest is numbered
# without them: complete on both sides.
guest_program_left_out() {
    local net
    net=$(guest_program_device net)
    guest_program_listen "$mmioscope" record tcp:127.0.0.1:0,listen -o "$out/net.mmio" --time-limit 90
    guest_program_run over-tcp "$port" --engine emulation --no-control-page
    complete
    wait "$listener" || fail "record on the host: $(tail -n 1 "$out/listener.out")"
    has listener.out '^complete: [0-9]+ events, 0 lost; the recording was cut: interrupted$'
    tr -d '\r' <"$out/console" >"$out/said"
    has said "^record says: mmioscope-guest: /.*$net carries the trace and is left out of what is written"
    has said '^record says: left out: [1-9][0-9]{2,} records$'
    "$mmioscope" print --all --raw "$out/net.mmio" | guest_program_but "$net" yes >"$out/received"
    "$mmioscope" print --all --raw "$out/trace.mmio" | guest_program_but "$net" | head -n "$(wc -l <"$out/received")" |
        diff - "$out/received" >"$out/diff" || fail "what came: $(grep '^[<>]' "$out/diff" | head -n 2 | xargs)"
    [ "$(wc -l <"$out/received")" -gt 10000 ] || fail "only $(wc -l <"$out/received") accesses came"
}
# Accesses without their times, and without those of a device; yes: fails if there are any.
guest_program_but() { # DEVICE [yes]
    awk -v device="$1" -v none="${2-}" '$3 !~ /^[RW][124]$/ { next } $4 ~ "^" device "$" && !none { next } { $1 = ""; print }'
}

# With --all the network device is traced while it carries the trace: each packet makes more records, but that comes to
# an end.
guest_program_all() {
    guest_program_listen "$mmioscope" record tcp:127.0.0.1:0,listen -o "$out/net.mmio" --time-limit 90
    guest_program_run over-tcp-all "$port" --engine emulation --access-log "$out/access.log"
    complete
    verified
    wait "$listener" || fail "record on the host: $(tail -n 1 "$out/listener.out")"
    guest_program_same net.mmio
    has print ' ethernet@202000000 .* 0x' "no access to the network device"
    has_not said 'carries the trace'
}

# To a pipe and to a unix socket: the result is the same stream as from a board.
guest_program_elsewhere() {
    local name
    guest_program_listen tests/qemu/receive.py "$out/wires.gz"
    guest_program_run elsewhere "$port" --engine emulation --trace 'all,!ethernet@202000000'
    complete
    wait "$listener" || fail "nothing was received"
    tar -C "$out" -xzf "$out/wires.gz" pipe.wire unix.wire || fail "what was received is damaged"
    for name in pipe unix; do
        "$mmioscope" record "$out/$name.wire" -o "$out/$name.mmio" >"$out/$name.out" 2>&1 || true
    done
    guest_program_same pipe.mmio
    guest_program_part unix.mmio # a second one begins with what comes then
    has unix.out '^incomplete: .* lost \(cpu [01]: [0-9]+ from sequence 0, cpu [01]: [0-9]+ from sequence 0\); the recording was cut: interrupted$'
    # The host does not know what the lost records were.
    [ "$(sed -n 's/^record says: in/in/p' "$out/said"); the recording was cut: interrupted" = \
        "$(tail -n 1 "$out/unix.out" | sed 's/ records lost/ lost/')" ] ||
        fail "two verdicts"
    [ "$(grep -c '^mmioscope-guest: record ends with 130' "$out/said")" = 2 ] || fail "not two recordings"
    has_not said 'carries the trace'
}

has_used_device() { "$mmioscope" print --all --raw "$out/$1" 2>/dev/null | grep -q " $(guest_program_device used) .* 0x"; } # FILE that grows
# The listener ends, and another one starts at the same address: the trace continues there, and the gap is reported.
guest_program_again() {
    local machine name
    guest_program_listen "$mmioscope" record tcp:127.0.0.1:0,listen -o "$out/first.mmio" --time-limit 90
    (guest_program_run over-tcp-again "$port" --engine emulation && complete) &
    machine=$!
    until_console $machine '^mmioscope-guest: listener, go'
    until_true 20 has_used_device first.mmio || fail "the listener has got nothing"
    kill -TERM "$listener"
    wait "$listener"
    until_console $machine '^mmioscope-guest: listener, come back'
    "$mmioscope" record "tcp:127.0.0.1:$port,listen" -o "$out/second.mmio" --time-limit 60 >"$out/second.out" 2>&1 &
    listener=$!
    wait $machine || exit 1
    wait "$listener"
    has listener.out '^complete: [0-9]+ events, 0 lost; the recording was cut: interrupted$'
    has second.out '^incomplete: [0-9]+ events, [1-9][0-9]* records lost \(cpu [01]: [0-9]+ from sequence 0' "$(tail -n 1 "$out/second.out")"
    for name in first second; do guest_program_part $name.mmio; done
    has said '^record says: mmioscope-guest: tcp:10.0.2.2:[0-9]+: open again$'
    has said '^record says: incomplete: [0-9]+ events, 0 lost; the connection was lost 1 times'
}

# The messages for the plain user, and the rights that the set-uid program still had when it read the user's words.
guest_program_user() {
    grep -E '^(user says|rights): ' "$out/said" | sed 's/ (needs root.*//' >"$out/user"
    diff - "$out/user" >"$out/diff" <<'END' || fail "a plain user: $(grep '^[<>]' "$out/diff" | head -n 3 | xargs)"
user says: mmioscope-guest: cannot open /dev/mem: Permission denied
user says: ends with 2
user says: ends with 0
user says: ends with 0
user says: ends with 0
user says: ends with 0
user says: ends with 0
user says: ends with 0
user says: mmioscope-guest: record: run it as root; a set-uid program is for ctl only
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

# The changes and marks of the trace between two marks, and the number of loads of the clock between them. The H3's
# clock is read until two readings agree, so that number varies.
guest_program_changes() {
    local clock most=1000
    clock=$(guest_program_device clock)
    [ "$board" != orangepi-pc ] || most=12
    awk -v clock="$clock" -v most=$most 'function tell() { if (n) print (n > most ? most : n) " reads"; n = 0 }
        / mark "begin"/ { on = 1 } / mark "end"/ { exit } !on { next } / (mark|change) / { tell(); sub(/.* cpu[0-9] /, ""); print }
        $3 == "R4" && $4 == clock { n++ } END { tell() }' "$out/print"
}

# Marks and changes by a shell in the guest, as root and, with a set-uid program, as a plain user: each is in the trace
# where it was made, and takes effect there. The user's program gives up root before it reads the user's words.
guest_program_ctl() { # RANGE of the clock, READS of three readings, CPUS
    guest_program_run ctl 0 --trace "$(guest_program_device clock)" --cpus "$3"
    complete
    guest_program_steered "$@"
}
guest_program_steered() { # RANGE READS CPUS
    tr -d '\r' <"$out/console" >"$out/said"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    guest_program_changes >"$out/changes"
    diff - "$out/changes" >"$out/diff" <<END || fail "changes and reads: $(grep '^[<>]' "$out/diff" | head -n 3 | xargs)"
mark "begin"
change deselect $1
mark 7
change select $1
$2 reads
mark "a text of some length"
mark 8
change stop
change start
$2 reads
mark 10
change deselect $1
change select $1
$2 reads
change stop
change start
$2 reads
mark 11
END
    has said "^ctl says: tracing is on; $3 CPUs, [0-9]+ regions$"
    has said '^ctl says: traps +[1-9][0-9]* +[0-9]+'
    has said '^mmioscope-guest: there is no device .no-such-device'
    has said '^mmioscope-guest: no such device ends with 2$'
    guest_program_user
}

add test guest-program 25 guest_program_live 0x1c170000+0x1000 3 2
add nightly guest-program-file 20 guest_program_file shadow
add nightly guest-program-all 30 guest_program_all
add nightly guest-program-elsewhere 25 guest_program_elsewhere
add nightly guest-program-again 25 guest_program_again
add nightly guest-program-virt-tcp 20 virt guest_program_tcp '' '' "${late_packets[@]}"
add nightly guest-program-orangepi-tcp 20 orangepi guest_program_tcp
add nightly guest-program-virt-ctl 15 virt guest_program_ctl 0x9010000+0x1000 3 2
add nightly guest-program-orangepi-ctl 15 orangepi guest_program_ctl 0x1f00000+0x400 12 4
add nightly guest-program-left-out 25 guest_program_left_out

# What is known about the last accesses when the machine hangs, resets, or is gone.
# shellcheck shell=bash disable=SC2154,SC2034

# With --ram, the guest's RAM in a file: as little of it as possible.
in_file=(--memory 160M --area-size 4M)

# black_box ARGUMENT...: the output of `mmioscope blackbox` for that file; its exit status must be 0.
black_box() {
    status=0
    local raw=--raw
    [[ " $* " != *" --format "* ]] || raw=
    "$mmioscope" blackbox $raw "$@" "$out/ram" >"$out/blackbox" 2>"$out/blackbox-stderr" || status=$?
    [ "$status" = 0 ] || fail "blackbox: exit status $status: $(tail -n 1 "$out/blackbox-stderr" "$out/blackbox" | tail -n 1)"
}
# The accesses in $out/FILE, without times and tasks.
accesses_of() { sed -nE 's/^ *[0-9]+\.[0-9]+ (cpu[0-9] [RW][0-9] .* pc 0x[0-9a-f]+).*/\1/p' "$out/$1"; }

# There is a begin record for each access, and nothing else changes: QEMU's log agrees.
pre_hammer() { # ENGINE
    run_bare hammer --engine "$1" --pre --access-log "$out/access.log"
    complete
    verified
    has stdout "^other records: $(events) begin" "not a begin record for each of $(events) events"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has_not print 'no end recorded' "an access without an end"
}

# Waits until the pipe at descriptor 9 is full, or for 20 s.
wait_until_full='
import fcntl, struct, termios, time
for _ in range(2000):
    if struct.unpack("I", fcntl.ioctl(9, termios.FIONREAD, b"    "))[0] == 4096: break
    time.sleep(0.01)
'
in_store() { black_box -F w && grep -Eq ' serial0 .*(in flight|no end recorded)' "$out/blackbox"; }
# The console's reader stalls: QEMU's PL011 blocks the CPU inside a store, which never returns.
hang_in_store() { # ARGUMENT...
    mkfifo "$out/wire"
    exec 9<>"$out/wire"
    python3 -c 'import fcntl; fcntl.fcntl(9, 1031, 4096)' # F_SETPIPE_SZ: the guest says more than that
    (run_bare forms "$@" --trace all --console-log "$out/wire" "${in_file[@]}" --ram "$out/ram"; exit "$status") &
    pid=$!
    python3 -c "$wait_until_full"
    until_true 20 in_store || fail "no store is in flight: $(sed -n 3p "$out/blackbox")"
    pkill -TERM -P $pid mmioscope
    status=0
    wait $pid || status=$?
    exits_with 130
}
# Without begin records only its place and its CPU are known.
hang_in_flight() {
    hang_in_store --engine shadow
    black_box --cpu 0 -F w
    [ "$(grep -c ' cpu0 ?? serial0 .*in flight' "$out/blackbox")" = 1 ] || fail "not one access in flight: $(sed -n 3p "$out/blackbox")"
    black_box --format jsonl
    [ "$(grep -c '"cpu":0,.*"device":"serial0",.*"state":"in-flight"}$' "$out/blackbox")" = 1 ] || fail "not one row in flight: $(sed -n 2p "$out/blackbox")"
    black_box --cpu 1
    has_not blackbox 'in flight' "one of another CPU"
    rm "$out/ram"
}
pre_hang() { # ENGINE
    hang_in_store --engine "$1" --pre
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -c 'no end recorded' "$out/print")" = 1 ] || fail "not exactly one access without an end"
    # UARTDR (DDI 0183G 3.3.1), by the instruction that wrote it before.
    local last before
    last=$(grep 'no end recorded' "$out/print")
    before=$(grep -E 'W[14] serial0 +\+0x000 0x[0-9a-f]+ +pc' "$out/print" | grep -v 'no end' | tail -n 1)
    [[ $last =~ \ W[14]\ serial0\ +\+0x000\ 0x[0-9a-f]+\ +(pc\ 0x[0-9a-f]+) ]] || fail "it is: $last"
    [[ $before == *"${BASH_REMATCH[1]}"* ]] || fail "another instruction: $last"
    black_box
    has blackbox '^current boot, '
    # The unfinished one first, as in `print` except for the time, which has another zero.
    [ "$(sed -n 3p "$out/blackbox" | sed 's/.* cpu0 //')" = "${last#* cpu0 }" ] ||
        fail "the black box's first line is: $(sed -n 3p "$out/blackbox")"
    rm "$out/ram"
}

# The last accesses in the black box are the last 64 of the trace.
same_end() {
    accesses_of blackbox >"$out/last"
    [ "$(wc -l <"$out/last")" -ge 60 ] || fail "the black box has only $(wc -l <"$out/last") accesses"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" 2>/dev/null
    accesses_of print | tail -n "$(wc -l <"$out/last")" | diff - "$out/last" >"$out/diff" ||
        fail "the black box and the end of the trace differ: $(head -n 3 "$out/diff" | xargs)"
}

# hammer_in_file ARGUMENT...: two busy CPUs in the background; $pid is mmioscope's.
hammer_in_file() {
    "$mmioscope" run --bare --kernel "$build/tests/guest/vexpress-a15/hammer.bin" --dtb "$board_tree" --no-net --no-print \
        --time-limit 60 "${in_file[@]}" --ram "$out/ram" -o "$out/trace.mmio" --console-log "$out/console" \
        --hyp-log "$out/hypervisor" "$@" >"$out/stdout" 2>"$out/stderr" &
    pid=$!
}
# The next boot, over the RAM that the last one left; its own end does not matter.
boot_again() {
    "$mmioscope" run --bare --kernel "$build/tests/guest/vexpress-a15/neighbours.bin" --dtb "$board_tree" --no-net --no-print \
        --time-limit 60 "${in_file[@]}" --ram "$out/ram" >"$out/again" 2>&1 || fail "the next boot: $(tail -n 1 "$out/again")"
}
before_reset() { # PATTERN: of the first line
    black_box
    has blackbox "^previous boot, $1" "$(head -n 1 "$out/blackbox")"
}

# QEMU is killed. Its RAM is in a file, which has the end of the trace; so has what the next boot keeps.
blackbox_killed() {
    hammer_in_file
    until_true 12 trace_grows || fail "no trace grows"
    kill -KILL "$(pgrep -P $pid)"
    status=0
    wait $pid || status=$?
    exits_with 1
    black_box
    has blackbox '^current boot, id [0-9a-f]{32}, arm,vexpress,v2p-ca15,tc1, 2 CPUs$'
    same_end
    local id
    id=$(sed -n 's/.*id \([0-9a-f]*\),.*/\1/p' "$out/blackbox")
    boot_again
    before_reset "id $id, arm,vexpress,v2p-ca15,tc1, 2 CPUs$"
    same_end
    black_box --base 0x80000000 --current -n 10
    has blackbox '^current boot'
    has_not blackbox "$id"
    rm "$out/ram"
}

# The hypervisor panics: its report's records are that CPU's last ones in the black box; the stream reports the panic,
# and has everything that shared memory has.
blackbox_panic() {
    under_debugger
    hammer_in_file --stream serial2 --stream-file "$out/wire" --stream-beside --stream-quantum 0 --trace clcd@1f0000 \
        "${debugged[@]}"
    python3 tests/qemu/damage.py check "$board" "$out/gdb" "$build" "$out/hypervisor" $pid 2>"$out/debugger" ||
        fail "$(tail -n 1 "$out/debugger")"
    status=0
    wait $pid || status=$?
    exits_with 1
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 || true
    # The other CPU may have been in a step: run and record name its access, and the black box below, too.
    local access="(, cpu [01] was in the middle of an access to 0x1c1f[0-9a-f]{4})"
    has recorded "^incomplete: [0-9]+ events, 0 lost; the hypervisor stopped$access?$" "record: $(tail -n 1 "$out/recorded")"
    [ "$(tail -n 1 "$out/recorded")" = "$(tail -n 1 "$out/stdout")" ] || fail "run: $(tail -n 1 "$out/stdout")"
    "$build/tests/same-records" "$out/trace.mmio" "$out/recorded.mmio" >"$out/same" || fail "stream: $(cat "$out/same")"
    boot_again
    before_reset 'id [0-9a-f]{32}, arm,vexpress,v2p-ca15,tc1, 2 CPUs, the hypervisor had stopped'
    same_end
    ! grep -Eq "the hypervisor stopped$access$" "$out/recorded" || has blackbox 'in flight'
    local cpu
    black_box -n 2000 # the other CPU ran on for a while
    cpu=$(sed -n 's/^mmioscope: stop: .* on CPU \([01]\).*/\1/p' "$out/hypervisor")
    grep "cpu$cpu [RW]" "$out/blackbox" | tail -n 8 | tac | sed 's/.* \([RW]\)4 .* \(0x[0-9a-f]*\) .*pc \(0x[0-9a-f]*\).*/\1 \2 \3/' >"$out/in-box"
    sed -n 's/^record -[0-7]: type 1 \([RW]\)4 .* value=\(0x[0-9a-f]*\) pc=\(0x[0-9a-f]*\).*/\1 \2 \3/p' "$out/hypervisor" >"$out/in-report"
    [ -s "$out/in-report" ] || fail "the report has no records"
    diff "$out/in-report" "$out/in-box" >"$out/diff" || fail "the report's records are others: $(head -n 2 "$out/diff" | xargs)"
    rm "$out/ram"
}

booted_again() {
    kill -0 "$pid" 2>/dev/null || fail "the run has ended: $(tail -n 1 "$out/stdout")"
    "$mmioscope" blackbox --raw "$out/ram" 2>&1 | grep -q '^previous boot, '
}
# Linux panics and resets the machine, which boots again: QEMU's own reset, triggered as on the board.
blackbox_reset() { # BOARD PATTERN
    board=$1
    # shellcheck disable=SC2046 # words
    (run_linux 'rdinit=/nonexistent quiet' --memory 256M --ram "$out/ram" --area-size 16M --no-print \
        --qemu-arg=-action --qemu-arg=reboot=reset) &
    pid=$!
    until_true 120 booted_again || fail "it does not boot again: $(tail -n 1 "$out/stdout")"
    kill -TERM "$(pgrep -P $pid)"
    wait $pid
    before_reset "id [0-9a-f]{32}, .*, 2 CPUs$"
    grep -E '^ *[0-9]+\.[0-9]+ cpu[0-9] ' "$out/blackbox" | tail -n 5 >"$out/last"
    has last "$2" "the last before the reset is: $(tail -n 1 "$out/last")"
    rm "$out/ram"
}

blackbox_refuses() { # STATUS WORDS ARGUMENT...
    status=0
    "$mmioscope" blackbox "${@:3}" >"$out/stdout" 2>"$out/stderr" || status=$?
    exits_with "$1"
    [ "$(wc -l <"$out/stderr")" = 1 ] || fail "not one line: $(head -n 2 "$out/stderr" | xargs)"
    has stderr "$2"
}
blackbox_input() {
    : >"$out/empty"
    head -c 3000000 /dev/urandom >"$out/noise"
    blackbox_refuses 2 'No such file' "$out/absent"
    blackbox_refuses 2 'empty' "$out/empty"
    blackbox_refuses 1 'no valid trace area' "$out/noise"
    blackbox_refuses 1 'no valid trace area' - <"$out/noise"
    blackbox_refuses 1 'no valid trace area' <(cat "$out/noise")
    { head -c 4 <(zstd -qc "$out/noise"); cat "$out/noise"; } >"$out/garbage.zst"
    blackbox_refuses 2 'garbage.zst: the compressed data is damaged' "$out/garbage.zst"
    blackbox_refuses 2 'must be a multiple of 4096' --base 0x80000001 "$out/noise"
    blackbox_refuses 2 'must be a multiple of 4096' --base here "$out/noise"
    blackbox_refuses 2 '--limit' -n 0 "$out/noise"
    blackbox_refuses 2 '--format' --format xml "$out/noise"
    "$mmioscope" blackbox --help | grep -q '^Examples:' || fail "no examples in --help"
}

# Checks that the values written by a CPU rise by one each time; prints the last one.
rising() { # CPU FILE
    sed -nE "s/.* cpu$1 W4 clcd@1f0000 +\\+0x20[04] +(0x[0-9a-f]+) .*/\\1/p" "$out/$2" | {
        local value last=
        while read -r value; do
            [ -z "$last" ] || [ $((value)) = $((last + 1)) ] || { echo "$last, then $value"; return; }
            last=$value
        done
        echo $((last))
    }
}
# The rows of $out/ram are the lines of $out/blackbox; other text in the lines is beside the rows.
snapshot_for_programs() {
    sed -nE 's/.* cpu([0-9]) ([RW])4 ([^ ]+) +\+0x0*([0-9a-f]+) 0x0*([0-9a-f]+) .*/\1 \L\2 \3 \4 \5/p' "$out/blackbox" >"$out/lines"
    "$mmioscope" blackbox -n 3000 --format csv "$out/ram" 2>"$out/words" >"$out/csv" || fail "blackbox --format csv: exit status $?"
    [[ $(head -n 1 "$out/csv") == ns,ticks,cpu,type,*,flags,payload,note,state ]] || fail "csv begins with $(head -n 1 "$out/csv")"
    sed -nE 's/^[0-9]+,[0-9]+,([0-9]),access,([rw]),4,([^,]+),0x([0-9a-f]+),[^,]*,[^,]*,0x([0-9a-f]+),.*,finished$/\1 \2 \3 \4 \5/p' "$out/csv" |
        diff - "$out/lines" >"$out/diff" || fail "rows and lines differ: $(head -n 3 "$out/diff" | xargs)"
    [ -s "$out/lines" ] || fail "no lines"
    has words '^snapshot of the current boot, id [0-9a-f]{32}, arm,vexpress,v2p-ca15,tc1, 2 CPUs$'
    "$mmioscope" blackbox -n 3000 --format jsonl "$out/ram" 2>"$out/words" >"$out/jsonl" || fail "blackbox --format jsonl: exit status $?"
    [[ $(head -n 1 "$out/jsonl") =~ ^\{\"type\":\"boot\",.*\"which\":\"snapshot\ of\ the\ current\ boot\",.*\"cpus\":2,\"stopped\":false\}$ ]] ||
        fail "jsonl begins with $(head -n 1 "$out/jsonl")"
    [ "$(grep -c '"state":"finished"}$' "$out/jsonl")" = "$(grep -c ',finished$' "$out/csv")" ] || fail "jsonl has not as many rows as csv"
}
# A snapshot on request has the last 1,024 records of each CPU before it, although both continue.
blackbox_snapshot() { # ENGINE
    run_bare snapshots --engine "$1" --trace clcd@1f0000 --memory 160M --area-size "$2" --ram "$out/ram"
    complete
    black_box -n 3000
    has blackbox '^snapshot of the current boot, id [0-9a-f]{32}, arm,vexpress,v2p-ca15,tc1, 2 CPUs$'
    [ "$(rising 0 blackbox)" = 5999 ] || fail "CPU 0's last write before the snapshot: $(rising 0 blackbox), not 5999"
    [ "$(grep -c ' cpu0 W4 ' "$out/blackbox")" -ge 1000 ] || fail "only $(grep -c ' cpu0 W4 ' "$out/blackbox") of CPU 0's writes"
    [[ $(rising 1 blackbox) =~ ^[0-9]+$ ]] || fail "CPU 1's writes do not follow one another: $(rising 1 blackbox)"
    zstd -q "$out/ram" -o "$out/ram.zst"
    "$mmioscope" blackbox --raw -n 3000 "$out/ram.zst" | cmp -s - "$out/blackbox" || fail "compressed it is another"
    "$mmioscope" blackbox --raw -n 3000 - <"$out/ram" | cmp -s - "$out/blackbox" || fail "from standard input it is another"
    snapshot_for_programs
    # By name, as in print, for one CPU, and without code addresses.
    local register
    register=$("$mmioscope" print "$out/trace.mmio" 2>/dev/null | awk '$2 == "cpu0" && $3 == "W4" && $4 == "clcd@1f0000" { print $5; exit }')
    [[ $register == [A-Za-z]* ]] || fail "print has no name for the register: $register"
    "$mmioscope" blackbox -n 3000 -i "$out/ram" -F "cpu==0 && reg==$register && w" --no-pc -o "$out/named" || fail "blackbox -F: exit status $?"
    has named " cpu0 W4 clcd@1f0000 +$register +0x"
    has_not named ' cpu1 W4| cpu0 R4| pc 0x|c_[a-z]'
    black_box --current -n 3000
    has blackbox '^current boot, '
    [ "$(rising 0 blackbox)" = 6499 ] || fail "CPU 0's last write: $(rising 0 blackbox), not 6499"
    rm "$out/ram"
}

add test blackbox-snapshot 10 blackbox_snapshot emulation 4M
add nightly blackbox-snapshot-shadow 10 blackbox_snapshot shadow 4M
add test blackbox-killed 10 blackbox_killed
add test blackbox-panic 10 blackbox_panic
add nightly blackbox-reset-vexpress 30 blackbox_reset vexpress-a15 ' W4 .* \+0x0*a4 0xc0900000 '
add nightly blackbox-reset-virt 30 blackbox_reset virt 'machine reset, cpu [01]'
add test blackbox-input 5 blackbox_input
add test hang-in-flight 8 hang_in_flight
add test pre-hang-shadow 8 pre_hang shadow
add nightly pre-hang-emulation 8 pre_hang emulation
for engine in shadow emulation; do
    add test "pre-hammer-$engine" 10 on_all_cpus pre_hammer $engine
done

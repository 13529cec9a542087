# The trace over a UART: the same as over shared memory, at the speed of a line, whatever its reader does.
# shellcheck shell=bash disable=SC2154,SC2034

boot_steps=mmioscope.steps=none

# A stock boot whose trace over the UART equals QEMU's own log, and takes at most LIMIT hundredths of a byte per event.
over_uart() { # STEPS LIMIT ARGUMENT...
    local steps=$1 limit=$2 bytes
    shift 2
    run_linux "$steps" --no-print --stream serial2 --stream-file "$out/wire" --access-log "$out/access.log" "$@"
    complete
    verified
    has verify '^note: [0-9]+ accesses in the log were made by the stream'
    bytes=$(stat -c %s "$out/wire")
    has stdout "^stream: $bytes bytes, [0-9]+\.[0-9]{2} an event$"
    ends_with_power_off
    echo "$(events) events, $bytes bytes" >"$out/size"
    [ $((bytes * 100 / $(events))) -le "$limit" ] || fail "$(cat "$out/size"): more than $limit hundredths of a byte an event"
}

# The guest does nothing behind the write that switches the machine off, which QEMU does a little later: it might end
# while the stream sends that.
ends_with_power_off() {
    "$mmioscope" print --all --raw "$out/trace.mmio" | grep -E '^ .* cpu[0-9]+ [RW]' | tail -n 1 >"$out/last"
    has last ' W4 sysreg@10000 +\+0x0a4 0xc0800000 ' "the last access is: $(cat "$out/last")"
}

# With two CPUs the times depend on the host's other load, and so does their number of bytes.
two_cpus() { # LIMIT ARGUMENT...
    over_uart $boot_steps "$@"
    beside_times "$out/wire" 0.9
}

# Damages its recording at each byte of the first 16 KiB: only the damaged part is lost, and reported. Whatever happens to
# its beginning, there is a trace.
every_byte() { # PROGRAM
    over_uart $boot_steps 300 # stream-size and stream-two-cpus have the figures
    "$build/tests/$1" "$out/wire" >"$out/damages" 2>&1 || fail "$(head -n 1 "$out/damages")"
    "$build/tests/short-capture" "$out/wire" 400 >"$out/beginning" 2>&1 || fail "$(head -n 1 "$out/beginning")"
}

# The guest's time is its number of instructions, so the trace, and its bytes, are the same each time.
counted_time() { # LIMIT
    over_uart $boot_steps "$1" --cpus 1 --qemu-arg=-icount --qemu-arg=shift=0,sleep=off \
        --qemu-arg=-rtc --qemu-arg=base=2024-01-01,clock=vm
}

# Recorded into several files: read as one they equal one file, as lines and as one trace, and nothing is overwritten.
in_files() { # ARGUMENT...
    told record "$out/wire" -o "$out/files.mmio" --rotate 1M "$@"
    [ -e "$out/files.3.mmio" ] || fail "a boot of less than 32,768 events, two files of 1 MiB"
    told print --all "$out/recorded.mmio" -o "$out/of-one"
    told print --all "$out/files.mmio" -o "$out/of-files"
    cmp "$out/of-one" "$out/of-files" >"$out/cmp" 2>&1 || fail "several files print other lines: $(cat "$out/cmp")"
    told info "$out/files.mmio" -o "$out/stdout"
    has stdout '^files +[3-9]$'
    told export --as mmio "$out/files.mmio" -o "$out/joined.mmio"
    told check "$out/joined.mmio"
    "$build/tests/same-records" "$out/recorded.mmio" "$out/joined.mmio" >"$out/same" || fail "$(cat "$out/same")"
    told export --as mmio --one-file "$out/files.2.mmio" -o "$out/second.mmio"
    ! "$build/tests/same-records" "$out/recorded.mmio" "$out/second.mmio" >"$out/same" || fail "one of several files has all"
    ! "$mmioscope" print "$out/files.mmio" -o "$out/files.3.mmio" >"$out/stdout" 2>"$out/stderr" || fail "a part was written over"
    has stderr 'files.3.mmio: is also an input'
    mv "$out/files.2.mmio" "$out/other.mmio"
    ! "$mmioscope" print --summary "$out/files.mmio" >"$out/stdout" 2>"$out/stderr" || fail "a missing file is not told of"
    has stdout '^incomplete: [0-9]+ events, 0 lost.*there is no file .*/files.2.mmio'
    ! "$mmioscope" info "$out/files.mmio" >"$out/stdout" 2>"$out/stderr" || fail "a missing file is whole for info"
    has stdout '^ended +goes on in the next file; the next file cannot be read: there is no file .*/files.2.mmio'
    ! "$mmioscope" export --as csv --strict "$out/files.mmio" -o "$out/none" 2>"$out/stderr" || fail 'export --strict takes a missing file'
    [ ! -e "$out/none" ] || fail 'export --strict wrote what there is'
    has stderr 'the next file cannot be read: there is no file .* stopped'
}

# told COMMAND ARGUMENT...: runs mmioscope; its exit status must be 0.
told() {
    "$mmioscope" "$@" >"$out/words" 2>&1 || fail "$1: $(tail -n 1 "$out/words")"
}

# Two readers of the same rings get the same records, bit by bit.
beside() { # ENGINE
    run_linux $boot_steps --no-print --stream serial2 --stream-file "$out/wire" --stream-beside --stream-quantum 0 \
        --engine "$1"
    complete
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 ||
        fail "record: $(tail -n 1 "$out/recorded")"
    has recorded '^complete: [0-9]+ events, 0 lost$'
    "$build/tests/same-records" "$out/trace.mmio" "$out/recorded.mmio" >"$out/same" || fail "$(cat "$out/same")"
    in_files
}

not_ascii=żółwica # on the command line, which the kernel prints
# Console and stream share the guest's UART: both come off the wire unmixed, the trace as in shared memory, and the
# console.
one_uart() { # UART ARGUMENT...
    local uart=$1
    shift
    run_linux "$boot_steps name=$not_ascii" --no-print --stream "$uart" --stream-shared --stream-file "$out/wire" \
        --stream-beside --stream-quantum 0 --access-log "$out/access.log" "$@"
    complete
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" --console "$out/console.recorded" >"$out/recorded" 2>&1 ||
        fail "record: $(tail -n 1 "$out/recorded")"
    has recorded '^complete: [0-9]+ events, 0 lost$'
    "$build/tests/same-records" "$out/trace.mmio" "$out/recorded.mmio" >"$out/same" || fail "$(cat "$out/same")"
    cmp "$out/console" "$out/console.recorded" >"$out/cmp" 2>&1 || fail "the consoles differ: $(cat "$out/cmp")"
    has console '^\[ +[0-9.]+\] reboot: Power down'
    "$mmioscope" print --dmesg "$out/recorded.mmio" >"$out/dmesg" 2>"$out/words" || fail "print --dmesg: $(tail -n 1 "$out/words")"
    has dmesg ' dmesg \[ +[0-9.]+\] reboot: Power down' "the recorded trace has not the console's text"
    verified
    has verify '^note: [0-9]+ accesses in the log were made by the stream'
    [ "$(grep -ac "$not_ascii" "$out/console")" -ge 1 ] || fail "the console lacks $not_ascii"
    sed "s/$not_ascii//g" "$out/console" | LC_ALL=C tr -d '\000-\177' >"$out/rest"
    [ ! -s "$out/rest" ] || fail "bytes of the stream in the console"
    in_files --console "$out/console.files"
}
one_uart_on_virt() {
    board=virt
    local boot_steps=mmioscope.steps=console,rtc,irq # more than 32,768 events
    one_uart /pl011@9000000
}
one_uart_of_imx() {
    board=mcimx7d-sabre board_tree=$guest/imx7d-sdb.dtb
    one_uart serial0 --append "console=ttymxc0 panic=-1 $boot_steps name=$not_ascii"
}

# A guest sends each byte, by stores of seven kinds, on a UART that the stream shares: all of them arrive, and no record is lost.
binary_console() { # UART POLICY ARGUMENT...
    local uart=$1
    shift
    run_bare binary --cpus 2 --stream "$uart" --stream-shared --stream-file "$out/wire" --access-log "$out/access.log" --policy "$@"
    complete
    verified
    has verify '^note: [0-9]+ accesses in the log were made by the stream'
    python3 -c 'import sys
times = open(sys.argv[1], "rb").read().count(bytes(range(256)))
sys.exit(None if times == 7 else f"all bytes arrive {times} times, not 7")' "$out/console" 2>"$out/bytes" ||
        fail "$(cat "$out/bytes")"
}
binary_on_virt() {
    board=virt
    binary_console /pl011@9000000 "$@"
}

# At 115,200 baud nothing is lost, and what is left after the guest's last output is sent within 15 s: such a line sends
# 11,520 bytes each second.
slow_line() {
    local running asked from left
    (run_linux $boot_steps --no-print --stream serial2 --stream-file "$out/wire" --stream-baud 115200; exit "$status") &
    running=$!
    until_console $running 'reboot: Power down'
    asked=$(stat -c %s "$out/wire") from=${EPOCHREALTIME/[.,]/}
    status=0
    wait $running || status=$?
    complete
    left=$(($(stat -c %s "$out/wire") - asked))
    echo "$asked bytes, and $left after the guest's last word, in $(((${EPOCHREALTIME/[.,]/} - from) / 1000)) ms" >"$out/drained"
    [ "$asked" -gt 0 ] && [ "$left" -le $((15 * 11520)) ] || fail "$(cat "$out/drained")"
}

# A byte of the wire is changed, or the wire is cut: the rest is recorded, and the damage reported.
damaged_wire() {
    # shellcheck disable=SC2046 # several arguments
    run_bare hammer $(hammer_of 5000 2) --stream serial2 --stream-file "$out/wire"
    local size middle
    size=$(stat -c %s "$out/wire")
    middle=$((size / 2))
    for how in changed cut; do
        cp "$out/wire" "$out/$how"
        case $how in
        changed) printf '\125' | dd of="$out/$how" bs=1 seek=$middle conv=notrunc 2>/dev/null ;;
        cut) truncate -s $middle "$out/$how" ;;
        esac
        status=0
        "$mmioscope" record "$out/$how" -o "$out/$how.mmio" >"$out/$how.said" 2>&1 || status=$?
        exits_with 1
        has "$how.said" '^incomplete: '
        "$mmioscope" print --summary "$out/$how.mmio" >"$out/$how.printed" 2>&1 || true
        has "$how.printed" '^total '
    done
}

# The demo over a UART, as a newcomer runs it: complete, equal to QEMU's log, and bit by bit as in shared memory.
demo_over_uart() {
    status=0
    make --no-print-directory demo STREAM=uart ARGS="--stream-file '$out/wire' \
        --stream-beside --stream-quantum 0 --access-log '$out/access.log' -o '$out/trace.mmio'" \
        >"$out/stdout" 2>"$out/stderr" || status=$?
    exits_with 0
    has stdout '^complete: [0-9]+ events, 0 lost$'
    verified
    "$mmioscope" record "$out/wire" -o "$out/recorded.mmio" >"$out/recorded" 2>&1 ||
        fail "record: $(tail -n 1 "$out/recorded")"
    "$build/tests/same-records" "$out/trace.mmio" "$out/recorded.mmio" >"$out/same" || fail "$(cat "$out/same")"
}

# Any UART except the guest's: the hypervisor moves its own messages to the next one.
any_uart() {
    local uart
    for uart in serial1 serial3; do
        # shellcheck disable=SC2046 # several arguments
        run_bare hammer $(hammer_of 2000 2) --stream $uart --access-log "$out/access.log"
        complete
        verified
        has hypervisor '^mmioscope: arm,vexpress,v2p-ca15,tc1, 2 CPUs'
    done
}

# UARTs that cannot carry a stream, and options without it.
refuses_uart() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    run_bare hammer "$@"
    exits_with 2
    has stderr "$pattern"
    [ "$(wc -l <"$out/stderr")" = 1 ] || fail "more than a line: $(head -n 2 "$out/stderr" | xargs)"
}
refused_uarts() {
    refuses_uart 'is the guest.s console; add --stream-shared' --stream serial0
    refuses_uart 'needs the UART of the guest.s console' --stream serial2 --stream-shared
    refuses_uart 'excludes --console and --ctl' --stream serial0 --stream-shared --ctl "\$out/ctl"
    refuses_uart 'has no such UART' --stream rtc@170000
    refuses_uart 'need --stream' --stream-baud 9600
    refuses_uart 'needs --stream-file' --stream serial2 --stream-beside
}

add test stream-shadow 20 every_byte every-byte
add test stream-size 30 counted_time 85
add nightly stream-two-cpus 20 two_cpus 300
add nightly stream-every-byte-sanitized 60 every_byte every-byte-sanitized
add nightly stream-emulation 20 two_cpus 200 --engine emulation
add nightly stream-load 240 over_uart "mmioscope.steps=all mmioscope.sd_copies=8" 600 --engine emulation --policy stall --time-limit 900
add nightly stream-same-shadow 20 beside shadow
add nightly stream-same-emulation 20 beside emulation
add nightly stream-quiet 20 over_uart "quiet $boot_steps" 600 # few events, mostly the drivers' first ones
add nightly stream-fold 20 two_cpus 300 --stream-fold polls
add test stream-shared 20 one_uart serial0
add test stream-binary 10 binary_console serial0 stall
add nightly stream-binary-emulation 10 binary_console serial0 drop --engine emulation
add nightly stream-binary-virt 10 binary_on_virt stall
add nightly stream-shared-virt 20 one_uart_on_virt
add nightly stream-shared-imx 30 one_uart_of_imx
add test stream-slow 30 slow_line
add test stream-damaged 10 damaged_wire
add nightly stream-demo 120 demo_over_uart
add test stream-any-uart 10 any_uart
add test stream-refused 5 refused_uarts

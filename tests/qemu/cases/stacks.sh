# The functions behind accesses (run --stack), compared with the calls that QEMU carries out (call_log.c).
# shellcheck shell=bash disable=SC2154

# A number in the judge's last line, by the words after it.
stacks_number() { sed -nE "\$s/.*(^| )([0-9]+) $1.*/\\2/p" "$out/judge"; }

# Each caller that the trace and the log know is the same one.
stacks_judged() { # TRACE LOG
    "$build/host/tests/linux/callers_of" --stacks "$1" "$2" >"$out/judge" || [ $? = 1 ] || fail "no trace, or no log"
}

stacks() { # FEWEST-CALLERS ARGUMENT...
    local fewest=$1 address=() name all
    shift
    for name in __switch_to ret_from_fork; do
        address+=("$("$build/tests/named-code" --address "$guest/vmlinuz" $name)") || fail "the kernel has no $name"
    done
    run_linux mmioscope.steps=console,rtc,sysreg,irq,sd,net --no-print --trace all --stack 256:gpio,serial0,ethernet,calls \
        --probe 'vfs_*' --probe 'smsc911x:*' --probe 'mmc_*' \
        --access-log "$out/access.log" \
        --qemu-arg=-plugin \
        "--qemu-arg=file=$build/tests/call-log.so,out=$out/call.log,switch=${address[0]},fork=${address[1]}" "$@"
    complete
    verified
    stacks_judged "$out/trace.mmio" "$out/call.log"
    all=$(stacks_number accesses)
    [ "$all" -ge 5000 ] || fail "few accesses: $(tail -n 1 "$out/judge")"
    [ $((100 * $(stacks_number 'have a caller'))) -ge $((98 * all)) ] || fail "unknown callers: $(tail -n 1 "$out/judge")"
    [ $((100 * $(stacks_number compared))) -ge $((80 * all)) ] || fail "few compared: $(tail -n 1 "$out/judge")"
    [ "$(stacks_number callers)" -ge $((fewest * all)) ] || fail "short stacks: $(tail -n 1 "$out/judge")"
    [ "$(stacks_number different)" = 0 ] || fail "wrong: $(head -n 3 "$out/judge" | xargs)"
}

# The judge finds one wrong caller of one access, the third.
stacks_judge() {
    stacks "$@"
    awk 'NF > 9 && $3 ~ /^0x1c0900/ && ++seen == 100 { $9 = "0xc0400004" } 1' "$out/call.log" >"$out/altered.log"
    stacks_judged "$out/trace.mmio" "$out/altered.log"
    [ "$(stacks_number different)" = 1 ] || fail "a wrong caller is not noticed: $(tail -n 1 "$out/judge")"
    rm -f "$out/call.log" "$out/altered.log"
    # What a person sees, and what a flame graph is made of.
    "$mmioscope" print --stack -F 'reg==SYS_LED && w' "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has print ' bgpio_write32\+0x[0-9a-f]+ <- led_[a-z_]+ \['
    has print '^ +<- led_heartbeat_function\+0x[0-9a-f]+$'
    "$mmioscope" stat --by stack -F 'dev==ethernet' "$out/trace.mmio" >"$out/by-stack" || fail "stat: exit status $?"
    has by-stack ';smsc911x_poll \[smsc911x\];__smsc911x_reg_read \[smsc911x\] '
    "$mmioscope" export --as folded -F 'dev==serial0' -o "$out/folded" "$out/trace.mmio" 2>/dev/null || fail "export: exit status $?"
    has folded ';pl011_console_write;uart_console_write;pl011_console_putchar [1-9][0-9]+$'
    "$mmioscope" export --as folded -F 'call && func==mmc_wait_for_req' -o "$out/folded" "$out/trace.mmio" 2>/dev/null || fail "export: exit status $?"
    has folded ';mmc_wait_for_cmd;mmc_wait_for_req [1-9][0-9]*$'
}

add test stacks 60 stacks_judge 3
stacks_of() { # GUEST ARGUMENT...
    guest=$1
    stacks "${@:2}"
}
add nightly stacks-trixie 60 with_guest trixie stacks_of 3

# The guest's own tracer of functions has the same stacks, to the last address. Of these functions some are of modules, some
# run in interrupts, some in threads of the kernel, and in programs.
traced_functions="mmci_request mmci_irq mmci_cmd_irq mmci_start_data mmci_request_end smsc911x_irqhandler smsc911x_poll
    smsc911x_hard_start_xmit pl011_start_tx pl011_int mmc_wait_for_req mmc_start_request led_set_brightness led_trigger_event
    vfs_read vfs_statx ip_rcv d_alloc_parallel"

stacks_ftrace_init() {
    init_head
    cat <<'INIT'
for step in sysreg sd net; do
    while read -r module; do insmod "/lib/modules/$module" 2>/dev/null; done < "/lib/modules/$step"
done
sleep 1
mount -t tracefs tracefs /sys/kernel/tracing
cd /sys/kernel/tracing
echo 0 >tracing_on
echo 16384 >buffer_size_kb
sed 's/.*functions=\([^ ]*\).*/\1/; s/,/ /g' /proc/cmdline >set_ftrace_filter
echo function >current_tracer
for option in func_stack_trace sym-offset sym-addr; do echo 1 >options/$option; done
echo 1 >tracing_on
for mark in 1 2 3; do echo begin >trace_marker; done
dd if=/dev/mmcblk0 of=/dev/null bs=16k count=8 iflag=direct 2>/dev/null
ip address add 10.0.2.15/24 dev eth0 && ip link set eth0 up
ping -c 3 10.0.2.2 >/dev/null
for led in /sys/class/leds/v2m:*; do echo none >$led/trigger; echo 255 >$led/brightness; done
ls -lR /sys/class >/dev/null
echo "a line"
echo 0 >tracing_on
echo "== trace"
cat trace
echo "== end"
poweroff -f
INIT
}

stacks_ftrace_judged() { # CONSOLE
    local address=() name
    for name in tracing_mark_write call_with_stack; do
        address+=("$("$build/tests/named-code" --address "$guest/vmlinuz" $name)") || fail "the kernel has no $name"
    done
    tests/qemu/ftrace_stacks.py "$1" "$out/frames" "${address[@]}" >"$out/judge" || [ $? = 1 ] || fail "no trace, or no stacks"
}

stacks_ftrace() { # SHARE
    local name probes=() events found
    for name in $traced_functions tracing_mark_write; do
        case $name in mmci_*) name=armmmci:$name ;; smsc911x_*) name=smsc911x:$name ;; esac
        probes+=(--probe "$name")
    done
    mkdir "$out/root"
    stacks_ftrace_init >"$out/root/ftrace"
    chmod 755 "$out/root/ftrace"
    (cd "$out/root" && echo ftrace | cpio --quiet -o -H newc --owner=0:0 | gzip -9n) | cat "$guest/initrd.img" - >"$out/initrd.img"
    # shellcheck disable=SC2086 # words
    run --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" --sd "$build/guest/sd.img" --no-print --expect '== end' \
        --append "console=ttyAMA0 rdinit=/ftrace functions=$(echo $traced_functions | tr ' ' ,)" \
        --trace 'all,!serial@90000' --stack 2048:calls "${probes[@]}"
    complete
    rm -r "$out/initrd.img" "$out/root"
    "$build/host/tests/linux/callers_of" --frames "$out/trace.mmio" >"$out/frames" || fail "no stacks"
    stacks_ftrace_judged "$out/console"
    events=$(stacks_number events) found=$(stacks_number 'have a call')
    [ "$events" -ge 2000 ] || fail "few: $(tail -n 1 "$out/judge")"
    [ $((100 * found)) -ge $((99 * events)) ] || fail "events without a call: $(tail -n 1 "$out/judge")"
    [ $((100 * $(stacks_number equal))) -ge $(($1 * (found - $(stacks_number 'end in another stack') - $(stacks_number 'in ftrace itself')))) ] ||
        fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    [ "$(stacks_number different)" = 0 ] || fail "wrong: $(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    # The judge finds one wrong address in one stack.
    awk '/<stack trace>/ { ++seen } seen == 1000 && /^ => / && !altered++ { sub(/<[bc]/, "<d") } 1' "$out/console" >"$out/altered"
    stacks_ftrace_judged "$out/altered"
    [ "$(stacks_number different)" = 1 ] || fail "a wrong address is not noticed: $(tail -n 1 "$out/judge")"
    stacks_ftrace_judged "$out/console"
}
add nightly stacks-ftrace 60 stacks_ftrace 99
stacks_ftrace_of() { # GUEST SHARE
    guest=$1
    stacks_ftrace "$2"
}
# Its idle task is interrupted where LR is left of a call that has returned: our stack ends there.
add nightly stacks-ftrace-trixie 60 with_guest trixie stacks_ftrace_of 94

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

# Callers of the functions that make accesses, compared with the calls that QEMU carries out (call_log.c).
# shellcheck shell=bash disable=SC2154

# A number in the last line of callers_of, by the words after it.
callers_number() { sed -nE "\$s/.*(^| )([0-9]+) $1.*/\\2/p" "$out/callers"; }

# Runs callers_of on the run's trace.
callers_compared() {
    "$build/host/tests/linux/callers_of" "$out/trace.mmio" "$out/call.log" >"$out/callers" || [ $? = 1 ] ||
        fail "callers_of cannot read the trace or the log"
    rm -f "$out/call.log"
}

callers() { # LEAST-SHARE ARGUMENT...
    local share=$1 all
    shift
    run_linux "" --no-print --trace all --qemu-arg=-plugin \
        "--qemu-arg=file=$build/tests/call-log.so,out=$out/call.log" "$@"
    complete
    callers_compared
    all=$(callers_number accesses)
    # The last ones, after the store that ends the machine, may be only in the trace.
    [ "$(callers_number 'not in the log')" -le 64 ] || fail "the log is not of this run: $(tail -n 1 "$out/callers")"
    [ $((100 * $(callers_number 'have a caller'))) -ge $((share * all)) ] || fail "few callers: $(tail -n 1 "$out/callers")"
    [ $((100 * $(callers_number compared))) -ge $((share * all * 9 / 10)) ] || fail "few compared: $(tail -n 1 "$out/callers")"
    [ "$(callers_number different)" = 0 ] || fail "wrong callers: $(head -n 3 "$out/callers" | xargs)"
    [ "$(callers_number before)" -le $((all / 100)) ] || fail "nothing looked up for long: $(tail -n 1 "$out/callers")"
    # One copy loop reads the FIFO, so its caller is the interesting one.
    has callers '^[1-9][0-9]{5} __raw_readsl < mmci_pio_irq$'
    has callers '^[1-9][0-9]* __raw_readsl < smsc911x_rx_readfifo$'
    "$mmioscope" stat --by caller -F 'function==__raw_readsl && dev==mmc@50000' "$out/trace.mmio" >"$out/by-caller" ||
        fail "stat: exit status $?"
    has by-caller '^mmci_pio_irq \[armmmci\] +[1-9][0-9]{5} '
    # Another consumer, with the callers in a table.
    "$mmioscope" export --as sqlite -i "$out/trace.mmio" -o "$out/trace.db" 2>/dev/null || fail "export: exit status $?"
    [ "$(sqlite3 "$out/trace.db" "SELECT count(*) FROM trace WHERE type = 'access' AND function = '__raw_readsl'
        AND caller = 'mmci_pio_irq'")" = "$(sed -n 's/^\([0-9]*\) __raw_readsl < mmci_pio_irq$/\1/p' "$out/callers")" ] ||
        fail "the database has other callers"
    rm -f "$out/trace.db"
    [ "$("$mmioscope" print --no-pc --format jsonl "$out/trace.mmio" 2>/dev/null | grep -c '"caller"')" = 0 ] ||
        fail "--no-pc leaves callers"
}

add test callers 60 callers 85

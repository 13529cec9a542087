# Control while the guest runs, through the control page.
# shellcheck shell=bash disable=SC2154

# The selection changes 4,000 times while two CPUs use the page: all accesses while it is on, and no others.
switching() { # ENGINE
    run_bare switching --engine "$1" --trace none --access-log "$out/access.log"
    complete
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    tests/qemu/switching.py "$out/access.log" "$out/print" >"$out/judge" || fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    has console '^switching: 2000 accesses make 0 traps untraced, [2-9][0-9]{3} traced'
}

# A million random writes to the control page: the only change in the trace is the marker after them.
noise() {
    run_bare control_noise
    complete
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has_not print ' change '
    [ "$(grep -c ' mark ' "$out/print")" = 1 ] || fail "not one marker"
    has_not hypervisor 'stop:'
}

# `mmioscope ctl` over the stream's wire, while it is recorded and stock Linux boots: each change is exactly where its
# record says.
steered() {
    local folder running
    folder=$(mktemp -d)
    run_linux mmioscope.steps=all --no-print --stream serial2 --ctl "$folder/ctl" &
    running=$!
    until_true 60 test -s "$out/console" || fail "the console stays empty" # the driver of the console is there
    ctl() { "$mmioscope" ctl --timeout 60 "unix:$folder/ctl" "$@" >>"$out/ctl" 2>&1; }
    ctl status && ctl mark "a text of some length" && ctl deselect serial0 mmc@50000 && ctl mark 7 &&
        ctl stop && ctl start && ctl filter direction w && ctl filter cpus 0 value 0x0/0x1 && ctl filter none &&
        ctl sample 3 && ctl sample 1 && ctl deselect 0x1c170000+0x1000 && ctl select rtc@170000 &&
        ctl policy stall && ctl policy drop && ctl snapshot && ctl flush && ctl trigger stop address serial0 && ctl trigger none && ctl select serial0 && ctl statistics &&
        ctl trigger start address serial0 direction w count 3
    local asked=$?
    ctl deselect no-such-device && asked=1
    wait "$running"
    rm -r "$folder"
    [ "$asked" = 0 ] || fail "ctl: $(tail -n 1 "$out/ctl")"
    has ctl '^tracing is on; 2 CPUs, [0-9]+ regions$'
    has ctl '^traps +[0-9]+ +[0-9]+$'
    has ctl 'there is no device .no-such-device'
    has stdout '^complete: [0-9]+ events, 0 lost$'
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    tests/qemu/steered.py "$out/print" >"$out/judge" || fail "$(head -n 1 "$out/judge")"
}

# A guest that sleeps, with nothing traced, is reached when it idles: each of 30 requests gets its reply. Prints their
# durations, including the program's start, without judging them.
idle_latency() {
    local folder running from n seconds=irq
    folder=$(mktemp -d)
    for n in {1..90}; do seconds+=,irq; done
    (run_linux '' --append "console=ttyAMA0 panic=-1 quiet mmioscope.steps=$seconds" --no-print --trace none \
        --stream serial2 --ctl "$folder/ctl"; exit "$status") &
    running=$!
    until_console $running '^mmioscope-guest: irq ok'
    for n in {1..30}; do
        from=${EPOCHREALTIME/[.,]/}
        "$mmioscope" ctl --timeout 10 "unix:$folder/ctl" mark "$n" >"$out/ctl" 2>&1 || fail "request $n: $(tail -n 1 "$out/ctl")"
        echo $(((${EPOCHREALTIME/[.,]/} - from) / 1000)) >>"$out/milliseconds"
    done
    "$mmioscope" ctl "unix:$folder/ctl" flush >"$out/ctl" 2>&1 || fail "flush: $(tail -n 1 "$out/ctl")"
    for n in {1..100}; do # the guest sleeps, and gives the stream a moment now and then
        "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" 2>/dev/null || true
        [ "$(grep -c ' mark [0-9]*$' "$out/print")" -lt 30 ] || break
        sleep 0.1
    done
    pkill -TERM -P $running mmioscope
    status=0
    wait $running || status=$?
    rm -r "$folder"
    exits_with 130
    has stdout '^complete: [0-9]+ events, 0 lost; the recording was cut: interrupted$'
    [ "$(grep -c ' mark [0-9]*$' "$out/print")" = 30 ] || fail "$(grep -c ' mark ' "$out/print") of 30 marks in the trace"
    sort -n "$out/milliseconds" | sed -n '15s/^/median ms: /p; 30s/^/most ms: /p' >"$out/latency"
}

# The same through the UARTs of other boards.
steered_on() { # BOARD TREE CONSOLE
    local folder running
    board=$1 board_tree=$guest/$2.dtb
    folder=$(mktemp -d)
    run_linux '' --append "console=$3 panic=-1 mmioscope.steps=none" --no-print --cpus 2 --stream serial2 \
        --ctl "$folder/ctl" &
    running=$!
    until_true 60 test -s "$out/console" || fail "the console stays empty"
    for word in 42 43; do "$mmioscope" ctl --timeout 60 "unix:$folder/ctl" mark $word >>"$out/ctl" 2>&1; done
    wait "$running"
    rm -r "$folder"
    has stdout '^complete: [0-9]+ events, 0 lost$'
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -o ' mark .*' "$out/print" | xargs)" = 'mark 42 mark 43' ] || fail "$(tail -n 1 "$out/ctl")"
}

# With nothing traced and no control page the hypervisor is entered only for the guest's own PSCI calls.
never_entered() { # MOST-CALLS COMMAND...
    local most=$1
    board=virt
    shift
    "$@" --trace none --no-control-page
    complete
    "$mmioscope" print --summary -v "$out/trace.mmio" >"$out/summary" || fail "print: exit status $?"
    has summary '^cpu 1: 0 traps, '
    has summary '^cpu 0: [0-9]+ traps, 0 stepped, 0 emulated, 0 unselected, '
    [ "$(grep -oE '^cpu 0: [0-9]+' "$out/summary" | cut -c 8-)" -le "$most" ] || fail "$(grep '^cpu 0' "$out/summary")"
}

for engine in shadow emulation; do
    add test "switching-$engine" 10 on_all_cpus switching $engine
done
add test control-noise 20 noise
add test control-wire 40 steered
add test never-entered 8 never_entered 2 run_bare hammer # CPU_ON, SYSTEM_OFF
add nightly never-entered-linux 15 never_entered 12 run_linux mmioscope.steps=none --no-print
add nightly control-idle 25 idle_latency
add nightly control-wire-8250 20 steered_on orangepi-pc sun8i-h3-orangepi-pc ttyS0
add nightly control-wire-imx 20 steered_on mcimx7d-sabre imx7d-sdb ttymxc0

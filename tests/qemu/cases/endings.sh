# Ways in which a run can end other than by itself, and the value of the trace then.
# shellcheck shell=bash disable=SC2154

# in_background ARGUMENT...: two CPUs that access a device all the time; $pid is mmioscope's, which takes Ctrl-C (a shell
# starts its jobs with SIGINT ignored). Returns when they have begun.
in_background() {
    env --default-signal=INT "$mmioscope" run --bare --kernel "$build/tests/guest/vexpress-a15/hammer.bin" \
        --dtb "$board_tree" --no-net --no-print -v --time-limit 60 -o "$out/trace.mmio" --console-log "$out/console" \
        --hyp-log "$out/hypervisor" "$@" >"$out/stdout" 2>"$out/stderr" &
    pid=$!
    until_true 12 trace_grows || fail "no trace grows"
}
ended() { status=0; wait $pid || status=$?; }

# Ctrl-C.
interrupted() { # ARGUMENT...
    in_background "$@"
    kill -INT $pid
    ended
    exits_with 130
    has stdout '^complete: [0-9]+ events, 0 lost; the recording was cut: interrupted$'
    "$mmioscope" print --summary "$out/trace.mmio" >"$out/summary" 2>&1
    has summary 'interrupted'
}

# mmioscope is killed: QEMU ends with it, and the file so far is readable.
killed() {
    in_background
    kill -KILL $pid
    ended
    status=0
    "$mmioscope" print --summary "$out/trace.mmio" >"$out/summary" 2>&1 || status=$?
    exits_with 1
    has summary 'clcd@1f0000 +[0-9]'
    has summary 'cut'
}

# A file without its end says so, and shows what is there. It is as its recorder left it, which did not pack it.
cut_file() {
    run_bare forms --engine emulation --plain
    complete
    local whole half
    whole=$("$mmioscope" print --all --raw "$out/trace.mmio" | grep -c ' pc 0x')
    for size in 1 2; do
        head -c $(($(stat -c %s "$out/trace.mmio") * size / 3 + 7)) "$out/trace.mmio" >"$out/cut.mmio"
        status=0
        "$mmioscope" print --all --raw "$out/cut.mmio" >"$out/print" 2>&1 || status=$?
        exits_with 1
        has print 'cut'
        half=$(grep -c ' pc 0x' "$out/print")
        [ "$half" -gt 10 ] && [ "$half" -lt "$whole" ] || fail "$half of $whole records in $size third(s) of the file"
    done
    rm -f "$out/cut.mmio"
}

# The output is not read until long after the guest has ended: nothing is lost, everything comes later.
stalled() {
    "$mmioscope" run --bare --kernel "$build/tests/guest/vexpress-a15/forms.bin" --dtb "$board_tree" --no-net --all --print \
        --engine emulation --console-log "$out/console" --time-limit 60 --expect 'guest: done' 2>"$out/stderr" |
        { until_true 60 grep -qs '^guest: done' "$out/console"; cat; } >"$out/stdout"
    status=${PIPESTATUS[0]}
    complete
    [ "$(grep -cE '^ *[0-9.]+ cpu[01] [RW][1248] .* pc 0x[0-9a-f]+' "$out/stdout")" -ge "$(events)" ] ||
        fail "fewer lines than events"
}

# Nobody reads any more: the run continues.
closed() {
    "$mmioscope" run --bare --kernel "$build/tests/guest/vexpress-a15/outside.bin" --dtb "$board_tree" --no-net --all --print \
        -o "$out/trace.mmio" --time-limit 60 --expect 'guest: done' 2>"$out/stderr" | head -n 3 >"$out/stdout"
    "$mmioscope" print --summary "$out/trace.mmio" >"$out/summary" 2>&1 || fail "print: exit status $?"
    has summary '^complete: [0-9]+ events, 0 lost'
}

# Both CPUs retry again and again because their rings are full.
rings_are_full() {
    local retries
    retries=$("$mmioscope" blackbox -n 1 "$out/ram" 2>"$out/blackbox" | sed -nE 's/^cpu [01]: .* ([0-9]+) retries,.*/\1/p' | paste -sd+)
    [ $((retries)) -gt 100000 ]
}
# Nobody empties the rings for a while: the policy is applied, and the verdict says so.
overrun() { # POLICY
    in_background --engine emulation --area-size 1M --policy "$1" --expect 'guest: done' --memory 160M --ram "$out/ram"
    kill -STOP $pid
    if [ "$1" = stall ]; then
        until_true 20 rings_are_full || fail "no ring was ever full"
    else
        until_console $pid '^guest: done'
    fi
    kill -CONT $pid
    ended
    rm "$out/ram"
    "$mmioscope" print --summary "$out/trace.mmio" >"$out/summary" 2>&1 || true
    has stdout "^policy: $1$"
    has summary "^policy: $1$"
    if [ "$1" = stall ]; then
        complete
        [ $(($(statistic 0 retries) + $(statistic 1 retries))) -gt 100000 ] || fail "no ring was ever full"
        has summary '^complete: [0-9]+ events, 0 lost'
        return
    fi
    exits_with 1
    has stdout '^incomplete: [0-9]+ events, [1-9][0-9]* lost(, [0-9]+ other records? lost)? \(cpu [01]: [0-9]+ from sequence [0-9]+'
    has summary '^incomplete: [0-9]+ events, [1-9][0-9]* lost'
    has console '^guest: done$'
    # The events and the losses together are what was made.
    local numbers
    numbers=$(sed -nE 's/^incomplete: ([0-9]+) events, ([0-9]+) lost.*/\1 \2/p' "$out/stdout")
    [ $((${numbers/ / + })) -ge 100000 ] || fail "$numbers: that is less than the guest made"
}

time_limit() {
    run_bare hammer --time-limit 1 -o "$out/trace.mmio"
    exits_with 1
    has stdout '^complete: [0-9]+ events, 0 lost; the recording was cut: time limit reached$'
    "$mmioscope" print --summary "$out/trace.mmio" >"$out/summary" 2>&1 || fail "print: exit status $?"
    has summary '^complete: [0-9]+ events, 0 lost; the recording was cut: time limit reached$'
}

add test interrupted 5 interrupted
add test interrupted-stream 5 interrupted --stream serial2
add test killed 5 killed
add test cut-file 8 cut_file
add test stalled-output 8 stalled
add test closed-output 3 closed
for policy in drop stall flight; do add test overrun-$policy 8 overrun $policy; done
add test time-limit 3 time_limit

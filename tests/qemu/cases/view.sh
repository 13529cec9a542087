# Commands that read a trace, on terminals, with pipes, growing files, outputs and damaged input. Their output for a
# whole trace, and for invalid options, is tested in tests/commands/. Without QEMU: the traces are made from text
# (tests/host-tools/trace_text.hpp).
# shellcheck shell=bash disable=SC2154

# $out/trace.mmio is complete, with two CPUs and 2 s; $out/lost.mmio has lost 17 records.
view_traces() {
    cat >"$out/text" <<'END'
device serial0 0x1c090000 0x1000
device mmc@50000 0x1c050000 0x1000
0.0 cpu0 R2 0x1c090018 0x90 pc=0xc0500010 va=0xf8090018
0.1 cpu1 W2 0x1c090000 0x20 pc=0xc050001c va=0xf8090000
1.0 cpu1 R4 0x1c050008 0x1aa pc=0xbf010028 va=0xf8050008 duration=5
2.0 cpu0 W4 0x1c050008 0x5 pc=0xbf010030 va=0xf8050008 duration=7
END
    "$build/tests/trace-of-text" "$out/text" "$out/trace.mmio" || fail "trace-of-text failed"
    { cat "$out/text"; echo "2.1 cpu0 gap value=17"; echo "2.2 cpu0 R4 0x1c050008 0x6"; } >"$out/text.lost"
    "$build/tests/trace-of-text" "$out/text.lost" "$out/lost.mmio" || fail "trace-of-text failed"
}

# view_does STATUS ARGUMENT...: $out/stdout and $out/stderr.
view_does() {
    local wanted=$1
    shift
    status=0
    timeout 20 "$mmioscope" "$@" >"$out/stdout" 2>"$out/stderr" </dev/null || status=$?
    [ "$status" = "$wanted" ] || fail "$*: exit status $status, not $wanted: $(last_words)"
}
view_lines() { [ "$(grep -cE ' cpu[0-9] [RW]' "$out/stdout")" = "$1" ] || fail "$2: not $1 lines"; }
view_refuses() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    view_does 2 "$@"
    [ ! -s "$out/stdout" ] || fail "$*: output besides the message"
    [ "$(wc -l <"$out/stderr")" = 1 ] || fail "$*: more than one line"
    has stderr "^mmioscope: .*$pattern"
}

view_version() {
    view_does 0 --version
    has stdout "^mmioscope $(cat VERSION), trace files of format [0-9]+\.[0-9]+$"
}

view_colors() {
    view_traces
    local escape=$'\e'
    view_does 0 print "$out/trace.mmio"; has_not stdout "$escape" "colours in a pipe"
    view_does 0 print --color always "$out/trace.mmio"; has stdout "$escape"
    # On a terminal, and on one with NO_COLOR.
    script -qec "'$mmioscope' print '$out/trace.mmio'" "$out/typescript" >/dev/null </dev/null
    has typescript "$escape" "no colours on a terminal"
    NO_COLOR=1 script -qec "'$mmioscope' print '$out/trace.mmio'" "$out/typescript" >/dev/null </dev/null
    has_not typescript "$escape\[3" "colours despite NO_COLOR"
}

# On a terminal, and only if the data goes elsewhere.
view_progress() {
    "$build/tests/make-trace" 20000 "$out/long.mmio" || fail "no trace"
    awk 'BEGIN { for (i = 0; i < 20000; i++)
        printf "memory_region_ops_read cpu 0 mr 0x1 addr 0x1c090018 value 0x%x size 4 name \047pl011\047\n", i }' >"$out/log"
    local command
    for command in "info '$out/long.mmio'" "check '$out/long.mmio'" "verify '$out/long.mmio' '$out/log'"; do
        script -qec "'$mmioscope' $command >'$out/data'" "$out/typescript" >/dev/null </dev/null
        has typescript '[0-9]+ (events|KiB) read' "$command: no progress"
        eval "'$mmioscope' $command" >"$out/data" 2>"$out/stderr"
        has_not stderr '(events|KiB) read' "$command: progress in a file"
    done
    command="import --as qemu -i '$out/log' -o '$out/imported'"
    script -qec "'$mmioscope' $command" "$out/typescript" >/dev/null </dev/null
    has typescript '[0-9]+ KiB read' "$command: no progress"
    eval "'$mmioscope' $command" 2>"$out/stderr"
    has_not stderr 'KiB read' "$command: progress in a file"
    for command in stat "print --format csv" "print -o '$out/printed'" "export --as csv -o '$out/exported'"; do
        script -qec "'$mmioscope' $command '$out/long.mmio' >'$out/data'" "$out/typescript" >/dev/null </dev/null
        has typescript '[0-9]+ events (read|counted|exported)' "$command: no progress"
        # shellcheck disable=SC2086 # a command and its options
        eval "'$mmioscope' $command '$out/long.mmio'" >"$out/data" 2>"$out/stderr"
        has_not stderr 'events (read|counted|exported)' "$command: progress in a file"
    done
    script -qec "'$mmioscope' print --no-pager '$out/long.mmio'" "$out/typescript" >/dev/null </dev/null
    has_not typescript 'events read' "progress among the lines"
}

view_losses() {
    view_traces
    local command
    for command in print stat follow 'top --once'; do
        # shellcheck disable=SC2086 # a command and its option
        view_does 1 $command "$out/lost.mmio"
        # shellcheck disable=SC2086
        view_does 1 $command --strict "$out/lost.mmio"
        has stderr '17 records of cpu 0 were lost: stopped'
        # shellcheck disable=SC2086
        view_does 0 $command --strict "$out/trace.mmio"
    done
    view_does 1 export --as csv --strict "$out/lost.mmio" -o "$out/csv"
    has stderr '17 records of cpu 0 were lost: stopped'
    [ ! -e "$out/csv" ] || fail "export --strict left a file"
    # Nothing after the last event would report it.
    head -c -60 "$out/trace.mmio" >"$out/endless.mmio"
    view_does 1 export --as csv --strict "$out/endless.mmio" -o "$out/csv"
    has stderr 'the trace is cut off: stopped'
    [ ! -e "$out/csv" ] || fail "export --strict left a file of a cut trace"
    head -c 300 "$out/trace.mmio" >"$out/cut.mmio"
    view_does 1 print "$out/cut.mmio"
    view_does 1 stat "$out/cut.mmio"
    # The reader of a pipe exits: no message, and the shell's status for SIGPIPE.
    for ((i = 0; i < 20000; i++)); do echo "$((3 + i)).0 cpu0 R4 0x1c050008 $i"; done >>"$out/text"
    "$build/tests/trace-of-text" "$out/text" "$out/long.mmio" || fail "trace-of-text failed"
    cp "$out/long.mmio" "$out/bad.mmio" # in the second of two blocks
    printf '\377\377\377\377' | dd of="$out/bad.mmio" bs=1 seek=$(($(stat -c %s "$out/bad.mmio") - 4000)) conv=notrunc 2>"$out/dd"
    view_does 1 export --as csv --strict "$out/bad.mmio" -o "$out/csv"
    has stderr 'the trace is damaged: stopped'
    [ ! -e "$out/csv" ] || fail "export --strict left a file of a damaged trace"
    { status=0; "$mmioscope" print --all "$out/long.mmio" 2>"$out/stderr" || echo $? >"$out/status"; } | head -n 1 >/dev/null
    [ "$(cat "$out/status")" = 141 ] || fail "SIGPIPE: exit status $(cat "$out/status")"
    [ ! -s "$out/stderr" ] || fail "SIGPIPE: $(cat "$out/stderr")"
    { (trap '' PIPE; "$mmioscope" print --all "$out/long.mmio" 2>"$out/stderr") || echo $? >"$out/status"; } | head -n 1 >/dev/null
    [ "$(cat "$out/status")" = 141 ] || fail "SIGPIPE ignored: exit status $(cat "$out/status")"
    status=0
    "$mmioscope" print --all "$out/long.mmio" >/dev/full 2>"$out/stderr" || status=$?
    exits_with 1
    has stderr '^mmioscope: cannot write standard output: '
}

# An output that is the input is refused, under any name, and stays unchanged.
view_own_input() {
    view_traces
    local command name own=$out/own
    for command in print 'print --format csv' stat info check blackbox follow 'top --once' 'export --as csv' \
        'export --as sqlite' 'import --as qemu' "verify '$out/text'" record; do
        rm -f "$own" "$out/symbolic" "$out/hard"
        cp "$out/trace.mmio" "$own"
        [ "$command" != record ] || cp "$out/text" "$own" # a trace is no stream
        cp "$own" "$out/kept"
        ln -s own "$out/symbolic"
        ln "$own" "$out/hard"
        for name in own symbolic hard; do
            eval "set -- $command"
            view_refuses "/$name: is also an input; choose another output" "$@" "$own" -o "$out/$name"
        done
        cmp -s "$own" "$out/kept" || fail "$command: the input is another"
    done
    # The other inputs; standard input and output.
    cp "$out/text" "$own"
    view_refuses 'own: is also an input' verify "$out/trace.mmio" "$own" -o "$own"
    view_refuses 'own: is also an input' verify --pc-log "$own" "$out/trace.mmio" "$out/text" -o "$own"
    view_refuses 'own: is also an input' print "$out/trace.mmio" --dmesg "$own" -o "$own"
    view_refuses 'own: is also an input' print "$out/trace.mmio" --symbols "$own" -o "$own"
    view_refuses 'own: is also an input' record "$out/text" --dtb "$own" -o "$out/none.mmio" --console "$own"
    [ ! -e "$out/none.mmio" ] || fail "a file was made for nothing"
    status=0
    timeout 20 "$mmioscope" follow - <"$own" >>"$own" 2>"$out/stderr" || status=$?
    exits_with 2
    has stderr '^mmioscope: standard output: is also an input'
    cmp -s "$own" "$out/text" || fail "an input is another"
    # A path that is not a regular file may be both.
    view_does 2 print /dev/null -o /dev/null
    has_not stderr 'is an input'
}

# A trace without its end, up to the end of the first section of records, as left by a flush.
follow_growing() { # ARGUMENT...
    head -c -60 "$out/trace.mmio" >"$out/growing"
    timeout 20 "$mmioscope" follow "$@" "$out/growing" >"$out/stdout" 2>"$out/stderr" &
    pid=$!
}
has_lines() { [ "$(grep -c -- "$2" "$out/stdout")" = "$1" ]; } # COUNT PATTERN
follow_ends() { # STATUS
    status=0
    wait $pid || status=$?
    pid=
    exits_with "$1"
}

# A growing file: its lines come as it grows, for people and for programs.
view_follow() {
    view_traces
    follow_growing
    until_true 5 has_lines 4 ' cpu[01] '
    view_lines 4 'before the end'
    has_not stdout '^complete'
    tail -c 60 "$out/trace.mmio" >>"$out/growing"
    follow_ends 0
    has stdout '^complete: 4 events, 0 lost$'
    follow_growing --format csv
    until_true 5 has_lines 5 ''
    [ "$(wc -l <"$out/stdout")" = 5 ] || fail "--format csv: $(wc -l <"$out/stdout") lines before the end"
    tail -c 60 "$out/trace.mmio" >>"$out/growing"
    follow_ends 0
    has stderr '^complete: 4 events, 0 lost$'
    # It ends by itself after this many, even if more come.
    follow_growing --limit 2
    follow_ends 0
    view_lines 2 'follow --limit 2'
    has stdout '^the first 2 events; the rest was not read \(--limit\)$'
    has_not stdout 'complete'
    follow_growing --format csv --limit 3 -F 'cpu==1 || r'
    follow_ends 0
    [ "$(wc -l <"$out/stdout")" = 4 ] || fail "--format csv --limit 3: $(wc -l <"$out/stdout") lines"
    has stderr '^the first 3 events; '
    view_does 0 follow --limit 4 "$out/lost.mmio"
    view_does 1 follow --limit 5 "$out/lost.mmio" # the fifth tells of the loss
    has stdout '^the first 5 events; '
    view_does 0 follow --limit 5 "$out/trace.mmio" # which has 4
    has stdout '^complete: 4 events, 0 lost$'
    view_refuses "--limit: '0' is not a whole number, 1 or more" follow --limit 0 "$out/trace.mmio"
    follow_growing
    until_true 5 has_lines 4 ' cpu[01] '
    kill -TERM "$pid"
    follow_ends 130
    has stdout '^incomplete: 4 events, 0 lost; the trace is cut off$'
}

# Each command reads a compressed trace like the trace; a growing one as far as its writer flushed it.
view_compressed() {
    view_traces
    local command
    zstd -q "$out/trace.mmio" -o "$out/trace.zst"
    cp "$out/trace.zst" "$out/trace.mmio.zst"
    mkdir "$out/packed"
    cp "$out/trace.zst" "$out/packed/trace.mmio" # the name is in the output of some
    for command in print stat follow 'top --once' info 'export --as csv -o -'; do
        # shellcheck disable=SC2086 # a command and its option
        (cd "$out" && view_does 0 $command trace.mmio && cp stdout plain && cd packed &&
            out=.. view_does 0 $command trace.mmio) || fail "$command: see stderr"
        cmp -s "$out/plain" "$out/stdout" || fail "$command: another output of a compressed trace"
    done
    # Up to the end of the records, with the frame still open; then the rest.
    local size
    size=$(stat -c %s "$out/trace.mmio")
    mkfifo "$out/pipe"
    { head -c $((size - 60)) "$out/trace.mmio"; cat "$out/pipe"; } | zstd -qc --long=27 >"$out/growing" &
    timeout 20 "$mmioscope" follow "$out/growing" >"$out/stdout" 2>"$out/stderr" &
    pid=$!
    tail -c 60 "$out/trace.mmio" >"$out/pipe"
    status=0
    wait $pid || status=$?
    pid=
    exits_with 0
    has stdout '^complete: 4 events, 0 lost$'
}

# The output of info for programs.
view_info() {
    view_traces
    { echo 'about kernel=a,b "c"'; sed 's/^\(device .*\)/\1 arm,pl011/' "$out/text"; echo '2.1 cpu0 configuration value=0 pa=4'; } >"$out/text.info"
    "$build/tests/trace-of-text" "$out/text.info" "$out/info.mmio" || fail "trace-of-text failed"
    view_does 0 info --format jsonl "$out/info.mmio"
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <"$out/stdout" 2>"$out/stderr" ||
        fail "no JSON: $(last_words)"
    has stdout '^\{"about":"trace","format":"[0-9.]+",.*"duration_ns":2100000000,"accesses":4,"records":5,"lost":0,.*"cut":false,"damaged":false,"whole":true\}$'
    has stdout '^\{"about":"text","name":"kernel","value":"a,b \\"c\\""\}$'
    has stdout '^\{"about":"device","name":"serial0","address":"0x1c090000","size":"0x1000","compatible":"arm,pl011","path":"[^"]*","traced":"changed"'
    has stdout '^\{"about":"selection","name":"serial0","traced":"no","from_ns":2100000000\}$'
    has stdout '^\{"about":"coverage","touched":3,"device":3,"register":[0-9],"field":[0-9]\}$'
    has_not stdout '"about":"unnamed"'
    view_does 0 info --format csv "$out/info.mmio"
    [ "$(head -n 1 "$out/stdout")" = about,name,property,value ] || fail "info --format csv begins with $(head -n 1 "$out/stdout")"
    has stdout '^trace,,whole,true$'
    has stdout '^text,kernel,value,"a,b ""c"""$'
    has stdout '^device,mmc@50000,address,0x1c050000$'
    view_does 0 info --coverage --format jsonl "$out/trace.mmio"
    [ "$(cut -d, -f1 "$out/stdout" | sort -u | xargs)" = '{about:coverage {about:unnamed' ] || fail "info --coverage has other items"
    has stdout '^\{"about":"unnamed","name":"mmc@50000","offset":"0x8","reads":1,"writes":1,"lacks":"register"\}$'
    view_does 1 info --format csv "$out/lost.mmio"
    has stdout '^loss,,count,17$'
    has stdout '^trace,,whole,false$'
    head -c -60 "$out/trace.mmio" >"$out/endless.mmio"
    view_does 1 info --format csv "$out/endless.mmio"
    has stdout '^trace,,cut,true$'
    has_not stdout '^trace,,ended'
    view_refuses '--format' info --format xml "$out/trace.mmio"
}
add test view-info 3 view_info

# Which devices were traced when, according to the records of changes.
view_selections() {
    view_traces
    cat >>"$out/text" <<'END_OF_TEXT'
2.1 cpu0 configuration value=0 pa=4
2.2 cpu0 configuration value=0 pa=4
2.3 cpu0 configuration value=0x10001c050000 pa=6
2.4 cpu1 configuration value=0xffffffff pa=3
2.5 cpu1 configuration value=0x101c050010 pa=6
2.6 cpu0 configuration pa=2
2.7 cpu0 configuration pa=1
END_OF_TEXT
    view_does 0 info "$out/trace.mmio"
    has stdout '^serial0 +yes +0x1c090000 '
    has_not stdout '^changed '
    "$build/tests/trace-of-text" "$out/text" "$out/changed.mmio" || fail "trace-of-text failed"
    view_does 0 info "$out/changed.mmio"
    has stdout '^serial0 +changed +0x1c090000 '
    sed -n '/^changed /,/^$/s/  */ /gp' "$out/stdout" >"$out/selections"
    diff - "$out/selections" >"$out/differences" <<'END_OF_TEXT' || fail "selections: $(grep '^[<>]' "$out/differences" | head -n 4 | xargs)"
changed traced from s left out before
serial0 yes
serial0 no 2.100000
serial0 yes 2.400000
mmc@50000 yes
mmc@50000 no 2.300000
mmc@50000 yes 2.400000
mmc@50000 in part 2.500000
all yes
all no 2.600000
all yes 2.700000
END_OF_TEXT
    for n in {1..40}; do printf '%d cpu0 configuration value=1 pa=%d\n' $((n + 2)) $((n % 2 + 3)); done >>"$out/text"
    "$build/tests/trace-of-text" "$out/text" "$out/changed.mmio" || fail "trace-of-text failed"
    view_does 0 info "$out/changed.mmio"
    has stdout '^mmc@50000 +no +2\.300000$'
    has stdout '^mmc@50000 +yes +42\.000000 +39 changes$'
}
add test view-selections 3 view_selections
add test view-compressed 4 view_compressed
add test view-version 2 view_version
add test view-colors 3 view_colors
add test view-progress 4 view_progress
add test view-losses 6 view_losses
add test view-own-input 4 view_own_input
add test view-follow 4 view_follow

view_top() {
    view_traces
    local size why
    size=$(stat -c %s "$out/trace.mmio")
    head -c $((size - 60)) "$out/trace.mmio" >"$out/growing"
    tail -c 60 "$out/trace.mmio" >"$out/rest"
    why=$(timeout 60 tests/qemu/top_in_pty.py "$mmioscope" "$out/trace.mmio" "$out/growing" "$out/rest" 2>&1) ||
        fail "${why:-status $?}"
}
add test view-top 8 view_top

# The kernel's log between the accesses, placed by its own lines on the console, or by hand; and logs that cannot be
# placed.
view_dmesg() {
    view_traces
    { cat "$out/text"; printf '%s\n' 'text 2.5 cpu0 serial0 \n' 'text 3.0 cpu0 serial0 [    1.500000] hello\n'; } >"$out/text.console"
    "$build/tests/trace-of-text" "$out/text.console" "$out/console.mmio" || fail "trace-of-text failed"
    printf '[    0.100000] early\n[    1.500000] hello\n[    9.000000] late\n' >"$out/dmesg"
    view_does 0 print --dmesg "$out/dmesg" "$out/console.mmio"
    has stderr "printk's time 0 is at 1.500000 s of the trace, by 1 of 3 lines"
    [ "$(grep -n 'dmesg .*early' "$out/stdout" | cut -d: -f1)" = 5 ] || fail "early is not behind 3 accesses"
    has stdout '^ +3\.000000 dmesg \[    1\.500000\] hello$'
    has stdout '^ +10\.500000 dmesg \[    9\.000000\] late$'
    view_does 0 print --dmesg "$out/dmesg" --dmesg-offset -0.05 "$out/trace.mmio"
    has stdout '^ +0\.050000 dmesg \[    0\.100000\] early$'
    view_refuses 'none of its lines left by a traced UART' print --dmesg "$out/dmesg" "$out/trace.mmio"
    view_refuses "no line has printk's time" print --dmesg "$out/text" "$out/trace.mmio"
    view_refuses 'cannot read .*nothing' print --dmesg "$out/nothing" "$out/trace.mmio"
}
add test view-dmesg 3 view_dmesg

# $out/bad.mmio: the guest's output is damaged.
view_bad_console() {
    { cat "$out/text"; printf '%s\n' 'console 0.9 [    0.400000] hello\n' 'console 0.95 [    0.500000] broken\n'; } >"$out/text.bad"
    "$build/tests/trace-of-text" "$out/text.bad" "$out/bad.mmio" || fail "trace-of-text failed"
    sed -i 's/ broken/ BROKEN/' "$out/bad.mmio"
}

# A trace is not a stream: refused before there is an output.
view_recorded() {
    view_traces
    zstd -q "$out/trace.mmio" -o "$out/trace.zst"
    local name
    for name in trace.mmio trace.zst; do
        view_refuses "/$name: this is a trace, not a stream; read it with .mmioscope print." record "$out/$name" -o "$out/none.mmio"
    done
    [ ! -e "$out/none.mmio" ] || fail "a file was made for nothing"
}
add test view-recorded 2 view_recorded

# The trace's own log, from the guest's console: placed by its own times, or by the traced UART.
view_own_log() {
    view_traces
    { cat "$out/text"; printf '%s\n' 'console 0.9 early\n[    0.400000] he' 'console 0.95 llo\n' \
        'console 1.7 [    1.000000] \e[31mred\n[    1.000000] \e[31mred\n'; } >"$out/text.console"
    "$build/tests/trace-of-text" "$out/text.console" "$out/console.mmio" || fail "trace-of-text failed"
    view_does 0 print "$out/console.mmio" --dmesg
    has stderr "printk's time 0 is at 0.500000 s of the trace, by the times at which console"
    has stdout '^ +0\.900000 dmesg \[    0\.400000\] hello$'
    has stdout '^ +1\.500000 dmesg \[    1\.000000\] \?\[31mred$'
    [ "$(grep -c ' dmesg ' "$out/stdout")" = 2 ] || fail "$(grep -c ' dmesg ' "$out/stdout") lines of the log, not 2"
    cp "$out/stdout" "$out/own"
    view_does 0 print --dmesg "$out/console.mmio"
    cmp -s "$out/own" "$out/stdout" || fail "--dmesg FILE alone is another"
    view_does 0 print --dmesg-offset 0.1 --dmesg --from 0.4 "$out/console.mmio"
    has stdout '^ +0\.500000 dmesg \[    0\.400000\] hello$'
    { cat "$out/text.console"; echo 'text 2.5 cpu0 serial0 \n'; echo 'text 2.55 cpu0 serial0 [    0.400000] hello\n'; } >"$out/text.both"
    "$build/tests/trace-of-text" "$out/text.both" "$out/both.mmio" || fail "trace-of-text failed"
    view_does 0 print --dmesg "$out/both.mmio"
    has stderr "printk's time 0 is at 2.150000 s of the trace, by 1 of 3 lines"
    # No real counter gets that far; and damage is reported once, however often it is read.
    { cat "$out/text.console"; echo 'console 1e10 [    1.100000] far\n'; } >"$out/text.far"
    "$build/tests/trace-of-text" "$out/text.far" "$out/far.mmio" || fail "trace-of-text failed"
    view_does 0 print --dmesg "$out/far.mmio"
    has stderr "printk's time 0 is at 0.500000 s of the trace, by the times"
    view_bad_console
    view_does 1 print --dmesg "$out/bad.mmio"
    [ "$(grep -c damaged "$out/stderr")" = 1 ] || fail "not told once: $(cat "$out/stderr")"
    view_refuses 'no kernel log on its console: give --dmesg a file' print --dmesg "$out/trace.mmio"
}
# -i and -o of commands that have no other common options.
view_files() {
    view_traces
    local command
    for command in info check; do
        status=0
        "$mmioscope" $command "$out/trace.mmio" >"$out/plain" 2>/dev/null || status=$?
        view_does $status $command -i "$out/trace.mmio" -o "$out/file"
        [ ! -s "$out/stdout" ] || fail "$command -o: something on standard output"
        cmp -s "$out/plain" "$out/file" || fail "$command -i -o is another"
        view_refuses 'cannot write' $command -o "$out/no such folder/x" "$out/trace.mmio"
    done
    # QEMU's log of these accesses.
    printf 'memory_region_ops_%s cpu %d mr 0x1 addr 0x%x value 0x%x size %d name %s\n' \
        read 0 0x1c090018 0x90 2 "'pl011'" write 1 0x1c090000 0x20 2 "'pl011'" \
        read 1 0x1c050008 0x1aa 4 "'pl181'" write 0 0x1c050008 0x5 4 "'pl181'" >"$out/log"
    status=0
    "$mmioscope" verify "$out/trace.mmio" "$out/log" >"$out/plain" 2>"$out/stderr" || status=$?
    [ -s "$out/plain" ] || fail "verify: $(cat "$out/stderr")"
    view_does $status verify -i "$out/trace.mmio" "$out/log" -o "$out/file"
    cmp -s "$out/plain" "$out/file" || fail "verify -i -o is another"
    "$mmioscope" verify - "$out/log" <"$out/trace.mmio" 2>&1 | cmp -s "$out/plain" - || fail "verify - is another"
    view_refuses '--input' verify "$out/log" -i "$out/trace.mmio" # two traces and no log
    { cat "$out/log"; echo 'memory_region_ops_read nonsense'; } >"$out/bad"
    view_does 1 import --as qemu -i "$out/bad" -o "$out/kept.mmio"
    [ -s "$out/kept.mmio" ] || fail "import kept nothing: $(cat "$out/stderr")"
    view_does 1 import --as qemu --strict -i "$out/bad" -o "$out/strict.mmio"
    has stderr 'nothing was written \(--strict\)$'
    [ ! -e "$out/strict.mmio" ] || fail "import --strict left a file"
    view_does 1 import --as qemu --strict -i "$out/bad" -o -
    [ -s "$out/stdout" ] || fail "import -o - wrote nothing"
    has stderr 'the output lacks these lines \(--strict\)$'
}
add test view-files 3 view_files

add test view-own-log 3 view_own_log

# Output during a run is selected and shown as by print; the file has everything. Likewise for record.
view_live() {
    local chosen=(--all -F w --cpu 0 --ts delta --from 1us)
    run --bare --kernel "$build/tests/guest/vexpress-a15/neighbours.bin" --no-net --expect 'guest: done' \
        --stream serial2 --stream-file "$out/wire" --stream-beside --stream-quantum 0 "${chosen[@]}"
    complete
    local all
    all=$(events)
    grep -E ' cpu[0-9] [RW]' "$out/stdout" >"$out/live"
    "$mmioscope" info "$out/trace.mmio" >"$out/info" || fail "info: exit status $?"
    has info "^recorded +$(date -u +%Y)-[0-9-]{5}T[0-9:]{8}Z\$"
    has info '^recorded-by +.*mmioscope.? run .* --expect .guest: done. .* --from 1us$'
    has info "^qemu +$(qemu-system-arm --version | sed -nE '1s/QEMU emulator version ([0-9.]+).*/\1/p')"
    "$mmioscope" print "${chosen[@]}" "$out/trace.mmio" 2>/dev/null | grep -E ' cpu[0-9] [RW]' >"$out/printed"
    [ -s "$out/live" ] && [ "$(wc -l <"$out/live")" -lt "$all" ] || fail "$(wc -l <"$out/live") of $all events printed"
    cmp -s "$out/live" "$out/printed" || fail "run prints other lines than print: $(diff "$out/live" "$out/printed" | head -n 2 | xargs)"
    status=0
    "$mmioscope" record "$out/wire" --dtb "$board_tree" -f -o "$out/recorded.mmio" "${chosen[@]}" >"$out/stdout" 2>"$out/stderr" || status=$?
    exits_with 0
    has stdout "^complete: $all events, 0 lost$"
    grep -E ' cpu[0-9] [RW]' "$out/stdout" | cmp -s - "$out/printed" || fail "record -f prints other lines than print"
    "$mmioscope" info "$out/recorded.mmio" >"$out/info" || fail "info: exit status $?"
    has info '^recorded-by +.*mmioscope.? record .*wire.? --dtb '
    # Names of registers without --dtb: the tree is in the file.
    "$mmioscope" print "${chosen[@]}" "$out/recorded.mmio" 2>/dev/null | grep -E ' cpu[0-9] [RW]' | cmp -s - "$out/printed" ||
        fail "the recorded file has other names"
    "$mmioscope" record "$out/wire" -o "$out/nameless.mmio" >/dev/null 2>&1
    "$mmioscope" print "${chosen[@]}" "$out/nameless.mmio" 2>/dev/null | grep -E ' cpu[0-9] [RW]' | cmp -s - "$out/printed" &&
        fail "there is nothing that the tree names"
    view_refuses 'filter: column 6' record "$out/wire" -o "$out/none.mmio" -f -F dev==
    view_refuses 'not a time' run --bare --kernel "$build/tests/guest/vexpress-a15/neighbours.bin" --dtb "$board_tree" -o "$out/none.mmio" --from soon
    view_refuses 'no such file|cannot read' run --bare --kernel "$build/tests/guest/vexpress-a15/neighbours.bin" --dtb "$board_tree" -o "$out/none.mmio" --symbols "$out/nothing"
    [ ! -e "$out/none.mmio" ] || fail "a file was made for nothing"
}
add test view-live 12 view_live

# Functions for the cases. A case is a function; it runs in its own shell with $out, its folder.
# shellcheck shell=bash disable=SC2154 # build, out: from run.sh

mmioscope=$build/mmioscope
guest=$build/guest
board=vexpress-a15
board_tree=$guest/vexpress-v2p-ca15-tc1.dtb

# Fails the case for this reason.
fail() {
    echo "$*"
    exit 1
}

# on_all_cpus CASE ARGUMENT...: a case that needs the guest's CPUs to run at the same time (run.sh).
on_all_cpus() { "$@"; }

# With another kernel, fetched first: the case gets its folder before its arguments. One case makes a guest at a time, since
# two would write the same files.
with_guest() { # armmp|rt|bullseye|trixie CASE ARGUMENT...
    flock "$build/tests/qemu/guests.lock" make --no-print-directory "guest-$1" >&2 ||
        fail "cannot make the guest with the kernel $1"
    "$2" "$build/guest-$1" "${@:3}"
}

# run ARGUMENT...: `mmioscope run` on $board, with all its output in $out, and its exit status in $status.
run() {
    status=0
    local of_board=(--time-limit 240 --board "$board")
    [ "$board" = virt ] || of_board+=(--dtb "$board_tree")
    case $board in vexpress-a15 | orangepi-pc | mcimx7d-sabre | ast2600-evb) of_board+=(--hyp-log "$out/hypervisor") ;; esac
    "$mmioscope" run -v "${of_board[@]}" -o "$out/trace.mmio" --console-log "$out/console" \
        "$@" >"$out/stdout" 2>"$out/stderr" || status=$?
}

# The guests print their result in the last line.
run_bare() { # GUEST ARGUMENT...
    local name=$1
    shift
    run --bare --kernel "$build/tests/guest/$board/$name.bin" --no-net --no-print \
        --expect 'guest: done' "$@"
}
# Arguments for run_bare hammer: QEMU's loader puts the values into memory for tests/guest/hammer.cpp.
hammer_of() { # ACCESSES-OF-EACH-CPU CPUS
    local ram=0x80000000
    [ "$board" = vexpress-a15 ] || ram=0x40000000
    echo "--cpus $2 --qemu-arg=-device \
        --qemu-arg=loader,addr=$((ram + (32 << 20))),data=$((($2 << 32) | $1)),data-len=8"
}
run_linux() { # COMMAND-LINE ARGUMENT...
    local line=$1
    shift
    local card=(--sd "$build/guest/sd.img") # whatever the kernel
    [ "$board" != virt ] || card=()
    run --kernel "$guest/vmlinuz" --initrd "$guest/initrd.img" "${card[@]}" \
        --append "console=ttyAMA0 panic=-1 $line" --expect 'mmioscope-guest: done' "$@"
}

# Sets $debugged: arguments of run for QEMU's debug socket, $out/gdb. The machine waits for the debugger (debugger.py).
# shellcheck disable=SC2034 # for the cases
under_debugger() {
    debugged=(--qemu-arg=-chardev --qemu-arg="socket,id=gdb,path=$out/gdb,server=on,wait=off"
        --qemu-arg=-gdb --qemu-arg=chardev:gdb --qemu-arg=-S)
}

# The start of a case's own PID 1: the file systems, busybox' commands, the console for itself.
init_head() {
    cat <<'INIT'
#!/bin/sh
export PATH=/bin
/bin/busybox mkdir -p /proc /dev /sys
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox --install -s /bin
exec </dev/console >/dev/console 2>&1
dmesg -n 1
INIT
}

# native_guest GUEST: runs it on $board without a hypervisor, Non-secure without Hyp; its console goes to $out/native.
native_guest() {
    local machine=(-M vexpress-a15,secure=off,virtualization=off -audiodev none,id=a -global pl041.audiodev=a)
    [ "$board" != virt ] || machine=(-M virt,gic-version=2,highmem=off -cpu cortex-a15)
    timeout 60 qemu-system-arm "${machine[@]}" -smp 2 -m 512 -display none -monitor none \
        -serial "file:$out/native" -no-reboot -nic none -kernel "$build/tests/guest/$board/$1.elf" ||
        fail "the guest does not end without a hypervisor"
    has native '^guest: done$' "without a hypervisor: $(tail -n 1 "$out/native")"
}

# The guest prints the same as without a hypervisor; on $board's only UART there are the hypervisor's own lines, too.
same_as_native() {
    grep -v '^mmioscope: ' "$out/console" | diff "$out/native" - >"$out/diff" ||
        fail "$(grep -c '^[<>]' "$out/diff") lines differ from those without a hypervisor: $(grep '^[<>]' "$out/diff" | head -n 2 | xargs)"
}

# has FILE PATTERN [WHY]: a line of $out/FILE matches the extended regular expression.
has() { grep -Eq -- "$2" "$out/$1" || fail "${3:-$1 has no line like: $2}"; }
has_not() { ! grep -Eq -- "$2" "$out/$1" || fail "${3:-$1 has a line like: $2}"; }
exits_with() { [ "$status" = "$1" ] || fail "exit status $status, not $1: $(last_words)"; }
last_words() {
    local file
    for file in stderr stdout; do [ ! -s "$out/$file" ] || { tail -n 1 "$out/$file"; return; }; done
}

# until_true SECONDS COMMAND...: false if it does not succeed in this time.
until_true() {
    local tries=$(($1 * 50))
    shift
    until "$@"; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.02
    done
}
# The run with $pid has recorded something.
trace_grows() {
    kill -0 "$pid" 2>/dev/null || fail "the run has ended before"
    [ "$(stat -c %s "$out/trace.mmio" 2>/dev/null || echo 0)" -ge 500000 ]
}

# Waits until the console has PATTERN, or the run has ended.
until_console() { # PID-OF-THE-RUN PATTERN
    until grep -qs "$2" "$out/console" || ! kill -0 "$1" 2>/dev/null; do sleep 0.02; done
}

# The run ended by itself, and the trace is complete.
complete() {
    local said
    said=$(grep -E '^guest: failed|^mmioscope-guest: .* FAILED' "$out/console" | head -n 1)
    [ -z "$said" ] || fail "${said%$'\r'}"
    exits_with 0
    has stdout '^complete: [0-9]+ events, 0 lost$'
}

# A number from the output of the run. events_of DEVICE reads|writes; statistic CPU WORD.
events() { sed -n 's/^complete: \([0-9]*\) events.*/\1/p' "$out/stdout"; }
events_of() {
    awk -v device="$1" -v column="$([ "$2" = reads ] && echo 2 || echo 3)" \
        '$1 == device { n = $column } END { print n + 0 }' "$out/stdout"
}
# The share of the SD card's FIFO in a trace (DDI 0172A 3.3.13: MCIFIFO, 0x080 to 0x0bc).
share_of_fifo() { # TRACE
    "$mmioscope" print --all --raw "$1" | awk '$3 ~ /^[RW]/ { all++ }
        $4 == "mmc@50000" && $5 ~ /^\+0x0[89ab]/ { fifo++ }
        END { printf "SD FIFO: %d of %d accesses, %.1f %%\n", fifo, all, 100 * fifo / all }'
}
statistic() {
    sed -n "s/^cpu $1: .*[ ]\([0-9]*\) $2.*/\1/p; s/^cpu $1: \([0-9]*\) $2.*/\1/p" "$out/stdout" | head -n 1
}

# The trace equals QEMU's own log of the same run, event by event.
verified() {
    "$mmioscope" verify "$out/trace.mmio" "$out/access.log" >"$out/verify" 2>&1 || true
    has verify '^verify: [0-9]+ events compared, 0 differences$' \
        "$(tail -n 1 "$out/verify") (see $out/verify)"
}

# RECORDING (the trace or its stream) is at most as large as its times packed by xz, and LIMIT bytes more per event.
beside_times() { # RECORDING LIMIT
    tests/qemu/beside_times.py "$mmioscope" "$out/trace.mmio" "$1" "$2" >"$out/size" ||
        fail "$(cat "$out/size"), more than $2"
}

# Of the registers in the trace all have a device's name, 95 % their own name, 90 % fields; DEVICEs are among them.
covered() { # DEVICE...
    local device
    "$mmioscope" info --coverage "$out/trace.mmio" >"$out/coverage" || fail "info --coverage: exit status $?"
    for device in "$@"; do has coverage "^$device .* % " "no register of $device was touched"; done
    awk '/ device$/ { unknown = 1 } $1 == "total" { known = !unknown && $3 >= 100 && $5 >= 95 && $7 >= 90 }
        END { exit !known }' "$out/coverage" || fail "names: $(tail -n 1 "$out/coverage" | tr -s ' ')"
}

# What `regs` says of the devices whose manuals are known is right, for these shares of the registers at least.
registers_judged() { # PRECISION RECALL
    tests/regs/judge.py "$build" "$out/trace.mmio" --tell --need-precision "$1" --need-recall "$2" >"$out/regs" ||
        fail "regs: $(tail -n 4 "$out/regs" | xargs)"
}

# A person judged what `advise` says of this boot, and it is true.
advised() {
    tests/advise/judge.py "$build" "$out/trace.mmio" >"$out/advise" || fail "advise: $(xargs <"$out/advise")"
}

# Arguments of `mmioscope run` that make QEMU write $out/pc.log with a plugin (pc_log.c): its own log has no PCs.
pc_log_arguments() {
    printf '%s\n' --qemu-arg=-plugin "--qemu-arg=file=$build/tests/pc-log.so,out=$out/pc.log"
}

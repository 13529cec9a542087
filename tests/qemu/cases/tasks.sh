# Tasks that make accesses, and modules: the trace compared with what the guest does. tests/linux/init is PID 1.
# shellcheck shell=bash disable=SC2154

# --plain: a packed trace has only the functions of modules that it needs.
tasks_guest() { # GUEST-FOLDER ARGUMENT...
    local from=$1 ramdisk=$1/initrd.img
    shift
    [ -e "$ramdisk" ] || ramdisk=$guest/initrd.img # without the modules of that kernel
    cat "$ramdisk" "$build/tests/linux/overlay.img" >"$out/initrd.img"
    run --kernel "$from/vmlinuz" --initrd "$out/initrd.img" --sd "$guest/sd.img" --no-print --plain \
        --append "console=ttyAMA0 panic=-1 quiet rdinit=/tasks" --expect 'mmioscope-guest: done' "$@"
    complete
    rm -f "$out/initrd.img"
    tr -d '\r' <"$out/console" >"$out/lines"
}

# Each prints its pid and name, and reads the clock 20 times, with one read of the device each; no other task does then.
# The kernel itself does before, as swapper/0, or without a task if a loaded host has not found the kernel in time.
tasks_in_kernel() {
    "$build/host/tests/linux/whose_events" "$out/trace.mmio" >"$out/whose" || fail "whose_events: exit status $?"
    [ "$(grep -c '^actor [1-9]' "$out/lines")" = 5 ] || fail "not five processes"
    sed -nE 's/^actor ([1-9][0-9]*) (.*)$/20 rtc@170000 kernel \1 \1 \2/p' "$out/lines" | sort >"$out/expected"
    grep ' rtc@170000 ' "$out/whose" | grep -Ev ' swapper/0$| - - -$' | sort | diff "$out/expected" - >"$out/differences" ||
        fail "who read the clock: $(head -n 3 "$out/differences" | xargs)"
}

# Of the events from the first one with a task on, which is before the first driver: the number with a task, and the
# total.
tasks_share() {
    read -r known all < <(sed -nE 's/^([0-9]+) of [0-9]+ have a task, of ([0-9]+) .*/\1 \2/p' "$out/whose")
    echo "tasks: $known of $all" >"$out/share"
    [ "$known" -gt 10000 ] || fail "only $known events have a task"
}

tasks_known() {
    local known all
    tasks_in_kernel
    # In User mode the 10 reads of a process and of its second thread.
    [ "$(grep -c '^user-mode [1-9]' "$out/lines")" = 2 ] || fail "not two threads"
    sed -nE 's/^user-mode ([0-9]+) ([0-9]+) (.*)$/10 interrupt-controller@2c001000 user \1 \2 \3/p' "$out/lines" |
        sort >"$out/expected-user"
    grep ' user ' "$out/whose" | sort | diff "$out/expected-user" - >"$out/differences" ||
        fail "accesses in User mode: $(grep '^[<>]' "$out/differences" | head -n 4 | xargs)"
    tasks_share
    [ $((known * 1000)) -ge $((all * 999)) ] || fail "$known of $all events have a task"
}

# The modules and their functions at their addresses, each once; and each access from a module has its function.
modules_known() {
    "$build/host/tests/linux/modules_of" "$out/trace.mmio" >"$out/modules" || fail "modules_of: exit status $?"
    sed -n '/^== modules$/,/^== symbols$/p' "$out/lines" |
        sed -nE 's/^([^ ]+) ([0-9]+) .* Live 0x([0-9a-f]{8})( .*)?$/module \1 \2 \3/p' | sort >"$out/expected-modules"
    [ "$(wc -l <"$out/expected-modules")" -ge 9 ] || fail "only $(wc -l <"$out/expected-modules") modules"
    grep '^module ' "$out/modules" | sort | diff "$out/expected-modules" - >"$out/differences" ||
        fail "modules: $(grep '^[<>]' "$out/differences" | head -n 3 | xargs)"
    sed -n '/^== symbols$/,/^== end$/p' "$out/lines" |
        sed -nE 's/^([0-9a-f]{8}) [tTwW] ([^$\t]+)\t(\[.*\])$/\1 \2 \3/p' | sort >"$out/expected-functions"
    [ "$(wc -l <"$out/expected-functions")" -gt 100 ] || fail "only $(wc -l <"$out/expected-functions") functions"
    grep -E '^[0-9a-f]{8} .* \[(smsc911x|armmmci|mmc_block)\]$' "$out/modules" | sort |
        diff "$out/expected-functions" - >"$out/differences" ||
        fail "functions: $(grep '^[<>]' "$out/differences" | head -n 3 | xargs)"
    [ "$(grep -cE '^[0-9]+ mmc@50000 [a-z_0-9]+ \[armmmci\]$' "$out/modules")" -gt 5 ] ||
        fail "the SD card's driver does not show"
    has_not modules '^[0-9]+ .* unknown .* \[\]$'
}

# Registers, functions, tasks and views of an exported database equal the JSONL of the same trace.
names_in_database() {
    local format
    for format in sqlite jsonl; do
        "$mmioscope" export --as $format -i "$out/trace.mmio" -o "$out/$format" 2>"$out/stderr" || fail "export: $(last_words)"
    done
    tests/export/database.py "$out/sqlite" "$out/jsonl" >"$out/database" || fail "$(head -n 1 "$out/database")"
    has database ' [0-9]{2,} registers, [0-9]{3,} symbols, [0-9]{2,} tasks' "few names: $(cat "$out/database")"
    rm "$out/sqlite" "$out/jsonl"
}

# Parts of a real trace, as traces: the content of its sections on tasks, modules and callers is there, too.
parts_equal() {
    local options
    for options in "--from 5 --to 40 -F w" "--cpu 1" "-F comm!=init"; do
        # shellcheck disable=SC2086
        tests/export/part.sh "$mmioscope" "$out/trace.mmio" "$out" $options >"$out/part" || fail "$(cat "$out/part")"
        [ "$(cat "$out/part")" -gt 1000 ] || fail "part $options: $(cat "$out/part") events"
    done
    rm "$out"/part*
}

tasks() { # GUEST-FOLDER ARGUMENT...
    tasks_guest "$@"
    tasks_known
    modules_known
    names_in_database
    parts_equal
}

# Over a stream the hypervisor names the task at the access: for each access in the kernel, from the kernel's first
# tasks on; not for User mode, where it does not know the task.
tasks_said() { # GUEST-FOLDER ARGUMENT...
    local known all users
    tasks_guest "$@" --stream serial2
    tasks_in_kernel
    has_not whose ' user [0-9]' "a name in User mode"
    tasks_share
    users=$(awk '$3 == "user" { n += $1 } END { print n + 0 }' "$out/whose")
    [ $((known + users)) = "$all" ] || fail "$known of $((all - users)) events in the kernel have a task"
    "$mmioscope" print --all --raw "$out/trace.mmio" | grep -c ' task 0x[0-9a-f]* is ' >"$out/said" ||
        fail "the hypervisor has said nothing"
    parts_equal
}

# The same offsets for a boot loader; without QEMU.
tasks_at_start() {
    local wrong ended
    "$mmioscope" at-start --kernel "$guest/vmlinuz" >"$out/lines" 2>"$out/stderr" || fail "exit status $?: $(cat "$out/stderr")"
    grep -qxE 'fdt set /chosen mmioscope,task-names "<0x[0-9a-f]+ 0x[0-9a-f]+>"' "$out/lines" || fail "$(cat "$out/lines")"
    "$mmioscope" at-start --dtb "$board_tree" --kernel "$guest/vmlinuz" 'deselect serial0' >"$out/both" || fail "exit status $?"
    grep -q '^fdt set /chosen mmioscope,requests ' "$out/both" || fail "no requests"
    tail -n 1 "$out/both" | diff "$out/lines" - >/dev/null || fail "the kernel's line is another"
    for wrong in '' '--kernel /nowhere' "--kernel $guest/busybox" "--dtb $board_tree --kernel $guest/vmlinuz"; do
        # shellcheck disable=SC2086
        "$mmioscope" at-start $wrong >"$out/stdout" 2>"$out/stderr"
        ended=$?
        [ "$ended $(wc -l <"$out/stderr") $(wc -c <"$out/stdout")" = '2 1 0' ] || fail "at-start $wrong: $(cat "$out/stderr")"
    done
}

add test tasks 25 tasks "$guest"
add test tasks-at-start 3 tasks_at_start
add nightly tasks-said 25 tasks_said "$guest"
add nightly tasks-said-short-descriptors 25 with_guest armmp tasks_said
add nightly tasks-said-trixie 25 with_guest trixie tasks_said # 6.12
add nightly tasks-said-emulation 25 tasks_said "$guest" --engine emulation
add nightly tasks-short-descriptors 25 with_guest armmp tasks
add nightly tasks-emulation 25 tasks "$guest" --engine emulation

# Who makes an access, and the modules: what the trace says against what the guest does. tests/linux/init is PID 1.
# shellcheck shell=bash disable=SC2154

tasks_guest() { # GUEST-FOLDER ARGUMENT...
    local from=$1
    shift
    cat "$from/initrd.img" "$build/tests/linux/overlay.img" >"$out/initrd.img"
    run --kernel "$from/vmlinuz" --initrd "$out/initrd.img" --sd "$guest/sd.img" --no-print \
        --append "console=ttyAMA0 panic=-1 quiet rdinit=/tasks" --expect 'mmioscope-guest: done' "$@"
    complete
    rm -f "$out/initrd.img"
    tr -d '\r' <"$out/console" >"$out/lines"
}

# Each says its pid and name, and reads the clock 20 times, a read of the device each; nobody else does then.
tasks_known() {
    local known all
    "$build/tests/whose-events" "$out/trace.mmio" >"$out/whose" || fail "whose-events: exit status $?"
    [ "$(grep -c '^actor [1-9]' "$out/lines")" = 5 ] || fail "not five processes"
    sed -nE 's/^actor ([1-9][0-9]*) (.*)$/20 rtc@170000 kernel \1 \1 \2/p' "$out/lines" | sort >"$out/expected"
    grep ' rtc@170000 ' "$out/whose" | grep -v ' swapper/0$' | sort | diff "$out/expected" - >"$out/differences" ||
        fail "who read the clock: $(head -n 3 "$out/differences" | xargs)"
    [ "$(grep -cE '^[1-9][0-9]* interrupt-controller@2c001000 user [0-9]+ [0-9]+ devmem$' "$out/whose")" = 3 ] ||
        fail "not three accesses from User mode by devmem"
    # From the first task known on, which is before the first driver: 99.9 %.
    read -r known all < <(sed -nE 's/^([0-9]+) of [0-9]+ have a task, of ([0-9]+) .*/\1 \2/p' "$out/whose")
    echo "tasks: $known of $all" >"$out/share"
    [ $((known * 1000)) -ge $((all * 999)) ] || fail "$known of $all events have a task"
    [ "$known" -gt 20000 ] || fail "only $known events have a task"
}

tasks() { # GUEST-FOLDER ARGUMENT...
    tasks_guest "$@"
    tasks_known
}

add test tasks 25 tasks "$guest"
add nightly tasks-short-descriptors 25 tasks "$build/guest-armmp"
add nightly tasks-emulation 25 tasks "$guest" --engine emulation

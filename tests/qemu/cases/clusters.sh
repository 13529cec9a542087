# Two clusters of CPUs. QEMU has no such board, so a debugger changes what is read from CPU 1's MPIDR (clusters.py).
# shellcheck shell=bash disable=SC2154

# of_two_clusters START ARGUMENT...: mmioscope run with the tree $out/board.dtb, in which CPU 1 becomes 0x100.
of_two_clusters() {
    local image=$build/hyp-88000000.elf
    [ "$board" = vexpress-a15 ] || image=$build/hyp-48000000.elf
    under_debugger
    fdtput -t x "$out/board.dtb" /cpus/cpu@1 reg 100
    "$mmioscope" run --board "$board" --dtb "$out/board.dtb" --kernel "$guest/vmlinuz" --cpus 2 --no-print \
        --time-limit 60 -o "$out/trace.mmio" --console-log "$out/console" \
        "${debugged[@]}" "${@:2}" >"$out/stdout" 2>"$out/stderr" &
    pid=$!
    python3 tests/qemu/clusters.py "$out/gdb" "$image" "$1" >"$out/debugger" 2>&1 || fail "$(tail -n 1 "$out/debugger")"
    status=0
    wait $pid || status=$?
}

# Debian on a CPU of each, started by firmware.
clusters_linux() {
    board=virt
    boards_initrd 'echo "guest: done"; poweroff -f'
    virt_tree
    mv "$out/virt.dtb" "$out/board.dtb"
    of_two_clusters firmware --initrd "$out/initrd.img" --expect 'guest: done' \
        --append 'console=ttyAMA0 panic=-1 rdinit=/init-boards' --access-log "$out/access.log"
    rm "$out/initrd.img"
    exits_with 0
    complete
    has console 'CPU1: thread -1, cpu 0, socket 1, mpidr 80000100'
    has console 'Brought up 1 node, 2 CPU'
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has print ' cpu 1 started at '
    verified
}

# Both come at once, each the first one of its cluster. One of them reads the tree, and refuses it.
clusters_refused() {
    local report=hypervisor
    cp "$board_tree" "$out/board.dtb"
    of_two_clusters at-once --hyp-log "$out/hypervisor"
    exits_with 1
    once '^mmioscope: stop: '
    once '^mmioscope: stop: two clusters, and no PSCI firmware that starts CPUs: remove .* from /cpus: cpu@[01]'
}
add test clusters-linux 25 clusters_linux
add test clusters-refused 5 clusters_refused

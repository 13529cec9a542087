# The bare-metal guests of tests/guest/.
# shellcheck shell=bash disable=SC2154

# 100,000 accesses of two CPUs to one page: all are there, and in the device's order.
hammer() { # ENGINE
    run_bare hammer --engine "$1" --access-log "$out/access.log"
    complete
    [ "$(events_of clcd@1f0000 reads) $(events_of clcd@1f0000 writes)" = "50000 50000" ] ||
        fail "not 50000 reads and 50000 writes"
    verified
}

outside() { # ENGINE
    run_bare outside --engine "$1" --trace all
    complete
    has_not hypervisor 'the guest wrote this' "the guest reached the hypervisor's UART"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has print '\+0x30000000 no access: no device'
    has print '\+0x1c0a0000 no access: the device is the hypervisor'
    has print '\+0x88000000 no access: .*hypervisor'
    has print '\+0x1c1f0200 no access: .*PC'
    has print 'clcd@1f0000 .*\(fetch\)'
    has print 'clcd@1f0000 .*\(table_walk\)'
}

# Only the selected bytes become records; the page's other accesses are counted.
neighbours() { # ENGINE
    local selected unselected counted
    run_bare neighbours --engine "$1" --trace 0x1c1f0210+8
    complete
    read -r selected unselected < <(sed -n 's/^neighbours: \([0-9]*\) selected, \([0-9]*\) un.*/\1 \2/p' "$out/console")
    [ "$(events)" = "$selected" ] || fail "$(events) events, but the guest made $selected"
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -cE ' clcd@1f0000 +\+0x21[0-7] ' "$out/print")" = "$selected" ] || fail "records outside the range"
    counted=$(($(statistic 0 unselected) + $(statistic 1 unselected)))
    [ "$counted" = "$unselected" ] || fail "$counted counted as unselected, but the guest made $unselected"
}

straddle() { # ENGINE
    run_bare straddle --engine "$1" --trace 0x1c1f0210+8
    complete
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    local records
    records=$(sed -nE 's/.* cpu0 ([RW][14]) +clcd@1f0000 +(\+0x[0-9a-f]+) .*/\1\2/p' "$out/print" | xargs)
    [ "$records" = "R4+0x210 W4+0x210 W4+0x214 R4+0x214 R1+0x210 R1+0x211 R1+0x216 R1+0x217" ] || fail "the records are: $records"
}

# 500 loads that have become a branch when they are executed again: the loads after it are all there.
rewritten() {
    run_bare rewritten --engine shadow --access-log "$out/access.log"
    complete
    [ "$(events_of clcd@1f0000 reads)" = 1500 ] || fail "$(events_of clcd@1f0000 reads) reads, not 1500"
    verified
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -c 'no access: ' "$out/print")" = 500 ] || fail "not 500 steps without their access"
}

# One bug of each kind, and the same done right: `sharing` names the bugs. Of what is information only what the guest's
# own code writes is looked at.
sharing() {
    run_bare sharing --trace all
    complete
    "$mmioscope" sharing --all --limit 0 --format csv --symbols "$build/tests/guest/$board/sharing.elf" "$out/trace.mmio" \
        >"$out/table" || fail "sharing: exit status $?"
    sed -E 's/"[^"]*"/CPUS/' "$out/table" | awk -F, -v OFS='|' '
        /^lost update|^never ended/ || /^never read back,clcd/ { print $1, $2, $3, $4, $10, $12 }' >"$out/findings"
    diff - "$out/findings" >"$out/difference" <<'FINDINGS' || fail "$(grep '^[<>]' "$out/difference" | head -n 3 | xargs)"
lost update|clcd@1f0000|Palette0|&0x2=0x2|secondary_main|1
never ended|interrupt-controller@2c001000[1]|GICC_IAR|PPI 27 timer||1
never read back|clcd@1f0000|Palette2|||
FINDINGS
    "$mmioscope" advise --format csv "$out/trace.mmio" >"$out/advise" || fail "advise: exit status $?"
    has advise '^lost update,"?clcd@1f0000 Palette0 '
    has advise '^never ended,"?interrupt PPI 27 timer on '
    has_not advise '^(fault|given up),'
}

# The ELF file of a guest goes where its segments say, is entered where its header says, and names its functions.
elf() {
    run --bare --kernel "$build/tests/guest/$board/rewritten.elf" --no-net --no-print --expect 'guest: done' \
        --access-log "$out/access.log"
    complete
    verified
    "$mmioscope" stat --by function --format csv "$out/trace.mmio" >"$out/functions" || fail "stat: exit status $?"
    has functions '^function,.*3end'
}

# make run: a kernel of the user's own, with the words of its command line kept together.
make_run() {
    make --no-print-directory run KERNEL="$build/tests/guest/$board/alarms.bin" DTB="$board_tree" APPEND='one two' \
        ARGS="--bare --no-net --no-print --expect 'guest: done' --console-log '$out/console' -o '$out/trace.mmio'" \
        >"$out/stdout" 2>"$out/stderr"
    status=$?
    complete
    "$mmioscope" info "$out/trace.mmio" >"$out/info" || fail "info: exit status $?"
    has info 'command.line.*one two'
    make --no-print-directory run >"$out/stdout" 2>"$out/stderr" && fail 'make run without a kernel succeeds'
    has stderr '^make run: KERNEL= is missing'
}

# Firmware in virt's flash, with the device tree at the beginning of memory and, as it expects, memory in one piece. What
# it says at last ends the run.
firmware() { # FILE TEXT ARGUMENT...
    board=virt
    run --place top --bare --kernel "$build/guest-u-boot/$1" --load-at 0 --tree-at 0x40000000 --no-net --no-print \
        --stop-at "$2" --access-log "$out/access.log" "${@:3}"
    complete
    has console "$2"
    "$mmioscope" verify "$out/trace.mmio" "$out/access.log" >"$out/verify" 2>&1 || true
    differs_only_at none
}

# A program near the beginning of virt's memory, where QEMU puts a device tree of its own: PSCI's SYSTEM_OFF by SMC. And a
# device that stage 2 cannot map.
beginning() {
    virt_tree
    fdtput -c "$out/virt.dtb" /far@100000000
    fdtput -t x "$out/virt.dtb" /far@100000000 reg 1 0 0 1000
    printf '\x08\x00\x00\xe3\x00\x04\x48\xe3\x70\x00\x60\xe1' >"$out/off.bin"
    run --bare --kernel "$out/off.bin" --load-at 0x40010000 --dtb "$out/virt.dtb" --no-net --no-print
    complete
    has console '^mmioscope: far@100000000 reaches above 4 GiB'
}

# The hypervisor at the end of the memory: Linux sees the rest in one piece.
sees_one_piece() { # FIRST LAST
    has console "node +0: \[mem 0x00000000$1-0x00000000$2\]"
    [ "$(grep -c 'node *0: \[mem' "$out/console")" = 1 ] || fail "the guest's memory is in pieces"
}
one_piece() {
    run_linux mmioscope.steps=none --place top --no-print --access-log "$out/access.log"
    complete
    verified
    sees_one_piece 80000000 9affffff
}

add test sharing 5 sharing
add test rewritten 5 rewritten
add test bare-elf 2 elf
add test make-run 5 make_run
add test bare-uboot 5 firmware u-boot.bin 'Hit any key to stop autoboot'
add nightly bare-edk2 60 firmware edk2.fd 'UEFI Interactive Shell'
add test bare-beginning 3 virt beginning
add test place-top 20 one_piece
for engine in shadow emulation; do
    add test "hammer-$engine" 10 on_all_cpus hammer $engine
    add test "outside-$engine" 5 outside $engine
    add test "neighbours-$engine" 10 neighbours $engine
    add test "straddle-$engine" 5 straddle $engine
done

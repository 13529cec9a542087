# What the commands that read a trace say of an import: what its log says, and no more. No QEMU.
# shellcheck shell=bash disable=SC2154

# $out/dump.mmio is of an mmiotrace log, $out/qemu.mmio of QEMU's.
import_logs() {
    cat >"$out/dump" <<'END_OF_DUMP'
VERSION 20070824
PCIDEV 0100 10de0042 b fd000000 c000000c 0 0 e801 0 0 1000000 10000000 0 0 80 0 0 nvidia
MAP 1.500000 1 0xfd000000 0xf0800000 0x1000 0x0 0
R 4 2.000001 1 0xfd000010 0x12345678 0xc0101010 0
W 4 2.000002 1 0xfd000014 0x1 0x0 0
UNKNOWN 2.000003 1 0xfd000018 0f,18,05 0xc0102004 0
END_OF_DUMP
    printf "memory_region_ops_%s cpu %d mr 0x1 addr 0x%x value 0x%x size 2 name 'pl011'\n" \
        read 0 0x1c090018 0x90 write 1 0x1c090000 0x20 >"$out/log"
    view_does 0 import --from mmiotrace -i "$out/dump" -o "$out/dump.mmio"
    view_does 0 import --from qemu -i "$out/log" -o "$out/qemu.mmio"
}

import_names_code() {
    import_logs
    printf '%s\n' 'c0101000 T nv_read' 'c0102000 T nv_write' 'c0103000 T other' >"$out/kallsyms.txt"
    view_does 0 print --symbols "$out/kallsyms.txt" "$out/dump.mmio"
    has stdout ' R4 01:00.0,nvidia +\+0x010 0x12345678 nv_read\+0x10$'
    has stdout ' \+0x014 0x00000001 pc 0x00000000$' # the log has no PC there
    has stdout ' \+0x018 \? +nv_write\+0x4$'
    view_does 0 print "$out/dump.mmio"
    has stdout ' \+0x010 0x12345678 pc 0xc0101010$'
    view_does 0 print --format jsonl --symbols "$out/kallsyms.txt" "$out/dump.mmio"
    has stdout '"function":"nv_read\+0x10","va":"0xf0800010","mode":"svc"'
    view_does 0 info "$out/dump.mmio"
    has_not stdout '^not-known .*mode'
    # QEMU's log knows no mode.
    view_does 0 print "$out/qemu.mmio"
    view_lines 2 'of a log of QEMU'
    has_not stdout ' usr'
}
# What stands in a file's fields all the same is not told as if it were known: by no command, in no format.
import_not_known() {
    import_logs
    view_does 0 info "$out/dump.mmio"
    has stdout '^not-known +engine, policy, boot id, ending, cpus, cpu, lr, sp, task, duration; of UNKNOWN lines '
    has stdout '^clock +1000000000 Hz$'
    has stdout '^duration +0\.000002 s$'
    has_not stdout '^(engine|policy|boot id|ended|cpus) '
    view_does 0 info "$out/qemu.mmio"
    has stdout '^cpus +2$'
    has_not stdout '^(engine|policy|boot id|ended|clock|duration) '
    view_does 0 print "$out/qemu.mmio"
    has stdout ' W2 pl011@1c090000 \+0x000 0x0020 *$'
    local log format
    for log in dump qemu; do
        view_does 0 print "$out/$log.mmio"
        has stdout '^complete: [23] events, 0 lost$'
        has_not stdout '^policy|^recording ended'
        view_does 0 export --to jsonl -i "$out/$log.mmio" -o -
        has stdout '"text:not-known":"engine, policy, '
        has stdout '^\{"type":"end","records":[23],"lost":0\}$'
        has_not stdout '"(policy|ending|duration_ns|lr|task)":'
        view_does 0 stat --by device "$out/$log.mmio"
        has stdout ' +- +-$'
        for format in ctf sqlite; do view_does 0 export --to $format -i "$out/$log.mmio" -o "$out/$log.$format"; done
        has_not "$log.ctf/metadata" uuid
        babeltrace2 "$out/$log.ctf" >"$out/events" 2>"$out/stderr" || fail "babeltrace2: $(last_words)"
        [ "$(wc -l <"$out/events")" = "$(sqlite3 "$out/$log.sqlite" 'SELECT count(*) FROM events')" ] || fail "CTF of $log has other events"
        [ "$(sqlite3 "$out/$log.sqlite" "SELECT count(*) FROM meta WHERE key IN ('policy', 'ending')")" = 0 ] || fail "meta of $log"
        [ "$(sqlite3 "$out/$log.sqlite" 'SELECT count(duration) FROM events')" = 0 ] || fail "durations of $log"
    done
    view_does 0 export --to csv -i "$out/dump.mmio" -o -
    has stdout '^1000,2000002000,,access,w,4,01:00.0,nvidia|^1000,2000002000,,access,w,4,"01:00.0,nvidia",'
    view_does 0 export --to csv -i "$out/qemu.mmio" -o - # which tells the CPU
    has stdout '^1,2,1,access,w,2,pl011@1c090000,'
}

add test import-names-code 2 import_names_code
add test import-not-known 4 import_not_known

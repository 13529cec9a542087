# Settings that apply before the guest starts (`mmioscope run --at-start`), checked with QEMU's log.
# shellcheck shell=bash disable=SC2154

# early_log SIDE WRITTEN NTH [LEFT-OUT]: the part of QEMU's whole log that must be in the trace. That is what the
# hypervisor did itself, which comes first on each CPU, and the guest's accesses from the NTH write to WRITTEN on (SIDE
# behind), or up to it (before), without addresses that begin like LEFT-OUT.
early_log() {
    local own
    "$mmioscope" print --all --raw "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    own=$(awk '/ by the hypervisor$/ { n[$2]++ } END { print n["cpu0"] + 0, n["cpu1"] + 0 }' "$out/print")
    mv "$out/access.log" "$out/whole.log"
    awk -v own="$own" -v side="$1" -v written="$2" -v nth="$3" -v without="${4:-none}" '
        BEGIN { split(own, first); wanted = side == "before" }
        $2 == "cpu" && seen[$3]++ < first[$3 + 1] { print; next }
        { hit = $1 ~ /write$/ && $7 == written && ++hits == nth }
        hit && side == "behind" { wanted = 1 }
        wanted && index($7, without) != 1 { print }
        hit && side == "before" { wanted = 0 }' "$out/whole.log" >"$out/access.log"
}
# Checks the guest's first record (head), or its last (tail).
early_ends_at() { # head|tail PATTERN
    grep -E ' cpu[0-9] [RW][0-9] ' "$out/print" | grep -v ' by the hypervisor$' | "$1" -n 1 >"$out/end"
    has end "$2" "the $1 of the records is: $(cat "$out/end")"
}

# Stock Debian: no records until it writes the address where its second CPU starts, then everything except the interrupt
# controller, which is used from the boot on. No other CPU runs when the trigger fires, because its in-flight access
# could be on either side.
early_linux() {
    run_linux 'quiet mmioscope.steps=none' --no-print --access-log "$out/access.log" \
        --at-start 'mark nobody is there' --at-start 'deselect interrupt-controller@2c001000' \
        --at-start 'trigger start address sysreg@10000+0x30 direction w'
    complete
    early_log behind 0x1c010030 1 0x2c00
    verified
    early_ends_at head ' cpu0 W4 sysreg@10000 +\+0x030 '
    [ "$(events)" -gt 500 ] || fail "$(events) events"
    "$mmioscope" info "$out/trace.mmio" >"$out/info"
    has info '^at-start +mark nobody is there; deselect interrupt-controller@2c001000; trigger start ' \
        "info: $(grep '^at-start' "$out/info")"
    grep -oE ' (mark|change) .*' "$out/print" | xargs -L 1 >"$out/changes"
    printf '%s\n' 'mark nobody is there' 'change deselect 0x2c001000+0x1000' \
        'change deselect 0x2c002000+0x2000' 'change deselect 0x2c004000+0x2000' 'change deselect 0x2c006000+0x2000' \
        'change trigger none' 'change trigger address 0x1c010030+0x4' 'change trigger direction w' \
        'change trigger start count 1' 'change trigger start fired' |
        diff - "$out/changes" >"$out/diff" || fail "changes: $(grep '^[<>]' "$out/diff" | head -n 1)"
    rm "$out/whole.log"
}

# Two CPUs use one page: the records end after the 2,000th store to a word of it, by either CPU.
early_stop() { # ENGINE
    # shellcheck disable=SC2046 # several arguments
    run_bare hammer $(hammer_of 10000 2) --engine "$1" --access-log "$out/access.log" \
        --at-start 'trigger stop address clcd@1f0000+0x220 direction w count 2000'
    complete
    early_log before 0x1c1f0220 2000
    verified
    early_ends_at tail ' W4 clcd@1f0000 +\+0x220 '
    rm "$out/whole.log"
}

# Errors that the tree shows are refused before anything starts (input.sh) ...
early_unknown() {
    bad_option "--at-start 'deselect toaster': there is no device 'toaster'; devices: " --at-start 'deselect toaster'
}
# ... and what the board refuses ends the run before a guest runs.
early_refused() {
    run_bare hammer --at-start 'mark 1' --at-start 'deselect serial1'
    exits_with 1
    has hypervisor '^mmioscope: stop: mmioscope,requests: number 2, command 6 0x1c0a0000 0x1000: this cannot change \(status 7\)'
    has stderr 'stopped before the hypervisor was ready'
    has_not console '.'
}

add test early-linux 12 early_linux
for engine in shadow emulation; do
    add test "early-stop-$engine" 5 early_stop $engine
done
add test early-unknown 2 early_unknown
add test early-refused 5 early_refused

# Names of the guest's code: those from a stock kernel's image equal the running kernel's own, and those from a module's
# file equal the running kernel's names for it.
# shellcheck shell=bash disable=SC2154

# PID 1 of the guest: prints the kernel's lists of itself.
symbols_init() {
    init_head
    cat <<'INIT'
while read -r module; do insmod "/lib/modules/$module" 2>/dev/null; done < /lib/modules/sd
usleep 500000
if grep -q tell-modules /proc/cmdline; then
    mmioscope-guest ctl modules
    mmioscope-guest ctl start
    dd if=/dev/mmcblk0 of=/dev/null bs=16k skip=32 count=1 2>/dev/null
    mmioscope-guest ctl stop
    echo 2 >/proc/sys/kernel/kptr_restrict
    mmioscope-guest ctl modules
    echo "hidden ends with $?"
    echo 0 >/proc/sys/kernel/kptr_restrict
fi
echo "== modules"
cat /proc/modules
echo "== kallsyms"
cat /proc/kallsyms
echo "== end"
poweroff -f
INIT
}

# symbols_initrd FILE: the guest's RAM disk, followed by that.
symbols_initrd() {
    mkdir "$out/root"
    symbols_init >"$out/root/symbols"
    chmod 755 "$out/root/symbols"
    (cd "$out/root" && echo symbols | cpio --quiet -o -H newc --owner=0:0 | gzip -9n) | cat "$guest/initrd.img" - >"$1"
    rm -r "$out/root"
}

# The console's text between two of its lines.
symbols_part() { # FROM TO
    tr -d '\r' <"$out/console" | sed -n "/^== $1\$/,/^== $2\$/{/^== /d;p}"
}

symbols_boot() { # GUEST-FOLDER [WORD ARGUMENT...]
    symbols_initrd "$out/initrd.img"
    run --kernel "$1/vmlinuz" --initrd "$out/initrd.img" --sd "$guest/sd.img" --no-net --no-print \
        --append "console=ttyAMA0 rdinit=/symbols ${2-}" --expect '== end' --trace 'all,!serial@90000' "${@:3}"
    complete
    rm "$out/initrd.img"
    has_not stderr 'warning'
    symbols_part modules kallsyms >"$out/modules"
    symbols_part kallsyms end >"$out/kallsyms"
    "$build/tests/named-code" --list "$out/trace.mmio" >"$out/list" || fail "no list of symbols"
}

# The trace's own list equals the kernel's, and its banner is the kernel's first line.
symbols_equal() { # GUEST-FOLDER
    symbols_boot "$1" '' --plain --no-cache # a packed trace has only the names that it needs
    grep -v '\[' "$out/kallsyms" >"$out/kernel"
    [ "$(wc -l <"$out/kernel")" -gt 30000 ] || fail "the guest printed only $(wc -l <"$out/kernel") symbols"
    tail -n +2 "$out/list" | diff "$out/kernel" - >"$out/differences" ||
        fail "$(grep -c '^[<>]' "$out/differences") symbols differ (<: the kernel's): $(grep -m 4 '^[<>]' "$out/differences" | xargs)"
    tr -d '\r' <"$out/console" | grep -qF "] $(head -n 1 "$out/list")" || fail "the banner is not the kernel's: $(head -n 1 "$out/list")"
}

# A kernel's log without a UART in the trace: the file has the console's output with its times of arrival.
symbols_log() {
    status=0
    "$mmioscope" print --dmesg "$out/trace.mmio" >"$out/dmesg" 2>"$out/words" || status=$?
    exits_with 0
    has words "printk's time 0 is at -?[0-9.]+ s of the trace, by the times at which console lines reached the host"
    has dmesg ' dmesg \[ +0\.[0-9]+\] Linux version '
    # The driver prints it right after its first accesses.
    awk '/ rtc@170000 / && !began { began = 1; first = $1 }
        / dmesg .*rtc-pl031.*registered as rtc0/ { found = 1; exit !(began && $1 > first - 1 && $1 < first + 2) }
        END { if (!found) exit 1 }' "$out/dmesg" ||
        fail "rtc0's line is not near its accesses: $(grep 'registered as rtc0' "$out/dmesg")"
    [ "$(grep -c ' dmesg ' "$out/dmesg")" -ge 50 ] || fail "only $(grep -c ' dmesg ' "$out/dmesg") lines of the log"
}

# And a module's file, placed by /proc/modules, gives its functions the same names as the kernel.
symbols_of_modules() {
    symbols_equal "$guest"
    local files=("$out/modules") module
    while read -r module _; do
        files+=("$(find "$guest/modules" -name "${module//_/[-_]}.ko")")
    done <"$out/modules"
    "$build/tests/named-code" "$out/trace.mmio" "${files[@]}" >"$out/by-files" || fail "the modules' files cannot be read"
    "$build/tests/named-code" "$out/trace.mmio" "$out/kallsyms" >"$out/by-kallsyms" || fail "the list cannot be read"
    diff "$out/by-kallsyms" "$out/by-files" >"$out/differences" ||
        fail "the names differ (<: by /proc/kallsyms): $(grep -m 4 '^[<>]' "$out/differences" | xargs)"
    has by-kallsyms ' mmci_[a-z_]+ \[armmmci\]' "no access of the SD card's driver"
    [ "$(sed -n 's/^named: \([0-9]*\) of .*/\1/p' "$out/by-kallsyms")" -ge "$(events)" ] || fail "$(tail -n 1 "$out/by-kallsyms")"
    symbols_log
}

# Over a stream nobody reads the guest's memory: the guest reports where its modules lie, and later accesses have their
# names; with their files, which have no addresses, the names equal the kernel's own.
symbols_told() {
    local files=() module
    symbols_boot "$guest" tell-modules --stream serial2 --at-start stop
    "$build/host/tests/linux/modules_of" "$out/trace.mmio" >"$out/told" || fail "modules_of: exit status $?"
    awk '{ print "module", $1, $2, substr($6, 3) }' "$out/modules" | sort >"$out/expected"
    [ "$(wc -l <"$out/expected")" -ge 5 ] || fail "only $(wc -l <"$out/expected") modules"
    grep '^module ' "$out/told" | sort | diff "$out/expected" - >"$out/differences" ||
        fail "modules: $(grep '^[<>]' "$out/differences" | head -n 3 | xargs)"
    while read -r module _; do
        files+=("$(find "$guest/modules" -name "${module//_/[-_]}.ko")")
    done <"$out/modules"
    "$build/tests/named-code" "$out/trace.mmio" >"$out/by-place" || fail "the trace cannot be read"
    "$build/tests/named-code" "$out/trace.mmio" "${files[@]}" >"$out/by-files" || fail "the modules' files cannot be read"
    "$build/tests/named-code" "$out/trace.mmio" "$out/kallsyms" >"$out/by-kallsyms" || fail "the list cannot be read"
    diff "$out/by-kallsyms" "$out/by-files" >"$out/differences" ||
        fail "the names differ (<: by /proc/kallsyms): $(grep -m 4 '^[<>]' "$out/differences" | xargs)"
    has by-kallsyms ' mmci_[a-z_]+ \[armmmci\]' "no access of the SD card's driver"
    tests/export/part.sh "$mmioscope" "$out/trace.mmio" "$out" -F 'dev==mmc@50000' -- "${files[@]/#/--symbols=}" >"$out/part" ||
        fail "$(cat "$out/part")"
    [ "$(awk '$3 == "[armmmci]" { n += $1 } END { print n }' "$out/by-kallsyms")" = \
        "$(awk '$2 == "[armmmci]" { n += $1 } END { print n }' "$out/by-place")" ] ||
        fail "not each access of the SD card's driver has its module"
    has console '^mmioscope-guest: /proc/modules: line 1: the address is 0: the kernel shows it only to root'
    has console '^hidden ends with 2'
}

add test symbols 20 symbols_of_modules
add test symbols-told 20 symbols_told
for suite in bullseye trixie; do # 5.10 and 6.12
    add nightly "symbols-$suite" 20 with_guest $suite symbols_equal
done

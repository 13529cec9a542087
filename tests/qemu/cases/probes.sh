# Probes of the kernel's functions, compared with the executions that QEMU counts (probe_log.c), while all devices are
# traced.
# shellcheck shell=bash disable=SC2154

# These go on elsewhere when a task ends, or never end. call_fpe() begins a program's VFP instruction again.
endless=(__schedule start_kernel call_fpe call_usermodehelper_exec_async cryptomgr_probe cryptomgr_test)

# Each call of FEWEST functions at least, each return, and no other, is a record; those of devices are right beside.
probed() { # FEWEST ARGUMENT...
    local fewest=$1 counting=(--qemu-arg=-plugin "--qemu-arg=file=$build/tests/probe-log.so,out=$out/probe.log")
    shift
    run_linux "${line:-}" --no-print --trace all "${counting[@]}${loads:+,loads=$loads}" --access-log "$out/access.log" "$@"
    complete
    verified
    probes_judged "$fewest"
}
probes_judged() { # FEWEST
    "$mmioscope" export --as csv -F 'call || ret || type==hits || type==change' -o "$out/calls.csv" "$out/trace.mmio" 2>/dev/null || fail "export: exit status $?"
    tests/qemu/probes.py "$out/probe.log" "$out/calls.csv" "${endless[@]}" >"$out/judge" ||
        fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    [ "$(cut -d ' ' -f 1 <<<"$(tail -n 1 "$out/judge")")" -ge "$1" ] || fail "few: $(tail -n 1 "$out/judge")"
}

# The judge finds a call or return without a record, and a record without that.
probed_judge() {
    probed "$@"
    local change
    for change in call,/d call,/p ret,/d ret,/p hits,/d hits,/p; do
        sed "0,/,${change%/*}/{/,$change}" "$out/calls.csv" >"$out/changed.csv"
        ! tests/qemu/probes.py "$out/probe.log" "$out/changed.csv" "${endless[@]}" >"$out/judge" || fail "$change: not noticed"
        has judge ' functions, [0-9]+ calls, [0-9]+ returns, [0-9]+ counted, [12] different$'
    done
    # From the first C function on, with what a person looks for.
    "$mmioscope" print -F 'call && func==start_kernel' "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has print ' call start_kernel\(0x'
    "$mmioscope" print -F 'call && func==vfs_write && caller==ksys_write' "$out/trace.mmio" >"$out/print" ||
        fail "print: exit status $?"
    has print ' call vfs_write\(0x[0-9a-f]+, 0x[0-9a-f]+, 0x[0-9a-f]+, 0x[0-9a-f]+\) <- ksys_write\+0x[0-9a-f]+ \[.*:[0-9]+\]$'
    "$mmioscope" print -F 'ret && func==vfs_write && retval<100' "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has print ' ret vfs_write = 0x[0-9a-f]+  <0\.[0-9]+> <- ksys_write\+0x[0-9a-f]+ \[.*:[0-9]+\]$'
    # Each call of a function that comes back does so.
    "$mmioscope" calls --limit 0 --format csv "$out/trace.mmio" 2>/dev/null >"$out/table" || fail "calls: exit status $?"
    has table '^vfs_write,([0-9]+),\1,[0-9]+,'
}

add test probes 30 probed_judge 60 --returns --probe start_kernel --probe 'vfs_*' --probe 'kmem_cache_*,sample=7' \
    --probe '__sched*' --probe 'd_*,if=arg1&0x1c!=0,sample=2' --probe '_raw_spin_lock,count' --probe 'mutex_lock,if=arg0<0xc2000000'
for engine in shadow emulation; do
    add nightly "probes-many-$engine" 150 probed 800 --engine $engine --returns --probe '[a-c]*'
done
probed_by() { # GUEST FEWEST ARGUMENT...
    local guest=$1
    probed "${@:2}"
}
add nightly probes-armmp 60 with_guest armmp probed_by 50 --returns --probe 'vfs_*' --probe 'kmem_cache_*' --probe 'd_*'

# Of 5,000 functions drawn by the day, each second one is only counted. A page or an instruction that cannot have a probe is
# a record with its reason.
probes_drawn() {
    local seed
    seed=$(date +%j)
    "$build/tests/named-code" --functions "$guest/vmlinuz" | grep -v '[$.]' | sort -u |
        shuf -n 5000 --random-source=<(yes "$seed") | sed '1~2s/$/,count/' >"$out/drawn"
    [ "$(wc -l <"$out/drawn")" = 5000 ] || fail "seed $seed: $(wc -l <"$out/drawn") functions"
    probed 500 --probe "@$out/drawn"
}
add nightly probes-drawn 300 probes_drawn

# All functions of the kernel, counted only, in a boot that does little else. Time is that of the instructions: two TLB
# flushes at each hit take QEMU so long that with the host's time the guest does nothing but serve its timer.
probes_all() {
    local line="mmioscope.steps=irq"
    probed 5000 --time-limit 1500 --cpus 1 --qemu-arg=-icount --qemu-arg=shift=0,sleep=off --probe '*,count'
    "$mmioscope" print -F 'type==change' "$out/trace.mmio" | sed -n 's/.* unprobe 0x[0-9a-f]*: //p' | sort | uniq -c >"$out/refused"
    ! grep -q 'room' "$out/refused" || fail "no room: $(xargs <"$out/refused")"
}
add nightly probes-all 1000 probes_all

# A CPU goes off and on; locks have exclusives behind their entries.
probes_hotplug() {
    local line="mmioscope.steps=hotplug mmioscope.hotplug=30"
    endless+=(cpu_startup_entry)
    probed 60 --returns --probe 'cpu*' --probe '_cpu_*' --probe 'psci_*' --probe '_raw_spin_*,sample=5' --probe 'mutex_*' "$@"
    has console '^mmioscope-guest: hotplug ok'
}
for engine in shadow emulation; do
    add nightly "probes-hotplug-$engine" 100 on_all_cpus probes_hotplug --engine $engine
done

# A second kernel lies where the first one has its probes: they end, with a record each.
probes_kexec() {
    resets_kexec_run --trace all --qemu-arg=-plugin "--qemu-arg=file=$build/tests/probe-log.so,out=$out/probe.log" \
        --returns --probe 'vfs_*' --probe 'kmem_cache_*,sample=10' --probe '_raw_spin_lock,count'
    verified
    endless+=(kernel_kexec machine_kexec)
    probes_judged 30
    "$mmioscope" print -F 'type==change' "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    [ "$(grep -c ' unprobe 0xc' "$out/print")" -ge 30 ] || fail "probes stay in memory that the second kernel has"
}
add nightly probes-kexec 60 virt probes_kexec

# From the first one on, and again each time when a module is loaded.
probed_modules() { # FEWEST ARGUMENT...
    local times=${times:-3} function loads
    local line="mmioscope.steps=modules mmioscope.modules=$times"
    loads=$("$build/tests/named-code" --address "$guest/vmlinuz" do_init_module) || fail "the kernel has no do_init_module"
    probed "$@" --probe 'nothing:*'
    has stderr '^mmioscope: --probe nothing:\*: no module that was loaded has such a function$'
    "$mmioscope" calls --limit 0 --format csv "$out/trace.mmio" 2>/dev/null >"$out/table" || fail "calls: exit status $?"
    for function in smsc911x_init_module smsc911x_drv_probe; do
        has table "^$function \\[smsc911x\\],$((times + 1)),$((times + 1)),"
    done
    "$mmioscope" print -F 'call && func==mmci_irq' "$out/trace.mmio" >"$out/print" || fail "print: exit status $?"
    has print ' call mmci_irq\(0x.* <- .*__handle_irq_event_percpu'
}
add test probes-modules 60 probed_modules 40 --returns --probe 'smsc911x:*' --probe 'armmmci:mmci_*' \
    --probe 'armmmci:mmci_cmd_irq,count' --probe 'armmmci:mmci_start_data,sample=2'
probed_modules_often() {
    local times=20
    probed_modules "$@"
}
add nightly probes-modules-loop 150 probed_modules_often 40 --returns --probe 'smsc911x:*' --probe 'armmmci:mmci_*'
probed_modules_of() { # GUEST ARGUMENT...
    local guest=$1
    probed_modules "${@:2}"
}
add nightly probes-modules-trixie 60 with_guest trixie probed_modules_of 40 --returns --probe 'smsc911x:*' --probe 'armmmci:mmci_*'

# Of a module that is loaded, over the wire: its file, and the guest's own list, say what lies where.
probes_modules_init() {
    init_head
    cat <<'INIT'
while read -r module; do insmod "/lib/modules/$module" 2>/dev/null; done < /lib/modules/sd
until [ -b /dev/mmcblk0 ]; do usleep 100000; done
cat /proc/modules
echo "== modules"
for i in $(seq 1 100); do
    dd if=/dev/mmcblk0 of=/dev/null bs=4k skip="$i" count=1 iflag=direct 2>/dev/null
    usleep 100000
done
echo "mmioscope-guest: done"
poweroff -f
INIT
}

probes_modules_asked() {
    local folder running asked=0 drivers
    folder=$(mktemp -d)
    mkdir "$out/root"
    probes_modules_init >"$out/root/modules"
    chmod 755 "$out/root/modules"
    (cd "$out/root" && echo modules | cpio --quiet -o -H newc --owner=0:0 | gzip -9n) | cat "$guest/initrd.img" - >"$out/initrd.img"
    run --kernel "$guest/vmlinuz" --initrd "$out/initrd.img" --sd "$build/guest/sd.img" --no-print --expect 'mmioscope-guest: done' \
        --append 'console=ttyAMA0 rdinit=/modules' --trace all --probes --stream serial2 --ctl "$folder/ctl" --qemu-arg=-plugin \
        "--qemu-arg=file=$build/tests/probe-log.so,out=$out/probe.log" &
    running=$!
    until_true 100 grep -qs '^== modules' "$out/console" || fail "the guest loads no modules"
    tr -d '\r' <"$out/console" | grep '^[a-z0-9_]* [0-9]* [0-9]* .* 0x' >"$out/modules"
    drivers=$(find "$guest/modules" -name armmmci.ko | head -n 1)
    ctl() { "$mmioscope" ctl --timeout 60 "unix:$folder/ctl" --kernel "$guest/vmlinuz" "$@" >>"$out/ctl" 2>&1; }
    ctl --symbols "$out/modules" --symbols "$drivers" --returns probe 'armmmci:mmci_request' 'armmmci:mmci_start_data,sample=2' \
        'armmmci:mmci_cmd_irq,count' vfs_read && sleep 2 &&
        ctl --symbols "$drivers@$(sed -n 's/^armmmci .* \(0x[0-9a-f]*\).*/\1/p' "$out/modules")" hits armmmci:mmci_cmd_irq &&
        ctl --symbols "$out/modules" --symbols "$drivers" unprobe armmmci:mmci_start_data || asked=1
    ctl probe armmmci:mmci_request && asked=2
    "$mmioscope" at-start --kernel "$guest/vmlinuz" --memory 0x80000000 --probe armmmci:mmci_irq >>"$out/ctl" 2>&1 && asked=4
    ctl --symbols "$drivers@0xbf200000" probe armmmci:mmci_request && asked=3
    wait "$running"
    rm -r "$folder" "$out/root" "$out/initrd.img"
    [ "$asked" = 0 ] || fail "ctl, $asked: $(tail -n 1 "$out/ctl")"
    has ctl '^4 of 4 functions$'
    has ctl '^0xbf[0-9a-f]+: [1-9][0-9]* without a record$'
    has ctl '^mmioscope: armmmci:mmci_request: --symbols has no such function$'
    has ctl '^mmioscope: refused: another instruction is there: '
    has ctl '^mmioscope: --probe MODULE:FUNCTION: use ctl when the module is loaded$'
    complete
    probes_judged 4
    "$mmioscope" print --symbols "$out/modules" --symbols "$drivers" -F 'func==mmci_request' "$out/trace.mmio" >"$out/print" ||
        fail "print: exit status $?"
    has print ' call mmci_request\(0x.* <- mmc_start_request\+'
    has print ' ret mmci_request = 0x'
}
add test probes-modules-asked 40 probes_modules_asked

# Over the stream's wire, while the guest runs: probes come and go, and what cannot be is refused with a reason.
probes_asked() {
    local folder running
    folder=$(mktemp -d)
    run_linux mmioscope.steps=all --no-print --probes --stream serial2 --ctl "$folder/ctl" --qemu-arg=-plugin \
        "--qemu-arg=file=$build/tests/probe-log.so,out=$out/probe.log" &
    running=$!
    until_true 60 test -s "$out/console" || fail "the console stays empty"
    ctl() { "$mmioscope" ctl --timeout 60 "unix:$folder/ctl" --kernel "$guest/vmlinuz" "$@" >>"$out/ctl" 2>&1; }
    ctl probe 'vfs_*' __schedule && ctl --returns probe vfs_write && ctl probe vfs_read && ctl unprobe 'vfs_f*' &&
        ctl probe 'kmem_cache_*,sample=3' 'kfree,count' && ctl hits kfree && ctl mark set
    local asked=$?
    ctl probe no_such_function && asked=1
    ctl probe start_kernel && asked=1
    ctl unprobe vfs_read || asked=1
    ctl unprobe vfs_read && asked=1
    wait "$running"
    rm -r "$folder"
    [ "$asked" = 0 ] || fail "ctl: $(tail -n 1 "$out/ctl")"
    has ctl 'no_such_function: the kernel has no such function$'
    has ctl '^[3-9][0-9] of [3-9][0-9] functions$'
    has ctl '^0xc[0-9a-f]+: [1-9][0-9]* without a record$'
    has ctl '^mmioscope: refused: another instruction is there: '
    has ctl 'refused: no probe is there$'
    has stdout '^complete: [0-9]+ events, 0 lost$'
    "$mmioscope" export --as csv -F 'call || ret || type==hits || type==change' -o "$out/calls.csv" "$out/trace.mmio" 2>/dev/null || fail "export: exit status $?"
    tests/qemu/probes.py "$out/probe.log" "$out/calls.csv" >"$out/judge" ||
        fail "$(tail -n 1 "$out/judge"): $(head -n 1 "$out/judge")"
    has judge '^[1-9][0-9]* functions, [1-9][0-9]+ calls, [1-9][0-9]* returns, [1-9][0-9]+ counted, 0 different$'
}

add test probes-asked 40 probes_asked

# Firmware has left SCR.HCE clear (tests/doctor/entry.S): the boot ends before the kernel begins.
probes_no_hce() {
    local at=$((16#88000000))
    arm-none-eabi-objcopy -O binary "$build/hyp-88000000.elf" "$out/hyp.bin" || fail "objcopy: exit status $?"
    run_linux "" --no-print --probe start_kernel --hypervisor "$build/tests/doctor/loader-88000000.elf" \
        --qemu-arg=-device --qemu-arg="loader,file=$out/hyp.bin,addr=$at,force-raw=on" \
        --qemu-arg=-device --qemu-arg="loader,addr=$((at - (8 << 20))),data=7,data-len=4"
    rm "$out/hyp.bin"
    exits_with 1
    has hypervisor '^mmioscope: stop: probes need HVC, which is undefined here: firmware must set SCR.HCE'
}
add test probes-no-hce 5 probes_no_hce

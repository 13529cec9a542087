# Input that cannot work: one clear line, a non-zero exit status, no hang.
# shellcheck shell=bash disable=SC2154

# refused PATTERN ARGUMENT...: refused before anything starts.
refused() {
    local pattern=$1
    shift
    status=0
    timeout 20 env PATH="${path:-$PATH}" "$mmioscope" run --no-print --no-net --time-limit 15 "$@" \
        >"$out/stdout" 2>"$out/stderr" || status=$?
    exits_with 2
    [ ! -s "$out/stdout" ] || fail "output besides the message"
    head -n 1 "$out/stderr" | grep -Eq -- "^mmioscope: .*$pattern" || fail "the message is: $(head -n 1 "$out/stderr")"
}
one_line() { [ "$(wc -l <"$out/stderr")" = 1 ] || fail "more than one line"; }

good_kernel() { kernel=(--kernel "$build/tests/guest/vexpress-a15/hammer.bin" --bare); }

kernel_missing() { refused 'nothing-here' --kernel "$out/nothing-here" --dtb "$board_tree"; one_line; }
kernel_truncated() {
    head -c 1000000 "$guest/vmlinuz" >"$out/half kernel"
    refused 'half kernel is truncated' --kernel "$out/half kernel" --dtb "$board_tree"; one_line
}
kernel_garbage() {
    head -c 100000 /dev/urandom >"$out/noise"
    refused 'not an ARM zImage' --kernel "$out/noise" --dtb "$board_tree"; one_line
}
kernel_endless() { refused 'not a kernel' --kernel /dev/zero --dtb "$board_tree"; one_line; }
ramdisk_huge() {
    truncate -s 4G "$out/huge"
    refused 'huge: larger than 64 MiB, so it is not a ramdisk' --kernel "$guest/vmlinuz" --dtb "$board_tree" --initrd "$out/huge"
    one_line
}
tree_missing() { good_kernel; refused 'nothing-here' "${kernel[@]}" --dtb "$out/nothing-here"; one_line; }
tree_truncated() {
    good_kernel
    head -c 5000 "$board_tree" >"$out/half.dtb"
    refused 'half.dtb is truncated' "${kernel[@]}" --dtb "$out/half.dtb"; one_line
}
tree_garbage() {
    good_kernel
    head -c 5000 /dev/urandom >"$out/noise.dtb"
    refused 'not a flattened device tree' "${kernel[@]}" --dtb "$out/noise.dtb"; one_line
    # A right header, followed by noise.
    { head -c 40 "$board_tree"; head -c $(($(stat -c %s "$board_tree") - 40)) /dev/urandom; } >"$out/noise.dtb"
    refused 'damaged device tree' "${kernel[@]}" --dtb "$out/noise.dtb"; one_line
}
device_unknown() {
    good_kernel
    refused "no device 'toaster'" "${kernel[@]}" --dtb "$board_tree" --trace toaster; one_line
    refused "no device 'seral0'" "${kernel[@]}" --dtb "$board_tree" --trace seral0; one_line
    has stderr 'serial0' "no near name"
}
# bad_option PATTERN OPTION VALUE
bad_option() { good_kernel; refused "$1" "${kernel[@]}" --dtb "$board_tree" "$2" "$3"; one_line; }
memory_too_little() { bad_option 'too little memory' --memory 64M; }
area_too_small() { bad_option 'too small' --area-size 64K; }
engine_unknown() { bad_option 'engine' --engine steam; }
output_unwritable() { bad_option 'no such folder' -o "$out/no such folder/x"; }
qemu_missing() {
    good_kernel
    refused 'nothing-here' "${kernel[@]}" --dtb "$board_tree" --qemu "$out/nothing-here"; one_line
    path=$out refused 'qemu-system-arm not found' "${kernel[@]}" --dtb "$board_tree"; one_line
}

# The board has no Hyp mode: the hypervisor says so on its UART, and the run ends at once.
no_hyp_mode() { # MACHINE-OPTIONS
    local start=$SECONDS
    run_bare hammer --qemu-arg=-machine --qemu-arg="vexpress-a15,$1"
    exits_with 1
    has stderr '^mmioscope: stop: .*Hyp'
    has stderr '^mmioscope: .*before the hypervisor was ready'
    [ $((SECONDS - start)) -le 5 ] || fail "took $((SECONDS - start)) s"
}
# The board starts in Hyp mode, as after some boot loaders.
starts_in_hyp() {
    run_bare hammer --engine emulation --qemu-arg=-machine --qemu-arg=vexpress-a15,secure=off,virtualization=on
    complete
}

for name in kernel_missing kernel_truncated kernel_garbage kernel_endless ramdisk_huge tree_missing tree_truncated tree_garbage device_unknown \
    memory_too_little area_too_small engine_unknown qemu_missing output_unwritable; do
    add test "input-${name//_/-}" 3 $name
done
add test input-no-hyp-secure 5 no_hyp_mode secure=on,virtualization=off
add test input-no-hyp 5 no_hyp_mode secure=off,virtualization=off
add test input-starts-in-hyp 15 starts_in_hyp

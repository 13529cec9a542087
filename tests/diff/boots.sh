#!/bin/bash
# Records boots of the demo's kernel for judge.py, every other one beside a busy process.
# Usage: tests/diff/boots.sh BUILD FOLDER COUNT. Writes FOLDER/1.mmio and so on; what is there stays.
set -eu
build=$1 folder=$2 count=$3
busy=
trap '[ -z "$busy" ] || kill "$busy"' EXIT
mkdir -p "$folder"
for ((n = 1; n <= count; n++)); do
    [ -e "$folder/$n.mmio" ] && continue
    if ((n % 2 == 0)); then
        while :; do :; done &
        busy=$!
    fi
    "$build/mmioscope" run --kernel "$build/guest/vmlinuz" --dtb "$build/guest/vexpress-v2p-ca15-tc1.dtb" \
        --initrd "$build/guest/initrd.img" --sd "$build/guest/sd.img" --append 'console=ttyAMA0 panic=-1' \
        --expect 'mmioscope-guest: done' --time-limit 300 --console-log "$folder/console.log" --no-print \
        --output "$folder/unfinished" >"$folder/run.log" || { cat "$folder/run.log"; exit 1; }
    mv "$folder/unfinished" "$folder/$n.mmio"
    if [ -n "$busy" ]; then
        kill "$busy"
        wait "$busy" || true
        busy=
    fi
done

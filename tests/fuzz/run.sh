#!/bin/bash
# Runs fuzzers for a while, starting from real inputs and from those in corpus/, which earlier runs found worth keeping.
# Usage: tests/fuzz/run.sh BUILD [SECONDS [NAME...]], default 600 s for each of all fuzzers; as many at a time as there
# are CPUs. An input that takes 10 s, or 1 GiB, is a finding, too. Findings are kept as BUILD/fuzz/NAME-crash-*, -timeout-*,
# -oom-*.
set -u
build=$1
seconds=${2:-600}
shift $(($# < 2 ? $# : 2))
names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(basename -s .cpp tests/fuzz/*.cpp)
# shellcheck source=tests/side_by_side.sh
. "$(dirname "$0")/../side_by_side.sh" # begin, ended, passed, failed

seed() { # NAME FILE...: the first 20,000 bytes are enough to begin with
    local corpus=$build/fuzz/corpus-$1 file
    shift
    mkdir -p "$corpus"
    for file in "$@"; do
        [ ! -f "$file" ] || head -c 20000 "$file" > "$corpus/seed-$(basename "$(dirname "$file")")-$(basename "$file")"
    done
}
seed device_tree "$build"/guest/*.dtb
seed trace_file "$build"/demo.mmio "$build"/tests/qemu/*/*.mmio
seed access_log "$build"/tests/qemu/*/*.log
seed wire "$build"/tests/qemu/stream-*/wire
seed mmiotrace tests/export/mmiotrace.txt
seed regs host-tools/devices/*.regs
seed device_names "$build"/guest/*.dtb

# A packaged tree is damaged if its end is missing.
most=24000
case " ${names[*]} " in *" plan "*)
    tests/plan/trees.py "$build" --unpack
    mkdir -p "$build/fuzz/corpus-plan"
    find "$build/tests/plan/trees" -name '*.dtb' -size -64k -exec cp {} "$build/fuzz/corpus-plan" \; ;;
esac

fuzz() { # NAME
    local name=$1 log=$build/fuzz/$1.log corpora=("$build/fuzz/corpus-$1")
    [ "$name" != plan ] || local most=65536
    mkdir -p "$build/fuzz/corpus-$name"
    [ ! -d "tests/fuzz/corpus/$name" ] || corpora+=("tests/fuzz/corpus/$name")
    if "$build/fuzz/$name" -max_total_time="$seconds" -timeout=10 -max_len="$most" -print_final_stats=1 \
        -rss_limit_mb=1024 -malloc_limit_mb=512 -artifact_prefix="$build/fuzz/$name-" "${corpora[@]}" > "$log" 2>&1; then
        echo "ok fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs"
    else
        echo "FAILED fuzz $name: $(grep -m 1 -E 'ERROR|runtime error' "$log" || tail -n 1 "$log") (see $log)"
        return 1
    fi
}

for name in "${names[@]}"; do
    begin fuzz "$name"
done
ended
echo "fuzz: $passed passed, $failed failed"
[ "$failed" = 0 ]

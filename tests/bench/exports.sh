#!/bin/bash
# Exports of a long trace: their costs; each is read by its own consumer and compared with the trace event by event.
# Usage: tests/bench/exports.sh BUILD [EVENTS], default 10,000,000. Fails if a consumer reads anything else, or if the
# memory of an export grows with the trace.
set -u
build=$1 events=${2:-10000000}
tool=$PWD/$build/mmioscope
own=$build/tests/bench-exports
consumers=$PWD/tests/export
# shellcheck disable=SC2034 # for consumers.sh: seconds, far more than needed
export_limit=1800 compare_limit=7200
# shellcheck source=tests/export/consumers.sh
. "$consumers/consumers.sh"
more_memory=8192 # KiB that an export of all events may take beyond one of 100,000
passed=0 failed=0
trap 'rm -rf "$own"' EXIT
rm -rf "$own"
mkdir -p "$own"

measured() { tests/bench/measured.py "$own/$1" "${@:2}"; }

line() { # NAME SIZE WORDS: of what `measured NAME` saw
    local seconds memory
    read -r seconds memory < "$own/$1"
    awk -v name="$1" -v s="$seconds" -v kib="$memory" -v events="$events" -v size="$2" -v words="$3" 'BEGIN {
        printf "%-22s %9.1f s %8.2f M/s %8.1f MiB %8s  %s\n", name, s, events / s / 1e6, kib / 1024, size, words }'
}

verdict() { # STATUS
    if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

constant_memory() { # FORMAT
    local little much
    read -r _ little < "$own/$1.short"
    read -r _ much < "$own/$1"
    [ "$much" -le $((little + more_memory)) ] || { echo "$much KiB, $little KiB for 100,000 events"; return 1; }
}

one_format() { # FORMAT
    local words status size
    measured_export "$1.short" "$own/short.mmio" "$1" && rm -rf "$own/out" && measured_export "$1" "$own/long.mmio" "$1" ||
        { echo "$1: not exported: $(head -n 1 "$own/stderr")"; verdict 1; return; }
    size=$(du -sh --apparent-size "$own/out" | cut -f 1)
    words=$("read_$1" "$own/out" | timeout "$compare_limit" "$consumers/compare.py" "$own/long.mmio" "$1" - 2>&1 &&
        constant_memory "$1")
    status=$?
    rm -rf "$own/out"
    line "$1" "$size" "$words"
    verdict "$status"
}
measured_export() { # NAME TRACE FORMAT
    measured "$1" "$tool" export --as "$3" -i "$2" -o "$own/out" 2> "$own/stderr"
}

"$build/tests/make-trace" 100000 "$own/short.mmio" && "$build/tests/make-trace" "$events" "$own/long.mmio" || exit 1
echo "$events events: seconds of CPU time, events a second, memory at most, size of what was written"
for format in jsonl csv sqlite mmiotrace ctf perfetto; do
    one_format "$format"
done

# For comparison: babeltrace2 prints the same events.
measured_export ctf-again "$own/long.mmio" ctf
measured "print --all" "$tool" print --all "$own/long.mmio" > /dev/null 2>&1
measured babeltrace2 babeltrace2 "$own/out" > /dev/null 2>&1
line "print --all" - ""
line babeltrace2 - "prints the events of the CTF export"
echo "bench-exports: $passed passed, $failed failed"
[ "$failed" = 0 ]

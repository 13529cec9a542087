#!/bin/bash
# The cost of an event in the host tools: decoding, naming, filters, exports.
# Usage: tests/bench/host.sh BUILD
# Prints events per second of CPU time, and seconds per event.
set -u
log=$1/tests/host-bench.log
if "$1/tests/host-bench" --benchmark_counters_tabular=true >"$log" 2>&1 && ! grep -q 'ERROR OCCURRED' "$log"; then
    sed -n '/^---/,$p' "$log"
    echo "host-bench: 1 passed, 0 failed"
else
    tail -n 5 "$log"
    echo "host-bench: 0 passed, 1 failed"
    exit 1
fi

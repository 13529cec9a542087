#!/bin/bash
# The cost of recording, and of checking the recording: executed instructions per record, counted by callgrind, from the
# difference between a run of N records and one of three times as many.
# Usage: tests/bench/capture.sh BUILD
# Fails if the cost is above its limit.
set -u
build=$1
own=$build/tests/bench-capture
trap 'rm -rf "$own"' EXIT
rm -rf "$own"
mkdir -p "$own"
few=40000 many=120000
passed=0 failed=0

instructions() { # OPTION COMMAND...: executed while OPTION holds
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >"$own/out" | sed -n 's/.*Collected : //p'
}
capture() { # RECORDS [linux]: only what the recorder does, not what makes the records
    instructions '--toggle-collect=mmioscope::rings::Recorder::pass()' "$build/tests/capture" "$1" "$own/$1.mmio" "${@:2}"
}
line() { # NAME MOST FEW MANY
    local each=$((($4 - $3) / (many - few)))
    echo "$1: $each instructions a record"
    if [ "$each" -gt 0 ] && [ "$each" -le "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

line capture 60 "$(capture $few)" "$(capture $many)"
line check 80 "$(instructions --collect-atstart=yes "$build/mmioscope" check "$own/$few.mmio")" \
    "$(instructions --collect-atstart=yes "$build/mmioscope" check "$own/$many.mmio")"
line 'capture with tasks and callers' 120 "$(capture $few linux)" "$(capture $many linux)"
echo "bench-capture: $passed passed, $failed failed"
[ "$failed" = 0 ]

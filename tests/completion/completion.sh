#!/bin/bash
# The completion of bash, asked as bash asks it. Usage: tests/completion/completion.sh BUILD
set -u
program=$PWD/$1/mmioscope
passed=0 failed=0
# shellcheck source=contrib/completion/mmioscope.bash
. contrib/completion/mmioscope.bash

# completes EXPECTED WORD...: what is proposed for the last WORD, joined by spaces.
completes() {
    local expected=$1
    shift
    COMP_WORDS=("$program" "$@")
    COMP_CWORD=$#
    _mmioscope
    local got="${COMPREPLY[*]}"
    # shellcheck disable=SC2053 # the expectation may be a pattern
    if [[ $got == $expected ]]; then
        passed=$((passed + 1))
        echo "ok completion: mmioscope $*"
    else
        failed=$((failed + 1))
        echo "FAILED completion: mmioscope $*: expected '$expected', got '$got'"
    fi
}

completes "*run*record*print*verify*" ""
completes "verify" ver
completes "" nosuch
completes "--engine" run --eng
completes "--print" run --pri
completes "--no-print" run --no-pr
completes "*--help*--output*--baud*" record -
completes "virt" run --board vi
completes "shadow emulation unprotect" run --engine ""
completes "stall" run --policy s
completes "text jsonl csv" info --format ""
completes "--summary" print --sum
completes "" verify --nosuch
folder=$(mktemp -d)
touch "$folder/boot.mmio" "$folder/two words.mmio"
completes "$folder/boot.mmio" print "$folder/bo"
completes "$folder/two words.mmio" run -o "$folder/two"
rm -r "$folder"
complete -p mmioscope >/dev/null || { failed=$((failed + 1)); echo "FAILED completion: nothing is registered"; }

echo "completion: $passed passed, $failed failed"
[ "$failed" = 0 ]

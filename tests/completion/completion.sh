#!/bin/bash
# Tests bash completion, calling it as bash does. Usage: tests/completion/completion.sh BUILD
set -u
program=$PWD/$1/mmioscope
passed=0 failed=0
# shellcheck source=contrib/completion/mmioscope.bash
. contrib/completion/mmioscope.bash

# completes EXPECTED WORD...: checks the proposals for the last WORD, or that number $cursor, joined by spaces.
completes() {
    local expected=$1
    shift
    COMP_WORDS=("$program" "$@")
    COMP_CWORD=${cursor:-$#}
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
completes "text jsonl csv html" diff --format ""
completes "--summary" print --sum
completes "--no-collapse" print --no-col
completes "--columns" print --colu
completes "--changes" print --ch
completes "--all" sharing --al
completes "" verify --nosuch
completes "vexpress-a15 virt orangepi-pc mcimx7d-sabre ast2600-evb raspi2b" run --board ""
if [ -n "${_mmioscope_help[$program run]-}" ]; then
    passed=$((passed + 1))
    echo "ok completion: a help is kept"
else
    failed=$((failed + 1))
    echo "FAILED completion: a help is asked for again at each key"
fi
folder=$(mktemp -d)
touch "$folder/boot.mmio" "$folder/two words.mmio"
completes "$folder/boot.mmio" print "$folder/bo"
completes "$folder/two words.mmio" run -o "$folder/two"

# Inside a filter. Bash treats "==" as a separate word, but not in quotes.
cat >"$folder/text" <<'END'
device serial0 0x1c090000 0x1000 arm,pl011
device mmc@50000 0x1c050000 0x1000
code 0xc0500000 0x100 pl011_read
code 0xbf010000 0x100 mmci_irq armmmci
0.0 cpu0 R2 0x1c090018 0x90 pc=0xc0500010
0.1 cpu0 W2 0x1c090000 0x61 pc=0xbf010010
0.2 cpu0 R4 0x1c050034 0
END
"$PWD/$1/tests/trace-of-text" "$folder/text" "$folder/t.mmio"
in_filter() { # EXPECTED WORD...
    COMP_LINE=$(sed -E 's/ == ?/==/' <<<"mmioscope ${*:2}")
    COMP_POINT=${#COMP_LINE}
    completes "$@"
    unset COMP_LINE COMP_POINT
}
in_filter "mmc@50000 serial0" print "$folder/t.mmio" -F dev ==
in_filter "serial0" print "$folder/t.mmio" -F dev == se
in_filter "DR FR" print "$folder/t.mmio" -F reg ==
in_filter "w && reg==DR" print "$folder/t.mmio" -F "'w && reg==D"
in_filter "mmci_irq pl011_read" print "$folder/t.mmio" -F func ==
in_filter "" print "$folder/t.mmio" -F func == D
in_filter "" print "$folder/t.mmio" -F caller ==
completes "mmc@50000 serial0" diff "$folder/t.mmio" --dev ""
cursor=2
completes "mmc@50000" gen mm "$folder/t.mmio"
completes "mmc@50000 serial0" regs "" "$folder/t.mmio"
completes "--as" gen --as "$folder/t.mmio"
completes "$folder/text" gen "$folder/te" "$folder/text" 2>"$folder/said" # which is no trace
completes "" gen mm "$folder/text" 2>>"$folder/said"
unset cursor
if [ -s "$folder/said" ]; then
    failed=$((failed + 1))
    echo "FAILED completion: of a file that is no trace it says: $(head -n 1 "$folder/said")"
fi
rm -r "$folder"
complete -p mmioscope >/dev/null || { failed=$((failed + 1)); echo "FAILED completion: nothing is registered"; }

echo "completion: $passed passed, $failed failed"
[ "$failed" = 0 ]

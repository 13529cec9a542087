#!/bin/sh
# Draws docs/pictures/print.svg from the trace of `make demo`. Usage: docs/pictures/print.sh [BUILD]
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}

shown() { # ARGUMENTS OPTIONS-NOT-SHOWN: the command as it is typed, and what it prints
    echo "\$ mmioscope $1"
    (cd "$build" && eval "./mmioscope $1 $2") 2>/dev/null
}
{
    shown "print -F 'dev==rtc' --from 3.364 --to 5.83 demo.mmio" "--color always"
    echo
    shown "stat --by device --limit 6 demo.mmio" ""
} | docs/pictures/terminal.py >docs/pictures/print.svg

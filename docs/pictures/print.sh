#!/bin/sh
# Draws docs/pictures/print.svg from the trace of `make demo`. Usage: docs/pictures/print.sh [BUILD]
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}

shown() { # ARGUMENTS: the command as it is typed, and what it prints on a terminal of 118 columns
    echo "\$ mmioscope $1"
    (cd "$build" && LC_ALL=C.UTF-8 COLUMNS=118 script -qec "./mmioscope $1 --no-pager 2>/dev/null" /dev/null) | tr -d '\r'
}
{
    shown "print -F 'dev==mmc' --last 12 --no-summary demo.mmio"
    echo
    shown "stat --by device --limit 6 demo.mmio"
} | docs/pictures/terminal.py >docs/pictures/print.svg

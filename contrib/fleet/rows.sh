#!/bin/bash
# Prints the events of many traces as one table for a database: CSV, with three columns in front that say whose they are.
#
#   rows.sh TRACE...     with mmioscope in PATH, or as $MMIOSCOPE
#
# TRACE is FOLDER/BOARD/BOOT.mmio: `board` and `boot` are the last two names of its path. `kernel` is the release that
# its kernel said ("6.1.0-50-armmp-lpae"), empty if the trace has none. The other columns are those of
# `mmioscope export --as csv-number`. A trace that is cut off or damaged has the rows before that, one that cannot be read
# has none; mmioscope says so, the others follow, and the exit status is 1.
set -uo pipefail
tool=${MMIOSCOPE:-mmioscope}
command -v "$tool" >/dev/null || { echo "rows.sh: no program '$tool'; set PATH or MMIOSCOPE" >&2; exit 2; }
[ $# -gt 0 ] || { echo "rows.sh: no traces; give FOLDER/BOARD/BOOT.mmio..." >&2; exit 2; }

rows_of() { # TRACE
    local boot board kernel
    boot=$(basename "$1" .mmio)
    board=$(basename "$(dirname "$(realpath -s "$1")")")
    if [[ $board$boot = *[!A-Za-z0-9._+-]* ]]; then
        echo "rows.sh: $1: rename it; its name and its folder's may have letters, digits and . _ + - only" >&2
        return 1
    fi
    kernel=$("$tool" info --format jsonl "$1" 2>/dev/null |
        sed -nE 's/^\{"about":"text","name":"kernel\.banner","value":"Linux version ([A-Za-z0-9._+~-]+).*/\1/p')
    # Names in a trace are printable text, so a row is a line.
    "$tool" export --as csv-number "$1" -o - |
        awk -v by="$board,$boot,$kernel," '{ print (NR == 1 ? "board,boot,kernel," : by) $0 }'
}

every_trace() {
    local status=0 trace
    for trace in "$@"; do
        rows_of "$trace" || status=1
    done
    return $status
}
every_trace "$@" | awk '!/^board,boot,kernel,ns,/ || !titles++'

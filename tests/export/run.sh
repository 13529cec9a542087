#!/bin/bash
# Exports of a made-up trace, each read by its own consumer and compared with the trace event by event; and how exports
# end.
# Usage: tests/export/run.sh BUILD [EVENTS], default 80,000.
set -u
build=$1 events=${2:-80000}
here=$(dirname "$0")
tool=$PWD/$build/mmioscope
out=$build/tests/export
# shellcheck source=tests/side_by_side.sh
. "$here/../side_by_side.sh" # begin, ended, passed, failed
consumers=$here
# shellcheck source=tests/export/consumers.sh
. "$here/consumers.sh" # export_to, consumer
rm -rf "$out"
mkdir -p "$out"

# case_ NAME COMMAND...: passes if COMMAND does; its output is the reason, or a figure. Its folder is $own.
case_() { begin run_case "$@"; }
run_case() {
    local own=$out/${1//[ \']/-} words status
    mkdir "$own"
    words=$("${@:2}" 2>&1)
    status=$?
    [ "$status" = 0 ] && rm -rf "$own" && echo "ok export $1: ${words:-as it should}" && return
    echo "FAILED export $1: $words"
    return "$status"
}

# expect STATUS WORDS COMMAND...: checks its exit status, and its one line of output
expect() {
    local said status
    said=$(timeout 300 "${@:3}" 2>&1 > /dev/null)
    status=$?
    if [ "$status" != "$1" ] || [[ $said != *$2* ]] || [ "$(wc -l <<< "$said")" != 1 ]; then
        echo "status $status, not $1, '$said', not '$2'"
        return 1
    fi
}

nothing_left() { # FOLDER FILES: nothing else is there
    local left
    left=$(find "$1" -mindepth 1 -maxdepth 1 -printf '%f ')
    [ "$left" = "$2" ] || { echo "left: $left"; return 1; }
}

old_file_stays() { # a trace that cannot be read costs no old file
    local folder=$own
    echo old > "$folder/x"
    expect 2 "" "$tool" export --as csv -i "$here/run.sh" -o "$folder/x" || return 1
    [ "$(cat "$folder/x")" = old ] && nothing_left "$folder" "x "
}

# A CTF folder is replaced as a whole; any other folder is not.
folders() {
    local folder=$own/folders
    mkdir -p "$folder/other"
    echo mine > "$folder/other/notes"
    expect 2 "is not a CTF trace" "$tool" export --as ctf -i "$out/trace.mmio" -o "$folder/other" || return 1
    [ "$(cat "$folder/other/notes")" = mine ] || return 1
    export_to ctf "$folder/ctf" -i "$out/trace.mmio" && touch "$folder/ctf/cpu77" &&
        export_to ctf "$folder/ctf" -i "$out/trace.mmio" || return 1
    [ ! -e "$folder/ctf/cpu77" ] && [ -s "$folder/ctf/cpu0" ] && rm -r "$folder/other" && nothing_left "$folder" "ctf "
}

full_disk() { expect 1 "No space left" "$tool" export --as "$1" -i "$out/trace.mmio" -o /dev/full; }

interrupted() { # FORMAT: while it waits for its input
    local folder=$own/into pid input
    mkdir "$folder"
    mkfifo "$own/input"
    env --default-signal=INT "$tool" export --as "$1" -i - -o "$folder/x" < "$own/input" 2> /dev/null &
    pid=$!
    exec {input}> "$own/input"
    head -c 3000000 "$out/trace.mmio" >&"$input" # has an end when it was read, but for what a pipe holds
    [ -n "$(ls -A "$folder")" ] || { echo "it did not begin"; kill "$pid"; return 1; }
    kill -INT "$pid"
    wait "$pid"
    [ $? = 130 ] || { echo "it did not end by the signal"; return 1; }
    nothing_left "$folder" ""
}

broken_pipe() {
    "$tool" export --as jsonl -i "$out/trace.mmio" -o - 2> "$own/stderr" | head -n 2 > "$own/two"
    cat "$own/stderr"
    [ "$(wc -l < "$own/two")" = 2 ] && [ ! -s "$own/stderr" ]
}

# Compares tables and views with the same trace's JSONL.
database() { # TRACE
    export_to sqlite "$own/db" -i "$1" && export_to jsonl "$own/jsonl" -i "$1" || return 1
    "$here/database.py" "$own/db" "$own/jsonl"
}

database_of_names() {
    "$build/tests/trace-of-text" "$here/names.txt" "$own/names.mmio" && database "$own/names.mmio" || return 1
    [ "$(sqlite3 "$own/db" 'SELECT pid, tgid FROM tasks' | xargs)" = '1|1 77|70 78|78' ] || { echo "other tasks"; return 1; }
}

# With very many names, Perfetto's names are forgotten and defined again.
many_names() {
    { echo 'device serial0 0x1c090000 0x100000'
        seq 0 39999 | awk '{ printf "%.3f cpu0 R4 %d %d\n", $1 / 1000, 470351872 + $1 * 4, $1 }'; } > "$own/many.txt"
    "$build/tests/trace-of-text" "$own/many.txt" "$own/many.mmio" && consumer perfetto "$own/many.mmio"
}

# Functions, callers, registers, fields and tasks in the formats in which compare.py checks only numbers.
names() { # FORMAT
    "$build/tests/trace-of-text" "$here/names.txt" "$own/names.mmio" && export_to jsonl "$own/jsonl" -i "$own/names.mmio" &&
        export_to "$1" "$own/$1" -i "$own/names.mmio" || return 1
    if [ "$1" = mmiotrace ]; then cat "$own/$1"; else "read_$1" "$own/$1"; fi | "$here/names.py" "$1" - "$own/jsonl"
}

# Times are relative to the start, as in other formats, but never go back in CTF; and it has the boot's id.
ctf_times() {
    "$build/tests/trace-of-text" "$here/names.txt" "$own/names.mmio" && export_to ctf "$own/ctf" -i "$own/names.mmio" &&
        grep -q 'ctf: 1 events that were earlier than the previous one have its time' "$own/stderr" &&
        export_to csv "$own/csv" -i "$own/names.mmio" && export_to ctf "$own/short" -i "$out/short.mmio" || return 1
    grep -q 'uuid = "01122334-4556-6778-899a-abbccddeef00"' "$own/short/metadata" || { echo "another boot"; return 1; }
    tail -n +2 "$own/csv" | awk -F, '{ last[$3] = $1 > last[$3] ? $1 : last[$3]; printf "%.9f\n", last[$3] / 1e9 }' |
        sort -n > "$own/expected"
    babeltrace2 --no-delta --clock-seconds "$own/ctf" 2> "$own/babeltrace" | sed -E 's/^\[([0-9.]+)\] .*/\1/' |
        sort -n | diff "$own/expected" -
}

# Text to trace to text: the same accesses. And each access from a log is in the log.
round_trip() {
    local step
    export_to mmiotrace "$own/1.txt" -i "$out/trace.mmio" || return 1
    "$tool" import --as mmiotrace -o "$own/imported.mmio" < <(cat "$own/1.txt") 2> "$own/stderr" || return 1
    export_to mmiotrace "$own/2.txt" -i "$own/imported.mmio" || return 1
    for step in 1 2; do
        awk -f "$here/mmiotrace.awk" "$own/$step.txt" | grep -E '^(access|unknown)' > "$own/$step.events"
    done
    [ "$(wc -l < "$own/1.events")" -gt $((events * 9 / 10)) ] && cmp "$own/1.events" "$own/2.events"
}

# PCI functions, found from the accesses to their configuration space: from a file, in both directions, but not from a
# pipe.
pci() {
    local space=" " # where a driver's name would be
    "$build/tests/trace-of-text" "$here/pci.txt" "$own/pci.mmio" && export_to mmiotrace "$own/1.txt" -i "$own/pci.mmio" || return 1
    grep -q 'the times of 1 are estimates$' "$own/stderr" || { echo "it says $(cat "$own/stderr")"; return 1; }
    read_mmiotrace "$own/1.txt" > "$own/events"
    [ "$(wc -l < "$own/events")" = 24 ] || { echo "other events"; return 1; }
    diff - <(grep PCIDEV "$own/1.txt") <<END || return 1
PCIDEV 0000 1b360008 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0$space
PCIDEV 0008 1af41000 2e 1001 0 0 0 21012000c 0 10140000 20 0 0 0 4000 0 40000$space
END
    export_to mmiotrace "$own/part.txt" -F 'dev==serial0' -i "$own/pci.mmio"
    [ "$(grep -c PCIDEV "$own/part.txt")" = 2 ] || { echo "not in a part"; return 1; }
    pci_there_and_back "$own/1.txt" && pci_there_and_back "$here/mmiotrace.txt" || return 1
    export_to mmiotrace "$own/piped.txt" - < <(cat "$own/pci.mmio")
    ! grep PCIDEV "$own/piped.txt" && grep -q 'PCI functions (PCIDEV) need a file, not a pipe' "$own/stderr"
}
pci_there_and_back() { # TEXT: the trace that it becomes has its lines, from a pipe, too
    "$tool" import --as mmiotrace -i "$1" -o "$own/imported.mmio" 2> "$own/stderr" || return 1
    export_to mmiotrace "$own/2.txt" - < <(cat "$own/imported.mmio")
    diff <(grep PCIDEV "$1") <(grep PCIDEV "$own/2.txt")
}

qemu_log() {
    "$tool" export --as csv -i "$out/trace.mmio" -o - 2> "$own/stderr" |
        awk -F, '$4 == "access" && $7 ~ /serial/ && $11 != "" && $6 <= 8 {
            printf "memory_region_ops_%s cpu %d mr 0x55 addr %s value %s size %d name \047serial\047\n",
                $5 == "w" ? "write" : "read", $3, $9, $11, $6 }' > "$own/access.log"
    "$tool" import --as qemu -i "$own/access.log" -o "$own/imported.mmio" 2> "$own/stderr" || return 1
    "$tool" export --as csv -i "$own/imported.mmio" -o - 2> "$own/stderr" |
        awk -F, '$4 == "access" {
            printf "memory_region_ops_%s cpu %d mr 0x55 addr %s value %s size %d name \047serial\047\n",
                $5 == "w" ? "write" : "read", $3, $9, $11, $6 }' > "$own/again.log"
    [ "$(wc -l < "$own/access.log")" -gt $((events / 20)) ] && cmp "$own/access.log" "$own/again.log"
}

cut_trace() {
    head -c 2000000 "$out/trace.mmio" > "$own/cut.mmio"
    export_to csv "$own/cut.csv" -i "$own/cut.mmio"
    [ $? = 1 ] && grep -q 'the trace is cut off' "$own/stderr" && [ "$(wc -l < "$own/cut.csv")" -gt 16000 ] || return 1
    export_to jsonl "$own/cut.jsonl" -i "$own/cut.mmio"
    [ $? = 1 ] && [ "$(tail -n 1 "$own/cut.jsonl")" = '{"type":"end","ending":"cut off"}' ]
}

# A part of a trace as a trace, from files and pipes, compressed or not, and a part of that.
parts() {
    local trace options all=0
    for trace in names said; do
        "$build/tests/trace-of-text" "$here/$trace.txt" "$own/$trace.mmio" || return 1
    done
    cp "$out/short.mmio" "$own/short.mmio"
    for trace in short names said; do
        for options in "" --no-pc "-F w" "--cpu 0" "--cpu 1" "--from 0.05" "--from 0.03 --to 0.07" "-F dev!=serial0" \
            "-F r --cpu 0 --from 0.01 --no-pc" "--to 0.001"; do
            # shellcheck disable=SC2086 # options are words
            "$here/part.sh" "$tool" "$own/$trace.mmio" "$own" $options > "$own/said" || { cat "$own/said"; return 1; }
            all=$((all + $(cat "$own/said")))
        done
    done
    zstd -q "$own/short.mmio" -o "$own/short.zst" && "$here/part.sh" "$tool" "$own/short.zst" "$own" -F w --to 0.02 > "$own/said" &&
        cp "$own/part.mmio" "$own/first.mmio" && "$here/part.sh" "$tool" "$own/first.mmio" "$own" --cpu 1 --from 0.01 > "$own/said" &&
        "$tool" export --as mmio -F w --cpu 1 --from 0.01 --to 0.02 -o - - < <(cat "$own/short.mmio") > "$own/piped.mmio" || return 1
    for trace in part piped; do "$tool" export --as csv -o "$own/$trace.csv" "$own/$trace.mmio" 2> "$own/stderr"; done
    cmp "$own/part.csv" "$own/piped.csv" && echo "$all events are those of the whole trace"
}

# What a part says about itself, and which commands refuse it as incomplete.
part_is_one() {
    "$build/tests/trace-of-text" "$here/pci.txt" "$own/pci.mmio" && "$tool" export --as mmio -F w --to 1 -i "$own/pci.mmio" -o "$own/part.mmio" &&
        "$tool" export --as mmio -i "$own/pci.mmio" -o "$own/all.mmio" && "$tool" check "$own/all.mmio" > "$own/check" || return 1
    "$tool" info "$own/part.mmio" | grep -qE '^exported +--to 1 -F w$' || { echo "info does not tell"; return 1; }
    "$tool" print "$own/part.mmio" | grep -qx 'complete: 14 events of a part, 0 lost' || { echo "another verdict"; return 1; }
    "$tool" print "$own/all.mmio" | grep -qx 'complete: 24 events, 0 lost' || { echo "another verdict of all"; return 1; }
    expect 2 "a part of a trace" "$tool" verify "$own/part.mmio" "$here/run.sh" || return 1
    head -c 2000000 "$out/trace.mmio" > "$own/cut.mmio"
    expect 1 "the trace is cut off" "$tool" export --as mmio -F w -i "$own/cut.mmio" -o "$own/part.mmio" || return 1
    "$tool" check "$own/part.mmio" | tail -n 1 | grep -q ': cut: ' || { echo "whole, of a trace that is not"; return 1; }
    expect 1 "stopped" "$tool" export --as mmio --strict -i "$own/cut.mmio" -o "$own/none.mmio" && [ ! -e "$own/none.mmio" ]
}

# What a filter leaves out is not a loss; what the trace lacks is still reported.
selection() {
    local whole
    export_to csv "$own/csv" -i "$out/short.mmio" || return 1
    whole=$(cat "$own/stderr")
    export_to csv "$own/csv" -F w -i "$out/short.mmio" || return 1
    [ "$(cat "$own/stderr")" = "$whole" ] && [ "$(wc -l < "$own/csv")" -gt 10000 ] &&
        ! cut -d, -f4,5 "$own/csv" | tail -n +2 | grep -vE ',w$|^lost,$'
}

"$build/tests/make-trace" "$events" "$out/trace.mmio" && "$build/tests/make-trace" 40000 "$out/short.mmio" || exit 1
for format in jsonl csv sqlite mmiotrace ctf perfetto; do
    case_ "$format" consumer "$format" "$out/trace.mmio"
done
case_ "an old file stays" old_file_stays
case_ "only a trace is replaced by one" folders
case_ "interrupted, a folder" interrupted ctf
case_ "full disk" full_disk csv
case_ "interrupted" interrupted csv
case_ "interrupted, a database" interrupted sqlite
case_ "broken pipe" broken_pipe
case_ "cut trace" cut_trace
case_ "a selection" selection
case_ "parts of traces" parts
case_ "a part is one" part_is_one
case_ "perfetto, more names than it keeps" many_names
case_ "a folder is no file" expect 2 "it is a folder" "$tool" export --as csv -i "$out/trace.mmio" -o "$out"
case_ "a database is a file" expect 2 "standard output" "$tool" export --as sqlite -i "$out/trace.mmio" -o -
case_ "a database" database "$out/short.mmio"
case_ "a database with names" database_of_names
for format in ctf perfetto mmiotrace; do
    case_ "names in $format" names "$format"
done
case_ "times in ctf" ctf_times
case_ "mmiotrace there and back" round_trip
case_ "PCI functions in mmiotrace" pci
case_ "QEMU's log there and back" qemu_log
case_ "no log" expect 2 "no line of mmiotrace" "$tool" import --as mmiotrace -i "$here/run.sh" -o "$out/none.mmio"
case_ "no such format" expect 2 "--as" "$tool" export --as xml -i "$out/trace.mmio" -o -
case_ "losses are told" expect 0 "lacks" "$tool" export --as csv -i "$out/trace.mmio" -o -
case_ "losses count when strict" expect 1 "were lost: stopped" "$tool" export --as csv --strict -i "$out/trace.mmio" -o -
ended
rm -f "$out"/*.mmio
echo "export: $passed passed, $failed failed"
[ "$failed" = 0 ]

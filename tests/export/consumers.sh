# The consumers of exports, each made for its format, for scripts that source this. They print what they read from FILE,
# for compare.py; $tool is mmioscope, $own a folder for their messages, $consumers this file's.
# shellcheck shell=bash disable=SC2154

export_to() { # FORMAT OUT [ARGS...]: into $own/stderr what it says
    timeout "${export_limit:-100}" "$tool" export --as "$1" -o "$2" "${@:3}" 2> "$own/stderr"
}

read_jsonl() { cat "$1"; }
read_csv() { cat "$1"; }
read_mmiotrace() { awk -f "$consumers/mmiotrace.awk" "$1" || echo "awk failed"; }
read_perfetto() { "$consumers/protoc_in_parts.py" "$1" || echo "protoc failed"; }
read_ctf() {
    local lost
    babeltrace2 --no-delta --clock-cycles "$1" 2> "$own/babeltrace" || echo "babeltrace2 failed"
    lost=$(sed -nE 's/^WARNING: Tracer discarded ([0-9]+) events? between .*/\1/p' "$own/babeltrace" |
        awk '{ sum += $1 } END { print sum + 0 }')
    # The events that it reports as discarded must be those that the trace lacks.
    grep -q "lacks $lost records" "$own/stderr" || echo "babeltrace2 tells of $lost discarded events"
}
read_sqlite() {
    sqlite3 -csv -header "$1" 'SELECT e.*, d.name AS device, x.text, p.payload FROM (SELECT e.cpu, e.ns, e.ticks, e.type, e.dir,
            e.size, e.device AS d, e.offset, e.address, e.value, e.duration_ns, e.pc, e.lr, e.va, e.task, e.sequence,
            e."order", e.flags, e.id FROM events e) e
        LEFT JOIN devices d ON d.id = e.d LEFT JOIN texts x ON x.event = e.id
        LEFT JOIN payloads p ON p.event = e.id ORDER BY e.id'
    sqlite3 -csv "$1" "SELECT cpu, ns, ticks, 'lost', NULL, NULL, NULL, NULL, NULL, count, NULL, NULL, NULL, NULL, NULL,
        sequence, NULL, NULL, NULL, NULL, NULL, NULL FROM losses"
}

consumer() { # FORMAT TRACE: exports it, has it read, and compares
    export_to "$1" "$own/$1" -i "$2" || { echo "not exported: $(head -n 1 "$own/stderr")"; return 1; }
    "read_$1" "$own/$1" | timeout "${compare_limit:-200}" "$consumers/compare.py" "$2" "$1" -
}

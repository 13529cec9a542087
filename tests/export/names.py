#!/usr/bin/python3
"""Compares accesses as a consumer read them from an export with the JSONL of the same trace: names, sizes, places.

Usage: names.py FORMAT FILE JSONL; - is standard input. Exit status 0 if there is no difference."""
import itertools
import json
import sys

import compare

MODES = {"usr thumb": 0x30, "svc": 0x13}


def number(text):
    return int(text or "0", 16)


CTF_NAMES = ["register", "fields", "interrupt", "function", "caller", "comm"]
CTF_NUMBERS = ["offset", "address", "lr", "sp"]


def read_ctf(file):
    """Parses babeltrace2's output, by CPU."""
    events = []
    for line in file:
        _, kind, cpu, _, _, rest = compare.CTF_LINE.match(line).groups()
        fields = {m[1]: m[2] or (m[4] if m[5] is None else m[5]) for m in compare.CTF_FIELD.finditer(rest)}
        if kind in ("read", "write"):
            events.append((int(cpu), kind[0], int(fields["size"]), fields["device"], *map(fields.get, CTF_NAMES),
                           *(int(fields[key], 16) for key in CTF_NUMBERS), int(fields["mode"], 16), int(fields["pid"])))
    return sorted(events, key=lambda event: event[0])


def as_ctf(rows):
    return sorted(((r["cpu"], r["dir"], r["size"], r.get("device", "-"), *(r.get(name, "-") for name in CTF_NAMES),
                    *(number(r.get(key)) for key in CTF_NUMBERS), MODES[r["mode"]], r.get("pid", 0)) for r in rows),
                  key=lambda event: event[0])


NOTES = ["fields", "function", "caller", "pid", "comm", "interrupt"]


def read_perfetto(file):
    """Slices from protoc's output, with the names of their tracks and without the offset in a register's name. Then
    those of tasks, interrupts and calls: begin, end, track and name; and the values that registers change to."""
    events, tracks, spans, begun, values = [], {}, [], {}, []
    for p in compare.packets(file):
        if p.get("type") == "COUNTER" and p["track"] >> 16 == 6:
            values.append((p["timestamp"], tracks[p["track"]], p["counter_value"]))
        elif p.get("type") in ("BEGIN", "END") and p["track"] >> 16 in (4, 5, 7):
            if p["type"] == "BEGIN":
                assert p["track"] not in begun, "spans overlap"
                begun[p["track"]] = p
            else:
                first = begun.pop(p["track"])
                spans.append((first["timestamp"], p["timestamp"], tracks[p["track"]], first["name"]))
        elif p.get("type") == "BEGIN":
            events.append((tracks[p["track"]], p["name"], p["notes"]["address"], *map(p["notes"].get, NOTES)))
        elif "type" not in p and "uuid" in p:
            tracks[p["uuid"]] = p["name"]
    assert not begun, "spans without end"
    return events + sorted(spans) + values


def spans_of(rows):
    """Spans of each CPU's tasks from change to change, and of interrupts from the read that takes them to the write
    that ends them."""
    spans, begun = [], {}

    def end(track, ns):
        if track in begun:
            spans.append((begun[track][0], ns, track, begun.pop(track)[1]))

    for r in rows:
        track, name = f"cpu{r['cpu']} task", f"{r['comm']}:{r['pid']}" if "pid" in r else None
        if begun.get(track, (0, None))[1] != name:
            end(track, r["ns"])
            if name:
                begun[track] = r["ns"], name
        if r.get("interrupt", "spurious") != "spurious":
            track = f"cpu{r['cpu']} {r['interrupt']}"
            end(track, r["ns"])
            if r["dir"] == "r":
                begun[track] = r["ns"], r["interrupt"]
    for track in list(begun):
        end(track, max(r["ns"] for r in rows))
    return sorted(spans)


def values_of(rows):
    """Values of each register with a name, at each change."""
    values, last = [], {}
    for r in rows:
        name = f"{r.get('device')} {r.get('register')}"
        if "register" in r and "value" in r and last.get(name) != number(r["value"]):
            last[name] = number(r["value"])
            values.append((r["ns"], name, last[name]))
    return values


def calls_of(rows):
    """From each call to its return, on the track of the task."""
    return [(r["ns"] - r["duration_ns"], r["ns"], f"{r['comm']}:{r['pid']}" if "pid" in r else r["task"],
             r["function"].split("+")[0]) for r in rows if "duration_ns" in r]


def as_perfetto(all_rows):
    rows = [row for row in all_rows if row["type"] == "access"]
    calls = calls_of(row for row in all_rows if row["type"] == "ret")
    return [(r.get("device", "no device"), f"{r['dir'].upper()}{r['size']} {r.get('register', '+' + r['offset'])}",
             number(r["address"]), *map(r.get, NOTES)) for r in rows] + sorted(spans_of(rows) + calls) + values_of(rows)


def read_mmiotrace(file):
    """Direction, size, address and pid: the format has no names except those of devices."""
    events = []
    for line in file:
        words = line.split()
        if words[0] in ("R", "W"):
            events.append((words[0].lower(), int(words[1]), int(words[4], 16), int(words[-1])))
        elif words[0] == "UNKNOWN":
            events.append((None, None, int(words[3], 16), int(words[-1])))
    return events


def as_mmiotrace(rows):
    return [(r["dir"] if "value" in r else None, r["size"] if "value" in r else None, number(r["address"]), r.get("pid", 0))
            for r in rows]


FORMATS = {"ctf": (read_ctf, as_ctf), "perfetto": (read_perfetto, as_perfetto), "mmiotrace": (read_mmiotrace, as_mmiotrace)}


def main():
    read, expected = FORMATS[sys.argv[1]]
    used = ("access", "ret") if sys.argv[1] == "perfetto" else ("access",)
    with open(sys.argv[3], encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["type"] in used]
    with open(0 if sys.argv[2] == "-" else sys.argv[2], encoding="utf-8") as file:
        got = read(file)
    for want, have in itertools.zip_longest(expected(rows), got):
        if want != have:
            print(f"JSONL has\n  {want}\n{sys.argv[1]} has\n  {have}")
            return 1
    print(f"{len(rows)} accesses as JSONL has them")
    return 0 if rows else 1


sys.exit(main())

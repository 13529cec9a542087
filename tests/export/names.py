#!/usr/bin/python3
"""Compares the names in what a consumer read of an export with the JSONL of the same trace, access by access.

Usage: names.py FORMAT FILE JSONL; - is standard input. Exit status 0 if there is no difference.
"""
import itertools
import json
import re
import sys

import compare

MODES = {"usr thumb": 0x30, "svc": 0x13}


def number(text):
    return int(text or "0", 16)


CTF_NAMES = ["register", "fields", "interrupt", "function", "caller", "comm"]


def read_ctf(file):
    """What babeltrace2 prints, by CPU."""
    events = []
    for line in file:
        _, kind, cpu, _, _, rest = compare.CTF_LINE.match(line).groups()
        fields = {m[1]: m[4] if m[5] is None else m[5] for m in compare.CTF_FIELD.finditer(rest)}
        if kind in ("read", "write"):
            events.append((int(cpu), *map(fields.get, CTF_NAMES), int(fields["lr"], 16), int(fields["sp"], 16),
                           int(fields["mode"], 16), int(fields["pid"])))
    return sorted(events, key=lambda event: event[0])


def as_ctf(rows):
    return sorted(((r["cpu"], *(r.get(name, "-") for name in CTF_NAMES), number(r.get("lr")), number(r.get("sp")),
                    MODES[r["mode"]], r.get("pid", 0)) for r in rows), key=lambda event: event[0])


NOTES = ["fields", "function", "caller", "pid", "comm", "interrupt"]


def read_perfetto(file):
    """Slices of what protoc prints."""
    return [(p["name"], *map(p["notes"].get, NOTES)) for p in compare.packets(file) if p.get("type") == "BEGIN"]


def as_perfetto(rows):
    return [(f"{r['dir'].upper()}{r['size']} {r.get('register', '+' + r['offset'])}", *map(r.get, NOTES)) for r in rows]


def read_mmiotrace(file):
    return [int(line.split()[-1]) for line in file if re.match("[RW] |UNKNOWN ", line)]


def as_mmiotrace(rows):
    return [r.get("pid", 0) for r in rows]


FORMATS = {"ctf": (read_ctf, as_ctf), "perfetto": (read_perfetto, as_perfetto), "mmiotrace": (read_mmiotrace, as_mmiotrace)}


def main():
    read, expected = FORMATS[sys.argv[1]]
    with open(sys.argv[3], encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["type"] == "access"]
    with open(0 if sys.argv[2] == "-" else sys.argv[2], encoding="utf-8") as file:
        got = read(file)
    for want, have in itertools.zip_longest(expected(rows), got):
        if want != have:
            print(f"JSONL has\n  {want}\n{sys.argv[1]} has\n  {have}")
            return 1
    print(f"{len(rows)} accesses with the names of JSONL")
    return 0 if rows else 1


sys.exit(main())

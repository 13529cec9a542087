#!/usr/bin/python3
"""Compares what a consumer read of an export with the trace it was made from, event by event.

Usage: compare.py TRACE FORMAT FILE; - is standard input. Exit status 0 if there is no difference.
"""
import csv
import itertools
import json
import sys

import source


def number(text):
    return int(text, 0) if text not in (None, "") else None


def columns(row):
    """Of a row of JSONL or CSV: a Record, without what both leave to the reader."""
    kind = row["type"]
    placed = kind in source.PLACED
    value = number(row.get("lost")) if kind == "lost" else number(row.get("value"))
    address = number(row.get("address"))
    return source.Record(
        kind, int(row["cpu"]), int(row["ns"]), int(row["ticks"]), row["dir"] == "w" if placed else None,
        int(row["size"]) if placed else None, row.get("device") or "-",
        address - number(row["offset"]) if placed else 0, address, value,
        int(row["duration_ns"]) if placed and kind != "begin" else None, number(row.get("pc")), number(row.get("lr")),
        number(row.get("va")), number(row.get("task")), int(row["sequence"]),
        int(row["order"]) if placed else None, row.get("flags") or "", row_text(row))


def row_text(row):
    return (row.get("text") or "") if row["type"] == "marker" else ""


def as_row(record, trace):
    """What a Record of the source is in JSONL and CSV."""
    if record.type not in source.PLACED:
        return record._replace(value=None if record.type == "unknown" else record.value)
    ns = record.duration * 10**9 // trace.frequency
    return record._replace(duration=None if record.type == "begin" else ns)


def read_jsonl(file, trace):
    lines = (json.loads(line) for line in file)
    head = next(lines)
    assert head["type"] == "trace" and head["ticks_per_second"] == trace.frequency, head
    assert [source.Region(d["name"], number(d["base"]), number(d["size"])) for d in head["devices"]] == trace.regions
    for row in lines:
        if row["type"] == "end":
            return
        yield columns({key: str(value) for key, value in row.items()})
    raise ValueError("no end")


def read_csv(file, _):
    return map(columns, csv.DictReader(file))


READERS = {"jsonl": (read_jsonl, as_row), "csv": (read_csv, as_row)}


def main():
    trace = source.Trace(sys.argv[1])
    read, as_held = READERS[sys.argv[2]]
    with open(0 if sys.argv[3] == "-" else sys.argv[3], encoding="utf-8", newline="") as file:
        count = different = 0
        expected = (as_held(record, trace) for record in trace)
        expected = (record for record in expected if record is not None)
        for want, got in itertools.zip_longest(expected, read(file, trace)):
            count += 1
            if want != got:
                different += 1
                if different <= 3:
                    print(f"event {count}: the trace has\n  {want}\n{sys.argv[2]} has\n  {got}")
    print(f"{sys.argv[2]}: {count} events compared, {different} different")
    return 0 if different == 0 and count > 0 else 1


sys.exit(main())

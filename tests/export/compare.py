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


def read_sqlite(file, _):
    """The rows of events, then those of losses, as run.sh asks for them."""
    for row in csv.DictReader(file):
        placed = row["type"] in source.PLACED
        value = number(row["value"])
        yield source.Record(
            row["type"], int(row["cpu"]), int(row["ns"]), int(row["ticks"]), row["dir"] == "w" if placed else None,
            number(row["size"]), row["device"] or "-", number(row["address"]) - number(row["offset"]) if placed else 0,
            number(row["address"]), None if value is None else value % 2**64, number(row["duration"]),
            number(row["pc"]), number(row["lr"]), number(row["va"]), number(row["task"]), int(row["sequence"]),
            number(row["order"]), row["flags"], row_text(row))


def in_tables(records, _):
    """Losses have a table of their own."""
    losses = []
    for record in records:
        if record.type == "lost":
            losses.append(record)
        else:
            yield record
    yield from losses


def read_mmiotrace(file, _):
    for line in file:
        yield tuple(line.rstrip("\n").split("\t"))


def as_mmiotrace(records, _):
    for r in records:
        us = str(r.ns // 1000)
        if r.type == "access" and r.value is None:
            yield "unknown", us, "", "", str(r.address), "", str(r.pc), str(r.va), ""
        elif r.type == "access":
            yield ("access", us, "w" if r.write else "r", str(r.size), str(r.address), hex(r.value), str(r.pc),
                   str(r.va), "")
        elif r.type in ("marker", "lost", "change", "power", "fault"):
            yield "mark", us, "", "", "", "", "", "", mark(r)


def mark(r):
    if r.type == "lost":
        return f"Lost {r.value} events. cpu {r.cpu} sequence {r.sequence}"
    return r.text if r.type == "marker" else r.type


def same(want, got):
    """The words of marks that are no markers are for people: their first one counts."""
    if want == got or want is None or got is None or want[0] != "mark":
        return want == got
    return want[:-1] == got[:-1] and want[-1] == got[-1].split(" ")[0] and want[-1] in ("change", "power", "fault")


def by_record(convert):
    return lambda records, trace: (convert(record, trace) for record in records)


READERS = {
    "jsonl": (read_jsonl, by_record(as_row)),
    "csv": (read_csv, by_record(as_row)),
    "sqlite": (read_sqlite, in_tables),
    "mmiotrace": (read_mmiotrace, as_mmiotrace),
}


def main():
    trace = source.Trace(sys.argv[1])
    read, as_held = READERS[sys.argv[2]]
    with open(0 if sys.argv[3] == "-" else sys.argv[3], encoding="utf-8", newline="") as file:
        count = different = 0
        for want, got in itertools.zip_longest(as_held(trace, trace), read(file, trace)):
            count += 1
            if not same(want, got):
                different += 1
                if different <= 3:
                    print(f"event {count}: the trace has\n  {want}\n{sys.argv[2]} has\n  {got}")
    print(f"{sys.argv[2]}: {count} events compared, {different} different")
    return 0 if different == 0 and count > 0 else 1


sys.exit(main())

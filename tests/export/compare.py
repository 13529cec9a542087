#!/usr/bin/python3
"""Compares what a consumer read from an export with the original trace, event by event.

Usage: compare.py TRACE FORMAT FILE; - is standard input. Exit status 0 if there is no difference."""
import collections
import csv
import itertools
import json
import re
import sys

import source


def number(text):
    return int(text, 0) if text not in (None, "") else None


def columns(row):
    """A Record from a row of JSONL or CSV, without what both leave to the reader."""
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
        int(row["order"]) if placed else None, row.get("flags") or "", row_text(row), None, row.get("payload") or "")


def row_text(row):
    return (row.get("text") or "") if row["type"] == "marker" else ""


def as_row(record, trace):
    """A Record of the source as it is in JSONL and CSV."""
    record = record._replace(raw_value=None)
    if record.type not in source.PLACED:
        return record._replace(value=None if record.type in source.WITHOUT_VALUE else record.value)
    return record._replace(duration=None if record.type == "begin" else duration_ns(record, trace))


def duration_ns(record, trace):
    return record.duration * 10**9 // trace.frequency


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
    """The rows of events, then those of losses, in the format that run.sh requests."""
    for row in csv.DictReader(file):
        placed = row["type"] in source.PLACED
        value = number(row["value"])
        yield source.Record(
            row["type"], int(row["cpu"]), int(row["ns"]), int(row["ticks"]), row["dir"] == "w" if placed else None,
            number(row["size"]), row["device"] or "-", number(row["address"]) - number(row["offset"]) if placed else 0,
            number(row["address"]), None if value is None else value % 2**64, number(row["duration_ns"]),
            number(row["pc"]), number(row["lr"]), number(row["va"]), number(row["task"]), int(row["sequence"]),
            number(row["order"]), row["flags"], row_text(row), None, row["payload"])


def in_tables(records, trace):
    """Losses have a table of their own."""
    losses = []
    for record in records:
        if record.type == "lost":
            losses.append(record)
        else:
            yield as_row(record, trace)
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
        elif r.type == "marker" and not r.text:
            continue  # the last piece has the whole text
        elif r.type in ("marker", "lost", "change", "power", "fault"):
            yield "mark", us, "", "", "", "", "", "", mark(r)


def mark(r):
    if r.type == "lost":
        return f"Lost {r.value} events. cpu {r.cpu} sequence {r.sequence}"
    plain = re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), r.text or "")
    return plain if r.type == "marker" else r.type


CTF_LINE = re.compile(r"\[\s*(\d+)\] (\w+): \{ cpu_id = (\d+) \}, (?:\{ \}, )?\{ sequence = (\d+), flags = \"(.*?)\" \}, \{(.*)\}$")
CTF_FIELD = re.compile(r" (\w+) = (?:\( \"((?:[^\"\\]|\\.)*)\" : container = (\d+) \)|\"((?:[^\"\\]|\\.)*)\"|(\w+)),?")


def read_ctf(file, trace):
    """Parses babeltrace2's output with times in cycles."""
    for line in file:
        ticks, kind, cpu, sequence, flags, rest = CTF_LINE.match(line).groups()
        fields = {m[1]: m[3] if m[3] else m[4] if m[5] is None else m[5] for m in CTF_FIELD.finditer(rest)}
        names = {m[1]: m[2] for m in CTF_FIELD.finditer(rest) if m[3]}
        event = (kind, int(ticks), int(cpu), int(sequence), unless_dash(flags))
        if kind == "lost":
            event += (int(fields["first_sequence"]), int(fields["count"]))
        elif "device" in fields:
            event += (names["device"], int(fields["device"]), *(number(fields[key]) for key in CTF_NUMBERS))
        else:
            event += (number(fields.get("value")), unless_dash(fields["text"]).replace("\\\\", "\\") if kind == "marker" else "")
        yield event + (unless_dash(fields.get("payload", "-")),)


def unless_dash(text):
    return "" if text == "-" else text


CTF_NUMBERS = ["offset", "size", "value", "value_known", "address", "duration_ns", "order", "pc", "va", "task"]


def as_ctf(records, trace):
    indexes = {region.base: index for index, region in enumerate(trace.regions)}
    names = {region.base: region.name for region in trace.regions}
    start = None
    for r in records:
        start = r.ticks if start is None else start
        kind = ("write" if r.write else "read") if r.type == "access" else r.type
        event = (kind, max(r.ticks - start, 0), r.cpu, r.sequence, r.flags)
        if r.type == "lost":
            event += (r.sequence, r.value)
        elif r.type in source.PLACED:
            known = r.type in source.WITH_VALUE and r.value is not None
            event += (names.get(r.base, "-").replace('"', '\\"'), indexes.get(r.base, 0xffff), r.address - r.base, r.size, r.raw_value, int(known),
                      r.address, duration_ns(r, trace), r.order, r.pc, r.va, r.task)
        else:
            event += (None if r.type in source.WITHOUT_VALUE else r.value, r.text if r.type == "marker" else "")
        yield event + (r.payload,)


def with_names(packet, notes, told, known):
    """The packet with its numbers resolved; `told` are numbers that it defines, `known` earlier ones."""
    flags = packet.pop("flags", 0)
    if flags & 1:
        known.clear()
    assert not told or flags & 2, "names in a packet that does not say that it needs them"
    for kind, iid, name in told:
        assert (kind, iid) not in known, f"{kind} {iid} is told twice"
        known[kind, iid] = name
    if "name_iid" in packet:
        packet["name"] = known["event_names", packet.pop("name_iid")]
    for note in notes:
        name = known["note_names", note.pop("name_iid")]
        packet["notes"][name] = known["strings", note["string_iid"]] if "string_iid" in note else next(iter(note.values()))
    return packet


def packets(file):
    """Parses protoc --decode: each packet as a dictionary; annotations by name."""
    packet, note, notes, told, known, kind = {}, {}, [], [], {}, None
    for line in file:
        key, colon, value = line.strip().partition(": ")
        if line == "}\n":
            yield with_names(packet, notes, told, known)
            packet, notes, told = {}, [], []
        elif line == "    }\n":
            if "iid" in note:
                told.append((kind, note["iid"], note["name"]))
            elif "name_iid" in note:
                notes.append(note)
            note = {}
        elif line.startswith("    ") and line.endswith(" {\n"):
            kind = key.removesuffix(" {")
        elif colon:
            value = number(value) if value[0].isdigit() else value.strip('"')
            if line.startswith("      "):
                note[key] = value
            else:
                packet[key] = value
        elif key == "event {":
            packet["notes"] = {}


def read_perfetto(file, trace):
    """Slices and instants; checks ends of slices and sums of the counters."""
    ends, counted, accesses = {}, 0, 0
    for p in packets(file):
        if "type" not in p:
            continue
        ns, notes, kind, place = p["timestamp"], p["notes"], p["track"] >> 16, p["track"] & 0xffff
        if kind in (4, 5, 6, 7): # names.py checks tasks, interrupts, values of registers and calls
            continue
        if p["type"] == "BEGIN":
            assert place not in ends, f"slices overlap at {ns}"
            ends[place] = (ns, ns + notes["duration_ns"])
            accesses += 1
            yield ("slice", ns, place, p["name"], notes["address"], notes.get("value"), notes.get("pc", 0), notes["order"],
                   notes["cpu"], notes.get("task", 0), notes["duration_ns"])
        elif p["type"] == "END":
            begin, end = ends.pop(place)
            assert begin <= ns <= end, f"a slice from {begin} to {end} ends at {ns}"
        elif p["type"] == "COUNTER":
            counted += p["counter_value"] // 100
        elif p["type"] == "INSTANT" and kind == 2:
            name = p["name"]
            yield ("point", ns, place, name.replace('\\"', '"'), notes["sequence"], notes.get("flags", ""),
                   notes.get("lost", notes.get("address", notes.get("value"))),
                   notes.get("text", "").replace("\\\\", "\\") if name == "marker" else "", notes.get("payload", ""))
    assert not ends and counted == accesses, f"{len(ends)} slices without end, {counted} of {accesses} counted"


def as_perfetto(records, trace):
    indexes = {region.base: index for index, region in enumerate(trace.regions)}
    for r in records:
        name, about = r.type, None if r.type in source.WITHOUT_VALUE else r.value
        if r.type == "access":
            what = f"{'W' if r.write else 'R'}{r.size} +{r.address - r.base:#x}"
            yield ("slice", r.ns, indexes.get(r.base, 0xffff), what, r.address, r.value, r.pc, r.order, r.cpu, r.task,
                   r.duration * 10**9 // trace.frequency)
            names = {region.base: region.name for region in trace.regions}
            name, about = f"{names.get(r.base, '-')} {what}", None
        elif r.type in source.PLACED:
            about = r.address
        yield "point", r.ns, r.cpu, name, r.sequence, r.flags, about, r.text if r.type == "marker" else "", r.payload


def same(want, got):
    """The text of marks other than markers is for people: only the first word counts."""
    if want == got or want is None or got is None or want[0] != "mark":
        return want == got
    return want[:-1] == got[:-1] and want[-1] == got[-1].split(" ")[0] and want[-1] in ("change", "power", "fault")


def side_by_side(wanted, read, lane):
    """The nth event of each lane with its counterpart, for any order of lanes; None if there is none."""
    waiting = ({}, {})
    for pair in itertools.zip_longest(wanted, read):
        for side, event in enumerate(pair):
            if event is None:
                continue
            others = waiting[1 - side].get(lane(event))
            if others:
                yield (others.popleft(), event) if side else (event, others.popleft())
            else:
                waiting[side].setdefault(lane(event), collections.deque()).append(event)
    for side, lanes in enumerate(waiting):
        for event in itertools.chain.from_iterable(lanes.values()):
            yield (None, event) if side else (event, None)


def by_record(convert):
    return lambda records, trace: (convert(record, trace) for record in records)


READERS = {
    "jsonl": (read_jsonl, by_record(as_row)),
    "csv": (read_csv, by_record(as_row)),
    "ctf": (read_ctf, as_ctf),
    "perfetto": (read_perfetto, as_perfetto),
    "sqlite": (read_sqlite, in_tables),
    "mmiotrace": (read_mmiotrace, as_mmiotrace),
}
# At equal times babeltrace2 may change the order of CPUs.
LANES = {"ctf": lambda event: event[2]}


def main():
    trace = source.Trace(sys.argv[1])
    read, as_held = READERS[sys.argv[2]]
    with open(0 if sys.argv[3] == "-" else sys.argv[3], encoding="utf-8", newline="") as file:
        count = different = 0
        for want, got in side_by_side(as_held(trace, trace), read(file, trace), LANES.get(sys.argv[2], lambda _: None)):
            count += 1
            if not same(want, got):
                different += 1
                if different <= 3:
                    print(f"event {count}: the trace has\n  {want}\n{sys.argv[2]} has\n  {got}")
    print(f"{sys.argv[2]}: {count} events compared, {different} different")
    return 0 if different == 0 and count > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

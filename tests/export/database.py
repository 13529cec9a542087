#!/usr/bin/python3
"""Compares an exported database with the JSONL of the same trace: its tables, and each view with its expected content.

Usage: database.py DATABASE JSONL. Exit status 0 if there is no difference."""
import collections
import itertools
import json
import re
import sqlite3
import sys

CODE = re.compile(r"(.*)\+0x([0-9a-f]+)(?: \[(.*)\])?$")
differences = []


def compare(what, want, got):
    first = next(((w, g) for w, g in itertools.zip_longest(want, got) if w != g), None)
    if first:
        differences.append(f"{what}: {len(want)} rows expected, {len(got)} there; expected {first[0]}, there is {first[1]}")


def number(text):
    return None if text is None else int(text, 16)


def code(row, key):
    """Function, offset and module at a PC or LR."""
    match = CODE.match(row.get(key, ""))
    return (match[1], int(match[2], 16), match[3]) if match else (None, None, None)


def seconds(rows):
    return min(r["ns"] for r in rows) / 1e9, max(r["ns"] for r in rows) / 1e9


def ways(rows):
    return sum(r["dir"] == "r" for r in rows), sum(r["dir"] == "w" for r in rows)


def grouped(rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def polls(accesses):
    """Runs of at least three reads of one register by one instruction, without other records of the CPU in between."""
    runs, last = [], {}
    for r in accesses:
        if r["dir"] == "r":
            what = (r["cpu"], r["address"], r.get("pc"), r["size"])
            run = last.get(what)
            if run and run[-1]["sequence"] + 1 == r["sequence"]:
                run.append(r)
            else:
                last[what] = [r]
                runs.append(last[what])
    return [(run[0].get("device"), run[0]["offset"], run[0].get("register"), run[0]["cpu"], run[0].get("pc"),
             code(run[0], "function")[0], len(run), *seconds(run), sum("estimated" in r.get("flags", "") for r in run))
            for run in runs if len(run) >= 3]


def as_trace(i, r):
    return (i, r["ns"] / 1e9, r["cpu"], r["type"], r.get("dir"), r.get("size"), r.get("device"), r.get("offset"),
            r.get("register"), r.get("address"), r.get("value"), r.get("fields"), r.get("pc"), code(r, "function")[0],
            code(r, "caller")[0], r.get("pid"), r.get("comm") or None, r.get("interrupt"),
            r.get("text"), r.get("flags"), r.get("payload"))


def as_event(r):
    return (r["ticks"], *(number(r.get(key)) for key in ("pc", "lr", "sp", "va")), r.get("mode"),
            number(r.get("task")), r["sequence"], r.get("order"))


def views(events, accesses, losses):
    """The expected content of each view, in any order except that of `trace`, `polls` and `markers`."""
    lost = collections.Counter()
    for r in losses:
        lost[r["cpu"]] += int(r["lost"], 0) if isinstance(r["lost"], str) else r["lost"]
    function = lambda r: (code(r, "function")[0] or r.get("pc"), r.get("device"))
    task = lambda r: (r.get("pid"), r.get("comm") or r.get("task"), r.get("device"))
    register = lambda r: (r.get("device"), r["offset"], r.get("register"))
    by_device = grouped(accesses, lambda r: r.get("device"))
    return {
        "trace": [as_trace(i + 1, r) for i, r in enumerate(events)],
        "per_device": [(key, *ways(rows), *seconds(rows)) for key, rows in by_device.items()],
        "per_register": [(*key, *ways(rows)) for key, rows in grouped(accesses, register).items()],
        "per_function": [(*key, *ways(rows)) for key, rows in grouped(accesses, function).items()],
        "per_task": [(*key, *ways(rows)) for key, rows in grouped(accesses, task).items()],
        "per_interrupt": [(key, *ways(rows), *seconds(rows)) for key, rows in
                          grouped(accesses, lambda r: r.get("interrupt")).items() if key],
        "per_cpu": [(key, *ways(rows), lost[key]) for key, rows in grouped(accesses, lambda r: r["cpu"]).items()],
        "polls": polls(accesses),
        "markers": [(r["ns"] / 1e9, r["cpu"], r["text"]) for r in events if r["type"] == "marker" and "text" in r],
    }


def names(events):
    """Rows of the tables with names, as the events use them."""
    symbols = {(number(r["pc"]) if key == "function" else None, *code(r, key)) for r in events
               for key in ("function", "caller") if r.get(key)}
    registers = {(r["device"], r["register"]) for r in events if "register" in r}
    tasks = {(r["pid"], r["comm"] or None) for r in events if "pid" in r}
    return symbols, registers, tasks, {r["interrupt"] for r in events if "interrupt" in r}


def said_by_fields(accesses):
    """The fields in JSONL: NAME=VALUE, without zeros; a value is a number or its name."""
    return [(i, *word.split("=", 1)) for i, r in accesses for word in r.get("fields", "").split() if "=" in word]


def written(content):
    """The ways in which JSONL may write a field's value and its name."""
    if content is None:
        return ()
    value, meaning = content
    return meaning, str(value), hex(value)


def unordered(rows):
    return sorted(rows, key=repr)


def main():
    database = sqlite3.connect(sys.argv[1])
    ask = lambda text: database.execute(text).fetchall()
    with open(sys.argv[2], encoding="utf-8") as file:
        head, *rows, end = map(json.loads, file)
    events = [r for r in rows if r["type"] != "lost"]
    losses = [r for r in rows if r["type"] == "lost"]
    accesses = [r for r in events if r["type"] == "access"]
    expected = views(events, accesses, losses)
    for view, want in expected.items():
        got = ask(f"SELECT * FROM {view}")
        if view == "trace":  # JSONL does not show the content of records of unknown types
            got = [row[:10] + (None,) + row[11:] if row[3] == "unknown" else row for row in got]
        ordered = view in ("trace", "polls", "markers")
        compare(view, want if ordered else unordered(want), got if ordered else unordered(got))
    compare("events", [as_event(r) for r in events],
            ask('SELECT ticks, pc, lr, sp, va, mode, task, sequence, "order" FROM events ORDER BY id'))
    compare("places in registers", [],
            ask("SELECT e.id, e.offset, r.* FROM events e JOIN registers r ON r.id = e.register "
                "WHERE e.offset < r.offset OR e.offset >= r.offset + r.size"))
    symbols, registers, tasks, interrupts = names(events)
    compare("symbols", unordered(symbols), unordered(ask("SELECT address, function, offset, module FROM symbols")))
    compare("registers", unordered(registers),
            unordered(ask("SELECT d.name, r.name FROM registers r JOIN devices d ON d.id = r.device")))
    compare("tasks", unordered(tasks), unordered(ask("SELECT pid, comm FROM tasks")))
    compare("interrupts", unordered(interrupts), unordered(name for name, in ask("SELECT name FROM interrupts")))
    contents = {(event, field): (value, meaning) for event, field, value, meaning in
                ask("SELECT event, field, value, meaning FROM field_contents")}
    said = said_by_fields([(i + 1, r) for i, r in enumerate(events) if r["type"] == "access"])
    compare("fields", [], [(event, field, text, contents.get((event, field))) for event, field, text in said
                           if text not in written(contents.get((event, field)))])
    compare("devices", [(d["name"], d["path"], number(d["base"]), number(d["size"])) for d in head["devices"]],
            ask("SELECT name, path, base, size FROM devices ORDER BY id"))
    compare("compatible", [d.get("compatible") for d in head["devices"] if "compatible" in d],
            [text for text, in ask("SELECT compatible FROM devices ORDER BY id") if "compatible" in head["devices"][0]])
    compare("losses", [(r["cpu"], r["sequence"], r["ns"], r["ticks"]) for r in losses],
            ask("SELECT cpu, sequence, ns, ticks FROM losses"))
    meta = dict(ask("SELECT key, value FROM meta"))
    compare("meta", [str(end.get("lost", 0)), end["ending"], head["board"] or None, str(head["ticks_per_second"])],
            [meta.get(key) for key in ("lost", "ending", "board", "ticks_per_second")])
    print("\n".join(differences) if differences else
          f"{len(events)} events, {len(registers)} registers, {len(symbols)} symbols, {len(tasks)} tasks, "
          f"{len(expected)} views as they are in JSONL")
    return 1 if differences else 0


sys.exit(main())

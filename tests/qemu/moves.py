#!/usr/bin/env python3
"""Compares the moves of pages in a trace with what QEMU carried out: moves.py [LOG] TRACE.csv [probes=CALLS.csv] [stopped]

LOG is that of move_log.c, TRACE.csv an export (csv-number) of the moves. Without LOG they are compared with each other
alone: who has the page, by those before. Whenever the guest's accesses need a page on a CPU in another way than before,
the records so far must say that the CPU has it. A record that no such access explains is one too many: the guest lost
the page before it used it, or needs it again because another one did, or because a walk did.
Code that CALLS.csv, an export (csv) of calls and changes, shows to have had a probe is left out: its page did not move. Where
code of a module was is not known: as many pages as that has may be without a holder all at once.
`stopped`: QEMU was stopped, perhaps behind a CPU's last record, and before the store that the log has it by.
Prints what is missing and, as the last line, the sums; exits with 1 if anything is.
"""
import collections
import csv
import struct
import sys
from pathlib import Path

ALL = 0xFF
KERNEL_MINUS_MEMORY = 0xC0000000 - 0x80000000  # on vexpress-a15
LOAD, STORE, FETCH, NOTE = range(4)
WALK, FREED, TAKEN_BACK = 3, 4, 5  # FREED: all CPUs have the page, until it is TAKEN_BACK


def pages_with_probes(calls):
    """Of the kernel's image, and how many of modules: of functions, and of places where they return."""
    addresses = set()
    with open(calls, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["type"] in ("call", "ret"):
                addresses |= {row["pc"], row["lr"]}
            elif row["text"].startswith(("probe ", "unprobe ")):
                addresses.add(row["text"].split()[1].rstrip(":"))
    pages = {int(at, 16) >> 12 for at in addresses if at}
    modules = {page for page in pages if 0xBF000 <= page < 0xC0000}
    return {page - (KERNEL_MINUS_MEMORY >> 12) for page in pages - modules}, len(modules)


def main():
    *log, trace = (word for word in sys.argv[1:] if not word.startswith("probes=") and word != "stopped")
    lent, given_back = set(), 0
    for word in sys.argv:
        if word.startswith("probes="):
            pages, modules = pages_with_probes(word[7:])
            lent |= pages
            given_back += modules
    moves, notes = {}, []
    with open(trace, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cpu, address, value = (int(row[name]) for name in ("cpu", "address", "value"))
            moves.setdefault(cpu, []).append((address >> 12, value & 0xFF, value >> 8 & 1, value >> 16 & 7))
            notes.append((address >> 12, cpu, NOTE, 0))
    following = {cpu: collections.deque(rows) for cpu, rows in moves.items()}
    has, unused = {}, {}  # by page: holders and whether one may store; CPUs whose last record is not explained yet
    needed = missed = frees = records = walks = extra = wrong = 0
    entries = struct.iter_unpack("<IBBH", Path(log[0]).read_bytes()) if log else notes
    for page, cpu, what, _ in entries:
        if page in lent:
            if what == NOTE and following.get(cpu) and following[cpu][0][0] == page:
                following[cpu].popleft()  # otherwise it is given to the probes, or back
            continue
        holders, writable = has.get(page, (0, 0))
        if what != NOTE:
            needed += 1
            unused.get(page, set()).discard(cpu)
            if not holders >> cpu & 1 or (what == STORE and not writable):
                missed += 1
                if missed == 1:
                    print(f"CPU {cpu} uses page {page:#x} ({what}), which it does not have")
            continue
        record = following[cpu].popleft() if following.get(cpu) else None
        if record is not None and record[:3] == (page, 0, 0) and holders and given_back:
            given_back -= 1
            holders = writable = 0
        if record is not None and record[0] == page and record[3] in (FREED, TAKEN_BACK):
            free = record[3] == FREED
            wrong += free == (holders == ALL)
            has[page] = (ALL, 1) if free else (0, 0)
            unused.pop(page, None)
            frees += free
            continue
        if record is None or record[0] != page or record[1:3] != (holders, writable):
            wrong += 1
            if wrong == 1:
                print(f"CPU {cpu}: {record} in the trace, page {page:#x} of {holders:#x}, {writable} in QEMU")
            continue
        store = record[3] == STORE
        lost = holders & ~(1 << cpu) if store else holders if writable else 0
        waiting = unused.setdefault(page, set())
        for other in list(waiting):
            if lost >> other & 1 or other == cpu:
                waiting.discard(other)
                extra += 1
        records += 1
        walks += record[3] == WALK
        if record[3] != WALK:
            waiting.add(cpu)
        has[page] = (1 << cpu, 1) if store else (holders | 1 << cpu, 0)
    in_flight = 1 if "stopped" in sys.argv else 0
    left = sum(max(len(rows) - in_flight, 0) for rows in following.values())
    extra += sum(len(cpus) for cpus in unused.values())
    judged = f"{walks} by walks; {needed} needed, {missed} missed, {extra} not needed, " if log else ""
    valve = f"{frees} times free, " if frees else ""
    print(f"{records} records, {judged}{valve}{wrong + left} wrong")
    sys.exit(1 if missed or wrong or left else 0)


if __name__ == "__main__":
    main()

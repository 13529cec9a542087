#!/usr/bin/env python3
"""Compares the accesses to watched memory in a trace with those that QEMU carried out: memory.py LOG TRACE.csv HYP-BEGIN HYP-END [stretches | BEGIN+SIZE...]

LOG is that of memory_log.c, TRACE.csv an export (csv-number) of the accesses to memory. Each CPU must have made the same
ones in the same order: the guest all but store-exclusives, Hyp these, and loads of its own that the trace does not have.
Besides, each load must have the value that was stored there last, in the order of the trace's lock_sequence, which has no
gaps. With `stretches` TRACE.csv has the changes, too: only from a watch to its end there is no gap. With BEGIN+SIZE only these
bytes are watched: TRACE.csv has the accesses of LOG that touch one of them. Prints differences, how
often memory moved between CPUs, as `mmioscope sharing --memory` counts it, and as the last line the sums; exits with 1 if
there are any differences.
"""
import collections
import csv
import itertools
import struct
import sys

ALL_CPUS = 0xff


def logged(path, hyp, watched):
    """The guest's accesses and Hyp's stores: (whether it is Hyp's, PC, address, CPU, log2 of the size, whether it stores)."""
    with open(path, "rb") as file:
        for pc, address, cpu, log2_size, store, _, _ in struct.iter_unpack("<IIBBBBI", file.read()):
            by_hyp = hyp[0] <= pc < hyp[1]
            if (store or not by_hyp) and any(address < end and address + (1 << log2_size) > begin for begin, end in watched):
                yield by_hyp, pc, address, cpu, log2_size, store == 1


def by_cpu(entries):
    """The guest's accesses, and Hyp's stores."""
    guest, own = {}, {}
    for by_hyp, pc, address, cpu, log2_size, store in entries:
        if by_hyp:
            own.setdefault(cpu, []).append((address, 1 << log2_size))
        else:
            guest.setdefault(cpu, []).append((pc, address, 1 << log2_size, store))
    return guest, own


def moves(entries):
    """How often they, in their order, moved a page, a line or a byte: by mtrace's rule. A read does if another CPU has written
    there since the CPU's last read, a write if another one has accessed it since the last write."""
    counts = {12: [0, 0], 6: [0, 0], 0: [0, 0]}
    for shift, count in counts.items():
        read, write = collections.Counter(), collections.Counter()  # of a unit: a bit for each CPU whose next one moves it
        for _, _, address, cpu, log2_size, store in entries:
            bit, moved = 1 << cpu, 0
            for unit in range(address >> shift, (address + (1 << log2_size) - 1 >> shift) + 1):
                moved |= (write if store else read)[unit] & bit
                write[unit] |= ALL_CPUS ^ bit
                if store:
                    read[unit] |= ALL_CPUS ^ bit
                    write[unit] &= ~bit
                else:
                    read[unit] &= ~bit
            count[store] += moved != 0
    return "moves by page: {} reads, {} writes; by line: {}, {}; by byte: {}, {};".format(*counts[12], *counts[6], *counts[0])


def compare(what, ours, theirs):
    """Prints the first difference of two sequences; returns the number of different places."""
    different = 0
    for n, (a, b) in enumerate(itertools.zip_longest(ours, theirs)):
        if a != b:
            if different == 0:
                print(f"{what}, number {n}: {a} in the trace, {b} in QEMU")
            different += 1
    return different


def compare_stretches(what, ours, theirs):
    """`ours` is a list of stretches, each of which must be in `theirs` without a gap, in this order."""
    entry = struct.Struct("<IIBB")
    packed = b"".join(entry.pack(*one) for one in theirs)
    behind = different = 0
    for n, stretch in enumerate(ours):
        wanted = b"".join(entry.pack(*one) for one in stretch)
        at = packed.find(wanted, behind)
        while at > 0 and at % entry.size != 0:
            at = packed.find(wanted, at + 1)
        if at < 0:
            print(f"{what}, stretch {n} of {len(stretch)} accesses: not in QEMU, or with others between")
            different += len(stretch)
        else:
            behind = at + len(wanted)
    return different


def main():
    log, trace, begin, end, *what = sys.argv[1:]
    stretches, parts = what == ["stretches"], [(0, 1 << 32)]
    if what and not stretches:
        parts = [(int(begin, 0), int(begin, 0) + int(size, 0)) for begin, size in (part.split("+") for part in what)]
    entries = list(logged(log, (int(begin, 0), int(end, 0)), parts))
    guest, own = by_cpu(entries)
    traced, exclusive, rows, watches = {}, {}, [], 0
    with open(trace, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["type"] == "change":
                watches += row["text"].startswith("watch ")
                continue
            cpu, pc, address, size = (int(row[name]) for name in ("cpu", "pc", "address", "size"))
            write = row["dir"] == "w"
            if write and "emulated" in row["flags"]:
                exclusive.setdefault(cpu, []).append((address, size))
            else:
                traced.setdefault(cpu, {}).setdefault(watches if stretches else 0, []).append((pc, address, size, write))
            rows.append((int(row["order"]), address, size, write, int(row["value"]), watches))
    different = 0
    for cpu in sorted(traced.keys() | guest.keys()):
        ours, theirs = list(traced.get(cpu, {0: []}).values()), guest.get(cpu, [])
        if stretches:
            different += compare_stretches(f"CPU {cpu}", ours, theirs)
        else:
            different += compare(f"CPU {cpu}", ours[0], theirs)
            different += compare(f"CPU {cpu}, store-exclusives", exclusive.get(cpu, []), own.get(cpu, []))
    memory, loads, stale, last = {}, 0, 0, 0
    for sequence, address, size, write, value, watch in sorted(rows):
        if sequence != last + 1 and (what == [] or stretches or sequence == last):
            sys.exit(f"lock_sequence {sequence} behind {last}")
        last = sequence
        for byte in range(size):
            if not any(begin <= address + byte < end for begin, end in parts):
                continue
            here = value >> 8 * byte & 0xFF
            if not write:
                stale += memory.get((watch, address + byte), here) != here
            memory[watch, address + byte] = here
        loads += not write
    if not stretches and not different and not stale:
        print(moves(entries))
    print(f"{len(rows)} accesses, {loads} loads, {different} different, {stale} bytes not as stored last")
    sys.exit(1 if different or stale else 0)


if __name__ == "__main__":
    main()

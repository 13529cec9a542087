#!/usr/bin/env python3
"""Checks that the trace has what QEMU logged while the page was traced, and nothing else.

    switching.py LOG PRINTED

LOG is QEMU's from a run of tests/guest/switching.cpp, PRINTED the output of `mmioscope print --all` for its trace.
By the log's own marks it is traced from `on` to `stopping`, and untraced from `off` to `starting`; between the two
the state may change once, at one place in the order of the bus for all CPUs."""
import re
import sys

LINE = re.compile(r"memory_region_ops_(read|write) cpu (\d) .* addr (0x[0-9a-f]+) value (0x[0-9a-f]+) size (\d)")
RECORD = re.compile(r" cpu(\d) ([RW])(\d) clcd@1f0000 +\+0x([0-9a-f]+) +0x([0-9a-f]+) ")
PAGE, MARK = 0x1C1F0000, 0x1C110018
STARTING, ON, STOPPING, OFF = range(4)


def logged(path):
    """(phase, None) for a mark, (None, access) for an access to the page, in the order of the bus."""
    with open(path, encoding="ascii", errors="replace") as file:
        for m in filter(None, map(LINE.match, file)):
            address, value = int(m[3], 16), int(m[4], 16)
            if address == MARK:
                yield value & 3, None
            elif address & ~0xFFF == PAGE:
                yield None, (int(m[2]), "RW"[m[1] == "write"], address & 0xFFF, value)


def recorded(path):
    with open(path, encoding="ascii") as file:
        for m in filter(None, map(RECORD.search, file)):
            yield int(m[1]), m[2], int(m[4], 16), int(m[5], 16)


def main():
    trace = list(recorded(sys.argv[2]))
    known, faults = set(trace), []
    if len(known) != len(trace):
        faults.append(f"{len(trace) - len(known)} records occur twice")
    phase, was, changes, inside, outside, between, taken = OFF, False, 0, 0, 0, 0, []
    for mark, access in logged(sys.argv[1]):
        if access is None:
            changes += mark != phase
            phase, was = mark, mark in (ON, STOPPING)
            continue
        is_traced = access in known
        if is_traced:
            taken.append(access)
        inside += phase == ON
        outside += phase == OFF
        between += phase in (STARTING, STOPPING)
        if phase == ON and not is_traced:
            faults.append(f"missed: {access}")
        if phase == OFF and is_traced:
            faults.append(f"recorded though off: {access}")
        if phase == STARTING and was and not is_traced or phase == STOPPING and is_traced and not was:
            faults.append(f"the state changed more than once: {access}")
        was = is_traced
    for cpu in (0, 1):
        if [a for a in taken if a[0] == cpu] != [r for r in trace if r[0] == cpu]:
            faults.append(f"the records of CPU {cpu} are not the log's, in its order")
    for fault in faults[:10]:
        print(fault)
    print(f"switching: {changes} marks, {inside} accesses while on, {outside} while off, {between} between, "
          f"{len(trace)} records, {len(faults)} faults")
    return 1 if faults or changes < 1000 or min(inside, outside, between) == 0 else 0


sys.exit(main())

#!/usr/bin/env python3
"""Compares the calls in a trace with those that QEMU carried out: probes.py LOG TRACE.csv

LOG is that of probe_log.c, TRACE.csv an export of the calls and changes. Each probe must have as many records as its
instruction was executed; one that was taken away, as its HVC. Prints the differences and, as the last line, the sums; exits with 1 if there are differences.
"""
import collections
import csv
import sys


def main():
    log, trace = sys.argv[1:]
    records, ended = collections.Counter(), set()
    with open(trace, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["type"] == "call":
                records[int(row["pc"], 16)] += 1
            elif row["text"].startswith("unprobe "):
                ended.add(int(row["text"].split()[1].rstrip(":"), 16))
    executed = {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            at, hvcs, itself = line.split()
            executed[int(at, 16)] = int(hvcs if int(at, 16) in ended else itself)
    different = 0
    for at in sorted(records.keys() | executed.keys()):
        if records[at] != executed.get(at, 0):
            different += 1
            print(f"{at:#x}: {records[at]} records, {executed.get(at, 0)} executions")
    print(f"{len(executed)} functions, {sum(records.values())} calls, {different} different")
    return different != 0


sys.exit(main())

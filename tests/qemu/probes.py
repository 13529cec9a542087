#!/usr/bin/env python3
"""Compares the calls in a trace with those that QEMU carried out: probes.py LOG TRACE.csv [ENDLESS...]

LOG is that of probe_log.c, TRACE.csv an export of the calls, returns and changes. Each probe must have as many records as
its instruction was executed; one that was taken away, or whose instruction Hyp carries out, as its HVC. So must each place
where calls return. A call that makes a record of its return must have one before its stack is used by what called it,
unless the function is one of ENDLESS; and a return must be given the outermost call that ends there. Prints the
differences and, as the last line, the sums; exits with 1 if there are differences.
"""
import collections
import csv
import sys

STACK = 8192


class Stacks:
    """The calls that have not returned."""

    def __init__(self, endless):
        self.open = collections.defaultdict(list)
        self.endless = endless
        self.lost = collections.Counter()

    def see(self, row):
        sp, lr, pc = (int(row[name] or "0", 16) for name in ("sp", "lr", "pc"))
        calls = self.open[sp // STACK]
        while calls and (calls[-1][0] < sp or calls[-1][:2] != (sp, lr) and calls[-1][0] == sp):
            left = calls.pop()
            if left[3].split("+")[0] not in self.endless:
                self.lost[f"{left[3]} never returned to {left[1]:#x}"] += 1
        if row["type"] == "call":
            if "returns" in row["flags"]:
                calls.append((sp, lr, pc, row["function"]))
            return
        ended = [call for call in calls if call[:2] == (sp, lr)]
        if ended:
            del calls[-len(ended) :]
        if pc != (ended[0][2] if ended else lr):
            self.lost[f"the return to {lr:#x} is given to {pc:#x}"] += 1


def main():
    log, trace, *endless = sys.argv[1:]
    records, returns, ended, silent = collections.Counter(), collections.Counter(), set(), set()
    stacks = Stacks(endless)
    with open(trace, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["type"] in ("call", "ret"):
                stacks.see(row)
            if row["type"] == "call":
                records[int(row["pc"], 16)] += 1
            elif row["type"] == "ret":
                returns[int(row["lr"], 16)] += 1
            elif row["text"].endswith(" that frees code"):
                silent.add(int(row["text"].split()[1], 16))
            elif row["text"].startswith("unprobe "):
                ended.add(int(row["text"].split()[1].rstrip(":"), 16))
            elif row["text"].startswith("probe "):  # a module's, loaded again
                ended.discard(int(row["text"].split()[1], 16))
    hvcs, executed = {}, {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            at, by_hvc, calls, itself = line.split()
            hvcs[int(at, 16)] = int(by_hvc if itself == "0" else calls)
            executed[int(at, 16)] = hvcs[int(at, 16)] if int(at, 16) in ended or itself == "0" else int(itself)
    silent -= records.keys()  # left: what only the tool itself needs
    for at in sorted((records.keys() | returns.keys() | executed.keys()) - silent):
        # Where a function begins, too, it was called before the first one returned there.
        truth = executed.get(at, 0) if at in records else hvcs.get(at, 0)
        seen = records[at] if at in records else returns[at]
        if seen != truth:
            stacks.lost[f"{at:#x}: {seen} records, {truth} executions"] += 1
    for line, count in sorted(stacks.lost.items()):
        print(f"{line} ({count} times)")
    print(
        f"{len(records)} functions, {sum(records.values())} calls, {sum(returns.values())} returns, "
        f"{sum(stacks.lost.values())} different"
    )
    return bool(stacks.lost)


sys.exit(main())

#!/usr/bin/env python3
"""Compares the calls in a trace with those that QEMU carried out: probes.py LOG TRACE.csv [ENDLESS...]

LOG is that of probe_log.c, TRACE.csv an export of the calls, returns, hits and changes. Each probe must have as many records as
its instruction was executed, with the hits that were counted instead; of a sampled one, each CPU has one record in so many; one that was taken away, or whose instruction Hyp carries out, as its HVC. So must each place
where calls return. A call that makes a record of its return must have one before its stack is used by what called it,
unless the function is one of ENDLESS; and a return must be given the outermost call that ends there. Where only functions
return that have hits, each must have one; where such a function returned before one without, those before it that were
counted may have none. Prints the differences and, as the last line, the sums; exits with 1 if there are differences.
"""
import collections
import csv
import itertools
import sys

STACK = 8192


class Stacks:
    """The calls that have not returned."""

    def __init__(self, endless):
        self.open = collections.defaultdict(list)
        self.endless = endless
        self.lost = collections.Counter()
        self.strays = collections.Counter()  # returns of no call, by their place

    def see(self, row):
        sp, lr, pc = (int(row[name] or "0", 16) for name in ("sp", "lr", "pc"))
        calls = self.open[sp // STACK]
        while calls and (calls[-1][0] < sp or calls[-1][:2] != (sp, lr) and calls[-1][0] == sp):
            left = calls.pop()
            if left[3].split("+")[0] not in self.endless:
                self.lost[f"{left[3]} never returned to {left[1]:#x}"] += 1
        if row["type"] == "call":
            if "returns" in row["flags"]:
                if any(call[:3] == (sp, lr, pc) for call in calls) and row["function"].split("+")[0] not in self.endless:
                    self.lost[f"{row['function']} is called again, and has not returned to {lr:#x}"] += 1
                calls.append((sp, lr, pc, row["function"]))
            return
        ended = [call for call in calls if call[:2] == (sp, lr)]
        if ended:
            del calls[-len(ended) :]
        else:
            self.strays[lr] += 1
        if pc != (ended[0][2] if ended else lr):
            self.lost[f"the return to {lr:#x} is given to {pc:#x}"] += 1


def main():
    log, trace, *endless = sys.argv[1:]
    records, returns, ended, silent = collections.Counter(), collections.Counter(), set(), set()
    others = collections.Counter()
    counted, one_in, rule = collections.Counter(), {}, 1
    sites, cpus = collections.defaultdict(dict), set()  # by place of return, which functions, the first one first
    stacks = Stacks(endless)
    with open(trace, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["type"] in ("call", "ret"):
                stacks.see(row)
            if row["type"] == "call":
                records[int(row["pc"], 16)] += 1
                cpus.add(row["cpu"])
                if "returns" in row["flags"]:
                    sites[int(row["lr"] or "0", 16)][int(row["pc"], 16)] = True
            elif row["type"] == "hits":
                hits = int(row["value"], 0)
                counted[int(row["pc"], 16)] += (hits & 0xFFFFFFFF) + (hits >> 32)
                others[int(row["pc"], 16)] += hits >> 32
            elif row["type"] == "ret":
                returns[int(row["lr"], 16)] += 1
            elif row["text"].endswith(" that frees code"):
                silent.add(int(row["text"].split()[1], 16))
            elif row["text"].startswith("the next probes ") and " if " not in row["text"]:
                rule = int(row["text"].split()[-1]) if "one hit in" in row["text"] else 1
            elif row["text"].startswith("probe "):
                one_in[int(row["text"].split()[1], 16)] = rule
            elif row["text"].startswith("unprobe "):
                ended.add(int(row["text"].split()[1].rstrip(":"), 16))
    hvcs, called, executed = {}, {}, {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            at, by_hvc, calls, itself = line.split()
            hvcs[int(at, 16)], called[int(at, 16)] = int(by_hvc), int(calls)
            executed[int(at, 16)] = int(calls if int(at, 16) in ended or itself == "0" else itself)
    silent -= records.keys()  # left: what only the tool itself needs
    held_back = {lr for lr, functions in sites.items() if functions.keys() <= counted.keys()}
    for lr in held_back:
        if stacks.strays[lr]:
            stacks.lost[f"a return to {lr:#x} belongs to no call"] += stacks.strays[lr]
    for at in records.keys() & counted.keys():
        over = records[at] * one_in.get(at, 1) - (records[at] + counted[at] - others[at])
        if not 0 <= over <= len(cpus) * (one_in.get(at, 1) - 1):
            stacks.lost[f"{at:#x}: {records[at]} records, {counted[at]} others: not one in {one_in.get(at, 1)}"] += 1
    for at in sorted((records.keys() | counted.keys() | returns.keys() | executed.keys()) - silent):
        if at in held_back and at not in records.keys() | counted.keys():
            continue
        # Where a function begins, too, it was called before the first one returned there.
        entry = at in records or at in counted
        # No recorded call returns to a place that was prepared for one whose record had to wait, and was held back then.
        if not entry and at not in one_in and at not in sites and returns[at] == 0:
            continue
        truth = executed.get(at, 0) if entry else hvcs.get(at, 0)
        seen = records[at] + counted[at] if entry else returns[at]
        # Where calls return only a page that moves and changes makes a CPU try again.
        truth = seen if not entry and seen == called.get(at) else truth
        if not entry and 0 < truth - seen <= sum(counted[of] for of in itertools.takewhile(counted.__contains__, sites[at])):
            continue
        if seen != truth:
            stacks.lost[f"{at:#x}: {seen} records, {truth} executions"] += 1
    for line, count in sorted(stacks.lost.items()):
        print(f"{line} ({count} times)")
    print(
        f"{len(records.keys() | counted.keys())} functions, {sum(records.values())} calls, {sum(returns.values())} returns, "
        f"{sum(counted.values())} counted, "
        f"{sum(stacks.lost.values())} different"
    )
    return bool(stacks.lost)


sys.exit(main())

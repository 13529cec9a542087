#!/usr/bin/env python3
"""Checks that the cases have the same results without and with the hypervisor, and that the trace is as expected.

    judge.py CASES.tsv NATIVE TRACED PRINTED [--no-breakpoints]

NATIVE and TRACED are the guest's consoles, PRINTED is the output of `mmioscope print --all`. Prints one line for
each fault, then counts. Exit status 1 if there is a fault. --no-breakpoints: a case at PL0, in an IT block, or on two
pages may be refused."""
import re
import sys
from collections import Counter, namedtuple

from arm import LOADS_PC

Expected = namedtuple("Expected", "name outcome pc op spans exempt level text")
Beat = namedtuple("Beat", "write size address known")

MARKER, INTERRUPTED = 0x1c1f03fc, 0x80000000
BASES = {"clcd@1f0000": 0x1c1f0000, "mmc@50000": 0x1c050000, "interrupt-controller@2c001000": 0x2c001000,
         "interrupt-controller@2c001000[1]": 0x2c002000}
ACCESS = re.compile(r" cpu0 ([RW])(\d+) (\S+) +\+0x([0-9a-f]+) +(0x[0-9a-f]+|\?) +pc 0x([0-9a-f]+)")
ABORTED = re.compile(r"aborted 00000[08]08 at [0-9a-f]{8} ")
REFUSED = re.compile(r"aborted 00000[08]08 at [0-9a-f]{8} unchanged [0-9a-f]{8}$")


def expectations(path):
    with open(path, encoding="ascii") as file:
        for line in file:
            name, outcome, pc, op, spans, exempt, level, text = line.rstrip("\n").split("\t")
            pairs = [] if spans == "-" else [tuple(int(n, 0) for n in s.split("+"))
                                             for s in spans.split(",")]
            yield Expected(name, outcome, int(pc, 0), op, pairs, exempt.strip("-"), level, text)


def console(path):
    """The line of each case, and all other lines that do not depend on the timing of interrupts."""
    with open(path, encoding="ascii", errors="replace") as file:
        lines = file.read().replace("\r", "").splitlines()
    cases = {line.split(" ")[0]: line.split(" ", 1)[1] for line in lines if line[1:2] == "/"
             and " is different with" not in line}
    return cases, [line for line in lines if line[1:2] != "/" or " is different with" in line]


def beats_of_cases(path):
    """(case number, interrupted) and the accesses between its marker and the next, in order."""
    key, beats = None, []
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            match = ACCESS.search(line)
            if not match or match[3] not in BASES:
                continue
            address = BASES[match[3]] + int(match[4], 16)
            if address == MARKER and match[1] == "W":
                if key is not None:
                    yield key, beats
                number = int(match[5], 16)
                key, beats = (number & ~INTERRUPTED, bool(number & INTERRUPTED)), []
            else:
                beats.append((int(match[6], 16), Beat(match[1] == "W", int(match[2]), address,
                                                      match[5] != "?")))
    if key is not None:
        yield key, beats


def covered(beats, spans):
    """Whether they cover each byte of the spans once, upwards, and no other."""
    want = [a + i for a, length in spans for i in range(length)]
    return [b.address + i for b in beats for i in range(b.size)] == want


def right_beats(case, beats, refused):
    """Whether these records are the case's accesses; for a record without a value only its place is compared."""
    reads, writes = ([b for b in beats if b.write == w] for w in (False, True))
    if refused or not case.spans:
        return not beats
    if any(not b.known for b in beats):
        first, length = case.spans[0]
        return all(first <= b.address < first + length for b in beats[:1])
    return (covered(reads, case.spans) if "R" in case.op else not reads) and \
        (covered(writes, case.spans) if "W" in case.op or "X" in case.op else not writes)


class Verdict:
    def __init__(self, breakpoints):
        self.faults, self.counts, self.not_stepped, self.breakpoints = [], Counter(), set(), breakpoints

    def may_be_refused(self, case):
        return not self.breakpoints and (case.level == "PL0" or "/it" in case.name or "/split" in case.name)

    def fault(self, case, why):
        self.faults.append(f"{case.name}: {why} ({case.text})")

    def state(self, case, native, traced):
        if native is None or traced is None:
            return self.fault(case, "no line " + ("natively" if native is None else "under the hypervisor"))
        if native.split(" ")[0] != case.outcome:
            self.fault(case, f"natively {native}, must be {case.outcome}")
        if case.exempt == LOADS_PC:
            self.counts["refused"] += 1
            if not REFUSED.match(traced):
                self.fault(case, f"must be refused, is {traced}")
        elif native == traced:
            self.counts["identical"] += 1
        elif self.may_be_refused(case) and ABORTED.match(traced):
            self.counts["not stepped"] += 1
            self.not_stepped.add(case.name)
        else:
            self.fault(case, f"natively {native}, under the hypervisor {traced}")

    def beats(self, case, records, interrupted):
        own = [beat for pc, beat in records if pc == case.pc]
        self.counts["records without a value"] += sum(not b.known for b in own)
        self.counts["beats"] += len(own)
        if not right_beats(case, own, case.exempt == LOADS_PC or case.name in self.not_stepped):
            said = ", ".join(f"{'W' if b.write else 'R'}{b.size} {b.address:#x}" for b in own) or "none"
            self.fault(case, f"{'interrupted, ' if interrupted else ''}records {said}; "
                             f"must be {case.op} of {case.spans or 'nothing'}")


def main():
    cases = list(expectations(sys.argv[1]))
    (native, native_rest), (traced, traced_rest) = console(sys.argv[2]), console(sys.argv[3])
    verdict = Verdict(breakpoints=sys.argv[5:] != ["--no-breakpoints"])
    for case in cases:
        verdict.state(case, native.get(case.name), traced.get(case.name))
    seen = Counter()
    for (number, interrupted), records in beats_of_cases(sys.argv[4]):
        verdict.beats(cases[number], records, interrupted)
        seen[interrupted] += 1
    if seen[False] != len(cases) or seen[True] < len(cases) // 2:
        verdict.faults.append(f"{seen[False]} and {seen[True]} cases in the trace, of {len(cases)}")
    for rest in (native_rest, traced_rest):
        if not any(re.fullmatch(r"interrupted: \d+ cases, 0 different", line) for line in rest):
            verdict.faults.append("cases are different with interrupts: " + "; ".join(rest[:3]))
    there = re.search(r"of them (\d+) behind", "\n".join(traced_rest))
    verdict.counts["interrupts behind a step"] = int(there[1]) if there else 0
    if not verdict.counts["interrupts behind a step"]:
        verdict.faults.append("no interrupt came while an instruction was stepped")
    for fault in verdict.faults[:20]:
        print(fault)
    counts = ", ".join(f"{n} {what}" for what, n in sorted(verdict.counts.items()))
    print(f"instructions: {len(cases)} cases, {len(verdict.faults)} faults; {counts}")
    sys.exit(1 if verdict.faults else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Judges a trace of tests/guest/numbers.cpp by the numbers in it.

usage: mmioscope print --all --raw TRACE | numbers.py COUNT drop|stall|flight|leave

The guest wrote 0 to COUNT - 1, one after the other, and nothing else was traced. The losses in the verdict must be
the missing numbers, at the right places. Prints what is wrong, with exit status 1."""
import re
import sys

count, policy = int(sys.argv[1]), sys.argv[2]
numbers, gaps, events, lost, first = [], [], None, 0, None
for line in sys.stdin:
    if found := re.search(r" W4 \S+ +\+0x420 0x([0-9a-f]{8}) ", line):
        numbers.append(int(found[1], 16))
    elif found := re.search(r" (\d+) records lost, from number (\d+) on", line):
        gaps.append((len(numbers), int(found[1]), int(found[2])))
    elif found := re.match(r"(?:in)?complete: (\d+) events, (\d+)(?: records)? lost(?:, (\d+) other records? lost)?"
                           r"(?: \(cpu 0: \d+ from sequence (\d+))?", line):
        events, lost, first = int(found[1]), int(found[2]) + int(found[3] or 0), int(found[4] or 0)

wrong = []


def expect(holds, what):
    if not holds:
        wrong.append(what)


expect(events == len(numbers), f"the verdict has {events} events, the trace {len(numbers)} numbers")
expect(all(a < b for a, b in zip(numbers, numbers[1:])), "the numbers do not ascend")
missing = sorted(set(range(count)) - set(numbers))
if policy == "leave":
    expect(numbers and numbers == list(range(len(numbers))), "what came before the end is not whole")
else:
    expect(len(missing) == lost, f"{len(missing)} numbers are missing, {lost} are told to be lost")
if policy == "stall":
    expect(not missing, "numbers are missing")
if policy in ("drop", "flight"):
    expect(missing, "nothing is missing: the reader has not stalled")
if policy == "drop" and missing:
    before = first - missing[0]  # records before the first number
    for at, size, sequence in gaps:
        last = numbers[at - 1] if at else -1
        after = numbers[at] if at < len(numbers) else count
        expect(after - last - 1 == size, f"{size} lost behind {last}, but {after} is next")
        expect(sequence - before == last + 1, f"a gap from number {sequence} on, behind {last}")
    expect(gaps and sum(size for _, size, _ in gaps) == lost, f"the gaps {gaps} are not the {lost} lost")
if policy == "flight":
    newest = range(count - 5000, count)
    expect(numbers[-5000:] == list(newest), "the newest 5000 are not there")
    expect(not gaps, "a gap record under flight")
if wrong:
    print("; ".join(wrong))
    sys.exit(1)

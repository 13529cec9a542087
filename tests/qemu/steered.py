#!/usr/bin/env python3
"""Checks the effects of `mmioscope ctl` on a running guest in its trace: the changes in the order of the requests, and
between them exactly what was to be traced.

Usage: tests/qemu/steered.py PRINT, the output of `mmioscope print --all`. Exit status 0 if all is well."""
import re
import sys

EXPECTED = ['mark "a text of some length"', "change deselect 0x1c090000", "change deselect 0x1c050000",
            "mark 7", "change stop", "change start",
            "change filter direction w", "change filter cpus 0b1", "change filter value 0x0/0x1", "change filter none",
            "change sample 3", "change sample 1", "change deselect 0x1c170000", "change select 0x1c170000",
            "change policy stall", "change policy drop", "change trigger none", "change trigger address",
            "change trigger stop count 1", "change trigger none", "change select 0x1c090000",
            "change trigger none", "change trigger address", "change trigger direction w",
            "change trigger start count 3", "change trigger start fired"]


def against_filters(events, place):
    """Records that the settings between two changes should have held back. Ignores names of tasks: filters are for
    accesses, and a CPU that had trapped before a stop writes its task's name before it checks again under the lock."""
    held_back = [("change stop", "change start", r""),
                 ("change filter direction w", "change filter none", r" R\d "),
                 ("change filter cpus 0b1", "change filter none", r" cpu1 "),
                 ("change filter value 0x0/0x1", "change filter none", r" 0x[0-9a-f]*[13579bdf] +pc ")]
    return [line for begin, end, pattern in held_back for line in events[place[begin] + 1:place[end]]
            if re.search(pattern, line) and not re.search(r" change |by the hypervisor", line)
            and not re.search(r" cpu\d task ", line)]


def main(path):
    events = [line.rstrip() for line in open(path, encoding="utf-8") if re.match(r" *[0-9.]+ cpu", line)]
    at = [n for n, line in enumerate(events) if re.search(r" (mark|change) ", line)]
    seen = [events[n] for n in at]
    # A trigger that stops at the first access to an untraced device never fires.
    for wanted, line in zip(EXPECTED, seen):
        if wanted not in line:
            return f"expected '{wanted}', there is: {line}"
    if len(seen) != len(EXPECTED):
        return f"{len(seen)} marks and changes, expected {len(EXPECTED)}"
    place = dict(zip(EXPECTED, at))  # the last of equal ones
    off, on = place["change deselect 0x1c090000"], place["change select 0x1c090000"]
    armed, fired = place["change trigger start count 3"], place["change trigger start fired"]
    console = [n for n, line in enumerate(events) if " serial0 " in line]
    card = [n for n, line in enumerate(events) if " mmc@50000 " in line]
    if not [n for n in console if n < off] or not [n for n in console if n > fired]:
        return "no accesses to the console where there should be some"
    if [n for n in console if off < n < on]:
        return "the console was traced while it was deselected"
    if [n for n in card if n > at[2]]:
        return "the card was traced behind its deselection"
    wrong = against_filters(events, place)
    if wrong:
        return f"let through by the filter: {wrong[0]}"
    held = [line for line in events[armed + 1:fired] if "by the hypervisor" not in line]
    # One of the other CPU's may be in flight as the trigger fires (hyp/services/choice/trigger.hpp).
    if held and held[-1].split()[1] != events[fired].split()[1]:
        held.pop()
    if held:
        return f"{len(held)} records while a trigger waits: {held[0]}"
    if not re.search(r" W\d serial0 ", events[fired + 1]):
        return f"the trigger fired at: {events[fired + 1]}"
    return None


if __name__ == "__main__":
    fault = main(sys.argv[1])
    print(fault or "steered: as it was asked for")
    sys.exit(1 if fault else 0)

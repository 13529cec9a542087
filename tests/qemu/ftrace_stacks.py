#!/usr/bin/env python3
"""Compares the stacks of calls with those that the guest's own ftrace recorded:
ftrace_stacks.py CONSOLE FRAMES MARKS SWITCHES

CONSOLE has, behind `== trace`, /sys/kernel/tracing/trace of the tracer `function` with the options func_stack_trace,
sym-offset and sym-addr, and marks. FRAMES is what `callers_of --frames` prints of the same boot, where MARKS,
tracing_mark_write(), had a probe, too. Addresses are compared, to the last one. The event of a call is the next one
of the same CPU, function and caller, by the time since the last mark.

Prints how often a stack is not equal, by reason; last the numbers of events, of those with a call, of equal stacks, of
those that end where the rest lies in another stack (SWITCHES, call_with_stack()), or where an interrupt has come in
ftrace itself, of others that are shorter, and of wrong ones. A stack is equal, too, if the guest's ends behind a call
that never returns: it looks for a frame of the next function there."""

import collections
import re
import sys

EVENT = re.compile(
    r"\[(\d+)\] \S+ +([\d.]+): (\S+)\+0x([0-9a-f]+)/\S+ (?:\[\S+\] )?<([0-9a-f]{8})> ?(<-|: begin)?(.*)"
)
STACK = re.compile(r"\[(\d+)\] \S+ +[\d.]+: <stack trace>")
ADDRESS = re.compile(r"<([0-9a-f]{8})>")
NEAR = 2e-3  # seconds from a call's record to its event, at most
EARLY = 3e-5  # and from the last mark's to its own
KERNEL = 0xBF000000  # a CPU's first frame is that of its start, at a physical address


class Call:
    """Of either side: what it is known by, and the addresses to which it returns."""

    def __init__(self, time, cpu, entry, frames):
        self.time, self.cpu, self.entry, self.frames = time, cpu, entry, frames
        self.never_returns = False  # the last frame's call
        self.tracer = 0  # the frame of ftrace's own entry, which an interrupt came behind


def read_ftrace(path):
    """The calls behind the last mark, and its time. An interrupt may come between an event and its stack."""
    calls, open_calls, mark, last = [], collections.defaultdict(list), None, None
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read().partition("== trace")[2]
    for line in text.splitlines():
        if event := EVENT.search(line):
            cpu, time, _, offset, at, kind, caller = event.groups()
            if kind == "<-":
                frames = [int(ADDRESS.search(caller)[1], 16)]
                calls.append(Call(float(time), int(cpu), int(at, 16) - int(offset, 16), frames))
                open_calls[cpu].append(calls[-1])
            else:
                mark = float(time)
                calls.clear()
                open_calls.clear()
        elif stack := STACK.search(line):
            last = open_calls[stack[1]].pop() if open_calls[stack[1]] else None
        elif line.startswith(" => ") and last:
            last.frames.append(int(ADDRESS.search(line)[1], 16))
            last.never_returns = "+0x0/" in line
            last.tracer = last.tracer or ("=> ftrace_" in line) * (len(last.frames) - 1)
    for call in calls:
        if call.frames[-1] < KERNEL:
            call.frames.pop()
        if len(call.frames) > 1 and 0 <= call.frames[1] - call.entry < 0x40:
            del call.frames[:2]  # since 6.8 the function itself is there, too, before its caller
    return calls, mark


def read_frames(path, marks):
    calls, mark = collections.defaultdict(collections.deque), None
    with open(path, encoding="utf-8") as file:
        for line in file:
            time, cpu, *addresses = line.split()
            entry, *frames = (int(address, 16) for address in addresses)
            if entry == marks:
                mark = int(time) / 1e9
            elif frames:
                calls[int(cpu), entry, frames[0]].append(Call(int(time) / 1e9, int(cpu), entry, frames))
    return calls, mark


def main():
    console, frames, marks, switches = sys.argv[1], sys.argv[2], int(sys.argv[3], 16), int(sys.argv[4], 16)
    guest, their_mark = read_ftrace(console)
    calls, our_mark = read_frames(frames, marks)
    numbers, reasons = collections.Counter(events=len(guest)), collections.Counter()
    for theirs in guest:
        time = theirs.time - their_mark + our_mark
        queue = calls[theirs.cpu, theirs.entry, theirs.frames[0]]
        ours = None
        while queue and queue[0].time < time + EARLY:
            ours = queue.popleft()
        if not ours or ours.time < time - NEAR:
            reasons["no call at this time"] += 1
            continue
        numbers["calls"] += 1
        short = min(len(theirs.frames), len(ours.frames))
        if ours.frames == theirs.frames or theirs.never_returns and ours.frames[:short] == theirs.frames:
            numbers["equal"] += 1
        elif ours.frames == theirs.frames[:short] and 0 <= ours.frames[-1] - switches < 0x40:
            numbers["elsewhere"] += 1
        elif theirs.tracer and ours.frames == theirs.frames[:short] and short <= theirs.tracer:
            numbers["tracer"] += 1
        else:
            numbers["shorter" if ours.frames == theirs.frames[:short] else "different"] += 1
            at = next((i for i in range(short) if ours.frames[i] != theirs.frames[i]), short)
            sides = [f"{side[at]:#x}" if at < len(side) else "the end" for side in (ours.frames, theirs.frames)]
            reasons[f"{theirs.entry:#x}, caller {at}: {sides[0]}, not {sides[1]}"] += 1
    for reason, count in reasons.most_common():
        print(f"{count} {reason}")
    print(
        f"{numbers['events']} events, {numbers['calls']} have a call, {numbers['equal']} equal, "
        f"{numbers['elsewhere']} end in another stack, {numbers['tracer']} in ftrace itself, "
        f"{numbers['shorter']} shorter, {numbers['different']} different"
    )
    return numbers["different"] != 0


sys.exit(main())

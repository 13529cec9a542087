#!/usr/bin/env python3
"""judge.py BUILD TRACE... [--seed TEXT] [--ends N] [--loops N] [--faults N] [--tell]

Judges `mmioscope advise`:
  lines    each line of the traces as they are is one that a person judged (judged.txt), and is true
  ends     a write that ends an interrupt is left out (tests/diff/seed_fault.cpp), N times: "never ended" names its interrupt
  loops    a loop that is given up is put into a trace (tests/polls/inject_loops.cpp), N times: "given up" names a register of it,
           unless it is read 32 times or less, or the loop carries data and so is a handshake; a loop that ends by a value is
           never called "given up"
  faults   N of each class of tests/diff: how many have a new finding of what is wrong. One trace does not show most of them,
           so this is told and not required
The last line is "N passed, N failed"."""
import argparse
import csv
import fnmatch
import io
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from shares import share  # noqa: E402

MOST_BITS = 32  # Advisor::most_bits
WRONG = ["fault", "lost update", "never ended", "given up"]
CLASSES = ["value", "register", "swap", "drop", "drop-event"]


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"judge: {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return done.stdout


def rows(*words):
    return list(csv.DictReader(io.StringIO(run(*words))))


class Judge:
    def __init__(self, build, traces, seed, tell):
        self.build, self.traces, self.tell, self.random = build, traces, tell, random.Random(seed)
        self.program = build / "mmioscope"
        self.folder = tempfile.TemporaryDirectory()
        self.faulty = pathlib.Path(self.folder.name) / "faulty.mmio"
        self.good = {trace: self.advice(trace) for trace in traces}
        self.passed = self.failed = 0

    def advice(self, trace):
        return {(row["finding"], row["text"]): row["event"] for row in rows(self.program, "advise", "--format", "csv", trace)}

    def new(self, trace, kind):
        """What is found in the faulty copy of `trace` and was not found in it, of one kind: texts and events."""
        return [(text, event) for (of, text), event in self.advice(self.faulty).items()
                if of == kind and (of, text) not in self.good[trace]]

    def seed(self, of, trace, *where):
        return int(run(self.build / "tests/seed-fault", of, self.random.getrandbits(63), trace, self.faulty, *where))

    def result(self, name, good):
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        print(f"{'ok' if good else 'FAILED'} {name}")

    def lines(self):
        with open(HERE / "judged.txt") as file:
            judged = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
        wrong = []
        for trace in self.traces:
            for kind, text in self.good[trace]:
                verdicts = {truth for of, pattern, truth, _ in judged if of == kind and fnmatch.fnmatchcase(text, pattern)}
                if verdicts != {"true"}:
                    wrong.append(f"{trace.name}: {kind}: {text}: {'not judged' if not verdicts else 'judged false'}")
        for line in wrong:
            print(f"  {line}")
        self.result(f"lines: {sum(map(len, self.good.values()))} in {len(self.traces)} traces are true", not wrong)

    def ends(self, count):
        ends = {}
        for trace in self.traces:
            writes = rows(self.program, "print", "--no-summary", "--format", "csv", "-F", "w", trace)
            ends[trace] = sorted({row["address"] for row in writes if row["interrupt"]})
        traces = [trace for trace in self.traces if ends[trace]]
        found = []
        for n in range(count if traces else 0):
            trace = traces[n % len(traces)]
            event = self.seed("drop-event", trace, self.random.choice(ends[trace]))
            row = rows(self.program, "print", "--no-summary", "--format", "csv", "--at", event, trace)[0]
            told = [text for text, _ in self.new(trace, "never ended")]
            found.append(any(text.startswith(f"interrupt {row['interrupt']} on cpu{row['cpu']} ") for text in told))
            if self.tell and not found[-1]:
                print(f"  MISSED: end {event} of {row['interrupt']} in {trace.name}; {told}")
        self.required("ends of interrupts that are left out", found)

    def loops(self, count):
        given_up, by_value, short, handshakes = [], [], 0, 0
        while len(given_up) < count:
            trace = self.traces[(len(given_up) + short + handshakes) % len(self.traces)]
            first, last, accesses, period, addresses, end, _, kind = run(
                self.build / "tests/inject-loops", self.random.getrandbits(63), 1, trace, self.faulty).split()
            first, last = int(first), int(last)
            reads = int(accesses) if kind.startswith("unrolled") else int(accesses) // int(period)
            told = [event for _, event in self.new(trace, "given up") if first - 4 * int(period) <= int(event) <= last]
            if end == "value":
                by_value.append(not told)
            elif reads <= MOST_BITS:
                short += 1
            elif self.is_handshake(last, int(period)):
                handshakes += 1
            else:
                given_up.append(bool(told))
                if self.tell and not told:
                    print(f"  MISSED: {first} {last} {accesses} {period} {addresses} {kind} in {trace.name}")
        print(f"loops that need not be told: {short} of {MOST_BITS} reads or less, {handshakes} that carry data")
        self.required("loops that are given up", given_up, 0.95) # some poll a register that carries data
        self.required("loops that end by a value, and are not called given up", by_value)

    def is_handshake(self, last, period):
        ends = re.findall(r'"handshake events=\d+ last_event=(\d+)', run(self.program, "print", "--fold", "--no-summary", "--format", "jsonl", self.faulty))
        return any(last - 4 * period <= int(end) <= last + period for end in ends)

    def faults(self, count):
        for of in CLASSES:
            told = []
            for n in range(count):
                trace = self.traces[n % len(self.traces)]
                self.seed(of, trace)
                told.append(any(self.new(trace, kind) for kind in WRONG))
            if told:
                print(f"faults of tests/diff, {of}: {share(sum(told), len(told))} are found")

    def required(self, name, results, least=1.0):
        if results:
            self.result(f"{name}: {share(sum(results), len(results))}", sum(results) >= least * len(results))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("traces", type=pathlib.Path, nargs="+")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--ends", type=int, default=0, metavar="N")
    parser.add_argument("--loops", type=int, default=0, metavar="N")
    parser.add_argument("--faults", type=int, default=0, metavar="N")
    parser.add_argument("--tell", action="store_true", help="prints what was not found")
    given = parser.parse_args()
    judge = Judge(given.build, given.traces, given.seed, given.tell)
    judge.lines()
    judge.ends(given.ends)
    judge.loops(given.loops)
    judge.faults(given.faults)
    print(f"advise: {judge.passed} passed, {judge.failed} failed")
    return judge.failed != 0


if __name__ == "__main__":
    sys.exit(main())

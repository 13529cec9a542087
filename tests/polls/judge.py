#!/usr/bin/env python3
"""judge.py BUILD TRACE... [--seed TEXT] [--loops N] [--per-trace N] [--tell] [--labels FILE] [--need-recall SHARE] [--need-precision SHARE]

Judges `mmioscope polls`:
  recall      N loops, drawn by the seed as inject_loops.cpp says, put into copies of the traces. Found: one event of
              `print --fold` is of that register (of a loop that is given up, of one that it reads: none changes), and has nine tenths of the loop's accesses, or more; it ends with the
              loop, give or take an iteration, and in the same way: by a value, of which the awaited bit is told, or not.
  precision   what `polls` shows of the traces as they are, against FILE, in which a person said of each loop whether it
              waits for a register: of lines, and of loops.
Shares have exact (Clopper-Pearson) intervals of 95 %. The last line is "N passed, N failed"; a line of `polls` that FILE does
not have fails.
"""
import argparse
import collections
import csv
import io
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from shares import share  # noqa: E402


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"judge: {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return done.stdout


def folded(program, trace):
    """The polls and handshakes of print --fold: their members, by their last event's number."""
    polls = []
    for line in run(program, "print", "--fold", "--format", "jsonl", trace).splitlines():
        words = re.search(r'"text":"((?:poll|handshake) events=[^"]*)"', line)
        if words:
            told = dict(word.split("=", 1) for word in re.findall(r"\w+=(?:given up|data over|\S+)", words[1]))
            told["address"] = json.loads(line)["address"]
            polls.append(told)
    return polls


def found(loop, polls):
    first, last, accesses, period = map(int, loop[:4])
    addresses, end, bit = loop[4].split(","), loop[5], loop[6]
    for poll in polls:
        by_value = poll["ended"] == "value"
        if (poll["address"] in addresses and last - 4 * period <= int(poll["last_event"]) <= last + period
                and int(poll["events"]) * 10 >= accesses * 9 and by_value == (end == "value")
                and (not by_value or int(poll["bits"], 0) & int(bit, 0))):
            return True
    return False


class Recall:
    def __init__(self, build, seed, tell):
        self.build, self.random, self.tell = build, random.Random(seed), tell
        self.results = collections.defaultdict(list)

    def judge(self, traces, loops, per_trace):
        with tempfile.TemporaryDirectory() as folder:
            for n in range(-(-loops // per_trace)):
                changed = pathlib.Path(folder) / "loops.mmio"
                trace = traces[n % len(traces)]
                lines = run(self.build / "tests/inject-loops", self.random.getrandbits(63), per_trace, trace, changed)
                polls = folded(self.build / "mmioscope", changed)
                for line in lines.splitlines():
                    self.take(line.split(), polls, trace)

    def take(self, loop, polls, trace):
        is_found = found(loop, polls)
        kinds = loop[7].split(",") + [loop[5], f"period {'1' if loop[3] == '1' else '2 to 8' if int(loop[3]) <= 8 else '9 to 16'}"]
        for kind in ["all", *kinds]:
            self.results[kind].append(is_found)
        if self.tell and not is_found:
            near = [poll for poll in polls if abs(int(poll["last_event"]) - int(loop[1])) < 50]
            print(f"  MISSED in {trace.name}: {' '.join(loop)}; near: {near}")

    def tell_all(self):
        for kind, results in sorted(self.results.items()):
            print(f"recall, {kind}: {share(sum(results), len(results))}")
        return sum(self.results["all"]) / len(self.results["all"])


def labels_of(path):
    with open(path, newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {(row["register"], row["function"], row["class"]): row["waits"] == "yes" for row in rows}


def precision(program, traces, labels):
    """(share of lines that are right, lines that nobody labelled)"""
    lines, loops, unknown = [], [], []
    for trace in traces:
        for row in csv.DictReader(io.StringIO(run(program, "polls", "--limit", "0", "--format", "csv", trace))):
            key = row["register"], row["function"].split(" ")[0].split(".")[0], row["class"]
            if key not in labels:
                unknown.append(f"{trace.name}: {' '.join(key)}")
            lines.append(labels.get(key, False))
            loops += [lines[-1]] * int(row["times"])
    for line in unknown:
        print(f"  not labelled: {line}")
    if not lines:
        return 1.0, unknown
    print(f"precision, lines: {share(sum(lines), len(lines))}; loops: {share(sum(loops), len(loops))}")
    return sum(lines) / len(lines), unknown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("traces", type=pathlib.Path, nargs="+")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--loops", type=int, default=200)
    parser.add_argument("--per-trace", type=int, default=20, metavar="N", help="loops that are put into one copy")
    parser.add_argument("--tell", action="store_true", help="print what was not found")
    parser.add_argument("--labels", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "labels.csv")
    parser.add_argument("--need-recall", type=float, default=0.95)
    parser.add_argument("--need-precision", type=float, default=0.9)
    options = parser.parse_args()
    recall = Recall(options.build, options.seed, options.tell)
    recall.judge(options.traces, options.loops, options.per_trace)
    right, unknown = precision(options.build / "mmioscope", options.traces, labels_of(options.labels))
    results = [recall.tell_all() >= options.need_recall, right >= options.need_precision, not unknown]
    passed, failed = sum(results), len(results) - sum(results)
    print(f"judge: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""judge.py BUILD TRACE... [--tell] [--need-precision SHARE] [--need-recall SHARE]

Compares what `mmioscope regs` says of the devices in truth.csv with what the manuals say.
  precision   of the registers with a class that claims something, those whose class truth.csv accepts
  recall      of the registers whose accesses can show a class by the rule in shows(), those of which that was found
"constant so far" counts in recall only, as constant. Shares have exact (Clopper-Pearson) intervals of 95 %. A register of
such a device that truth.csv lacks fails. The last line is "N passed, N failed".
"""
import argparse
import csv
import io
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from shares import share  # noqa: E402

NO_CLAIMS = {"constant so far", "counter so far", "storage so far", "self-clear so far", "never read back", "unclear"}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 2):
        sys.exit(f"judge: {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return done.stdout


def truth():
    with open(HERE / "truth.csv", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return [(row["compatible"].split("|"), int(row["reg"]), int(row["offset"], 0), int(row["last"], 0), row["accepted"].split("|"))
            for row in rows]


def devices(program, trace):
    """(name, compatible, entry of reg) of each device that was traced."""
    for line in run(program, "info", "--format", "jsonl", trace).splitlines():
        row = json.loads(line)
        if row.get("about") == "device":
            index = re.search(r"\[(\d+)\]$", row["name"])
            yield row["name"], row.get("compatible") or "", int(index[1]) if index else 0


def shows(accepted, row):
    """Whether the trace can show it: two reads of a constant; eight reads, of two values, of what is never written;
    of what is written, four writes of two values, and reads of two values; of a FIFO, 16 accesses of 16 values."""
    reads, writes, values, written = (int(row[key]) for key in ("reads", "writes", "values_read", "values_written"))
    if accepted[0] == "constant":
        return reads >= 2 and writes == 0
    if accepted[0] == "fifo":
        return values >= 16 or written >= 16
    if writes == 0:
        return reads >= 8 and values >= 2
    return writes >= 4 and written >= 2 and values >= 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("traces", type=pathlib.Path, nargs="+")
    parser.add_argument("--tell", action="store_true", help="print what is wrong and what was not found")
    parser.add_argument("--need-precision", type=float, default=0.9)
    parser.add_argument("--need-recall", type=float, default=0.75)
    options = parser.parse_args()
    program, known = options.build / "mmioscope", truth()
    claims, findings, unknown = [], [], []
    for trace in options.traces:
        for name, compatible, entry in devices(program, trace):
            mine = [row for row in known if row[1] == entry and set(row[0]) & set(compatible.split())]
            if not mine:
                continue
            for row in csv.DictReader(io.StringIO(run(program, "regs", name, "--format", "csv", trace))):
                if row["device"] != name:
                    continue
                offset = int(row["offset"], 0)
                accepted = next((one[4] for one in mine if one[2] <= offset <= one[3]), None)
                if accepted is None:
                    unknown.append(f"{name} {row['register']}")
                    continue
                right = row["class"].removesuffix(" so far") in accepted
                if row["class"] not in NO_CLAIMS:
                    claims.append(right)
                if shows(accepted, row):
                    findings.append(right and row["class"] not in ("storage so far", "self-clear so far"))
                if options.tell and not right and (row["class"] not in NO_CLAIMS or shows(accepted, row)):
                    print(f"  {name} {row['register']}: {row['class']}, not {'|'.join(accepted)}; {row['evidence']}")
    for line in unknown:
        print(f"  not in truth.csv: {line}")
    if not claims or not findings:
        sys.exit("judge: the traces show nothing")
    print(f"precision: {share(sum(claims), len(claims))}")
    print(f"recall: {share(sum(findings), len(findings))}")
    results = [sum(claims) >= options.need_precision * len(claims), sum(findings) >= options.need_recall * len(findings),
               not unknown]
    print(f"judge: {sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""score.py BUILD LEARN OTHER DEVICE[=SHARE]... [--interrupts-given]

What a model of each device's registers, learnt from the trace LEARN, foretells of the trace OTHER (mmioscope regs
--score): shares of the reads, and of the different situations with their exact (Clopper-Pearson) interval of 95 %, beside
the best baseline. The last line is "N passed, N failed": a device passes if its share of situations is SHARE or more, and
no baseline's is larger.
"""
import csv
import io
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from shares import share  # noqa: E402

BASELINES = {"last read": "last_read", "last written": "last_written", "most frequent": "frequent"}


def score(build, learn, other, device, *more):
    """The sums of all numbers that `regs --score` says of the device's registers."""
    done = subprocess.run([f"{build}/mmioscope", "regs", device, "--format", "csv", learn, "--score", other, *more],
                          capture_output=True, text=True, timeout=300)
    if done.returncode == 2:
        sys.exit(f"score: {done.stderr.strip()}")
    rows = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["register"] == "all"]
    numbers = [key for key in rows[0] if key.endswith("right") or key in ("reads", "situations")]
    return {key: sum(int(row[key]) for row in rows) for key in numbers}


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    words = sys.argv[1:]
    more = [word for word in words if word.startswith("--")] # options of regs
    build, learn, other, *devices = (word for word in words if word not in more)
    failed = 0
    for device, _, need in (word.partition("=") for word in devices):
        sums = score(build, learn, other, device, *more)
        baseline = max(BASELINES, key=lambda name: sums[f"situations_{BASELINES[name]}_right"])
        best = sums[f"situations_{BASELINES[baseline]}_right"]
        failed += sums["situations_right"] < max(best, float(need or 0) * sums["situations"])
        print(f"{device}: reads {sums['right']} of {sums['reads']}; "
              f"situations {share(sums['situations_right'], sums['situations'])}, "
              f"free-running {sums['situations_free_right']}; {baseline} {best}")
    print(f"score: {len(devices) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

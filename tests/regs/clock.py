#!/usr/bin/env python3
"""clock.py BUILD DEVICE REGISTER TRACE...

What anybody can foretell of a clock that counts seconds, from its earlier reads in the same trace. A read at time t that
gave v says that the clock was between v - t and v - t + 1 at time 0. Each read narrows that, and what is left is equally
likely: so the best rule says the likelier one of the values that are possible, and is wrong as often as the others are
right. Prints for each trace, and for all: the reads, those that this rule gets wrong, and how many it gets wrong on average,
which is the least of any rule. The first read is always wrong: nobody knows the date.
"""
import csv
import io
import math
import subprocess
import sys


def reads(build, device, register, trace):
    """(seconds, value) of each read."""
    done = subprocess.run([f"{build}/mmioscope", "print", "--format", "csv", "-F", f"dev=={device} && reg=={register} && r",
                           trace], capture_output=True, text=True, timeout=300, check=True)
    return [(int(row["ns"]) * 1e-9, int(row["value"], 0)) for row in csv.DictReader(io.StringIO(done.stdout))]


def judge(all_reads):
    """How many the best rule gets wrong, and how many it does on average."""
    least, most = -math.inf, math.inf
    wrong, average = 0, 0.0
    for time, value in all_reads:
        if math.isinf(least):
            wrong, average = 1, 1.0
        else:
            says = math.floor((least + most) / 2 + time)
            wrong += says != value
            average += 1 - (min(most, says + 1 - time) - max(least, says - time)) / (most - least)
        least, most = max(least, value - time), min(most, value - time + 1)
        if least >= most:
            sys.exit(f"clock: the read at {time:.6f} s does not fit to those before: it does not count seconds")
    return wrong, average


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    build, device, register, *traces = sys.argv[1:]
    sums = [0, 0, 0.0]
    for trace in traces:
        found = reads(build, device, register, trace)
        if not found:
            sys.exit(f"clock: {trace}: no read of {device} {register}")
        row = (len(found), *judge(found))
        sums = [one + more for one, more in zip(sums, row)]
        print(f"{trace}: {row[0]} reads, {row[1]} wrong, {row[2]:.2f} on average")
    print(f"all: {sums[0]} reads, {sums[1]} wrong, {sums[2]:.2f} on average")


if __name__ == "__main__":
    main()

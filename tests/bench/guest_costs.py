#!/usr/bin/python3
"""What the guest itself executes more while all its memory moves between two CPUs (`run --pages all`), by function.

Usage: tests/bench/guest_costs.py BUILD [BOOTS]

Boots stock Debian BOOTS times (default 9) with all devices traced, and as often with --pages all, in turn. guest_count.c
counts instructions up to where the kernel gives back the memory of its initialization. Two equal boots differ: a CPU that
waits for the other one executes as many instructions as that takes. So the functions of which equal boots differ by VARIES
or more are counted apart; what remains can be compared."""
import bisect
import collections
import os
import pathlib
import statistics
import subprocess
import sys

VARIES = 500_000
MOST = 1.005  # of what can be compared
KINDS = {"devices": [], "--pages all": ["--pages", "all"]}
HYPERVISOR = range(0x88000000, 0x88800000)

build = pathlib.Path(sys.argv[1]).resolve()
boots = int(sys.argv[2]) if len(sys.argv) > 2 else 9
out = build / "tests/bench/guest"
out.mkdir(parents=True, exist_ok=True)
os.environ["XDG_CACHE_HOME"] = str(build / "tests/cache")
guest = build / "guest"


def named(*words):
    return subprocess.run([build / "tests/named-code", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def boot(arguments):
    """The executed instructions by address, and of each block how often."""
    subprocess.run([build / "mmioscope", "run", "--no-print", "--time-limit", "240", "--board", "vexpress-a15",
                    "--dtb", guest / "vexpress-v2p-ca15-tc1.dtb", "--kernel", guest / "vmlinuz", "--initrd", guest / "initrd.img",
                    "--append", "console=ttyAMA0 panic=-1 mmioscope.steps=none", "--expect", "mmioscope-guest: done",
                    "-o", out / "trace.mmio", "--console-log", out / "console", "--qemu-arg=-plugin",
                    f"--qemu-arg=file={build}/tests/guest-count.so,out={out}/blocks,until={until}", *arguments],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [(int(at, 16), int(size) * int(times), int(times)) for at, size, times in map(str.split, open(out / "blocks", encoding="ascii"))]


def by_function(blocks):
    """Instructions of the guest by function, and its interrupts."""
    counts, interrupts = collections.Counter(), 0
    for at, instructions, times in blocks:
        if at in HYPERVISOR:
            continue
        n = bisect.bisect(addresses, at) - 1
        kernel = 0xc0000000 <= at < 0xffff0000 and n >= 0
        counts[names[n] if kernel else "others"] += instructions
        interrupts += times if kernel and (at, names[n]) == (addresses[n], "__irq_svc") else 0
    return counts, interrupts


until = named("--address", guest / "vmlinuz", "free_initmem").strip()
raw = {kind: [] for kind in KINDS}
for _ in range(boots):
    for kind, arguments in KINDS.items():
        raw[kind].append(boot(arguments))
symbols = sorted((int(line.split()[0], 16), line.split()[2])
                 for line in named("--list", out / "trace.mmio").splitlines()[1:] if line.split()[1] in "tTwW")
addresses, names = zip(*symbols)
runs = {kind: [by_function(blocks) for blocks in of] for kind, of in raw.items()}
functions = set().union(*(counts for of in runs.values() for counts, _ in of))
varying = {name for name in functions for of in runs.values()
           if max(counts[name] for counts, _ in of) - min(counts[name] for counts, _ in of) >= VARIES}


def row(what, digits, of):
    cells = []
    for kind in KINDS:
        figures = [of(*run) for run in runs[kind]]
        cells.append(f"{statistics.mean(figures):10,.{digits}f} ± {statistics.pstdev(figures):,.{digits}f}")
    print(f"{what:40}" + "".join(f"{cell:>22}" for cell in cells))


print(f"{f'{boots} boots each, millions':40}" + "".join(f"{kind:>22}" for kind in KINDS))
row("the guest's instructions", 1, lambda counts, _: counts.total() / 1e6)
row("in functions that vary", 1, lambda counts, _: sum(counts[name] for name in varying) / 1e6)
row("in all others", 1, lambda counts, _: sum(counts[name] for name in functions - varying) / 1e6)
row("interrupts", 0, lambda _, interrupts: interrupts)
print("\nfunctions that vary")
for name in sorted(varying, key=lambda name: -max(counts[name] for of in runs.values() for counts, _ in of)):
    row(f"  {name}", 1, lambda counts, _, name=name: counts[name] / 1e6)
first, last = (statistics.mean(sum(counts[name] for name in functions - varying) for counts, _ in of) for of in runs.values())
right = last <= MOST * first
print(f"\n{'ok' if right else 'FAILED'} guest-costs: {last / first:.4f} times the instructions, at most {MOST}")
print(f"guest-costs: {right:d} passed, {not right:d} failed")
sys.exit(not right)

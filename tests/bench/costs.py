#!/usr/bin/python3
"""The cost of commands, in executed instructions, compared with tests/bench/costs.baseline; and in memory.

Usage: tests/bench/costs.py BUILD [--short | --long | --real TRACE...] [--update]; --short: what `make test` does; --long: only
what memory grows by from 1 to 100 million events, in 15 minutes and with 10 GB of disk; --update: writes the baseline anew.
--real: of real traces, such as those of `make demo`, everything that is executed, the libraries too; nothing is judged.

A command reads a made-up trace (make-cost-trace) of two lengths. The difference of the two counts is the cost of an
event; the rest of the shorter one is the fixed cost. Callgrind counts, so neither the machine's load nor its clock
matters. What else could differ between two machines:
- The C library chooses its string functions by the CPU: GLIBC_TUNABLES leaves it one choice.
- libzstd and libdeflate ask the CPU themselves, which cannot be changed: instructions in them are not counted.
- The environment has only what is set here, and the program has no debugging information that Callgrind would read.
More than TOLERANCE above the baseline fails; as much below is reported, so that the next change starts from there.
The baseline has figures for each pair of compiler and C library, as Debian 12 and 13 have. With another pair only memory
is judged.
Memory is the maximum resident size from the kernel (ru_maxrss), the least of several runs: the addresses of
libraries vary, and with them the number of their pages that are loaded together with a needed one, by up to 350 KiB.
A figure above its limit is measured again before it counts. Memory has limits of its own, the same for every length:
from one length to the other it may grow by MEMORY_GROWTH, and the noise.
The program and its libraries are copied in small pieces, because newer kernels map as much of a file at once as was
written at once."""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import time

TOLERANCE = 0.03
CHOSEN_BY_CPU = ("libzstd", "libdeflate")
OFF = ("AVX512F,AVX512VL,AVX512BW,AVX2,AVX,AVX_Fast_Unaligned_Load,BMI1,BMI2,LZCNT,MOVBE,POPCNT,SSSE3,SSE4_1,SSE4_2,"
       "ERMS,FSRM,RTM,Fast_Unaligned_Copy,Fast_Rep_String").split(",")
ENVIRONMENT = {
    "LC_ALL": "C", "PATH": "/usr/bin:/bin", "TERM": "dumb", "TZ": "UTC",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join("-" + name for name in OFF) +
                      ":glibc.cpu.x86_non_temporal_threshold=0xc0000:glibc.cpu.x86_rep_movsb_threshold=0x800"
                      ":glibc.cpu.x86_rep_stosb_threshold=0x800",
}
TABLES = [word for table in ("device", "register", "function", "caller", "task", "cpu", "interrupt", "size")
          for word in ("--by", table)]
# What to measure; {} is the output, {events} the number of the last event,
# {trace} the trace, which is also the last argument.
COMMANDS = {
    "print": ["print", "--all", "-o", "{}"],
    "print --raw": ["print", "--all", "--raw", "-o", "{}"],
    "print jsonl": ["print", "--format", "jsonl", "-o", "{}"],
    "print csv": ["print", "--format", "csv", "-o", "{}"],
    "print value": ["print", "-F", "value==0x123456789 && w", "-o", "{}"],
    "print func": ["print", "-F", "func==no_such_function", "-o", "{}"],
    "export ctf": ["export", "--as", "ctf", "-o", "{}", "-i"],
    "export sqlite": ["export", "--as", "sqlite", "-o", "{}", "-i"],
    "stat": ["stat", "-o", "{}"],
    "stat register": ["stat", "--by", "register", "-o", "{}"],
    "stat all": ["stat", *TABLES, "--mappings", "--pci", "--limit", "0", "-o", "{}"],
    "check": ["check"],
    "diff": ["diff", "--profile", "{}", "--good"],
    "polls": ["polls", "--limit", "0", "-o", "{}"],
    "gen": ["gen", "mmc@1c050000", "--limit", "100000", "-o", "{}"],
    "sharing": ["sharing", "--all", "-o", "{}"],
    "advise": ["advise", "-o", "{}"],
    "phases": ["phases", "-o", "{}"],
    "regs": ["regs", "interrupt-controller", "-o", "{}"],
    "at": ["at", "1h", "-o", "{}"],
    "why": ["why", "{events}", "-o", "{}"],
    "page": ["report", "-o", "{}"],
    "regs --score": ["regs", "interrupt-controller", "-o", "{}", "--score", "{trace}"],
    "print --fold": ["print", "--all", "--fold", "-o", "{}"],
}
# And these, only in memory.
MORE = {
    "export perfetto": ["export", "--as", "perfetto", "-o", "{}", "-i"],
    "export mmiotrace": ["export", "--as", "mmiotrace", "-o", "{}", "-i"],
    "export mmio": ["export", "--as", "mmio", "-o", "{}", "-i"],
    "info": ["info"],
    "top": ["top", "--once"],
}
TOLD = ("export sqlite", "babeltrace2")  # mostly not our code
MIXES = ("sd", "boot", "fresh")
PACKED = ("print --raw", "print value")  # of a packed file of "sd", too
SHORT = {"print": MIXES, "print value": ("boot",), "stat": ("boot",), "export ctf": ("sd",), "check": ("boot",),
         "polls": ("boot", "fresh"), "gen": ("boot",), "sharing": ("boot", "fresh"), "advise": ("boot",),
         "phases": ("boot", "fresh"), "regs": ("boot",), "page": ("boot",), "regs --score": ("boot",)}
REAL = ("print", "print --raw", "print jsonl", "print csv", "export ctf", "stat", "print value", "check", "polls")
FIXED = ("print", "print --raw", "stat", "check")
LENGTHS = (10000, 30000)
LENGTHS_SHORT = (2000, 6000)
# KiB: 9 MiB and 64 KiB, of which libstdc++, libm, the C library and the loader take 3.7; SQLite's code and its pages take more, and so
# does the code of all analyses together. What elfutils takes as a shared library (Debian 13) is measured, and comes on top.
MEMORY_LIMIT = 9 * 1024 + 64
MEMORY_LIMITS = {"export sqlite": 9 * 1024 + 832, "stat": 9 * 1024 + 256, "stat all": 9 * 1024 + 448,
                 "sharing": 9 * 1024 + 224, "advise": 10 * 1024 + 128, "top": 9 * 1024 + 160}
MEMORY_GROWTH = 256  # KiB
MEMORY_NOISE = 256  # KiB: the noise left, in either direction, in the least of MEMORY_RUNS
MEMORY_RUNS = 3
MEMORY_RUNS_MORE = 24 # while it is above the limit
MEMORY = ("print", "print jsonl", "print csv", "export ctf", "export sqlite", "stat", "stat all", "check", "polls", "sharing", "advise", "phases", *MORE)
MEMORY_LENGTHS = (30000, 400000)
MEMORY_LENGTHS_SHORT = (20000, 60000)
MEMORY_LONG = ("print", "print jsonl", "stat", "check")
MEMORY_LENGTHS_LONG = (1000000, 100000000)


def object_counts(file):
    """Instructions executed in each object, from a callgrind.out file; those of calls are counted only once."""
    names, counts, name, called = {}, {}, "", False
    for line in file.read_text(errors="replace").splitlines():
        if line.startswith("ob="):
            number, _, said = line[3:].partition(" ")
            name = names.setdefault(number, said)
        elif line.startswith("cob="):
            number, _, said = line[4:].partition(" ")
            names.setdefault(number, said)
        elif line.startswith("calls="):
            called = True
        elif line[:1] in "0123456789+-*" and line:
            if not called:
                counts[name] = counts.get(name, 0) + int(line.split()[1])
            called = False
        elif line.startswith("totals:") and int(line.split()[1]) != sum(counts.values()):
            raise RuntimeError(f"{file}: {sum(counts.values())} instructions found: {line}")
    return counts


def copy_in_pieces(path, to):
    with open(path, "rb") as file, open(to, "wb", buffering=0) as copy:
        while piece := file.read(4096):
            copy.write(piece)


class Bench:
    def __init__(self, build, lengths, discards=False):
        self.own = build / "tests" / "costs"
        self.discards = discards  # what commands write
        self.lengths = lengths
        self.build = build
        self.own.mkdir(parents=True, exist_ok=True)
        self.tool = self.own / "mmioscope"
        subprocess.run(["strip", "-o", self.own / "stripped", build / "mmioscope"], check=True)
        copy_in_pieces(self.own / "stripped", self.tool)
        self.tool.chmod(0o755)
        libraries = self.own / "libraries"
        shutil.rmtree(libraries, ignore_errors=True)
        libraries.mkdir()
        for line in self.run(["/usr/bin/ldd", self.tool], stdout=subprocess.PIPE).splitlines():
            name, _, path = line.strip().partition(" => ")
            if path:
                copy_in_pieces(path.split()[0], libraries / name)
        ENVIRONMENT["LD_LIBRARY_PATH"] = libraries.resolve()
        self.elfutils = self.shared_elfutils()
        for mix in MIXES:
            for events in lengths:
                self.trace(mix, events)

    def shared_elfutils(self):
        """KiB that libdw and what it needs take as shared libraries; 0 where the program has them inside."""
        if "[libdw.so" not in self.run(["/usr/bin/readelf", "-d", self.tool], stdout=subprocess.PIPE):
            return 0
        def empty(*libraries):
            program = self.own / "empty"
            self.run(["/usr/bin/g++", "-x", "c++", "-o", program, "-", "-Wl,--no-as-needed", *libraries], input=b"int main() {}")
            return min(self.resident([program]) for _ in range(MEMORY_RUNS_MORE))
        return max(0, empty("-ldw") - empty())

    def trace(self, mix, events):
        path = self.own / f"{mix}-{events}.mmio"
        kind = ["sd", str(events), path, "packed"] if mix == "packed" else [mix, str(events), path]
        subprocess.run([self.build / "tests" / "make-cost-trace", *kind], check=True)

    def output(self, what, mix, events):
        return self.own / f"{what.replace(' ', '_')}-{mix}-{events}.out"

    def command(self, what, mix, events):
        path = self.own / f"{mix}-{events}.mmio"
        if what == "babeltrace2":
            return ["/usr/bin/babeltrace2", self.output("export ctf", mix, events)]
        output = "/dev/null"
        if not self.discards:
            self.remove(what, mix, [events])
            output = self.output(what, mix, events)
        places = {"{}": output, "{trace}": path, "{events}": str(events)}
        return [self.tool] + [places.get(word, word) for word in {**COMMANDS, **MORE}[what]] + [path]

    def remove(self, what, mix, lengths):
        for events in lengths:
            self.discard(self.output(what, mix, events))

    def discard(self, output):
        shutil.rmtree(output, ignore_errors=True)
        output.unlink(missing_ok=True)

    def run(self, words, **how):
        """What it wrote to its standard output, if `how` asks for it, and to its standard error."""
        done = subprocess.run(words, env=ENVIRONMENT, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **how})
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stderr.decode()[-300:]}")
        return (done.stdout or b"").decode() + done.stderr.decode()

    def count(self, what, mix, events):
        """Instructions in our code, and in libraries that choose by the CPU."""
        return self.counted(self.command(what, mix, events), self.own / f"{what.replace(' ', '_')}-{mix}-{events}")

    def counted(self, command, name):
        file = pathlib.Path(f"{name}.callgrind")
        self.run(["/usr/bin/valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", *command])
        counts = object_counts(file)
        file.unlink()
        others = sum(count for name, count in counts.items() if any(one in name for one in CHOSEN_BY_CPU))
        return sum(counts.values()) - others, others

    def memory(self, what, mix, events, limit):
        """KiB."""
        def once():
            return self.resident(self.command(what, mix, events))
        least = min(once() for _ in range(MEMORY_RUNS))
        for _ in range(MEMORY_RUNS_MORE):
            if least <= limit:
                break
            least = min(least, once())
        return least

    def resident(self, words):
        """KiB. Uses GNU time, which is small, because a child begins with its parent's resident size."""
        return int(self.run(["/usr/bin/time", "-q", "-f", "%M"] + words).split()[-1])

    def seconds(self, what, mix, events):
        start = time.monotonic()
        self.run(self.command(what, mix, events))
        return time.monotonic() - start


def first_line(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[0]


class Judge:
    """Compares figures with the baseline's and prints them."""

    def __init__(self, file):
        self.file = file
        self.all = {}  # the figures by toolchain
        for line in file.read_text().splitlines() if file.exists() else []:
            if line.startswith("#"):
                figures = self.all.setdefault(line, {})
            else:
                key, _, figure = line.rpartition("\t")
                figures[key] = int(figure)
        self.toolchain = f"# g++ {first_line('g++', '--version').split()[-1]}, glibc {first_line('ldd', '--version').split()[-1]}"
        self.old = self.all.get(self.toolchain)
        if self.old is None:
            print(f"not judged, instructions: here is{self.toolchain[1:]}, and the baseline is of{', of'.join(one[1:] for one in self.all)}, "
                  "until --update")
        self.new = {}
        self.passed = self.failed = 0
        print(f"{'what':16} {'mix':5} {'events':>11} {'figure':>12} {'unit':18} {'baseline':>12} {'change':>8}")

    def figure(self, what, mix, events, unit, value, note=""):
        key = f"{what}\t{mix}\t{events}\t{unit}"
        self.new[key] = value
        old = (self.old or {}).get(key)
        words = [note] if note else []
        if what not in TOLD and self.old is not None:
            if old is None or value > old * (1 + TOLERANCE):
                words.append("FAILED: not in the baseline" if old is None else "FAILED: more than it was")
                self.failed += 1
            else:
                if value < old * (1 - TOLERANCE):
                    words.append("less than it was: --update")
                self.passed += 1
        before = "" if old is None else f"{old:,}"
        change = "" if not old else f"{100 * (value - old) / old:+.1f} %"
        print(f"{what:16} {mix:5} {events:>11} {value:12,} {unit:18} {before:>12} {change:>8}  {', '.join(words)}".rstrip(),
              flush=True)

    def memory(self, what, mix, events, value, limit, why):
        good = value <= limit
        self.passed += good
        self.failed += not good
        print(f"{what:16} {mix:5} {events:>11} {value:12,} {'KiB':18} {limit:12,} "
              f"{'limit':>8}  {'' if good else f'FAILED: {why}'}".rstrip(), flush=True)

    def end(self):
        print(f"costs: {self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0

    def update(self):
        self.all[self.toolchain] = {**(self.old or {}), **self.new}
        self.file.write_text("".join(f"{toolchain}\n" + "".join(f"{key}\t{value}\n" for key, value in sorted(figures.items()))
                                     for toolchain, figures in self.all.items()))


def costs(bench, judge, rows):
    little, much = bench.lengths
    events = f"{little}..{much}"
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        counts = pool.map(bench.count, *zip(*[(*row, length) for row in rows for length in bench.lengths]))
        for what, mix in rows:
            first, second = next(counts), next(counts)
            each = [(b - a) / (much - little) for a, b in zip(first, second)]
            judge.figure(what, mix, events, "instructions/event", round(each[0]),
                         note=f"{each[1]:.0f} more in compression" if each[1] >= 1 else "")
            if what in FIXED:
                judge.figure(what, mix, events, "instructions fixed", round(first[0] - each[0] * little))


def memory(bench, judge, mixes, lengths, commands=MEMORY):
    for mix in mixes:
        for events in lengths:
            bench.trace(mix, events)
        for what in commands:
            limit = MEMORY_LIMITS.get(what, MEMORY_LIMIT) + bench.elfutils + MEMORY_NOISE
            little = bench.memory(what, mix, lengths[0], limit)
            judge.memory(what, mix, lengths[0], little, limit, "more than it may be")
            limit = min(limit, little + MEMORY_GROWTH + MEMORY_NOISE)
            judge.memory(what, mix, lengths[1], bench.memory(what, mix, lengths[1], limit), limit,
                         "more than it may be, or than it may grow")
            bench.remove(what, mix, lengths)


def real(bench, traces):
    """All instructions for an event of a real trace: those for its whole less those for its first third, both as plain records;
    and what more it takes packed, as it is given."""
    packed, plain, part, output = (bench.own / name for name in ("packed.mmio", "plain.mmio", "part.mmio", "real.out"))

    def told(*words):
        return bench.run([bench.tool, *words], stdout=subprocess.PIPE)

    def records(path):
        return int(told("check", path).partition(" records")[0].split()[-1])

    def total(what, path):
        bench.discard(output)
        return sum(bench.counted([bench.tool] + [{"{}": output}.get(word, word) for word in COMMANDS[what]] + [path], output))

    print(f"{'':24}" + "".join(f"{what:>14}" for what in REAL))
    for trace in traces:
        shutil.copy(trace, packed)
        told("export", "--as", "mmio", "-o", plain, packed)
        middle = told("print", "--no-summary", "--at", str(records(packed) // 3), packed).splitlines()[1].split()[1]
        told("export", "--as", "mmio", "--to", middle, "-o", part, packed)
        events, some = records(plain), records(part)
        rows = {f"{events:,} events": [], "packed, more": []}
        for what in REAL:
            of_packed, of_plain, of_part = (total(what, path) for path in (packed, plain, part))
            rows[f"{events:,} events"].append((of_plain - of_part) / (events - some))
            rows["packed, more"].append((of_packed - of_plain) / events)
        for name, figures in rows.items():
            print(f"{name:24}" + "".join(f"{figure:14.0f}" for figure in figures) + f"  {trace}", flush=True)
        for file in packed, plain, part, output:
            bench.discard(file)


def beside(bench, judge):
    """babeltrace2 with the same events, for comparison."""
    for events in bench.lengths:
        for mix in MIXES:
            bench.run(bench.command("export ctf", mix, events))
    costs(bench, judge, [("babeltrace2", mix) for mix in MIXES])
    events = bench.lengths[-1]
    for mix in MIXES:
        ours, theirs = (judge.new[f"{what}\t{mix}\t{bench.lengths[0]}..{events}\tinstructions/event"]
                        for what in ("print", "babeltrace2"))
        seconds = [bench.seconds(what, mix, events) for what in ("print", "babeltrace2")]
        print(f"{mix}: babeltrace2 executes {theirs / ours:.1f} times as many instructions for an event as print; "
              f"{events} events take it {seconds[1]:.2f} s, print {seconds[0]:.2f} s")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--short", action="store_true")
    arguments.add_argument("--long", action="store_true")
    arguments.add_argument("--real", nargs="+", type=lambda path: pathlib.Path(path).resolve())
    arguments.add_argument("--update", action="store_true")
    given = arguments.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    judge = Judge(pathlib.Path("tests/bench/costs.baseline"))
    if given.real:
        return real(Bench(given.build, ()), given.real)
    if given.long:
        bench = Bench(given.build, (), discards=True)
        memory(bench, judge, ("boot",), MEMORY_LENGTHS_LONG, MEMORY_LONG)
        (bench.own / f"boot-{MEMORY_LENGTHS_LONG[1]}.mmio").unlink()
        return judge.end()
    bench = Bench(given.build, LENGTHS_SHORT if given.short else LENGTHS)
    rows = [(what, mix) for what in COMMANDS for mix in (SHORT.get(what, ()) if given.short else MIXES)]
    if not given.short:
        rows += [(what, "packed") for what in PACKED]
        for events in bench.lengths:
            bench.trace("packed", events)
    costs(bench, judge, rows)
    if given.short:
        memory(bench, judge, ("fresh",), MEMORY_LENGTHS_SHORT)
    else:
        memory(bench, judge, MIXES, MEMORY_LENGTHS)
    if not given.short:
        beside(bench, judge)
    if given.update:
        judge.update()
        print(f"costs: {judge.passed + judge.failed} passed, 0 failed")
        return 0
    return judge.end()


if __name__ == "__main__":
    sys.exit(main())

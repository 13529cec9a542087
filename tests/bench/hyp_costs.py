#!/usr/bin/python3
"""The cost of tracing, in executed instructions of the hypervisor, counted by a QEMU plugin (hyp_count.c).

Usage: tests/bench/hyp_costs.py BUILD [--short] [--update] [--paths]

Prints one table; writes it, and the paths by function, to BUILD/tests/bench/hyp.json; --paths prints the latter.
--short: as in `make test`, a bare guest and a boot under each engine, and the streams of boots with calls, compared
with tests/bench/hyp.baseline; --update writes the baseline.

One CPU and QEMU's instruction count as its clock (-icount) make each run the same, to the instruction. A path is
everything executed from a vector to ERET; hyp_count.c classifies it by its effects, so names are only for reading. A
figure that differs from the baseline by more than TOLERANCE, up or down, fails. The baseline belongs to one
compiler, and the boot's figures to one kernel: with another one the figures are printed, but not judged."""
import argparse
import bisect
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOLERANCE = 0.02
ENGINES = ("emulation", "shadow")
BOARD_UART = 0x1c0b0000  # serial2, where a stream leaves
# The sections of tests/guest/costs.cpp after its start.
ACCESSES = ("load, PL1, ARM", "store, PL1, ARM", "load, PL1, Thumb", "load, PL0, ARM", "load with writeback",
            "load, two devices", "load, first byte of a page", "load of two words", "load of four words")
SLOW = "slow path"  # options are also measured on it
WATCHED = "watched memory: load-exclusive and store-exclusive"  # the two sections behind those
# Options, each measured alone: arguments of `mmioscope run`. All records pass, except with "held back".
OPTIONS = {
    "filter": ["--at-start", "filter direction r"],
    "filter, held back": ["--at-start", "filter direction w"],
    "trigger that counts": ["--at-start", "trigger stop direction r count 1000000"],
    "begin records (--pre)": ["--pre"],
    "policy stall": ["--slow-path", "--policy", "stall"],
    "policy flight": ["--slow-path", "--policy", "flight"],
}
ARGUMENTS = {"bare": [], SLOW: ["--slow-path"], WATCHED: ["--watch", "0x82100000+4K"], **OPTIONS}
# What a stream has for each call: the name of the boot, and arguments.
CALLS = {"boot: bytes of a call with its return": ("calls",),
         "boot: bytes of a call with its return and stack": ("call-stacks", "--stack", "calls")}
# For each metric, the goals for the two engines. In instructions, unless the metric says otherwise.
GOALS = {
    "load, PL1, ARM": (80, 121), "load, PL1, Thumb": (88, 138), "load with writeback": (900, 930),
    "load: slow path": (480, 620), "moving page: trap": (250, 250), "load: slow path, functions on the way": (45, 45), "load: slow path, files on the way": (18, 18),
    "exceptions": (1, 2), "ISB": (2, 4), "DSB": (2, 3), "DMB": (3, 3), "TLBI": (0, 2), "CP14": (0, 3), "CP15": (7, 11),
    "boot: mean": (86, 129), "SD load: mean": (81, 123), "boot: a stream and task names, more": (1200, 1200),
    "boot: bytes of the stream": (2.0, 2.0), "boot: bytes of a call with its return": (8.0,), "boot: reset to the first instruction": (1_000_000, 1_000_000),
    "boot: traced / native": (1.0010, 1.0014), "traced / native by the mean, an access per 1,569": (1.052, 1.079),
    "boot with nothing traced": (50_000, 50_000), "image, text and constants, KiB": (108, 108),
    "core alone, text and constants, KiB": (70, 70), "core, lines of code": (6200, 6200), "start, lines of code": (2600, 2600),
    "SD load, 2 CPUs: waiting": (150, 150), "2 CPUs / 1, a device each": (1.02, 1.02), "4 CPUs / 1, a device each": (1.02, 1.02),
}
PEERS = {"load, PL1, ARM": "Xen 4.17: 772", "boot: bytes of the stream": "QEMU's log: 95",
         "traced / native by the mean, an access per 1,569": "QEMU's log: 1.26"}


def output(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


class Image:
    """The hypervisor's code: its addresses, functions and instruction sets."""

    def __init__(self, elf):
        self.elf, self.functions, self.sets = elf, [], []
        places = {}
        for line in output("arm-none-eabi-nm", "-nC", "--special-syms", elf).splitlines():
            address, _, name = line.split(" ", 2)
            if re.match(r"\$[atd]", name):
                self.sets.append((int(address, 16), name[1]))
            elif not name.startswith("$"):
                self.functions.append((int(address, 16), name))
                places[name] = int(address, 16)
        self.text = (places["image_text_begin"], places["image_text_end"])
        sizes = output("arm-none-eabi-size", "-A", elf)
        self.kib = sum(int(size) for name, size in re.findall(r"^(\.\S+)\s+(\d+)", sizes, re.M)
                       if name in (".text", ".rodata", ".ARM.exidx", ".init_array")) / 1024

    def function(self, address):
        return self.functions[bisect.bisect_right(self.functions, (address, chr(0x10ffff))) - 1][1]

    def passed(self, addresses):
        """The hypervisor's functions, inlined ones too, that have instructions there, and their files, by the debug info."""
        told = subprocess.run(["arm-none-eabi-addr2line", "-afi", "-e", self.elf], input="\n".join(map(hex, addresses)),
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        functions = set(re.findall(r"^(?!0x)(\S+)\n.*/(hyp/(?:core|abi)/[^:]*):", told, re.M))
        return len(functions), len({file for _, file in functions})

    def is_thumb(self, address):
        return self.sets[bisect.bisect_right(self.sets, (address, "z")) - 1][1] == "t"

    def kind(self, address, size, word):
        """What an instruction does besides computing (ARM ARM A8.8.43, .44, .53, A8.8.98, .107; B3.13), or None. It
        counts whether its condition held or not, since that is unknown."""
        if size == 2:
            return None
        if not self.is_thumb(address) and (word & 0x0ffffff0 in (0x0f62ec40, 0x0f00e850) or word & 0x00fffff0 == 0xe840):
            raise RuntimeError(f"{address:#x}: hyp_count.c takes this for an instruction of Thumb")
        if self.is_thumb(address):
            word = (word & 0xffff) << 16 | word >> 16
            if word == 0xf3de8f00:
                raise RuntimeError(f"{address:#x}: hyp_count.c looks for ERET in ARM code only")
            barrier = word & 0xfffffff0, 0xf3bf8f40
        else:
            barrier = word & 0xfffffff0, 0xf57ff040
        if 0 <= barrier[0] - barrier[1] <= 0x20:
            return ("DSB", "DMB", "ISB")[(barrier[0] - barrier[1]) >> 4]
        one = word & 0x0f000010 == 0x0e000010  # MCR, MRC
        two = word & 0x0fe00000 == 0x0c400000  # MCRR, MRRC
        if word >> 28 == 0xf or not (one or two) or word >> 8 & 0xf not in (14, 15):
            return None
        if word >> 8 & 0xf == 14:
            return "CP14"
        return "TLBI" if one and word >> 16 & 0xf == 8 else "CP15"


def symbol(elf, name):
    return int(re.search(rf"^(\S+) T {name}$", output("arm-none-eabi-nm", elf), re.M).group(1), 16)


def lines_of(storey):
    return int(re.search(rf"^{storey} (\d+)$", output("tests/core/lines.sh"), re.M).group(1))


class Counts:
    """The instructions of a run: sections of kinds of paths."""

    def __init__(self, file, image):
        read = json.loads(file.read_text())
        self.executed, self.sections, self.image = read["executed"], read["sections"], image
        self.special = {}
        for address, (size, word) in read["code"].items():
            kind = image.kind(int(address), size, word)
            if kind:
                self.special[int(address)] = kind

    def sum(self, what, kinds, sections=None):
        """Sum over the hypervisor's paths of these kinds; in all sections, or these."""
        return sum(section[kind][what] for n, section in enumerate(self.sections) if sections is None or n in sections
                   for kind in kinds if kind in section)

    def accesses(self, sections=None):
        return self.sum("paths", ("begun", "emulated"), sections)

    def looks(self):
        """Instructions of checksum() after the start. What surrounds them, behind the store that ends the machine, depends on
        the host: how long a CPU goes on there."""
        return sum(count for section in self.sections for kind, paths in section.items() if kind != "start"
                   for address, count, _ in paths["counts"] if self.image.function(address).startswith("mmioscope::checksum("))

    def mean(self, sections=None):
        """Instructions of one access, from vector to ERET, both paths of a step, without waiting."""
        kinds = ("begun", "finished", "emulated")
        return ((self.sum("instructions", kinds, sections) - self.sum("waiting", kinds, sections)) /
                self.accesses(sections))

    def events(self, section):
        """Per access: exceptions, barriers, TLB maintenance, coprocessor accesses."""
        found = collections.Counter()
        for kind in ("begun", "finished", "emulated"):
            if kind in self.sections[section]:
                paths = self.sections[section][kind]
                found["exceptions"] += paths["exceptions"]
                for address, count, _ in paths["counts"]:
                    if address in self.special:
                        found[self.special[address]] += count
        return {what: found[what] / self.accesses([section])
                for what in ("exceptions", "ISB", "DSB", "DMB", "TLBI", "CP14", "CP15")}

    def passed(self, section):
        """Functions and files that most accesses pass."""
        return self.image.passed({address for kind in ("begun", "finished", "emulated") if kind in self.sections[section]
                                  for address, count, _ in self.sections[section][kind]["counts"]
                                  if 2 * count > self.sections[section][kind]["paths"]})

    def by_function(self):
        """For each section and kind: paths, mean, least and most, and the functions of the mean and the longest one."""
        told = []
        for section in self.sections:
            told.append({})
            for kind, paths in section.items():
                mean, longest = collections.Counter(), collections.Counter()
                for address, count, of_longest in paths["counts"]:
                    mean[self.image.function(address)] += count / paths["paths"]
                    longest[self.image.function(address)] += of_longest
                told[-1][kind] = {
                    "paths": paths["paths"], "mean": paths["instructions"] / paths["paths"],
                    "least": paths["least"], "most": paths["most"],
                    "functions": {name: round(each, 2) for name, each in mean.most_common()},
                    "longest": {name: each for name, each in longest.most_common() if each}}
        return told


class Bench:
    CLOCK = ["-icount", "shift=0,sleep=off", "-rtc", "base=2024-01-01,clock=vm"]

    def __init__(self, build):
        self.build = build
        self.own = build / "tests" / "hyp-costs"
        self.own.mkdir(parents=True, exist_ok=True)
        elf = build / "hyp-88000000.elf"
        self.image = Image(elf)
        self.core = Image(build / "tests" / "core" / "hyp-88000000.elf")
        self.tree = build / "guest" / "vexpress-v2p-ca15-tc1.dtb"
        self.bare_guest = build / "tests" / "guest" / "vexpress-a15" / "costs"
        self.mark = symbol(f"{self.bare_guest}.elf", "section")

    def plugin(self, name, *words):
        begin, end = self.image.text
        return ["-plugin", ",".join([f"file={self.build}/tests/hyp-count.so", f"text={begin:#x}-{end:#x}",
                                     f"out={self.own}/{name}.json", *words])]

    def execute(self, name, words):
        with open(self.own / f"{name}.log", "w", encoding="utf-8") as log:
            status = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False).returncode
        said = (self.own / f"{name}.log").read_text(errors="replace")
        if status != 0:
            raise RuntimeError(f"{name}: status {status}: {said[-300:]}")
        return said

    def counts(self, name):
        return Counts(self.own / f"{name}.json", self.image)

    def tree_for(self, cpus):
        """The board's tree, which has two CPUs, with as many as needed."""
        if cpus <= 2:
            return self.tree
        tree = self.own / f"{cpus}-cpus.dtb"
        shutil.copyfile(self.tree, tree)
        for n in range(2, cpus):
            node = f"/cpus/cpu@{n}"
            output("fdtput", "-c", tree, node)
            output("fdtput", "-t", "s", tree, node, "device_type", "cpu")
            output("fdtput", "-t", "s", tree, node, "compatible", "arm,cortex-a15")
            output("fdtput", "-t", "x", tree, node, "reg", str(n))
        return tree

    def traced(self, name, engine, plugin, arguments, cpus=1, alike=None):
        """Runs a guest. Returns the number of its events, and its counts. `alike`: each run is, as with one CPU."""
        qemu = self.plugin(name, *plugin) + (self.CLOCK if alike or cpus == 1 else [])
        trace = self.own / f"{name}.mmio"
        said = self.execute(name, [
            self.build / "mmioscope", "run", "--cpus", str(cpus), "--no-net", "--no-print", "--time-limit", "600", "--dtb",
            self.tree_for(cpus), "--engine", engine, "--console-log", self.own / f"{name}.console", "-o", trace, *arguments,
            *(f"--qemu-arg={word}" for word in qemu)])
        trace.unlink()
        return int(re.search(r"^complete: (\d+) events, 0 lost$", said, re.M).group(1)), self.counts(name)

    def bare_on(self, cpus, engine):
        """Several CPUs, each with its own device."""
        return self.traced(f"on-{cpus}-{engine}", engine, [f"mark={self.mark:#x}"], [
            "--bare", "--kernel", f"{self.bare_guest}.bin", "--expect", "guest: done", "--qemu-arg=-device",
            f"--qemu-arg=loader,addr=0x82000000,data={cpus},data-len=4"], cpus)[1]

    def bare(self, engine, what="bare"):
        name = re.sub(r"\W+", "-", f"{what}-{engine}")
        return self.traced(name, engine, [f"mark={self.mark:#x}"], [
            "--bare", "--kernel", f"{self.bare_guest}.bin", "--expect", "guest: done", *ARGUMENTS[what]])[1]

    def moving(self, engine):
        """Two CPUs that use pages in turn (page_costs.cpp). They yield, so that one thread of QEMU is enough."""
        guest, page = self.build / "tests" / "guest" / "vexpress-a15" / "page_costs.bin", 0x85000000
        return self.traced(f"moving-{engine}", engine, [f"mark={symbol(guest.with_suffix('.elf'), 'section'):#x}"], [
            "--bare", "--kernel", guest, "--expect", "guest: done", "--pages", f"{page:#x}+0x3000"], 2, alike=True)[1]

    def linux(self, steps):
        guest = self.build / "guest"
        return [f"console=ttyAMA0 panic=-1 mmioscope.steps={steps}", guest / "vmlinuz", guest / "initrd.img",
                guest / "sd.img"]

    def boot(self, name, engine, steps, *more, plugin=("all=on",), cpus=1):
        line, kernel, initrd, card = self.linux(steps)
        return self.traced(f"{name}-{engine}", engine, plugin, [
            "--kernel", kernel, "--initrd", initrd, "--sd", card, "--append", line, "--expect", "mmioscope-guest: done",
            *more], cpus)

    def bytes_of_a_call(self, name, *more):
        """Of the stream of a boot that has nothing but calls with their returns."""
        wire = self.own / f"{name}.wire"
        self.boot(name, "emulation", "none", "--trace", "none", "--stream", "serial2", "--stream-file", wire, "--returns",
                  "--probe", "vfs_*", "--probe", "mutex_lock", *more, plugin=())
        said = (self.own / f"{name}-emulation.log").read_text(errors="replace")
        return wire.stat().st_size / int(re.search(r"^other records: .*\b(\d+) call\b", said, re.M).group(1))

    def native(self, steps):
        """The same machine without a hypervisor: Non-secure, like the guest under it. Returns everything executed."""
        line, kernel, initrd, card = self.linux(steps)
        name = f"native-{steps}"
        console = self.own / f"{name}.console"
        self.execute(name, [
            "timeout", "600", "qemu-system-arm", "-M", "vexpress-a15,secure=off,virtualization=off",
            "-audiodev", "none,id=a", "-global", "pl041.audiodev=a", "-smp", "1", "-m", "512", "-display", "none", "-monitor", "none", "-no-reboot",
            "-serial", f"file:{console}", "-nic", "none", "-kernel", kernel, "-dtb", self.tree, "-initrd", initrd, "-append", line,
            "-drive", f"if=sd,format=raw,snapshot=on,file={card}", *self.CLOCK, "-plugin",
            f"file={self.build}/tests/hyp-count.so,out={self.own}/{name}.json,all=on"])
        if "mmioscope-guest: done" not in console.read_text(errors="replace"):
            raise RuntimeError(f"{name}: the guest was not done")
        return self.counts(name).executed

    def versions(self):
        kernel = re.search(r"^kernel: ([^,]+),", (self.build / "guest" / "manifest.txt").read_text(), re.M).group(1)
        return {"compiler": output("arm-none-eabi-g++", "--version").splitlines()[0], "kernel": kernel}


class Table:
    """One row for each metric, a column for each engine."""

    def __init__(self):
        self.now = {}

    def add(self, metric, engine, figure):
        self.now.setdefault(metric, {})[engine] = figure

    @staticmethod
    def shown(metric, figure):
        if figure is None:
            return ""
        digits = 4 if " / " in metric else 2 if "bytes" in metric else 0 if float(figure).is_integer() else 1
        return f"{figure:,.{digits}f}"

    def rows(self):
        for metric, now in self.now.items():
            yield {"metric": metric, "now": now, "goal": dict(zip(ENGINES, GOALS.get(metric, ()))),
                   "peer": PEERS.get(metric, "")}

    def print(self):
        form = "{:49} {:>12} {:>12}  {:>10} {:>10}  {}"
        print(form.format("executed instructions, of an access or in all", "emulation", "shadow", "goal", "goal", "peer"))
        for row in self.rows():
            figures = (self.shown(row["metric"], row[column].get(engine))
                       for column in ("now", "goal") for engine in ENGINES)
            print(form.format(row["metric"], *figures, row["peer"]).rstrip())


class Judge:
    """Compares the figures of --short with the baseline's."""

    def __init__(self, file, versions):
        self.file, self.versions, self.figures, self.told = file, versions, {}, {}
        self.passed = self.failed = 0
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
            key, _, said = line.rpartition("\t")
            (self.told if key in versions else self.figures)[key] = said

    def result(self, right, what):
        if right:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}")

    def judge(self, table):
        others = {what for what, version in self.versions.items() if self.told.get(what) != version}
        for what in others:
            whose = "the boot's" if what == "kernel" else "all"
            print(f"not judged, {whose} figures: here is {self.versions[what]!r}, "
                  f"and the baseline is of {what} {self.told.get(what)!r}, until --update")
        for metric, now in table.now.items():
            for engine, figure in now.items():
                if others - {"kernel"} or ("kernel" in others and metric.startswith("boot")):
                    continue
                old = self.figures.get(f"{metric}\t{engine}")
                change = None if old is None else figure - float(old)
                self.result(old is not None and abs(change) <= TOLERANCE * float(old),
                            f"{metric}, {engine}: {table.shown(metric, figure)}, "
                            f"and the baseline has {old or 'no such figure'}: make it what it was, or --update")

    def update(self, table):
        lines = [f"{what}\t{version}" for what, version in sorted(self.versions.items())]
        lines += [f"{metric}\t{engine}\t{round(figure, 2):g}" if figure < 1e5 else f"{metric}\t{engine}\t{figure:.0f}"
                  for metric, now in table.now.items() for engine, figure in now.items()]
        self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def add_bare(table, engine, counts, slow, watched):
    for n, access in enumerate(ACCESSES, 1):
        table.add(access, engine, counts.mean([n]))
    for what, each in counts.events(1).items():
        table.add(what, engine, each)
    table.add("load: slow path", engine, slow.mean([1]))
    for n, form in enumerate(("", ", in one register"), 1):
        table.add(WATCHED + form, engine, watched.mean([len(ACCESSES) + n]))


def add_moving(table, engine, counts):
    """By a mean of loads, stores, fetches, and stores to what was loaded."""
    table.add("moving page: trap", engine, counts.sum("instructions", ["other"], [1]) / counts.sum("paths", ["other"], [1]))


def add_boot(table, engine, events, counts):
    table.add("boot: mean", engine, counts.mean())
    table.add("boot: longest path", engine,
              max(counts.sum("most", [kind]) for kind in ("begun", "finished", "emulated", "other")))
    table.add("boot: accesses", engine, events)
    table.add("boot: looks at checksums, all", engine, counts.looks())
    table.add("boot: reset to the first instruction", engine, counts.sum("instructions", ["start"]))


def add_calls(table, calls):
    for metric, size in zip(CALLS, calls):
        table.add(metric, ENGINES[0], size.result())


def seen_all(events, counts):
    """Whether the paths match the trace's records. The path of the last one has a look at all checksums, and the machine's end
    may cut that before it."""
    return events - 2 <= counts.accesses() <= events


def short(bench, judge):
    table, detail = Table(), {}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        boots = [pool.submit(bench.boot, "boot", engine, "none", plugin=()) for engine in ENGINES]
        bares = [pool.submit(bench.bare, engine) for engine in ENGINES]
        slows = [pool.submit(bench.bare, engine, SLOW) for engine in ENGINES]
        watched = [pool.submit(bench.bare, engine, WATCHED) for engine in ENGINES]
        moves = [pool.submit(bench.moving, engine) for engine in ENGINES]
        calls = [pool.submit(bench.bytes_of_a_call, *words) for words in CALLS.values()]
        add_calls(table, calls)
        for engine, boot, bare, slow, pair, moving in zip(ENGINES, boots, bares, slows, watched, moves):
            add_bare(table, engine, bare.result(), slow.result(), pair.result())
            add_moving(table, engine, moving.result())
            detail[f"pages that move, {engine}"] = moving.result().by_function()
            events, counts = boot.result()
            add_boot(table, engine, events, counts)
            judge.result(seen_all(events, counts), f"{engine}: {counts.accesses()} paths are not {events} records")
            detail[f"bare, {engine}"] = bare.result().by_function()
            detail[f"bare, {SLOW}, {engine}"] = slow.result().by_function()
            detail[f"bare, {WATCHED}, {engine}"] = pair.result().by_function()
            detail[f"boot, {engine}"] = counts.by_function()
    return table, detail


def whole(bench, judge):
    """Everything in --short, and what takes longer."""
    # Alone: with another QEMU beside it, the host takes a CPU away from a guest that holds a lock.
    waits = {engine: bench.boot("sd-2", engine, "sd", plugin=(), cpus=2)[1] for engine in ENGINES}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        def each(what, *arguments, **how):
            return {engine: pool.submit(what, *(engine if word is None else word for word in arguments), **how)
                    for engine in ENGINES}
        loads = each(bench.boot, "sd", None, "sd")
        several = {cpus: each(bench.bare_on, cpus, None) for cpus in (2, 4)}
        natives = {steps: pool.submit(bench.native, steps) for steps in ("none", "sd")}
        boots = each(bench.boot, "boot", None, "none")
        wires = {engine: bench.own / f"{engine}.wire" for engine in ENGINES}
        streams = {engine: pool.submit(bench.boot, "stream", engine, "none", "--stream", "serial2", "--stream-file",
                                       wires[engine], plugin=(f"own={BOARD_UART:#x}",)) for engine in ENGINES}
        named = each(bench.boot, "named", None, "none", "--guest-reader", plugin=())
        nothing = each(bench.boot, "nothing", None, "none", "--trace", "none", plugin=())
        load_streams = each(bench.boot, "sd-stream", None, "sd", "--stream", "serial2", plugin=(f"own={BOARD_UART:#x}",))
        bares = each(bench.bare, None)
        slows = each(bench.bare, None, SLOW)
        watched = each(bench.bare, None, WATCHED)
        moves = each(bench.moving, None)
        options = {what: each(bench.bare, None, what) for what in OPTIONS}
        calls = [pool.submit(bench.bytes_of_a_call, *words) for words in CALLS.values()]

    table, detail = Table(), {}
    add_calls(table, calls)
    none, sd = natives["none"].result(), natives["sd"].result()
    for engine in ENGINES:
        bare = bares[engine].result()
        slow = slows[engine].result()
        add_bare(table, engine, bare, slow, watched[engine].result())
        add_moving(table, engine, moves[engine].result())
        for what, number in zip(("functions", "files"), slow.passed(1)):
            table.add(f"load: slow path, {what} on the way", engine, number)
        for what in OPTIONS:
            more = options[what][engine].result().mean([1]) - slow.mean([1])
            table.add(f"load: {what}, more", engine, more)
        events, boot = boots[engine].result()
        add_boot(table, engine, events, boot)
        judge.result(seen_all(events, boot), f"{engine}: {boot.accesses()} paths are not {events} records")
        table.add("boot: traced / native", engine, boot.executed / none)
        table.add("boot: task names, more", engine, named[engine].result()[1].mean() - boot.mean())
        sent, stream = streams[engine].result()
        in_all = lambda counts, n: counts.sum("instructions", ("begun", "finished", "emulated", "other")) / n
        table.add("boot: a stream and task names, more", engine, in_all(stream, sent) - in_all(boot, events))
        table.add("boot: a stream, longest path", engine,
                  max(stream.sum("most", [kind]) for kind in ("begun", "finished", "emulated", "other")))
        table.add("boot: bytes of the stream", engine, wires[engine].stat().st_size / sent)
        paths = nothing[engine].result()[1]
        table.add("boot with nothing traced", engine,
                  paths.sum("instructions", ("begun", "finished", "other", "emulated", "long", "cut")))
        loaded, load = loads[engine].result()
        table.add("SD load: accesses", engine, loaded - events)
        table.add("SD load: mean", engine,
                  (load.mean() * load.accesses() - boot.mean() * boot.accesses()) / (load.accesses() - boot.accesses()))
        load_sent, load_stream = load_streams[engine].result()
        kinds = ("begun", "finished", "emulated", "other")
        table.add("SD load: a stream and task names, more", engine,
                  (load_stream.sum("instructions", kinds) - stream.sum("instructions", kinds)) / (load_sent - sent) -
                  (load.sum("instructions", kinds) - boot.sum("instructions", kinds)) / (loaded - events))
        table.add("SD load: native instructions for one", engine, (sd - none) / (loaded - events))
        table.add("SD load: traced / native", engine, (load.executed - boot.executed) / (sd - none))
        table.add("traced / native by the mean, an access per 1,569", engine,
                  1 + table.now["SD load: mean"][engine] / 1569)
        wait = waits[engine]
        waited = wait.sum("waiting", ("begun", "emulated", "other"))
        table.add("SD load, 2 CPUs: waiting", engine, waited / wait.accesses())
        for cpus, runs in several.items():
            table.add(f"{cpus} CPUs / 1, a device each", engine, runs[engine].result().mean([1]) / bare.mean([6]))
        table.add("image, text and constants, KiB", engine, bench.image.kib)
        table.add("core alone, text and constants, KiB", engine, bench.core.kib)
        for storey in ("core", "start"):
            table.add(f"{storey}, lines of code", engine, lines_of(storey))
        detail.update({f"bare, {engine}": bare.by_function(), f"bare, {SLOW}, {engine}": slow.by_function(),
                       f"boot, {engine}": boot.by_function(),
                       f"SD load, {engine}": load.by_function(), f"stream, {engine}": stream.by_function()})
    return table, detail


def print_paths(paths):
    for name, sections in paths.items():
        for n, section in enumerate(sections):
            for kind, told in section.items():
                where = ACCESSES[n - 1] if name.startswith("bare") and 0 < n <= len(ACCESSES) else f"section {n}"
                print(f"{name}, {where}, {kind}: {told['paths']} paths of {told['mean']:,.1f}, "
                      f"{told['least']:,} to {told['most']:,}")
                for function, each in told["functions"].items():
                    if each >= 0.05:
                        print(f"  {each:12,.1f} {told['longest'].get(function, 0):12,}  {function}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", type=pathlib.Path)
    for name in ("short", "update", "paths"):
        arguments.add_argument(f"--{name}", action="store_true")
    given = arguments.parse_args()
    if given.update and not given.short:
        arguments.error("the baseline is of --short")
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    file = given.build / "tests" / "bench" / "hyp.json"
    if given.paths:
        print_paths(json.loads(file.read_text())["paths"])
        return 0
    bench = Bench(given.build)
    judge = Judge(pathlib.Path("tests/bench/hyp.baseline"), bench.versions())
    table, paths = (short if given.short else whole)(bench, judge)
    table.print()
    if given.short and given.update:
        judge.update(table)
    elif given.short:
        judge.judge(table)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"versions": judge.versions, "rows": list(table.rows()), "paths": paths}, indent=1))
    print(f"hyp-costs: {judge.passed} passed, {judge.failed} failed")
    return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""judge.py BUILD FOLDER [--made N | --record N] [--seed TEXT] [--faults N] [--classes C,...] [--tell] [--need CLASS=SHARE,...]

Judges `mmioscope diff` on boots of one kernel, FOLDER/*.mmio, that nobody looked at while the rules were made: made-up
ones (--made, made_boots.py), real ones (--record, boots.py), or what is there.
  good boots  each boot is B once, with one other boot as A and with five others: how many findings it has, of either tier
  faults      N of each class, drawn by the seed, put into one of the boots by seed-fault, and compared with five others.
              Found: a finding that the boot without the fault does not have names the register and the function.
Shares have exact (Clopper-Pearson) intervals of 95 %. The last line is "N passed, N failed": one for each class, by the share
that --need asks for, and two for the good boots, of which one in 60, rounded up, may have a sure finding against five others,
and which have two findings on average, at most, against one. All else that goes wrong ends the program.
"""
import argparse
import csv
import io
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import boots as real_boots  # noqa: E402
import made_boots  # noqa: E402
from findings import findings, names, needed, run, text_of, traces_in, verdict  # noqa: E402
from shares import share  # noqa: E402

CLASSES = ["value", "register", "swap", "drop", "drop-event"]
GOODS = 5


class Judge:
    def __init__(self, build, seed, tell):
        self.diff = build / "mmioscope"
        self.seeder = build / "tests/seed-fault"
        self.random = random.Random(seed)
        self.tell = tell
        self.folder = tempfile.TemporaryDirectory()
        self.known = {}

    def profile(self, goods):
        path = pathlib.Path(self.folder.name) / ("-".join(good.stem for good in goods) + ".profile")
        if not path.exists():
            done = run(self.diff, "diff", "--profile", path, "--good", *goods)
            if done.returncode or done.stderr:
                sys.exit(f"judge: {done.stderr}")
        return path

    def others(self, boots, boot, count):
        return self.random.sample([one for one in boots if one != boot], count)

    def good_boots(self, boots):
        counts = {1: [], GOODS: []}
        for boot in boots:
            for k, of in counts.items():
                goods = self.others(boots, boot, k)
                rows = findings(self.diff, "--good", *goods, "--", boot)
                sure = sum(row["tier"] == "sure" for row in rows)
                of.append((sure, len(rows) - sure))
                for row in rows if self.tell else []:
                    print(f"  {boot.stem}, {k} good:", text_of(row))
        for k, of in counts.items():
            print(f"good boots, {k} good: {sum(a for a, _ in of) / len(of):.2f} sure findings on average, "
                  f"{sum(b for _, b in of) / len(of):.2f} less sure; "
                  f"with a sure finding {share(sum(a > 0 for a, _ in of), len(of))}, with any {share(sum(a + b > 0 for a, b in of), len(of))}")
        return counts

    def names(self, trace, event):
        done = run(self.diff, "print", "--at", event, "--format", "csv", trace)
        row = next(csv.DictReader(io.StringIO(done.stdout)))
        return row["register"] or f"+{int(row['offset'], 0):#05x}", row["function"].split("+")[0]

    def without_fault(self, boot, profile):
        key = (boot, profile)
        if key not in self.known:
            self.known[key] = {text_of(row) for row in findings(self.diff, "--profile", profile, boot)}
        return self.known[key]

    def fault(self, kind, boot, goods):
        """(found, findings, of these sure ones)"""
        faulty = pathlib.Path(self.folder.name) / "faulty.mmio"
        seed = self.random.getrandbits(63)
        done = run(self.seeder, kind, seed, boot, faulty)
        if done.returncode:
            sys.exit(f"judge: {done.stderr}")
        register, function = self.names(boot, int(done.stdout))
        profile = self.profile(goods)
        before = self.without_fault(boot, profile)
        rows = [row for row in findings(self.diff, "--profile", profile, faulty) if text_of(row) not in before]
        found = any(names(row, register, function) for row in rows)
        if self.tell and (not found or len(rows) > 3):
            print(f"  {'found' if found else 'MISSED'} {kind} {seed} {boot.stem} event {done.stdout.strip()}: {register} {function}; {len(rows)} findings")
            for row in rows[:5]:
                print("     ", text_of(row))
        return found, len(rows), sum(row["tier"] == "sure" for row in rows)

    def faults(self, kind, boots, count):
        targets = self.random.sample(boots, min(10, len(boots)))
        goods = {boot: sorted(self.others(boots, boot, min(GOODS, len(boots) - 1))) for boot in targets}
        results = []
        for i in range(count):
            boot = targets[i % len(targets)]
            results.append(self.fault(kind, boot, goods[boot]))
        found = [result for result in results if result[0]]
        few = sum(findings <= 3 for _, findings, _ in found)
        print(f"fault {kind}: found {share(len(found), count)}; with a sure finding {sum(sure > 0 for _, _, sure in found)}; "
              f"in at most 3 findings {few} of {len(found)}")
        return len(found) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--made", type=int, metavar="N", help="make up N boots first")
    source.add_argument("--record", type=int, metavar="N", help="record N boots first")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--classes", default=",".join(CLASSES))
    parser.add_argument("--tell", action="store_true", help="print what was not found, and what good boots have")
    parser.add_argument("--need", default="", help="CLASS=SHARE,...: less than this share found fails")
    options = parser.parse_args()
    need = needed(options.need, CLASSES)
    if options.made:
        made_boots.make(options.build, options.folder, options.made)
    if options.record:
        real_boots.record(options.build, options.folder, options.record)
    boots = traces_in(options.folder, GOODS + 1)
    judge = Judge(options.build.resolve(), options.seed, options.tell)
    counts = judge.good_boots(boots)
    results = {f"good boots, {GOODS} good": sum(sure > 0 for sure, _ in counts[GOODS]) <= -(-len(boots) // 60),
               "good boots, 1 good": sum(map(sum, counts[1])) <= 2 * len(boots)}
    for kind in options.classes.split(",") if options.faults else []:
        results[f"fault {kind}"] = judge.faults(kind, boots, options.faults) >= need.get(kind, 0)
    return verdict("judge", results)


if __name__ == "__main__":
    sys.exit(main())

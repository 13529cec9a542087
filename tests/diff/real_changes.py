#!/usr/bin/env python3
"""real_changes.py BUILD FOLDER [--seed TEXT] [--faults N] [--need CLASS=SHARE,...] [--changes NAME,...] [--tell]

Judges `mmioscope diff` on real changes of the demo. Each is booted, and compared with five of the good boots FOLDER/*.mmio
(boots.py) that the seed draws. The traces go to FOLDER/changed; what is there is not booted again.

  faults   In each boot one instruction of a module is changed. The seed draws it from the stores that access a device in a
           good boot, and the fault: another register is stored, the store is left out, or it writes four bytes further on.
           A boot that hangs is ended after two minutes. Classes of --need (without: all of them): `named`, a sure finding
           names the function and a register that the store writes without or with the fault, and no group of a whole
           driver's findings; `first`, it is among the first three; `few`, there are at most three.
  none     A module is replaced by itself: no finding names a register and a function of it.
  clock    `max-frequency` of the card's node: Clock and DataTimer, and no other register of the card.
  address  `local-mac-address` of the network card's node: what goes through MAC_CSR_DATA, and of the commands to MAC_CSR_CMD
           those that access ADDRH and ADDRL.
  kernel   6.12 (`make guest-trixie`) for 6.1: the findings of LABELLED, and no other.

The last line is "N passed, N failed", with one for each class of faults and one for each other change. Shares have exact
(Clopper-Pearson) intervals of 95 %.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import module_stores  # noqa: E402
from boots import TREE, boot  # noqa: E402
from findings import findings, names, needed, registers_of, text_of, traces_in, verdict  # noqa: E402
from shares import share  # noqa: E402

GOODS, LIMIT, FEW = 5, 120, 3
GROUPS = ["device", "module", "stopped"]  # kinds of findings that list all of a driver
BUS = "/bus@8000000/motherboard-bus@8000000"
CARD, NETWORK = f"{BUS}/iofpga-bus@300000000/mmc@50000", f"{BUS}/ethernet@202000000"
CHANGES = ["none", "clock", "address", "kernel"]
FAULTS = ["named", "first", "few"]
# What 6.12 does and 6.1 does not, labelled by hand: all of it is real.
LABELLED = {
    ("SYS_FLAGSSET", "vexpress_flags_set"),  # where the second CPU starts: an address in the kernel's code
    ("DataLength", "mmci_start_data"),       # other lengths of reads from the card
    ("Command", "mmci_start_command"),       # no read of a single block (CMD17)
}


class Judge:
    def __init__(self, build, folder, seed, tell):
        self.build, self.program, self.tell = build, build / "mmioscope", tell
        self.random = random.Random(seed)
        self.goods = self.random.sample(traces_in(folder, GOODS), GOODS)
        self.changed = folder / "changed"
        self.changed.mkdir(exist_ok=True)
        self.modules = build / "guest/modules"

    def sure(self, name, **change):
        """The sure findings of a boot with this change, and all."""
        trace = self.changed / f"{name}.mmio"
        if not trace.exists():
            unfinished = trace.with_suffix(".unfinished")
            boot(self.build, unfinished, limit=LIMIT, **change)
            unfinished.rename(trace)
        rows = findings(self.program, "--good", *self.goods, "--", trace)
        sure = [row for row in rows if row["tier"] == "sure"]
        print(f"{name}: {len(sure)} sure findings, {len(rows) - len(sure)} less sure")
        for row in rows if self.tell else sure[:FEW]:
            print("   ", text_of(row))
        return sure, rows

    def ramdisk(self, folder, module, content):
        """The demo's RAM disk, and behind it an archive with another file of the module, which the kernel unpacks over the first."""
        file = folder / "lib/modules" / module
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        done = subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], input=f"lib/modules/{module}\n".encode(), cwd=folder,
                              capture_output=True, check=True)
        original = (self.build / "guest/initrd.img").read_bytes()
        (folder / "initrd.img").write_bytes(original + bytes(-len(original) % 4) + done.stdout)
        return folder / "initrd.img"

    def with_module(self, name, store, word):
        with tempfile.TemporaryDirectory() as folder:
            initrd = self.ramdisk(pathlib.Path(folder), store.file.name, module_stores.module_with(store, word))
            return self.sure(name, initrd=initrd)

    def with_property(self, name, kind, node, *words):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder) / TREE
            tree.write_bytes((self.build / "guest" / TREE).read_bytes())
            subprocess.run(["fdtput", "-t", kind, tree, node, *words], check=True)
            return self.sure(name, tree=tree)

    def faults(self, count):
        """The shares of faults by class."""
        stores = module_stores.stores_of(self.program, self.goods[0], self.modules)
        population = [(store, fault) for store in stores for fault in module_stores.FAULTS]
        print(f"faults: {count} of {len(population)}, at {len(stores)} stores in {len({store.file for store in stores})} modules")
        results = []
        for store, fault in self.random.sample(population, count):
            word = module_stores.changed(store.word, fault, self.random)
            name = f"{store.function}+{store.offset:#x}-{word:08x}"
            print(f"fault: {store.file.name}: {', '.join(sorted(store.registers))}: {fault}: "
                  f"{module_stores.text_of(store.word)} -> {module_stores.text_of(word)}")
            sure, _ = self.with_module(name, store, word)
            now = module_stores.written_by_modules(self.program, self.changed / f"{name}.mmio")
            rank = named(store.function, store.registers | now[store.module, store.function, store.offset], sure)
            print(f"    named by finding {rank}" if rank else "    NOT NAMED")
            results.append({"named": rank > 0, "first": 0 < rank <= FEW, "few": rank > 0 and len(sure) <= FEW})
        shares = {}
        for what in FAULTS:
            good = sum(result[what] for result in results)
            print(f"faults {what}: {share(good, count)}")
            shares[what] = good / count
        return shares

    def none(self):
        first, *_ = stores = module_stores.stores_of(self.program, self.goods[0], self.modules)
        sure, _ = self.with_module("none", first, first.word)
        return not any(named(store.function, store.registers, sure) for store in stores if store.module == first.module)

    def clock(self):
        sure, rows = self.with_property("clock", "u", CARD, "max-frequency", "6000000")
        return registers(sure) == {"Clock", "DataTimer"} == registers(row for row in rows if row["device"].startswith("mmc@"))

    def address(self):
        sure, _ = self.with_property("address", "bx", NETWORK, "local-mac-address", *"02 12 34 56 78 9a".split())
        commands = {match for row in sure for match in re.findall(r"CSR_Address=(\w+)", row["difference"])}
        return registers(sure) == {"MAC_CSR_DATA", "MAC_CSR_CMD"} and commands == {"ADDRH", "ADDRL"}

    def kernel(self):
        sure, _ = self.sure("kernel", guest=self.build / "guest-trixie")
        found = {(register, row["function"].split(" ")[0]) for row in sure for register in registers_of(row)}
        return found == LABELLED


def named(function, registers, rows):
    """The number of the first finding that names the function and one of the registers, or 0."""
    return next((i for i, row in enumerate(rows, 1)
                 if row["kind"] not in GROUPS and any(names(row, register, function) for register in registers)), 0)


def registers(rows):
    return {register for row in rows for register in registers_of(row)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--faults", type=int, default=10)
    parser.add_argument("--need", default="", help="CLASS=SHARE,...: less than this share fails")
    parser.add_argument("--changes", default=",".join(CHANGES))
    parser.add_argument("--tell", action="store_true", help="print every finding")
    options = parser.parse_args()
    need = needed(options.need, FAULTS)
    judge = Judge(options.build.resolve(), options.folder, options.seed, options.tell)
    results = {}
    for what, found in (judge.faults(options.faults) if options.faults else {}).items():
        results[f"faults {what}"] = found >= need.get(what, 1)
    for change in filter(None, options.changes.split(",")):
        results[change] = getattr(judge, change)()
    return verdict("real_changes", results)


if __name__ == "__main__":
    sys.exit(main())

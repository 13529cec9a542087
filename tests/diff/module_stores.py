"""Stores of kernel modules to devices, and modules in which one such store is changed.

Linux' accessors are `str Rt, [Rn, #offset]` in ARM state (A8.8.204, encoding A1) on Debian's kernels; another instruction
at such a place ends the program.
"""
import collections
import csv
import io
import re
import sys

from findings import run

FAULTS = ["another register", "left out", "another offset"]
STORE, STORE_BITS = 0xE5800000, 0xFFF00000  # always, a word, P=1, U=1, W=0
NOP = 0xE320F000
SIGNED = b"~Module signature appended~\n"

# offset: in the function; place: in the module's file
Store = collections.namedtuple("Store", "module function offset registers file place word")


def functions_of(file):
    """Where the functions of a module begin in its file, by name."""
    found = collections.defaultdict(list)
    for line in run("arm-none-eabi-objdump", "-d", "-F", file).stdout.splitlines():
        if match := re.fullmatch(r"[0-9a-f]+ <(.*)> \(File Offset: (0x[0-9a-f]+)\):", line):
            found[match[1]].append(int(match[2], 0))
    return found


def written_by_modules(program, trace):
    """The registers that each place of a module's code writes in a trace, by module, function and place in the function."""
    written = collections.defaultdict(set)
    for row in csv.DictReader(io.StringIO(run(program, "print", "--format", "csv", "-F", "w", trace).stdout)):
        if match := re.fullmatch(r"(\S+)\+(0x[0-9a-f]+) \[(\S+)\]", row["function"]):
            written[match[3], match[1], int(match[2], 0)].add(row["register"] or f"+{int(row['offset'], 0):#05x}")
    return written


def stores_of(program, trace, modules):
    """The stores of modules in a trace; MODULES is the folder of the modules' files."""
    stores, functions = [], {}
    for (module, function, offset), registers in sorted(written_by_modules(program, trace).items()):
        [file] = modules.rglob(re.sub("[-_]", "[-_]", module) + ".ko")
        if file not in functions:
            functions[file] = functions_of(file)
        [start] = functions[file][function]
        place = start + offset
        word = int.from_bytes(file.read_bytes()[place:place + 4], "little")
        if word & STORE_BITS != STORE:
            sys.exit(f"judge: {file.name}: {word:#010x} at {function}+{offset:#x} is no str Rt, [Rn, #offset]")
        stores.append(Store(module, function, offset, registers, file, place, word))
    return stores


def changed(word, fault, chance):
    """A store's instruction with the fault."""
    source = word >> 12 & 15
    return {"another register": word & ~0xF000 | chance.choice([r for r in range(13) if r != source]) << 12,
            "left out": NOP,
            "another offset": word + 4}[fault]


def module_with(store, word):
    """The bytes of the store's module with this instruction in its place, and without its signature, which the kernel would
    refuse with the module. A module without one is loaded."""
    content = store.file.read_bytes()
    if content.endswith(SIGNED):  # the signature, 12 bytes whose last 4 are its length, this text
        length = int.from_bytes(content[-len(SIGNED) - 4:-len(SIGNED)], "big")
        content = content[:-len(SIGNED) - 12 - length]
    return content[:store.place] + word.to_bytes(4, "little") + content[store.place + 4:]


def text_of(word):
    if word == NOP:
        return "nop"
    return f"str r{word >> 12 & 15}, [r{word >> 16 & 15}, #{word & 0xFFF}]"

#!/usr/bin/env python3
"""Finds the row of the manual's tables for each assembled case: coverage.py CASES.bin

The rows are found from the encodings, not from the generator's intentions. Prints the table with the cases of each
row, and counts. Exit status 1 if a row has no case, or a case no row."""
import struct
import sys
from collections import Counter

from case import THUMB
from generate import CODE_SIZE, NAME_SIZE
from rows import ROWS, row_of

ENTRY = struct.Struct(f"<{NAME_SIZE}s22I8B{CODE_SIZE}s")


def encoding(words, before, length, code):
    text = code[before:before + length]
    if not words[15] & THUMB:
        return "arm", int.from_bytes(text, "little")
    halfwords = struct.unpack(f"<{length // 2}H", text)
    return ("thumb16", halfwords[0]) if length == 2 else ("thumb32", halfwords[0] << 16 | halfwords[1])


def classify(image):
    for raw in ENTRY.iter_unpack(image):
        kind, word = encoding(raw[1:23], raw[24], raw[25], raw[31])
        yield raw[0].rstrip(b"\0").decode(), kind, word, row_of(kind, word)


def main():
    with open(sys.argv[1], "rb") as file:
        cases = list(classify(file.read()))
    count = Counter((kind, row) for _, kind, _, row in cases)
    everything = [(kind, row) for kind, rows in ROWS.items() for row in rows]
    for kind, row in everything:
        section, name, pattern = row
        print(f"{count[kind, row]:5} {kind:8} {section:9} {name:34} {' '.join(pattern.split())}")
    bad = [f"{kind} {row[0]} {row[1]}: no case" for kind, row in everything if not count[kind, row]]
    bad += [f"{name}: {word:#x} ({kind}) is of no row" for name, kind, word, row in cases if not row]
    print("\n".join(bad + [f"coverage: {len(cases)} cases in {len(everything)} rows, "
                           f"{len(bad)} without"]))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Reads SVD files a second time, and compares every register with what the library reads.

Usage: tests/svd/svd.py BUILD [FOLDER...] [--files N] [--seed TEXT] [--refused N]

Shares no code with host-tools/registers/: this reader follows the CMSIS-SVD schema with Python's
own XML parser. Without a FOLDER it reads tests/svd/*.svd. Of a FOLDER, such as a clone of
cmsis-svd-data, it compares N files (default 40) that SEED draws, and has the library read all of
them: at most --refused (default 2) may be refused, each with its reason. Last line: N passed, N
failed.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET


def line(text):
    return " ".join((text or "").split())


def number(text):
    """(value, don't-care bits) or None."""
    text = line(text)
    if match := re.fullmatch(r"\+?(?:#|0[bB])([01xX]+)", text):
        bits = match[1].lower()
        return int(bits.replace("x", "0"), 2), int("".join("1" if b == "x" else "0" for b in bits), 2)
    if re.fullmatch(r"\+?0[xX][0-9a-fA-F]+", text):
        return int(text, 16), 0
    if re.fullmatch(r"\+?[0-9]+", text):
        return int(text), 0
    return None


def plain(text):
    value = number(text)
    if value is None or value[1]:
        raise ValueError(text)
    return value[0]


KINDS = ("peripheral", "cluster", "register", "field")


class File:
    def __init__(self, path):
        self.root = ET.parse(path).getroot()
        self.parent = {child: node for node in self.root.iter() for child in node}

    # What derives from what.

    def base(self, node):
        path = node.get("derivedFrom")
        if not path:
            return None
        scope = self.parent.get(node)
        while scope is not None:
            found = self.look(scope, node.tag, path.split("."))
            if found is not None and found is not node:
                return found
            scope = self.parent.get(scope)
        return None

    def members(self, scope):
        for child in scope:
            if child.tag in ("registers", "fields"):
                yield from child
            else:
                yield child

    def look(self, scope, kind, path):
        for name in path[:-1]:
            scope = next((m for k in KINDS for m in self.members(scope)
                          if m.tag == k and self.is_called(m, name)), None)
            if scope is None:
                return None
        if kind == "enumeratedValues":
            lists = [n for n in scope.iter("enumeratedValues")]
            named = [n for n in lists if line(n.findtext("name")) == path[-1]]
            of_field = [n for n in lists if line(self.parent[n].findtext("name")) == path[-1]]
            return (named + of_field + [None])[0]
        own = [m for m in self.members(scope) if m.tag == kind]
        exact = [m for m in own if line(m.findtext("name")) == path[-1]]
        return (exact + [m for m in own if self.is_called(m, path[-1])] + [None])[0]

    def is_called(self, node, name):
        own = line(node.findtext("name"))
        if own == name:
            return True
        if "%s" not in own:
            return False
        before, behind = own.replace("[%s]", "%s").split("%s", 1)
        return re.fullmatch(re.escape(before) + "[0-9A-Za-z]{1,8}" + re.escape(behind), name) is not None

    def line_of(self, node):
        found = []
        while node is not None and len(found) < 9:
            found.append(node)
            node = self.base(node)
        return found

    def text(self, node, tag):
        return next((line(n.findtext(tag)) for n in self.line_of(node) if n.find(tag) is not None), "")

    def inherited(self, node, tag):
        while node is not None:
            if found := self.text(node, tag):
                return found
            node = self.parent.get(node)
        return ""

    def children(self, node, inside, kinds):
        lists = [list(n if inside is None else n.find(inside) if n.find(inside) is not None else [])
                 for n in reversed(self.line_of(node))]
        found = [c for of in lists for c in of if c.tag in kinds]
        if len(lists) == 1:
            return found
        last = {}
        for child in found:
            last[line(child.findtext("name"))] = child
        return list(last.values())

    # What there is.

    def places(self, node):
        """[(name, distance)] of an element or of each element of an array."""
        name = line(node.findtext("name"))
        dim = self.text(node, "dim")
        if not dim or "%s" not in name:
            return [(name, 0)]
        count, step = plain(dim), plain(self.text(node, "dimIncrement"))
        index = self.text(node, "dimIndex")
        first, labels = 0, []
        if match := re.fullmatch(r"([0-9]+)-([0-9]+)", index):
            first = int(match[1])
        elif match := re.fullmatch(r"([A-Za-z])-([A-Za-z])", index):
            labels = [chr(c) for c in range(ord(match[1]), ord(match[2]) + 1)]
        elif index:
            labels = [line(part) for part in index.split(",")]
        before, behind = name.replace("[%s]", "%s").split("%s", 1)
        return [(before + (labels[i] if i < len(labels) else str(first + i)) + behind, i * step)
                for i in range(count)]

    def lists_of(self, field):
        for node in self.line_of(field):
            if own := node.findall("enumeratedValues"):
                return own
        return []

    def values(self, field, write):
        exact, patterns = [], []
        for of in self.lists_of(field):
            usage = self.text(of, "usage") or "read-write"
            if usage not in ("read-write", "write" if write else "read"):
                continue
            patterns_here = []
            for value in self.children(of, None, ("enumeratedValue",)):
                name, text = line(value.findtext("name")), self.text(value, "value")
                if not name or not text or (read := number(text)) is None:
                    continue
                if read[1] == 0:
                    exact.append((read[0], name))
                elif bin(read[1]).count("1") <= 8:
                    patterns_here.append((read, name))
            patterns += patterns_here
        named = {}
        for value, name in exact:
            named.setdefault(value, name)
        for (value, any_bits), name in patterns:
            bits = 0
            while True:
                named.setdefault(value | bits, name)
                bits = (bits - any_bits) & any_bits
                if bits == 0:
                    break
        return "".join(f" {value:#x}={named[value]}" for value in sorted(named))

    def bits(self, field):
        if text := self.text(field, "bitRange"):
            high, low = re.fullmatch(r"\[(\w+):(\w+)\]", text).groups()
            return plain(low), plain(high)
        if text := self.text(field, "lsb"):
            return plain(text), plain(self.text(field, "msb"))
        low = plain(self.text(field, "bitOffset"))
        return low, low + plain(self.text(field, "bitWidth") or "1") - 1

    def fields(self, register, size, write):
        found = []
        for field in self.children(register, "fields", ("field",)):
            try:
                low, high = self.bits(field)
                for name, distance in self.places(field):
                    if low <= high and high + distance < size * 8:
                        found.append(f" {low + distance} {high - low + 1} {name}" + self.values(field, write))
            except (AttributeError, ValueError):
                pass  # the library leaves it out, too
        return found

    def registers(self, nodes, address, prefix):
        for node in nodes:
            offset = plain(self.text(node, "addressOffset"))
            for name, distance in self.places(node):
                at = address + offset + distance
                if node.tag == "cluster":
                    yield from self.registers(self.children(node, None, ("register", "cluster")), at,
                                              prefix + name + "_")
                    continue
                size = (plain(self.inherited(node, "size") or "32") + 7) // 8
                access = self.inherited(node, "access")
                for write in (False, True):
                    if access == "read-only" and write or access in ("write-only", "writeOnce") and not write:
                        continue
                    yield (f"{at:#x} {prefix}{name} {size} {'w' if write else 'r'}",
                           tuple(sorted(self.fields(node, size, write))))

    def all(self):
        for peripheral in self.root.find("peripherals"):
            if peripheral.tag != "peripheral":
                continue
            address = plain(self.text(peripheral, "baseAddress"))
            nodes = self.children(peripheral, "registers", ("register", "cluster"))
            for name, distance in self.places(peripheral):
                yield from self.registers(nodes, address + distance, name + ".")


def library(dump, path):
    """(refused or None, registers)"""
    output = subprocess.run([dump, path], capture_output=True, text=True, check=True, timeout=120).stdout
    head, *rest = output.split("\n")[:-1]
    if match := re.search(r" refused (.*)", head):
        return match[1], []
    found = []
    for text in rest:
        if text.startswith(" "):
            found[-1][1].append(text)
        else:
            found.append((text, []))
    return None, [(text, tuple(sorted(fields))) for text, fields in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--refused", type=int, default=2)
    options = parser.parse_args()
    here = pathlib.Path(__file__).parent
    dump = f"{options.build}/tests/svd-dump"
    paths = sorted(p for f in options.folders or [here] for p in pathlib.Path(f).rglob("*")
                   if p.suffix.lower() == ".svd")
    drawn = set(random.Random(options.seed).sample(paths, min(options.files, len(paths))))
    passed, failed, refused = 0, 0, 0
    for path in paths:
        if path not in drawn and not options.folders:
            continue
        reason, registers = library(dump, path)
        if reason:
            refused += 1
            print(f"refused: {reason}")
        if path not in drawn or reason:
            continue
        expected, got = sorted(File(path).all()), sorted(registers)
        if expected == got and got:
            passed += 1
            continue
        failed += 1
        print(f"FAILED {path}: {len(expected)} registers and directions, the library has {len(got)}")
        for text in [e for e in expected if e not in set(got)][:3]:
            print(f"  expected {text}")
        for text in [g for g in got if g not in set(expected)][:3]:
            print(f"  the library has {text}")
    if refused > options.refused:
        failed += 1
        print(f"FAILED {refused} of {len(paths)} files are refused")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Makes the cases: assembly for the guest, and the expected results of each for judge.py.

generate.py OUT.S OUT.tsv [--seed N] [--extra N] [--few N] [--crossings N] [--only REGEX] [--without REGEX]
    [--show]"""
import argparse
import random
import re

import arm
import crossings
import thumb
import vector
from case import MODES
from variants import cases_of

NAME_SIZE, CODE_SIZE = 40, 20
INTERRUPTIBLE, SHOW = 1, 2
HEADER = """\
@ Generated. Each case is a struct Case of cases.hpp; the instructions are the assembler's encodings.
    .syntax unified
    .arch armv7ve
    .arch_extension sec
    .fpu neon-vfpv4
    .section .rodata.cases, "a"
    .balign 4
    .global cases_begin, cases_end
cases_begin:
"""


def entry(case, show):
    assert len(case.name) < NAME_SIZE, case.name
    flags = (INTERRUPTIBLE if case.interruptible else 0) | (SHOW if show else 0)
    offset, plant = case.plant
    words = [*case.registers, case.cpsr, case.spsr, case.user_sp, case.target, case.slot,
             *(plant + [0, 0])[:2]]
    code = [f"{line}" for line in case.before]
    return "\n".join([
        "    .arm",
        f'    .ascii "{case.name}"\n    .space {NAME_SIZE - len(case.name)}',
        "    .word " + ", ".join(f"{w:#x}" for w in words),
        f"    .byte {case.length}, 2f - 1f, 3f - 2f, {flags}, {offset}, {len(plant)}, 0, 0",
        f"    .{case.form.isa}", "1:", *code, "2:", case.text, "3:",
        f"    .space {CODE_SIZE} - (3b - 1b)", ""])


def expectation(case):
    spans = ",".join(f"{address:#x}+{length}" for address, length in case.spans)
    level = "PL0" if case.cpsr & 0x1f == MODES["usr"] else "PL1"
    return "\t".join([case.name, case.outcome, f"{case.slot:#x}", case.form.op or "-",
                      spans or "-", case.exempt or "-", level, case.text])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assembly")
    parser.add_argument("expectations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--extra", type=int, default=4, help="variants of a form beyond the plain")
    parser.add_argument("--few", type=int, default=2, help="of a form that is one of many alike")
    parser.add_argument("--crossings", type=int, default=300, help="sequences of accesses over two pages")
    parser.add_argument("--only", default="", help="cases whose name matches")
    parser.add_argument("--without", action="append", default=[],
                        help="no cases whose name matches")
    parser.add_argument("--show", action="store_true", help="the guest prints whole states")
    arguments = parser.parse_args()
    forms = [*arm.forms(), *thumb.forms(), *vector.forms("arm"), *vector.forms("thumb")]
    cases = cases_of(forms, random.Random(arguments.seed), arguments.extra, arguments.few)
    cases += crossings.cases_of(forms, random.Random(~arguments.seed), arguments.crossings)
    cases = [case for case in cases if re.search(arguments.only, case.name)
             and not any(re.search(text, case.name) for text in arguments.without)]
    with open(arguments.assembly, "w", encoding="ascii") as out:
        out.write(HEADER)
        for case in cases:
            out.write(entry(case, arguments.show))
        out.write("    .arm\ncases_end:\n")
    with open(arguments.expectations, "w", encoding="ascii") as out:
        out.writelines(expectation(case) + "\n" for case in cases)


if __name__ == "__main__":
    main()

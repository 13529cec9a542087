"""The load and store rows of the encoding tables of DDI 0406C, chapters A5, A6 and A7.

A row is (section, name, pattern). In a pattern 0 and 1 are fixed bits, `c` is a condition (not
1111), any other letter is free; blanks only group. The first row that matches an encoding is its
row, so LDR (literal) precedes LDR (immediate), as in the manual's "Rn is not 1111". 32-bit Thumb
patterns have their first halfword first."""

ARM = [
    # A5.2.8 Extra load/store instructions, with A5.2.9 (P=0, W=1: unprivileged) before it.
    ("A5.2.9", "STRHT", "cccc 0000 ux10 nnnn tttt xxxx 1011 xxxx"),
    ("A5.2.9", "LDRHT", "cccc 0000 ux11 nnnn tttt xxxx 1011 xxxx"),
    ("A5.2.9", "LDRSBT", "cccc 0000 ux11 nnnn tttt xxxx 1101 xxxx"),
    ("A5.2.9", "LDRSHT", "cccc 0000 ux11 nnnn tttt xxxx 1111 xxxx"),
    ("A5.2.8", "STRH (register)", "cccc 000p u0w0 nnnn tttt 0000 1011 mmmm"),
    ("A5.2.8", "LDRH (register)", "cccc 000p u0w1 nnnn tttt 0000 1011 mmmm"),
    ("A5.2.8", "STRH (immediate)", "cccc 000p u1w0 nnnn tttt iiii 1011 iiii"),
    ("A5.2.8", "LDRH (literal)", "cccc 000p u1w1 1111 tttt iiii 1011 iiii"),
    ("A5.2.8", "LDRH (immediate)", "cccc 000p u1w1 nnnn tttt iiii 1011 iiii"),
    ("A5.2.8", "LDRD (register)", "cccc 000p u0w0 nnnn tttt 0000 1101 mmmm"),
    ("A5.2.8", "LDRSB (register)", "cccc 000p u0w1 nnnn tttt 0000 1101 mmmm"),
    ("A5.2.8", "LDRD (literal)", "cccc 000p u1w0 1111 tttt iiii 1101 iiii"),
    ("A5.2.8", "LDRD (immediate)", "cccc 000p u1w0 nnnn tttt iiii 1101 iiii"),
    ("A5.2.8", "LDRSB (literal)", "cccc 000p u1w1 1111 tttt iiii 1101 iiii"),
    ("A5.2.8", "LDRSB (immediate)", "cccc 000p u1w1 nnnn tttt iiii 1101 iiii"),
    ("A5.2.8", "STRD (register)", "cccc 000p u0w0 nnnn tttt 0000 1111 mmmm"),
    ("A5.2.8", "LDRSH (register)", "cccc 000p u0w1 nnnn tttt 0000 1111 mmmm"),
    ("A5.2.8", "STRD (immediate)", "cccc 000p u1w0 nnnn tttt iiii 1111 iiii"),
    ("A5.2.8", "LDRSH (literal)", "cccc 000p u1w1 1111 tttt iiii 1111 iiii"),
    ("A5.2.8", "LDRSH (immediate)", "cccc 000p u1w1 nnnn tttt iiii 1111 iiii"),
    ("A5.2.10", "SWP", "cccc 0001 0000 nnnn tttt 0000 1001 mmmm"),
    ("A5.2.10", "SWPB", "cccc 0001 0100 nnnn tttt 0000 1001 mmmm"),
    ("A5.2.10", "STREX", "cccc 0001 1000 nnnn dddd 1111 1001 tttt"),
    ("A5.2.10", "LDREX", "cccc 0001 1001 nnnn tttt 1111 1001 1111"),
    ("A5.2.10", "STREXD", "cccc 0001 1010 nnnn dddd 1111 1001 tttt"),
    ("A5.2.10", "LDREXD", "cccc 0001 1011 nnnn tttt 1111 1001 1111"),
    ("A5.2.10", "STREXB", "cccc 0001 1100 nnnn dddd 1111 1001 tttt"),
    ("A5.2.10", "LDREXB", "cccc 0001 1101 nnnn tttt 1111 1001 1111"),
    ("A5.2.10", "STREXH", "cccc 0001 1110 nnnn dddd 1111 1001 tttt"),
    ("A5.2.10", "LDREXH", "cccc 0001 1111 nnnn tttt 1111 1001 1111"),
    # A5.3 Load/store word and unsigned byte.
    ("A5.3", "STRT, A1", "cccc 0100 u010 nnnn tttt iiii iiii iiii"),
    ("A5.3", "LDRT, A1", "cccc 0100 u011 nnnn tttt iiii iiii iiii"),
    ("A5.3", "STRBT, A1", "cccc 0100 u110 nnnn tttt iiii iiii iiii"),
    ("A5.3", "LDRBT, A1", "cccc 0100 u111 nnnn tttt iiii iiii iiii"),
    ("A5.3", "STRT, A2", "cccc 0110 u010 nnnn tttt iiii iss0 mmmm"),
    ("A5.3", "LDRT, A2", "cccc 0110 u011 nnnn tttt iiii iss0 mmmm"),
    ("A5.3", "STRBT, A2", "cccc 0110 u110 nnnn tttt iiii iss0 mmmm"),
    ("A5.3", "LDRBT, A2", "cccc 0110 u111 nnnn tttt iiii iss0 mmmm"),
    ("A8.8.133", "PUSH, one register", "cccc 0101 0010 1101 tttt 0000 0000 0100"),
    ("A8.8.131", "POP, one register", "cccc 0100 1001 1101 tttt 0000 0000 0100"),
    ("A5.3", "STR (immediate)", "cccc 010p u0w0 nnnn tttt iiii iiii iiii"),
    ("A5.3", "STR (register)", "cccc 011p u0w0 nnnn tttt iiii iss0 mmmm"),
    ("A5.3", "LDR (literal)", "cccc 010p u0w1 1111 tttt iiii iiii iiii"),
    ("A5.3", "LDR (immediate)", "cccc 010p u0w1 nnnn tttt iiii iiii iiii"),
    ("A5.3", "LDR (register)", "cccc 011p u0w1 nnnn tttt iiii iss0 mmmm"),
    ("A5.3", "STRB (immediate)", "cccc 010p u1w0 nnnn tttt iiii iiii iiii"),
    ("A5.3", "STRB (register)", "cccc 011p u1w0 nnnn tttt iiii iss0 mmmm"),
    ("A5.3", "LDRB (literal)", "cccc 010p u1w1 1111 tttt iiii iiii iiii"),
    ("A5.3", "LDRB (immediate)", "cccc 010p u1w1 nnnn tttt iiii iiii iiii"),
    ("A5.3", "LDRB (register)", "cccc 011p u1w1 nnnn tttt iiii iss0 mmmm"),
    # A5.5 Branch, branch with link, and block data transfer.
    ("A5.5", "STMDA", "cccc 1000 00w0 nnnn rrrr rrrr rrrr rrrr"),
    ("A5.5", "LDMDA", "cccc 1000 00w1 nnnn rrrr rrrr rrrr rrrr"),
    ("A5.5", "STM", "cccc 1000 10w0 nnnn rrrr rrrr rrrr rrrr"),
    ("A5.5", "POP", "cccc 1000 1011 1101 rrrr rrrr rrrr rrrr"),
    ("A5.5", "LDM", "cccc 1000 10w1 nnnn rrrr rrrr rrrr rrrr"),
    ("A5.5", "PUSH", "cccc 1001 0010 1101 rrrr rrrr rrrr rrrr"),
    ("A5.5", "STMDB", "cccc 1001 00w0 nnnn rrrr rrrr rrrr rrrr"),
    ("A5.5", "LDMDB", "cccc 1001 00w1 nnnn rrrr rrrr rrrr rrrr"),
    ("A5.5", "STMIB", "cccc 1001 10w0 nnnn rrrr rrrr rrrr rrrr"),
    ("A5.5", "LDMIB", "cccc 1001 10w1 nnnn rrrr rrrr rrrr rrrr"),
    ("A5.5", "STM (user registers)", "cccc 100p u1w0 nnnn rrrr rrrr rrrr rrrr"),
    ("A5.5", "LDM (exception return)", "cccc 100p u1w1 nnnn 1rrr rrrr rrrr rrrr"),
    ("A5.5", "LDM (user registers)", "cccc 100p u1w1 nnnn 0rrr rrrr rrrr rrrr"),
    # A5.7 Unconditional instructions, A5.7.1 among them.
    ("A5.7", "SRS", "1111 100p u1w0 1101 0000 0101 000m mmmm"),
    ("A5.7", "RFE", "1111 100p u0w1 nnnn 0000 1010 0000 0000"),
    ("A5.7.1", "PLI (immediate, literal)", "1111 0100 u101 nnnn 1111 iiii iiii iiii"),
    ("A5.7.1", "PLI (register)", "1111 0110 u101 nnnn 1111 iiii iss0 mmmm"),
    ("A5.7.1", "PLDW (immediate)", "1111 0101 u001 nnnn 1111 iiii iiii iiii"),
    ("A5.7.1", "PLD (literal)", "1111 0101 u101 1111 1111 iiii iiii iiii"),
    ("A5.7.1", "PLD (immediate)", "1111 0101 u101 nnnn 1111 iiii iiii iiii"),
    ("A5.7.1", "PLD, PLDW (register)", "1111 0111 ux01 nnnn 1111 iiii iss0 mmmm"),
]

THUMB16 = [
    ("A6.2", "LDR (literal), T1", "01001 ttt iiiiiiii"),
    ("A6.2.4", "STR (register)", "0101 000 mmm nnn ttt"),
    ("A6.2.4", "STRH (register)", "0101 001 mmm nnn ttt"),
    ("A6.2.4", "STRB (register)", "0101 010 mmm nnn ttt"),
    ("A6.2.4", "LDRSB (register)", "0101 011 mmm nnn ttt"),
    ("A6.2.4", "LDR (register)", "0101 100 mmm nnn ttt"),
    ("A6.2.4", "LDRH (register)", "0101 101 mmm nnn ttt"),
    ("A6.2.4", "LDRB (register)", "0101 110 mmm nnn ttt"),
    ("A6.2.4", "LDRSH (register)", "0101 111 mmm nnn ttt"),
    ("A6.2.4", "STR (immediate)", "0110 0iiiii nnn ttt"),
    ("A6.2.4", "LDR (immediate)", "0110 1iiiii nnn ttt"),
    ("A6.2.4", "STRB (immediate)", "0111 0iiiii nnn ttt"),
    ("A6.2.4", "LDRB (immediate)", "0111 1iiiii nnn ttt"),
    ("A6.2.4", "STRH (immediate)", "1000 0iiiii nnn ttt"),
    ("A6.2.4", "LDRH (immediate)", "1000 1iiiii nnn ttt"),
    ("A6.2.4", "STR (immediate), SP", "1001 0ttt iiiiiiii"),
    ("A6.2.4", "LDR (immediate), SP", "1001 1ttt iiiiiiii"),
    ("A6.2.5", "PUSH", "1011 010m rrrrrrrr"),
    ("A6.2.5", "POP", "1011 110p rrrrrrrr"),
    ("A6.2", "STM", "1100 0nnn rrrrrrrr"),
    ("A6.2", "LDM", "1100 1nnn rrrrrrrr"),
]


def _sized(section, size, name, load):
    """The rows of one size in A6.3.7 to A6.3.10: bits 8 (sign), 6:5 (size) and 4 (load)."""
    sign = "1" if name.startswith("LDRS") else "0"
    head = f"1111100 {sign} "
    tail = f" {size}{load} "
    rows = []
    if load == "1":
        rows.append((section, f"{name} (literal)", f"{head}u{tail}1111 tttt iiii iiii iiii"))
    rows += [
        (section, f"{name} (register)", f"{head}0{tail}nnnn tttt 000000 ii mmmm"),
        (section, f"{name}T", f"{head}0{tail}nnnn tttt 1110 iiii iiii"),
        (section, f"{name} (immediate), 8 bits", f"{head}0{tail}nnnn tttt 1puw iiii iiii"),
        (section, f"{name} (immediate), 12 bits", f"{head}1{tail}nnnn tttt iiii iiii iiii"),
    ]
    return rows


THUMB32 = [
    # A6.3.5 Load/store multiple.
    ("A6.3.5", "SRS, decrement", "1110 1000 00w0 1101 1100 0000 000m mmmm"),
    ("A6.3.5", "RFE, decrement", "1110 1000 00w1 nnnn 1100 0000 0000 0000"),
    ("A6.3.5", "STM", "1110 1000 10w0 nnnn 0m0r rrrr rrrr rrrr"),
    ("A6.3.5", "POP", "1110 1000 1011 1101 pm0r rrrr rrrr rrrr"),
    ("A6.3.5", "LDM", "1110 1000 10w1 nnnn pm0r rrrr rrrr rrrr"),
    ("A6.3.5", "PUSH", "1110 1001 0010 1101 0m0r rrrr rrrr rrrr"),
    ("A6.3.5", "STMDB", "1110 1001 00w0 nnnn 0m0r rrrr rrrr rrrr"),
    ("A6.3.5", "LDMDB", "1110 1001 00w1 nnnn pm0r rrrr rrrr rrrr"),
    ("A6.3.5", "SRS, increment", "1110 1001 10w0 1101 1100 0000 000m mmmm"),
    ("A6.3.5", "RFE, increment", "1110 1001 10w1 nnnn 1100 0000 0000 0000"),
    # A6.3.6 Load/store dual, load/store exclusive, table branch.
    ("A6.3.6", "STREX", "1110 1000 0100 nnnn tttt dddd iiii iiii"),
    ("A6.3.6", "LDREX", "1110 1000 0101 nnnn tttt 1111 iiii iiii"),
    ("A6.3.6", "STREXB", "1110 1000 1100 nnnn tttt 1111 0100 dddd"),
    ("A6.3.6", "STREXH", "1110 1000 1100 nnnn tttt 1111 0101 dddd"),
    ("A6.3.6", "STREXD", "1110 1000 1100 nnnn tttt uuuu 0111 dddd"),
    ("A6.3.6", "TBB", "1110 1000 1101 nnnn 1111 0000 0000 mmmm"),
    ("A6.3.6", "TBH", "1110 1000 1101 nnnn 1111 0000 0001 mmmm"),
    ("A6.3.6", "LDREXB", "1110 1000 1101 nnnn tttt 1111 0100 1111"),
    ("A6.3.6", "LDREXH", "1110 1000 1101 nnnn tttt 1111 0101 1111"),
    ("A6.3.6", "LDREXD", "1110 1000 1101 nnnn tttt uuuu 0111 1111"),
    ("A6.3.6", "STRD (immediate)", "1110 100p u1w0 nnnn tttt uuuu iiii iiii"),
    ("A6.3.6", "LDRD (literal)", "1110 100p u1w1 1111 tttt uuuu iiii iiii"),
    ("A6.3.6", "LDRD (immediate)", "1110 100p u1w1 nnnn tttt uuuu iiii iiii"),
    # Hints are at encodings with Rt 1111: before the loads of A6.3.8 and A6.3.9.
    ("A6.3.8", "PLDW (register)", "1111 1000 0011 nnnn 1111 0000 00ii mmmm"),
    ("A6.3.8", "PLDW (immediate), 8 bits", "1111 1000 0011 nnnn 1111 1100 iiii iiii"),
    ("A6.3.8", "PLDW (immediate), 12 bits", "1111 1000 1011 nnnn 1111 iiii iiii iiii"),
    ("A6.3.9", "PLD (literal)", "1111 1000 u001 1111 1111 iiii iiii iiii"),
    ("A6.3.9", "PLD (register)", "1111 1000 0001 nnnn 1111 0000 00ii mmmm"),
    ("A6.3.9", "PLD (immediate), 8 bits", "1111 1000 0001 nnnn 1111 1100 iiii iiii"),
    ("A6.3.9", "PLD (immediate), 12 bits", "1111 1000 1001 nnnn 1111 iiii iiii iiii"),
    ("A6.3.9", "PLI (literal)", "1111 1001 u001 1111 1111 iiii iiii iiii"),
    ("A6.3.9", "PLI (register)", "1111 1001 0001 nnnn 1111 0000 00ii mmmm"),
    ("A6.3.9", "PLI (immediate), 8 bits", "1111 1001 0001 nnnn 1111 1100 iiii iiii"),
    ("A6.3.9", "PLI (immediate), 12 bits", "1111 1001 1001 nnnn 1111 iiii iiii iiii"),
    *_sized("A6.3.7", "10", "LDR", "1"),
    *_sized("A6.3.8", "01", "LDRH", "1"),
    *_sized("A6.3.8", "01", "LDRSH", "1"),
    *_sized("A6.3.9", "00", "LDRB", "1"),
    *_sized("A6.3.9", "00", "LDRSB", "1"),
    *_sized("A6.3.10", "00", "STRB", "0"),
    *_sized("A6.3.10", "01", "STRH", "0"),
    *_sized("A6.3.10", "10", "STR", "0"),
]

# A7.6 Extension register load/store: bits 24:20 are P U D W L, after 110 in both instruction sets.
_EXTENSION = [
    ("A7.6", "VSTM, increment", "01x00"), ("A7.6", "VLDM, increment", "01x01"),
    ("A7.6", "VSTM, increment, writeback", "01x10"), ("A7.6", "VPOP", "01x11 1101"),
    ("A7.6", "VLDM, increment, writeback", "01x11"), ("A7.6", "VSTR", "1ux00"),
    ("A7.6", "VLDR (literal)", "1ux01 1111"), ("A7.6", "VLDR", "1ux01"),
    ("A7.6", "VPUSH", "10x10 1101"), ("A7.6", "VSTM, decrement", "10x10"),
    ("A7.6", "VLDM, decrement", "10x11"),
]


def _extension(prefix):
    rows = []
    for section, name, bits in _EXTENSION:
        opcode, _, rn = bits.partition(" ")
        for registers, coprocessor in (("single", "1010"), ("double", "1011")):
            one = "VLDR" in name or "VSTR" in name  # imm8 is a distance, otherwise twice the
                                                    # registers
            count = "iiii iiii" if one or registers == "single" else "iiii iii0"
            rows.append((section, f"{name}, {registers}",
                         f"{prefix} 110 {opcode} {rn or 'nnnn'} dddd {coprocessor} {count}"))
    for name, bits in (("FSTMX", "xxxx0"), ("FLDMX", "xxxx1")):
        rows.append((section, name, f"{prefix} 110 {bits} nnnn dddd 1011 iiii iii1"))
    rows += [("A5.6", "STC", f"{prefix} 110 puxw0 nnnn xxxx 1110 iiii iiii"),
             ("A5.6", "LDC", f"{prefix} 110 puxw1 nnnn xxxx 1110 iiii iiii")]
    return rows


# A7.7 Advanced SIMD element or structure load/store: bit 23 is A, bits 11:8 are B.
_STRUCTURES = [
    (0, "1 multiple", ("0010", "011x", "1010")), (0, "2 multiple", ("0011", "100x")),
    (0, "3 multiple", ("010x",)), (0, "4 multiple", ("000x",)),
    (1, "1 single lane", ("0000", "0100", "1000")), (1, "2 single lane", ("0001", "0101", "1001")),
    (1, "3 single lane", ("0010", "0110", "1010")), (1, "4 single lane", ("0011", "0111", "1011")),
    (1, "1 all lanes", ("1100",)), (1, "2 all lanes", ("1101",)), (1, "3 all lanes", ("1110",)),
    (1, "4 all lanes", ("1111",)),
]


def _structures(prefix):
    return [("A7.7", f"V{'LD' if load else 'ST'}{name}, B={b}",
             f"{prefix} {a}d{load}0 nnnn dddd {b} xxxx mmmm")
            for load in (0, 1) for a, name, types in _STRUCTURES for b in types
            if load or "all lanes" not in name]


ROWS = {
    "arm": ARM + _extension("cccc") + _structures("1111 0100"),
    "thumb16": THUMB16,
    "thumb32": THUMB32 + _extension("1110") + _structures("1111 1001"),
}


def _matcher(pattern):
    bits = pattern.replace(" ", "")
    mask = int("".join("1" if b in "01" else "0" for b in bits), 2)
    value = int("".join(b if b in "01" else "0" for b in bits), 2)
    conditional = bits.startswith("cccc")
    assert len(bits) in (16, 32), pattern
    return lambda word: word & mask == value and not (conditional and word >> 28 == 15)


_MATCHERS = {kind: [(row, _matcher(row[2])) for row in rows] for kind, rows in ROWS.items()}


def row_of(kind, word):
    """The first row of `kind` (arm, thumb16, thumb32) that `word` matches, or None."""
    for row, matches in _MATCHERS[kind]:
        if matches(word):
            return row
    return None

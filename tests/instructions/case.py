"""A case: one form with chosen registers, flags, mode, place and condition."""
from dataclasses import dataclass

import place as places
from form import MASK, SP, Draw

CONDITIONS = ("eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")
MODES = {"usr": 0x10, "fiq": 0x11, "svc": 0x13}
THUMB, BIG_ENDIAN = 1 << 5, 1 << 9
LANDING = 0x20  # from the instruction


@dataclass(frozen=True)
class Variant:
    name: str
    place: str = "mid"
    mode: str = ""       # "": the form's first mode
    passing: object = None  # a condition that passes, or fails; None: always
    big_endian: bool = False
    slot: int = places.PLAIN


@dataclass
class Case:
    name: str
    form: object
    text: str
    before: list
    registers: list
    cpsr: int
    spsr: int
    user_sp: int
    target: int
    length: int
    slot: int
    plant: tuple
    outcome: str
    exempt: str
    spans: list
    interruptible: bool


def holds(condition, flags):
    """DDI 0406C A8.3.1; `flags` is NZCV."""
    n, z, c, v = (flags >> bit & 1 for bit in (3, 2, 1, 0))
    truth = (z, c, n, v, c and not z, n == v, n == v and not z)[condition >> 1]
    return bool(truth) != bool(condition & 1)


def flags_for(rng, condition, passing):
    return rng.choice([f for f in range(16) if holds(condition, f) == passing])


def if_then(rng, condition, last_only):
    """A block of 1 to 4 whose instruction at `at` has the condition; the IT and the NOPs before it."""
    length = rng.randint(1, 4)
    at = length - 1 if last_only else rng.randrange(length)
    low = [rng.randrange(2) for _ in range(length)]
    low[at] = condition & 1
    mask = 0
    for bit in low[1:]:
        mask = mask << 1 | bit
    mask = (mask << 1 | 1) << 4 - length
    it = 0xbf00 | (condition & 0xe | low[0]) << 4 | mask
    return f"it{at + 1}of{length}", [f".inst.n {it:#06x}"] + ["nop"] * at


def program_status(rng, form, variant, flags):
    psr = flags << 28 | rng.randrange(2) << 27 | rng.randrange(16) << 16
    psr |= rng.choice((0, 1 << 8)) | rng.choice((0, 1 << 6))  # A, F; not I
    psr |= (THUMB if form.isa == "thumb" else 0) | (BIG_ENDIAN if variant.big_endian else 0)
    return psr | MODES[variant.mode or form.modes[0]]


def slot_of(form, variant):
    if form.literal:
        return places.BELOW if form.literal > 0 else places.ABOVE
    return variant.slot


def planted(operands, form, slot):
    thumb = form.isa == "thumb"
    words = {"landing": slot + LANDING | thumb, "user": 0x10 | (THUMB if thumb else 0),
             "forward": (LANDING - 4) // 2}
    offset, values = operands.plant or (0, ())
    return offset, [words[v] for v in values]


def literal_of(form, slot, target):
    return target - (slot + 8 if form.isa == "arm" else slot + 4 & ~3)


def aborts(form, variant):
    """On the page that only PL1 may use: PL0, and PL1 as PL0."""
    mnemonic = form.name.split(".")
    as_user = "t" in mnemonic or ".t-" in form.name
    return variant.place == "private" and (variant.mode == "usr" or as_user)


def outcome_of(form, variant):
    if variant.passing is False:
        return "next"
    return "aborted" if aborts(form, variant) else form.outcome


def build(form, variant, rng):
    """None if the variant's place does not suit this form."""
    condition = rng.randrange(14)
    flags = rng.randrange(16) if variant.passing is None else \
        flags_for(rng, condition, variant.passing)
    mark = "" if variant.passing is None else CONDITIONS[condition] + "-+"[variant.passing]
    blocks, suffix = [], ""
    if mark and form.isa == "thumb":
        where, blocks = if_then(rng, condition, form.outcome == "landed")
        mark = f"{where}.{mark}"
    elif mark:
        suffix = CONDITIONS[condition]
    operands = form.make(Draw(rng, flags >> 1 & 1, variant.place == "mid", 0))
    where = f"literal{'+' if form.literal > 0 else '-'}" if form.literal else variant.place
    size = max(form.size, 4) if operands.bytes > form.size and form.core else form.size
    doublewords = not form.core and operands.bytes % 8 == 0
    target = places.target(rng, where, size, operands.bytes, "R" != form.op, doublewords)
    if target is None:
        return None
    slot = slot_of(form, variant)
    registers = [rng.getrandbits(32) for _ in range(15)]
    for number, value in operands.values.items():
        registers[number] = value
    address = (target - operands.delta) & MASK
    if operands.base >= 0:
        registers[operands.base] = address
    user_sp = address if operands.user_base == SP else rng.getrandbits(32)
    outcome = outcome_of(form, variant)
    silent = variant.passing is False or outcome in ("aborted", "undefined") or form.op == ""
    text = operands.text.replace("<c>", suffix)
    return Case(
        name=f"{form.isa[0]}/{form.name}/{'.'.join(filter(None, (variant.name, mark)))}", form=form,
        text=text.replace("<literal>", str(literal_of(form, slot, target))),
        before=([operands.before] if operands.before else []) + blocks, registers=registers,
        cpsr=program_status(rng, form, variant, flags),
        spsr=rng.getrandbits(4) << 28 | 0x10 | (THUMB if form.isa == "thumb" else 0),
        user_sp=user_sp, target=target, length=operands.bytes, slot=slot,
        plant=planted(operands, form, slot), outcome=outcome,
        exempt=form.exempt if variant.passing is not False else "",
        spans=[] if silent else places.Beats.of(target, operands.bytes).spans,
        interruptible=where not in ("contiguous", "lanes") and form.op != "X")

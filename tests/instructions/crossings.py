"""Random sequences of unaligned accesses that begin in one page of the window and end in the next."""
import re

import place as places
from case import BIG_ENDIAN, MODES, THUMB, Case
from form import MASK, Draw

# Border of two pages -> bytes behind it that a store, and a load, may touch. One side is traced, or both: memory and
# a device, two devices, in both orders; behind the last border only PL1 may access.
BORDERS = {0x1000: (12, 64), 0x2000: (8, 64), 0x3000: (64, 64), 0x4000: (12, 64), 0x5000: (64, 64),
           0x7000: (0, 8), 0x8000: (0, 64), 0x9000: (16, 64), 0xb000: (12, 64)}
PRIVATE = 0xb000
SLOTS = {0: places.PLAIN, 9: places.WINDOW + 0x9800, 10: places.WINDOW + 0xa800}  # by page: none may be accessed
LONGEST = 3


def crosses(form):
    """Whether one of its accesses may be unaligned: halfwords, words, and elements of NEON."""
    if form.literal or form.exempt or form.op not in ("R", "W") or form.size == 1 or form.outcome != "next":
        return False
    if not form.core:
        return re.match(r"v(ld|st)\d", form.name) is not None
    several = ("ldrd", "strd", "ldm", "stm", "push", "pop")
    return not any(word in form.name for word in several) or form.isa == "arm" and form.name.endswith(".one")


def registers_of(text):
    return set(re.findall(r"\b(?:r\d+|sp|lr|pc)\b", text.replace("push", "sp").replace("pop", "sp")))


def draw_access(rng, form, mode, border):
    """Operands and the address of the first byte, or None: one element lies on both sides."""
    operands = form.make(Draw(rng, 0, False, 0))
    most = BORDERS[border][form.op == "R"]
    behind = [n for n in range(1, min(operands.bytes - 1, most) + 1) if n % form.size]
    as_user = mode == "usr" or "t" in form.name.split(".") or ".t-" in form.name
    if not behind or (border == PRIVATE and as_user):
        return None
    return operands, places.WINDOW + border - operands.bytes + rng.choice(behind)


def sequence(rng, forms, number):
    """One case of up to LONGEST accesses, or None: these do not fit together."""
    isa = rng.choice(("arm", "thumb"))
    mode = rng.choice(("svc", "svc", "usr", "usr", "fiq"))
    pool = [form for form in forms if form.isa == isa and (mode in form.modes or mode == "fiq")]
    border = rng.choice(list(BORDERS))
    registers, taken, lines, begin, end = [rng.getrandbits(32) for _ in range(15)], set(), [], 1 << 32, 0
    for _ in range(rng.randint(1, LONGEST)):
        form = rng.choice(pool)
        drawn = draw_access(rng, form, mode, border)
        if drawn is None or registers_of(drawn[0].text) & taken:
            return None
        operands, target = drawn
        taken |= registers_of(operands.text)
        for register, value in operands.values.items():
            registers[register] = value
        registers[operands.base] = (target - operands.delta) & MASK
        lines.append(operands.text.replace("<c>", ""))
        begin, end = min(begin, target), max(end, target + operands.bytes)
    slots = [slot for page, slot in SLOTS.items() if page not in (border // places.PAGE - 1, border // places.PAGE)]
    cpsr = MODES[mode] | (THUMB if isa == "thumb" else 0) | (BIG_ENDIAN if rng.random() < 0.25 else 0)
    return Case(name=f"{isa[0]}/{form.name}/x{number}", form=form, text=lines[-1], before=lines[:-1],
                registers=registers, cpsr=cpsr, spsr=0x10, user_sp=rng.getrandbits(32), target=begin,
                length=end - begin, slot=rng.choice(slots), plant=(0, []), outcome="next", exempt="",
                spans=places.Beats.of(target, operands.bytes).spans, interruptible=border != 0x7000)


def cases_of(forms, rng, count):
    pool, cases = [form for form in forms if crosses(form)], []
    while len(cases) < count:
        case = sequence(rng, pool, len(cases))
        if case is not None:
            cases.append(case)
    return cases

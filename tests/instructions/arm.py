"""The forms of the ARM instruction set that move core registers."""
from form import LR, SP, Form, Operands, reg, reg_list, shifted

SHIFTS = ("lsl", "lsr", "asr", "ror", "rrx")
BASES = (*range(13), SP, LR)


def bracket(base, mode, offset):
    """[Rn, offset], [Rn, offset]! or [Rn], offset."""
    return {"offset": f"[{reg(base)}, {offset}]", "pre": f"[{reg(base)}, {offset}]!",
            "post": f"[{reg(base)}], {offset}"}[mode]


def address(draw, base, index, mode, kind, sign, limit):
    """An address of kind `imm`, `reg` or a shift: its text, its offset, the index's value."""
    minus = "-" if sign < 0 else ""
    if kind == "imm":
        offset = draw.below(limit)
        return bracket(base, mode, f"#{minus}{offset}"), sign * offset, {}
    value = draw.word()
    text, offset = f"{minus}{reg(index)}", value
    if kind != "reg":
        amount = draw.below(31)
        offset = shifted(value, kind, amount, draw.carry)
        text += ", rrx" if kind == "rrx" else f", {kind} #{amount}"
    return bracket(base, mode, text), sign * offset, {index: value}


def single(name, size, mode, kind, sign, limit, unprivileged=False):
    def make(draw):
        base, = draw.regs(1, BASES)
        data, index = draw.regs(2, [n for n in range(13) if n != base])
        where, offset, values = address(draw, base, index, mode, kind, sign, limit)
        return Operands(f"{name}<c> {reg(data)}, {where}", base,
                        0 if mode == "post" else offset, size, values)
    mark = "t-" if unprivileged else ""
    return Form(f"{name}.{mark}{mode}.{kind}{'+' if sign > 0 else '-'}", "arm", make,
                "R" if name.startswith("l") else "W", size)


def dual(name, mode, kind, sign):
    def make(draw):
        data = draw.choose(range(0, 12, 2))
        base, index = draw.regs(2, [n for n in range(13) if n not in (data, data + 1)])
        where, offset, values = address(draw, base, index, mode, kind, sign, 255)
        return Operands(f"{name}<c> {reg(data)}, {reg(data + 1)}, {where}", base,
                        0 if mode == "post" else offset, 8, values)
    return Form(f"{name}.{mode}.{kind}{'+' if sign > 0 else '-'}", "arm", make,
                "R" if name == "ldrd" else "W")


def singles():
    for name, size in (("ldr", 4), ("str", 4), ("ldrb", 1), ("strb", 1)):
        for mode in ("offset", "pre", "post"):
            for sign in (1, -1):
                yield single(name, size, mode, "imm", sign, 4095)
                yield single(name, size, mode, "reg", sign, 0)
        for mode, shift, sign in (*(("offset", s, 1) for s in SHIFTS), ("pre", "lsl", -1),
                                  ("post", "asr", 1)):
            yield single(name, size, mode, shift, sign, 0)
        for kind, sign in (("imm", 1), ("imm", -1), ("reg", 1), ("lsr", -1)):
            yield single(name + "t", size, "post", kind, sign, 4095, True)
    for name, size in (("ldrh", 2), ("strh", 2), ("ldrsb", 1), ("ldrsh", 2)):
        for mode in ("offset", "pre", "post"):
            for kind in ("imm", "reg"):
                for sign in (1, -1):
                    yield single(name, size, mode, kind, sign, 255)
        for kind, sign in (("imm", 1), ("imm", -1), ("reg", 1), ("reg", -1)):
            yield single(name + "t", size, "post", kind, sign, 255, True)
    for name in ("ldrd", "strd"):
        for mode in ("offset", "pre", "post"):
            for kind in ("imm", "reg"):
                for sign in (1, -1):
                    yield dual(name, mode, kind, sign)


def special_singles():
    """The base or the PC as data, and loads of the base."""
    def of(name, text, base=0, delta=0, op="R", **more):
        return Form(name, "arm", lambda draw: Operands(text, base, delta), op, **more)
    yield of("ldr.base", "ldr<c> r0, [r0]")
    yield of("ldr.sp", "ldr<c> sp, [r0]")
    yield of("ldr.lr", "ldr<c> lr, [r3, #-8]", 3, -8)
    yield of("str.base", "str<c> r0, [r0]", op="W")
    yield of("str.sp", "str<c> sp, [r5], #4", 5, op="W")
    yield of("str.pc", "str<c> pc, [r0]", op="W")
    yield of("push.one", "push<c> {r7}", SP, -4, "W")
    yield of("pop.one", "pop<c> {r7}", SP)


def literals():
    """Rn = PC reads as the instruction's address + 8; `lit` assembles to the distance."""
    for name, size in (("ldr", 4), ("ldrb", 1), ("ldrh", 2), ("ldrsb", 1), ("ldrsh", 2),
                       ("ldrd", 8)):
        for sign in (1, -1):
            def make(draw, name=name, size=size):
                data = draw.choose(range(0, 12, 2))
                pair = f", {reg(data + 1)}" if name == "ldrd" else ""
                return Operands(f"{name}<c> {reg(data)}{pair}, [pc, #<literal>]", bytes=size)
            yield Form(f"{name}.literal{'+' if sign > 0 else '-'}", "arm", make,
                       size=min(size, 4), literal=sign)


def block_delta(mode, words):
    return {"ia": 0, "ib": 4, "da": 4 - 4 * words, "db": -4 * words}[mode]


def block(name, mode, writeback, count, user=False, **more):
    def make(draw):
        pool = list(range(8, 15)) if user else list(range(13))
        words = count
        registers = draw.regs(min(words, len(pool)), pool)
        if user and words > len(registers):
            registers += draw.regs(words - len(registers), range(8))
        base = draw.choose([n for n in range(8 if user else 13) if n not in registers])
        mark = "!" if writeback else ""
        return Operands(f"{name}{mode}<c> {reg(base)}{mark}, {reg_list(registers)}"
                        f"{'^' if user else ''}", base, block_delta(mode, words), 4 * words)
    return Form(f"{name}{mode}{'!' if writeback else ''}.{count}{'^' if user else ''}", "arm", make,
                "R" if name == "ldm" else "W", **more)


def whole_list(name):
    def make(draw):
        return Operands(f"{name}<c> r6, {{r0-r{'15' if name == 'stm' else '14'}}}", 6, 0,
                        64 if name == "stm" else 60)
    return Form(f"{name}.all", "arm", make, "R" if name == "ldm" else "W")


def blocks():
    for name in ("ldm", "stm"):
        for mode in ("ia", "ib", "da", "db"):
            for writeback in (False, True):
                for count in (1, 2, 7):
                    yield block(name, mode, writeback, count)
            yield block(name, mode, False, 2, True, modes=("svc",), core=False)
            yield block(name, mode, False, 6, True, modes=("fiq",), core=False)
        yield whole_list(name)
    yield Form("ldm.base", "arm", lambda d: Operands("ldm<c> r4, {r1, r4, r9}", 4, 0, 12))
    yield Form("stm.base!", "arm", lambda d: Operands("stm<c> r1!, {r1, r4}", 1, 0, 8), "W")
    yield Form("push", "arm", lambda d: Operands("push<c> {r1, r4, r9, lr}", SP, -16, 16), "W")
    yield Form("pop", "arm", lambda d: Operands("pop<c> {r1, r4, r9, lr}", SP, 0, 16))


LOADS_PC = "loads the PC from a device: refused with an external abort"


def pc_loads():
    """The device has the address of a landing place, {landing}."""
    def of(name, text, base, delta, size, plant, **more):
        return Form(name, "arm", lambda d: Operands(text, base, delta, size, plant=plant),
                    outcome="landed", exempt=LOADS_PC, **more)
    pc = (0, ("landing",))
    yield of("ldr.pc", "ldr<c> pc, [r2]", 2, 0, 4, pc)
    yield of("ldr.pc.pre", "ldr<c> pc, [r2, #-12]!", 2, -12, 4, pc)
    yield of("ldr.pc.post", "ldr<c> pc, [r2], #4", 2, 0, 4, pc)
    yield of("pop.pc", "pop<c> {pc}", SP, 0, 4, pc)
    yield of("pop.list.pc", "pop<c> {r4, r5, pc}", SP, 0, 12, (8, ("landing",)))
    for mode in ("ia", "ib", "da", "db"):
        yield of(f"ldm{mode}.pc", f"ldm{mode}<c> r2, {{r4, pc}}", 2, block_delta(mode, 2), 8,
                 (4, ("landing",)))
        yield of(f"ldm{mode}!.pc^", f"ldm{mode}<c> r2!, {{r4, pc}}^", 2,
                 block_delta(mode, 2), 8, (4, ("landing",)), modes=("svc",))
        for mark in ("", "!"):
            yield of(f"rfe{mode}{mark}", f"rfe{mode} r2{mark}", 2, block_delta(mode, 2), 8,
                     (0, ("landing", "user")), modes=("svc",), conditional=False)
    yield Form("ldr.pc.literal", "arm", lambda d: Operands("ldr<c> pc, [pc, #<literal>]",
                                                           plant=pc),
               literal=1, outcome="landed", exempt=LOADS_PC)


def exclusives(isa):
    """Alone, without a reservation, and after its load. (The store is a write, but X, because an interrupt may make
    it fail.)"""
    for suffix, size in (("", 4), ("b", 1), ("h", 2), ("d", 8)):
        pair = ", r5" if suffix == "d" else ""
        data, stored = f"r4{pair}", "r6, r7" if suffix == "d" else "r6"
        load, store = f"ldrex{suffix}<c> {data}, [r1]", f"strex{suffix}<c> r8, {stored}, [r1]"

        def make(text, size, before=""):
            return lambda d: Operands(text, 1, 0, size, before=before)
        align = size
        yield Form(f"ldrex{suffix}", isa, make(load, size), "R", align, core=False)
        yield Form(f"strex{suffix}", isa, make(store, size), "", align, core=False)
        yield Form(f"ldrex{suffix}-strex{suffix}", isa,
                   make(store, size, load.replace("<c>", "")), "X", align, core=False)


def others():
    yield from exclusives("arm")
    for name, size in (("swp", 4), ("swpb", 1)):
        yield Form(name, "arm", lambda d, n=name, s=size: Operands(f"{n}<c> r3, r8, [r5]", 5, 0, s),
                   "RW", size, core=False)
        yield Form(name + ".same", "arm",
                   lambda d, n=name, s=size: Operands(f"{n}<c> r3, r3, [r5]", 5, 0, s),
                   "RW", size, core=False)
    for mode in ("ia", "ib", "da", "db"):
        for mark in ("", "!"):
            yield Form(f"srs{mode}{mark}", "arm",
                       lambda d, m=mode, w=mark: Operands(f"srs{m} sp{w}, #0x13", SP,
                                                          block_delta(m, 2), 8),
                       "W", modes=("svc",), conditional=False, core=False)
    yield Form("srsdb!.usr", "arm",
               lambda d: Operands("srsdb sp!, #0x1f", delta=-8, bytes=8, user_base=SP),
               "W", modes=("svc",), conditional=False, core=False)
    yield from hints("arm")


def hints(isa):
    """They must not make an access."""
    for name in ("pld", "pldw", "pli"):
        for kind, where, values in (("imm+", "[r2, #64]", {}), ("imm-", "[r2, #-64]", {}),
                                    ("reg", "[r2, r3, lsl #2]", {3: 16})):
            delta = -64 if kind == "imm-" else 64
            yield Form(f"{name}.{kind}", isa,
                       lambda d, n=name, w=where, v=values, o=delta: Operands(f"{n} {w}", 2, o, 4, v),
                       "", conditional=isa == "thumb")
        if name != "pldw":
            yield Form(f"{name}.literal", isa,
                       lambda d, n=name: Operands(f"{n} [pc, #<literal>]"), "",
                       conditional=isa == "thumb", literal=1)


def coprocessor(isa):
    for name in ("ldc", "stc"):
        yield Form(name, isa, lambda d, n=name: Operands(f"{n}<c> p14, c5, [r2], #4", 2), "",
                   modes=("svc",), outcome="undefined")


def forms():
    yield from singles()
    yield from special_singles()
    yield from literals()
    yield from blocks()
    yield from pc_loads()
    yield from others()
    yield from coprocessor("arm")

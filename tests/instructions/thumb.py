"""The forms of the Thumb instruction set that move core registers; conditions come from IT."""
from arm import LOADS_PC, block_delta, bracket, coprocessor, exclusives, hints
from form import LR, SP, Form, Operands, reg, reg_list

LOW = range(8)
SIZES = (("ldr", 4), ("ldrb", 1), ("ldrh", 2), ("ldrsb", 1), ("ldrsh", 2), ("str", 4), ("strb", 1),
         ("strh", 2))


def op_of(name):
    return "R" if name.startswith("l") else "W"


def narrow_singles():
    for name, size in SIZES:
        def by_register(draw, name=name, size=size):
            base, index, data = draw.regs(3, LOW)
            value = draw.word()
            return Operands(f"{name}<c> {reg(data)}, [{reg(base)}, {reg(index)}]", base, value, size,
                            {index: value})
        yield Form(f"{name}.n.reg", "thumb", by_register, op_of(name), size, wide=False)
        if name in ("ldrsb", "ldrsh"):
            continue

        def by_immediate(draw, name=name, size=size):
            base, data = draw.regs(2, LOW)
            offset = draw.below(31 * size, size)
            return Operands(f"{name}<c> {reg(data)}, [{reg(base)}, #{offset}]", base, offset, size)
        yield Form(f"{name}.n.imm", "thumb", by_immediate, op_of(name), size, wide=False)
        if size == 4:
            def by_stack(draw, name=name):
                data, offset = draw.choose(LOW), draw.below(1020, 4)
                return Operands(f"{name}<c> {reg(data)}, [sp, #{offset}]", SP, offset)
            yield Form(f"{name}.n.sp", "thumb", by_stack, op_of(name), wide=False)
    yield Form("ldr.n.literal", "thumb",
               lambda d: Operands(f"ldr<c>.n {reg(d.choose(LOW))}, [pc, #<literal>]"), wide=False,
               literal=1)
    yield Form("ldr.n.base", "thumb", lambda d: Operands("ldr<c> r3, [r3]", 3), wide=False)
    yield Form("str.n.base", "thumb", lambda d: Operands("str<c> r3, [r3]", 3), "W", wide=False)


def narrow_blocks():
    def of(name, text, base, delta, size, op="R", **more):
        return Form(name, "thumb", lambda d: Operands(text, base, delta, size), op, wide=False,
                    **more)
    yield of("ldm.n!", "ldm<c> r0!, {r1, r2, r7}", 0, 0, 12)
    yield of("ldm.n.base", "ldm<c> r2, {r1, r2, r7}", 2, 0, 12)
    yield of("ldm.n.one", "ldm<c> r0!, {r5}", 0, 0, 4)
    yield of("stm.n!", "stm<c> r0!, {r1, r2, r7}", 0, 0, 12, "W")
    yield of("stm.n.base", "stm<c> r1!, {r1, r2, r7}", 1, 0, 12, "W")
    yield of("push.n", "push<c> {r1, r6}", SP, -8, 8, "W")
    yield of("push.n.lr", "push<c> {r0, r3, lr}", SP, -12, 12, "W")
    yield of("pop.n", "pop<c> {r0, r1, r7}", SP, 0, 12)


def wide_single(name, size, kind):
    def make(draw):
        base, = draw.regs(1, (*range(13), SP, LR))
        data, index = draw.regs(2, [n for n in range(13) if n != base])
        delta, values = 0, {}
        if kind == "imm12":
            delta = draw.below(4095)
            where = bracket(base, "offset", f"#{delta}")
        elif kind.startswith("reg"):
            shift = draw.below(3) if kind == "reg.lsl" else 0
            values = {index: draw.word()}
            delta = values[index] << shift
            where = f"[{reg(base)}, {reg(index)}" + (f", lsl #{shift}]" if shift else "]")
        elif kind == "t":
            delta = draw.below(255)
            where = f"[{reg(base)}, #{delta}]"
        else:
            mode, offset = kind[:-1], draw.below(255) * (1 if kind[-1] == "+" else -1)
            delta = 0 if mode == "post" else offset
            where = bracket(base, mode, f"#{offset}")
        mnemonic = f"{name}t<c>" if kind == "t" else f"{name}<c>.w"
        return Operands(f"{mnemonic} {reg(data)}, {where}", base, delta, size, values)
    return Form(f"{name}.w.{kind}", "thumb", make, op_of(name), size)


def wide_singles():
    kinds = ("imm12", "offset-", "pre+", "pre-", "post+", "post-", "reg", "reg.lsl", "t")
    for name, size in SIZES:
        for kind in kinds:
            yield wide_single(name, size, kind)
        if name.startswith("l"):
            for sign in (1, -1):
                yield Form(f"{name}.w.literal{'+' if sign > 0 else '-'}", "thumb",
                           lambda d, n=name, s=size: Operands(
                               f"{n}<c>.w {reg(d.choose(range(13)))}, [pc, #<literal>]", bytes=s),
                           size=size, literal=sign)
    yield Form("ldr.w.sp", "thumb", lambda d: Operands("ldr<c>.w sp, [r1]", 1))
    yield Form("ldr.w.base", "thumb", lambda d: Operands("ldr<c>.w r9, [r9]", 9))
    yield Form("str.w.lr", "thumb", lambda d: Operands("str<c>.w lr, [r8], #4", 8), "W")


def duals():
    for name in ("ldrd", "strd"):
        for mode in ("offset", "pre", "post"):
            for sign in (1, -1):
                def make(draw, name=name, mode=mode, sign=sign):
                    first, second, base = draw.regs(3)
                    offset = sign * draw.below(1020, 4)
                    return Operands(f"{name}<c> {reg(first)}, {reg(second)}, "
                                    f"{bracket(base, mode, f'#{offset}')}", base,
                                    0 if mode == "post" else offset, 8)
                yield Form(f"{name}.w.{mode}{'+' if sign > 0 else '-'}", "thumb", make, op_of(name))
    for sign in (1, -1):
        yield Form(f"ldrd.w.literal{'+' if sign > 0 else '-'}", "thumb",
                   lambda d: Operands("ldrd<c> r9, r4, [pc, #<literal>]", bytes=8), literal=sign)


def wide_blocks():
    for name in ("ldm", "stm"):
        for mode in ("ia", "db"):
            for mark in ("", "!"):
                for count in (2, 6):
                    def make(draw, name=name, mode=mode, mark=mark, count=count):
                        base, *others = draw.regs(count + 1, range(8, 13)) if count < 4 else \
                            draw.regs(count + 1)
                        return Operands(f"{name}{mode}<c>.w {reg(base)}{mark}, {reg_list(others)}",
                                        base, block_delta(mode, count), 4 * count)
                    yield Form(f"{name}{mode}.w{mark}.{count}", "thumb", make, op_of(name))
    yield Form("ldm.w.base", "thumb", lambda d: Operands("ldm<c>.w r4, {r1, r4, r9}", 4, 0, 12))
    yield Form("ldm.w.all", "thumb", lambda d: Operands("ldm<c>.w r3, {r0-r12, lr}", 3, 0, 56))
    yield Form("push.w", "thumb", lambda d: Operands("push<c>.w {r2, r9, lr}", SP, -12, 12), "W")
    yield Form("pop.w", "thumb", lambda d: Operands("pop<c>.w {r2, r9, lr}", SP, 0, 12))


def pc_loads():
    def of(name, text, base, delta, size, plant, wide=True, **more):
        return Form(name, "thumb", lambda d: Operands(text, base, delta, size, plant=plant),
                    wide=wide, outcome="landed", exempt=LOADS_PC, **more)
    pc = (0, ("landing",))
    yield of("pop.n.pc", "pop<c> {r1, pc}", SP, 0, 8, (4, ("landing",)), False)
    yield of("pop.w.pc", "pop<c>.w {r1, r9, pc}", SP, 0, 12, (8, ("landing",)))
    yield of("ldr.w.pc", "ldr<c>.w pc, [r2]", 2, 0, 4, pc)
    yield of("ldr.w.pc.post", "ldr<c>.w pc, [r2], #8", 2, 0, 4, pc)
    yield of("ldmia.w.pc", "ldmia<c>.w r2, {r4, r9, pc}", 2, 0, 12, (8, ("landing",)))
    yield of("ldmdb.w!.pc", "ldmdb<c>.w r2!, {r4, pc}", 2, -8, 8, (4, ("landing",)))
    for mode in ("ia", "db"):
        for mark in ("", "!"):
            yield of(f"rfe{mode}.w{mark}", f"rfe{mode}<c> r2{mark}", 2, block_delta(mode, 2), 8,
                     (0, ("landing", "user")), modes=("svc",))
    for name, shift, size in (("tbb", "", 1), ("tbh", ", lsl #1", 2)):
        yield Form(name, "thumb",
                   lambda d, n=name, s=shift, z=size: Operands(f"{n} [r2, r3{s}]", 2, 4 * z, z, {3: 4},
                                                               plant=(0, ("forward",))),
                   size=size, outcome="landed", exempt=LOADS_PC)
    yield Form("ldr.w.pc.literal", "thumb",
               lambda d: Operands("ldr<c>.w pc, [pc, #<literal>]", plant=pc), literal=1,
               outcome="landed", exempt=LOADS_PC)


def stores_of_state():
    for mode in ("ia", "db"):
        for mark in ("", "!"):
            yield Form(f"srs{mode}.w{mark}", "thumb",
                       lambda d, m=mode, w=mark: Operands(f"srs{m}<c> sp{w}, #0x13", SP,
                                                          block_delta(m, 2), 8),
                       "W", modes=("svc",), core=False)


def forms():
    yield from narrow_singles()
    yield from narrow_blocks()
    yield from wide_singles()
    yield from duals()
    yield from wide_blocks()
    yield from pc_loads()
    yield from exclusives("thumb")
    yield from stores_of_state()
    yield from hints("thumb")
    yield from coprocessor("thumb")

"""The forms that load and store VFP and NEON registers, the same in both instruction sets."""
from form import SP, Form, Operands, reg


def registers(kind, first, count, step=1):
    return "{" + ", ".join(f"{kind}{first + n * step}" for n in range(count)) + "}"


def name_of(isa, name):
    return name if isa == "arm" else name + ".w"


def op_of(name):
    return "R" if name[1] in "lp" and name != "vpush" else "W"


def singles(isa):
    for name in ("vldr", "vstr"):
        for kind, size in (("s", 4), ("d", 8)):
            for sign in (1, -1):
                def make(draw, name=name, kind=kind, size=size, sign=sign):
                    base, data = draw.regs(1)[0], draw.choose(range(32))
                    offset = sign * draw.below(1020, 4)
                    return Operands(f"{name}<c> {kind}{data}, [{reg(base)}, #{offset}]", base,
                                    offset, size)
                yield Form(name_of(isa, f"{name}.{kind}{'+' if sign > 0 else '-'}"), isa, make,
                           op_of(name), core=False)
                if name == "vldr":
                    yield Form(name_of(isa, f"{name}.{kind}.literal{'+' if sign > 0 else '-'}"), isa,
                               lambda d, k=kind, z=size: Operands(
                                   f"vldr<c> {k}{d.choose(range(32))}, [pc, #<literal>]", bytes=z),
                               core=False, literal=sign)


def multiples(isa):
    for name in ("vldm", "vstm"):
        for mode in ("ia", "ia!", "db!"):
            for kind, size, counts in (("s", 4, (1, 7)), ("d", 8, (1, 5, 16))):
                for count in counts:
                    def make(draw, name=name, mode=mode, kind=kind, size=size, count=count):
                        base, first = draw.regs(1)[0], draw.choose(range(32 - count + 1))
                        mark = "!" if "!" in mode else ""
                        return Operands(
                            f"{name}{mode[:2]}<c> {reg(base)}{mark}, {registers(kind, first, count)}",
                            base, -size * count if mode == "db!" else 0, size * count)
                    yield Form(name_of(isa, f"{name}{mode}.{kind}{count}"), isa, make, op_of(name),
                               core=False)
    for name, delta in (("vpush", -1), ("vpop", 0)):
        for kind, size in (("s", 4), ("d", 8)):
            def on_stack(draw, name=name, delta=delta, kind=kind, size=size):
                first, count = draw.choose(range(16)), draw.below(6)
                return Operands(f"{name}<c> {registers(kind, first, count)}", SP,
                                delta * size * count, size * count)
            yield Form(name_of(isa, f"{name}.{kind}"), isa, on_stack, op_of(name), core=False)
    # One word more than the registers have: the deprecated format.
    yield Form(name_of(isa, "fldmx"), isa, lambda d: Operands("fldmiax<c> r2!, {d3, d4}", 2, 0, 16),
               core=False)
    yield Form(name_of(isa, "fstmx"), isa, lambda d: Operands("fstmiax<c> r2!, {d3, d4}", 2, 0, 16),
               "W", core=False)


def structure(isa, name, label, size, bits, text_of, aligns, few):
    """`size` bytes; the address as [Rn], [Rn]! or [Rn], Rm, sometimes with an alignment."""
    def make(draw):
        base, index = draw.regs(2)
        align = f":{draw.choose(aligns)}" if aligns and draw.aligned and draw.below(2) == 1 else ""
        where = f"[{reg(base)}{align}]" + draw.choose(("", "!", f", {reg(index)}"))
        return Operands(f"{name}.{bits} {text_of(draw)}, {where}", base, 0, size)
    return Form(name_of(isa, f"{name}.{bits}.{label}"), isa, make, op_of(name),
                min(bits // 8, 4), core=False, conditional=isa == "thumb", few=few)


def multiple_structures(isa):
    shapes = [(1, c, 1) for c in (1, 2, 3, 4)] + [(2, 2, 1), (2, 2, 2), (2, 4, 1), (3, 3, 1), (3, 3, 2),
                                                   (4, 4, 1), (4, 4, 2)]
    for kind in ("vld", "vst"):
        for n, count, step in shapes:
            for bits in (8, 16, 32, 64) if n == 1 else (8, 16, 32):
                def text_of(draw, count=count, step=step):
                    first = draw.choose(range(32 - (count - 1) * step))
                    return registers("d", first, count, step)
                aligns = {1: (64,), 2: (64, 128), 3: (64,), 4: (64, 128, 256)}[count]
                yield structure(isa, f"{kind}{n}", f"{count}{'' if step == 1 else 'x2'}", 8 * count,
                                bits, text_of, aligns, True)


def lane_structures(isa):
    aligned = {(1, 16): (16,), (1, 32): (32,), (2, 8): (16,), (2, 16): (32,), (2, 32): (64,),
               (4, 8): (32,), (4, 16): (64,), (4, 32): (64, 128)}
    for kind in ("vld", "vst"):
        for n in (1, 2, 3, 4):
            for bits, step in ((8, 1), (16, 1), (32, 1), (16, 2), (32, 2)):
                if step == 2 and n == 1:
                    continue

                def text_of(draw, n=n, bits=bits, step=step):
                    first = draw.choose(range(32 - (n - 1) * step))
                    lane = draw.choose(range(64 // bits))
                    return "{" + ", ".join(f"d{first + k * step}[{lane}]" for k in range(n)) + "}"
                yield structure(isa, f"{kind}{n}", f"lane{'' if step == 1 else 'x2'}", n * bits // 8,
                                bits, text_of, aligned.get((n, bits), ()), True)


def all_lanes(isa):
    aligned = {(1, 16): (16,), (1, 32): (32,), (2, 8): (16,), (2, 16): (32,), (2, 32): (64,),
               (4, 8): (32,), (4, 16): (64,), (4, 32): (64, 128)}
    for n in (1, 2, 3, 4):
        for bits in (8, 16, 32):
            for count, step in ((1, 1), (2, 1)) if n == 1 else ((n, 1), (n, 2)):
                def text_of(draw, count=count, step=step):
                    first = draw.choose(range(32 - (count - 1) * step))
                    return "{" + ", ".join(f"d{first + k * step}[]" for k in range(count)) + "}"
                yield structure(isa, f"vld{n}", f"all{count}{'' if step == 1 else 'x2'}",
                                n * bits // 8, bits, text_of, aligned.get((n, bits), ()), True)


def forms(isa):
    yield from singles(isa)
    yield from multiples(isa)
    yield from multiple_structures(isa)
    yield from lane_structures(isa)
    yield from all_lanes(isa)

"""A form: one way to load or store, before it gets registers, a place and a mode."""
from dataclasses import dataclass, field
from typing import Callable

SP, LR, PC = 13, 14, 15
MASK = 0xffffffff


def reg(n):
    return {SP: "sp", LR: "lr", PC: "pc"}.get(n, f"r{n}")


def reg_list(numbers):
    return "{" + ", ".join(reg(n) for n in sorted(numbers)) + "}"


@dataclass
class Operands:
    """One choice of registers and offsets. `text` has <c> in the place of a condition."""
    text: str
    base: int = -1       # the register with the address; -1: none
    delta: int = 0       # from that register to the lowest address accessed
    bytes: int = 4       # from the lowest address on
    values: dict = field(default_factory=dict)  # registers that need certain values
    before: str = ""     # an instruction before it
    plant: tuple = ()    # (offset, words): required values in the device
    user_base: int = -1  # likewise, in the User bank
    spsr: int = -1


@dataclass
class Form:
    name: str
    isa: str                              # arm or thumb
    make: Callable[["Draw"], Operands]
    op: str = "R"                         # R, W, RW (swap); "" accesses nothing
    size: int = 4                         # of one element: its alignment
    modes: tuple = ("svc", "usr")
    conditional: bool = True
    wide: bool = True                     # 32 bits long
    core: bool = True                     # only between memory and core registers
    literal: int = 0                      # 1, -1: relative to the PC, upwards or downwards
    outcome: str = "next"                 # natively; "landed": after a load of the PC
    exempt: str = ""                      # why the hypervisor's outcome differs
    few: bool = False                     # one of many alike: fewer variants


class Draw:
    """Random operands: all choices are made here, so that a seed repeats them."""

    def __init__(self, rng, carry, aligned, tail):
        self.rng, self.carry, self.aligned, self.tail = rng, carry, aligned, tail

    def regs(self, count, pool=range(13)):
        return self.rng.sample(list(pool), count)

    def below(self, limit, step=1):
        """Neither 0 nor above `limit`."""
        return self.rng.randrange(1, limit // step + 1) * step

    def word(self):
        return self.rng.getrandbits(32)

    def choose(self, options):
        return self.rng.choice(options)


def shifted(value, kind, amount, carry):
    """DDI 0406C A8.4.3: the value of a shifted offset register."""
    if kind == "lsl":
        return value << amount & MASK
    if kind == "lsr":
        return value >> amount
    if kind == "asr":
        signed = value - (1 << 32) if value >> 31 else value
        return signed >> amount & MASK
    if kind == "ror":
        return (value >> amount | value << 32 - amount) & MASK
    return carry << 31 | value >> 1  # rrx

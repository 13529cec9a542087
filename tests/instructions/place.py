"""The places of a case's access and its instruction: the guest's window of pages (guest.cpp maps it)."""
from dataclasses import dataclass

WINDOW = 0x40000000
PAGE = 0x1000
CLCD, MMCI, SRAM, GICD, GICC = 0x1c1f0000, 0x1c050000, 0x14000000, 0x2c001000, 0x2c002000

# Page of the window -> physical address, traced. Other pages are code in RAM.
PAGES = {1: (CLCD, True), 2: (MMCI, True), 3: (SRAM, False), 4: (CLCD, True),
         5: (SRAM + PAGE, False), 6: (GICD, True), 7: (GICC, True), 8: (CLCD, True),
         11: (CLCD, True)}

PLAIN, HALF, SPLIT, EDGE = (WINDOW + at for at in (0x800, 0x802, 0x9ffe, 0x9ffc))
BELOW, ABOVE = WINDOW + 0xf80, WINDOW + 0x9010  # followed, or preceded, by a device page
PALETTE = WINDOW + 0x1240
LANES = WINDOW + 0x6850  # GICD_ITARGETSR of unused interrupts: each byte is a separate register

# Place -> (end of the page that the access crosses, bytes that may be written after it).
ACROSS = {"cross": (WINDOW + 0x2000, 8), "contiguous": (WINDOW + 0x7000, 0),
          "enter": (WINDOW + 0x4000, 12), "leave": (WINDOW + 0x5000, 64)}


def behind(rng, place, size, length, store):
    """The number of an access's bytes after the end of the page; 0: this place is not for it."""
    _, most = ACROSS[place]
    most = most if store else 8 if place == "contiguous" else length
    choices = range(size, min(length - size, most) + 1, size)
    return rng.choice(choices) if choices else 0


def target(rng, place, size, length, store, doublewords):
    """The address of the first byte; None: this place is not for such an access."""
    if place in ACROSS:
        step = 8 if doublewords else max(size, 4)  # QEMU logs halves of one that crosses as a whole
        tail = behind(rng, place, step, length, store)
        return ACROSS[place][0] - length + tail if tail else None
    fixed = {"mid": PALETTE, "four": PALETTE + 4, "off1": PALETTE + 1, "off2": PALETTE + 2,
             "off3": PALETTE + 3, "first": WINDOW + PAGE, "last": WINDOW + 2 * PAGE - length,
             "lanes": LANES, "literal+": WINDOW + PAGE, "literal-": ABOVE - 0x10 - length,
             "private": WINDOW + 0xb240}
    if (place == "first" and store and length > 12) or (place == "lanes" and length > 16):
        return None
    return fixed[place]


@dataclass
class Beats:
    """The bytes of traced devices that an access touches, by physical address, upwards."""
    spans: list

    @staticmethod
    def of(address, length):
        spans = []
        while length:
            page, offset = divmod(address - WINDOW, PAGE)
            here = min(length, PAGE - offset)
            physical, traced = PAGES.get(page, (0, False))
            if traced:
                spans.append((physical + offset, here))
            address, length = address + here, length - here
        return Beats(spans)

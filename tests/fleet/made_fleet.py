#!/usr/bin/env python3
"""A fleet of made-up boards: each boots with both kernels. Some of them differ in a known way."""
import collections
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "diff"))
from made_boots import CODE, HEAD, MMC, SERIAL, TIMER, boot  # noqa: E402

KERNELS = {1: "6.1.0-50-armmp", 2: "6.6.13-armmp"}  # by boot
SENSOR = 0x1c180000
DEVICES = {MMC: "mmc@50000", SERIAL: "serial@90000", TIMER: "timer@110000", SENSOR: "sensor@180000", 0x1c010000: "leds@8",
           0x2c001000: "gic@2c001000", 0x2c002000: "gic@2c001000[1]"}

# The first write to a register: (board, device, offset) -> boots, usual value, its value, register, function. None: it is
# not written.
OTHER_WRITES = {(3, SERIAL, 0x28): ((1, 2), 1, 2, "FBRD", "uart_startup"),
                (7, TIMER, 0x0): ((2,), 0xffffffff, None, "+0x000", "timer_init"),
                (11, SERIAL, 0x38): ((1, 2), None, 0x50, "IMSC", "uart_startup"),
                (9, MMC, 0x0): ((1, 2), 2, 1, "Power", "mmc_set_ios"),  # which writes it twice more
                (20, MMC, 0x40): ((1,), 0, 0x7, "Mask1", "mmc_probe")}
# What the sensor says last: (board, boot) -> value. Others say 492 to 508.
UNUSUAL = {(5, 2): 620, (17, 1): 380}


def with_differences(lines, board, number):
    for (whose, device, offset), (boots, usual, value, *_) in OTHER_WRITES.items():
        if board != whose or number not in boots:
            continue
        if usual is None:  # directly behind the first write to the device
            at = next(i for i, line in enumerate(lines) if f" W4 {device + 0x28:#x} " in line)
            time, rest = lines[at].split(" ", 1)
            lines.insert(at + 1, re.sub("W4 .* pc=", f"W4 {device + offset:#x} {value:#x} pc=", f"{float(time) + 1e-6:.6f} {rest}"))
            continue
        at = next(i for i, line in enumerate(lines) if f" W4 {device + offset:#x} {usual:#x} " in line)
        if value is None:
            del lines[at]
        else:
            lines[at] = lines[at].replace(f" {usual:#x} ", f" {value:#x} ")


def boot_of(board, number):
    """Its lines: a boot of made_boots.py, and a driver that reads a sensor three times. MMC is slower with the second kernel."""
    chance = random.Random(f"{board}/{number}")
    lines = boot(chance).splitlines()
    with_differences(lines, board, number)
    for i, value in enumerate([chance.randint(492, 508), chance.randint(492, 508), UNUSUAL.get((board, number), chance.randint(492, 508))]):
        lines.append(f"1.{i} cpu0 R4 {SENSOR + 4:#x} {value:#x} pc={CODE['timer_init'] + 0x80:#x} sp=0xc1610000 mode=0x13")
    slow = {1: 2, 2: 3}[number]
    return [f"{line} duration={slow if f' {MMC >> 12:#x}' in line else 1}" for line in lines]


def device_at(address):
    return DEVICES[address & ~0xfff]


class Fleet:
    """The traces of `boards` boards in a folder, and what is known of them."""

    def __init__(self, build, folder, boards):
        self.folder, self.boards = folder, boards
        self.spent = collections.Counter()     # (device, kernel) -> microseconds
        self.accesses = collections.Counter()  # likewise
        code = "".join(f"code {address:#x} 0x1000 {name}\n" for name, address in CODE.items())
        for board in range(1, boards + 1):
            self.place(board, 1).parent.mkdir(parents=True)
            for number, kernel in KERNELS.items():
                lines = boot_of(board, number)
                head = HEAD.replace("Linux 6.1", f"Linux version {kernel} (builder)") + f"device {DEVICES[SENSOR]} {SENSOR:#x} 0x1000\n"
                text = folder / "text"
                text.write_text(head + code + "\n".join(lines) + "\n")
                subprocess.run([build / "tests/trace-of-text", text, self.place(board, number)], check=True)
                for line in lines:
                    words = line.split()
                    key = device_at(int(words[3], 0)), kernel
                    self.accesses[key] += 1
                    self.spent[key] += int(words[-1].removeprefix("duration="))

    def place(self, board, number):
        return self.folder / self.board(board) / f"{number}.mmio"

    @staticmethod
    def board(number):
        return f"board{number:03}"

    def traces(self):
        return [self.place(board, number) for board in range(1, self.boards + 1) for number in KERNELS]

    def likes(self):
        """Boards that do what most do."""
        return [number for number in range(1, self.boards + 1)
                if number not in {board for board, *_ in [*OTHER_WRITES, *UNUSUAL]}]

    def initialisation(self):
        """(device, register, function, kernel, usual value, board, value)"""
        return {(DEVICES[device], register, function, KERNELS[number], usual, self.board(board), value)
                for (board, device, _), (boots, usual, value, register, function) in OTHER_WRITES.items() for number in boots}

    def outliers(self):
        """(device, register, board, boot, value)"""
        return {(DEVICES[SENSOR], "+0x004", self.board(board), str(number), value) for (board, number), value in UNUSUAL.items()}

    def time(self):
        """(device, kernel, boots, accesses, ns)"""
        return {(device, kernel, self.boards, self.accesses[device, kernel], 1000 * spent) for (device, kernel), spent in self.spent.items()}

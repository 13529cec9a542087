#!/usr/bin/env python3
"""made_boots.py BUILD FOLDER N: writes N traces of made-up boots of one machine, FOLDER/1.mmio and so on, for judge.py.

Each boot does the same: tasks probe devices and transfer blocks, interrupts come in between. What differs is what differs
between real boots of one kernel: on which CPU and in which order tasks run, where interrupts fall, how often a loop polls,
what data is, in which order LEDs go on and off, and which CPU sends the other one an interrupt.
"""
import pathlib
import random
import subprocess
import sys

HEAD = """about kernel.banner=Linux 6.1 #1
device mmc@50000 0x1c050000 0x1000 arm,pl180
device serial@90000 0x1c090000 0x1000 arm,pl011
device timer@110000 0x1c110000 0x1000
device leds@8 0x1c010000 0x1000
device gic@2c001000 0x2c001000 0x1000 arm,cortex-a15-gic
device gic@2c001000[1] 0x2c002000 0x1000
"""
MMC, SERIAL, TIMER, LEDS, GICD, GICC = 0x1c050000, 0x1c090000, 0x1c110000, 0x1c010000, 0x2c001000, 0x2c002000
FUNCTIONS = ["mmc_probe", "mmc_set_ios", "mmc_start_data", "mmc_irq", "copy_fifo", "uart_startup", "uart_putchar", "timer_init", "led_set",
             "gic_init", "gic_handle_irq", "gic_eoi_irq", "gic_send"]
CODE = {name: 0xc0500000 + 0x1000 * i for i, name in enumerate(FUNCTIONS)}
MMC_IRQ, TIMER_IRQ = 41, 34


class Task:
    """Steps, each a list of accesses that nothing but an interrupt gets between; and a stack."""

    def __init__(self, number, steps):
        self.stack, self.steps = 0xc1602000 + number * 0x2000, steps


def access(direction, function, offset, address, value):
    return direction, CODE[function] + offset, address, value


def write(*words):
    return access("W", *words)


def read(*words):
    return access("R", *words)


def polled(chance, function, offset, address, busy, ready):
    return [read(function, offset, address, busy) for _ in range(chance.randrange(6))] + [read(function, offset, address, ready)]


def gic_init():
    steps = [[write("gic_init", 0x10, GICD, 0)]]
    steps += [[write("gic_init", 0x20, GICD + 0x820 + 4 * i, 0x01010101)] for i in range(8)]
    steps += [[write("gic_init", 0x30, GICD + 0x420 + 4 * i, 0xa0a0a0a0)] for i in range(8)]
    return steps + [[write("gic_init", 0x40, GICC + 0x4, 0xf0), write("gic_init", 0x50, GICC, 1), write("gic_init", 0x60, GICD, 1)]]


def mmc(chance):
    steps = [[write("mmc_probe", 0x10, MMC + 0x3c, 0), write("mmc_probe", 0x18, MMC + 0x40, 0), write("mmc_probe", 0x20, MMC + 0x38, 0xfff)]]
    for power, clock in ((2, 0x1fd), (3, 0x1fd), (3, 0x100)):
        steps.append([write("mmc_set_ios", 0x10, MMC, power), write("mmc_set_ios", 0x20, MMC + 4, clock)])
    for block in range(40):
        start = [write("mmc_start_data", 0x10 + 8 * i, MMC + at, value) for i, (at, value) in
                 enumerate([(0x24, 0x124f80), (0x28, 512), (0x2c, 0x93), (0x3c, 0x2ff), (0x8, block * 8), (0xc, 0x451)])]
        words = [write("copy_fifo", 0x10 + 4 * (i % 4), MMC + 0x80, chance.getrandbits(32)) for i in range(16)]
        steps.append(start)
        steps.append(polled(chance, "mmc_start_data", 0x60, MMC + 0x34, 0x1000, 0x40) + words)
    return steps + [[write("mmc_set_ios", 0x40, MMC + 4, 0)]]


def serial(chance, text):
    steps = [[write("uart_startup", 0x10, SERIAL + 0x24, 13), write("uart_startup", 0x18, SERIAL + 0x28, 1),
              write("uart_startup", 0x20, SERIAL + 0x2c, 0x70), write("uart_startup", 0x28, SERIAL + 0x30, 0x301)]]
    for c in text:
        steps.append(polled(chance, "uart_putchar", 0x10, SERIAL + 0x18, 0x20, 0x90) + [write("uart_putchar", 0x20, SERIAL, ord(c))])
    return steps


def timer():
    return [[write("timer_init", 0x10 + 8 * i, TIMER + at, value) for i, (at, value) in enumerate([(8, 0), (0, 0xffffffff), (8, 0xc2)])]]


def leds(chance):
    value, steps = 0, []
    for _ in range(60):
        value ^= 1 << chance.randrange(4)
        steps.append([write("led_set", 0x10, LEDS, value)])
    return steps


def interrupt(number, accesses):
    return [read("gic_handle_irq", 0x20, GICC + 0xc, number), *accesses, write("gic_eoi_irq", 0x30, GICC + 0x10, number)]


def any_interrupt(chance):
    kind = chance.randrange(3)
    if kind == 0:
        return interrupt(MMC_IRQ, [read("mmc_irq", 0x10, MMC + 0x34, 0x40), write("mmc_irq", 0x18, MMC + 0x38, 0x40), write("mmc_irq", 0x20, MMC + 0x3c, 0x2ff)])
    if kind == 1:
        return interrupt(TIMER_IRQ, [write("timer_init", 0x40, TIMER + 0xc, 1)])
    return [write("gic_send", 0x10, GICD + 0xf00, chance.choice((1, 2)) << 16 | chance.randrange(4))]


def boot(chance):
    """Lines of a trace: whichever task a CPU takes does its next step."""
    text = "Booting Linux on physical CPU 0x0; the quick brown fox jumps over the lazy dog 0123456789"
    tasks = [Task(i, steps) for i, steps in enumerate([mmc(chance), serial(chance, text), timer(), leds(chance)], 1)]
    lines = []

    def emit(accesses, stack, cpu):
        for direction, pc, address, value in accesses:
            time = len(lines) * 7
            lines.append(f"{time // 10**6}.{time % 10**6:06} cpu{cpu} {direction}4 {address:#x} {value:#x} pc={pc:#x} sp={stack:#x} mode=0x13")

    for step in gic_init():
        emit(step, 0xc1600000, 0)
    while tasks:
        task, cpu = chance.choice(tasks), chance.randrange(2)
        step = task.steps.pop(0)
        cut = chance.randrange(len(step) + 1) if chance.randrange(3) == 0 else len(step)
        emit(step[:cut], task.stack, cpu)
        if cut < len(step):
            emit(any_interrupt(chance), 0xe0800000 + cpu * 0x2000, cpu)
        emit(step[cut:], task.stack, chance.choice((cpu, 1 - cpu)))
        if not task.steps:
            tasks.remove(task)
    return "\n".join(lines) + "\n"


def make(build, folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    head = HEAD + "".join(f"code {address:#x} 0x1000 {name}\n" for name, address in CODE.items())
    for number in range(1, count + 1):
        text = folder / f"{number}.text"
        text.write_text(head + boot(random.Random(number)))
        subprocess.run([build / "tests/trace-of-text", text, folder / f"{number}.mmio"], check=True)
        text.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.splitlines()[0])
    make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))

#!/usr/bin/env python3
"""Damages the running hypervisor like a debugger, and checks that all CPUs stop.

damage.py KIND BOARD SOCKET BUILD REPORT PID: QEMU's debug socket (the machine waits with -S), the build folder, the
file with the hypervisor's UART, and the process of mmioscope, which is kept from ending QEMU before the CPUs are
checked. Prints the reason if it failed."""

import os
import re
import signal
import subprocess
import sys
import time

from debugger import CPSR, PC, Debugger, symbols_of

# Thumb code of the hypervisor: an instruction of 16 bits stands in the lower half, and one of 32 has its first half there.
NOP = 0xBF00 << 16
UDF = NOP | 0xDE00
SVC = NOP | 0xDF00
HVC = 0x8000F7E0
BKPT = NOP | 0xBE00
MOV_R0_NOWHERE = 0x40E0F04F  # mov r0, #0x70000000: mapped neither for Hyp nor for the guest
NOWHERE = 0x70000000
BX_R0 = NOP | 0x4700
LDR_R0_R0 = NOP | 0x6800
PUSH_ALL = 0x5FFFE92D
BRANCH_BACK = NOP | 0xE7FC  # to the instruction before
# ARM code, of guests.
WFI = 0xE320F003
WFI_OF_THUMB = 0xBF30
# Words of Thumb's MRRC p15, 6, Rt, Rt2, c2 and MRC p15, 4, Rt, c5, c2, 0 (DDI 0406C A8.8.108, A8.8.107).
MRRC_VTTBR = "ec5[0-9a-f] ([0-9a-f])f62"
MRC_HSR = "ee95 ([0-9a-f])f12"
BRANCH_TO_ITSELF = 0xEAFFFFFE
SUPERVISOR = 0x13
THUMB = 1 << 5  # in CPSR
HYP = 0x1A


class Board:
    def __init__(self, ram, console):
        self.guest_entry = ram + 0x3000000
        self.spin = ram + 0x3F00000  # RAM that the guest does not use
        self.image = ram + 0x8000000
        self.trace_area = ram + 0x9000000
        self.last_page = ram + 0x1FFFF000  # of 512 MiB; no guest here uses it
        self.console = console


BOARDS = {
    "vexpress-a15": Board(0x80000000, 0x1C090000),
    "virt": Board(0x40000000, 0x09000000),
    "orangepi-pc": Board(0x40000000, 0x01C28000),
}

# The new code of the trap handler.
CODE = {
    "undefined": [UDF],
    "svc": [SVC],
    "hvc": [HVC],
    "bkpt": [BKPT],
    "jump": [MOV_R0_NOWHERE, BX_R0],
    "load": [MOV_R0_NOWHERE, LDR_R0_R0],
    "overflow": [PUSH_ALL, BRANCH_BACK],
}


class Hypervisor:
    def __init__(self, socket, build, board):
        self.debugger = Debugger(socket)
        self.board = BOARDS[board]
        self.image = f"{build}/hyp-{self.board.image:08x}.elf"
        self.hammer = f"{build}/tests/guest/{board}/hammer.elf"
        self.symbols = symbols_of(self.image)
        self.trap = self.symbols["mmioscope_guest_trap"]

    def at_work(self):
        """Lets both CPUs access devices, and stops them somewhere."""
        self.normal = self.debugger.system_register(0, "VTTBR")  # at the guest's first instruction
        self.debugger.run_to(symbols_of(self.hammer)["secondary_main"])
        before = self.records()
        while any(now < then + 50 for now, then in zip(self.records(), before)):
            self.debugger.go()
            time.sleep(0.02)
            self.debugger.interrupt()

    def records(self):
        """The number of records that each CPU has published: AreaHeader::ring_offset, RingHeader::head
        (hyp/abi/ring.hpp)."""
        area = self.board.trace_area
        rings = [area + self.debugger.read_word(area + 128 + 4 * cpu) for cpu in (0, 1)]
        return [self.debugger.read_word(ring + 72) for ring in rings]

    def spin(self, cpu):
        """From now on `cpu`, in the guest and outside of any step, executes a branch to itself."""
        self.debugger.write_words(self.board.spin, BRANCH_TO_ITSELF)
        for _ in range(1000):
            in_guest = self.debugger.register(cpu, CPSR) & 0x1F == SUPERVISOR
            if in_guest and self.debugger.system_register(cpu, "VTTBR") == self.normal:
                return self.debugger.set_register(cpu, PC, self.board.spin)
            self.debugger.go()
            time.sleep(0.002)
            self.debugger.interrupt()
        sys.exit(f"CPU {cpu} is never in the guest")

    def leaf(self, register, address):
        """The place of the descriptor of `address` in a table that starts at level 1."""
        table = self.debugger.system_register(0, register) & 0xFFFFFFF000
        for shift in (30, 21, 12):
            entry = table + 8 * (address >> shift & 0x1FF)
            descriptor = self.debugger.read_double(entry)
            if shift == 12 or descriptor & 3 != 3:
                return entry
            table = descriptor & 0xFFFFFFF000

    def after(self, symbol, pattern):
        """The address after the first instruction in `symbol` whose words match, and the register in its Rt. (Not by its
        text: binutils 2.44 knows MRRC of CP15 no more.)"""
        text = subprocess.run(
            ["arm-none-eabi-objdump", "-d", f"--disassemble={symbol}", self.image],
            capture_output=True, text=True, check=True).stdout
        found = re.search(rf"^ *([0-9a-f]+):\s+{pattern}\s", text, re.M)
        if found is None:
            sys.exit(f"{symbol} has no instruction like {pattern}")
        return int(found.group(1), 16) + 4, int(found.group(2), 16)

    def override(self, symbol, pattern, value):
        """Gives the instruction's register another value at its next execution."""
        address, register = self.after(symbol, pattern)
        cpu = self.debugger.run_to(address)
        self.debugger.set_register(cpu, register, value)

    def forget_area(self):
        self.debugger.write_words(self.leaf("HTTBR", self.board.trace_area), 0, 0)


VTTBR_READ_BACK = "mmioscope_guest_trap", MRRC_VTTBR, 0x1234


def damage_running(kind, hypervisor):
    """For two busy CPUs."""
    debugger, trap, symbols = hypervisor.debugger, hypervisor.trap, hypervisor.symbols
    if kind in CODE:
        debugger.write_words(trap, *CODE[kind])
    elif kind == "check":
        hypervisor.override(*VTTBR_READ_BACK)
    elif kind == "class":
        hypervisor.override("mmioscope_guest_trap", MRC_HSR, 0x3F << 26)
    elif kind == "cpu1":  # while CPU 0 does not trap
        hypervisor.spin(0)
        debugger.run_to(trap, cpu=1)
        debugger.set_register(1, 0, NOWHERE)  # Cpu&
    elif kind == "both":
        for cpu in (0, 1):
            debugger.run_to(trap, cpu=cpu)
        debugger.write_words(trap, UDF)
    elif kind in ("irq", "fiq"):  # always masked, so it is sent to the vector
        cpu = debugger.run_to(trap)
        debugger.set_register(cpu, CPSR, debugger.register(cpu, CPSR) & ~THUMB)
        debugger.set_register(cpu, PC, symbols["hyp_vectors"] + {"irq": 0x18, "fiq": 0x1C}[kind])
    elif kind == "area":  # the last records become unreadable, too
        hypervisor.forget_area()
    elif kind == "check-area":  # a failed check, after which the area cannot be marked, or read
        hypervisor.spin(0)  # otherwise its next trap may meet the missing area first
        hypervisor.override(*VTTBR_READ_BACK)
        hypervisor.forget_area()
    elif kind == "check-report":  # a failed check, and then a fault after the records
        hypervisor.override(*VTTBR_READ_BACK)
        debugger.write_words(symbols["_ZN9mmioscope9Integrity11find_damageERNS_7MachineE"], UDF)
    elif kind == "entry":  # before the report has begun
        debugger.write_words(symbols["mmioscope_hyp_fault"], UDF)
        debugger.write_words(trap, UDF)
    elif kind == "printing":
        debugger.write_words(symbols["_ZN9mmioscope9print_oneERNS_8TextSinkENS_3HexE"], UDF)
        debugger.write_words(trap, UDF)
    else:
        return False
    return True


def damage_resting(kind, hypervisor):
    """For a guest about to start: found at the latest when it starts a CPU or ends the machine."""
    debugger, symbols, board = hypervisor.debugger, hypervisor.symbols, hypervisor.board
    if kind == "text":
        debugger.flip(symbols["image_text_end"] - 1, 3)
    elif kind == "constants":
        debugger.flip(symbols["image_constants_end"] - 1, 0)
    elif kind == "tables":
        debugger.flip(hypervisor.leaf("VTTBR", board.last_page) + 6, 6)  # XN
    elif kind == "description":
        debugger.flip(symbols["_ZN9mmioscope12_GLOBAL__N_17machineE"] + 0x3000, 5)
    elif kind == "code-page":
        debugger.flip(hypervisor.leaf("VTTBR", board.guest_entry) + 6, 6)
    elif kind == "missing":
        debugger.write_words(hypervisor.leaf("VTTBR", board.console), 0, 0)
    else:
        sys.exit(f"no such kind of damage: {kind}")


def wait_for_report(path, last):
    ends = time.monotonic() + 5
    while time.monotonic() < ends:
        with open(path, encoding="latin-1") as file:
            if last in file.read():
                return
        time.sleep(0.01)
    sys.exit(f"the report has no '{last}' after 5 s")


def halted(debugger, cpu):
    """Whether it sleeps in Hyp, with interrupts masked, in a loop around one WFI."""
    psr, pc = debugger.register(cpu, CPSR), debugger.register(cpu, PC)
    words = [debugger.read_word((pc & ~3) + offset) for offset in (-8, -4, 0, 4)]
    near = [word >> shift & 0xFFFF for word in words for shift in (0, 16)] if psr & THUMB else words
    return psr & 0x1F == HYP and psr & 0x1C0 == 0x1C0 and (WFI_OF_THUMB if psr & THUMB else WFI) in near


def require_stopped(hypervisor, off):
    """All CPUs except those that are off must halt soon, and stay halted; the trace must not grow."""
    debugger = hypervisor.debugger
    cpus = [cpu for cpu in range(len(debugger.threads)) if cpu not in off]
    seen = 0
    for _ in range(100):
        debugger.interrupt()
        at = [hex(debugger.register(cpu, PC)) for cpu in cpus]
        all_halted = all(halted(debugger, cpu) for cpu in cpus)
        if seen > 0 and not all_halted:
            sys.exit(f"a CPU ran on after all had stopped: {at}")
        if seen > 0 and records != hypervisor.records():
            sys.exit("the trace grows after all had stopped")
        records = hypervisor.records()
        seen += all_halted
        if seen == 3:
            return
        debugger.go()
        time.sleep(0.02)
    sys.exit(f"not all CPUs stop: {at}")


def never_started(hypervisor):
    """CPUs that firmware has kept off: they are at their entry, or at the reset vector."""
    debugger, start = hypervisor.debugger, hypervisor.symbols["_start"]
    return [cpu for cpu in range(len(debugger.threads)) if debugger.register(cpu, PC) in (start, 0)]


def main():
    kind, board, socket, build, report, process = sys.argv[1:]
    hypervisor = Hypervisor(socket, build, board)
    debugger = hypervisor.debugger
    os.kill(int(process), signal.SIGSTOP)
    try:
        if kind != "start":
            debugger.run_to(hypervisor.board.guest_entry)
        if kind == "start":  # the MMU is off, and the machine does not exist yet
            debugger.write_words(hypervisor.symbols["mmioscope_start"], UDF)
        elif kind in ("text", "constants", "tables", "description", "code-page", "missing"):
            damage_resting(kind, hypervisor)
        else:
            hypervisor.at_work()
            if not damage_running(kind, hypervisor):
                sys.exit(f"no such kind of damage: {kind}")
        off = never_started(hypervisor)
        debugger.go()
        wait_for_report(report, "mmioscope: stop: " if kind == "printing" else "mmioscope: end of report")
        require_stopped(hypervisor, off)
    finally:
        debugger.detach()
        os.kill(int(process), signal.SIGCONT)


main()

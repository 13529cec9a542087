#!/usr/bin/env python3
"""Puts CPU 1 into another cluster: QEMU has no board with two. Wherever the hypervisor reads CPU 1's MPIDR, a debugger
changes what it has read from 0x80000001 to 0x80000100, also for VMPIDR, which is what the guest reads.

clusters.py SOCKET IMAGE firmware|at-once: QEMU's debug socket (the machine waits with -S), the hypervisor's ELF file, and
how CPU 1 starts. For QEMU's firmware the target of CPU_ON is changed back. Prints the reason if it failed."""

import re
import subprocess
import sys

from debugger import PC, Debugger, symbols_of

PRETENDED = 0x80000100
CPU_ON = 0x84000003
SMC = "e1600070"  # smc #0, which binutils 2.44 does not name
CLAIM = 3100  # instructions until it is clear which CPU is CPU 0 (boot/start.S)


def sites(image):
    """Addresses behind the reads of MPIDR, each with its register and the function; and that of the SMC."""
    listing = subprocess.run(["arm-none-eabi-objdump", "-d", image], check=True, capture_output=True, text=True).stdout
    function = ""
    reads, calls = [], []
    for line in listing.splitlines():
        if found := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            function = found.group(1)
        elif found := re.match(r"([0-9a-f]+):.*\tmrc\s+15, 0, r(\d+), cr0, cr0, \{5\}", line):
            reads.append((int(found.group(1), 16) + 4, int(found.group(2)), function))
        elif "call_firmware" in function and (found := re.match(rf"([0-9a-f]+):\s+{SMC}\s", line)):
            calls.append(int(found.group(1), 16))
    return reads, calls


def pretend(debugger, site, cpu=None):
    """Runs until CPU 1 has read its MPIDR there."""
    address, register, _ = site
    while debugger.run_to(address, cpu) != 1:
        debugger.step(0)
    if debugger.register(1, register) != 0x80000001:
        raise RuntimeError(f"CPU 1 has read {debugger.register(1, register):#x} at {address:#x}")
    debugger.set_register(1, register, PRETENDED)


def main(socket, image, start):
    reads, calls = sites(image)
    debugger = Debugger(socket)
    if start == "at-once":
        debugger.run_to(reads[0][0], 0)
        pretend(debugger, reads[0], 1)
        # From the same place on, instruction by instruction: CPUs in QEMU may stop for longer than a store takes.
        for _ in range(CLAIM):
            debugger.step(0)
            debugger.step(1)
        waiting = symbols_of(image)["wait_for_tree"]
        waits = [cpu for cpu in (0, 1) if waiting <= debugger.register(cpu, PC) < waiting + 16]
        if len(waits) != 1:
            raise RuntimeError(f"of the two first CPUs {len(waits)} wait for the tree")
        if waits == [0]:
            [first] = [site for site in reads if "find_board" in site[2]]
            pretend(debugger, first, 1)
    else:
        [smc] = calls
        while (debugger.run_to(smc), debugger.register(0, 0), debugger.register(0, 1)) != (0, CPU_ON, PRETENDED & 0xFFFF):
            debugger.step(0)
        debugger.set_register(0, 1, 1)
        [entry] = [site for site in reads if site[2] == "mmioscope_cpu_on_entry"]
        pretend(debugger, entry)
        [virtual] = [site for site in reads if "reset_guest_state" in site[2]]
        pretend(debugger, virtual)
    debugger.detach()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (OSError, EOFError, RuntimeError, ValueError) as error:
        sys.exit(f"{type(error).__name__}: {error}")

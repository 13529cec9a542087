#!/usr/bin/env python3
"""Puts CPU 1 into another cluster: QEMU has no board with two. Wherever the hypervisor reads CPU 1's MPIDR, a debugger
changes what it has read from 0x80000001 to 0x80000100, also for VMPIDR, which is what the guest reads.

clusters.py SOCKET IMAGE firmware|at-once: QEMU's debug socket (the machine waits with -S), the hypervisor's ELF file, and
how CPU 1 starts. For QEMU's firmware the target of CPU_ON is changed back. Prints the reason if it failed."""

import re
import subprocess
import sys

from debugger import Debugger

PRETENDED = 0x80000100
CPU_ON = 0x84000003
BOOT_READS = 2  # of MPIDR before the device tree is read, on the way of a CPU that waits for that


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
        elif "call_firmware" in function and (found := re.match(r"([0-9a-f]+):.*\tsmc\s", line)):
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
    virtual = [site for site in reads if "reset_guest_state" in site[2]]
    if start == "at-once":
        for site in reads[:BOOT_READS]:
            pretend(debugger, site)
            if site == reads[0]:
                debugger.step(1)  # CPU 0 has its own turn at the same place
    else:
        [smc] = calls
        while (debugger.run_to(smc), debugger.register(0, 0), debugger.register(0, 1)) != (0, CPU_ON, PRETENDED & 0xFFFF):
            debugger.step(0)
        debugger.set_register(0, 1, 1)
        [entry] = [site for site in reads if site[2] == "mmioscope_cpu_on_entry"]
        pretend(debugger, entry)
        [site] = virtual
        pretend(debugger, site)
    debugger.detach()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (OSError, EOFError, RuntimeError, ValueError) as error:
        sys.exit(f"{type(error).__name__}: {error}")

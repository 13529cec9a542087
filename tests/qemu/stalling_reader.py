#!/usr/bin/env python3
"""Reads a stream from a FIFO like a reader that stalls, and tells the guest when that is enough.

usage: stalling_reader.py FIFO RAM OUTPUT drop|stall|flight|leave

Reads a little, and then nothing until the policy shows its effect: the hypervisor has lost records, its guest waits,
or the ring is overwritten. This is read from the trace area in the guest's RAM (hyp/abi/ring.hpp), never from a
clock. Then it tells the guest to end (tests/guest/numbers.cpp), and reads the rest; `leave` closes the FIFO instead."""
import fcntl
import mmap
import os
import struct
import sys
import time

ENOUGH = 32 << 20            # in RAM: the word that the guest polls
AREA = (128 << 20) + (16 << 20)  # in RAM: the board's hypervisor, and hyp/abi/layout.hpp
AREA_MAGIC = 0x31504353_4F494D4D
RING_OFFSET = 128            # in AreaHeader
F_SETPIPE_SZ = 1031
FIRST = 16384                # bytes read before the stall
MANY = 1000
LIMIT = 40                   # seconds; then the test has failed


class Ring:
    """The current state of CPU 0's ring."""

    def __init__(self, ram):
        self.ram = ram
        if self.word("Q", AREA) != AREA_MAGIC:
            sys.exit("no trace area")
        self.at = AREA + self.word("I", AREA + RING_OFFSET)

    def word(self, kind, at):
        return struct.unpack_from("<" + kind, self.ram, at)[0]

    def field(self, offset):
        return self.word("Q", self.at + offset)

    capacity = property(lambda self: self.field(8))
    head = property(lambda self: self.word("I", self.at + 72))
    lost = property(lambda self: self.field(104))
    retries = property(lambda self: self.field(128 + 4 * 8))
    drained = property(lambda self: self.field(192 + 64))


REACHED = {
    "drop": lambda ring: ring.lost >= MANY,
    "stall": lambda ring: ring.retries >= MANY and ring.head - ring.drained >= ring.capacity - 1,
    "flight": lambda ring: ring.head - ring.drained >= 3 * ring.capacity,
}
REACHED["leave"] = REACHED["drop"]


def wait_for(what, ring):
    end = time.monotonic() + LIMIT
    while not what(ring):
        if time.monotonic() > end:
            sys.exit(f"head {ring.head} drained {ring.drained} lost {ring.lost} retries {ring.retries}: no stall")
        time.sleep(0.01)


def shrink(line):
    """Makes the pipe as small as possible; False if it contains more."""
    try:
        fcntl.fcntl(line, F_SETPIPE_SZ, 4096)
        return True
    except OSError:
        return False


def main():
    fifo, ram_file, output, policy = sys.argv[1:]
    line = open(fifo, "rb", buffering=0)
    with open(output, "wb") as out, open(ram_file, "r+b") as file:
        while out.tell() < FIRST or not shrink(line):
            out.write(line.read(FIRST))
        ram = mmap.mmap(file.fileno(), 0)
        ring = Ring(ram)
        wait_for(REACHED[policy], ring)
        print(f"stalled: head {ring.head} drained {ring.drained} lost {ring.lost} retries {ring.retries}")
        if policy == "leave":
            line.close()
        else:
            fcntl.fcntl(line, F_SETPIPE_SZ, 1 << 20)  # this process may be slow, but the line no longer is
        struct.pack_into("<I", ram, ENOUGH, 1)
        while policy != "leave" and (piece := line.read(1 << 16)):
            out.write(piece)


main()

#!/usr/bin/python3
"""Has protoc print a Perfetto trace of any size: some thousand packets at a time, which are a message, too.

Usage: protoc_in_parts.py FILE. Exit status 1 if FILE is no sequence of packets, or protoc says it is wrong.
"""
import os
import subprocess
import sys

PART = 16 << 20  # bytes
PACKET = 1 << 3 | 2  # field 1 of Trace, with a length in front
PROTOC = ["protoc", "--decode=Trace", "--proto_path=" + os.path.dirname(os.path.abspath(__file__)), "perfetto.proto"]


def length_at(data, place):
    """A varint: its value, and where it ends; None if `data` ends in it."""
    value = shift = 0
    while place < len(data):
        byte = data[place]
        value |= (byte & 0x7f) << shift
        shift += 7
        place += 1
        if byte < 0x80:
            return value, place
    return None


def whole_packets(data):
    """How many bytes of `data` are packets that end in it."""
    end = 0
    while end < len(data):
        if data[end] != PACKET:
            sys.exit(f"a packet begins with {data[end]:#x}")
        size = length_at(data, end + 1)
        if size is None or sum(size) > len(data):
            break
        end = sum(size)
    return end


def main():
    rest = b""
    with open(sys.argv[1], "rb") as file:
        while more := file.read(PART):
            data = rest + more
            end = whole_packets(data)
            sys.stdout.flush()
            subprocess.run(PROTOC, input=data[:end], check=True)
            rest = data[end:]
    if rest:
        sys.exit(f"{len(rest)} bytes of a packet without its end")


main()

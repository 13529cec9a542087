#!/usr/bin/python3
"""Makes protoc print a Perfetto trace of any size: some thousand packets at a time, which are a valid message, too.

Usage: protoc_in_parts.py FILE. Exit status 1 if FILE is not a sequence of packets, or protoc reports an error."""
import os
import subprocess
import sys

PART = 16 << 20  # bytes
PACKET = 1 << 3 | 2  # field 1 of Trace, preceded by its length
PROTOC = ["protoc", "--decode=Trace", "--proto_path=" + os.path.dirname(os.path.abspath(__file__)), "perfetto.proto"]


def length_at(data, place):
    """A varint: its value, and its end; None if `data` ends inside it."""
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
    """The number of bytes of `data` that are complete packets."""
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

#!/usr/bin/env python3
"""Prints which of the words are in an output, in any notation. Usage: code_in.py FILE-OR-FOLDER WORD...

An address (0x...) may appear as hexadecimal or decimal digits, as 4 bytes in either order, or as a varint
(Perfetto); for one that ends in three zeros the digits of its page (0xf5ab3000: f5ab3) are enough. Everything else
is text."""
import os
import sys


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def notations(word):
    if not word.startswith("0x"):
        return [word.encode()]
    number = int(word, 16)
    digits = b"%x" % (number if number % 4096 else number >> 12)
    return [digits, b"%d" % number, number.to_bytes(4, "little"), number.to_bytes(4, "big"), varint(number)]


def contents(path):
    files = [path] if os.path.isfile(path) else [os.path.join(path, name) for name in os.listdir(path)]
    return b"".join(open(file, "rb").read() for file in files)


def main():
    data = contents(sys.argv[1])
    text = data.lower()
    for word in sys.argv[2:]:
        if any(form in data or form in text for form in notations(word)):
            print(word)


main()

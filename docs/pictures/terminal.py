#!/usr/bin/env python3
"""Draws the text on standard input as an SVG of a terminal, on standard output.

usage: COMMAND | terminal.py > PICTURE.svg

Lines that begin with "$ " are bold. Colours (SGR 1, 30 to 37) are kept. No font is embedded: words are stretched to
the width that they have in a grid of characters, so columns line up in any font.
"""
import re
import sys
from xml.sax.saxutils import escape

CELL, LINE, MARGIN, SIZE = 7.2, 17, 12, 12
BACKGROUND, TEXT = "#16191d", "#d5d8dc"
COLORS = {30: "#5c6370", 31: "#ef7a70", 32: "#8ccf7e", 33: "#e5c76b",
          34: "#6cb0f0", 35: "#c68aee", 36: "#67cbe7", 37: TEXT}
FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def runs(line):
    """(column, text, color, bold) for each run of LINE that has one look."""
    column, color, bold = 0, TEXT, False
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        if piece.startswith("\x1b["):
            for number in map(int, re.findall(r"\d+", piece) or [0]):
                if number == 0:
                    color, bold = TEXT, False
                elif number == 1:
                    bold = True
                else:
                    color = COLORS.get(number, color)
        elif piece:
            yield column, piece, color, bold
            column += len(piece)


def words(column, text):
    """TEXT cut at two or more spaces, so that columns stay where they are in any font."""
    for match in re.finditer(r"\S+(?: \S+)*", text):
        yield column + match.start(), match.group()


def main():
    lines = sys.stdin.read().expandtabs().rstrip("\n").split("\n")
    lines = [f"\x1b[1m{line}\x1b[m" if line.startswith("$ ") else line for line in lines]
    length = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines)
    width, height = length * CELL + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
          f'width="{width:.0f}" height="{height}" font-family="{FONTS}" font-size="{SIZE}" fill="{TEXT}">')
    print(f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>')
    for number, line in enumerate(lines):
        y = MARGIN + number * LINE + SIZE
        for start, text, color, bold in runs(line):
            for column, word in words(start, text):
                look = (f' fill="{color}"' if color != TEXT else "") + (' font-weight="bold"' if bold else "")
                print(f'<text x="{MARGIN + column * CELL:.1f}" y="{y}" textLength="{len(word) * CELL:.1f}" '
                      f'lengthAdjust="spacingAndGlyphs"{look}>{escape(word)}</text>')
    print("</svg>")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""matrix.py BUILD RESULTS PAGE: writes into PAGE, behind the line "<!-- make matrix -->", as a table, which
boards have passed with which kernel: the cases matrix-BOARD-KERNEL-ENGINE of tests/qemu/run.sh, by the lines in RESULTS.
A cell has the events that were compared with QEMU's log, under shadow and under emulation. A case that has failed, or was
not run, is "no"; "-": there is none."""
import pathlib
import re
import subprocess
import sys

KERNELS = {"bullseye": "5.10", "lpae": "6.1", "armmp": "6.1, short descriptors", "rt": "6.1, PREEMPT_RT", "trixie": "6.12"}
ENGINES = ("shadow", "emulation")
MARK = "<!-- make matrix -->\n"


def write(page, rows):
    before, mark, behind = page.read_text().partition(MARK)
    if not mark:
        sys.exit(f"matrix.py: {page} has no line {MARK.strip()}")
    rows.insert(1, ["---"] * len(rows[0]))
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    page.write_text(before + mark + table + re.sub(r"^(\|.*\n)*", "", behind))


def main():
    build, results, page = map(pathlib.Path, sys.argv[1:])
    run = re.findall(r"^(ok|FAILED) (matrix-[^ :]+)", results.read_text(), re.M)
    if not run:
        sys.exit(f"matrix.py: {results} names no case of the matrix")
    passed = {case for verdict, case in run if verdict == "ok"}
    listed = subprocess.run([pathlib.Path(__file__).with_name("run.sh"), "--list", "--tier", "matrix"], capture_output=True,
                            check=True, text=True).stdout
    cases = set(re.findall(r"^matrix (matrix-\S+)$", listed, re.M))
    boards = sorted({case.removeprefix("matrix-").rsplit("-", 2)[0] for case in cases})

    def events(board, kernel):
        """By engine: how many, "no", or "-"."""
        for case in (f"matrix-{board}-{kernel}-{engine}" for engine in ENGINES):
            said = re.search(r"^verify: (\d+) events", (build / "tests/qemu" / case / "verify").read_text(), re.M) \
                if case in passed else None
            yield f"{int(said[1]):,}" if said else "no" if case in cases else "-"

    def cell(board, kernel):
        counts = list(events(board, kernel))
        return "-" if "-" in counts else "; ".join(counts)

    write(page, [["board", *KERNELS.values()]] +
          [[f"`{board}`", *(cell(board, kernel) for kernel in KERNELS)] for board in boards])


if __name__ == "__main__":
    main()

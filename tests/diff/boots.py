#!/usr/bin/env python3
"""boots.py BUILD FOLDER N: records N boots of the demo's kernel, FOLDER/1.mmio and so on, every other one beside a busy process.

What is there stays.
"""
import contextlib
import pathlib
import subprocess
import sys

TREE = "vexpress-v2p-ca15-tc1.dtb"
DONE = "mmioscope-guest: done"


def boot(build, trace, guest=None, tree=None, initrd=None, limit=300, expect=None):
    """Records a boot: of the demo's guest, or of another one, or with another tree or RAM disk. NAME.console and NAME.log
    beside the trace say how it went. Without EXPECT, a boot that lasts longer than LIMIT seconds is recorded till then."""
    guest = guest or build / "guest"
    words = [build / "mmioscope", "run", "--kernel", guest / "vmlinuz", "--dtb", tree or guest / TREE,
             "--initrd", initrd or guest / "initrd.img", "--sd", build / "guest/sd.img", "--append", "console=ttyAMA0 panic=-1",
             "--time-limit", limit, "--console-log", trace.with_suffix(".console"), "--no-print", "--output", trace]
    words += ["--expect", expect] if expect else []
    with open(trace.with_suffix(".log"), "w") as log:
        done = subprocess.run([str(word) for word in words], stdout=log, stderr=subprocess.STDOUT, timeout=limit + 120)
    said = trace.with_suffix(".log").read_text()
    if done.returncode and (expect or "0 lost; the recording was cut: time limit reached" not in said):
        sys.exit(f"boots: {trace}: status {done.returncode}: {said}")


@contextlib.contextmanager
def busy_process():
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


def record(build, folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, count + 1):
        trace, unfinished = folder / f"{number}.mmio", folder / "unfinished"
        if not trace.exists():
            with busy_process() if number % 2 == 0 else contextlib.nullcontext():
                boot(build, unfinished, expect=DONE)
            unfinished.rename(trace)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.splitlines()[0])
    record(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))

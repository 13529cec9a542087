#!/usr/bin/env python3
"""run.py BUILD [--update] [FILE...]: checks the output of the commands in tests/commands/*.test.

A .test file consists of blocks, which begin with
    # ...           a comment
    == trace NAME   the trace file NAME, made from the text below (tests/host-tools/trace_text.hpp)
    == file NAME    the file NAME: the text below
    $ COMMAND       a line for the shell, followed by its output, with "! " before the lines on standard error, and
                    finally "? N", its exit status, if that is not 0; $BUILD is the build folder
Each file has its own folder, BUILD/tests/commands/NAME/. --update writes the actual output into the files.

docs/cookbook.md has commands, too, for people: each in a fenced block, followed by its output as a terminal shows it. Its
traces are in cookbook.traces, with commands that prepare the folder. A command that stands elsewhere on the page fails, as
nothing would execute it, and so does a question without one."""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def blocks(text):
    """(head, lines below it) of each block; blank lines before the next one do not count."""
    found = []
    for line in text.splitlines():
        if re.match(r"#|\$ |== ", line):
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    for _, below in found:
        while below and not below[-1]:
            below.pop()
    return found


def printed(command, folder, build):
    path = f"{build}:{build / 'tests'}:{os.environ['PATH']}"
    environment = {"BUILD": str(build), "PATH": path, "HOME": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"}
    # timeout ends what the command started, too.
    done = subprocess.run(["timeout", "-k", "10", "60", "bash", "-c", command], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True)
    lines = done.stdout.decode(errors="backslashreplace").splitlines()
    lines += [("! " + line).rstrip() for line in done.stderr.decode(errors="backslashreplace").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines + ([f"? {done.returncode}"] if done.returncode else [])


def new_folder(path, build):
    folder = build / "tests/commands" / path.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def make_file(head, below, folder, build):
    kind, name = head.split()[1:]
    (folder / (name + ".text" if kind == "trace" else name)).write_text("\n".join(below) + "\n")
    if kind == "trace":
        subprocess.run([build / "tests/trace-of-text", name + ".text", name], cwd=folder, check=True)


def judge(path, head, below, lines, update):
    """Whether the output is as expected; says so if not."""
    if lines != below and not update:
        print(f"FAILED {path.name}: {head}")
        print("\n".join("    " + line for line in difflib.unified_diff(below, lines, "expected", "printed", "", "", 1)))
    return lines == below


def carry_out(path, build, update):
    """The numbers of commands in a file with the right output, and with another one."""
    folder = new_folder(path, build)
    good, bad, anew = 0, 0, []
    for head, below in blocks(path.read_text()):
        if head.startswith("== "):
            make_file(head, below, folder, build)
        elif head.startswith("$ "):
            lines = printed(head[2:], folder, build)
            right = judge(path, head, below, lines, update)
            good, bad, below = good + right, bad + (not right), lines
        anew.append("\n".join([head, *below]))
    if update:
        path.write_text(re.sub(r"\n\n(#[^\n]*)\n\n(?=[#$])", r"\n\n\1\n", "\n\n".join(anew)) + "\n")
    return good, bad


def unexecuted(text):
    """What cook() would not execute: commands in the text, blocks that do not begin with one, questions without any."""
    parts = re.split("^```.*\n", text, flags=re.M)
    found = [command for prose in parts[::2] for command in re.findall(r"`mmioscope\s+[a-z-]+\s[^`]+`|^(?:    |~~~).*", prose, re.M)]
    found += [block.splitlines()[0] for block in parts[1::2] if not block.startswith("$ ")]
    found += re.findall("^```.+", text, re.M)
    return found + [question.splitlines()[0] for question in text.split("\n## ")[1:] if "\n$ mmioscope " not in question]


def cook(path, build, update):
    """The same for the cookbook, whose commands stand in fenced blocks."""
    folder = new_folder(path, build)
    results, anew = [], []
    for head, below in blocks((HERE / "cookbook.traces").read_text()):
        if head.startswith("== "):
            make_file(head, below, folder, build)
        elif head.startswith("$ "):
            results.append(judge(path, head, below, printed(head[2:], folder, build), False))
    for command in unexecuted(path.read_text()):
        print(f"FAILED {path.name}: nothing executes: {command}")
        results.append(False)
    for n, part in enumerate(path.read_text().split("```\n")):
        if n % 2 == 1:
            found = []
            for head, below in blocks(part):
                lines = [re.sub("^! ", "", line) for line in printed(head[2:], folder, build)]
                results.append(judge(path, head, below, lines, update))
                found.append("\n".join([head, *lines]))
            part = "\n\n".join(found) + "\n"
        anew.append(part)
    if update:
        path.write_text("```\n".join(anew))
    return sum(results), len(results) - sum(results)


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__.splitlines()[0])
    build = pathlib.Path(words[0]).resolve()
    files = [pathlib.Path(word) for word in words[1:]] or [*sorted(HERE.glob("*.test")), HERE.parents[1] / "docs/cookbook.md"]
    good, bad = map(sum, zip(*((cook if path.suffix == ".md" else carry_out)(path, build, "--update" in sys.argv)
                               for path in files)))
    print(f"commands: {good} passed, {bad} failed")
    return 1 if bad or not good else 0


sys.exit(main())

#!/usr/bin/env python3
"""Reads README.md as a newcomer does: what stands before the list of documents is short, answers questions.txt, and its
commands work on a boot's trace. Its links, and those of docs/README.md, which has every page of docs/, lead somewhere.

Usage: tests/readme/run.py BUILD. Ends with "readme: N passed, N failed"."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MOST_WORDS = 700


def words_of(text):
    """Without what marks code and line ends."""
    return " ".join(text.replace("`", "").split())


def questions():
    """question -> the texts of its answer"""
    lines = [line for line in (HERE / "questions.txt").read_text().splitlines() if not line.startswith("#")]
    return {question: [text.strip() for text in answer.split(";")] for question, answer in zip(lines[::2], lines[1::2])}


def links(page):
    return re.findall(r"\]\(([^):#]+)", page.read_text())


def commands(screen):
    """Those that read the trace of the demo."""
    return [line.split(" # ")[0].strip() for line in screen.splitlines() if re.match(r"    mmioscope .*demo\.mmio", line)]


def main(build):
    readme = HERE.parents[1] / "README.md"
    text = readme.read_text()
    screen = text.split("## Documents")[0]
    results = {f"at most {MOST_WORDS} words": len(screen.split()) <= MOST_WORDS}
    said = words_of(screen)
    for question, answer in questions().items():
        missing = [part for part in answer if part not in said]
        results[f"{question} {'; '.join(missing)}".strip()] = not missing
    index = readme.parent / "docs/README.md"
    for page in readme, index:
        for link in links(page):
            results[f"link {link}"] = (page.parent / link).exists()
    for page in index.parent.glob("*.md"):
        results[f"docs/README.md has {page.name}"] = page == index or page.name in links(index)
    own = build / "tests/readme"
    own.mkdir(parents=True, exist_ok=True)
    subprocess.run([build / "tests/make-cost-trace", "boot", "3000", own / "demo.mmio"], check=True)
    environment = {**os.environ, "PATH": f"{build.resolve()}:{os.environ['PATH']}"}
    asked = commands(screen)
    results["six commands and more"] = len(asked) >= 6
    for command in asked:
        done = subprocess.run(shlex.split(command), cwd=own, env=environment, capture_output=True, text=True)
        results[f"{command}: {done.stderr.splitlines()[-1:]}"] = done.returncode == 0 and done.stdout.strip() != ""
    for name, good in results.items():
        if not good:
            print(f"FAILED {name}")
    print(f"readme: {sum(results.values())} passed, {len(results) - sum(results.values())} failed")
    return 0 if all(results.values()) else 1


if len(sys.argv) != 2:
    sys.exit(__doc__.strip())
sys.exit(main(pathlib.Path(sys.argv[1])))

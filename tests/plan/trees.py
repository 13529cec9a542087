#!/usr/bin/env python3
"""trees.py BUILD [--update | --unpack]: `mmioscope plan` on each device tree in the guest's kernel package.

None may crash it, and the numbers of machines with the Virtualization Extensions by result must be those in
docs/boards.md; --update writes them there. These count for one version of the package, which the page names: with
another one only crashes are looked for, and that is said. --unpack only writes the trees to BUILD/tests/plan/trees/."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

PAGE = pathlib.Path("docs/boards.md")
HEAD = "| what is missing | machines |\n|---|---|\n"


def unpack(build):
    """The version of the kernel's package, and its trees."""
    cache = pathlib.Path(os.environ.get("MMIOSCOPE_CACHE") or build / "cache")
    _, _, version, name, _ = next(line.split() for line in open(cache / "lock.txt") if line.startswith("kernel "))
    folder = build / "tests/plan/trees"
    folder.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", cache / name], stdout=subprocess.PIPE) as package:
        with tarfile.open(fileobj=package.stdout, mode="r|") as files:
            for file in files:
                if file.isfile() and file.name.endswith(".dtb"):
                    (folder / pathlib.Path(file.name).name).write_bytes(files.extractfile(file).read())
    return version, sorted(folder.glob("*.dtb"))


def plan(build, tree):
    """Exit status, rows, messages."""
    done = subprocess.run([build / "mmioscope", "plan", tree, "--format", "jsonl"], capture_output=True, text=True, timeout=300)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.strip()


def missing(rows):
    return [row["text"].split(":")[0] for row in rows if row["section"] == "missing"]


def of_this_kind(rows):
    return "core" not in missing(rows) and any(row["section"] == "CPU" for row in rows)


def table(results):
    counts = collections.Counter(", ".join(sorted(set(missing(rows)))) or "nothing" for rows in results)
    lines = [f"| {what} | {count} |\n" for what, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))]
    return "".join([HEAD, *lines, f"| all | {len(results)} |\n"])


def main():
    build = pathlib.Path(sys.argv[1])
    version, trees = unpack(build)
    if "--unpack" in sys.argv:
        return 0
    wrong, results = [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for tree, (status, rows, said) in zip(trees, pool.map(lambda tree: plan(build, tree), trees)):
            if said or status != (1 if missing(rows) else 0) or not rows or rows[0]["section"] != "verdict":
                wrong.append(f"{tree.name}: exit status {status}: {said or 'the rows do not fit it'}")
            elif of_this_kind(rows):
                results.append(rows)
    page = PAGE.read_text()
    now = table(results)
    pattern = re.escape(HEAD) + r"(\|.*\n)+"
    if "--update" in sys.argv:
        page = re.sub(r"(?<=linux-image-armmp-lpae )[^ ,)]+", version, page)
        PAGE.write_text(re.sub(pattern, lambda _: now, page))
    elif f"linux-image-armmp-lpae {version}" not in page:
        print(f"the counts in {PAGE} are of another version than {version}, and were not compared")
    elif (found := re.search(pattern, page)) is None or found.group() != now:
        wrong.append(f"{PAGE} has other counts:\n{now}")
    for text in wrong:
        print(f"FAILED plan: {text}")
    print(f"plan: {len(trees) - len(wrong)} passed, {len(wrong)} failed, {len(results)} machines counted")
    print(f"{len(trees) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


sys.exit(main())

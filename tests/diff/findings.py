"""What the judges of `mmioscope diff` have in common: traces, findings, and the verdict."""
import csv
import io
import subprocess
import sys


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)


def traces_in(folder, least):
    """FOLDER/*.mmio, by number."""
    traces = sorted(folder.glob("*.mmio"), key=lambda path: (len(path.stem), path.stem))
    if len(traces) < least:
        sys.exit(f"judge: {folder} has {len(traces)} traces, and {least} are needed")
    return traces


def needed(text, classes):
    """--need: the share that each class needs, as far as TEXT names it."""
    need = dict(word.split("=") for word in text.split(",") if word)
    if unknown := set(need) - set(classes):
        sys.exit(f"judge: --need knows no class {', '.join(sorted(unknown))}; there are {', '.join(classes)}")
    return {name: float(share) for name, share in need.items()}


def findings(program, *words):
    """The rows of `diff --format csv`: sure ones first, and by time."""
    done = run(program, "diff", "--format", "csv", *words)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"judge: diff {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    if (done.returncode == 1) != any(row["tier"] == "sure" for row in rows):
        sys.exit(f"judge: status {done.returncode} does not fit the findings")
    return rows


def registers_of(row):
    return [word.split("+")[0] if "+" in word[1:] else word for word in row["register"].split(", ")]


def names(row, register, function):
    return register in registers_of(row) and function.split(" ")[0] in row["function"]


def text_of(row):
    return " | ".join(row[key] for key in ("tier", "device", "register", "function", "difference"))


def verdict(judge, results):
    """Prints what is false, and the last line. Returns the exit status."""
    for what, good in results.items():
        if not good:
            print(f"FAILED {judge}: {what}")
    passed, failed = sum(results.values()), len(results) - sum(results.values())
    print(f"{judge}: {passed} passed, {failed} failed")
    return 1 if failed else 0

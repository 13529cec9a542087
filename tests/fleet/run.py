#!/usr/bin/env python3
"""run.py BUILD [BOARDS]: asks contrib/fleet's three questions of the traces of a made-up fleet (made_fleet.py), two of each
board (25): DuckDB, two ClickHouse servers and mmioscope's own commands must give the answers that are known beforehand. Debian
13 has no ClickHouse: there the rest is judged."""
import collections
import contextlib
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys

from made_fleet import KERNELS, Fleet

HERE = pathlib.Path(__file__).resolve().parents[2] / "contrib/fleet"
QUESTIONS = "initialisation", "outliers", "time"
LIMIT = 1800  # seconds: whatever hangs, ends

CLICKHOUSE = shutil.which("clickhouse-server") or platform.freedesktop_os_release().get("VERSION_CODENAME") == "bookworm"

passed = failed = 0


def check(name, good, *seen):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(f"ok fleet: {name}" if good else f"FAILED fleet: {name}: {' | '.join(str(one)[:2000] for one in seen)}", flush=True)


def run(*words, source=None, may_fail=False):
    """What the command prints; with may_fail, its exit status and its messages, too."""
    with open(source or os.devnull) as stdin:
        done = subprocess.run([str(word) for word in words], stdin=stdin, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode and not may_fail:
        sys.exit(f"{words[0]}: exit status {done.returncode}: {done.stderr}")
    return (done.stdout, done.returncode, done.stderr) if may_fail else done.stdout


class Tool:
    """The answers from mmioscope's own commands, one trace at a time."""

    def __init__(self, build, fleet):
        self.program, self.fleet = build / "mmioscope", fleet

    def rows(self, *words, status=(0,)):
        out, ended, said = run(self.program, *words, may_fail=True)
        if ended not in status:
            sys.exit(f"{words}: {said}")
        return [json.loads(line) for line in out.splitlines()]

    def kernel(self, trace):
        text = next(row["value"] for row in self.rows("info", "--format", "jsonl", trace) if row.get("name") == "kernel.banner")
        return text.split()[2]

    def initialisation(self):
        """By diff: what differs for sure from five boots of boards that are known as good."""
        answer = set()
        for boot in KERNELS:
            profile = self.fleet.folder / f"{boot}.profile"
            run(self.program, "diff", "--good", *(self.fleet.place(board, boot) for board in self.fleet.likes()[:5]), "--profile", profile)
            for board in range(1, self.fleet.boards + 1):
                trace = self.fleet.place(board, boot)
                for row in self.rows("diff", "--profile", profile, "--format", "jsonl", trace, status=(0, 1)):
                    if row["tier"] == "sure":
                        answer.add((row["device"], row["register"], row["function"], self.kernel(trace),
                                    *self.values(row["difference"], trace.parent.name)))
        return answer

    @staticmethod
    def values(difference, board):
        """The usual value, the board, and its value."""
        if found := re.match(r"(0x\w+) -> (0x\w+)", difference):
            return int(found[1], 16), board, int(found[2], 16)
        value, only_in = re.match(r"(0x\w+).* only in ([AB])", difference).groups()
        return (int(value, 16), board, None) if only_in == "A" else (None, board, int(value, 16))

    def outliers(self):
        """By at: the last read of each register."""
        values = collections.defaultdict(dict)
        for trace in self.fleet.traces():
            for row in self.rows("at", "1000", "-F", "r", "--format", "jsonl", trace):
                values[row["device"], row["register"]][trace.parent.name, trace.stem] = int(row["value"], 16)
        answer = set()
        for register, of in values.items():
            middle = statistics.median(of.values())
            spread = statistics.mean(abs(value - middle) for value in of.values())
            answer |= {(*register, *boot, value) for boot, value in of.items() if abs(value - middle) > 5 * spread}
        return answer

    def time(self):
        """By stat: the time of each device's accesses."""
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for trace in self.fleet.traces():
            kernel = self.kernel(trace)
            for row in self.rows("stat", "--by", "device", "--limit", "0", "--format", "jsonl", trace):
                total = sums[row["name"], kernel]
                for i, more in enumerate([1, row["reads"] + row["writes"], row["duration_ns"]]):
                    total[i] += more
        return {(*key, *total) for key, total in sums.items()}


def table(text):
    """The rows of an engine's answer, by column."""
    head, *lines = text.splitlines()
    return [dict(zip(head.split("\t"), line.split("\t"))) for line in lines]


def number(text):
    return None if text == "\\N" else int(text)


def register(row):
    return row["name"] or f"+0x{int(row['offset']):03x}"


def as_known(question, rows):
    """An engine's answer as made_fleet.py has it."""
    if question == "initialisation":
        return {(row["device"], register(row), row["function"].split("+")[0], row["kernel"], number(row["usual"]), row["board"],
                 number(row["written"])) for row in rows}
    if question == "outliers":
        return {(row["device"], register(row), row["board"], row["boot"], number(row["last_read"])) for row in rows}
    return {(row["device"], row["kernel"], *(number(row[name]) for name in ("boots", "all_accesses", "ns"))) for row in rows}


class Servers:
    """Two ClickHouse servers, ended when this block is left."""

    def __init__(self, folder):
        with socket.socket() as one, socket.socket() as other:
            for taken in one, other:
                taken.bind(("127.0.0.1", 0))
            self.ports = [str(taken.getsockname()[1]) for taken in (one, other)]
        self.command = ["timeout", str(LIMIT), HERE / "clickhouse.sh", "serve", folder, *self.ports]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit("the servers do not start")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    def ask(self, question, may_fail=False):
        return run(HERE / "clickhouse.sh", "ask", self.ports[1], HERE / f"{question}.sql", may_fail=may_fail)

    def load(self, rows, may_fail=False):
        return run(HERE / "clickhouse.sh", "load", self.ports[0], source=rows, may_fail=may_fail)

    def rows(self, port, name):
        return int(run("clickhouse-client", "--port", port, "--query", f"SELECT count(*) FROM {name}"))

    def end_one(self):
        for pid in run("pgrep", "-f", f"^clickhouse-server .*/{self.ports[0]}/config.xml").split():
            os.kill(int(pid), signal.SIGKILL)


def main():
    build, boards = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 25
    own = build / "tests/fleet"
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    os.environ["MMIOSCOPE"] = str(build / "mmioscope")
    fleet = Fleet(build, own / "traces", boards)
    tool, duckdb = Tool(build, fleet), build / "fleet/duckdb.mjs"

    rows, parquet = own / "rows.csv", own / "parquet"
    rows.write_text(run(HERE / "rows.sh", *fleet.traces()))
    many = rows.read_text().count("\n") - 1
    check(f"each access of {2 * boards} traces is a row", many == sum(fleet.accesses.values()), many)

    # A trace that cannot be read, and one whose name would be more than one word of a row.
    (own / "broken.mmio").write_text("no trace")
    (own / "a,b.mmio").write_bytes(fleet.place(1, 1).read_bytes())
    out, status, said = run(HERE / "rows.sh", own / "broken.mmio", own / "a,b.mmio", fleet.place(1, 1), may_fail=True)
    check("a trace that cannot be read is told, and the next ones are there", status == 1 and "broken.mmio: " in said and "rename it" in said
          and len(said.splitlines()) == 2 and out == run(HERE / "rows.sh", fleet.place(1, 1)), status, said)

    run("node", duckdb, "load", parquet, source=rows)
    check("each boot has its file", len(list(parquet.glob("*/*/*.parquet"))) == 2 * boards)
    with Servers(own / "clickhouse") if CLICKHOUSE else contextlib.nullcontext() as servers:
        if servers:
            servers.load(rows)
            parts = [servers.rows(port, "events_here") for port in servers.ports]
            check("each server has a part of the rows, and the table all",
                  all(parts) and sum(parts) == many == servers.rows(servers.ports[1], "events"), parts)
        else:
            print("not judged: ClickHouse, which this Debian does not have")
        for question in QUESTIONS:
            by_duckdb = run("node", duckdb, "ask", parquet, HERE / f"{question}.sql")
            known = getattr(fleet, question)()
            for name, answer in (("DuckDB", as_known(question, table(by_duckdb))), ("mmioscope", getattr(tool, question)())):
                check(f"{question}: {name} has the {len(known)} rows that are known", answer == known, "more", answer - known, "less", known - answer)
            if servers:
                answer = servers.ask(question)
                check(f"{question}: ClickHouse's answer is DuckDB's", answer == by_duckdb, answer, by_duckdb)

        # Loaded again, a boot replaces itself in Parquet.
        run("node", duckdb, "load", parquet, source=rows)
        check("a boot can be loaded again into Parquet",
              as_known("time", table(run("node", duckdb, "ask", parquet, HERE / "time.sql"))) == fleet.time())
        strange = own / "strange.csv"
        strange.write_text("board,boot,colour\na,1,red\n")
        if servers:
            _, status, said = servers.load(strange, may_fail=True)
            check("ClickHouse refuses a column that it does not have", status and "colour" in said, said)
        _, status, said = run("node", duckdb, "load", parquet, source=strange, may_fail=True)
        check("DuckDB refuses rows that lack columns", status == 1 and "the rows of rows.sh" in said and len(said.splitlines()) == 1, said)
        _, status, said = run("node", duckdb, "ask", own / "nowhere", HERE / "time.sql", may_fail=True)
        check("DuckDB says that there are no files", status == 1 and "No files found" in said and len(said.splitlines()) == 1, said)

        if servers:
            servers.end_one()
            out, status, said = servers.ask("time", may_fail=True)
            check("without one of its servers ClickHouse gives no answer", status and not table(out or "\n"), status, out, said)
    check("no server is left", not run("pgrep", "-f", f"{own}/clickhouse", may_fail=True)[0])
    shutil.rmtree(own)
    print(f"fleet: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Removes the barriers, TLB maintenance, locks and unlocks of the hypervisor's protocol, one at a time,
and expects the simulated machine to notice each.

Usage: tests/mutants/run.py BUILD [--every N] [FILTER]
  --every N   one in N of them (the first, the N+1st, ...): a sample for short runs
  FILTER      only those whose "file:line kind" contains it

The list is complete by construction: every call of a kind below in FILES. `make mutants` builds what
is changed here. Ends with "mutants: N passed, N failed"; a mutant passes when a judge notices it, or
when tests/mutants/equivalent.txt says why none can.
"""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

FILES = ["hyp/trace/*", "hyp/engine/*", "hyp/mm/guest_view.*", "hyp/mm/changing_pages.cpp",
         "hyp/dev/own_bus.cpp", "hyp/machine/debug_unit.*", "hyp/control/*", "hyp/stream/*", "hyp/start/start.cpp",
         "hyp/trap/translate.cpp", "hyp/trap/abort.cpp", "hyp/trap/dispatch.cpp", "hyp/trap/fast_path.cpp",
         "hyp/trap/decode.cpp", "hyp/trap/fetch.cpp", "hyp/trap/panic.cpp",
         "hyp/trap/task_name.cpp"]
EXCEPT = {"hyp/engine/unprotect.cpp",  # the baseline, which loses events as it is
          "hyp/stream/request_line.cpp"}  # copies requests as they are: not simulated
# Whose tests are likely to notice: they go first. The others follow if they do not.
FIRST = [("hyp/stream/ring_merge.cpp", "what CPUs publish leaves*,what a closed merge*"), ("hyp/stream/", "[stream]"),
         ("hyp/machine/debug_unit", "*debug unit*,*BKPT*,*vectors now,a watchpoint*"),
         ("hyp/mm/changing_pages.cpp", "a descriptor taken away*"),
         ("hyp/control/", "what is switched on*,behind a flush*"),
         ("hyp/start/", "what is refused is told*"), ("hyp/trap/dispatch.cpp", "behind each access*,loops of exclusives*"),
         ("hyp/trap/fast_path.cpp", "what another CPU has switched*,the fast path*,another name is said*"), ("hyp/trap/panic.cpp", "a panic prints*"),
         ("hyp/trace/ring_writer.cpp", "a ring's reader*"), ("hyp/mm/", "the first view*"),
         ("hyp/trace/", "what a region lock*"), ("hyp/", "no unmap storm*")]
KINDS = [  # name, what is found, what is put in its place
    ("ISB", r"port::synchronize_context\(\);", ";"),
    ("DSB NSH", r"port::complete_local\(\);", ";"),
    ("DSB ISH", r"port::complete_all\(\);", ";"),
    ("DSB ISHST", r"port::publish_tables\(\);", ";"),
    ("DSB SY", r"port::complete_system\(\);", ";"),
    ("DMB", r"port::order_memory\(\);", ";"),
    ("TLBI", r"port::write<reg::TLBI\w*>\(\w*\);", ";"),
    ("ICIALLU", r"port::write<reg::ICIALLU>\(\w*\);", ";"),
    ("lock", r"port::exchange_if\(owner_, no_owner, cpu\)", "true"),
    ("lock", r"locks\.of\(region\)\.lock\.try_acquire\([^;]*?\)(?=\))", "true"),
    ("lock", r"region\.lock\.try_acquire\([^;]*?\)(?=\))", "true"),
    ("lock", r"cpu\.locks\.acquire\([^;]*?\)(?=\))", "true"),
    ("lock", r"(?<=if \(counted\) )regions\.add\(trigger_lock\);", ";"),
    ("lock", r"machine\.locks\.acquire_all\([^;]*?\)(?=\))", "true"),
    ("lock", r"(machine\.changes|(?<!\.)lock_)\.try_acquire\([^;]*?\)(?=[;)])", "true"),
    ("unlock", r"port::store_shared\(owner_, no_owner\);", ";"),
    ("unlock", r"[\w.>()*-]*lock\.release\(\);", ";"),
    ("unlock", r"(machine\.changes|(?<!\.)lock_)\.release\(\);", ";"),
    ("unlock", r"(?<!void )machine\.locks\.release_all\([^()]*\);", ";"),
    ("unlock", r"(?<!::)(?<!locks\.)release_all\(n\);", ";"),
    ("unlock", r"(?<![:\w])(?<!void )(cpu\.locks\.release|release_until)\([^()]*(\(\))?\);", ";"),
    ("open", r"cpu\.view\.open_shadow\(\);", ";"),
    ("debug", r"port::write<reg::(DBG\w+|HDCR)(<n>)?>\([^;]*\);", ";"),
    ("debug", r"(?<= )guest_uses_ = true;|program_vectors\(control, base\);|(?<=\)) watched_ = true;", ";"),
    ("debug", r"(?<=if \(guest_uses_\) )give_back\(\);", ";"),
    ("HSTR", r"port::write<reg::HSTR>\([\w:]*\);", ";"),
    ("gate", r"(?<!\w)cpu\.(always_slow|slow_now)(?= \|\|)", "false"),
    ("gate", r"(?<=emulates\(machine\) && )!cpu\.debug\.is_hyps\(\)", "false"),
    ("gate", r"span\.traced\(\)(?= && !cpu)|(?<=span\.traced\(\) && )!cpu\.machine->control\.choice\.any", "true"),
    ("gate", r"!config\.pre(?= &&)|(?<=\|\|\n           )cpu\.said_tasks\.knows\([^;]*?\)(?=;)"
             r"|!cpu\.mistakes_thumb_stores(?=;)|!machine\.user_firewall(?=\))", "true"),
    ("stream", r"if \(cpu\.serves_stream\) serve_stream\(cpu\);", ";"),
    ("stream", r"cpu\.step\.armed(?= \|\| !cpu\.own)|!cpu\.own_exclusives\.allowed\(\)", "false"),
    ("close", r"cpu\.view\.close_shadow\(\);", ";"),
]
# A header's code is compiled into those who call it.
USERS = {"hyp/machine/debug_unit.hpp": ["hyp/engine/reexecution.cpp", "hyp/trap/fast_path.cpp"],
         "hyp/engine/reexecution.hpp": ["hyp/engine/reexecution.cpp", "hyp/trap/fast_path.cpp"],
         "hyp/mm/guest_view.hpp": ["hyp/engine/shadow.cpp", "hyp/trap/fast_path.cpp"],
         "hyp/trace/lock.hpp": ["hyp/trace/region_lock.cpp", "hyp/trap/fast_path.cpp"],
         "hyp/trace/ring_writer.hpp": ["hyp/trace/ring_writer.cpp", "hyp/trap/fast_path.cpp",
                                       "hyp/engine/reexecution.cpp", "hyp/engine/emulation.cpp",
                                       "hyp/engine/engine.cpp", "hyp/engine/exclusive.cpp",
                                       "tests/unit/protocol/merge_test.cpp",
                                       "tests/unit/protocol/ring_test.cpp",
                                       "tests/unit/stream/stream_test.cpp"]}
COMPILER = os.environ.get("UNIT_CXX", "g++")
SECONDS = 120


class Mutant:
    def __init__(self, path, line, kind, text, changed):
        self.path, self.line, self.kind, self.text, self.changed = path, line, kind, text, changed

    @property
    def name(self):
        return f"{self.path}:{self.line} {self.kind}"

    @property
    def key(self):  # without the line, which moves
        return f"{self.path} {self.kind}: {' '.join(self.text.split())}"


def find():
    found = []
    for path in sorted({p for pattern in FILES for p in glob.glob(pattern)} - EXCEPT):
        source = open(path, encoding="utf-8").read()
        code = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), source)
        for kind, pattern, instead in KINDS:
            for m in re.finditer(pattern, code):
                line = source.count("\n", 0, m.start()) + 1
                text = source.splitlines()[line - 1].strip()
                changed = source[:m.start()] + instead + source[m.end():]
                found.append(Mutant(path, line, kind, text, changed))
    return sorted(found, key=lambda m: (m.path, m.line))


def build(build_dir, objects, mutant, place):
    """The protocol's tests with `mutant` in them; what the compiler said if it did not do."""
    changed = os.path.join(place, mutant.path)
    os.makedirs(os.path.dirname(changed), exist_ok=True)
    with open(changed, "w", encoding="utf-8") as out:
        out.write(mutant.changed)
    commands, link = [], list(objects)
    for unit in USERS.get(mutant.path, [mutant.path]):
        source = changed if unit == mutant.path else unit
        replacement = os.path.join(place, unit.replace("/", "-") + ".o")
        commands.append([COMPILER, "-std=c++20", "-O1", "-w", f"-I{place}/hyp", "-Itests/sim/include",
                         "-Ihyp", "-Itests", "-c", "-o", replacement, source])
        replaced = os.path.join(build_dir, "mutants", unit[:-4] + ".o")
        if replaced not in objects:
            return f"{replaced} is not part of the tests"
        link[objects.index(replaced)] = replacement
    commands.append([COMPILER, "-fuse-ld=gold", "-o", os.path.join(place, "protocol")] + link + ["-lfdt"])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return "not built: " + done.stderr.strip().splitlines()[-1]
    return ""


def judge(binary, tests="[protocol]"):
    """What noticed; empty if nothing did."""
    command = [binary, tests, "--abort", "--order", "decl"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"time limit: {SECONDS} s"
    if done.returncode == 0:
        return ""
    said = re.search(r'with expansion:\n\s*"([^"]*)', done.stdout)
    if said:
        return " ".join(said.group(1).split())[:100]
    said = re.search(r"FAILED:\s*\n?\s*(.*)", done.stdout)
    return said.group(1).strip()[:100] if said else f"exit status {done.returncode}"


def try_mutant(build_dir, objects, mutant):
    with tempfile.TemporaryDirectory(prefix="mutant", dir=os.path.join(build_dir, "mutants")) as place:
        wrong = build(build_dir, objects, mutant, place)
        if wrong:
            return False, wrong
        binary = os.path.join(place, "protocol")
        first = [tests for start, tests in FIRST if mutant.path.startswith(start)]
        return True, (first and judge(binary, first[0])) or judge(binary)


def equivalents():
    """key -> argument; an entry is a line `file kind: text` and indented lines behind it."""
    known, key = {}, None
    for line in open("tests/mutants/equivalent.txt", encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace() and key is not None:
            known[key] = (known[key] + " " + line.strip()).strip()
        else:
            key = line.strip()
            known[key] = ""
    return known


def objects_of(build_dir):
    """The objects of the unchanged binary, as the makefile lists them."""
    said = subprocess.run(["make", "--no-print-directory", "-s", "list-mutant-objects"],
                          capture_output=True, text=True, check=True)
    return said.stdout.split()


def main(arguments):
    every, wanted, positional = 1, "", []
    while arguments:
        argument = arguments.pop(0)
        if argument == "--every" and arguments and arguments[0].isdigit() and int(arguments[0]) > 0:
            every = int(arguments.pop(0))
        elif argument.startswith("-"):
            sys.exit(__doc__.strip())
        else:
            positional.append(argument)
    if not 1 <= len(positional) <= 2:
        print("usage: tests/mutants/run.py BUILD [--every N] [FILTER]", file=sys.stderr)
        return 2
    build_dir, wanted = positional[0], positional[1] if len(positional) > 1 else ""
    mutants = [m for m in find() if wanted in m.name][::every]
    known, objects = equivalents(), objects_of(build_dir)
    passed = failed = 0
    unchanged = judge(os.path.join(build_dir, "mutants", "protocol"))
    if unchanged:
        print(f"FAILED mutants: the unchanged sources do not pass: {unchanged}")
        failed += 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda m: try_mutant(build_dir, objects, m), mutants)
        for mutant, (built, verdict) in zip(mutants, results):
            why = known.get(mutant.key, "")
            good = built and (bool(verdict) != bool(why))
            passed, failed = passed + good, failed + (not good)
            said = verdict or ("survives; equivalent: " + why if why else "SURVIVES")
            if why and verdict:
                said = f"listed as equivalent, but noticed: {verdict}"
            print(f"{'ok' if good else 'FAILED'} {mutant.name}: {said}", flush=True)
    for key in known:
        if every == 1 and not wanted and key not in {m.key for m in mutants}:
            print(f"FAILED equivalent.txt names what is not there: {key}")
            failed += 1
    print(f"mutants: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1:]))

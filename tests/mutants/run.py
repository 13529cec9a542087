#!/usr/bin/env python3
"""Removes the barriers, TLB maintenance, locks and unlocks of the hypervisor's protocol, and the instructions of its
assembly, one at a time, and expects the simulated machine to notice each.

Usage: tests/mutants/run.py BUILD [--short] [FILTER]
       tests/mutants/run.py --write DIRECTORY
  --short     of those that are not listed as equivalent, each of which takes all tests, and of one in 12 of the
              assembly's instructions, each of which is left out once, the half that the commit draws
  FILTER      only those whose "file:line kind" contains it
  --write     copies hyp/ there, with a switch at each place: `make mutants` compiles that

The list is complete by construction: every call of a kind below in FILES. One binary has all mutants;
MMIOSCOPE_MUTANT selects the one of a run. Ends with "mutants: N passed, N failed"; a mutant passes when a judge
notices it, or when tests/mutants/equivalent.txt says why none can."""
import concurrent.futures
import glob
import os
import pathlib
import re
import signal
import subprocess
import sys
import zlib

FILES = ["hyp/core/trace/*", "hyp/core/engine/*", "hyp/core/mm/guest_view.*", 
         "hyp/core/dev/own_bus.cpp", "hyp/core/machine/debug_unit.*", "hyp/core/machine/step*", "hyp/services/choice/*", "hyp/services/changing/*", "hyp/services/probes/*", "hyp/services/watching/*", "hyp/services/moving/*", "hyp/core/mm/translation_table.*", "hyp/services/control/*", "hyp/services/stream/*", "hyp/services/keeping/*", "hyp/services/reading/*",
         "hyp/start/start.cpp", "hyp/core/bringup/bringup.cpp",
         "hyp/core/trap/translate.cpp", "hyp/core/trap/abort.cpp", "hyp/core/trap/dispatch.cpp", "hyp/core/trap/fast_path.cpp",
         "hyp/core/trap/stretch.cpp", "hyp/core/trap/decode.cpp",
         "hyp/core/trap/panic.cpp",
         "hyp/services/task_names/task_names.cpp"]
EXCEPT = {"hyp/services/unprotect/unprotect.cpp",  # the baseline, which loses events as it is
          "hyp/services/stream/request_line.cpp"}  # copies requests as they are: not simulated
# Whose tests are likely to notice: they go first. The others follow if they do not.
FIRST = [("hyp/services/stream/ring_merge.cpp", "records that CPUs publish*,a closed merge*"),
         ("hyp/services/stream/", "[stream],the stream is sent*"),
         ("hyp/core/machine/debug_unit", "*debug unit*,*BKPT*,*vectors now*,a watchpoint*,in a step*,"
          "*disturb a step,CPUs with excl*,without breakpoints*,*trial of a breakpoint*"),
         ("hyp/services/probes/code_pages", "pages move while*,a probe that*,a page*"),
         ("hyp/services/probes/", "a probe that*,a page with a probe*,a page that is written*,what the guest writes into*,probes from*,a store that Hyp*,each return*,code that the kernel frees*,what a probe does changes*,no hit is*,a probe in the place*,a hit makes*,hits that several*"),
         ("hyp/services/moving/", "pages*,a page that moves*,*watched*"),
         ("hyp/services/watching/", "*watched*,what loads PC*,maintenance of*"),
         ("hyp/services/changing/", "a descriptor taken away*,memory that moves*"),
         ("hyp/core/machine/step", "without breakpoints*,CPUs with excl*,a guest that runs on*"),
         ("hyp/core/mm/", "the first view*"),
         ("hyp/services/choice/", "a device switched on*,a ring's reader*"),
         ("hyp/services/control/", "a device switched on*,after a flush*,a snapshot*"),
         ("hyp/start/", "a refusal*,each access has*,a Thumb store*"),
         ("hyp/core/bringup/", "a refusal*,each access has*,a Thumb store*"),
         ("hyp/core/trap/dispatch.cpp", "the stream is sent*,loops of exclusives*"),
         ("hyp/core/trap/fast_path.cpp", "CPUs with excl*,each access has*,a device or filter*,"
          "a new name is*,the stream is sent*,behind a firewall*,a loop that does*,a watchpoint*,the fast path*"),
         ("hyp/core/trap/translate.cpp", "an instruction is decoded*"),
         ("hyp/core/trap/panic.cpp", "a panic prints*"),
         ("hyp/core/trap/abort.cpp", "code that another CPU*,a device switched on*,what a rule withholds*"),
         ("hyp/core/engine/exclusive", "no store-exclusive succ*,CPUs with excl*,each access to a traced*"),
         ("hyp/core/trap/stretch", "no store-exclusive succ*,a handler's CLREX*"),
         ("hyp/core/engine/reexecution", "CPUs with excl*,a guest that runs on*"),
         ("hyp/core/engine/", "CPUs with excl*,each access has*,a device switched on*,with two CPUs*,the write that*"),
         ("hyp/services/reading/in_flight", "a CPU's mark*"),
         ("hyp/core/trace/ring_writer", "CPUs with excl*,a ring's reader*,records that CPUs publish*"),
         ("hyp/core/trace/", "data that a region lock*,CPUs with excl*,locks that cannot*"), ("hyp/", "no unmap storm*")]
KINDS = [  # name, what is found, what is put in its place
    ("ISB", r"port::synchronize_context\(\);", ";"),
    ("DSB NSH", r"port::complete_local\(\);", ";"),
    ("DSB ISH", r"port::complete_all\(\);", ";"),
    ("DSB ISHST", r"port::publish_tables\(\);", ";"),
    ("DSB SY", r"port::complete_system\(\);", ";"),
    ("DMB", r"port::order_memory\(\);", ";"),
    ("TLBI", r"port::write<reg::TLBI\w*>\(\w*\);", ";"),
    ("clean", r"port::flush_to_coherency\((pa, size|first\.pa, bytes_of\(access\))\);", ";"),
    ("ICIALLU", r"port::write<reg::(?:ICIALLU|BPIALL)>\(\w*\);", ";"),
    ("lock", r"port::exchange_if\(word_, expected, expected \+ cpu \+ 1\)", "true"),
    ("lock", r"taken\.lock\.try_acquire\([^;]*?\)(?=\))", "true"),
    ("lock", r"owner\.lock\.try_acquire\([^;]*?\)(?=\))", "true"),
    ("lock", r"cpu\.locks\.acquire\([^;]*?\)(?=;)", "true"),
    ("lock", r"cpu\.locks\.add\([^;]*?\)(?=\)\n)", "true"),
    ("lock", r"cpu\.locks\.acquire_others\([^;]*?\)(?= &&|\)\n)", "true"),
    ("lock", r"(machine\.changes|(?<!\.)lock_)\.try_acquire\([^;]*?\)(?=[;)])", "true"),
    ("unlock", r"port::store_shared\(word_, word\);", ";"),
    ("unlock", r"[][\w.>()*-]*lock\.release\(\);", ";"),
    ("unlock", r"(machine\.changes|(?<!\.)lock_)\.release\(\);", ";"),
    ("unlock", r"cpu\.locks\.release_others\(\);", ";"),
    ("unlock", r"(?<![:\w])(?<!void )(cpu\.locks\.release|unlock_all)\([^()]*(\(\))?\);", ";"),
    ("break", r"integrity_\.store_sealed\(\*entry, 0\);", ";"),
    ("halves", r"lpae::is_valid\(value\)(?=;)", "!lpae::is_valid(value)"),
    ("ICIALLUIS", r"port::write<reg::ICIALLUIS>\(\w*\);", ";"),
    ("probe", r"(?<=\n    )forget_instructions\(\);|pages_\.hide\(\*?page\);|pages_\.renew\(page, pa\);", ";"),
    ("probe", r"port::flush_to_coherency\(port::address_of\(to\), [\w ]+\);", ";"),
    ("count", r"let_count\(\*?(cpu\.)?machine\);|port::store_shared\(counted, [^;]*\);", ";"),
    ("open", r"cpu\.view\.enter\((view|\*cpu\.shadow)\);", ";"),
    ("debug", r"port::write<reg::(DBG\w+|HDCR)(<n>)?>\([^;]*\);", ";"),
    ("debug", r"(?<= )guest_uses_ = true;|program_vectors\(control\);|(?<=\)) watched_ = true;", ";"),
    ("debug", r"(?<=if \(guest_uses_\) )give_back\(\);", ";"),
    ("exclusive", r"loaded\.certain = (true|false);", ";"),
    ("exclusive", r"(?<=reserved && )certain(?=;)", "true"),
    ("trial", r"usable_ = stops_trial\(\);", ";"),
    ("HSTR", r"port::write<reg::HSTR>\([\w:.()]*\);", ";"),
    ("gate", r"cpu\.repeated_load\.watches\(\)(?= \|\|)", "false"),
    ("gate", r"!next_is_slow\(cpu\)|cpu\.debug\.is_hyps\(\)(?= &&)", "true"),
    ("gate", r"(?<=if \()cpu\.always_slow(?= )|(?<=always_slow \|\| )cpu\.step\.armed(?=\))", "false"),
    ("gate", r"!machine\.control\.choice\.any(?=;)|!config\.pre(?=;)", "true"),
    ("gate", r"(?<=span\.changeable && )!span\.traced\(\)", "false"),
    ("gate", r"debug\.follows\(control\)|cpu\.debug\.is_unwatched\(\)(?= :)", "true"),
    ("gate", r"choose_fast_regions\(machine\);", ";"),
    ("stream", r"if \(cpu\.has_worker[^;]*\)\s+do_work\(cpu\);", ";"),
    ("stream", r"!cpu\.step\.armed(?= && cpu\.own)", "true"),
    ("monitor", r"(?<=armed && )cpu\.own_exclusives\.allowed\(\)", "true"),
    ("close", r"cpu\.view\.enter\(\*cpu\.normal\);", ";"),
]
ASSEMBLY = "hyp/core/entry/fast_path.S"
# Of what runs with the MMU off: functions whose every instruction tests/unit/start/boot_code_test.cpp needs.
BOOTED = {"mmu_off": "boot/start.S", "set_vectors": "boot/start.S", "_ZN9mmioscope4port22wait_outside_coherencyEv": "hyp/core/port/wait.cpp"}
# Its functions that are another one with other arguments.
ALIKE = r"(step_)?(load|store)_(byte|halfword|word_lr)$|finish(_lr)?$"
# The tests that notice a missing instruction, if any do.
NOTICE = ("the fast path*,a reader may rely*,*external abort*,*debug unit*,*BKPT*,CPUs on the fast path*,a device or filter*,a ring's reader*,*name*,a task*,"
          "records that CPUs publish*,CPUs with excl*,*exclusive*,*vectors now*,the stream is sent*,a watchpoint*,a guest that runs on*,in a step*")
# Of CPU time, since a machine may be busy; the tests of the unchanged sources take five to eight.
SECONDS = 40


class Mutant:
    def __init__(self, path, line, kind, text, span, instead):
        self.path, self.line, self.kind, self.text, self.span, self.instead = path, line, kind, text, span, instead
        self.number = 0

    @property
    def name(self):
        return f"{self.path}:{self.line} {self.kind}"

    @property
    def key(self):  # without the line number, which moves
        return f"{self.path} {self.kind}: {' '.join(self.text.split())}"

    def switched(self, text):
        if self.instead == ";":
            return f"{{ if (!mutant_is({self.number})) {{ {text} }} }}"
        return f"(mutant_is({self.number}) ? {self.instead} : bool({text}))"


def mutants_of(path):
    source = pathlib.Path(path).read_text(encoding="utf-8")
    code = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), source)
    found = []
    for kind, pattern, instead in KINDS:
        for m in re.finditer(pattern, code):
            line = source.count("\n", 0, m.start()) + 1
            found.append(Mutant(path, line, kind, source.splitlines()[line - 1].strip(), m.span(), instead))
    found.sort(key=lambda mutant: mutant.span)
    for number, mutant in enumerate(found):  # a change of one file keeps the numbers in others
        mutant.number = zlib.crc32(f"{path} {number}".encode())
    return found


class LeftOut(Mutant):
    """An instruction of the assembly that the simulated machine skips."""

    def __init__(self, path, function, text, number, address):
        super().__init__(path, function, "left out", f"{function}: {text}" + (f" ({number})" if number else ""), None, ";")
        self.address = address

    @property
    def name(self):
        return f"{self.path} {self.text}"


def instructions(build, name):
    """(function, text, address, how many alike are before it) of each instruction of a linked file."""
    code = os.path.join(build, f"generated/tests/sim/{name}.elf")
    lines = subprocess.run(["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", code], capture_output=True, text=True, check=True)
    function, seen = "", {}
    for line in lines.stdout.splitlines():
        if m := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = m[1]
        elif m := re.match(r" *([0-9a-f]+):\t(.*)", line):
            text = re.sub(r"\s+", " ", re.sub(r"\s*[@;].*|[0-9a-f]{8} (?=<)", "", m[2])).strip()
            if not re.match(r"nop|\.word|b |bl |push|pop|bx lr", text):
                seen[function, text] = seen.get((function, text), 0) + 1
                yield function, text, int(m[1], 16), seen[function, text] - 1


def left_out(build):
    """One of each kind among paths that differ only by a macro's arguments."""
    found = []
    for function, text, address, number in instructions(build, "fast_path"):
        function = function.removeprefix("mmioscope_fast_")
        if not re.match(ALIKE, function):
            found.append(LeftOut(ASSEMBLY, function, text, number, address))
    for function, text, address, number in instructions(build, "boot_code"):
        if function in BOOTED:
            found.append(LeftOut(BOOTED[function], re.sub(r"_ZN.*port\d+(\w+)Ev", r"\1", function), text, number, address))
    return found


def find():
    paths = sorted({p for pattern in FILES for p in glob.glob(pattern)} - EXCEPT)
    return [mutant for path in paths for mutant in mutants_of(path)]


def write(directory):
    """Writes hyp/ with the mutants. Files that are already right stay, and so does what was built from them."""
    mutants = find()
    if len({mutant.number for mutant in mutants}) != len(mutants):
        sys.exit("tests/mutants/run.py: two mutants have one number")
    sources = sorted(p for p in pathlib.Path("hyp").rglob("*") if p.suffix in (".cpp", ".hpp"))
    for old in set(directory.rglob("*.[ch]pp")) - {directory / path for path in sources}:
        old.unlink()  # else it would be included instead of one that has moved
    for path in sources:
        source = path.read_text(encoding="utf-8")
        end = len(source)
        for mutant in reversed([m for m in mutants if m.path == str(path)]):
            start, behind = mutant.span
            if behind > end:
                sys.exit(f"tests/mutants/run.py: {mutant.name} lies in another one")
            source = source[:start] + mutant.switched(source[start:behind]) + source[behind:]
            end = start
        to = directory / path
        text = f'#line 1 "{path}"\n{source}'
        if not to.exists() or to.read_text(encoding="utf-8") != text:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(text, encoding="utf-8")


def judge(binary, mutant=None, tests="[protocol]"):
    """The test that noticed; empty if none did. Without a mutant: runs the unchanged sources."""
    command = ["prlimit", f"--cpu={SECONDS}", binary, tests, "--abort", "--order", "decl"]
    environment = {**os.environ, "MMIOSCOPE_MUTANT": str(mutant.number if mutant else 0)}
    if isinstance(mutant, LeftOut):
        environment["MMIOSCOPE_LEFT_OUT"] = hex(mutant.address)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
    if done.returncode == -signal.SIGXCPU:
        return f"no end after {SECONDS} s of CPU time"
    if done.returncode == 0:
        return ""
    said = re.search(r'with expansion:\n\s*"([^"]*)', done.stdout)
    if said:
        return " ".join(said.group(1).split())[:100]
    said = re.search(r"FAILED:\s*\n?\s*(.*)", done.stdout)
    return said.group(1).strip()[:100] if said else f"exit status {done.returncode}"


def try_mutant(binary, mutant):
    if isinstance(mutant, LeftOut):
        return judge(binary, mutant, NOTICE if mutant.path == ASSEMBLY else "[boot]")
    first = [tests for start, tests in FIRST if mutant.path.startswith(start)]
    return (first and judge(binary, mutant, first[0])) or judge(binary, mutant)


def equivalents():
    """key -> argument; an entry is a line `file kind: text`, followed by indented lines."""
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


def half(mutants):
    """Those that the commit draws."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return [m for m in mutants if zlib.crc32(m.name.encode() + commit) % 2 == 0]


def main(arguments):
    short, positional = False, []
    if len(arguments) == 2 and arguments[0] == "--write":
        write(pathlib.Path(arguments[1]))
        return 0
    while arguments:
        argument = arguments.pop(0)
        if argument == "--short":
            short = True
        elif argument.startswith("-"):
            sys.exit(__doc__.strip())
        else:
            positional.append(argument)
    if not 1 <= len(positional) <= 2:
        print("usage: tests/mutants/run.py BUILD [--short] [FILTER]", file=sys.stderr)
        return 2
    binary, wanted = os.path.join(positional[0], "mutants", "protocol"), positional[1] if len(positional) > 1 else ""
    known = equivalents()
    mutants = [m for m in find() + left_out(positional[0])[::12 if short else 1] if wanted in m.name]
    if short:
        mutants = half([m for m in mutants if m.key not in known])
    passed = failed = 0
    unchanged = judge(binary)
    if unchanged:
        print(f"FAILED mutants: the unchanged sources do not pass: {unchanged}")
        failed += 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda m: try_mutant(binary, m), mutants)
        for mutant, verdict in zip(mutants, results):
            why = known.get(mutant.key, "")
            good = bool(verdict) != bool(why)
            passed, failed = passed + good, failed + (not good)
            said = verdict or ("survives; equivalent: " + why if why else "SURVIVES")
            if why and verdict:
                said = f"listed as equivalent, but noticed: {verdict}"
            print(f"{'ok' if good else 'FAILED'} {mutant.name}: {said}", flush=True)
    for key in known:
        if not short and not wanted and key not in {m.key for m in mutants}:
            print(f"FAILED equivalent.txt names what is not there: {key}")
            failed += 1
    print(f"mutants: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1:]))

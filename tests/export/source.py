"""The records of a trace file, read by independent code (hyp/abi/), for comparison with exports."""
import struct
from collections import namedtuple

RECORD = struct.Struct("<IBBBBQIIIHBBQIIIIII")
SECTION = struct.Struct("<IIQII")
TYPES = ["none", "access", "begin", "own", "lost", "marker", "change", "interrupt", "fetch", "cache", "table_walk",
         "fault", "power", "fold", "task", "payload"]
PLACED = {"access", "begin", "own", "fetch", "cache", "table_walk", "fault"}
WITH_VALUE = {"access", "begin", "own", "table_walk"}
WITHOUT_VALUE = {"unknown", "task", "payload"}
FLAGS = ["value_unknown", "early", "same_instruction", "boot", "estimated", "payload"]
ACCESS_FLAGS = {0x10: "sign_extended", 0x20: "syndrome", 0x40: "emulated"}

# `value`: None if unknown. `flags`: words. Losses have type "lost", and their count as value.
Record = namedtuple("Record", "type cpu ns ticks write size device base address value duration pc lr va task sequence "
                              "order flags text raw_value payload", defaults=[None, ""])
Region = namedtuple("Region", "name base size")


def sections(path):
    with open(path, "rb") as file:
        head = file.read(32)
        assert head[:8] == b"MMIOSCOP", path
        while (raw := file.read(SECTION.size)):
            _, kind, size, _, _ = SECTION.unpack(raw)
            yield kind, file.read(size)
            file.read(-size % 8)


class Trace:
    """Iterating gives all records, each with its payload, and the losses in their places; losses known only to the
    recorder come last."""

    def __init__(self, path):
        self.path = path
        self.frequency = 0
        self.regions = []
        self.losses = []
        for kind, payload in sections(path):
            if kind == 1:
                self.frequency = struct.unpack_from("<I", payload)[0]
            elif kind == 3:
                for base, size, _, _, _, name in struct.iter_unpack("<QQHHI104s", payload):
                    name = name.rstrip(b"\0").decode("utf-8", "replace").rsplit("/", 1)[1]
                    self.regions.append(Region(name, base, size))
            elif kind == 5:
                self.losses += struct.iter_unpack("<IIQQ", payload)

    def __iter__(self):
        """Only a section's records belong together, and a section does not end between them."""
        owner = None
        for before, raw, record in self.records():
            if before and self.belongs(raw, before):
                owner = owner._replace(payload=owner.payload.removesuffix("..") + self.payload(raw))
                continue
            if owner:
                yield owner
            owner = record
            if raw and (record.type == "payload" or raw[10] >> 5 & 1):
                owner = record._replace(payload=".." + self.payload(raw) if record.type == "payload" else "..")
        yield owner

    @staticmethod
    def belongs(raw, before):
        index = before[11] + 1 if before[1] == 15 else 0
        same = [2, 5, 7, 9] # cpu, time, lock_sequence, device
        return (raw and raw[1] == 15 and before[10] >> 5 & 1 and all(raw[i] == before[i] for i in same) and
                raw[8] == before[8] + 1 and raw[11] == index)

    @staticmethod
    def payload(raw):
        return struct.pack("<QIIIIII", *raw[12:19])[:raw[3]].hex() + (".." if raw[10] >> 5 & 1 else "")

    def records(self):
        """The record before in the section, raw; the record, raw and parsed. A loss has only the last."""
        start = None
        first, expected, text = {}, {}, b""
        for kind, payload in sections(self.path):
            if kind != 4:
                continue
            before = None
            for raw in RECORD.iter_unpack(payload):
                before, last_raw = raw, before
                start = raw[5] if start is None else start
                record = self.record(raw, start)
                cpu = record.cpu
                first.setdefault(cpu, record.sequence)
                hole = (record.sequence - expected.get(cpu, record.sequence)) & 0xffffffff
                if record.type == "lost":
                    yield None, None, self.loss(record, record.sequence - hole, hole + record.value)
                    expected[cpu] = record.sequence + record.value
                    continue
                if hole:
                    yield None, None, self.loss(record, record.sequence - hole, hole)
                expected[cpu] = record.sequence + 1
                if record.type == "marker" and raw[17] & 0xff == 16:
                    text += struct.pack("<Q", raw[12])
                    if b"\0" in struct.pack("<Q", raw[12]):
                        record = record._replace(text=self.words(text))
                        text = b""
                elif record.type == "marker":
                    record = record._replace(text=str(raw[12]))
                yield last_raw, raw, record
        last = record
        for cpu, sequence, count, _ in self.losses:
            if not first.get(cpu, 0) <= sequence < expected.get(cpu, 0):
                yield None, None, self.loss(last._replace(cpu=cpu), sequence, count)

    @staticmethod
    def words(text):
        plain = text.split(b"\0")[0].decode("latin-1")
        return "".join(c if " " <= c < "\x7f" and c not in '"\\' else f"\\x{ord(c):02x}" for c in plain)

    @staticmethod
    def loss(at, sequence, count):
        return Record("lost", at.cpu, at.ns, at.ticks, None, None, "-", 0, None, count, None, None, None, None, None,
                      sequence & 0xffffffff, None, "", "")

    def record(self, raw, start):
        (_, kind, cpu, access, _, time, duration, order, sequence, device, flags, pa_high, value, pc, lr, _, va, pa_low,
         task) = raw
        name = TYPES[kind] if kind < len(TYPES) else "unknown"
        ticks = time - start
        ns = ticks // self.frequency * 10**9 + ticks % self.frequency * 10**9 // self.frequency
        words = [word for bit, word in enumerate(FLAGS) if flags >> bit & 1]
        words += [word for bit, word in ACCESS_FLAGS.items() if access & bit and name != "payload"]
        if name not in PLACED:
            of = self.regions[device].name if name == "payload" and device < len(self.regions) else "-"
            return Record(name, cpu, ns, time, None, None, of, 0, None, value, None, None, None, None, None, sequence,
                          None, " ".join(words), "")
        region = self.regions[device] if device < len(self.regions) else Region("-", 0, 0)
        known = name in WITH_VALUE and not flags & 1
        return Record(name, cpu, ns, time, bool(access & 1), 1 << (access >> 1 & 7), region.name, region.base,
                      pa_high << 32 | pa_low, value if known or name == "fault" else None, duration, pc, lr, va, task,
                      sequence, order, " ".join(words), "", value)

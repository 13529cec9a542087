"""A debugger for QEMU's own stub: GDB's remote protocol over a Unix socket, as far as the tests need it.

Memory is physical. CPUs are numbered from 0. Connecting stops the machine."""

import re
import socket
import struct
import subprocess
import time

CPSR = 25
PC = 15


def symbols_of(image):
    """The addresses of an ELF file's symbols."""
    lines = subprocess.run(["arm-none-eabi-nm", image], capture_output=True, text=True, check=True).stdout
    return {f[2]: int(f[0], 16) for f in (line.split() for line in lines.splitlines()) if len(f) == 3}


class Debugger:
    def __init__(self, path, seconds=10):
        self.socket = socket.socket(socket.AF_UNIX)
        ends = time.monotonic() + seconds
        while True:
            try:
                self.socket.connect(path)
                break
            except OSError:
                if time.monotonic() > ends:
                    raise
                time.sleep(0.01)
        self.socket.settimeout(seconds)
        self.received = b""
        self.system = None
        self.ask("qSupported:xmlRegisters=arm")
        self.expect_ok("Qqemu.PhyMemMode:1")
        self.xml("target.xml")  # otherwise the stub numbers registers differently
        self.threads = []
        answer = self.ask("qfThreadInfo")
        while answer.startswith("m"):
            self.threads += answer[1:].split(",")
            answer = self.ask("qsThreadInfo")

    # Packets.
    def send(self, text):
        self.socket.sendall(f"${text}#{sum(text.encode()) % 256:02x}".encode())

    def receive(self):
        while True:
            found = re.search(rb"\$([^#]*)#..", self.received, re.S)
            if found:
                self.received = self.received[found.end() :]
                self.socket.sendall(b"+")
                return found.group(1).decode("latin-1")
            more = self.socket.recv(65536)
            if not more:
                raise EOFError("QEMU is gone")
            self.received += more

    def ask(self, text):
        self.send(text)
        answer = self.receive()
        while answer.startswith("T"):  # it reports the stop at connecting at any time
            answer = self.receive()
        return answer

    def expect_ok(self, text):
        answer = self.ask(text)
        if answer != "OK":
            raise RuntimeError(f"{text}: {answer}")

    # Memory.
    def read(self, address, size):
        data = b""
        while len(data) < size:
            data += bytes.fromhex(self.ask(f"m{address + len(data):x},{min(size - len(data), 1024):x}"))
        return data

    def write(self, address, data):
        self.expect_ok(f"M{address:x},{len(data):x}:{data.hex()}")

    def read_word(self, address):
        return struct.unpack("<I", self.read(address, 4))[0]

    def read_double(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]

    def write_words(self, address, *words):
        self.write(address, struct.pack(f"<{len(words)}I", *words))

    def flip(self, address, bit):
        """Changes one bit of a byte."""
        self.write(address, bytes([self.read(address, 1)[0] ^ (1 << bit)]))

    # Registers.
    def choose(self, cpu):
        self.expect_ok(f"Hg{self.threads[cpu]}")

    def register(self, cpu, number):
        self.choose(cpu)
        return struct.unpack("<I", bytes.fromhex(self.ask(f"p{number:x}")))[0]

    def set_register(self, cpu, number, value):
        self.choose(cpu)
        self.expect_ok(f"P{number:x}={struct.pack('<I', value).hex()}")

    def system_register(self, cpu, name):
        """A register by its name in QEMU; 32 or 64 bits."""
        if self.system is None:
            self.system = {}
            text = self.xml("system-registers.xml")
            for match in re.finditer(r'<reg name="([^"]+)"[^>]*regnum="(\d+)"', text):
                self.system[match.group(1)] = int(match.group(2))
        self.choose(cpu)
        return int.from_bytes(bytes.fromhex(self.ask(f"p{self.system[name]:x}")), "little")

    def xml(self, name):
        text = ""
        while True:
            part = self.ask(f"qXfer:features:read:{name}:{len(text):x},ffb")
            text += part[1:]
            if part[0] == "l":
                return text

    # Execution.
    def go(self, cpu=None):
        """Lets all CPUs run, or one; wait() waits for a stop."""
        self.send("c" if cpu is None else f"vCont;c:{self.threads[cpu]}")

    def wait(self):
        """Waits until the machine stops. Returns the CPU concerned."""
        found = re.search(r"thread:([0-9a-f.p]+)", self.receive())
        return self.threads.index(found.group(1)) if found else None

    def step(self, cpu):
        """Lets one CPU execute one instruction, while the others wait."""
        self.send(f"vCont;s:{self.threads[cpu]}")
        self.wait()

    def interrupt(self):
        self.socket.sendall(b"\x03")
        return self.wait()

    def run_to(self, address, cpu=None):
        """Runs all CPUs until one, or only `cpu` until it, is about to execute the ARM instruction there. Returns
        the CPU."""
        self.expect_ok(f"Z1,{address:x},4")
        self.go(cpu)
        hit = self.wait()
        self.expect_ok(f"z1,{address:x},4")
        return hit

    def detach(self):
        try:
            self.ask("D")
        except (OSError, EOFError):
            pass  # QEMU has ended meanwhile
        self.socket.close()

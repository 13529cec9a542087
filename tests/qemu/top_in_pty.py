#!/usr/bin/env python3
"""Runs `mmioscope top` on a terminal of its own and checks what it draws and leaves behind.

Usage: top_in_pty.py MMIOSCOPE TRACE GROWING REST: GROWING is the beginning of a trace without its end, to which the
bytes of REST are appended while top runs. Prints one line for the first failure, with exit status 1."""
import fcntl, os, pty, select, struct, subprocess, sys, termios, time

mmioscope, trace, growing, rest = sys.argv[1:]


class Terminal:
    """A process on a pty, and all its output."""

    def __init__(self, arguments, rows=30, columns=100, stdin=None):
        self.master, slave = pty.openpty()
        self.slave = slave
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        environment = dict(os.environ, TERM="xterm")
        self.process = subprocess.Popen([mmioscope, "top", *arguments], stdin=stdin or slave, stdout=slave,
                                        stderr=slave, preexec_fn=own_terminal, env=environment)
        self.output = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                try:
                    self.output += os.read(self.master, 65536)
                except OSError:
                    return

    def wait_for(self, words, what, seconds=8):
        """Waits until `words` follow what was seen so far."""
        seen = len(self.output)
        end = time.monotonic() + seconds
        while words not in self.output[max(0, seen - 20):]:
            if time.monotonic() > end:
                fail(f"{what}: no {words!r} on the screen: {self.output[-300:]!r}", self)
            self.read(0.1)

    def press(self, key):
        os.write(self.master, key)

    def ends(self, status, what):
        end = time.monotonic() + 8
        while self.process.poll() is None:
            if time.monotonic() > end:
                fail(f"{what}: it does not end", self)
            self.read(0.1)
        self.read(0.2)
        if self.process.returncode != status:
            fail(f"{what}: exit status {self.process.returncode}, not {status}: {self.output[-200:]!r}", self)
        if b"\x1b[?1049l" not in self.output:
            fail(f"{what}: the screen is not given back", self)
        if termios.tcgetattr(self.slave) != self.before:
            fail(f"{what}: the terminal's settings are not what they were", self)


def fail(why, terminal=None):
    if terminal and terminal.process.poll() is None:
        terminal.process.kill()
    print(why)
    sys.exit(1)


# A complete trace: tables by keys, a smaller terminal, q.
top = Terminal([trace])
top.wait_for(b"serial0", "start")
top.wait_for(b"ended", "start") if b"ended" not in top.output else None
top.press(b"r")
top.wait_for(b"+0x018", "key r")
top.press(b"c")
top.wait_for(b"cpu1", "key c")
top.press(b"o")
top.wait_for(b"by reads", "key o")
top.press(b"oooo") # through all orders, back to the rate
top.press(b"d")
top.wait_for(b"serial0", "key d")
top.press(b"\x1b[B\x1b[A\r") # down, up, Enter
top.wait_for(b"registers of", "Enter")
top.press(b"\x7f")
top.wait_for(b"total", "Backspace")
top.press(b"c")
top.press(b"p")
top.wait_for(b"paused", "key p")
seen = len(top.output)
top.resize(4, 40)
top.read(1.0)
small = top.output[seen:]
if b"mmioscope" not in small:
    fail("resize: nothing is drawn again", top)
if b"\x1b[5;" in small or b"\x1b[5d" in small:
    fail(f"resize: lines beyond the terminal's last: {small!r}", top)
top.press(b"q")
top.ends(0, "key q")

# A file that grows.
top = Terminal([growing])
top.wait_for(b"serial0", "growing")
top.read(0.7)
if b"ended" in top.output:
    fail("growing: it says that the trace has ended", top)
with open(growing, "ab") as file:
    file.write(open(rest, "rb").read())
top.wait_for(b"ended", "grown")
os.kill(top.process.pid, 2)
top.ends(130, "Ctrl-C")

# From a pipe, keys from the terminal.
with subprocess.Popen(["cat", trace], stdout=subprocess.PIPE) as cat:
    top = Terminal(["-"], stdin=cat.stdout)
    top.wait_for(b"serial0", "pipe")
    top.press(b"q")
    top.ends(0, "pipe, key q")

#!/usr/bin/python3
"""Runs a command and writes what it took into FILE: seconds of CPU time, and KiB of memory at most.

Usage: measured.py FILE COMMAND...; the exit status is the command's.
"""
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[2:], check=False).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w", encoding="ascii") as file:
    print(f"{used.ru_utime + used.ru_stime:.2f} {used.ru_maxrss}", file=file)
sys.exit(status)

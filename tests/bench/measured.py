#!/usr/bin/python3
"""Runs a command and writes its costs to FILE: seconds of CPU time, and the maximum of memory in
KiB.

Usage: measured.py FILE COMMAND...; the exit status is the command's."""
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[2:], check=False).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w", encoding="ascii") as file:
    print(f"{used.ru_utime + used.ru_stime:.2f} {used.ru_maxrss}", file=file)
sys.exit(status)

#!/usr/bin/env python3
"""Checks how large a recording is beside its times: a packed trace, or the stream that the trace was received from.

beside_times.py MMIOSCOPE TRACE RECORDING LIMIT

How many bytes the times need depends on the host: on a busy one the guest's accesses are further apart, and less
evenly. So RECORDING may have what xz needs for the times and durations of TRACE's events, and LIMIT bytes more for
each event. Prints the figures. Exit status 1 if RECORDING is larger.
"""
import csv
import io
import lzma
import os
import struct
import subprocess
import sys

# Words of four bytes.
XZ = [{'id': lzma.FILTER_LZMA2, 'preset': 9 | lzma.PRESET_EXTREME, 'lc': 0, 'lp': 2, 'pb': 2}]


def packed(words):
    return len(lzma.compress(struct.pack(f'<{len(words)}I', *words), lzma.FORMAT_RAW, filters=XZ))


def main():
    mmioscope, trace, recording, limit = sys.argv[1:]
    export = subprocess.run([mmioscope, 'export', '--as', 'csv-number', '-o', '-', trace], check=True, text=True,
                            stdout=subprocess.PIPE)
    between, durations, before = [], [], 0
    for event in csv.DictReader(io.StringIO(export.stdout, newline='')):
        ticks = int(event['ticks'] or before)
        between.append((ticks - before) % 2**32)
        durations.append(int(event['duration_ns'] or 0) % 2**32)
        before = ticks
    size = os.path.getsize(recording)
    times = packed(between) + packed(durations)
    each = (size - times) / len(between)
    print(f'{len(between)} events, {size} bytes, of which the times would take {times} by xz: beside them '
          f'{each:.2f} an event')
    return each > float(limit)


if __name__ == '__main__':
    sys.exit(main())

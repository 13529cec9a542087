#!/usr/bin/env python3
"""Presses keys and moves the mouse of a machine through QEMU's monitor.

Usage: tests/qemu/typist.py SOCKET ROUNDS SEED. Each round is a key, or a movement or a button of the mouse, and a pause,
so that the guest's drivers have taken it. SEED draws them."""
import random
import socket
import sys
import time

KEYS = list("abcdefghijklmnopqrstuvwxyz0123456789") + ["shift-a", "ctrl-c", "up", "f1", "ret", "caps_lock"]


def main(path, rounds, seed):
    draw = random.Random(seed)
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.connect(path)
        for _ in range(rounds):
            line = draw.choice([f"sendkey {draw.choice(KEYS)} 20", f"mouse_move {draw.randint(-9, 9)} {draw.randint(-9, 9)}",
                                f"mouse_button {draw.choice([0, 1, 2, 4])}"])
            monitor.sendall(line.encode() + b"\n")
            time.sleep(0.05)


main(sys.argv[1], int(sys.argv[2]), sys.argv[3])

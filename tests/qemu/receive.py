#!/usr/bin/env python3
"""receive.py FILE: listens on a free port of this machine, prints it, and writes everything from the first
connection to FILE."""
import socket
import sys

server = socket.create_server(("127.0.0.1", 0))
server.settimeout(200)
print(f"listening on tcp:127.0.0.1:{server.getsockname()[1]}", file=sys.stderr, flush=True)
connection, _ = server.accept()
with open(sys.argv[1], "wb") as file:
    while data := connection.recv(1 << 16):
        file.write(data)

# SPDX-License-Identifier: BSD-2-Clause
"""Fetches boot.json and its files as LiteX's BIOS does, by UDP sockets; status 0 if all arrived."""

import json
import socket

SERVER, CLIENT = "192.168.1.100", ("192.168.1.50", 7642)
BLOCK = 1024


def fetch(line: socket.socket, name: str) -> bytes:
    line.sendto(b"\0\1" + name.encode() + b"\0octet\0blksize\x001024\0", (SERVER, 69))
    content = b""
    while True:
        message, server = line.recvfrom(2048)
        if message[1] == 6:  # the options
            line.sendto(b"\0\4\0\0", server)
            continue
        assert message[1] == 3, message
        content += message[4:]
        line.sendto(b"\0\4" + message[2:4], server)
        if len(message) < 4 + BLOCK:
            return content


if __name__ == "__main__":
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(CLIENT)
        made.settimeout(5)
        for each in json.loads(fetch(made, "boot.json")):
            fetch(made, each)

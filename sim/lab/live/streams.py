# SPDX-License-Identifier: BSD-2-Clause
"""TCP connections of a session whose boxes are far: who may have one, and messages on it.

Each begins with a greeting in JSON, which has the session's token. A message is its length (u16,
little-endian) and so many octets. What crosses them is not encrypted.
"""

import contextlib
import hmac
import json
import socket
import struct

from ..show.errors import LabError, reason

PATIENCE = 20  # seconds in which who is there answers
LENGTH = struct.Struct("<H")
KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))

Address = tuple[str, int]


def listener(host: str) -> socket.socket:
    """At a free port of an address of this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, 0), family=family)


def connect(address: Address, token: str, what: str, **more) -> socket.socket:
    """A connection to a listener, for `what`; more: fields of the greeting. Raises LabError."""
    try:
        stream = socket.create_connection(address, timeout=PATIENCE)
        send(stream, json.dumps({"token": token, "for": what, **more}).encode())
    except OSError as error:
        raise LabError(
            f"{address[0]}, port {address[1]}, can't be reached: {reason(error)}; workers, "
            "and who asks them, need ways to each other"
        ) from None
    return _prepared(stream)


def accept(listening: socket.socket, token: str) -> tuple[socket.socket, dict] | None:
    """A connection and its greeting; None if none came before the listener's timeout, or a stranger."""
    try:
        stream, _ = listening.accept()
    except TimeoutError:
        return None
    stream.settimeout(PATIENCE)
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        greeting = json.loads(receive(stream) or b"")
        if hmac.compare_digest(greeting["token"].encode(), token.encode()):
            return _prepared(stream), greeting
    stream.close()
    return None


def _prepared(stream: socket.socket) -> socket.socket:
    """Each message goes at once. Who waits for a machine that is gone without a word notices in 25 s."""
    stream.settimeout(None)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE:
        stream.setsockopt(socket.IPPROTO_TCP, option, value)
    return stream


def send(stream: socket.socket, message: bytes):
    stream.sendall(LENGTH.pack(len(message)) + message)


def receive(stream: socket.socket) -> bytes | None:
    """None: there is no further one."""
    head = _exactly(stream, LENGTH.size)
    return head and _exactly(stream, *LENGTH.unpack(head))


def _exactly(stream: socket.socket, size: int) -> bytes | None:
    octets = b""
    while len(octets) < size:
        piece = stream.recv(size - len(octets))
        if not piece:
            return None
        octets += piece
    return octets

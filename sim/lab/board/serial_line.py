# SPDX-License-Identifier: BSD-2-Clause
"""The serial line to a board: 8 data bits, no parity, no flow control."""

import contextlib
import glob
import os
import re
import select
import termios
import time

import serial

from ..show.errors import LabError

PLACES = ("/dev/ttyUSB*", "/dev/ttyACM*")
RULES = "/etc/udev/rules.d/70-fpga.rules"
UDEV = 'SUBSYSTEM=="tty", ATTRS{idVendor}=="0403", MODE="0660", TAG+="uaccess"'
# LiteX's UART has a FIFO of 16 octets and no flow control, so it gets a part of these at a time.
PIECE, PAUSE = 8, 0.0005


class SerialLine:
    """Open while the `with` block runs; then the terminal settings are those of before.

    `log` has every octet that arrived.
    """

    def __init__(self, device: str, baud_rate: int):
        self.device = device
        self._before = _settings(device)
        try:
            self._port = serial.Serial(device, baud_rate, timeout=0, exclusive=True)
        except (serial.SerialException, ValueError, OSError) as error:
            raise LabError(_fault(device, error)) from None
        self.log = bytearray()
        self._unread = b""

    def __enter__(self) -> "SerialLine":
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, termios.error):  # it was unplugged
            termios.tcsetattr(self._port.fileno(), termios.TCSANOW, self._before)
        self._port.close()

    def fileno(self) -> int:
        return self._port.fileno()

    def read(self) -> bytes:
        """The octets that have arrived, perhaps none."""
        if self._unread:
            octets, self._unread = self._unread, b""
            return octets
        try:
            octets = os.read(self._port.fileno(), 1 << 16)
            if (
                not octets and select.select([self._port], [], [], 0)[0]
            ):  # the end of the line is readable
                octets = os.read(self._port.fileno(), 1 << 16)
                if not octets:
                    raise self._gone()
        except BlockingIOError:
            return b""
        except OSError:
            raise self._gone() from None
        self.log += octets
        return octets

    def unread(self, octets: bytes):
        """Give octets to the next read()."""
        self._unread = octets + self._unread

    def write(self, octets: bytes):
        try:
            self._port.write(octets)
        except (serial.SerialException, OSError):
            raise self._gone() from None

    def type(self, octets: bytes):
        """Write slowly, for a receiver that may be busy."""
        for at in range(0, len(octets), PIECE):
            self.write(octets[at : at + PIECE])
            time.sleep(PAUSE)

    def _gone(self) -> LabError:
        return LabError(f"{self.device} is gone; was its USB unplugged, or the board switched off?")


def _settings(device: str) -> list:
    """Its terminal settings. Raises LabError if it is not a serial line that we may open."""
    try:
        handle = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise LabError(_fault(device, error)) from None
    try:
        return termios.tcgetattr(handle)
    except termios.error:
        raise LabError(f"{device} is not a serial line; {_others()}") from None
    finally:
        os.close(handle)


def _fault(device: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{device} does not exist; connect the board's USB; {_others()}"
    if isinstance(error, PermissionError):
        return (
            f"this user may not open {device}; join its group (`adduser USER dialout`) and log in "
            f"again, or write this line into {RULES}: {UDEV}"
        )
    if "exclusive" in str(error) or "busy" in str(error):
        return f"another program has {device} open; end it"
    said = re.sub(r"^\[Errno \d+\] ", "", str(error))
    return f"{device} can't be opened: {said}; {_others()}"


def _others() -> str:
    there = [name for place in PLACES for name in sorted(glob.glob(place))]
    return f"serial lines of this machine: {', '.join(there) or 'none'}"

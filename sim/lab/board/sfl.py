# SPDX-License-Identifier: BSD-2-Clause
"""LiteX's serial boot (SFL): numbered by its answers only, so several frames may be on the line.

litex_term has the frames; its loop waits for ever and ends the process, so this module has its own.
"""

import select
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from litex.tools.litex_term import (
    SFLFrame,
    sfl_ack_success,
    sfl_cmd_jump,
    sfl_cmd_load,
    sfl_magic_ack,
    sfl_magic_req,
)

from ..show.errors import LabError
from . import bios
from .serial_line import SerialLine

MAGIC = sfl_magic_req
ANSWER = sfl_magic_ack
PAYLOAD = 32  # octets of a frame: the UART's FIFO has room for 16 while the BIOS computes a CRC
WINDOW = 128  # frames on the line without an answer
QUIET = 0.6  # seconds; the BIOS drops a frame that has stopped for 0.25 s
TIMEOUT = 5.0
MOST_ERRORS = 200


@dataclass
class Upload:
    """frames: sent; errors: damaged ones, sent again."""

    frames: int = 0
    errors: int = 0


def upload(
    line: SerialLine,
    images: list[tuple[Path, int]],
    progress: Callable[[int, int], None],
) -> Upload:
    """Load the images, and jump to the last one; the BIOS has sent its magic words. `progress` gets the
    octets done and all octets."""
    line.write(ANSWER)
    count = Upload()
    total = sum(path.stat().st_size for path, _ in images)
    _transfer(line, list(_loads(images)), count, lambda share: progress(round(total * share), total))
    # Alone: the jump must not follow a damaged frame.
    _transfer(line, [_frame(sfl_cmd_jump, images[-1][1].to_bytes(4, "big"))], count, lambda _: None)
    return count


def _transfer(line: SerialLine, frames: list[bytes], count: Upload, progress: Callable[[float], None]):
    """Send frames until all have arrived. `progress` gets the share that has."""
    done, window = 0, WINDOW
    count.frames += len(frames)
    while done < len(frames):
        part = frames[done : done + window]
        right = _send(line, part, done / len(frames))
        if right < len(part):
            count.errors += 1
            if count.errors > MOST_ERRORS:
                raise LabError(
                    f"the serial line {line.device} damages too many frames ({count.errors}); use a "
                    "shorter USB cable, and no hub"
                )
            window = max(1, window // 2)
            _quiet(line)
        done += right
        progress(done / len(frames))


def _loads(images: Iterable[tuple[Path, int]]) -> Iterable[bytes]:
    for path, address in images:
        content = path.read_bytes()
        for at in range(0, len(content), PAYLOAD):
            yield _frame(sfl_cmd_load, (address + at).to_bytes(4, "big") + content[at : at + PAYLOAD])


def _frame(command: bytes, payload: bytes) -> bytes:
    frame = SFLFrame()
    frame.cmd, frame.payload = command, payload
    return frame.encode()


def _send(line: SerialLine, frames: list[bytes], share: float) -> int:
    """The number of frames that arrived, up to the first one that did not."""
    line.write(b"".join(frames))
    answers, end = b"", time.monotonic() + TIMEOUT
    while len(answers) < len(frames):
        left = end - time.monotonic()
        if left <= 0 or not select.select([line], [], [], left)[0]:
            break
        answers += line.read()
        if bios.BANNER in answers:
            raise LabError(
                f"the board started again after {share:.0%} of the images; check power supply and "
                "reset button"
            )
    good = len(answers) - len(answers.lstrip(sfl_ack_success))
    line.unread(answers[max(good, len(frames)) :] if good >= len(frames) else b"")
    return min(good, len(frames))


def _quiet(line: SerialLine):
    """Until the BIOS has dropped what it has of a frame."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end and select.select([line], [], [], QUIET)[0]:
        line.read()

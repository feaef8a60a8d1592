# SPDX-License-Identifier: BSD-2-Clause
"""A running simulation: moderato-sim as a child process, with its commands as methods.

sim/harness/README.md describes the commands and their replies.
"""

import contextlib
import hashlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from moderato.toolchain.suspension import follow

from ..show.errors import LabError

BAD_CHECKPOINT = 3  # moderato-sim's exit status
STOPPED = {128 + number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
PROMPT = "# "
TIMEOUT = 1_500_000_000  # clocks: longer than any of the lab's commands

# These marks enclose a command's output. The guest runs commands through a function, because each typed
# character takes 30 000 clocks. The quotes keep the marks out of the echo.
BEGIN, END = "@begin@", "@end@"
FUNCTION = "r() { echo @be''gin@; eval \"$1\"; echo @en''d@$?@; }\n"

FINISH = 60  # seconds in which a simulation must complete its files; it takes one

_live: set["Session"] = set()
_refusing = 0  # number of none_left() blocks that are active
_lock = threading.Lock()


class Refused(LabError):
    """moderato-sim reports that a command failed. `reply`: its complete reply."""

    def __init__(self, reply: dict):
        super().__init__(reply["error"])
        self.reply = reply
        if printed := reply.get("output"):  # as in a panic; a traceback shows it
            self.add_note(f"The guest's output:\n{printed}")


class CheckpointError(LabError):
    """A checkpoint is damaged, or of another build."""


def octets(value):
    """A field of a command. File names and the user's words may be any octets. Octets that are not UTF-8
    cannot be JSON text, so they are sent as hexadecimal."""
    if isinstance(value, list):
        return [octets(each) for each in value]
    if isinstance(value, str) and not _is_text(value):
        return {"hex": os.fsencode(value).hex()}
    return value


def _is_text(value: str) -> bool:
    return not any("\udc80" <= character <= "\udcff" for character in value)


class Session:
    """A simulation that runs during the `with` block."""

    finishes = False  # whether the end completes the files that it is writing

    def __init__(
        self,
        simulator: Path,
        restore: Path | None = None,
        load: Sequence[tuple[Path, int]] = (),
        console: Path | None = None,
        progress: Callable[[dict], None] | None = None,
        udp_echo: bool = False,
        keep: Sequence[int] = (),
    ):
        """Start from a checkpoint, or from reset with images at addresses.

        `progress` is called regularly while a command runs, with moderato-sim's report: `cycle` reached,
        `cycles` done by the command, and `of`, the maximum. `udp_echo`: the tester also answers
        datagrams to port 7. `keep`: descriptors that the process inherits.
        """
        command = [simulator, "--script", "-"]
        if udp_echo:
            command += ["--udp-echo"]
        if restore:
            command += ["--restore", restore]
        if console:
            command += ["--console", console]
        for file, address in load:
            command += ["--load", f"{file}@{address:#x}"]
        self.progress = progress
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        # In a session of its own: a terminal's Ctrl-C reaches only this process, which then ends the
        # simulation.
        self.process = follow(
            subprocess.Popen(
                list(map(str, command)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                text=True,
                bufsize=1,
                start_new_session=True,
                pass_fds=keep,
            )
        )
        with _lock:
            _live.add(self)
        try:
            require_wanted()
            self.call("counters")  # finds an unusable checkpoint now
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """End the process now. No effect if it has ended."""
        with _lock:
            _live.discard(self)
        if self.finishes and self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(FINISH)
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                stream.close()

    # Commands of moderato-sim ---------------------------------------------------------------------

    def call(self, do: str, **fields) -> dict:
        """Run one command and return its reply. Raises LabError with moderato-sim's message."""
        try:
            command = {"do": do} | {name: octets(value) for name, value in fields.items()}
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except (OSError, ValueError):
            raise self._ended() from None
        for line in self.process.stdout:
            reply = json.loads(line)
            if "progress" not in reply:
                break
            if self.progress:
                self.progress(reply["progress"])
        else:
            raise self._ended()
        if not reply["ok"]:
            raise Refused(reply)
        return reply

    def _ended(self) -> LabError:
        status = self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines()
        message = lines[-1].removeprefix("moderato-sim: ") if lines else f"status {status}"
        if status == BAD_CHECKPOINT:
            return CheckpointError(message)
        if status in STOPPED:  # a signal to all processes, including this one
            return LabError("the simulator was stopped")
        return LabError(f"the simulator failed: {message}")

    # The guest ------------------------------------------------------------------------------------

    def greet(self):
        """Prepare the guest's shell for `type`; call it once after the boot."""
        self.call("send", text=FUNCTION)
        self.call("expect", text=PROMPT, max_cycles=TIMEOUT)

    def type(self, command: str, max_cycles: int = TIMEOUT) -> tuple[int, str]:
        """Run a command in the guest's shell: its exit status and output."""
        self._begin(command, max_cycles)
        output = self.call("expect", text=END, max_cycles=max_cycles)["output"].removesuffix(END)
        return self._status(max_cycles), output.replace("\r\n", "\n")

    def put(self, script: bytes, mailbox: int):
        """Write a script for `run` into the guest's mailbox. mailbox: its address."""
        # The mailbox, unlike the console, allows any length and any quotes, and has no echo.
        with tempfile.NamedTemporaryFile() as file:
            file.write(script)
            file.flush()
            self.call("mailbox", file=file.name, address=mailbox)
        self.check("mailbox > /tmp/command")

    def run(self, script: bytes, max_cycles: int, show: Callable[[str, int], None]) -> int:
        """Run the script from `put`; returns its exit status.

        show: called with each piece of the output, at times an empty one, and with the cycle.
        """
        # A script may print END, but hardly its own digest. The digest depends only on the script, so
        # that runs are reproducible.
        mark = f"@{hashlib.sha256(script).hexdigest()[:16]}@"
        self._begin(f"sh /tmp/command < /dev/null; echo {mark}$?@", max_cycles)
        self._show(mark, max_cycles, show)
        return self._status(max_cycles)

    def _begin(self, command: str, max_cycles: int):
        """Run a command up to the beginning of its output."""
        self.call("send", text=f"r {shlex.quote(command)}\n")
        self.call("expect", text=BEGIN + "\r\n", max_cycles=max_cycles)

    def _status(self, max_cycles: int) -> int:
        """The output from a mark to the next prompt, as a status."""
        status = self.call("expect", text="@", max_cycles=max_cycles)["output"].removesuffix("@")
        self.call("expect", text=PROMPT, max_cycles=max_cycles)
        return int(status)

    def _show(self, mark: str, max_cycles: int, show: Callable[[str, int], None]):
        """Show the output before a mark; all of it if the mark never comes, as when the guest powers
        off."""
        printed, shown = "", 0

        def take(reply: dict, last: bool = False):
            nonlocal printed, shown
            # Octets that are not UTF-8 are kept, as in file names.
            printed += bytes.fromhex(reply["printed"]).decode(errors="surrogateescape")
            if printed.endswith(mark):
                end = len(printed) - len(mark)
            elif last:
                end = len(printed)
            else:  # The last characters may begin the mark, or a line's end.
                end = max(shown, len(printed) - len(mark) + 1)
                end -= printed.endswith("\r", 0, end)
            show(printed[shown:end].replace("\r\n", "\n"), reply["cycle"])
            shown = max(shown, end)

        before, self.progress = self.progress, take
        try:
            take(self.call("expect", text=mark, max_cycles=max_cycles, stream=True))
        except Refused as refused:
            take(refused.reply, last=True)
            raise
        finally:
            self.progress = before

    def check(self, command: str) -> str:
        """As `type`, for a command that must succeed; returns its output."""
        status, output = self.type(command)
        if status:
            raise LabError(
                f"in the guest, `{command}` ended with status {status}: " + " ".join(output.split())
            )
        return output


def require_wanted():
    """Raises LabError while another thread is in none_left()."""
    if _refusing:
        raise LabError("no simulation is wanted any more")


@contextlib.contextmanager
def none_left() -> Iterator[None]:
    """End all running simulations, of all threads. During the block no simulation can start, because a
    job that starts one would not be ended."""
    global _refusing
    with _lock:
        sessions = list(_live)
        _refusing += 1
    try:
        for session in sessions:
            session.end()
        yield
    finally:
        with _lock:
            _refusing -= 1

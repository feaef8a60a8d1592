# SPDX-License-Identifier: BSD-2-Clause
"""The build cache: artifacts, found by the content of their inputs.

    directory = artifact("kernel", [config, version], build, note="5 minutes")

The directory is $MODERATO_CACHE/<name>/<key>. It appears complete or not at all: `build` fills a
temporary directory, which the cache renames after success and removes after failure.
"""

import ast
import contextlib
import contextvars
import errno
import fcntl
import functools
import hashlib
import inspect
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from .packages import are_installed_here, how_to_install
from .progress import step
from .project import cache_root
from .suspension import follow

LOG = "build.log"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
TAIL = 12  # lines of a failed command's output that the error shows

_whole: set[Path] = set()  # artifacts already checked
_parsing = threading.Lock()  # CPython 3.11 counts the depth of a tree for all threads together
_log: contextvars.ContextVar[Path | None] = contextvars.ContextVar("log", default=None)


class BuildError(Exception):
    """A build failed. The first line names cause and remedy; the others are the log's tail."""


# Keys ---------------------------------------------------------------------------------------------


def key(name: str, inputs: Iterable[Path | str | bytes]) -> str:
    """sha256 over the content of `inputs`: strings, files, and directories with all their files."""
    total = hashlib.sha256(name.encode())
    for item in inputs:
        match item:
            case bytes():
                parts = [("bytes", item)]
            case str():
                parts = [("text", item.encode())]
            case Path():
                parts = _parts(item)
            case _:
                raise TypeError(f"input of {name} is neither a path, text nor bytes: {item!r}")
        for label, content in parts:
            total.update(f"{label}\0{len(content)}\0".encode())
            total.update(content)
        total.update(b"\0end of input\0")
    return total.hexdigest()[:32]


def _parts(path: Path):
    """(label, content) of a file, or of every file under a directory, in a stable order."""
    if path.is_file():
        yield path.name, _content(path)
    elif path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                mode = "x" if os.access(file, os.X_OK) else "-"
                yield f"{mode}{file.relative_to(path).as_posix()}", _content(file)
    else:
        raise BuildError(f"{path} is missing: it is an input of the build; restore it from git")


def recipe(build: Callable, named: Sequence) -> list[bytes]:
    """The code of `build` is an input of each artifact, too: its source file, unless `named` contains
    that file."""
    file = inspect.getsourcefile(build)
    if file and os.path.isfile(file) and Path(file) not in named:
        return [_code(Path(file).read_bytes())]
    return []


def _content(file: Path) -> bytes:
    return _code(file.read_bytes()) if file.suffix == ".py" else file.read_bytes()


@functools.cache
def _code(source: bytes) -> bytes:
    """Python without comments, docstrings and layout: they change no artifact. Source that is no
    Python is returned as it is."""
    try:
        with _parsing:
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree).encode()


# Artifacts ----------------------------------------------------------------------------------------


def artifact(
    name: str, inputs: Iterable[Path | str | bytes], build: Callable[[Path], None], note: str = ""
) -> Path:
    """The directory that `build` makes from `inputs`. The cache runs `build` if it has no artifact
    with this key.

    `build` fills an empty directory, and starts programs with `run`, which logs to build.log there.
    `note` is the usual duration for the message to the user. A build of a second needs no note, and
    prints nothing. Raises BuildError.
    """
    home = cache_root() / name
    inputs = [*inputs]
    final = home / key(name, [*inputs, *recipe(build, inputs)])
    try:
        if final.is_dir() and whole(final):
            return final
        home.mkdir(parents=True, exist_ok=True)
        with locked(home / f".{final.name}.lock", f"another run that is making {name}"):
            if final.is_dir() and not whole(final):
                print(
                    f"moderato: {name} in the cache is damaged, making it again: {final}",
                    file=sys.stderr,
                )
                shutil.rmtree(final)
            if not final.is_dir():  # another process may have built it while we waited
                _build(name, final, build, note)
    except OSError as error:
        raise BuildError(_explain(name, error)) from error
    return final


def whole(directory: Path) -> bool:
    """Whether every file of an artifact still has the size that `build` gave it."""
    if directory in _whole:
        return True
    try:
        sizes = json.loads(_sizes(directory).read_text())
    except FileNotFoundError:  # made before sizes were kept
        sizes = {}
    except ValueError:
        return False
    for name, size in sizes.items():
        try:
            if (directory / name).stat().st_size != size:
                return False
        except OSError:
            return False
    _whole.add(directory)
    return True


def _sizes(directory: Path) -> Path:
    """The file with the sizes of an artifact's files, in bytes. It is next to the artifact's directory,
    because the content of that directory is an input of other artifacts."""
    return directory.with_name(f".{directory.name}.sizes.json")


def _build(name: str, final: Path, build: Callable[[Path], None], note: str):
    prefix = f".{final.name}.tmp-"
    for left in final.parent.glob(prefix + "*"):  # from a killed process; we hold the lock
        shutil.rmtree(left, ignore_errors=True)
    temporary = Path(tempfile.mkdtemp(prefix=prefix, dir=final.parent))
    token = _log.set(temporary / LOG)
    try:
        with step(f"making {name}", note) if note else contextlib.nullcontext():
            build(temporary)
        _sizes(final).write_text(
            json.dumps(
                {
                    str(file.relative_to(temporary)): file.stat().st_size
                    for file in temporary.rglob("*")
                    if file.is_file() and not file.is_symlink()
                }
            )
        )
        temporary.chmod(0o755)
        temporary.rename(final)
    finally:
        _log.reset(token)
        shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def locked(path: Path, holder: str):
    """Hold a lock file. If `holder` has it, print a message and wait."""
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"moderato: waiting for {holder} ...", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _explain(name: str, error: OSError) -> str:
    where = Path(os.fsdecode(error.filename or cache_root()))
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "free some space, or point MODERATO_CACHE at a larger disk"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        remedy = "make it writable, or point MODERATO_CACHE at a folder that is"
    elif where.is_relative_to(cache_root()) or cache_root().is_relative_to(where):
        remedy = "point MODERATO_CACHE at a folder that is there, or can be made"
    elif error.errno == errno.ENOENT:
        remedy = f"restore it, or {how_to_install()}"
    else:
        remedy = "check the disk, then try again"
    return f"making {name} failed: {where}: {error.strerror}; {remedy}"


# Commands -----------------------------------------------------------------------------------------

# Variables that users set for other builds. They would change ours, and no key contains them.
FOREIGN = {
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "ASFLAGS",
    "LDFLAGS",
    "HOSTCFLAGS",
    "HOSTLDFLAGS",
    "KCFLAGS",
    "KCPPFLAGS",
    "KAFLAGS",
    "LLVM",
    "LLVM_IAS",
    "LOCALVERSION",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "MFLAGS",
    "MAKEFILES",
    "MAKELEVEL",
    "CCACHE",
    "CLANG",
    "TFTP_SERVER_PORT",
}
FOREIGN_PREFIXES = "KBUILD_", "KCONFIG_", "LITEX_ENV_"


def _own_environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name not in FOREIGN and not name.startswith(FOREIGN_PREFIXES)
    }


def run(command: list, cwd: Path | None = None, env: dict | None = None, log: Path | None = None):
    """Run a program of a build. Its output goes to `log`, by default the artifact's build.log.

    `env` is added to the environment without FOREIGN. Raises BuildError with the end of the output.
    """
    command = [str(word) for word in command]
    log = log or _log.get() or Path(os.devnull)
    with open(log, "ab") as output:
        output.write(os.fsencode(f"$ {shlex.join(command)}\n"))
        output.flush()
        begin = output.tell()
        try:
            status = _status(
                follow(
                    subprocess.Popen(
                        command,
                        cwd=cwd,
                        env={**_own_environment(), **(env or {})},
                        process_group=0,
                        stdin=subprocess.DEVNULL,
                        stdout=output,
                        stderr=output,
                    )
                )
            )
        except FileNotFoundError as error:
            raise BuildError(f"{error.filename} is missing: {how_to_install()}") from error
    if status:
        raise BuildError(_failure(command, status, log, begin))


def _status(process: subprocess.Popen) -> int:
    """Wait for a program and return its exit status. If this process is stopped, kill the program and
    its children: compilers would continue in a folder that is being removed."""
    try:
        return process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


NO_NETWORK = (
    "Could not resolve",
    "Temporary failure",
    "Failed to establish",
    "Network is unreachable",
    "network connectivity",
    "Connection refused",
    "Connection reset",
    "Connection aborted",
    "Connection failed",
    "Could not connect",
    "Could not transfer",
    "failed to transfer",
    "Unable to connect",
    "Error reading from server",
    "Name or service not known",
    "timed out",
    "NewConnectionError",
    "NameResolutionError",
    "ProxyError",
    "Cannot initiate the connection",
)


def has_no_network(output: str) -> bool:
    """Whether apt, pip or Maven failed because of the network."""
    return any(sign in output for sign in NO_NETWORK)


def _failure(command: list, status: int, log: Path, begin: int) -> str:
    with open(log, "rb") as file:
        file.seek(begin if log.is_file() else 0)
        output = file.read().decode(errors="replace")
    kept = ""
    if log == _log.get():  # in the temporary directory
        copy = cache_root() / "failed.log"
        shutil.copyfile(log, copy)
        kept = f" (whole log: {copy})"
    remedy = f"{'run `./moderato setup`' if are_installed_here() else 'correct the cause'} and try again"
    if "No space left on device" in output:
        remedy = "free some space, or point MODERATO_CACHE (or TMPDIR) at a larger disk"
    elif has_no_network(output):
        remedy = "connect this machine to the network, or configure a mirror, and try again"
    words = shlex.join(command)
    words = words if len(words) <= 160 else words[:160] + "…"
    lines = [line.rstrip() for line in output.splitlines() if line.strip()][-TAIL:]
    return "\n".join(
        [f"`{words}` ended with status {status}{kept}; {remedy}", *("    " + line for line in lines)]
    )

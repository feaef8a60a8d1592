# SPDX-License-Identifier: BSD-2-Clause
"""The build cache: artifacts are complete or absent, keyed by content, and built once."""

import errno
import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from moderato.toolchain import cache as toolchain_cache
from moderato.toolchain import debian
from moderato.toolchain.cache import (
    FOREIGN,
    FOREIGN_PREFIXES,
    BuildError,
    artifact,
    key,
    locked,
    run,
)

HERE = Path(__file__)  # named where another program makes the same artifact


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def left_over(cache: Path) -> list[Path]:
    """Files that a failed build must not leave: all but locks and the log for the user."""
    return [
        path
        for path in cache.rglob("*")
        if path.is_file() and path.suffix not in (".lock", ".json") and path.name != "failed.log"
    ]


def write(text: str):
    return lambda directory: (directory / "out").write_text(text)


def test_built_once(cache):
    first = artifact("thing", ["a"], write("one"))
    assert artifact("thing", ["a"], write("two")) == first
    assert (first / "out").read_text() == "one"
    assert first.parent == cache / "thing"


def test_key_is_content(tmp_path):
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/file").write_text("1")
    before = key("thing", [folder, "x"])
    os.utime(folder / "sub/file", (0, 0))
    assert key("thing", [folder, "x"]) == before
    (folder / "sub/file").write_text("2")
    changed = key("thing", [folder, "x"])
    (folder / "sub/file").rename(folder / "sub/other")
    assert len({before, changed, key("thing", [folder, "x"]), key("other", [folder, "x"])}) == 4
    assert key("thing", ["ab", "c"]) != key("thing", ["a", "bc"])


def test_key_depends_on_the_recipe(tmp_path):
    """A changed flag in a build's file changes the key; a changed comment or docstring does not."""

    def made(text: str, *inputs) -> Path:
        file = tmp_path / "recipe.py"
        file.write_text(text)
        space = {}
        exec(compile(text, file, "exec"), space)
        return artifact("thing", ["a", *inputs], space["build"])

    text = "FLAG = '{}'\ndef build(folder):\n    (folder / 'out').write_text(FLAG)\n"
    first = made(text.format("-O1"))
    described = '"""What it makes."""\n# why\n' + text.format("-O1")
    assert made(described) == first
    assert (made(text.format("-O2")) / "out").read_text() == "-O2"
    own = tmp_path / "recipe.py"
    assert made(text.format("-O1"), own) == made(described, own)


def test_threads_compute_keys_at_once(tmp_path):
    """Another thread continues during a garbage collection, in the middle of a tree: the parser of
    CPython 3.11 raises SystemError there."""
    source = "def f(a):\n    return [x + 1 for x in a if x * 2]\n" * 50
    for number in range(80):
        (tmp_path / f"{number}.py").write_text(f"N = {number}\n{source}")

    def let_others_run(*_):
        time.sleep(0)

    threshold = gc.get_threshold()
    gc.callbacks.append(let_others_run)
    gc.set_threshold(20)
    try:
        with ThreadPoolExecutor(4) as threads:
            parts = [[tmp_path / f"{number}.py" for number in range(n, 80, 4)] for n in range(4)]
            assert len(set(threads.map(lambda files: key("lab", files), parts))) == 4
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(let_others_run)


def test_missing_input(tmp_path):
    with pytest.raises(BuildError, match="gone is missing"):
        artifact("thing", [tmp_path / "gone"], write("x"))


def test_failed_command(cache):
    def build(directory):
        (directory / "half").write_text("done")
        run(["sh", "-c", "echo the cause; exit 3"])

    with pytest.raises(BuildError) as error:
        artifact("thing", ["a"], build)
    assert "ended with status 3" in str(error.value)
    assert "the cause" in str(error.value)
    assert "the cause" in (cache / "failed.log").read_text()
    assert left_over(cache) == []
    assert (artifact("thing", ["a"], write("repaired")) / "out").exists()


def test_ignores_variables_for_other_builds(cache, monkeypatch):
    """Keys do not contain the user's variables, so builds do not get them. Builds set their own."""
    for name in (*FOREIGN, *(f"{prefix}ANY" for prefix in FOREIGN_PREFIXES)):
        monkeypatch.setenv(name, "the user's")
    made = artifact(
        "thing",
        ["a"],
        lambda directory: run(["sh", "-c", "env > out"], cwd=directory, env={"MAKEFLAGS": "ours"}),
    )
    said = (made / "out").read_text()
    assert "the user's" not in said and "MAKEFLAGS=ours\n" in said


def test_missing_program():
    with pytest.raises(BuildError, match="no-such-program is missing: run `./moderato setup`"):
        artifact("thing", ["a"], lambda directory: run(["no-such-program"]))


@pytest.mark.parametrize("place", ["/proc/none", "/dev/null", "/dev/null/none", "/sys/none"])
def test_error_for_unusable_cache_names_the_variable(monkeypatch, place):
    monkeypatch.setenv("MODERATO_CACHE", place)
    with pytest.raises(BuildError, match="MODERATO_CACHE"):
        artifact("thing", ["a"], write("x"))


def test_users_may_install_packages_themselves(monkeypatch):
    """Messages do not suggest set-up, which installs nothing then, and builds do not need packages."""
    monkeypatch.setenv("MODERATO_SKIP_PACKAGES", "1")
    with pytest.raises(
        BuildError, match="no-such-program is missing: install it by hand: MODERATO_SKIP_PACKAGES is set"
    ):
        artifact("thing", ["a"], lambda directory: run(["no-such-program"]))
    assert debian.version("no-such-package") == "no-such-package of this machine"
    debian.version.cache_clear()
    monkeypatch.delenv("MODERATO_SKIP_PACKAGES")
    with pytest.raises(BuildError, match="no-such-package is missing: run `./moderato setup`"):
        debian.version("no-such-package")


def test_full_disk(cache):
    def build(directory):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(directory))

    with pytest.raises(BuildError, match="No space left on device; free some space"):
        artifact("thing", ["a"], build)
    assert left_over(cache) == []


SLOW = """
from pathlib import Path
from moderato.toolchain.cache import artifact, run
def build(directory):
    (directory / "half").write_text("done")
    run({command})
artifact("thing", [Path({here!r})], build)
"""


def start(command) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", SLOW.format(command=command, here=str(HERE))],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for(process, condition):
    while not condition():
        assert process.poll() is None, "the build did not start"
        time.sleep(0.02)


def test_interrupt_leaves_nothing(cache):
    process = start(["sleep", "infinity"])
    wait_for(process, lambda: list(cache.glob("thing/.*.tmp-*/half")))
    os.killpg(process.pid, signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate()[1]
    assert left_over(cache) == []


def test_next_build_removes_files_of_a_killed_one(cache):
    process = start(["sleep", "infinity"])
    wait_for(process, lambda: list(cache.glob("thing/.*.tmp-*/half")))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert left_over(cache) != []
    directory = artifact("thing", [HERE], write("whole"))
    assert left_over(cache) == [directory / "out"]


def test_two_processes_build_once(cache, tmp_path):
    """Two test processes may need the same simulator: the second one waits for the first."""
    count, go = tmp_path / "count", tmp_path / "go"
    command = ["sh", "-c", f"echo x >> {count}; until [ -e {go} ]; do sleep 0.02; done"]
    first = start(command)
    wait_for(first, count.exists)
    second = start(command)
    wait_for(second, lambda: holds_a_lock_file(second) or count.read_text() != "x\n")
    go.touch()
    for process in first, second:
        assert process.communicate() and process.returncode == 0
    assert count.read_text() == "x\n"


def holds_a_lock_file(process) -> bool:
    files = Path(f"/proc/{process.pid}/fd").iterdir()
    return any(file.is_symlink() and file.readlink().suffix == ".lock" for file in files)


# Damage -------------------------------------------------------------------------------------------


@pytest.fixture
def made(monkeypatch):
    """Makes an artifact of two files, without the checks that this process remembers."""

    def build(folder):
        (folder / "sub").mkdir()
        (folder / "sub/file").write_text("whole")
        (folder / "other").write_text("other")

    def make():
        monkeypatch.setattr(toolchain_cache, "_whole", set())
        return artifact("thing", [HERE], build, "a moment")

    return make


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "sub/file").unlink(),
        lambda folder: (folder / "sub/file").write_text("who"),
        lambda folder: (folder / "sub/file").write_text("whole and more"),
        lambda folder: shutil.rmtree(folder / "sub"),
        lambda folder: shutil.rmtree(folder),
    ],
)
def test_damaged_artifact_is_built_again(made, capsys, damage):
    folder = made()
    assert made() == folder and "damaged" not in capsys.readouterr().err
    damage(folder)
    gone = not folder.exists()
    assert (made() / "sub/file").read_text() == "whole"
    assert ("thing in the cache is damaged" in capsys.readouterr().err) != gone
    assert (made() / "other").read_text() == "other"


def test_second_run_prints_that_it_waits(made, tmp_path):
    folder = made()
    shutil.rmtree(folder)
    program = (
        "from pathlib import Path; from moderato.toolchain import cache\n"
        f"cache.artifact('thing', [Path({str(HERE)!r})], lambda folder: None, 'a moment')"
    )
    with locked(folder.with_name(f".{folder.name}.lock"), "nobody"):
        waiting = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
        assert "waiting for another run that is making thing" in waiting.stderr.readline()
    assert waiting.wait() == 0
    waiting.stderr.close()


def test_stopped_build_ends_its_process_group(tmp_path):
    """This includes child processes of the program that the build called."""
    mark = tmp_path / "mark"
    program = (
        "from moderato.toolchain import cache\nimport signal\n"
        "signal.signal(signal.SIGTERM, signal.default_int_handler)\n"
        f"cache.run(['sh', '-c', 'touch {mark}; sleep 1000 & echo $! > {mark}; wait'])"
    )
    build = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    while not mark.exists() or not mark.read_text().strip():
        assert build.poll() is None
        time.sleep(0.02)
    build.send_signal(signal.SIGTERM)
    assert build.wait() != 0
    sleeper = Path(f"/proc/{mark.read_text().strip()}/stat")
    assert not sleeper.exists() or sleeper.read_text().split()[2] == "Z"

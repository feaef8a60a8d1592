# SPDX-License-Identifier: BSD-2-Clause
"""Two hosts next to the DUT: network namespaces, each with a TAP device at one of its ports.

The namespaces have no names. Descriptors hold them, so the kernel removes both when the last process
with these descriptors ends, for whatever reason. The machine's own network does not change.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..run.stations import ROUTER, TESTER
from ..show.errors import LabError

CLONE_NEWUSER, CLONE_NEWNET = 0x1000_0000, 0x4000_0000  # linux/sched.h
PR_SET_PDEATHSIG = 1  # linux/prctl.h
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x4004_54CA, 0x2, 0x1000  # linux/if_tun.h
TUN = "/dev/net/tun"
NAME = "box{}"  # of a host's interface
SETUP = """\
link set lo up
link set dev {name} address {mac} up
addr add {ipv4}/24 dev {name}
route add default via {router}
"""
# Commands can use this prefix: `$HOST1 COMMAND` runs on the host at port 1. It creates a process
# namespace, so that no process remains when the command ends. Its shell checks that the parent still has
# its descriptors: if the parent is killed between fork and --kill-child's prctl, the command must not
# run. The shell does not exec the command, because Ctrl-Z does not stop the first process of a
# namespace.
COMMAND = """\
export HOST0="nsenter --net=/proc/$$/fd/{0}" HOST1="nsenter --net=/proc/$$/fd/{1}"
exec unshare --pid --fork --kill-child -- \\
    sh -c '[ -e "$0" ] || exit 137; sh -c "$1"; exit' /proc/$$/fd/{0} "$1"
"""

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Hosts:
    """Descriptors of the TAP devices (each read returns one frame) and of the namespaces. `user`: the
    user namespace that owns these, if we are not root."""

    taps: tuple[int, ...]
    namespaces: tuple[int, ...]
    user: int | None

    @property
    def descriptors(self) -> list[int]:
        return [*self.taps, *self.namespaces, *([] if self.user is None else [self.user])]

    def entry(self, port: int, pid: int) -> str:
        """A prefix that runs a command on that host, for use in another terminal. `pid`: a process with
        these descriptors."""
        network = f"--net=/proc/{pid}/fd/{self.namespaces[port]}"
        if self.user is None:
            return f"nsenter {network}"
        return f"nsenter --user=/proc/{pid}/fd/{self.user} {network} --preserve-credentials"

    def start(self, command: str, stdout: int | None = None) -> subprocess.Popen:
        """Run a shell command on the host at port 0. It ends with all its children when it is killed or
        when this process ends. stdout: a descriptor for its output; None: our own."""
        parent = os.getpid()

        def enter():
            if self.user is not None:
                _call(_libc.setns, self.user, CLONE_NEWUSER)
            _call(_libc.setns, self.namespaces[0], CLONE_NEWNET)
            _call(_libc.prctl, PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # the parent ended before prctl
                os._exit(137)

        return subprocess.Popen(
            ["sh", "-c", COMMAND.format(*self.namespaces), "sh", command],
            stdout=stdout,
            preexec_fn=enter,
            pass_fds=self.namespaces,
        )


@contextlib.contextmanager
def made() -> Iterator[Hosts]:
    """The hosts, which exist while the block runs. Raises LabError if the kernel rejects them."""
    ours, theirs = socket.socketpair()
    # In a child, because a process that has entered a user namespace cannot leave it.
    child = os.fork()
    if child == 0:
        _make_and_send(theirs)
    theirs.close()
    with ours:
        said, descriptors, _, _ = socket.recv_fds(ours, 4096, 5)
    os.waitpid(child, 0)
    try:
        if said != b"made":
            raise LabError(said.decode() or "the hosts could not be made")
        yield Hosts(tuple(descriptors[:2]), tuple(descriptors[2:4]), (*descriptors[4:], None)[0])
    finally:
        for each in descriptors:
            os.close(each)


def _make_and_send(to: socket.socket):
    """Runs in the child; does not return."""
    try:
        try:
            socket.send_fds(to, [b"made"], _make())
        except LabError as error:
            to.send(str(error).encode())
    finally:
        os._exit(0)


def _make() -> list[int]:
    """The descriptors of a Hosts."""
    taps, namespaces, owned = [], [], False
    for port in range(2):
        owned = separate(owned)
        taps.append(tap(NAME.format(port)))
        _set_up(port)
        namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY))
    return [*taps, *namespaces, *([os.open("/proc/self/ns/user", os.O_RDONLY)] if owned else [])]


def separate(owned: bool, others: int = 0) -> bool:
    """Enter a new network namespace; returns whether a user namespace of ours owns it. others: flags of
    further namespaces."""
    try:
        _call(_libc.unshare, CLONE_NEWNET | others)
        return owned
    except OSError as error:
        if error.errno != errno.EPERM or owned:
            raise LabError(f"no network namespace can be made: {error.strerror}") from error
    user, group = os.geteuid(), os.getegid()
    try:
        _call(_libc.unshare, CLONE_NEWUSER | CLONE_NEWNET | others)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    except OSError as error:
        raise LabError(
            f"no network namespace can be made: {error.strerror}; run it as root, or let "
            "users have namespaces (sysctl user.max_user_namespaces, "
            "kernel.unprivileged_userns_clone)"
        ) from error
    return True


def tap(name: str) -> int:
    """The descriptor of a new TAP device."""
    try:
        device = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    except OSError as error:
        mend = {
            errno.ENOENT: "load the module: modprobe tun",
            errno.ENODEV: "load the module: modprobe tun",
            errno.EACCES: f"run it as root, or chmod 666 {TUN}",
        }
        raise LabError(
            f"no TAP device can be made: {TUN}: {error.strerror}; "
            + mend.get(error.errno or 0, "run it as root")
        ) from error
    return device


def _set_up(port: int):
    """Set addresses and routes. IPv6 is switched off: the guest has none, and it would only add
    frames."""
    with contextlib.suppress(OSError):  # a kernel without IPv6
        Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
    words = SETUP.format(
        name=NAME.format(port), mac=TESTER[port].mac, ipv4=TESTER[port].ipv4, router=ROUTER[port].ipv4
    )
    try:
        done = subprocess.run(["ip", "-batch", "-"], input=words, capture_output=True, text=True)
    except FileNotFoundError:
        raise LabError("`ip` is missing; install it: apt install iproute2") from None
    if done.returncode:
        raise LabError(f"{NAME.format(port)} could not be set up: {' '.join(done.stderr.split())}")


def _call(function, *arguments: int):
    """Call a function of _libc; raises OSError."""
    if function(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

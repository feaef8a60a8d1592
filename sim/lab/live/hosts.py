# SPDX-License-Identifier: BSD-2-Clause
"""Two hosts next to the DUT: network namespaces, each with a TAP device at one of its ports.

Neither has a name: descriptors hold them, so that the kernel removes both when the last process that
has those ends, however it ends. Nothing of the machine's own network is touched.
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
NAME = "box{}"  # of the interface to the box
SETUP = """\
link set lo up
link set dev {name} address {mac} up
addr add {ipv4}/24 dev {name}
route add default via {router}
"""
# A command can use these: `$HOST1 COMMAND` runs beyond port 1. In a process namespace of its own, so
# that nothing of it is left when it ends. Its shell checks that its parent still has its descriptors. A
# parent killed between fork and --kill-child's prctl would leave it running. The shell does not become
# the command: Ctrl-Z does not stop the first process of a namespace.
COMMAND = """\
export HOST0="nsenter --net=/proc/$$/fd/{0}" HOST1="nsenter --net=/proc/$$/fd/{1}"
exec unshare --pid --fork --kill-child -- \\
    sh -c '[ -e "$0" ] || exit 137; sh -c "$1"; exit' /proc/$$/fd/{0} "$1"
"""

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Hosts:
    """Descriptors: of the TAP devices (a read gives one frame) and of the namespaces; `user`: of what
    owns these, if we are not root."""

    taps: tuple[int, ...]
    namespaces: tuple[int, ...]
    user: int | None

    @property
    def descriptors(self) -> list[int]:
        return [*self.taps, *self.namespaces, *([] if self.user is None else [self.user])]

    def entry(self, port: int, pid: int) -> str:
        """The prefix of a command that runs there, for another terminal; `pid`: of the process that has
        these descriptors."""
        network = f"--net=/proc/{pid}/fd/{self.namespaces[port]}"
        if self.user is None:
            return f"nsenter {network}"
        return f"nsenter --user=/proc/{pid}/fd/{self.user} {network} --preserve-credentials"

    def start(self, command: str, stdout: int | None = None) -> subprocess.Popen:
        """Run text in a shell beyond port 0. It ends, and all that it started, when it is killed or
        when we end. stdout: a descriptor for what it prints; None: our own."""
        parent = os.getpid()

        def enter():
            if self.user is not None:
                _call(_libc.setns, self.user, CLONE_NEWUSER)
            _call(_libc.setns, self.namespaces[0], CLONE_NEWNET)
            _call(_libc.prctl, PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it ended before that
                os._exit(137)

        return subprocess.Popen(
            ["sh", "-c", COMMAND.format(*self.namespaces), "sh", command],
            stdout=stdout,
            preexec_fn=enter,
            pass_fds=self.namespaces,
        )


@contextlib.contextmanager
def made() -> Iterator[Hosts]:
    """Hosts while the block runs. Raises LabError if the kernel rejects them."""
    ours, theirs = socket.socketpair()
    # A child does it, because a process that enters a user namespace cannot leave it.
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
    """Never returns."""
    try:
        try:
            socket.send_fds(to, [b"made"], _make())
        except LabError as error:
            to.send(str(error).encode())
    finally:
        os._exit(0)


def _make() -> list[int]:
    """As Hosts has them."""
    taps, namespaces, owned = [], [], False
    for port in range(2):
        owned = _separate(owned)
        taps.append(_tap(NAME.format(port)))
        _set_up(port)
        namespaces.append(os.open("/proc/self/ns/net", os.O_RDONLY))
    return [*taps, *namespaces, *([os.open("/proc/self/ns/user", os.O_RDONLY)] if owned else [])]


def _separate(owned: bool) -> bool:
    """Enter a new network namespace; whether it is owned by a user namespace of ours."""
    try:
        _call(_libc.unshare, CLONE_NEWNET)
        return owned
    except OSError as error:
        if error.errno != errno.EPERM or owned:
            raise LabError(f"no network namespace can be made: {error.strerror}") from error
    user, group = os.geteuid(), os.getegid()
    try:
        _call(_libc.unshare, CLONE_NEWUSER | CLONE_NEWNET)
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


def _tap(name: str) -> int:
    try:
        tap = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
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
    return tap


def _set_up(port: int):
    """Addresses and routes. IPv6, which the guest does not speak, would only chatter."""
    with contextlib.suppress(OSError):  # a kernel without it
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
    """Call a function of libc; raises OSError."""
    if function(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

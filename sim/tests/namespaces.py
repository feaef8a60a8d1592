# SPDX-License-Identifier: BSD-2-Clause
"""Whether this kernel permits network namespaces with TAP devices, tested with util-linux and iproute2:
a fault in the lab's code (moderato.sim.lab.live.hosts) must not look like a missing permission."""

import functools
import subprocess

import pytest

TAP = ["ip", "tuntap", "add", "dev", "box", "mode", "tap"]


@functools.cache
def refusal() -> str | None:
    """The error messages of both ways, as this user and as root of a user namespace; None if one
    works."""
    said = []
    for ours in [], ["--map-root-user"]:
        done = subprocess.run(["unshare", "--net", *ours, *TAP], text=True, capture_output=True)
        if done.returncode == 0:
            return None
        said.append(" ".join(done.stderr.split()))
    return "; ".join(said)


def need():
    """Skip the test if the kernel does not permit them."""
    if refusal():
        pytest.skip(f"no network namespace with a TAP device: {refusal()}")

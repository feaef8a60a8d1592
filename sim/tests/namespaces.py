# SPDX-License-Identifier: BSD-2-Clause
"""Whether this kernel lets us have network namespaces with TAP devices, as util-linux and iproute2 find
it: a fault of our own way to make them (moderato.sim.lab.live.hosts) must not look like a refusal."""

import functools
import subprocess

import pytest

TAP = ["ip", "tuntap", "add", "dev", "box", "mode", "tap"]


@functools.cache
def refusal() -> str | None:
    """What they say, as ourselves and as the root of a user namespace; None if either has its device."""
    said = []
    for ours in [], ["--map-root-user"]:
        done = subprocess.run(["unshare", "--net", *ours, *TAP], text=True, capture_output=True)
        if done.returncode == 0:
            return None
        said.append(" ".join(done.stderr.split()))
    return "; ".join(said)


def need():
    """Pass the test over if the kernel refuses."""
    if refusal():
        pytest.skip(f"no network namespace with a TAP device: {refusal()}")

# SPDX-License-Identifier: BSD-2-Clause
"""The forwarding program's file; cocotb-tests/boards/test_board.py tests its forwarding."""

import subprocess

import pytest

from moderato.soc.firmware.forward import forwarder


@pytest.mark.parametrize("base", (None, 0x4100_0000))
def test_links_at_its_base(soc, base):
    program = forwarder(soc, base)
    base = soc["memory"]["base"] if base is None else base
    listing = subprocess.run(
        ["riscv64-unknown-elf-nm", program.with_suffix(".elf")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    symbols = {name: int(address, 16) for address, _kind, name in map(str.split, listing.splitlines())}
    assert symbols["_start"] == base
    assert symbols["buffers"] % 64 == symbols["paths"] % 64 == 0
    assert base < symbols["buffers"] < base + (1 << 20) - 2 * 256 * 1536
    assert program.stat().st_size < 32 << 10  # no buffers in the file


def test_needs_two_moderato_macs(soc):
    with pytest.raises(ValueError, match="1 MACs of kind moderato"):
        forwarder({**soc, "macs": soc["macs"][:1]})
    with pytest.raises(ValueError, match="2 MACs of kind liteeth"):
        forwarder({**soc, "nic": "liteeth"})

# SPDX-License-Identifier: BSD-2-Clause
"""The device tree agrees with the SoC's description, and dtc compiles it without warnings."""

import subprocess

import pytest

from moderato.soc.linux.devicetree import Options, dtb, dts
from moderato.soc.linux.memory_map import MAILBOX_SIZE, memory_map


def properties(soc, path, name, kind="x", options=Options(initrd_size=1 << 20)):
    """A property of the compiled tree, through fdtget."""
    answer = subprocess.run(
        ["fdtget", "-t", kind, dtb(soc, options), path, name], capture_output=True, text=True, check=True
    )
    return answer.stdout.split()


def test_macs(soc):
    for port, base in enumerate(("f1000000", "f1001000")):
        node = f"/soc/ethernet@{base}"
        assert properties(soc, node, "compatible", "s") == ["moderato,mac-1.0"]
        assert properties(soc, node, "reg") == [base, "1000"]
        assert properties(soc, node, "interrupts", "u") == [str(3 + 2 * port), str(4 + 2 * port)]
        assert properties(soc, node, "interrupt-names", "s") == ["rx", "tx"]
        assert properties(soc, node, "local-mac-address", "bx") == [
            "2",
            "4d",
            "6f",
            "64",
            "0",
            str(port),
        ]
        assert properties(soc, f"{node}/fixed-link", "speed", "u") == ["100"]


def test_a_board_has_no_seed(soc):
    """A board may have secrets. In simulation, random numbers are the same in each boot."""
    assert dts(soc).count("rng-seed") == 1
    assert "rng-seed" not in dts(soc, Options(rng_seed=b""))


def test_peers(soc):
    """MACs that forward flows to each other name each other; other MACs name none."""
    assert "moderato,peer" not in dts(soc)
    for port, mac in enumerate(soc["macs"]):
        mac["peer"] = 1 - port
    named = [properties(soc, f"/soc/ethernet@f100{port}000", "moderato,peer") for port in (0, 1)]
    assert named == [properties(soc, f"/soc/ethernet@f100{1 - port}000", "phandle") for port in (0, 1)]
    assert named[0] != named[1]


def test_board_phys(soc):
    options = Options(phys=('phy-mode = "gmii";',) * 2)
    assert properties(soc, "/soc/ethernet@f1000000", "phy-mode", "s", options) == ["gmii"]
    assert "fixed-link" not in dts(soc, options)


def test_memory(soc):
    where = memory_map(soc)
    assert properties(soc, "/memory@40000000", "reg") == ["40000000", "2000000"]
    assert where.mailbox == 0x4200_0000 - MAILBOX_SIZE
    assert properties(soc, "/chosen", "moderato,mailbox") == [f"{where.mailbox:x}", "100000"]
    assert properties(soc, f"/reserved-memory/mailbox@{where.mailbox:x}", "reg") == [
        f"{where.mailbox:x}",
        "100000",
    ]
    assert properties(soc, "/chosen", "linux,initrd-end") == [f"{where.initrd + (1 << 20):x}"]


@pytest.mark.parametrize("harts", (1, 2))
def test_no_warnings(soc, harts, tmp_path):
    soc["cpu"]["harts"] = harts
    text = dts(soc, Options(initrd_size=4096))
    assert text.count('device_type = "cpu"') == harts
    compiled = subprocess.run(
        ["dtc", "-I", "dts", "-O", "dtb", "-o", tmp_path / "dtb"],
        input=text,
        capture_output=True,
        text=True,
    )
    assert (compiled.returncode, compiled.stderr) == (0, "")


def test_initrd_too_large(soc):
    with pytest.raises(ValueError, match="does not fit"):
        dts(soc, Options(initrd_size=16 << 20))


@pytest.mark.parametrize(
    "memory, said",
    (
        ({"size": 16 << 20}, "16 MiB of RAM; .* needs 32 MiB"),
        ({"size": 2 << 30}, "2048 MiB of RAM; .* 1024 MiB at most"),
        ({"size": (32 << 20) + 100}, "give it whole pages"),
        ({"base": 0x4010_0000}, "begins at 0x40100000; .* a multiple of 4 MiB"),
    ),
)
def test_rejects_memory_that_cannot_boot(soc, memory, said):
    soc["memory"].update(memory)
    with pytest.raises(ValueError, match=said):
        dts(soc)


def test_rejects_cpu_without_mmu(soc):
    soc["cpu"].update(itlb=0, dtlb=0)
    with pytest.raises(ValueError, match="Linux needs an MMU"):
        dts(soc)


def test_room_for_a_larger_kernel(soc):
    usual = memory_map(soc)
    soc["memory"]["kernel_room"] = usual.dtb - usual.kernel
    assert memory_map(soc) == usual
    soc["memory"]["kernel_room"] += 1 << 20
    more = memory_map(soc)
    assert [more.dtb - usual.dtb, more.sbi - usual.sbi, more.initrd - usual.initrd] == [1 << 20] * 3
    assert (more.kernel, more.mailbox) == (usual.kernel, usual.mailbox)

# SPDX-License-Identifier: BSD-2-Clause
"""Boot images, tested without a boot."""

import stat
import subprocess

import pytest

from moderato.soc.firmware.firmware import firmware
from moderato.soc.linux.kernel import Kernel, check
from moderato.soc.linux.memory_map import memory_map
from moderato.soc.linux.rootfs import Entry, archive
from moderato.toolchain.cache import BuildError


def test_archive(tmp_path):
    """cpio reads our archive: names of every length, modes, content, links, devices."""
    entries = [
        Entry("dir", stat.S_IFDIR | 0o755),
        Entry("dev", stat.S_IFCHR | 0o600, device=(5, 1)),
        Entry("link", stat.S_IFLNK | 0o777, b"dir/ab"),
    ]
    entries += [Entry("dir/" + "x" * n, stat.S_IFREG | 0o755, b"c" * n) for n in range(1, 9)]
    (tmp_path / "archive").write_bytes(archive(entries))
    listed = subprocess.run(
        ["cpio", "-itv", "--quiet"],
        stdin=open(tmp_path / "archive"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert [line.split()[0] for line in listed] == [stat.filemode(entry.mode) for entry in entries]
    assert [line.split()[-1] for line in listed] == [
        entry.content.decode() if entry.name == "link" else entry.name for entry in entries
    ]
    assert listed[1].split()[4:6] == ["5,", "1"]
    subprocess.run(
        ["cpio", "-i", "--quiet", "dir", "dir/*"],
        cwd=tmp_path,
        check=True,
        stdin=open(tmp_path / "archive"),
    )
    for entry in entries[3:]:
        assert (tmp_path / entry.name).read_bytes() == entry.content


def test_ignored_option():
    check("CONFIG_A=y\n# CONFIG_B is not set\n# about C\n", "CONFIG_A=y\n")
    with pytest.raises(BuildError, match="ignores CONFIG_A=y, # CONFIG_B is not set;"):
        check("CONFIG_A=y\n# CONFIG_B is not set\n", "# CONFIG_A is not set\nCONFIG_B=m\n")


def test_last_line_of_an_option_counts():
    check('CONFIG_A="a"\nCONFIG_B=y\nCONFIG_A="b"\n# CONFIG_B is not set\n', 'CONFIG_A="b"\n')
    with pytest.raises(BuildError, match='ignores CONFIG_A="b";'):
        check('CONFIG_A="a"\nCONFIG_A="b"\n', 'CONFIG_A="a"\n')


def test_kernel_size_includes_bss(tmp_path):
    """The BSS is not in the file."""
    image = tmp_path / "Image"
    image.write_bytes(bytes(16) + (0x3FD790).to_bytes(8, "little") + bytes(100))
    assert Kernel(image, image, image, tmp_path, tmp_path).size == 0x3FD790


@pytest.mark.parametrize("harts", (1, 2))
def test_firmware(soc, harts):
    """The firmware links at the SoC's addresses, and fits the memory that the device tree reserves."""
    soc["cpu"]["harts"] = harts
    built = firmware(soc)
    assert (built.rom_base, built.sbi_base) == (0, memory_map(soc).sbi)
    assert built.rom.stat().st_size <= 64 and built.sbi.stat().st_size <= 4096
    header = subprocess.run(
        ["riscv64-unknown-elf-readelf", "-h", built.sbi.with_suffix(".elf")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"Entry point address:               {built.sbi_base:#x}" in header
    assert "Flags:                             0x0" in header  # no compressed or float instructions

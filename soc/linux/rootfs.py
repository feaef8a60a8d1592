# SPDX-License-Identifier: BSD-2-Clause
"""The guest's root file system: a plain cpio archive that the kernel unpacks into memory."""

import stat
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.linux import kernel, userspace
from moderato.toolchain.cache import artifact

HERE = Path(__file__).parent
FILES = HERE / "rootfs"


def rootfs(harts: int = 1, choice: kernel.Choice = kernel.NORMAL) -> Path:
    """Build initramfs.cpio: our own programs, busybox, ip, ethtool, nuttcp, and rootfs/.

    Several `harts` add `pin`. A kernel with XDP adds XDP programs, their loader, and `flowtable`; the
    kernel `time` adds `tc` and `ontime`.
    """
    programs = {
        "init": userspace.own("init"),
        "bin/busybox": userspace.busybox(),
        "bin/coalesce": userspace.own("coalesce"),
        "bin/ethtool": userspace.ethtool(),
        "bin/ip": userspace.ip(),
        "bin/mailbox": userspace.own("mailbox"),
        "bin/nuttcp": userspace.nuttcp(),
        "bin/roundtrip": userspace.own("roundtrip"),
    }
    if harts > 1:
        programs["bin/pin"] = userspace.own("pin")
    if choice.name == kernel.TIME:
        programs["bin/ontime"] = userspace.own("ontime")
        programs["bin/tc"] = userspace.tc()
    folders = ["bin", "dev", "proc", "sys", "tmp"]
    if choice.xdp:
        programs["bin/flowtable"] = userspace.own("flowtable")
        programs["bin/xdp"] = userspace.own("xdp")
        programs |= {f"lib/xdp/{path.name}": path for path in userspace.xdp_programs()}
        folders += ["lib", "lib/xdp"]

    def build(directory: Path):
        entries = [Entry(name, stat.S_IFDIR | 0o755) for name in folders]
        entries.append(Entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
        entries.append(Entry("bin/sh", stat.S_IFLNK | 0o777, b"busybox"))
        for path in sorted(FILES.rglob("*")):
            name, mode = path.relative_to(FILES).as_posix(), path.stat().st_mode
            if path.is_dir():
                entries.append(Entry(name, stat.S_IFDIR | 0o755))
            else:
                entries.append(Entry(name, stat.S_IFREG | mode & 0o755, path.read_bytes()))
        for name, path in programs.items():
            entries.append(Entry(name, stat.S_IFREG | 0o755, path.read_bytes()))
        (directory / "initramfs.cpio").write_bytes(archive(entries))

    inputs = [f"{name} {path.parent.name}" for name, path in programs.items()]
    return artifact("rootfs", [FILES, Path(__file__), *inputs], build) / "initramfs.cpio"


# cpio, "newc" -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A file of the archive: name, mode with type, content (or a link's target), device numbers."""

    name: str
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def archive(entries: list[Entry]) -> bytes:
    """A newc archive; format: the kernel's Documentation/driver-api/early-userspace."""
    out = bytearray()
    for number, entry in enumerate([*entries, Entry("TRAILER!!!", 0)], 1):
        name = entry.name.encode() + b"\0"
        # ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
        fields = (number, entry.mode, 0, 0, 1, 0, len(entry.content), 0, 0, *entry.device, len(name), 0)
        out += b"070701" + b"".join(b"%08X" % field for field in fields) + name
        out += bytes(-len(out) % 4) + entry.content
        out += bytes(-len(out) % 4)
    return bytes(out)

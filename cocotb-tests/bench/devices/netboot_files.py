# SPDX-License-Identifier: BSD-2-Clause
"""Files that the simulated board loads from a TFTP server: boot.json and the files that it names."""

import json
from pathlib import Path

from moderato.boards import images
from moderato.soc.firmware import firmware, forward
from moderato.toolchain import debian
from moderato.toolchain.cache import artifact

PROBE = Path(__file__).with_name("probe.c")


def files(soc: dict, data: bytes) -> dict[str, bytes]:
    """Contents by name. boot.json starts the probe, which can continue with the forwarding program."""
    data_base  = soc["memory"]["base"]
    probe_base = data_base + (1 << 20)
    program    = probe(soc, probe_base, data_base, len(data))
    found = {
        "data.bin":    (data_base, data),
        "forward.bin": (images.boot_address(soc), images.forward(soc).read_bytes()),
        "probe.bin":   (probe_base, program.read_bytes()),
    }
    addresses = {name: f"{address:#010x}" for name, (address, _content) in found.items()}
    return {"boot.json": json.dumps(addresses, indent=4).encode(),
            **{name: content for name, (_address, content) in found.items()}}


def probe(soc: dict, base: int, data_base: int, data_size: int) -> Path:
    """probe.bin for address `base`."""
    symbols = {
        "DATA_BASE": data_base, "DATA_SIZE": data_size, "FORWARD_BASE": images.boot_address(soc),
        "MAC_BASE": soc["macs"][0]["base"], "UART_BASE": soc["uart"]["base"],
    }
    defines = [f"-D{name}={value:#x}" for name, value in symbols.items()]
    script  = firmware.HERE / "forward.ld"

    def build(directory: Path):
        firmware.link(directory / "probe", script, base,
                      [*defines, *(f"-I{folder}" for folder in forward.INCLUDES)], [PROBE])

    inputs = [PROBE, script, firmware.HERE / "include", forward.REGISTERS, Path(firmware.__file__),
              " ".join(defines), f"base {base:#x}", debian.version(firmware.COMPILER)]
    return artifact("netboot-probe", inputs, build) / "probe.bin"

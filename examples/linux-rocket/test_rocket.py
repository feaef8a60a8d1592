# SPDX-License-Identifier: BSD-2-Clause
"""64-bit Linux on LiteX's Rocket boots in the lab's simulator, and forwards between two MACs."""

import json
import re

import pytest
import rocket_soc
from rocket_images import images
from rocket_soc import LinuxSoC, PackagedRocket

from moderato.sim.harness.build import simulator
from moderato.sim.lab.run.session import Session
from moderato.sim.sim_soc import SimConfig

BOOT = 200_000_000  # cycles: several times the usual number
FRAMES = 100
COMPLAINTS = "WARNING", "BUG", "Oops", "moderato_", "timed out"


def test_elaborates(monkeypatch):
    """Both MACs are masters at Rocket's coherent port, with four interrupts. The test needs no
    netlist."""
    monkeypatch.setattr(PackagedRocket, "add_sources", staticmethod(lambda platform, variant: None))
    soc = LinuxSoC(SimConfig(macs=2))
    soc.finalize()
    assert list(soc.dma_bus.masters) == ["eth0_dma", "eth1_dma"]
    assert [soc.dma_bus.masters[f"eth{port}_dma"].data_width for port in range(2)] == [64, 64]
    assert soc.constants["ETH0_DMA_COHERENT"] == soc.constants["ETH1_DMA_COHERENT"] == 1
    described = soc.describe()
    assert [(mac["rx_irq"], mac["tx_irq"]) for mac in described["macs"]] == [(2, 3), (4, 5)]
    assert described["uart"]["irq"] == 1
    verilog = soc.platform.get_verilog(soc.get_fragment(), name="sim").main_source
    assert verilog.count("ExampleRocketSystem ExampleRocketSystem(") == 1


@pytest.mark.slow
def test_forwards():
    """Compares each octet of each frame, and Linux's interrupt counts with the PLIC's claims."""
    folder = rocket_soc.verilog()
    soc = json.loads((folder / "soc.json").read_text())
    with Session(simulator(folder), load=images(folder)) as guest:
        up = guest.call("expect", text="MODERATO-UP on riscv64", max_cycles=BOOT)
        print(
            f"up after {up['cycle'] / 1e6:.1f} M cycles, {up['cycle'] / up['cpu_seconds'] / 1e3:.0f} kHz"
        )
        for octets in 64, 333, 1518:
            forward(guest, octets, load=2 if octets == 64 else 10)
        counts = interrupts(guest)
        claims = guest.call("counters")["claims"][0]
        printed = guest.call("console")["output"]
    for port, mac in enumerate(soc["macs"]):
        # Polls for Rx may free all sent frames, so Tx may have no interrupts.
        for direction in "rx", "tx":
            assert counts[f"eth{port}-{direction}"] == claims[mac[f"{direction}_irq"]]
        assert counts[f"eth{port}-rx"] > 0
    assert [word for word in COMPLAINTS if word in up["output"] + printed] == []


def forward(guest: Session, octets: int, load: float):
    """Offer frames to both ports at `load` percent of 100 Mb/s; all frames arrive unchanged."""
    port = {"frame_bytes": octets, "load_percent": load, "frames": FRAMES}
    report = guest.call("trial", ports=[port, {**port, "phase": 1000}])
    print(octets, load, json.dumps(report))
    for port in report["ports"]:
        assert (port["forwarded"], port["lost"]) == (FRAMES, 0)
        assert (port["corrupted"], port["reordered"], port["duplicated"]) == (0, 0, 0)
        assert port["left"]["bad_fcs"] == port["left"]["unrecognised"] == 0


def interrupts(guest: Session) -> dict[str, int]:
    """Interrupt counts by name, from the guest's /proc/interrupts."""
    guest.call("send", text="\n")
    output = guest.call("expect", text="MODERATO-TOLD", max_cycles=BOOT)["output"]
    print(output)
    return {name: int(count) for count, name in re.findall(r"^ *\d+: +(\d+) .* (\S+)\r?$", output, re.M)}

# SPDX-License-Identifier: BSD-2-Clause
"""LiteEth's MAC with the kernel's own driver, unpatched, to which Moderato is compared."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from pypi_tools import programs
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.utils import rdpcap, wrpcap

from moderato.sim.lab.measure import forward, trial
from moderato.sim.lab.measure.results import Trial
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import LITEETH
from moderato.sim.sim_soc import SimConfig, SimSoC, soc_verilog
from moderato.soc.linux import devicetree, kernel


@pytest.fixture(scope="session")
def lab():
    return machine(system=System(LITEETH))


@pytest.fixture(scope="session")
def light(lab):
    """A load that LiteEth can forward."""
    (result,) = forward.run(lab, [Trial(LITEETH, 512, 5, 40, 100)])
    return result


@pytest.fixture(scope="session")
def overload(lab):
    """A load far beyond what LiteEth can forward."""
    (result,) = forward.run(lab, [Trial(LITEETH, 64, 100, 300, 100)])
    return result


# Hardware -----------------------------------------------------------------------------------------


def test_registers_are_where_the_driver_expects_them():
    """LiteX numbers registers in the order of LiteEth's source."""
    soc = SimSoC(SimConfig(nic=LITEETH))
    soc.finalize()
    text = (kernel.source() / "drivers/net/ethernet/litex/litex_liteeth.c").read_text()
    wanted = {
        name.lower(): int(offset, 16)
        for name, offset in re.findall(
            r"#define LITEETH_((?:WRITER|READER|PREAMBLE|CRC)_\w+)\s+(0x\w+)", text
        )
    }
    names = [csr.name for csr in soc.csr.regions["mac0"].obj]
    assert soc.csr.data_width == 32  # a register is one word
    assert len(wanted) == len(names) == 17
    for name, offset in wanted.items():
        assert names[offset // 4].endswith(name)


def test_wrong_hardware_is_rejected():
    with pytest.raises(ValueError, match="one of moderato, liteeth"):
        SimSoC(SimConfig(nic="e1000"))
    with pytest.raises(ValueError, match="a power of two"):
        SimSoC(SimConfig(nic=LITEETH, liteeth_slots=3))


@pytest.mark.parametrize("slots", [2, 8])
def test_device_tree_passes_the_kernels_binding(slots, tmp_path):
    verilog = soc_verilog(SimConfig(nic=LITEETH, liteeth_slots=slots))
    source = devicetree.dts(json.loads((verilog / "soc.json").read_text()))
    assert f"litex,rx-slots = <{slots}>" in source
    assert complaints(source, tmp_path) == []
    assert complaints(source.replace('"mac", "mdio"', '"mdio", "mac"'), tmp_path) != []


def complaints(source: str, folder) -> list[str]:
    """Errors of the kernel's binding about the MACs in a device tree source."""
    schemas, blob = folder / "bindings" / "net", folder / "test.dtb"
    schemas.mkdir(parents=True, exist_ok=True)
    for name in "litex,liteeth.yaml", "ethernet-controller.yaml", "ethernet-phy.yaml", "mdio.yaml":
        shutil.copy(kernel.source() / "Documentation/devicetree/bindings/net" / name, schemas)
    compiled = subprocess.run(
        ["dtc", "-I", "dts", "-O", "dtb", "-o", blob], input=source, capture_output=True, text=True
    )
    assert (compiled.returncode, compiled.stderr) == (0, "")
    checked = subprocess.run(
        [programs("dtschema") / "dt-validate", "-s", schemas, blob],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return [line for line in checked.stdout.splitlines() if "ethernet@" in line]


def test_one_evaluation_a_cycle_is_enough(lab):
    """It would not be if the logic had a combinational loop, like LiteEth's usual Verilog
    (`sim_soc.py`)."""
    asked = Trial(LITEETH, 64, 20, 20, 100)
    commands = json.dumps({"do": "trial", **trial.request(asked, lab.sys_clk_hz)}) + "\n"
    once, fully = (
        json.loads(
            subprocess.run(
                [
                    lab.simulator,
                    "--restore",
                    state.ready(lab, LITEETH).checkpoint,
                    *option,
                    "--script",
                    "-",
                ],
                input=commands,
                capture_output=True,
                text=True,
                check=True,
            ).stdout.splitlines()[-1]
        )
        for option in ([], ["--ungated"])
    )
    assert fully["ports"][0]["forwarded"] > 0
    for name in ("ports", "start_cycle", "end_cycle", "latency_cycles", "idle_cycles"):
        assert once[name] == fully[name]


# Trials -------------------------------------------------------------------------------------------


def test_every_frame_is_intact_and_counted(light, overload):
    for result in light, overload:
        assert result.problems == []  # also: /proc/interrupts equals the hardware's counts
        for port in result.ports:
            assert port.corrupted == 0
            assert port.offered == port.received + port.dropped_at_ring
        assert result.dropped_elsewhere == 0


def test_light_load_is_forwarded_whole(light):
    assert light.total("lost") == 0
    assert light.cpu_idle_percent > 0


def test_interrupt_for_each_frame_received_and_sent(light):
    """Fewer only if one call of the handler serves both directions."""
    frames = light.total("received") + light.total("forwarded")
    assert light.total("rx_interrupts") == light.total("received")
    assert 0.9 * frames <= light.total("rx_interrupts") + light.total("tx_interrupts") <= frames


def test_overload_ends_in_livelock(overload):
    assert overload.total("fps") == 0
    assert overload.total("dropped_at_ring") > 0
    assert overload.total("forwarded") > 0  # frames from the backlog, after the load


# Command line -------------------------------------------------------------------------------------


def moderato(*words) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "moderato.sim.lab.cli", *map(str, words)]
    return subprocess.run(command, text=True, capture_output=True)


def test_shell_has_the_kernels_driver():
    ended = moderato("shell", "--nic", LITEETH, "-c", "grep -h DRIVER /sys/class/net/eth*/device/uevent")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == [f"DRIVER={LITEETH}"] * 2


@pytest.mark.slow
def test_replay_learns_neighbours_and_forwards(tmp_path):
    frames = [
        Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00")
        / IP(src="198.18.0.2", dst="198.19.0.2", id=number)
        / UDP(dport=5000)
        / bytes(64)
        for number in range(5)
    ]
    for number, frame in enumerate(frames):
        frame.time = number * 0.001
    wrpcap(str(tmp_path / "in.pcap"), frames)
    ended = moderato(
        "replay",
        "--nic",
        LITEETH,
        "--in0",
        tmp_path / "in.pcap",
        "--out0",
        tmp_path / "0.pcap",
        "--out1",
        tmp_path / "1.pcap",
    )
    assert ended.returncode == 0, ended.stderr
    left = rdpcap(str(tmp_path / "1.pcap"))
    assert left[0][ARP].pdst == "198.19.0.2"
    assert [frame[IP].id for frame in left if UDP in frame] == list(range(5))

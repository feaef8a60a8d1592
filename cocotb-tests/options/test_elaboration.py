# SPDX-License-Identifier: BSD-2-Clause
"""Elaboration rejects options that cannot work."""

import pytest
from migen import Record

from bench.devices import duts
from moderato.gateware.registers import table as registers
from moderato.gateware.mac import ModeratoMAC, min_sys_clk_freq
from moderato.gateware.options import OPTIONS
from moderato.gateware.phy.sim import SimPHY, sim_phy_pads
from moderato.sim.sim_soc import OFFLOADS
from moderato.soc.soc import FLOWS, SCHEDULE
from synthesis.area import DEVICES


def mac(sys_clk_freq=100e6, **options):
    return ModeratoMAC(SimPHY(Record(sim_phy_pads(8)), sys_clk_freq), sys_clk_freq, "sys", **options)


def test_max_frames():
    with pytest.raises(ValueError, match="max_frames must be more than the 8 .*, not 8"):
        mac(max_frames=8, queues=2)
    mac(max_frames=9, queues=2)


def test_sys_clk_freq():
    assert min_sys_clk_freq(SimPHY) == pytest.approx(37.5e6)
    with pytest.raises(ValueError, match="37.5 MHz at least for the rate of SimPHY, not 37.0 MHz"):
        mac(sys_clk_freq=37e6)
    mac(sys_clk_freq=38e6)


def test_unicast():
    assert optional(mac(unicast=2)) == {"FEATURES", *(
        f"UNICAST_{half}_{n}" for half in ("LOW", "HIGH") for n in range(2))}


def test_pause():
    made = mac(pause=True)
    assert {name.split("_")[0] for name in optional(made)} == {"FEATURES", "PAUSE"}
    assert {name for name in made.registers.counters if name not in registers.counters()} == {
        "RX_PAUSE_FRAMES", "RX_CONTROL_UNKNOWN", "TX_PAUSE_FRAMES"}


def test_rmon():
    made = mac(rmon=True)
    assert optional(made) == {"FEATURES"}  # counters have no registers of their own
    assert set(made.registers.counters) - set(registers.counters()) == {
        register.name for register in registers.STATISTICS if register.option == "rmon"}


def test_vlan():
    made = mac(vlan=True)
    assert optional(made) == {"FEATURES", "VLAN"}  # a write-only register has no value
    assert "VLAN_TABLE" in made.registers.strobe and "VLAN_TABLE" not in mac().registers.strobe
    assert set(made.registers.counters) - set(registers.counters()) == {"RX_VLAN_FILTERED"}


def test_timestamp():
    made = mac(timestamp=True)
    assert {name.split("_")[0] for name in optional(made)} == {"FEATURES", "TIME"}
    assert made.registers.counters == registers.counters()


def test_jumbo():
    """The FIFOs grow to the required size, and no further; a longer one remains."""
    assert len(mac(jumbo=True).rx_fifo.space) == len(mac(rx_fifo_order=14).rx_fifo.space)
    assert len(mac(jumbo=True).tx_fifo.space) == len(mac(tx_fifo_order=14).tx_fifo.space)
    assert len(mac().rx_fifo.space) == 11


def test_queues():
    made = mac(queues=2)
    assert {name.split("_")[0] for name in optional(made)} == {"FEATURES", "RSS", "RX1", "TX1"}
    assert not any("PACING" in name for name in optional(made))
    assert set(mac(queues=2, pacing=True).irqs) == {"rx", "tx", "rx1", "tx1"}
    assert set(mac().irqs) == {"rx", "tx"}
    assert len(made.registers.value["CTRL"]) == 7 and len(mac().registers.value["CTRL"]) == 5


def test_segment():
    for options in ({}, {"gather": True}, {"tx_checksum": True}):
        with pytest.raises(ValueError, match="segment needs gather and tx_checksum"):
            mac(segment=True, **options)
    assert optional(mac(segment=True, gather=True, tx_checksum=True)) == {"FEATURES"}


def test_launch():
    for options in ({}, {"timestamp": True}, {"queues": 2}):
        with pytest.raises(ValueError, match="launch needs timestamp and queues"):
            mac(launch=True, **options)
    with pytest.raises(ValueError, match="launch works only without gather"):
        mac(launch=True, timestamp=True, queues=2, gather=True)


def test_gates():
    options = {"timestamp": True, "queues": 2}
    with pytest.raises(ValueError, match="gates needs timestamp and queues and launch"):
        mac(gates=6, **options)
    for gates, problem in ((5, "must be 6 at least"), (9, "must be 0 to 8")):
        with pytest.raises(ValueError, match=problem):
            mac(gates=gates, launch=True, **options)


def test_shaper():
    """It needs neither a clock nor launch times, and adds no counters."""
    with pytest.raises(ValueError, match="shaper needs queues"):
        mac(shaper=True)
    with pytest.raises(ValueError, match="shaper works only without gather"):
        mac(shaper=True, queues=2, gather=True)
    made = mac(shaper=True, queues=2)
    assert optional(made) - optional(mac(queues=2)) == {
        f"{prefix}_{name}" for prefix in ("TX", "TX1")
        for name in ("SHAPER", "IDLE_SLOPE", "SEND_SLOPE", "HIGH_CREDIT", "LOW_CREDIT")}
    assert made.registers.counters == mac(queues=2).registers.counters
    for options in ({"timestamp": True}, {"timestamp": True, "launch": True},
                    {"timestamp": True, "launch": True, "gates": 6}):
        mac(shaper=True, queues=2, **options)


def test_no_option_by_default():
    made = mac()
    assert optional(made) == set()
    assert made.registers.counters == registers.counters()


def optional(made):
    """The registers of a MAC that exist because of an option."""
    return {register.name for register in registers.registers()
            if register.option and register.name in made.registers.value}


# Lists of options --------------------------------------------------------------------------------

SIZES = {"rx_fifo_order", "tx_fifo_order", "max_frames"}


def test_every_option_has_its_area_measured(monkeypatch):
    """Each option has its own row: with the options that it needs, and no others."""
    rows = []
    monkeypatch.setattr(duts, "mac_gmii", lambda **options: rows.append(
        {name for name, value in options.items() if value and value != OPTIONS[name].default}))
    for name in DEVICES.keys() - {"liteeth_gmii"}:
        getattr(duts, name)()
    for option in OPTIONS.values():
        assert option.name in SIZES or {option.name, *option.needs} in rows, option.name


def test_the_lab_has_every_option():
    known = OFFLOADS.keys() | FLOWS.keys() | SCHEDULE.keys()
    assert known | {"urgent", "pacing"} | SIZES == OPTIONS.keys()


def test_features_report_options():
    """One option reports each field of FEATURES, and of CAPABILITY except sizes and rates."""
    told = [place for option in OPTIONS.values() for place in option.tells]
    fields = {f"{register.name}.{field.name}" for register in registers.registers()
              if register.name in ("FEATURES", "CAPABILITY") for field in register.fields}
    assert len(set(told)) == len(told)
    assert fields - set(told) == {f"CAPABILITY.{name}" for name in (
        "MAX_RING_ORDER", "TIMER_BITS", "RX_FIFO_ORDER", "TX_FIFO_ORDER", "RATES")}


NUMBERS  = [option for option in OPTIONS.values() if not option.is_switch]
SWITCHES = [option for option in OPTIONS.values() if option.is_switch]


@pytest.mark.parametrize("option", NUMBERS, ids=lambda option: option.name)
def test_ranges_of_numbers(option):
    """Values outside the range, or that are not numbers, are rejected; both ends of the range
    elaborate."""
    least, most = option.least, option.most
    for value in (least - 1, most + 1, -1, 2**64, "4k", 4.0, True, None):
        says = f"{option.name} must be {least} to {most}, not {value!r}: "
        with pytest.raises(ValueError, match=says):
            mac(**{option.name: value})
    needed = {name: OPTIONS[name].most for name in option.needs}
    for value in (least, most):
        mac(**{option.name: value} | needed)


@pytest.mark.parametrize("option", SWITCHES, ids=lambda option: option.name)
def test_switches_are_on_or_off(option):
    for value in ("yes", 2, None):
        with pytest.raises(ValueError, match=f"{option.name} must be True or False, not {value!r}: "):
            mac(**{option.name: value})

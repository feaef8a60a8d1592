# SPDX-License-Identifier: BSD-2-Clause
"""The devices under test: each function returns a Migen module and the set of its ports."""

from migen import *

from moderato.gateware.moderation import Moderation


def named(prefix="", **signals):
    """Names signals, and the fields of records, as the tests know them; returns them as a set."""
    ports = set()
    for name, item in signals.items():
        if isinstance(item, Signal):
            item.name_override = f"{prefix}{name}"
            ports.add(item)
        else:
            ports |= named(f"{prefix}{name}_", **{field: getattr(item, field)
                for field, *_ in item.layout})
    return ports


def clocked(device, *domains):
    """Gives a device its clock domains, as ports sys_clk and sys_rst; returns these."""
    ports = set()
    for name in domains or ["sys"]:
        domain = ClockDomain(name)
        device.clock_domains += domain
        ports |= {domain.clk, domain.rst}
    return ports


# Moderation ---------------------------------------------------------------------------------------

def moderation():
    """`outputs` packs what the golden model predicts into one word: one read a clock is fast."""
    device = Moderation()
    outputs = Signal(8 + 2*16, name_override="outputs")
    device.comb += outputs.eq(Cat(
        device.line, device.armed, device.raised, device.by_request, device.by_frames,
        device.by_absolute, device.by_packet, C(0, 1), device.completed, device.unreported))
    inputs = ["frames", "packet_timer", "absolute_timer", "gap", "completion", "request", "silent",
        "rearm", "rearm_index", "disarm", "clear"]
    return device, clocked(device) | {outputs} | named(**{name: getattr(device, name) for name in inputs})

# SPDX-License-Identifier: BSD-2-Clause
"""Resets of one or two clock domains, while frames of flows and of the driver pass in both
directions. The MAC forwards to itself: frames leave on the wire on which they arrived.
"""

import random

import cocotb
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time
from scapy.layers.inet import TCP, UDP

from bench.mac import Mac
from bench.models.frames import padded, plain
from bench.wires.wire import add_fcs
from cases.flows import Flow, Table, ends, packet
from cases.resets import DOMAINS, ORDER, RESETS, Receiving, are_part, both_are_whole, left, pulse


async def forwarding(mac, flows):
    """Enables the MAC's table with these flows."""
    table = Table(mac.regs)
    await table.enable()
    for flow in flows:
        await table.add(flow)


def several():
    return [Flow(kind, ends(), random.randbytes(12), new=new)
            for kind in (TCP, UDP) for new in (None, ends())]


def of(flows):
    """Returns a function that makes a frame of one of the flows, or for the driver."""
    def frame():
        if random.random() < 0.5:
            return plain(random.randrange(60, 200))
        return padded(packet(random.choice(flows), random.randrange(60, 200)))
    return frame


def became(frame, flows):
    """The forwarded form of a received frame; None: the frame is for the driver."""
    for flow in flows:
        if frame[26:34] == flow.ends.addresses and frame[34:38] == flow.ends.ports:
            return flow.forwarded(frame)
    return None


def taken(mac):
    """The frames that the driver received."""
    frames = []
    while (frame := mac.driver.receive()) is not None:
        frames.append(frame.data)
    return frames


@cocotb.test()
@cocotb.parametrize(which=["rx", "tx", "rx_tx"])
async def resets_phy_domain(dut, which):
    """The MAC is not reset. A reset of the Tx domain truncates at most one sent frame. The time
    between resets covers the gap at the slowest pace, for which the first frame after a reset
    waits."""
    domains = DOMAINS[which]
    mac = await Mac.start(dut, driver=ORDER["driver"])
    flows = several()
    await forwarding(mac, flows)
    receiving, sent, got = Receiving(mac, of(flows)), [], []

    async def work(octets):
        until = get_sim_time("ns") + octets * mac.wire.octet_ns
        while get_sim_time("ns") < until:
            await mac.clocks(20)
            mac.driver.reclaim()
            if mac.driver.tx.room > 60:
                sent.append(plain(random.randrange(60, 200)))
                await mac.driver.send(sent[-1], random.randrange(8))
            got.extend(taken(mac))
            if mac.driver.rx.room > 16:
                await mac.driver.post_buffers()

    for _ in range(RESETS):
        await work(random.uniform(900, 1800))
        await pulse(dut, domains)
    await work(1000)
    await receiving.stop()
    await mac.driver.reclaim_all()
    await Timer(int(20_000 * mac.wire.octet_ns), "ns")
    got += taken(mac)
    await mac.driver.post_buffers()

    frames = await left(mac)
    due = [became(frame, flows) for frame in receiving.frames]
    own = set(sent)
    assert are_part([frame for frame in frames if frame in own], sent)
    passed = [frame for frame in frames if frame is not None and frame not in own]
    assert are_part(passed, [frame for frame in due if frame]), "an unknown frame left, or one twice"
    assert are_part(got, [frame for frame, leaves in zip(receiving.frames, due) if not leaves])
    counted, dropped = [await mac.regs.read(f"RX_FLOW_{name}") for name in ("FRAMES", "DROPS")]
    cuts = RESETS if "eth_tx" in domains else 0
    assert frames.count(None) <= cuts
    assert 0 <= len(sent) + counted - len([frame for frame in frames if frame]) <= cuts
    assert await mac.regs.read("RX_GOOD_FRAMES") == len(got) + counted + dropped
    if "eth_rx" not in domains:
        assert len(got) + counted + dropped == len(receiving.frames)
    assert counted > 30 and len(got) > 30

    frame = padded(packet(random.choice(flows)))
    mac.wire.send(add_fcs(frame))
    assert await mac.wire.receive() == became(frame, flows)
    await both_are_whole(mac)


@cocotb.test()
@cocotb.parametrize(which=["sys", "sys_rx", "sys_tx"])
async def system(dut, which):
    """The PHY is not reset. Frames that left are complete, and afterwards no flow is known."""
    mac = await Mac.start(dut, driver=ORDER["driver"])
    domains, flows, passed = DOMAINS[which], several(), 0
    for _ in range(RESETS // 2):
        await forwarding(mac, flows)
        receiving = Receiving(mac, of(flows))
        await Timer(random.randrange(100, 1500) * mac.wire.octet_ns, "ns")
        await pulse(dut, domains)
        await mac.driver.start()
        await Table(mac.regs).enable()
        await Timer(int(1000 * mac.wire.octet_ns), "ns")
        await receiving.stop()
        frame = padded(packet(random.choice(flows)))
        mac.wire.send(add_fcs(frame))
        await mac.settle()
        assert await mac.regs.read("RX_FLOW_FRAMES") == 0, "a flow outlives the reset"
        assert taken(mac)[-1] == frame
        await mac.driver.post_buffers()
        frames = await left(mac)
        assert frames.count(None) <= len(domains)
        assert are_part([frame for frame in frames if frame],
                        filter(None, (became(frame, flows) for frame in receiving.frames)))
        passed += sum(frame is not None for frame in frames)
    assert passed >= RESETS // 2
    await both_are_whole(mac)

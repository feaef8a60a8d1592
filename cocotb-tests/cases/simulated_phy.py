# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on the simulation PHY at 1000 Mb/s."""

import random

import cocotb
import pytest

from bench.models.frames import plain
from bench.mac import Mac
from bench.models.wishbone import TABLE
from bench.wires.wire import add_fcs
from cases import basics
from cases.basics import MAX, MIN, keep_the_line_rate, transmit
from moderato.gateware.registers import table as registers
from moderato.gateware.interrupts.pacing import WINDOW_BITS

CASES = [basics]


# The link's pace ----------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(link=[10, 100, 1000])
async def keeps_the_line_rate(dut, link):
    """Back to back in both directions: no frame is lost, and the wire has no pauses."""
    mac = await Mac.start(dut, link=link, driver={"rx_order": 5, "tx_order": 5})
    lengths = {10: [MIN] * 6, 100: [MIN] * 25 + [MAX] * 5, 1000: [MIN] * 100 + [MAX] * 20}[link]
    octets = await keep_the_line_rate(mac, lengths)
    took = mac.wire.took
    assert octets - 4 <= took <= octets * 1.01, f"{took:.0f} octet times for {octets}"


@cocotb.test()
async def stops_while_the_link_is_down(dut):
    """The wire takes no frames; both FIFO and ring are full. After disabling, the MAC becomes idle."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    dut.pads_link_mbps.value = 0
    for _ in range(32):
        mac.driver.queue(plain(1000))
    await mac.driver.tx.doorbell()
    await mac.clocks(5000)
    assert 0 < len(mac.driver.tx.posted) - len(mac.driver.reclaim()) < 32
    await mac.driver.stop()
    dut.pads_link_mbps.value = 1000
    await mac.driver.start()
    frame = plain(100)
    await mac.driver.send(frame)
    while (await mac.wire.receive()) != frame:
        pass  # the frames in the FIFO


@cocotb.test()
@cocotb.parametrize(direction=["RX", "TX"], held=["answers of reads", "acknowledgements of writes"])
async def idle_waits_for_memory(dut, direction, held):
    """STATUS shows idle only after the bus has answered all accesses: the driver then frees memory."""
    mac = await Mac.start(dut, rx=direction == "RX", tx=direction == "TX", post=False)
    ram = mac.memory.ram
    channel = ram.read_if.r_channel if held == "answers of reads" else ram.write_if.b_channel
    channel.pause = True
    if direction == "RX":
        await mac.driver.post_buffers(4)
        mac.wire.send(add_fcs(plain(MIN)))
    else:
        await mac.driver.send(plain(MIN))
    await mac.settle()
    await mac.driver.enable(False, False)
    for _ in range(20):
        assert not await mac.regs.read("STATUS", f"{direction}_IDLE")
        await mac.clocks(20)
    channel.pause = False
    await mac.driver.stop(100)


@cocotb.test()
async def phy_errors_are_fcs_errors(dut):
    """A frame that the PHY marks is dropped although its FCS is correct."""
    mac = await Mac.start(dut)
    good = [plain(100) for _ in range(4)]
    for frame in good:
        mac.wire.send(add_fcs(plain(100)), error=True)
        mac.wire.send(add_fcs(frame))
    await mac.expect(good)
    assert await mac.regs.read("RX_FCS_ERRORS") == 4


@cocotb.test()
async def jumbo_frames_up_to_the_fifo(dut):
    mac = await Mac.start(dut, driver={"buffer": 9216}, MAX_FRAME=9018)
    frames = [plain(length) for length in (8000, 2000, 8180, 8190, 9014, 60)]  # the FIFO has 8192
    for frame in frames:
        mac.wire.send(add_fcs(frame))
        await mac.wire.sent()
        await mac.clocks(3000)
    await mac.expect([frame for frame in frames if len(frame) <= 8180])
    assert await mac.regs.read("RX_DROP_FIFO") == 2
    await transmit(mac, [(plain(4088), 0), (plain(4081), 7)])


@cocotb.test()
@pytest.mark.slow
async def index_wraps(dut):
    """More frames than the free-running index counts, in both directions, with re-arms all the
    time."""
    mac = await Mac.start(dut, driver={"rx_order": 6, "tx_order": 6}, RX_FRAMES=16,
        RX_ABSOLUTE_TIMER=5000)
    total, batch = 2**16 + 224, 40  # whole batches
    for _ in range(0, total, batch):
        frames = [plain(MIN) for _ in range(batch)]
        for frame in frames:
            mac.wire.send(add_fcs(frame))
            mac.driver.reclaim()
            mac.driver.queue(frame)
        await mac.driver.tx.doorbell()
        await mac.expect(frames)
        await mac.driver.rx.rearm()
        for frame in frames:
            assert await mac.wire.receive() == frame
    assert mac.driver.rx.consumer == total - 2**16


# Adaptive moderation ------------------------------------------------------------------------------

@cocotb.test()
async def delays_grow_while_the_cpu_is_busy(dut):
    """A driver that re-arms at once gets its frames at once; one that re-arms late gets them late."""
    window, least, longest = 1 << WINDOW_BITS, 50, 3000
    mac = await Mac.start(dut, RX_ABSOLUTE_TIMER=least, RX_PACING_LONGEST=longest)

    async def delay_of_a_frame(work):
        """Clocks from the frame's completion to the interrupt; the driver re-arms after `work`
        clocks."""
        mac.wire.send(add_fcs(plain(MIN)))
        while mac.driver.receive() is None:
            await mac.clocks(1)
        clocks = 0
        while not int(dut.irq_rx.value):
            await mac.clocks(10)
            clocks += 10
        await mac.driver.post_buffers()
        await mac.clocks(work)
        await mac.driver.rx.rearm()
        return clocks

    for _ in range(5):
        assert least - 20 <= await delay_of_a_frame(0) <= least + 40
    assert await mac.regs.read("RX_PACING") == 0
    await delay_of_a_frame(2 * window)
    assert longest - 40 <= await delay_of_a_frame(0) <= longest + 40
    assert await mac.regs.read("RX_PACING") == 4
    await mac.clocks(2 * window)
    assert least - 20 <= await delay_of_a_frame(0) <= least + 40
    await delay_of_a_frame(2 * window)
    await mac.regs.write("RX_PACING_LONGEST", 0)
    assert least - 20 <= await delay_of_a_frame(0) <= least + 40


# Registers ----------------------------------------------------------------------------------------

# Options that these devices report; all other fields are 0.
TOLD = {
    "CAPABILITY": {"MAX_RING_ORDER": registers.MAX_RING_ORDER, "TIMER_BITS": registers.TIMER_BITS,
                   "RX_FIFO_ORDER": 13, "TX_FIFO_ORDER": 12, "URGENT": 1, "PACING": 1},
    "FEATURES": {"RX_CHECKSUM": 1, "TX_CHECKSUM": 1, "PAUSE": 1, "RMON": 1, "VLAN": 1,
                 "VLAN_FILTER": 1, "MERGE": 1, "TIMESTAMP": 1, "UNICAST": registers.MAX_UNICAST},
}


@cocotb.test()
async def registers_are_as_in_the_table(dut):
    mac = await Mac.start(dut, enable=False)
    regs = mac.regs
    assert await regs.read("ID") == registers.ID
    assert await regs.read("VERSION", "MAJOR") == registers.MAJOR
    assert await regs.read("CLOCK_HZ") == 100_000_000
    for register, told in TOLD.items():
        for place in TABLE[register].fields:
            assert await regs.read(register, place.name) == told.get(place.name, 0), place.name
    absent = {option for option in ("vlan", "timestamp", "queues", "launch", "shaper")
              if not await regs.read("FEATURES", option.upper())}
    if not await regs.read("FEATURES", "FLOW_ORDER"):
        absent |= {"flows", "flow"}
    if not await regs.read("FEATURES", "GATE_ORDER"):
        absent |= {"gates"}
    table = {register.offset: register for register in registers.registers()
             if register.option.split("_")[0] not in absent}
    stored = {}
    for offset, register in table.items():
        if register.access == "rw":
            assert await regs.access(offset) == register.reset, register.name
    for offset, register in table.items():
        if register.access == "rw" and register.name != "CTRL":
            stored[offset] = random.getrandbits(32)
            await regs.access(offset, stored[offset])
            stored[offset] &= 2**register.width - 1
    for offset in range(0, 0x1000, 4):
        if offset not in table:
            await regs.access(offset, 0xFFFFFFFF)
            assert await regs.access(offset) == 0, f"offset {offset:#x} is not in the table"
        elif table[offset].access == "wo":
            assert await regs.access(offset) == 0, table[offset].name
    for offset, value in stored.items():
        assert await regs.access(offset) == value, table[offset].name

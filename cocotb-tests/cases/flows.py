# SPDX-License-Identifier: BSD-2-Clause
"""Two MACs that forward flows to each other. Every frame leaves as scapy's router sends it, on the
other wire or to software, once and in order."""

import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time
from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from bench.devices.duts import FLOW_ORDER
from bench.mac import End
from bench.memory.memory import Memory
from bench.models.driver import END, STATION, Driver
from bench.models.flow_model import Ends, Flow
from bench.models.frames import TESTER, padded, plain, tagged
from bench.models.wishbone import field
from bench.wires.wire import SimWire, add_fcs
from moderato.gateware.registers.table import FLOW_WAYS

ENTRIES = 2**FLOW_ORDER


class Table:
    """The flow table of the MAC with these registers."""

    def __init__(self, regs):
        self.regs = regs
        self.entries = {}

    async def enable(self, mtu=1500, on=True):
        await self.regs.write("FLOW_CTRL", mtu << 16 | int(on))
        while await self.regs.read("FLOW_STATUS", "BUSY"):
            pass

    async def command(self, entry=0, **what):
        value = entry
        for name in what:
            value |= 1 << field("FLOW_COMMAND", name).lsb
        await self.regs.write("FLOW_COMMAND", value)
        while await self.regs.read("FLOW_STATUS", "BUSY"):
            pass

    async def add(self, flow, entry=None):
        """Writes the flow to `entry`, or to a random free entry that is possible for it. Returns
        the entry; None if there is none."""
        if entry is None:
            free = [place for place in flow.places(FLOW_ORDER) if place not in self.entries]
            if not free:
                return None
            entry = random.choice(free)
        self.entries[entry] = flow
        nat = await self.regs.read("FEATURES", "FLOW_NAT")
        tags = await self.regs.read("FEATURES", "VLAN")
        for name, value in flow.registers(nat, tags).items():
            await self.regs.write(name, value)
        await self.command(entry, WRITE=True)
        return entry

    async def counters(self, entry):
        await self.command(entry, READ=True)
        return [await self.regs.read(f"FLOW_{name}") for name in ("FRAMES", "OCTETS", "LAST")]


class Side(Table):
    """One MAC with its wire and its driver: a port of the router."""

    def __init__(self, dut, name, link, ring):
        self.end = End(dut, name)
        self.wire = SimWire(self.end, link)
        self.driver = Driver(self.end, Memory(dut, f"{name}_dma", END), ring, ring)
        super().__init__(self.driver.regs)
        self.leaves = []  # to be sent by the other side, in order
        self.software = []

    def send(self, frame, flow=None):
        """Sends a frame from the wire, for a flow or to software."""
        self.wire.send(add_fcs(padded(frame)))
        if flow:
            self.leaves.append(flow.forwarded(padded(frame)))
        else:
            self.software.append(padded(frame))


class Router:
    """Both sides; compares the frames that each got with those that were sent."""

    @classmethod
    async def start(cls, dut, link=1000, ring=6, mtu=1500, enable=True, **settings):
        router = cls()
        router.dut = dut
        Clock(dut.sys_clk, 10, unit="ns").start()
        dut.sys_rst.value = 1
        router.sides = [Side(dut, name, link, ring) for name in "ab"]
        await ClockCycles(dut.sys_clk, 30)
        dut.sys_rst.value = 0
        await ClockCycles(dut.sys_clk, 30)
        for side in router.sides:
            await side.driver.start(**settings)
            await side.enable(mtu, enable)
        router.nat = await router.sides[0].regs.read("FEATURES", "FLOW_NAT")
        return router

    def flow(self, **more):
        """A random flow; with NAT, some change addresses and ports."""
        new = ends() if self.nat and random.random() < 0.5 else None
        return Flow(random.choice((TCP, UDP)), ends(), random.randbytes(12), new=new, **more)

    async def drain(self, side, fetched):
        """Fetches the frames of a side's software."""
        while (frame := side.driver.receive()) is not None:
            assert not frame.error
            fetched.append(frame.data)
        if side.driver.rx.room:
            await side.driver.post_buffers()

    async def check(self, idle=3000, exact=True):
        """All frames arrive where they should, in order. Returns those of both wires, and of both
        sides' software."""
        wires, software = [[], []], [[], []]
        quiet = 0
        while quiet < idle:
            await ClockCycles(self.dut.sys_clk, 100)
            before = sum(map(len, wires + software))
            for n, side in enumerate(self.sides):
                await self.drain(side, software[n])
                while side.wire.frames:
                    wires[n].append(await side.wire.receive())
            quiet = quiet + 100 if sum(map(len, wires + software)) == before and all(
                not side.wire.queue for side in self.sides) else 0
        for n, side in enumerate(self.sides):
            if exact:
                assert same(wires[1 - n], side.leaves), "frames forwarded by flows"
                assert same(software[n], side.software), "frames received by software"
            side.leaves.clear()
            side.software.clear()
        return wires, software


def same(got, due):
    """Whether two lists are equal; prints the difference, because an assertion of long lists does
    not."""
    for number, (one, other) in enumerate(zip(got, due)):
        assert one == other, f"frame {number}:\n{one.hex()}, not\n{other.hex()}"
    assert len(got) == len(due), f"{len(got)} frames, not {len(due)}"
    return True


def address():
    return ".".join(str(random.randrange(1, 255)) for _ in range(4))


def ends():
    return Ends(address(), address(), random.randrange(1, 2**16), random.randrange(1, 2**16))


def packet(flow, length=None, station=STATION, tcp="A", **ip):
    """A packet of the flow: the shortest, or of `length` octets with Ethernet's header. tcp: flags."""
    ports = {"sport": flow.ends.sport, "dport": flow.ends.dport}
    transport = UDP(**ports) if flow.kind is UDP else \
        TCP(**ports, flags=tcp, seq=random.getrandbits(32), ack=random.getrandbits(32))
    head = Ether(dst=station.hex(":"), src=TESTER.hex(":")) / \
        IP(**{"src": flow.ends.source, "dst": flow.ends.destination, "id": random.getrandbits(16),
              "tos": random.getrandbits(8), "flags": random.choice((0, 2)),
              "ttl": random.randrange(2, 256), **ip}) / transport
    room = max(0, (length or 0) - len(head))
    return bytes(head / Raw(random.randbytes(room)))


def lengths():
    return random.choice((0, 0, 60, random.randrange(42, 1515), 1514))


@cocotb.test()
async def flows_go_both_ways(dut):
    """Flows of each kind, of any length; frames without an entry go to software."""
    router = await Router.start(dut)
    for side in router.sides:
        flows = [Flow(kind, ends(), random.randbytes(12), new=new if router.nat else None)
                 for kind in (TCP, UDP) for new in (None, ends())]
        for flow in flows:
            await side.add(flow)
        for flow in 6*flows:
            side.send(packet(flow, lengths()), flow)
            if random.random() < 0.3:
                side.send(packet(router.flow(), lengths()))
    await router.check()
    for side in router.sides:
        assert await side.regs.read("RX_FLOW_FRAMES") == 24
        assert await side.regs.read("RX_FLOW_DROPS") == 0


def not_for_hardware(flow):
    """A frame that software must receive, although its flow is known."""
    other = bytearray(packet(flow, 100))
    choice = random.randrange(12)
    if choice == 0:
        return packet(flow, 80, ttl=random.choice((0, 1)))
    if choice == 1:
        return packet(flow, 80, options=[IPOption_NOP()] * 4)
    if choice == 2:
        return packet(flow, 80, flags=random.choice((1, 3, 4)))
    if choice == 3:
        return packet(flow, 80, frag=random.choice((1, 0x100, 0x1FFF)))
    if choice == 4 and flow.kind is TCP:
        return packet(flow, 80, tcp=random.choice(("S", "SA", "F", "FA", "R", "RA", "SFR")))
    if choice == 5:
        other[random.randrange(14, 34)] ^= 1 << random.randrange(8)  # a wrong header checksum
    elif choice == 6:
        return packet(flow, 80, len=random.choice((87, 200, 1400, 65535)))
    elif choice == 7:
        return packet(flow, 80, len=random.choice((0, 20, 27, 39 if flow.kind is TCP else 27)))
    elif choice == 8:
        return packet(flow, 80, station=bytes.fromhex("024d6f640001"))  # another station
    elif choice == 9:
        other[12:14] = random.choice((b"\x08\x06", b"\x86\xdd", b"\x00\x08", b"\x88\xa8"))
    elif choice == 10:
        near = [flow.ends.source, flow.ends.destination, flow.ends.sport, flow.ends.dport]
        which = random.randrange(4)
        near[which] = address() if which < 2 else near[which] ^ 1 << random.randrange(16)
        return packet(Flow(flow.kind, Ends(*near), b""), 80)
    else:
        return packet(flow, 80, version=random.choice((0, 5, 6)))
    return bytes(other)


@cocotb.test()
async def non_offloadable_packets_reach_software(dut):
    """Such frames among those of flows."""
    router = await Router.start(dut, link=1000)
    for side in router.sides:
        await side.driver.enable(PROMISCUOUS=True)
        flows = [router.flow() for _ in range(4)]
        for flow in flows:
            await side.add(flow)
        for _ in range(60):
            flow = random.choice(flows)
            if random.random() < 0.6:
                side.send(not_for_hardware(flow))
            else:
                side.send(packet(flow, lengths()), flow)
    await router.check()


def nearly(flow):
    """Frames that match the key of this flow, but for one condition of the hardware."""
    yield from (packet(flow, 80, len=66 + more) for more in (1, 4))  # the FCS is no payload
    if flow.kind is TCP:
        yield from (packet(flow, 80, tcp=flag) for flag in "FSR")
    else:
        yield from (packet(flow, 80, proto=protocol) for protocol in (1, 47, 136))
    # An option that looks like the ports, and does not change the header's sum.
    frame = bytearray(packet(flow, 80, ihl=6, len=70))
    frame[34:34] = flow.ends.ports
    frame[47] = 0  # the flags, where they are without it
    yield bytes(frame)


@cocotb.test()
async def lookalike_packets_reach_software(dut):
    router = await Router.start(dut)
    one, _ = router.sides
    for kind in (TCP, UDP):
        port = random.randrange(1, 2**16 - 1)
        flow = Flow(kind, Ends(address(), address(), port, 0xFFFF - port), random.randbytes(12))
        await one.add(flow)
        for frame in nearly(flow):
            one.send(frame)
            one.send(packet(flow), flow)
    await router.check()


@cocotb.test()
async def does_not_forward_further_addresses(dut):
    """A frame to a further address is not for the router: another network namespace may own the
    address."""
    router = await Router.start(dut)
    one, _ = router.sides
    flow = router.flow()
    await one.add(flow)
    for number in range(await one.regs.read("FEATURES", "UNICAST")):
        station = random.randbytes(6)
        low, high = struct.unpack("<IH", bytes([station[0] & 0xFE]) + station[1:])
        await one.regs.write(f"UNICAST_LOW_{number}", low)
        await one.regs.write(f"UNICAST_HIGH_{number}", high | 1 << field("UNICAST_HIGH_0", "ON").lsb)
        for _ in range(2):
            one.send(packet(flow, lengths(), station=struct.pack("<IH", low, high)))
            one.send(packet(flow, lengths()), flow)
    wires, software = await router.check()
    assert wires[1] and software[0]


@cocotb.test()
async def too_long_for_the_other_link(dut):
    router = await Router.start(dut, mtu=500)
    one, _ = router.sides
    flow = router.flow()
    await one.add(flow)
    for octets in (499, 500, 501, 1500, 500, 501):
        one.send(packet(flow, 14 + octets), flow if octets <= 500 else None)
    await router.check()


@cocotb.test()
async def checksums_of_all_kinds(dut):
    """UDP checksums of none, or of 0 sent as 0xffff; IP checksums of any value."""
    router = await Router.start(dut)
    one, _ = router.sides
    flow = Flow(UDP, ends(), random.randbytes(12), new=ends())
    await one.add(flow)
    for number in range(60):
        frame = bytearray(packet(flow, 64))
        if number % 3 == 0:
            frame[40:42] = bytes(2)
        elif number % 3 == 1:  # A payload with which the new checksum is 0xffff, for 0.
            frame[42:44] = bytes(2)
            left = Ether(flow.forwarded(bytes(frame[:40]) + b"\1\1" + bytes(frame[42:])))
            frame[42:44] = left[UDP].chksum.to_bytes(2, "big")
            old = Ether(bytes(frame))
            del old[UDP].chksum
            frame = bytearray(bytes(old))
            assert Ether(flow.forwarded(bytes(frame)))[UDP].chksum == 0xFFFF
        one.send(bytes(frame), flow)
    await router.check()


@cocotb.test()
async def tags(dut):
    """Removes and inserts tags, in all combinations."""
    router = await Router.start(dut, VLAN=1)
    one, _ = router.sides
    flows = [router.flow(vid=vid, tci=tci)
             for vid in (None, 5, 4095, 0) for tci in (None, 0x6123, 0x0007)]
    for flow in flows:
        await one.add(flow)
    for flow in 3*flows:
        frame = packet(flow, lengths())
        coming = frame if flow.vid is None else tagged(frame, random.randrange(16) << 12 | flow.vid)
        one.wire.send(add_fcs(padded(coming)))
        one.leaves.append(flow.forwarded(padded(frame)))
    # The flow has another VLAN, or the tag is missing.
    flow = flows[3]
    for wrong in (None, 6, 0):
        frame = packet(flow, 100)
        one.wire.send(add_fcs(frame if wrong is None else tagged(frame, wrong)))
        one.software.append(frame)
    await router.check()


@cocotb.test()
async def line_rate(dut):
    """Shortest frames back to back, in both directions at 1 Gb/s."""
    router = await Router.start(dut)
    for side in router.sides:
        flows = [router.flow() for _ in range(8)]
        for flow in flows:
            await side.add(flow)
        for _ in range(300):
            flow = random.choice(flows)
            side.send(packet(flow), flow)
    await router.check()
    for side in router.sides:
        assert await side.regs.read("RX_FLOW_DROPS") == 0
        assert await side.regs.read("RX_DROP_FIFO") == 0


@cocotb.test()
async def looks_up_one_word_per_clock(dut):
    """Shortest frames at the rate of the clock: their fate waits for the lookup, in whichever way
    the entry is."""
    router = await Router.start(dut)
    one, _ = router.sides
    one.wire.link = 3200
    flows = [router.flow() for _ in range(FLOW_WAYS)]
    for way, flow in enumerate(flows):
        await one.add(flow, flow.places(FLOW_ORDER)[way])
    for flow in 4*flows:
        one.send(packet(flow), flow)
    await router.check()


@cocotb.test()
async def forwards_among_driver_frames(dut):
    """Frames that software sends at the same time leave complete and in order, and get their share
    of the wire."""
    router = await Router.start(dut)
    one, other = router.sides
    flow = router.flow()
    await one.add(flow)
    own = [plain(random.choice((60, 61, 300, 1514))) for _ in range(40)]

    async def feed():
        for frame in own:
            await other.driver.send(frame, random.randrange(8))
        await other.driver.reclaim_all()

    for _ in range(200):
        one.send(packet(flow, random.choice((0, 0, 0, 500))), flow)
    task = cocotb.start_soon(feed())
    wires, _ = await router.check(exact=False)
    await task
    _, leaves = wires
    assert same([frame for frame in leaves if frame in own], own)
    forwarded = [frame for frame in leaves if frame not in own]
    dropped = await one.regs.read("RX_FLOW_DROPS")
    assert len(forwarded) + dropped == 200
    assert len(forwarded) >= 60


@cocotb.test()
async def driver_sends_during_flood(dut):
    """Short frames arrive faster than the other wire takes them, and fill the FIFO: every frame of
    software still leaves, from each ring."""
    router = await Router.start(dut, ring=8)
    one, other = router.sides
    other.wire.link = other.end.pads_link_mbps.value = 100
    flow = router.flow()
    await one.add(flow)
    for _ in range(1500):
        one.wire.send(add_fcs(padded(packet(flow))))
    await ClockCycles(dut.sys_clk, 30_000)
    drivers = [other.driver]
    if await other.regs.read("FEATURES", "QUEUES"):
        drivers.append(Driver(other.end, other.driver.memory, 8, 8, first=other.driver))
        await drivers[1].start()
    own = [[plain(60) for _ in range(20)] for _ in drivers]

    async def feed(driver, frames):
        for frame in frames:
            await driver.send(frame, random.randrange(8))
        await driver.reclaim_all()

    tasks = [cocotb.start_soon(feed(*each)) for each in zip(drivers, own)]
    wires, _ = await router.check(idle=10_000, exact=False)
    for task, frames in zip(tasks, own):
        await task
        assert same([frame for frame in wires[1] if frame in frames], frames)


@cocotb.test()
async def table_commands_during_forwarding(dut):
    """Frames of an unchanged flow still leave by its entry. Only frames whose own lookup is in
    progress may go to software, because later ones would overtake others."""
    router = await Router.start(dut)
    one, _ = router.sides
    flow, other = router.flow(), router.flow()
    await one.add(flow)
    for _ in range(50):
        one.send(packet(flow, 1514), flow)
    frames, commands = len(one.leaves), 0
    while one.wire.queue:
        entry = await one.add(other)
        await ClockCycles(dut.sys_clk, random.randrange(300))
        await one.command(entry, REMOVE=True)
        del one.entries[entry]
        commands += 2
    wires, software = await router.check(exact=False)
    assert len(wires[1]) + len(software[0]) == frames
    assert commands > frames and len(software[0]) <= commands // 20


@cocotb.test()
async def removed_entry_forwards_nothing(dut):
    """After the end of BUSY, no frame leaves by the old entry, whenever it was sent. When an entry
    is rewritten meanwhile, no frame leaves with a mixture of both."""
    router = await Router.start(dut, ring=8)
    one, other = router.sides
    first = router.flow()
    entry = await one.add(first)
    variants = [Flow(first.kind, first.ends, random.randbytes(12), new=ends() if router.nat else None)
                for _ in range(6)]
    frames = [packet(first, random.choice((0, 0, 200))) for _ in range(400)]
    for frame in frames:
        one.wire.send(add_fcs(padded(frame)))
    known = {flow.forwarded(padded(frame)): number for number, flow in enumerate([first, *variants])
             for frame in frames}
    phase, seen = 0, []

    async def watch():
        while True:
            await ClockCycles(dut.sys_clk, 20)
            while other.wire.frames:
                seen.append((phase, known[await other.wire.receive()]))

    watcher = cocotb.start_soon(watch())
    got = []
    for number, flow in enumerate(variants, 1):
        await ClockCycles(dut.sys_clk, random.randrange(1000, 3000))
        await router.drain(one, got)
        if random.random() < 0.5:
            await one.command(entry, REMOVE=True)
            gone = await other.regs.read("TX_GOOD_FRAMES")
            await ClockCycles(dut.sys_clk, 3000)
            # By then, the frames in the Tx FIFO have left.
            settled = await other.regs.read("TX_GOOD_FRAMES")
            assert settled - gone < 40
            moved = await one.regs.read("RX_FLOW_FRAMES")
            await ClockCycles(dut.sys_clk, 1000)
            assert await one.regs.read("RX_FLOW_FRAMES") == moved
        await one.add(flow, entry)
        phase = number
    await router.check(exact=False)
    watcher.cancel()
    order = [number for _, number in seen]
    assert order == sorted(order), "a frame left by an older entry"
    assert len(set(order)) > 3


@cocotb.test()
async def counters(dut):
    """Frames, octets and the last use of each entry; a new entry starts with 0."""
    router = await Router.start(dut)
    one, _ = router.sides
    for _ in range(5):
        await one.add(router.flow())
    flows = one.entries
    octets = dict.fromkeys(flows, 0)
    frames = dict.fromkeys(flows, 0)
    for _ in range(100):
        entry = random.choice(list(flows))
        frame = packet(flows[entry], lengths())
        one.send(frame, flows[entry])
        frames[entry] += 1
        octets[entry] += len(frame) - 14
        if random.random() < 0.1:
            await one.command(random.choice(list(flows)), READ=True)  # while they are counted
    await router.check()
    for entry in flows:
        assert (await one.counters(entry))[:2] == [frames[entry], octets[entry]]
    await one.add(flows[entry], entry)
    assert (await one.counters(entry))[:2] == [0, 0]


@cocotb.test()
async def every_entry(dut):
    """A full table: each entry has its flow; CLEAR ends all."""
    router = await Router.start(dut)
    one, _ = router.sides
    while len(one.entries) < ENTRIES:
        await one.add(router.flow())
    for flow in random.sample(list(one.entries.values()), ENTRIES):
        one.send(packet(flow), flow)
    await router.check()
    await one.command(CLEAR=True)
    for flow in one.entries.values():
        one.send(packet(flow))
    await router.check()


@cocotb.test()
async def off(dut):
    """No frame is forwarded unless forwarding is enabled and the other MAC sends. A reset ends all
    entries."""
    router = await Router.start(dut, enable=False)
    one, other = router.sides
    flow = router.flow()
    await one.add(flow)
    one.send(packet(flow))
    await router.check()
    await one.enable()
    one.send(packet(flow), flow)
    await router.check()
    await other.driver.enable(tx=False)
    assert not await one.regs.read("FLOW_STATUS", "PEER")
    one.send(packet(flow))
    await router.check()
    await other.driver.stop()
    dut.sys_rst.value = 1
    await ClockCycles(dut.sys_clk, 5)
    dut.sys_rst.value = 0
    await ClockCycles(dut.sys_clk, 100)
    for side in router.sides:
        await side.driver.start()
        await side.enable()
    one.send(packet(flow))
    await router.check()


@cocotb.test()
async def stamped_frames(dut):
    """The time stamp that precedes each received frame does not leave with it."""
    router = await Router.start(dut, TIME_CTRL=1)
    one, _ = router.sides
    flow = router.flow()
    await one.add(flow)
    for _ in range(20):
        one.send(packet(flow, lengths()), flow)
    await router.check()


@cocotb.test()
@cocotb.parametrize(direction=["rx", "tx"])
async def halted_ring_does_not_block_flows(dut, direction):
    """Memory fails the accesses of a ring of either MAC: flows continue in both directions."""
    router = await Router.start(dut)
    one, other = router.sides
    flows = [router.flow(), router.flow()]
    for side, flow in zip(router.sides, flows):
        await side.add(flow)
    memory = one.driver.memory
    refuse = {"writes": lambda address: True} if direction == "rx" else {"reads": lambda address: True}
    memory.refuse(**refuse)
    if direction == "rx":
        one.wire.send(add_fcs(padded(packet(router.flow()))))
    else:
        await one.driver.send(plain(100), 0)
    await ClockCycles(dut.sys_clk, 3000)
    assert await one.regs.read("STATUS", f"{direction.upper()}_HALTED")
    for _ in range(30):
        for side, flow in zip(router.sides, flows):
            side.send(packet(flow, lengths()), flow)
    await router.check()


@cocotb.test()
async def ring_stops_during_forwarding(dut):
    """Each direction of each MAC is disabled and enabled again while flows pass: frames are
    complete, and none gets stuck."""
    router = await Router.start(dut)
    one, other = router.sides
    flow = router.flow()
    await one.add(flow)
    known = set()
    for _ in range(300):
        frame = packet(flow, random.choice((0, 0, 300)))
        known.add(flow.forwarded(padded(frame)))
        one.wire.send(add_fcs(padded(frame)))
    for _ in range(4):
        for side in router.sides:
            await ClockCycles(dut.sys_clk, random.randrange(500, 1500))
            await side.driver.stop()
            await side.driver.start()
    wires, _ = await router.check(exact=False)
    assert wires[1] and all(frame in known for frame in wires[1])
    one.send(packet(flow), flow)
    await router.check()


@cocotb.test()
async def latency(dut):
    """From a frame's last octet to the first octet of its forwarded form: one clock for 8 octets,
    plus a constant."""
    router = await Router.start(dut)
    one, other = router.sides
    flow = router.flow()
    await one.add(flow)
    for length in (60, 512, 1514):
        one.send(packet(flow, length), flow)
        await one.wire.sent()
        began = get_sim_time("ns")
        while not int(other.end.pads_tx_valid.value):
            await ClockCycles(dut.sys_clk, 1)
        took = get_sim_time("ns") - began
        dut._log.info("%d octets: %d ns", length, took)
        assert took < 10 * ((length + 2) // 8 + 30)
        await router.check()


@cocotb.test()
async def counters_while_the_other_wire_is_slower(dut):
    """READ completes between two frames, however many wait."""
    router = await Router.start(dut)
    one, other = router.sides
    other.wire.link = other.end.pads_link_mbps.value = 10
    flow = router.flow()
    entry = await one.add(flow)
    for _ in range(200):
        one.wire.send(add_fcs(padded(packet(flow))))
    last = 0
    for _ in range(20):
        await ClockCycles(dut.sys_clk, random.randrange(2000))
        began = get_sim_time("ns")
        frames, octets, _ = await one.counters(entry)
        assert get_sim_time("ns") - began < 10 * 1000
        assert octets % frames == 0 if frames else not octets
        assert frames >= last
        last = frames
    assert await one.regs.read("RX_FLOW_FRAMES") >= last > 0

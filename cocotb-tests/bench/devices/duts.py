# SPDX-License-Identifier: BSD-2-Clause
"""The devices under test: each function returns a Migen module and the set of its ports."""

from types import SimpleNamespace
from unittest import mock

from migen import *

from migen.genlib.cdc import MultiReg
from migen.genlib.resetsync import AsyncResetSynchronizer

from litex.build.lattice.common import lattice_ecp5_trellis_special_overrides
from litex.soc.interconnect import axi, csr_bus, stream, wishbone

from liteeth.common import eth_phy_description
from liteeth.phy.ecp5rgmii import LiteEthPHYRGMII
from liteeth.phy.gmii import LiteEthPHYGMIIRX, LiteEthPHYGMIITX
from liteeth.phy.mii import LiteEthPHYMIIRX, LiteEthPHYMIITX
from liteeth.phy.pcs_1000basex import PCS
from liteeth.phy.rmii import LiteEthPHYRMII

from bench.devices.litex_soc import REGISTERS, SoC
from moderato.gateware.receive import rss as rss_module
from moderato.gateware.wire.async_fifo import AsyncFIFO
from moderato.gateware.bus.axi_lite import AXILiteSlave
from moderato.gateware.bus.axi_master import AXIMaster
from moderato.gateware.bus.axi_slave import AXISlave
from moderato.gateware.rings.descriptor import DescriptorFetcher
from moderato.gateware.bus.dma import DMAReader, DMAWriter, ReadPort, WritePort
from moderato.gateware.receive.filter import AddressFilter
from moderato.gateware.frame.crc import INIT, crc32_step
from moderato.gateware.frame.frame_fifo import FrameFIFO
from moderato.gateware.flows.pair import FlowPair, forwards
from moderato.gateware.mac import PARTS, ModeratoMAC
from moderato.gateware.wire.mac_core import MACCore
from moderato.gateware.receive.merge import Continuation
from moderato.gateware.interrupts.moderation import Moderation
from moderato.gateware.options import LEAST_FLOW_ORDER, MACOptions
from moderato.gateware.interrupts.pacing import Pacing
from moderato.gateware.transmit.pause_source import PauseSource
from moderato.gateware.phy.rgmii_ecp5 import RGMIIECP5
from moderato.gateware.phy.sim import SimPHY, sim_phy_pads
from moderato.gateware.time.ptp_clock import PeriodicOutput, PTPClock
from moderato.gateware.receive.receive import Receive
from moderato.gateware.frame.records import flow_frame, rx_descriptor, rx_frame, tx_frame
from moderato.gateware.registers.register_file import RegisterFile
from moderato.gateware.registers.table import MAX_QUEUES, MAX_UNICAST, counters, options, registers
from moderato.gateware.receive.rss import RSS, Toeplitz
from moderato.gateware.registers.statistics import Statistics
from moderato.gateware.frame.vlan import Membership
from moderato.gateware.bus.wishbone_master import WishboneMaster
from moderato.soc.liteeth import LiteEth

SYS_CLK_FREQ = 100e6


def named(prefix="", **signals):
    """Names signals, and the fields of records, as the tests expect them; returns them as a set."""
    ports = set()
    for name, item in signals.items():
        if isinstance(item, Signal):
            item.name_override = f"{prefix}{name}"
            ports.add(item)
        else:
            ports |= named(f"{prefix}{name}_", **{field: getattr(item, field)
                for field, *_ in item.layout})
    return ports


def axi_ports(prefix, bus):
    """The signals of an AXI bus that our masters use, with AXI's names: dma_awaddr, ..."""
    ports = set()
    for channel, fields in {
        "aw": "addr burst len size id", "w": "data strb last", "b": "resp id",
        "ar": "addr burst len size id", "r": "data resp last id"}.items():
        endpoint = getattr(bus, channel)
        ports |= named(f"{prefix}_{channel}",
            **{field: getattr(endpoint, field) for field in ["valid", "ready", *fields.split()]})
    return ports


def axi_lite_ports(prefix, bus):
    """The signals of an AXI4-Lite bus: s_axi_awaddr, ..."""
    ports = set()
    for channel, fields in {"aw": "addr", "w": "data strb", "b": "resp", "ar": "addr",
        "r": "data resp"}.items():
        endpoint = getattr(bus, channel)
        ports |= named(f"{prefix}_{channel}",
            **{field: getattr(endpoint, field) for field in ["valid", "ready", *fields.split()]})
    return ports


def wishbone_ports(bus):
    """The signals of a Wishbone bus that our master uses: wb_adr, ..."""
    return named("wb_", **{name: getattr(bus, name)
        for name in "adr dat_w dat_r sel cyc stb ack err we cti".split()})


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
    """`outputs` packs the values that the golden model predicts into one word, because one read in
    each clock is fast."""
    device = Moderation()
    outputs = Signal(8 + 2*16, name_override="outputs")
    device.comb += outputs.eq(Cat(
        device.line, device.armed, device.raised, device.by_request, device.by_frames,
        device.by_absolute, device.by_packet, device.by_halt, device.completed, device.unreported))
    inputs = ["frames", "packet_timer", "absolute_timer", "gap", "completion", "request", "silent",
        "rearm", "rearm_index", "disarm", "clear", "halted"]
    ports = named(**{name: getattr(device, name) for name in inputs})
    return device, clocked(device) | {outputs} | ports

# Pacing -------------------------------------------------------------------------------------------

PACING_WINDOW = 6  # bits, so that a simulation has many windows


def pacing():
    device = Pacing(window_bits=PACING_WINDOW)
    names = ["least", "longest", "busy", "clear", "level", "delay", "awake"]
    return device, clocked(device) | named(**{name: getattr(device, name) for name in names})


# Asynchronous FIFO --------------------------------------------------------------------------------

def async_fifo(*kinds):
    """16 words of 16 bits. Bits that cross the clocks may be a clock late. Or one FIFO of each of
    these kinds."""
    device = Module()
    device.special_overrides = {MultiReg: Synchronizer}
    ports = clocked(device, "sink", "source")
    for prefix, kind in kinds or [("", {})]:
        fifo = ClockDomainsRenamer({"write": "sink", "read": "source"})(
            AsyncFIFO([("data", 16), ("last_be", 1)], 16, **kind))
        device.submodules += fifo
        for name in ("sink", "source"):
            port   = getattr(fifo, name)
            ports |= named(f"{prefix}{name}_", **{field: getattr(port, field)
                for field in ("valid", "ready", "data", "last_be")})
    return device, ports


def async_fifo_resets():
    return async_fifo(("waits_", {}), ("hurries_", {"waits": False}))


# MAC core -----------------------------------------------------------------------------------------

def mac_core(width):
    """The core on a PHY of `width` bits that consists of its streams only: `wire_rx`, `wire_tx`."""
    device, phy = Module(), Module()
    phy.dw = width
    for name in ("sink", "source"):
        setattr(phy, name, stream.Endpoint(eth_phy_description(width)))
    device.submodules.core = core = MACCore(phy)
    device.special_overrides = {MultiReg: Synchronizer}
    ports = clocked(device, "sys", "eth_rx", "eth_tx")
    for prefix, port in {"tx_": core.sink, "wire_tx_": phy.sink, "wire_rx_": phy.source,
        "rx_": core.source}.items():
        ports |= named(prefix, **{field: getattr(port, field)
            for field in ("valid", "ready", "data", "last", "last_be")})
    return device, ports


def mac_core_8():
    return mac_core(8)


def mac_core_16():
    return mac_core(16)


def mac_core_32():
    return mac_core(32)


# Frame FIFO ---------------------------------------------------------------------------------------

def frame_fifo():
    """512 bytes, 6 frames: small, so that it is often full."""
    device = FrameFIFO(order=9, param=[("tag", 16)], max_frames=6)
    return device, clocked(device) | named(
        write=device.write, data=device.data, commit=device.commit, abort=device.abort,
        param=device.param, accepted=device.accepted, space=device.space,
        available=device.available, head=device.head, word=device.word, next=device.next,
        free=device.release, frames=device.frames, held=device.held, awake=device.awake)


# Address filter -----------------------------------------------------------------------------------

def address_filter():
    """With two further addresses: other0_on, other0_address and so on."""
    device = AddressFilter(2)
    init   = Signal(32, reset=INIT)
    device.comb += device.crc.eq(crc32_step(init, device.destination[:32]))
    names = ["station", "hash", "promiscuous", "allmulti", "start", "destination", "accept",
        "multicast", "broadcast"]
    ports = clocked(device) | named(**{name: getattr(device, name) for name in names})
    for n, other in enumerate(device.further):
        ports |= named(f"other{n}_", **vars(other))
    return device, ports


# DMA ----------------------------------------------------------------------------------------------

def dma():
    """Reader and writer with three clients each: read0.., write0.. ."""
    device = Module()
    bus = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
    reads, writes = [ReadPort() for _ in range(3)], [WritePort(note_width=8) for _ in range(3)]
    device.submodules += reads + writes
    device.submodules.reader = reader = DMAReader(bus, reads)
    device.submodules.writer = writer = DMAWriter(bus, writes)
    ports = clocked(device) | axi_ports("dma", bus)
    ports |= named(read_error=reader.error, write_error=writer.error)
    for n, port in enumerate(reads):
        ports |= named(f"read{n}_", request_valid=port.request.valid,
            request_ready=port.request.ready, address=port.request.address,
            last_beat=port.request.last_beat, valid=port.valid, last=port.last,
            data=port.data, error=port.error)
    for n, port in enumerate(writes):
        ports |= named(f"write{n}_", request_valid=port.request.valid,
            request_ready=port.request.ready, address=port.request.address,
            last_beat=port.request.last_beat, note=port.request.note, valid=port.data.valid,
            ready=port.data.ready, data=port.data.data, done=port.done, done_note=port.done_note,
            refused=port.refused)
    return device, ports


# Descriptors --------------------------------------------------------------------------------------

def descriptor_fetcher():
    device = Module()
    bus = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
    device.submodules.fetcher = fetcher = DescriptorFetcher(rx_descriptor())
    device.submodules.reader = DMAReader(bus, [fetcher.port])
    source = fetcher.source
    return device, clocked(device) | axi_ports("dma", bus) | named(
        enable=fetcher.enable, base=fetcher.base, order=fetcher.order, doorbell=fetcher.doorbell,
        doorbell_index=fetcher.doorbell_index, valid=source.valid, ready=source.ready,
        address=source.address, length=source.length, request=source.request, silent=source.silent,
        starved=fetcher.starved, failed=fetcher.failed, idle=fetcher.idle)


# PTP clock ----------------------------------------------------------------------------------------

def ptp_clock():
    """With its periodic output, output_on and so on; `total` has time and fraction."""
    device = Module()
    device.submodules.clock  = clock  = PTPClock()
    device.submodules.output = output = PeriodicOutput()
    device.comb += output.time.eq(clock.time)
    inputs = ["increment", "tune", "value", "set", "step", "latch", "late", "latched", "total"]
    return device, clocked(device) | named(**{name: getattr(clock, name) for name in inputs}) | \
        named("output_", **{name: getattr(output, name)
            for name in ["on", "start", "begin", "period", "width", "level"]})


# Statistics ---------------------------------------------------------------------------------------

BURSTS = {"RX_DROP_RING", "DMA_ERRORS"}
EITHER = 5


def statistics():
    """The statistics after a register file. Bit n of `pulses` is an event of counter n, `octets`
    its amount.

    With `twice`, an event of BURSTS comes twice in one clock. Of the first EITHER counters, at most
    one has an event in a clock.
    """
    device = Module()
    names  = counters(options())
    pulses, octets, twice = Signal(len(names)), Signal(14), Signal()
    events = {name: (pulses[n], octets) if name.endswith("OCTETS") else
        pulses[n] + (pulses[n] & twice) if name in BURSTS else pulses[n]
        for n, name in sorted(enumerate(names), key=lambda pair: pair[1] in BURSTS)}
    device.submodules.registers  = registers = RegisterFile(options())
    device.submodules.statistics = Statistics(registers, events, BURSTS, either=[names[:EITHER]])
    bus = {name: getattr(registers.bus, name)
        for name in "adr dat_w dat_r sel cyc stb ack err we".split()}
    return device, clocked(device) | named("bus_", **bus) | named(
        pulses=pulses, octets=octets, twice=twice)


# Receive ------------------------------------------------------------------------------------------

def receive():
    """With a FIFO of 2 KiB and 4 frames, whose oldest frame `free` drops; with sums, and two
    comparisons, compare0 and compare1. Pauses last `quanta`. `strip` removes tags. The lookup finds
    no flow, and has no result while `lookup_busy`."""
    device = Module()
    options = MACOptions(urgent=True, rx_checksum=True, pause=True, vlan=True, flows=LEAST_FLOW_ORDER)
    flows   = SimpleNamespace(busy=Signal(), hit=Signal(), entry=Signal(options.flows),
        length=Signal(14), take=Signal(), first=Signal(), data=Signal(32), octets=Signal(15),
        tagged=Signal(), vid=Signal(12))
    flows.fifo = SimpleNamespace(write=Signal(), data=Signal(64), commit=Signal(), abort=Signal(),
        param=Record(flow_frame(options)))
    device.submodules.fifo    = fifo = FrameFIFO(11, rx_frame(options), 4)
    device.submodules.receive = top = Receive(fifo, options, flows=flows)
    results = ["good", "octets", "fcs_error", "undersize", "oversize", "filtered", "fifo_full"]
    sink    = {name: getattr(top.sink, name)
        for name in ("valid", "ready", "last", "last_be", "data", "error")}
    device.comb += top.filter.promiscuous.eq(1)
    ports = clocked(device) | named("sink_", **sink)
    for n, comparison in enumerate(top.urgent.comparisons):
        ports |= named(f"compare{n}_", **vars(comparison))
    return device, ports | named(
        together=top.urgent.together, enable=top.enable, max_frame=top.max_frame,
        station=top.filter.station, strip=top.tag.strip,
        **{name: getattr(top.control, name) for name in "obey quanta paused unknown pauses".split()},
        available=fifo.available, free=fifo.release, head=fifo.head, word=fifo.word, next=fifo.next,
        lookup_busy=flows.busy, **{name: getattr(top, name) for name in results})


def membership():
    device = Membership()
    names  = ["vid", "member", "write", "row", "members"]
    return device, clocked(device) | named(**{name: getattr(device, name) for name in names})


# Pause --------------------------------------------------------------------------------------------

def pause_source():
    """Between a FIFO, fifo_available and so on, and a transmitter."""
    fifo = Module()
    fifo.available, fifo.next, fifo.release = Signal(), Signal(), Signal()
    fifo.word, fifo.head = Signal(64), Record(tx_frame(MACOptions()))
    device = PauseSource(fifo)
    names  = ["hold", "enable", "full", "roomy", "quanta", "quantum", "station", "own", "stopped"]
    ports  = clocked(device) | named(**{name: getattr(device, name) for name in names})
    for prefix, side in (("", device), ("fifo_", fifo)):
        ports |= named(prefix, available=side.available, head=side.head, word=side.word,
            next=side.next, free=side.release)
    return device, ports


# Receive-side scaling -----------------------------------------------------------------------------

def rss():
    """With a hash of all 32 bits for comparison: `hash`."""
    with mock.patch.object(rss_module, "Toeplitz", lambda bits: Toeplitz()):
        device = RSS()
    names = ["take", "first", "data", "types", "indirection", "on", "queue", "taken", "key_write",
        "key_word", "key_data"]
    return device, clocked(device) | named(hash=device.hash.hash,
        **{name: getattr(device, name) for name in names})


def merge():
    device = Continuation()
    names = ["take", "first", "data", "octets", "queue", "decided", "kept", "continues"]
    return device, clocked(device) | named(**{name: getattr(device, name) for name in names})


# Registers ----------------------------------------------------------------------------------------

def register_file():
    """Bit n of `strobes` is the strobe of the nth register that has one. A register that only the
    user drives reads as its offset, counter n as 256 + n. `counting` is what the user sees."""
    device  = RegisterFile(options())
    strobes = Signal(len(device.strobe))
    device.comb += strobes.eq(Cat(*device.strobe.values()))
    device.comb += [device.value[register.name].eq(register.offset)
        for register in registers() if register.access == "ro" and not register.counter]
    device.sync += device.count.eq(256 + device.counter)
    bus = {name: getattr(device.bus, name)
        for name in "adr dat_w dat_r sel cyc stb ack err we".split()}
    return device, clocked(device) | named("bus_", **bus) | named(
        strobes=strobes, data=device.data, counting=device.counting)


def axi_lite():
    """The register file on AXI4-Lite: s_axi_awaddr, ...; `counting` and `strobes` as above."""
    device  = Module()
    device.submodules.file  = file = RegisterFile()
    device.submodules.slave = AXILiteSlave(file.bus)
    strobes = Signal(len(file.strobe))
    device.comb += strobes.eq(Cat(*file.strobe.values()))
    device.comb += [file.value[register.name].eq(register.offset) for register in registers()
        if register.access == "ro" and not register.counter and not register.option]
    device.sync += file.count.eq(256 + file.counter)
    return device, clocked(device) | axi_lite_ports("s_axi", device.slave.bus) | \
        named(strobes=strobes, counting=file.counting)


def axi_slave():
    """The register file on AXI4, 64 bits wide: s_axi_awaddr, ..."""
    device = Module()
    device.submodules.file  = file = RegisterFile()
    device.submodules.slave = AXISlave(file.bus, 64)
    return device, clocked(device) | axi_ports("s_axi", device.slave.bus)


# MAC ----------------------------------------------------------------------------------------------

OPTIONS = dict.fromkeys(["urgent", "pacing", "rx_checksum", "tx_checksum", "pause", "rmon", "vlan",
    "timestamp", "merge"], True) | {"unicast": MAX_UNICAST}
WITHOUT = {name: type(value)() for name, value in OPTIONS.items()}
QUEUES = {"queues": MAX_QUEUES}
FLOW_ORDER = 5 # Small, so that it soon is full.
GATHER = {"gather": True, "segment": True}


def mac(phy_module, pads, domains, phy_cd, master=None, sys_clk_freq=SYS_CLK_FREQ, **parts):
    """The MAC on a PHY, with pads named after their fields, and with all options except those in
    `parts`.

    master: makes the bridge between its DMA and another bus.
    """
    device = Module()
    ports = clocked(device, *domains)
    device.submodules.phy = phy_module
    device.submodules.mac = top = ModeratoMAC(phy_module, sys_clk_freq, phy_cd,
        **OPTIONS | parts)
    if top.flows: # It forwards to itself.
        device.comb += forwards(top, top)
    bus = {name: getattr(top.bus, name)
        for name in "adr dat_w dat_r sel cyc stb ack err we".split()}
    if master is None:
        ports |= axi_ports("dma", top.dma)
    else:
        device.submodules.master = made = master(top.dma)
        ports |= wishbone_ports(made.bus) if hasattr(made.bus, "cyc") else axi_ports("dma", made.bus)
    ports |= named("bus_", **bus) | named(pads=pads)
    irqs = {f"irq_{name}": irq for name, irq in top.irqs.items()}
    if hasattr(top, "clock"):
        ports |= named(now=top.clock.time, time_output=top.time_output)
    return device, ports | named(**irqs, events=top.events)


SIM_PADS = [field for field in sim_phy_pads(8) if field[0] != "events"]


def mac_sim(**options):
    """On the simulation PHY."""
    pads = Record(SIM_PADS)
    return mac(SimPHY(pads, SYS_CLK_FREQ), pads, ["sys"], "sys", **options)


def mac_queues_sim():
    return mac_sim(**QUEUES)


SCHEDULE = QUEUES | {"launch": True}


GATES = SCHEDULE | {"gates": 6}


SHAPER = GATES | {"shaper": True}


def mac_gather():
    """With frames in pieces, and with segments."""
    return mac_sim(**GATHER)


def mac_queues_gather():
    """All options."""
    return mac_sim(**QUEUES, **GATHER)


def mac_few_frames():
    """Two queues of whole frames, with the fewest frame records that a FIFO may have, and with tags
    and stamps."""
    return mac_sim(**QUEUES, max_frames=9, tx_fifo_order=11, tx_checksum=False, urgent=False)


def mac_stamped_pieces():
    """Two queues of stamped frames in pieces, without other options."""
    return mac_sim(**WITHOUT | QUEUES | {"gather": True, "timestamp": True})


def mac_sim_plain():
    """The MAC with default options: none."""
    return mac_sim(**WITHOUT)


def mac_deep():
    """On the simulation PHY, with the deepest possible Rx FIFO: 16 KiB."""
    return mac_sim(rx_fifo_order=14)


def mac_sim_2500(**options):
    """On the simulation PHY at 2.5 Gb/s or another rate up to 4 Gb/s, with a clock of 125 MHz."""
    sys_clk_freq = 125e6
    pads = Record([("link_mbps", 12) if field[0] == "link_mbps" else field for field in SIM_PADS])
    phy  = SimPHY(pads, sys_clk_freq)
    phy.rx_clk_freq = 2.5e9/phy.dw
    return mac(phy, pads, ["sys"], "sys", sys_clk_freq=sys_clk_freq, **options)


def mac_gather_2500():
    """With frames in pieces and segments, without other options."""
    return mac_sim_2500(**WITHOUT | GATHER | {"tx_checksum": True})


def mac_sim_on(master):
    return mac_sim(master=master)


def mac_wishbone32():
    return mac_sim_on(lambda dma: WishboneMaster(dma, data_width=32))


def mac_wishbone64():
    return mac_sim_on(lambda dma: WishboneMaster(dma, data_width=64))


def mac_axi32():
    return mac_sim_on(lambda dma: AXIMaster(dma, data_width=32))


def two_macs(gated=False, **options):
    """Returns a device with mac_a and mac_b, its ports, and the pads of both. Names of ports begin
    with a_ or b_. `gated`: the MACs' parts have clock gates."""
    device = Module()
    ports  = clocked(device)
    wires  = {}
    for name in "ab":
        wires[name] = pads = Record(SIM_PADS)
        domains = {part: f"{name}_{part}" if gated else "sys" for part in PARTS}
        phy = SimPHY(pads, SYS_CLK_FREQ, rx_cd=domains["datapath"])
        top = ModeratoMAC(phy, SYS_CLK_FREQ, "sys", **options,
            **{f"{part}_cd": cd for part, cd in domains.items()})
        setattr(device.submodules, f"phy_{name}", phy)
        setattr(device.submodules, f"mac_{name}", top)
        if gated:
            ports |= {clock_gate(device, cd, getattr(top, f"{part}_awake"))
                for part, cd in domains.items()}
        bus = {field: getattr(top.bus, field)
            for field in "adr dat_w dat_r sel cyc stb ack err we".split()}
        ports |= axi_ports(f"{name}_dma", top.dma) | named(f"{name}_bus_", **bus)
    return device, ports, wires


def mac_pair():
    """At both ends of a cable."""
    device, ports, wires = two_macs(**OPTIONS)
    device.comb += [pads.link_mbps.eq(1000) for pads in wires.values()]
    for one, other in ("ab", "ba"):
        device.comb += [getattr(wires[other], f"rx_{field}").eq(getattr(wires[one], f"tx_{field}"))
            for field in ("valid", "data", "last", "bytes")]
    return device, ports


def flow_pair(gated=False, **options):
    """Two MACs, each with a wire, that forward to each other."""
    device, ports, wires = two_macs(gated, **OPTIONS | {"flows": FLOW_ORDER, "flow_nat": True} | options)
    device.submodules += FlowPair(device.mac_a, device.mac_b)
    for name, pads in wires.items():
        ports |= named(f"{name}_pads_", **{field: getattr(pads, field) for field, *_ in pads.layout})
    return device, ports


def flow_pair_plain():
    """Only with flows."""
    return flow_pair(**WITHOUT | {"flow_nat": False})


def flow_pair_jumbo():
    return flow_pair(jumbo=True)


def flow_pair_gated():
    return flow_pair(gated=True)


def flow_pair_all():
    return flow_pair(**QUEUES, **GATHER)


def mac_gated(**options):
    """mac_sim whose parts have clock gates: datapath_clk, moderation_clk.

    Next to it, a twin without gates gets the same inputs. `differs` is set, and stays set, when
    their outputs differ in a clock.
    """
    pads, twin_pads = (Record(SIM_PADS) for _ in range(2))
    device, ports = mac(SimPHY(pads, SYS_CLK_FREQ, rx_cd="datapath"), pads, ["sys"], "sys",
        **options, **{f"{part}_cd": part for part in PARTS})
    for part in PARTS:
        ports.add(clock_gate(device, part, getattr(device.mac, f"{part}_awake")))
    device.submodules.twin_phy = phy = SimPHY(twin_pads, SYS_CLK_FREQ)
    device.submodules.twin = twin = ModeratoMAC(phy, SYS_CLK_FREQ, "sys", **OPTIONS | options)
    device.comb += [getattr(twin_pads, name).eq(getattr(pads, name))
        for name in ("rx_valid", "rx_data", "rx_last", "rx_bytes", "rx_error", "link_mbps")]
    device.comb += [getattr(twin.bus, name).eq(getattr(device.mac.bus, name))
        for name in ("adr", "dat_w", "sel", "cyc", "stb", "we")]
    for channel, inputs in {"aw": "ready", "w": "ready", "b": "valid resp id", "ar": "ready",
        "r": "valid data resp last id"}.items():
        device.comb += [getattr(getattr(twin.dma, channel), name).eq(
            getattr(getattr(device.mac.dma, channel), name)) for name in inputs.split()]
    differs = Signal(name_override="differs")
    device.sync += If(outputs(device.mac, pads) != outputs(twin, twin_pads), differs.eq(1))
    return device, ports | {differs}


def mac_all_gated():
    return mac_gated(**QUEUES, **GATHER)


def mac_launch_gated():
    """Two queues whose frames have launch times, with all options but pieces."""
    return mac_gated(**SCHEDULE)


def mac_gates_gated():
    """The same, with gates of the queues."""
    return mac_gated(**GATES)


def mac_shaper_gated():
    """The same, with shapers, too."""
    return mac_gated(**SHAPER)


def mac_shaper_sim():
    """With shapers, and without launch times and time stamps."""
    return mac_sim(**WITHOUT | QUEUES | {"shaper": True, "pause": True})


def clock_gate(device, name, awake):
    """Gives a device the clock domain `name`: sys without the edges before which `awake` is 0.

    Like such a cell, the gate samples `awake` while the clock is low. Returns the clock.
    """
    falling = ClockDomain(f"{name}_falling", reset_less=True)
    gated   = ClockDomain(name)
    enable  = Signal(reset=1)
    device.clock_domains += falling, gated
    device.comb += [
        falling.clk.eq(~ClockSignal()),
        gated.clk.eq(ClockSignal() & enable),
        gated.rst.eq(ResetSignal()),
    ]
    sync = getattr(device.sync, falling.name)
    sync += enable.eq(awake)
    return gated.clk


def outputs(mac, pads):
    """All outputs of a MAC, also those that it would have after an access; invalid ones count as 0."""
    def offered(valid, *payload):
        return Cat(valid, Mux(valid, Cat(*payload), 0))

    aw, w, ar = mac.dma.aw, mac.dma.w, mac.dma.ar
    return Cat(*mac.irqs.values(), mac.events, *mac.registers.value.values(),
        offered(mac.bus.ack, mac.bus.dat_r), mac.bus.err,
        offered(aw.valid, aw.addr, aw.len),
        offered(w.valid, w.data, w.strb, w.last),
        offered(ar.valid, ar.addr, ar.len),
        offered(pads.tx_valid, pads.tx_data, pads.tx_last, pads.tx_bytes))


class LiteEthPHY(Module):
    """LiteEth's GMII or MII datapath without its clocking, which uses primitives of one vendor."""
    dw = 8

    def __init__(self, rx, tx, pads):
        self.submodules.tx = ClockDomainsRenamer("eth_tx")(tx(pads))
        self.submodules.rx = ClockDomainsRenamer("eth_rx")(rx(pads))
        self.sink, self.source = self.tx.sink, self.rx.source


def liteeth_mac(rx, tx, width, **parts):
    """On LiteEth's PHY of `width` bits, with clocks of its own."""
    pads = Record([("rx_dv", 1), ("rx_er", 1), ("rx_data", width), ("tx_en", 1), ("tx_er", 1),
        ("tx_data", width)])
    return mac(LiteEthPHY(rx, tx, pads), pads, ["sys", "eth_rx", "eth_tx"], "eth", **parts)


def mac_gmii(**parts):
    return liteeth_mac(LiteEthPHYGMIIRX, LiteEthPHYGMIITX, 8, **parts)


def mac_flows_gmii():
    """The MAC forwards flows to itself, and has no other options."""
    return mac_only(flows=FLOW_ORDER, flow_nat=True)


def mac_only(**options):
    """With these options, and no others."""
    return mac_gmii(**WITHOUT | options)


def mac_plain():
    """With default options: none."""
    return mac_only()


def mac_gmii_2500():
    """Eight bits at 312.5 MHz, like LiteEth's 2500BASE-X PHYs, with a clock of 125 MHz."""
    return mac_only(sys_clk_freq=125e6)


def mac_urgent():
    return mac_only(urgent=True)


def mac_pacing():
    return mac_only(pacing=True)


def mac_both():
    return mac_only(urgent=True, pacing=True)


def mac_rx_checksum():
    return mac_only(rx_checksum=True)


def mac_tx_checksum():
    return mac_only(tx_checksum=True)


def mac_checksums():
    return mac_only(rx_checksum=True, tx_checksum=True)


def mac_unicast():
    return mac_only(unicast=4)


def mac_pause():
    return mac_only(pause=True)


def mac_jumbo():
    """The simulator's bench uses it, too."""
    return mac_only(jumbo=True)


def mac_rmon():
    return mac_only(rmon=True)


def mac_vlan():
    return mac_only(vlan=True)


def mac_vlan_jumbo():
    return mac_only(vlan=True, jumbo=True)


def mac_timestamp():
    return mac_only(timestamp=True)


def mac_queues():
    return mac_only(queues=2)


def mac_launch():
    return mac_only(timestamp=True, queues=2, launch=True)


def mac_gates():
    return mac_only(timestamp=True, queues=2, launch=True, gates=6)


def mac_shaper():
    return mac_only(queues=2, shaper=True)


def mac_with_gather():
    return mac_only(gather=True)


def mac_segment():
    return mac_only(gather=True, tx_checksum=True, segment=True)


def mac_merge():
    return mac_only(rx_checksum=True, merge=True)


def mac_flows():
    return mac_only(flows=9)


def mac_flow_nat():
    return mac_only(flows=9, flow_nat=True)


def mac_mii():
    return liteeth_mac(LiteEthPHYMIIRX, LiteEthPHYMIITX, 4)


class Synchronizer:
    """A MultiReg whose bits may be a clock late (ecp5_cells.v): a model of metastability."""

    @staticmethod
    def lower(crossing):
        module = Module()
        output = Signal(len(crossing.i))  # crossing.o may be part of a signal
        module.specials += Instance("synchronizer", p_WIDTH=len(crossing.i),
            i_clk=ClockSignal(crossing.odomain), i_i=crossing.i, o_o=output)
        module.comb += crossing.o.eq(output)
        return module


def mac_rgmii(kind=LiteEthPHYRGMII, options=None, **parameters):
    """On LiteEth's whole RGMII PHY for ECP5 as the boards use it: its I/O cells, clocks, resets."""
    clocks = Record([("rx_clk", 1), ("tx_clk", 1)])
    pads   = Record([("rx_ctl", 1), ("rx_data", 4), ("tx_ctl", 1), ("tx_data", 4)])
    wiring = Record([("rx", 1), ("tx", 1)])
    phy    = kind(wiring, pads, tx_delay=0, rx_delay=0, **parameters)
    device, ports = mac(phy, pads, ["sys"], "eth", **options or {})
    device.comb += [wiring.rx.eq(clocks.rx_clk), clocks.tx_clk.eq(wiring.tx)]
    device.special_overrides = {**lattice_ecp5_trellis_special_overrides, MultiReg: Synchronizer}
    return device, ports | named(pads=clocks, crg_rst=phy.crg._reset.storage)


def mac_rgmii_rates():
    """On our own RGMII PHY, at every rate."""
    return mac_rgmii(RGMIIECP5, sys_clk_freq=75e6)


def mac_launch_rates():
    """The same, with two queues whose frames have launch times."""
    return mac_rgmii(RGMIIECP5, SCHEDULE | {"sys_clk_freq": 75e6}, sys_clk_freq=75e6)


def mac_rmii():
    """On LiteEth's whole RMII PHY. `speed` is the field of its register: 1 for 100 Mb/s."""
    clocks = Record([("ref_clk", 1)])
    pads   = Record([("crs_dv", 1), ("rx_data", 2), ("tx_en", 1), ("tx_data", 2)])
    phy    = LiteEthPHYRMII(clocks, pads, refclk_cd=None)
    device, ports = mac(phy, pads, ["sys"], "eth")
    device.special_overrides = {MultiReg: Synchronizer, AsyncResetSynchronizer:
        lattice_ecp5_trellis_special_overrides[AsyncResetSynchronizer]}
    return device, ports | named(pads=clocks, crg_rst=phy.crg._reset.storage,
        speed=phy._control.fields.speed)


class PCSPHY(Module):
    """LiteEth's 1000BASE-X without a transceiver: its pads are the ten bits in each direction.

    Waits of milliseconds take microseconds here.
    """
    dw          = 8
    tx_clk_freq = 125e6
    rx_clk_freq = 125e6

    def __init__(self, pads):
        self.submodules.pcs = pcs = PCS(lsb_first=True, check_period=50e-6, breaklink_time=5e-6,
            more_ack_time=5e-6)
        self.sink, self.source = pcs.sink, pcs.source
        self.comb += [
            pads.tx.eq(pcs.tbi_tx),
            pcs.tbi_rx.eq(pads.rx),
            pads.link_up.eq(pcs.link_up),
        ]


def mac_1000basex():
    pads = Record([("rx", 10), ("tx", 10), ("link_up", 1)])
    device, ports = mac(PCSPHY(pads), pads, ["sys", "eth_rx", "eth_tx"], "eth")
    device.special_overrides = {MultiReg: Synchronizer}
    return device, ports


# The MAC in SoCs of LiteX ---------------------------------------------------------------------------

WISHBONE_ACCESS = "adr dat_w dat_r sel cyc stb ack err we".split()


def soc(standard, width, interconnect="shared", ordering="big"):
    """The MAC, without options, as add_moderato connects it. `bus_...`: a 32-bit Wishbone master
    for its registers. `host_...`: a master of the main bus's kind and width."""
    pads = Record(SIM_PADS)
    top  = SoC(lambda: SimPHY(pads, SYS_CLK_FREQ), SYS_CLK_FREQ, standard, width, interconnect,
        ordering)
    ports = {top.crg.cd_sys.clk, top.crg.cd_sys.rst} | named(pads=pads, events=top.eth0.events,
        irq_rx=top.eth0.irqs["rx"], irq_tx=top.eth0.irqs["tx"])
    bus = wishbone.Interface(data_width=32, address_width=32, addressing="word")
    top.comb += [
        bus.connect(top.registers, omit={"adr"}),
        top.registers.adr.eq(bus.adr + REGISTERS//4),
    ]
    ports |= named("bus_", **{name: getattr(bus, name) for name in WISHBONE_ACCESS})
    if standard == "wishbone":
        memory = SoC.wishbone(width)
        top.comb += [
            top.memory.connect(memory, omit={"stb"}),
            memory.stb.eq(top.memory.stb & top.memory.cyc), # LiteX's decoder gives STB to all slaves.
        ]
        return top, ports | wishbone_ports(memory) | named("host_",
            **{name: getattr(top.host, name) for name in WISHBONE_ACCESS})
    ports |= axi_ports("dma", top.memory)
    return top, ports | (axi_ports("host", top.host) if standard == "axi" else
        axi_lite_ports("host", top.host))


def soc_wishbone32():
    return soc("wishbone", 32, "crossbar", "little")


def soc_wishbone64():
    return soc("wishbone", 64)


def soc_axi_lite():
    return soc("axi-lite", 32, ordering="little")


def soc_axi32():
    return soc("axi", 32, ordering="little")


def soc_axi64():
    return soc("axi", 64, "crossbar")


# LiteEth's MAC, to be measured next to ours -------------------------------------------------------

def liteeth_gmii():
    """As in the SoC (soc/liteeth.py), on the PHY of mac_gmii, with its registers' CSR bank."""
    device = Module()
    pads   = Record([("rx_dv", 1), ("rx_er", 1), ("rx_data", 8), ("tx_en", 1), ("tx_er", 1),
        ("tx_data", 8)])
    ports  = clocked(device, "sys", "eth_rx", "eth_tx")
    phy    = LiteEthPHY(LiteEthPHYGMIIRX, LiteEthPHYGMIITX, pads)
    device.submodules.phy = phy
    device.submodules.mac = top = LiteEth(phy)
    device.submodules.bank = csr_bus.CSRBankArray(device, lambda name, memory: {"mac": 0}[name],
        data_width=32, address_width=14)
    csr = csr_bus.Interface(data_width=32, address_width=14)
    device.submodules.csrs = csr_bus.InterconnectShared([csr], device.bank.get_buses())
    for name in ("bus_rx", "bus_tx"):
        bus = getattr(top, name)
        ports |= named(f"{name}_", **{field: getattr(bus, field)
            for field in "adr dat_w dat_r sel cyc stb ack we".split()})
    ports |= named("csr_", adr=csr.adr, dat_w=csr.dat_w, dat_r=csr.dat_r, re=csr.re, we=csr.we)
    return device, ports | named(pads=pads, irq=top.ev.irq)

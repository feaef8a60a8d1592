# SPDX-License-Identifier: BSD-2-Clause
"""The one table of registers, descriptor fields and event bits.

The Migen register file (register_file.py), the driver's header, the cocotb model of the driver and
docs/registers.md are all made from what stands here; nothing else defines an offset or a bit.

    python -m moderato.gateware.export      # rewrites linux-driver/moderato_regs.h and docs/registers.md

Offsets are stable: a register never moves and a field never changes its meaning within a major
version; new ones take free space and raise the minor version.
"""

from dataclasses import dataclass, replace

ID    = 0x4D6F6465  # "Mode" in ASCII.
MAJOR = 1
MINOR = 4
PLAIN_MINOR = 2  # Of an instance that has none of FEATURES: it is the hardware of 1.2, to the gate.

# Index arithmetic shared by hardware and software: ring indices run freely modulo 2**16, the slot
# is the index modulo the ring's size.
INDEX_BITS     = 16
MIN_RING_ORDER = 2   # 4 descriptors: one DMA burst.
MAX_RING_ORDER = 12  # 4096 descriptors.
TIMER_BITS     = 24  # 167 ms at 100 MHz.
FRAMES_BITS    = 16
URGENT_COMPARISONS = 2
MAX_UNICAST    = 8   # Further exact addresses.

# Octets of a frame that RFC 2819 counts together, first and last; 0: up to MAX_FRAME.
RMON_RANGES = ((64, 64), (65, 127), (128, 255), (256, 511), (512, 1023), (1024, 1518), (1519, 0))

# Received frames start this many bytes into their buffer, so that the IP header is 4-byte aligned
# (the kernel's NET_IP_ALIGN) while the bus only carries aligned bursts.
RX_OFFSET = 2
# Rx buffers start at a multiple of the bus width; Tx frames may start at any byte.
RX_BUFFER_ALIGN = 8


@dataclass(frozen=True)
class Field:
    """Bits [lsb, lsb + width) of a register or of a descriptor word."""
    name:        str
    lsb:         int
    width:       int
    description: str

    @property
    def mask(self):
        return ((1 << self.width) - 1) << self.lsb


@dataclass(frozen=True)
class Register:
    """A 32-bit register.

    access: "ro" a value of the hardware; "rw" stored, read back as written; "wo" the write itself is
    the event, reads give 0. `counter`: "ro", and kept by statistics.py. `option`: only instances that
    were built with it have the register.
    """
    name:        str
    offset:      int
    access:      str
    description: str
    fields:      tuple = ()
    reset:       int   = 0
    width:       int   = 32
    counter:     bool  = False
    option:      str   = ""


def _counter(name, offset, description, option=""):
    return Register(name, offset, "ro", f"Counter, wraps at 2**32: {description}", counter=True, option=option)


def _urgent():
    """Up to two comparisons, each of four octets."""
    numbers = range(URGENT_COMPARISONS)
    yield Register("URGENT", 0x040, "rw", "Which received frames raise an interrupt at once (subject to GAP), as if "
        "their descriptor had the INTERRUPT flag: those for which a comparison that is on holds. Numbers count octets "
        "from the destination address. (Since 1.2, if CAPABILITY has URGENT.)", (
        *(field for n in numbers for field in (
            Field(f"ON_{n}",   8*n,     1, f"Comparison {n} is on."),
            Field(f"WORD_{n}", 8*n + 4, 4, f"The word that it compares: octets 4*WORD_{n} to 4*WORD_{n} + 3."))),
        Field("TOGETHER", 31, 1, "Each comparison that is on must hold."),
    ), option="urgent")
    for n in numbers:
        yield Register(f"URGENT_VALUE_{n}", 0x044 + 8*n, "rw", f"What comparison {n} expects, the first octet in bits "
            "7:0.", option="urgent")
        yield Register(f"URGENT_MASK_{n}", 0x048 + 8*n, "rw", "Bits that count of it.", option="urgent")


def _unicast():
    """Further exact addresses, each in registers of its own."""
    for n in range(MAX_UNICAST):
        yield Register(f"UNICAST_LOW_{n}", 0x060 + 8*n, "rw", f"Further address {n}: octets 0 (bits 7:0) to 3 (bits "
            f"31:24). (Since 1.3, like the next one, if FEATURES has UNICAST of more than {n}.)", option=f"unicast_{n}")
        yield Register(f"UNICAST_HIGH_{n}", 0x064 + 8*n, "rw", "The rest of it, and whether it counts.", (
            Field("OCTETS", 0, 16, "Octets 4 (bits 7:0) and 5."),
            Field("ON",    16,  1, "Frames to it are accepted, as those to the station address are."),
        ), width=17, option=f"unicast_{n}")


def _pause():
    """Pause frames of IEEE 802.3 annex 31B."""
    yield from (replace(register, option="pause") for register in (
        Register("PAUSE", 0x0A0, "rw", "Pause frames. (Since 1.3, like the next four, if FEATURES has PAUSE.)", (
            Field("RX", 0, 1, "Obey them: no frame begins while a pause lasts. They, and other MAC control frames to "
                "this station or to their group address, are not delivered then. Cleared, a pause ends."),
            Field("TX", 1, 1, "Send them, as PAUSE_FIFO and PAUSE_RING say, while reception is enabled and its ring is "
                "not halted. Cleared, a pause of the other end is ended."),
        ), width=2),
        Register("PAUSE_QUANTUM", 0x0A4, "rw", "512 bit times of the link, in clocks, rounded up: the unit of a pause.",
            reset=52, width=16),
        Register("PAUSE_QUANTA", 0x0A8, "rw", "How long the other end is told to pause, from 16 on. It is told again "
            "when half of that is over, up to 255 times in a row: then nobody seems to make room.", reset=0xFFFF,
            width=16),
        Register("PAUSE_FIFO", 0x0AC, "rw", "When the Rx FIFO, of 2**RX_FIFO_ORDER octets, makes the other end pause. "
            "It also does when it holds a third of the frames that it has records for, until it holds a sixth.", (
            Field("STOP", 0, 16, "Fewer octets than this are free; counted in units of 8. 0: never."),
            Field("GO",  16, 16, "It may go on when so many are free."),
        )),
        Register("PAUSE_RING", 0x0B0, "rw", "When the Rx ring makes the other end pause.", (
            Field("STOP", 0, 16, "Fewer descriptors than this are left to be fetched. 0: never."),
            Field("GO",  16, 16, "It may go on when so many are left."),
        )),
    ))


def _vlan():
    """VLAN tags of IEEE 802.1Q."""
    yield from (replace(register, option="vlan") for register in (
        Register("VLAN", 0x0B4, "rw", "VLAN tags: of type 0x8100, behind the addresses. (Since 1.4, like the next one, "
            "if FEATURES has VLAN.)", (
            Field("STRIP",  0, 1, "Received: a frame is delivered without its tag, and its descriptor tells it "
                "(TAGGED, TCI). MAX_FRAME is for what is left. Of two tags, the first one is taken out."),
            Field("FILTER", 1, 1, "Received: tagged frames are accepted if their VLAN is in the table, or 0, or if "
                "CTRL has PROMISCUOUS."),
            Field("INSERT", 2, 1, "Sent: descriptors ask for tags (TX_TAG)."),
        ), width=3),
        Register("VLAN_TABLE", 0x0B8, "wo", "Writes which of 16 VLANs are accepted. Before FILTER is set for the first "
            "time, all 256 rows are to be written.", (
            Field("MEMBERS", 0, 16, "Bit n is that of VLAN 16*ROW + n."),
            Field("ROW",    16,  8, "Bits 11:4 of these VLANs."),
        )),
    ))


# Global registers ---------------------------------------------------------------------------------

GLOBAL = (
    Register("ID", 0x000, "ro", "Identifies the block: reads 0x%08x." % ID),
    Register("VERSION", 0x004, "ro", "Version of this register map.", (
        Field("MAJOR", 16, 16, "Incompatible changes."),
        Field("MINOR",  0, 16, f"Additions; {PLAIN_MINOR} in an instance without FEATURES."),
    )),
    Register("CLOCK_HZ", 0x008, "ro", "Frequency of the clock that moderation timers count, in Hz."),
    Register("CAPABILITY", 0x00C, "ro", "What this instance was built with.", (
        Field("MAX_RING_ORDER",  0,  4, "Largest ring is 2**n descriptors."),
        Field("TIMER_BITS",      8,  5, "Width of the moderation timers."),
        Field("RX_FIFO_ORDER",  16,  4, "The Rx frame FIFO holds 2**n bytes."),
        Field("TX_FIFO_ORDER",  20,  4, "The Tx frame FIFO holds 2**n bytes."),
        Field("URGENT",         24,  1, "Frames can be urgent: the URGENT registers exist. (Since 1.2.)"),
        Field("PACING",         25,  1, "Rx moderation can adapt itself: the RX_PACING registers exist. (Since 1.2.)"),
        Field("RATES",          26,  1, "On RGMII, the PHY interface works at 10 and 100 Mb/s, too. (Since 1.2.)"),
    )),
    Register("CTRL", 0x010, "rw", "Enables. Clearing an enable stops that direction at a frame boundary, and "
        "resets its ring indices once STATUS shows it idle; enable it again only then. Rx: what the FIFO holds is "
        "dropped. Tx: no further frame is read from memory; those whose descriptors completed are still sent, "
        "whenever the wire takes them.", (
        Field("RX_ENABLE",   0, 1, "Receive."),
        Field("TX_ENABLE",   1, 1, "Transmit."),
        Field("PROMISCUOUS", 2, 1, "Accept every destination."),
        Field("ALLMULTI",    3, 1, "Accept every multicast destination."),
        Field("HALT_INTERRUPT", 4, 1, "A direction that is armed raises its interrupt while its ring is halted. "
            "(Since 1.1.)"),
    ), width=5),
    Register("STATUS", 0x014, "ro", "State of the block.", (
        Field("RX_IDLE", 0, 1, "The Rx ring is stopped, no DMA of it is under way, and its FIFO is empty."),
        Field("TX_IDLE", 1, 1, "The Tx ring is stopped and no DMA of it is under way."),
        Field("RX_HALTED", 2, 1, "Memory refused to give descriptors or to take a status: the Rx ring takes no "
            "further descriptor, and drops what it receives, until it is disabled. (Since 1.1.)"),
        Field("TX_HALTED", 3, 1, "Likewise, the Tx ring: it sends nothing more until it is disabled. (Since 1.1.)"),
        Field("TX_PAUSED", 4, 1, "A pause frame of the other end is obeyed. (Since 1.3.)"),
        Field("RX_PAUSED", 5, 1, "The other end was told to pause. (Since 1.3.)"),
    )),
    Register("MAC_LOW", 0x018, "rw", "Station address, octets 0 (bits 7:0) to 3 (bits 31:24)."),
    Register("MAC_HIGH", 0x01C, "rw", "Station address, octets 4 (bits 7:0) and 5.", width=16),
    Register("HASH_LOW", 0x020, "rw", "Multicast hash filter, bits 31:0. A multicast destination is "
        "accepted when the bit numbered by the top six bits of its CRC-32 (ether_crc() >> 26) is set."),
    Register("HASH_HIGH", 0x024, "rw", "Multicast hash filter, bits 63:32."),
    Register("MAX_FRAME", 0x028, "rw", "Longest frame accepted, in octets from destination address to "
        "FCS.", reset=1518, width=14),
    Register("FEATURES", 0x02C, "ro", "What this instance was built with, besides CAPABILITY. (Since 1.3; read "
        "VERSION first.)", (
        Field("RX_CHECKSUM", 0, 1, "Received frames are summed: RX_CHECKSUM of their descriptors."),
        Field("TX_CHECKSUM", 1, 1, "Checksums are inserted into sent frames: TX_CHECKSUM of their descriptors."),
        Field("PAUSE",       2, 1, "Pause frames can be obeyed and sent: the PAUSE registers exist."),
        Field("JUMBO",       3, 1, "Both FIFOs keep up with frames of up to 9022 octets."),
        Field("RMON",        4, 1, "The counters from 0x38C on exist."),
        Field("VLAN",        5, 1, "VLAN tags can be taken out and put in: the VLAN registers exist. (Since 1.4.)"),
        Field("VLAN_FILTER", 6, 1, "Tagged frames can be filtered by their VLAN. (Since 1.4.)"),
        Field("UNICAST",     8, 4, "So many further exact addresses: the UNICAST registers exist."),
    ), option="features"),
    *_urgent(),
    *_unicast(),
    *_pause(),
    *_vlan(),
)

# Ring and moderation registers, the same for both directions ---------------------------------------

DIRECTION = (
    Register("RING_BASE", 0x00, "rw", "Physical address of the ring, a multiple of 64."),
    Register("RING_ORDER", 0x04, "rw", f"The ring has 2**n descriptors, n from {MIN_RING_ORDER} to "
        f"{MAX_RING_ORDER}.", reset=8, width=4),
    Register("DOORBELL", 0x08, "wo", "Producer index: descriptors before it belong to the hardware.", (
        Field("INDEX", 0, INDEX_BITS, "Free-running index."),
    )),
    Register("COMPLETED", 0x0C, "ro", "Index of the first descriptor that is not completed. For debugging: "
        "the driver learns completions from memory."),
    Register("FRAMES", 0x10, "rw", "Raise when this many completions are unreported; 0 = never for "
        "this reason.", width=FRAMES_BITS),
    Register("PACKET_TIMER", 0x14, "rw", "Raise when completions are unreported and nothing completed for this "
        "many clocks since the latest; 0 = never for this reason. Like the other two, the timer stops there: "
        "when a setting grows, time beyond the old one is not remembered.", width=TIMER_BITS),
    Register("ABSOLUTE_TIMER", 0x18, "rw", "Raise this many clocks after the first unreported completion, whatever "
        "follows; 0 = never for this reason.", width=TIMER_BITS),
    Register("GAP", 0x1C, "rw", "Shortest time in clocks between two interrupts.", width=TIMER_BITS),
    Register("REARM", 0x20, "wo", "Drops the line and arms the next interrupt. Completions at or beyond the index "
        "count as unreported at once. The index may be up to 15 ahead of the count, as memory shows completions first.", (
        Field("INDEX", 0, INDEX_BITS, "Free-running consumer index: everything before it was seen."),
    )),
    Register("DISARM", 0x24, "wo", "Any write drops the line and raises nothing until REARM."),
    Register("MODERATION", 0x28, "ro", "State of the interrupt moderation.", (
        Field("UNREPORTED",  0, 16, "Completions not reported yet."),
        Field("ARMED",      16,  1, "An interrupt may be raised."),
        Field("LINE",       17,  1, "The interrupt line."),
    )),
    _counter("INTERRUPTS", 0x30, "interrupts raised."),
    _counter("INTERRUPTS_FRAMES", 0x34, "of these, by FRAMES."),
    _counter("INTERRUPTS_PACKET", 0x38, "of these, by PACKET_TIMER."),
    _counter("INTERRUPTS_ABSOLUTE", 0x3C, "of these, by ABSOLUTE_TIMER."),
    _counter("INTERRUPTS_REQUEST", 0x40, "of these, by a descriptor's INTERRUPT flag."),
    _counter("INTERRUPTS_HALTED", 0x44, "of these, by a halted ring. (Since 1.1.)"),
)
RX_BASE = 0x100
TX_BASE = 0x200

# What only reception has ---------------------------------------------------------------------------

RX_ONLY = (
    Register("RX_PACING_LONGEST", 0x148, "rw", "If not 0, the hardware chooses how many clocks the first "
        "unreported completion waits: RX_ABSOLUTE_TIMER, which must not be 0, while the time from interrupts to "
        "re-arms is less than half of all; an eighth of this, a quarter, a half for each eighth more; and all of this "
        "from seven eighths on. It decides every 32768 clocks. (Since 1.2, like the next one, if CAPABILITY has "
        "PACING.)", width=TIMER_BITS, option="pacing"),
    Register("RX_PACING", 0x14C, "ro", "What it has chosen: 0 for RX_ABSOLUTE_TIMER, 1 to 4 for the parts of "
        "RX_PACING_LONGEST.", width=3, option="pacing"),
)

# Statistics ---------------------------------------------------------------------------------------

STATISTICS = (
    _counter("RX_GOOD_FRAMES", 0x300, "frames received without error and accepted by the filter."),
    _counter("RX_GOOD_OCTETS", 0x304, "their octets, destination address to FCS."),
    _counter("RX_FCS_ERRORS", 0x308, "frames of valid length with a wrong FCS or a PHY error."),
    _counter("RX_UNDERSIZE", 0x30C, "frames shorter than 64 octets."),
    _counter("RX_OVERSIZE", 0x310, "frames longer than MAX_FRAME."),
    _counter("RX_FILTERED", 0x314, "good frames for other stations."),
    _counter("RX_DROP_FIFO", 0x318, "frames dropped because the Rx FIFO was full (the bus starved)."),
    _counter("RX_DROP_RING", 0x31C, "good frames dropped because the ring held no descriptor, or was halted."),
    _counter("RX_DROP_BUFFER", 0x320, "good frames dropped because they do not fit the descriptor's buffer."),
    _counter("TX_GOOD_FRAMES", 0x340, "frames handed to the wire."),
    _counter("TX_GOOD_OCTETS", 0x344, "their octets, destination address to FCS."),
    _counter("TX_DROP_LENGTH", 0x348, "descriptors whose length was 0 or beyond the FIFO; completed with ERROR."),
    _counter("DMA_ERRORS", 0x360, "bus errors answered to the DMA."),
    _counter("RX_PAUSE_FRAMES", 0x380, "pause frames that were obeyed. (Since 1.3, like the next two, if FEATURES has "
        "PAUSE.)", option="pause"),
    _counter("RX_CONTROL_UNKNOWN", 0x384, "MAC control frames with another opcode, dropped.", option="pause"),
    _counter("TX_PAUSE_FRAMES", 0x388, "pause frames handed to the wire; they count in TX_GOOD_FRAMES, too.",
        option="pause"),
)



def _rmon():
    """Frames by length and destination, from 0x38C on."""
    counted = {
        "RX_FRAGMENTS": "of RX_UNDERSIZE, those with a wrong FCS. (Since 1.3, like all that follow, if FEATURES has "
            "RMON.)",
        "RX_JABBERS":   "of RX_OVERSIZE, those with a wrong FCS or a PHY error.",
        "RX_MULTICAST": "of RX_GOOD_FRAMES, those to a group, without broadcasts.",
        "RX_BROADCAST": "of RX_GOOD_FRAMES, broadcasts.",
        "TX_MULTICAST": "of TX_GOOD_FRAMES, those to a group, without broadcasts.",
        "TX_BROADCAST": "of TX_GOOD_FRAMES, broadcasts.",
    }
    for direction, which in (("RX", "frames received, whatever became of them,"), ("TX", "frames handed to the wire")):
        for first, last in RMON_RANGES:
            counted[f"{direction}_OCTETS_{first}"] = f"{which} of {rmon_range(first, last)}."
    for n, (name, description) in enumerate(counted.items()):
        yield _counter(name, 0x38C + 4*n, description, option="rmon")


def rmon_range(first, last):
    """In words."""
    if not last:
        return f"{first} octets up to MAX_FRAME"
    return f"{first} octets" if first == last else f"{first} to {last} octets"


STATISTICS += (*_rmon(),
    _counter("RX_VLAN_FILTERED", 0x3DC, "good frames for this station, but of other VLANs. (Since 1.4, if FEATURES has "
        "VLAN.)", option="vlan"),
)

# Descriptors --------------------------------------------------------------------------------------

DESCRIPTOR_BYTES = 16


@dataclass(frozen=True)
class Word:
    """One 32-bit little-endian word of a descriptor."""
    name:        str
    offset:      int
    description: str
    fields:      tuple = ()


DESCRIPTOR = (
    Word("ADDRESS", 0x0, f"Physical address of the buffer (driver). Rx: a multiple of {RX_BUFFER_ALIGN}; "
        f"the frame starts {RX_OFFSET} bytes into the buffer."),
    Word("CONTROL", 0x4, "What the driver asks for.", (
        Field("LENGTH",        0, 16, "Tx: octets of the frame without FCS. Rx: size of the buffer; what is beyond "
            f"a multiple of {RX_BUFFER_ALIGN} is not used."),
        Field("INTERRUPT",    16,  1, "Raise at once when this descriptor completes (subject to GAP)."),
        Field("NO_INTERRUPT", 17,  1, "This completion counts for no interrupt condition."),
    )),
    Word("RX_CHECKSUM", 0x8, "Rx, written back by the hardware: 0, but for", (
        Field("SUM", 0, 16, "The one's complement sum of the frame from octet 14 to its end, without FCS, if FEATURES "
            "has RX_CHECKSUM. The first octet of each pair counts as bits 7:0, so that in memory the octets of SUM are "
            "in the order of the frame's. 0 with ERROR. (Since 1.3.)"),
        Field("TCI", 16, 16, "Tag control information of the tag that was taken out, if STATUS has TAGGED. (Since "
            "1.4.)"),
    )),
    Word("TX_CHECKSUM", 0x8, "Tx, what the driver asks for if FEATURES has TX_CHECKSUM; written back as 0. Whatever is "
        "asked for, the frame's other octets are not changed.", (
        Field("START",   0, 14, "Octet from which to sum, to the frame's end; bit 0 counts as 0. The sum is 0 if that "
            "is beyond the end. (Since 1.3, like the next two.)"),
        Field("PLACE",  16, 14, "First of the two octets in whose place the result is sent; bit 0 counts as 0. What "
            "memory holds there counts in the sum. What is beyond the frame's end is not sent."),
        Field("INSERT", 31,  1, "Insert the inverted sum, or 0xffff if that is 0."),
    )),
    Word("TX_TAG", 0xC, "Tx, what the driver asks for if FEATURES has VLAN and the register VLAN has INSERT; PHASE of "
        "STATUS, bit 31, must stay as it is.", (
        Field("TAG",     0, 16, "Tag control information: PCP, DEI, VID."),
        Field("TAGGED", 30,  1, "A VLAN tag with it is sent behind the frame's addresses. LENGTH, START and PLACE are "
            "those of the frame in memory, without it. (Since 1.4.)"),
    )),
    Word("STATUS", 0xC, "Written back by the hardware when the descriptor completes.", (
        Field("LENGTH",     0, 16, "Rx: octets of the frame without FCS."),
        Field("MULTICAST", 16,  1, "Rx: the destination is a group address."),
        Field("BROADCAST", 17,  1, "Rx: the destination is the broadcast address."),
        Field("URGENT",    18,  1, "Rx: a comparison of the URGENT registers held. (Since 1.2.)"),
        Field("TAGGED",    19,  1, "Rx: a VLAN tag was taken out of the frame; TCI tells which. (Since 1.4.)"),
        Field("ERROR",     30,  1, "The frame is lost: it did not fit the buffer, or memory refused some of it (Rx); "
            "the length was invalid, or memory refused to give some of it (Tx). LENGTH is 0."),
        Field("PHASE",     31,  1, "Completed in this pass: the inverse of bit RING_ORDER of the free-running "
            "index, so 1 in the first pass over a zeroed ring."),
    )),
)

# Event pulses of the MAC, for counting outside (simulator, logic analyser) -------------------------

EVENTS = (
    "rx_interrupt", "tx_interrupt", "rx_completed", "tx_completed",
    "rx_drop_ring", "rx_drop_fifo", "rx_drop_error", "rx_drop_filter",
)


def registers():
    """All registers with absolute offsets and full names, in address order."""
    out = list(GLOBAL)
    for prefix, base in (("RX", RX_BASE), ("TX", TX_BASE)):
        out += [Register(f"{prefix}_{r.name}", base + r.offset, r.access, r.description, r.fields,
            r.reset, r.width, r.counter) for r in DIRECTION]
    out += [*RX_ONLY, *STATISTICS]
    assert len({r.name for r in out}) == len({r.offset for r in out}) == len(out)
    return sorted(out, key=lambda r: r.offset)


def options():
    """What the `option` of registers can be, all of it."""
    return sorted({register.option for register in registers() if register.option})


def counters(options=()):
    """Names of the counters that there are with these options, in address order."""
    return [register.name for register in registers()
        if register.counter and (not register.option or register.option in options)]

# SPDX-License-Identifier: BSD-2-Clause
"""The one table of registers, descriptor fields and event bits.

The Migen register file (register_file.py), the driver's header, the cocotb model of the driver and
docs/registers.md are all made from what stands here; nothing else defines an offset or a bit.

    ./moderato export      # rewrites linux-driver/moderato_regs.h and docs/registers.md

Offsets are stable: a register never moves and a field never changes its meaning within a major
version; new ones take free space and raise the minor version.
"""

from dataclasses import dataclass, replace

ID    = 0x4D6F6465  # "Mode" in ASCII.
MAJOR = 1
MINOR = 5
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
STAMP_BITS     = 32  # Of a sent frame's time, what goes into its descriptor,
STAMP_OCTETS   = 8   # and of a received frame's what comes ahead of it.
MAX_QUEUES     = 2   # In each direction.
RSS_KEY_WORDS  = 10  # 40 octets: as many as IPv6 addresses and ports need.
RSS_TABLE_BITS = 7   # Of the hash, that choose one of 128 entries.
HEADER_BYTES   = 256 # Of the headers of packets that are cut into segments.
FLOW_WAYS      = 4   # Places in the flow table where an entry may be,
MAX_FLOW_ORDER = 10  # and how many entries it has at most: each way has its own bits of the hash.
FLOW_TICK      = 20  # FLOW_LAST and FLOW_STATUS.TIME count 2**n clocks.

# Octets of a frame that RFC 2819 counts together, first and last; 0: up to MAX_FRAME.
RMON_RANGES = ((64, 64), (65, 127), (128, 255), (256, 511), (512, 1023), (1024, 1518), (1519, 0))

# Received frames start this many bytes into their buffer, so that the IP header is 4-byte aligned
# (the kernel's NET_IP_ALIGN) while the bus only carries aligned bursts.
RX_OFFSET = 2
# Rx buffers start at a multiple of the bus width; Tx frames may start at any byte.
RX_BUFFER_ALIGN = 8


@dataclass(frozen=True)
class Field:
    """Bits [lsb, lsb + width) of a register or of a descriptor word. `option`: as of a register."""
    name:        str
    lsb:         int
    width:       int
    description: str
    option:      str = ""

    @property
    def mask(self):
        return ((1 << self.width) - 1) << self.lsb


@dataclass(frozen=True)
class Register:
    """A 32-bit register.

    access: "ro" a value of the hardware; "rw" stored, read back as written; "wo" the write itself is
    the event, reads give 0. `counter`: "ro", and kept by statistics.py. `option`: only instances that
    were built with it have the register. `width`: without what fields with an option have beyond it.
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

    def bits(self, options):
        """Its width in an instance with these options."""
        return max([self.width, *(f.lsb + f.width for f in self.fields if f.option in options)])


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
                "this station or to their group address, are not delivered then. Cleared, a pause ends. Reception need not "
                "be enabled."),
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


def _time():
    """The clock that frames are stamped with (ptp_clock.py)."""
    yield from (replace(register, option="timestamp") for register in (
        Register("TIME_CTRL", 0x400, "rw", "Time stamps. (Since 1.4, like all TIME registers, if FEATURES has "
            "TIMESTAMP.)", (
            Field("RX",     0, 1, f"Of each received frame, {STAMP_OCTETS} octets come first in the buffer: the time at which the "
                f"octet after its start-of-frame delimiter came, in ns, little endian. The frame follows {RX_OFFSET} "
                "bytes behind them. STATUS of its descriptor has STAMPED."),
            Field("OUTPUT", 1, 1, "The periodic output is on. Off, it is low."),
        ), width=2),
        Register("TIME_COMMAND", 0x404, "wo", "Each bit does something at once, in the same clock for both words of "
            "the time. One of them at a time.", (
            Field("SET",   0, 1, "The time becomes TIME_HIGH, TIME_LOW."),
            Field("STEP",  1, 1, "TIME_HIGH, TIME_LOW is added to the time, a signed number of ns."),
            Field("READ",  2, 1, "The time goes to TIME_NOW_HIGH, TIME_NOW_LOW."),
            Field("START", 3, 1, "The periodic output is to rise at TIME_HIGH, TIME_LOW; after it was off, and after "
                "SET or STEP."),
        )),
        Register("TIME_LOW",  0x408, "rw", "For TIME_COMMAND: ns, bits 31:0."),
        Register("TIME_HIGH", 0x40C, "rw", "Bits 63:32."),
        Register("TIME_NOW_LOW",  0x410, "ro", "The time that READ found: ns, bits 31:0."),
        Register("TIME_NOW_HIGH", 0x414, "ro", "Bits 63:32."),
        Register("TIME_INCREMENT_NS", 0x418, "rw", "By how much the time grows in each clock: whole ns. Taken with "
            "TIME_INCREMENT.", width=8),
        Register("TIME_INCREMENT", 0x41C, "rw", "The rest of it, in units of 2**-32 ns; a write takes both. Until "
            "then the clock stands still."),
        Register("TIME_PERIOD", 0x420, "rw", "Of the periodic output, in ns."),
        Register("TIME_WIDTH",  0x424, "rw", "So much of each period it is high, in ns; less than TIME_PERIOD."),
    ))

# Flows that the hardware forwards ------------------------------------------------------------------

def _flows():
    """The flow table (gateware/flows/): of frames that this MAC receives and the other one of its pair sends."""
    yield from (replace(register, option="flows") for register in (
        Register("FLOW_CTRL", 0x800, "rw", "Forwarding without software: an IPv4 packet of TCP or UDP whose entry is in "
            "the flow table leaves at the other MAC of the pair, if that has TX_ENABLE. To software goes what it always "
            "did: frames that are not for the station's own address, fragments, IP options, a TTL of 0 or 1, TCP with "
            "SYN, FIN or RST, a wrong length or header checksum. (Since 1.5, like all FLOW registers, if FEATURES has "
            "FLOW_ORDER.)", (
            Field("ENABLE", 0, 1, "Frames are looked up. Cleared, those that arrive from then on go to software."),
            Field("MTU",   16, 14, "Octets of the longest packet that is forwarded: what the other MAC's link takes."),
        ), width=30),
        Register("FLOW_COMMAND", 0x804, "wo", "Does something with one entry of the table. One bit at a time, and not "
            "while FLOW_STATUS has BUSY: then nothing happens. Entry e is in way e >> (FLOW_ORDER - 2); in way w, "
            "(hash >> w*(FLOW_ORDER - 2)) modulo 2**(FLOW_ORDER - 2) is where a flow's entry has to be. The hash is the "
            "CRC-32 of FLOW_KIND, FLOW_SOURCE, FLOW_DESTINATION and FLOW_PORTS, bits 7:0 of each first: crc32_le(~0, ...) "
            "in Linux. An entry must not be in two ways.", (
            Field("ENTRY",   0, 10, "Which one."),
            Field("WRITE",  16, 1, "It becomes what the registers below hold, whatever it was, with counters of 0."),
            Field("REMOVE", 17, 1, "It ends."),
            Field("READ",   18, 1, "FLOW_FRAMES, FLOW_OCTETS and FLOW_LAST become its counters, which it keeps after its "
                "end until it is written again."),
            Field("CLEAR",  19, 1, "All end, as after a reset."),
        )),
        Register("FLOW_STATUS", 0x808, "ro", "State of the flow table.", (
            Field("BUSY",  0, 1, "A command is in progress. When it is over after WRITE, REMOVE or CLEAR, no frame leaves for "
                "the other MAC any more by an entry as it was: frames that still wait to do so will be dropped."),
            Field("PEER",  1, 1, "The other MAC has TX_ENABLE."),
            Field("TIME", 16, 16, f"Counts 2**{FLOW_TICK} clocks: for FLOW_LAST."),
        )),
        Register("FLOW_SOURCE", 0x80C, "wo", "Of the packets: IPv4 source address, its first octet in bits 7:0."),
        Register("FLOW_DESTINATION", 0x810, "wo", "Their destination address, likewise."),
        Register("FLOW_PORTS", 0x814, "wo", "Their ports, as in the packet: the source port's first octet in bits 7:0."),
        Register("FLOW_KIND", 0x818, "wo", "What else they are.", (
            Field("TCP",    0, 1, "TCP; else UDP."),
            Field("TAGGED", 1, 1, "They came with a VLAN tag, which was taken out (STRIP of VLAN). 0 if FEATURES lacks "
                "VLAN."),
            Field("VID",    4, 12, "The VLAN of that tag, else 0."),
        ), width=16),
        *(Register(f"FLOW_MAC_{n}", 0x820 + 4*n, "wo", f"Octets {4*n} (bits 7:0) to {4*n + 3} with which they leave: of "
            "the addresses of the next station and of the other MAC.") for n in range(3)),
        Register("FLOW_FRAMES", 0x840, "ro", "Frames that were forwarded by the entry that READ named; wraps at 2**32."),
        Register("FLOW_OCTETS", 0x844, "ro", "Octets of their packets, from the IP header on; wraps at 2**32."),
        Register("FLOW_LAST", 0x848, "ro", "FLOW_STATUS.TIME of the last one, or of WRITE.", width=16),
    ))
    yield Register("FLOW_TAG", 0x81C, "wo", "The VLAN tag with which they leave. (If FEATURES has VLAN, too.)", (
        Field("TCI",     0, 16, "Its tag control information."),
        Field("INSERT", 16,  1, "They have one."),
    ), width=17, option="flow_tags")
    yield from (replace(register, option="flow_nat") for register in (
        Register("FLOW_NEW_SOURCE", 0x82C, "wo", "The source address with which they leave. (If FEATURES has FLOW_NAT, "
            "like the next three.)"),
        Register("FLOW_NEW_DESTINATION", 0x830, "wo", "Their destination address then,"),
        Register("FLOW_NEW_PORTS", 0x834, "wo", "and their ports."),
        Register("FLOW_SUMS", 0x838, "wo", "What is added to the one's complement sum that a checksum is the inverse of: "
            "for each 16 bits that change, the inverse of the old ones, and the new ones; octets as in a packet, the "
            "first one in bits 7:0.", (
            Field("NETWORK",   0, 16, "To that of the IP header: addresses, and TTL."),
            Field("TRANSPORT", 16, 16, "To that of TCP or UDP: addresses, and ports. A UDP checksum of 0 stays."),
        )),
    ))

# Queues: those of one direction, and how frames are spread over them ---------------------------------

# What of a packet is hashed, in the order of the bits of RSS_TYPES; the first that fits and is on counts.
RSS_TYPES = {
    "IPV4":     "IPv4 packets: both addresses.",
    "TCP_IPV4": "TCP over IPv4, and no fragment: addresses and ports.",
    "UDP_IPV4": "UDP over IPv4, likewise.",
    "IPV6":     "IPv6 packets: both addresses.",
    "TCP_IPV6": "TCP right behind an IPv6 header: addresses and ports.",
    "UDP_IPV6": "UDP, likewise.",
}


def _rss():
    """Receive-side scaling: which queue a received frame goes to."""
    yield Register("RSS_TYPES", 0x700, "rw", "What of a received packet is hashed, behind any number of VLAN tags. "
        "Ports are only hashed where their bit is set, addresses also where only that is. What is not hashed has the "
        "hash 0. (Since 1.4, like all that follow up to RSS_TABLE, if FEATURES has QUEUES.)",
        tuple(Field(name, bit, 1, description) for bit, (name, description) in enumerate(RSS_TYPES.items())),
        width=len(RSS_TYPES), option="queues")
    for n in range(2**RSS_TABLE_BITS//32):
        yield Register(f"RSS_TABLE_{n}", 0x710 + 4*n, "rw", f"The queues of frames whose hash has {32*n} (bit 0) to "
            f"{32*n + 31} as its lowest {RSS_TABLE_BITS} bits.", option="queues")
    for n in range(RSS_KEY_WORDS):
        yield Register(f"RSS_KEY_{n}", 0x720 + 4*n, "wo", f"Octets {4*n} (bits 7:0) to {4*n + 3} of the key of the "
            "Toeplitz hash; 0 after reset of the FPGA only.", option="queues")


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
        Field("RX1_ENABLE",  5, 1, "Receive to queue 1, as RX_ENABLE does to queue 0: a frame for a queue that is "
            "disabled is dropped. (Since 1.4, like the next one, if FEATURES has QUEUES.)", option="queues"),
        Field("TX1_ENABLE",  6, 1, "Transmit from queue 1, as TX_ENABLE does from queue 0.", option="queues"),
    ), width=5),
    Register("STATUS", 0x014, "ro", "State of the block.", (
        Field("RX_IDLE", 0, 1, "The Rx ring is stopped, no DMA of it is under way, and its FIFO is empty."),
        Field("TX_IDLE", 1, 1, "The Tx ring is stopped and no DMA of it is under way."),
        Field("RX_HALTED", 2, 1, "Memory refused to give descriptors or to take a status: the Rx ring takes no "
            "further descriptor, and drops what it receives, until it is disabled. (Since 1.1.)"),
        Field("TX_HALTED", 3, 1, "Likewise, the Tx ring: it sends nothing more until it is disabled. (Since 1.1.)"),
        Field("TX_PAUSED", 4, 1, "A pause frame of the other end is obeyed. (Since 1.3.)"),
        Field("RX_PAUSED", 5, 1, "The other end was told to pause. (Since 1.3.)"),
        Field("RX1_IDLE",   6, 1, "As RX_IDLE, of queue 1: its ring is stopped, and the FIFO holds no frame for it. "
            "(Since 1.4, like the next three, if FEATURES has QUEUES.)"),
        Field("TX1_IDLE",   7, 1, "As TX_IDLE, of queue 1."),
        Field("RX1_HALTED", 8, 1, "As RX_HALTED, of queue 1."),
        Field("TX1_HALTED", 9, 1, "As TX_HALTED, of queue 1."),
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
        Field("MERGE",       7, 1, "TCP segments that continue the frame before them are marked: CONTINUES of their "
            "descriptors. (Since 1.4.)"),
        Field("UNICAST",     8, 4, "So many further exact addresses: the UNICAST registers exist."),
        Field("TIMESTAMP",  14, 1, "There is a clock, and frames can be stamped with it: the TIME registers exist. "
            "(Since 1.4.)"),
        Field("QUEUES",     16, 2, "So many further queues in each direction: the RX1, TX1 and RSS registers exist. "
            "(Since 1.4.)"),
        Field("FLOW_ORDER", 20, 4, "If not 0, there is a flow table of 2**n entries: the FLOW registers exist. (Since "
            "1.5.)"),
        Field("FLOW_NAT",   24, 1, "It also changes addresses and ports. (Since 1.5.)"),
        Field("GATHER",     12, 1, "A sent frame may be in several pieces: MORE of their descriptors. (Since 1.4.)"),
        Field("SEGMENT",    13, 1, "TCP packets are cut into segments: SEGMENT of their descriptors. (Since 1.4.)"),
    ), option="features"),
    *_urgent(),
    *_unicast(),
    *_pause(),
    *_vlan(),
    *_time(),
    *_flows(),
)

# Ring and moderation registers, the same for both directions ---------------------------------------

DIRECTION = (
    Register("RING_BASE", 0x00, "rw", "Physical address of the ring, a multiple of 64."),
    Register("RING_ORDER", 0x04, "rw", f"The ring has 2**n descriptors, n from {MIN_RING_ORDER} to "
        f"{MAX_RING_ORDER}.", reset=8, width=4),
    Register("DOORBELL", 0x08, "wo", "Producer index: descriptors before it belong to the hardware.", (
        Field("INDEX", 0, INDEX_BITS, "Free-running index."),
    )),
    Register("COMPLETED", 0x0C, "ro", "Index of the first descriptor that is not completed. Linux' "
        "driver learns completions from memory."),
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
RX_BASE  = 0x100
TX_BASE  = 0x200
RX1_BASE = 0x500
TX1_BASE = 0x600

# What only reception has ---------------------------------------------------------------------------

def _pacing(prefix, base, option):
    yield Register(f"{prefix}_PACING_LONGEST", base + 0x48, "rw", "If not 0, the hardware chooses how many clocks the "
        f"first unreported completion waits: {prefix}_ABSOLUTE_TIMER, which must not be 0, while the time from "
        "interrupts to re-arms is less than half of all; an eighth of this, a quarter, a half for each eighth more; "
        "and all of this from seven eighths on. It decides every 32768 clocks. (Since 1.2, like the next one, if "
        "CAPABILITY has PACING.)", width=TIMER_BITS, option=option)
    yield Register(f"{prefix}_PACING", base + 0x4C, "ro", f"What it has chosen: 0 for {prefix}_ABSOLUTE_TIMER, 1 to 4 "
        f"for the parts of {prefix}_PACING_LONGEST.", width=3, option=option)


RX_ONLY = (
    *_rss(),
    *_pacing("RX", RX_BASE, "pacing"),
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


def _queues():
    """What the rings of queue 1 drop; those of queue 0 have counters without its number."""
    for n, name in enumerate(("RX_DROP_RING", "RX_DROP_BUFFER", "TX_DROP_LENGTH")):
        direction, rest = name.split("_", 1)
        yield _counter(f"{direction}1_{rest}", 0x3F4 + 4*n, f"as {name}, of queue 1." +
            " (Since 1.4, like the next two, if FEATURES has QUEUES.)"*(n == 0), option="queues")


def rmon_range(first, last):
    """In words."""
    if not last:
        return f"{first} octets up to MAX_FRAME"
    return f"{first} octets" if first == last else f"{first} to {last} octets"


STATISTICS += (*_rmon(),
    _counter("RX_VLAN_FILTERED", 0x3DC, "good frames for this station, but of other VLANs. (Since 1.4, if FEATURES has "
        "VLAN.)", option="vlan"),
    *_queues(),
    _counter("RX_FLOW_FRAMES", 0x3E0, "of RX_GOOD_FRAMES, those that left for the other MAC by the flow table. (Since 1.5, "
        "like the next one, if FEATURES has FLOW_ORDER.)", option="flows"),
    _counter("RX_FLOW_DROPS", 0x3E4, "of RX_GOOD_FRAMES, those that should have left so, but the flow FIFO was full, they "
        "were longer than the other MAC's Tx FIFO, or their entry ended while they waited.", option="flows"),
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
        Field("MORE",         18,  1, "Tx, if FEATURES has GATHER: the frame goes on in the next descriptor, and is sent "
            "when the last one of it was handed over. LENGTH is this piece's, at least 1, and no more than the FIFO holds "
            "for the frame. TX_CHECKSUM and TX_TAG count in the frame's first one. (Since 1.4.)"),
        Field("TIMESTAMP",    19,  1, "Tx: complete when the frame's start was sent, with TX_STAMP, if FEATURES has "
            "TIMESTAMP. Of a frame in pieces, in the last one; that of segments is the last segment's. (Since 1.4.)"),
        Field("SEGMENT",      20,  1, "Tx, in a frame's first descriptor, with MORE, if FEATURES has SEGMENT: it names the "
            "headers, and what follows is payload of any length, which is cut. LENGTH is that of the headers up to the "
            f"end of TCP's, even, and up to {HEADER_BYTES}. The word TX_SEGMENT is in TX_CHECKSUM's place. (Since 1.4.)"),
        Field("NETWORK",      21,  7, "Where the IP header starts, in units of 2 octets, in a descriptor with SEGMENT: an "
            "IPv6 header if its version is 6, else an IPv4 header. (Since 1.4.)"),
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
    Word("TX_STAMP", 0x8, "Tx, written back if STATUS has STAMPED: bits 31:0 of the time in ns at which the octet after "
        "the frame's start-of-frame delimiter left. (Since 1.4.)"),
    Word("TX_SEGMENT", 0x8, "Tx, in a descriptor with SEGMENT; written back as 0.", (
        Field("START",    0, 14, "Where the TCP header starts: from there on, each segment's checksum is summed. In its "
            "place, octet 16 of the TCP header, is the sum of the pseudo-header without a length. (Since 1.4.)"),
        Field("PAYLOAD", 16, 16, "Octets of payload in all descriptors that follow. If those have more or less, or if one "
            "of them is wrong, what is not a whole segment by then is not sent."),
    )),
    Word("TX_MSS", 0xC, "Tx, in a descriptor with SEGMENT; written back as STATUS.", (
        Field("MSS", 16, 14, "Octets of payload in each segment but the last. Bit 31 has to stay as it is. (Since 1.4.)"),
    )),
    Word("STATUS", 0xC, "Written back by the hardware when the descriptor completes.", (
        Field("LENGTH",     0, 16, "Rx: octets of the frame without FCS."),
        Field("MULTICAST", 16,  1, "Rx: the destination is a group address."),
        Field("BROADCAST", 17,  1, "Rx: the destination is the broadcast address."),
        Field("URGENT",    18,  1, "Rx: a comparison of the URGENT registers held. (Since 1.2.)"),
        Field("TAGGED",    19,  1, "Rx: a VLAN tag was taken out of the frame; TCI tells which. (Since 1.4.)"),
        Field("STAMPED",   20,  1, f"Rx: {STAMP_OCTETS} octets of time come ahead of the frame (TIME_CTRL). Tx: there is TX_STAMP, "
            "which was asked for; not if the ring was disabled before. (Since 1.4.)"),
        Field("CONTINUES", 21,  1, "Rx: a TCP segment that continues the frame of the descriptor before this one, if FEATURES "
            "has MERGE. Their headers agree, and its payload, of the same length or less, comes next; "
            "checksums were not looked at. (Since 1.4.)"),
        Field("ERROR",     30,  1, "The frame is lost: it did not fit the buffer, or memory refused some of it (Rx); "
            "the length was invalid, or memory refused to give some of it (Tx). LENGTH is 0. Of a frame in pieces, "
            "pieces before the one that went wrong may lack it, and all that follow have it."),
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
    for prefix, base, option in (("RX", RX_BASE, ""), ("TX", TX_BASE, ""),
            ("RX1", RX1_BASE, "queues"), ("TX1", TX1_BASE, "queues")):
        out += [replace(r, name=f"{prefix}_{r.name}", offset=base + r.offset, option=option) for r in DIRECTION]
    out += [*RX_ONLY, *_pacing("RX1", RX1_BASE, "queues_pacing"), *STATISTICS]
    assert len({r.name for r in out}) == len({r.offset for r in out}) == len(out)
    return sorted(out, key=lambda r: r.offset)


def bits(register, field):
    """The entry of a register's field."""
    [reg] = [r for r in registers() if r.name == register]
    [entry] = [f for f in reg.fields if f.name == field]
    return entry


def value(register, numbers):
    """A register's, of its fields' by name."""
    return sum(number << bits(register, field).lsb for field, number in numbers.items())


def options():
    """What the `option` of registers can be, all of it."""
    return sorted({register.option for register in registers() if register.option})


def counters(options=()):
    """Names of the counters that there are with these options, in address order."""
    return [register.name for register in registers()
        if register.counter and (not register.option or register.option in options)]

# SPDX-License-Identifier: BSD-2-Clause
"""The one table of registers, descriptor fields and event bits.

The Migen register file (register_file.py), the driver's header, the cocotb model of the driver and
docs/registers.md are made from this table. Nothing else defines an offset or a bit.

    ./moderato export      # rewrites linux-driver/moderato_regs.h and docs/registers.md

Offsets are stable: a register never moves and a field never changes its meaning within a major
version; new ones take free space and raise the minor version.
"""

from dataclasses import dataclass, replace

ID    = 0x4D6F6465  # "Mode" in ASCII.
MAJOR = 1
MINOR = 6
PLAIN_MINOR = 2  # Of an instance without FEATURES: the netlist is that of 1.2.

# Index arithmetic shared by hardware and software: ring indices run freely modulo 2**16, the slot
# is the index modulo the ring's size.
INDEX_BITS     = 16
MIN_RING_ORDER = 2   # 4 descriptors: one DMA burst.
MAX_RING_ORDER = 12  # 4096 descriptors.
TIMER_BITS     = 24  # 167 ms at 100 MHz.
FRAMES_BITS    = 16
URGENT_COMPARISONS = 2
MAX_UNICAST    = 8   # Further exact addresses.
STAMP_BITS     = 32  # Of a sent frame's time in its descriptor.
STAMP_OCTETS   = 8   # Of a received frame's time, ahead of the frame.
MAX_QUEUES     = 2   # In each direction.
RSS_KEY_WORDS  = 10  # 40 octets: as many as IPv6 addresses and ports need.
RSS_TABLE_BITS = 7   # Bits of the hash that choose one of 128 entries.
HEADER_BYTES   = 256 # The longest headers of a packet that is cut into segments.
FLOW_WAYS      = 4   # Places in the flow table where an entry may be.
MAX_FLOW_ORDER = 10  # The flow table has at most 2**n entries: each way has its own bits of the hash.
MAX_GATE_ORDER = 8   # A list of gates has at most 2**n entries.
SLOPE_FRACTION_BITS = 24 # Of a slope, in octets for each clock: its unit is 48 b/s at 100 MHz.
SLOPE_BITS     = SLOPE_FRACTION_BITS + 2 # The MAC needs 0.3 clocks for each octet of the wire.
CREDIT_BITS    = 16  # Of the highest and the lowest credit, in octets.
FLOW_TICK      = 20  # FLOW_LAST and FLOW_STATUS.TIME count 2**n clocks.

# Ranges of lengths that RFC 2819 counts, in octets: first and last, where 0 means MAX_FRAME.
RMON_RANGES = ((64, 64), (65, 127), (128, 255), (256, 511), (512, 1023), (1024, 1518), (1519, 0))

# Received frames start this many bytes into their buffer. Then the IP header is 4-byte aligned (the kernel's
# NET_IP_ALIGN), and the bus only carries aligned bursts.
RX_OFFSET = 2
# Rx buffers start at a multiple of the bus width; Tx frames may start at any byte.
RX_BUFFER_ALIGN = 8


@dataclass(frozen=True)
class Field:
    """Bits [lsb, lsb + width) of a register or of a descriptor word. `option`: see Register."""
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

    access   "ro": a value of the hardware. "rw": stored, reads return what was written. "wo": the write
             itself is the event, reads return 0.
    counter  "ro", and kept by statistics.py.
    option   only instances built with this option have the register.
    width    of an instance without the options of its fields.
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
        """The width in an instance with these options."""
        return max([self.width, *(f.lsb + f.width for f in self.fields if f.option in options)])


def _counter(name, offset, description, option=""):
    return Register(name, offset, "ro", f"Counter, wraps at 2**32: {description}", counter=True, option=option)


def _urgent():
    """Up to two comparisons, each of four octets."""
    numbers = range(URGENT_COMPARISONS)
    yield Register("URGENT", 0x040, "rw", "Which received frames raise an interrupt at once (subject to GAP), as if "
        "their descriptor had the INTERRUPT flag: those for which an enabled comparison holds. Octet 0 is the first "
        "one of the destination address. (Since 1.2, if CAPABILITY has URGENT.)", (
        *(field for n in numbers for field in (
            Field(f"ON_{n}",   8*n,     1, f"Comparison {n} is enabled."),
            Field(f"WORD_{n}", 8*n + 4, 4, f"The word that it compares is octets 4*WORD_{n} to 4*WORD_{n} + 3."))),
        Field("TOGETHER", 31, 1, "All enabled comparisons must hold."),
    ), option="urgent")
    for n in numbers:
        yield Register(f"URGENT_VALUE_{n}", 0x044 + 8*n, "rw", f"The value that comparison {n} expects, with the first octet in "
            "bits 7:0.", option="urgent")
        yield Register(f"URGENT_MASK_{n}", 0x048 + 8*n, "rw", f"The bits of URGENT_VALUE_{n} that are compared.", option="urgent")


def _unicast():
    """Further exact addresses, each in registers of its own."""
    for n in range(MAX_UNICAST):
        yield Register(f"UNICAST_LOW_{n}", 0x060 + 8*n, "rw", f"Further address {n}: octets 0 (bits 7:0) to 3 (bits "
            f"31:24). (Since 1.3, like the next one, if FEATURES has UNICAST of more than {n}.)", option=f"unicast_{n}")
        yield Register(f"UNICAST_HIGH_{n}", 0x064 + 8*n, "rw", f"The rest of further address {n}, and its enable.", (
            Field("OCTETS", 0, 16, "Octets 4 (bits 7:0) and 5."),
            Field("ON",    16,  1, "Frames to this address are accepted like those to the station address."),
        ), width=17, option=f"unicast_{n}")


def _pause():
    """Pause frames of IEEE 802.3 annex 31B."""
    yield from (replace(register, option="pause") for register in (
        Register("PAUSE", 0x0A0, "rw", "Pause frames. (Since 1.3, like the next four, if FEATURES has PAUSE.)", (
            Field("RX", 0, 1, "Obey pause frames: no frame starts during a pause. Pause frames and other MAC control "
                "frames to this station or to their group address are then not delivered. Clearing it ends a pause. "
                "It works with reception disabled, too."),
            Field("TX", 1, 1, "Send pause frames according to PAUSE_FIFO and PAUSE_RING, while reception is enabled "
                "and its ring is not halted. Clearing it ends the pause of the other end."),
        ), width=2),
        Register("PAUSE_QUANTUM", 0x0A4, "rw", "The unit of a pause: 512 bit times of the link, in clocks, rounded up.",
            reset=52, width=16),
        Register("PAUSE_QUANTA", 0x0A8, "rw", "The length of a requested pause in units, at least 16. The MAC repeats the "
            "request when half of it is over, up to 255 times in a row: after that, software seems to be stuck.", reset=0xFFFF,
            width=16),
        Register("PAUSE_FIFO", 0x0AC, "rw", "When the Rx FIFO of 2**RX_FIFO_ORDER octets requests a pause. It also "
            "requests one when a third of its frame records is in use, until only a sixth is.", (
            Field("STOP", 0, 16, "Request a pause when fewer octets than this are free, in steps of 8. 0: never."),
            Field("GO",  16, 16, "End the pause when this many are free."),
        )),
        Register("PAUSE_RING", 0x0B0, "rw", "When the Rx ring requests a pause.", (
            Field("STOP", 0, 16, "Request a pause when fewer descriptors than this are left to be fetched. 0: never."),
            Field("GO",  16, 16, "End the pause when this many are left."),
        )),
    ))


def _vlan():
    """VLAN tags of IEEE 802.1Q."""
    yield from (replace(register, option="vlan") for register in (
        Register("VLAN", 0x0B4, "rw", "VLAN tags of type 0x8100, after the addresses. (Since 1.4, like the next one, "
            "if FEATURES has VLAN.)", (
            Field("STRIP",  0, 1, "Rx: the MAC removes the tag of a frame and writes it to the descriptor (TAGGED, TCI). "
                "MAX_FRAME limits the frame without it. If there are two tags, the first one is removed."),
            Field("FILTER", 1, 1, "Rx: tagged frames are accepted only if their VLAN is in the table or 0, or if CTRL "
                "has PROMISCUOUS."),
            Field("INSERT", 2, 1, "Tx: descriptors may request a tag (TX_TAG)."),
        ), width=3),
        Register("VLAN_TABLE", 0x0B8, "wo", "Writes a row of the VLAN table: which of 16 VLANs are accepted. Write all "
            "256 rows before setting FILTER for the first time.", (
            Field("MEMBERS", 0, 16, "Bit n: VLAN 16*ROW + n is accepted."),
            Field("ROW",    16,  8, "Bits 11:4 of these VLANs."),
        )),
    ))


def _time():
    """The clock that frames are stamped with (ptp_clock.py)."""
    yield from (replace(register, option="timestamp") for register in (
        Register("TIME_CTRL", 0x400, "rw", "Time stamps. (Since 1.4, like all TIME registers, if FEATURES has "
            "TIMESTAMP.)", (
            Field("RX",     0, 1, f"The buffer of each received frame begins with {STAMP_OCTETS} octets: the time in ns, little "
                "endian, at which the octet after the start-of-frame delimiter arrived. The frame starts "
                f"{RX_OFFSET} bytes after them. STATUS of its descriptor has STAMPED."),
            Field("OUTPUT", 1, 1, "Enables the periodic output, which is low otherwise."),
        ), width=2),
        Register("TIME_COMMAND", 0x404, "wo", "Each bit is a command, which takes effect in one clock for both words of "
            "the time. Write one bit at a time.", (
            Field("SET",   0, 1, "Set the time to TIME_HIGH, TIME_LOW."),
            Field("STEP",  1, 1, "Add TIME_HIGH, TIME_LOW to the time: a signed number of ns."),
            Field("READ",  2, 1, "Copy the time to TIME_NOW_HIGH, TIME_NOW_LOW."),
            Field("START", 3, 1, "The periodic output next rises at TIME_HIGH, TIME_LOW. Required after enabling it, and "
                "after SET or STEP."),
        )),
        Register("TIME_LOW",  0x408, "rw", "Operand of TIME_COMMAND in ns, bits 31:0."),
        Register("TIME_HIGH", 0x40C, "rw", "Operand of TIME_COMMAND, bits 63:32."),
        Register("TIME_NOW_LOW",  0x410, "ro", "The time in ns that READ copied, bits 31:0."),
        Register("TIME_NOW_HIGH", 0x414, "ro", "The time that READ copied, bits 63:32."),
        Register("TIME_INCREMENT_NS", 0x418, "rw", "Whole ns that each clock adds to the time. Takes effect with the next "
            "write of TIME_INCREMENT.", width=8),
        Register("TIME_INCREMENT", 0x41C, "rw", "Fraction of the increment, in units of 2**-32 ns. A write sets both parts. "
            "The clock stands still until the first one."),
        Register("TIME_PERIOD", 0x420, "rw", "Period of the periodic output, in ns."),
        Register("TIME_WIDTH",  0x424, "rw", "High time of each period in ns, less than TIME_PERIOD."),
    ))


def _launch():
    """Frames that leave at their own time (gateware/schedule/)."""
    yield from (replace(register, option="launch") for register in (
        Register("LAUNCH_AHEAD", 0x0C0, "rw", "How much longer than at 1000 Mb/s a frame with LAUNCH takes through the "
            "MAC, in ns, so that it starts earlier. 0 at higher rates. (Since 1.6, like the next one, if FEATURES has "
            "LAUNCH.)", width=16),
        Register("LINK_OCTET", 0x0C4, "rw", "The time of an octet on the link, in ns: 8 at 1000 Mb/s, 80 at 100 Mb/s, 800 at "
            "10 Mb/s. The MAC derives from it how long a frame takes.", reset=8, width=10),
    ))


def _gates():
    """Gates of the Tx queues, which open and close by a list (IEEE 802.1Q; gateware/schedule/gates.py)."""
    yield from (replace(register, option="gates") for register in (
        Register("GATE_COMMAND", 0x900, "wo", "A command on the lists of gates. Write one bit at a time. (Since 1.6, like "
            "all GATE registers, if FEATURES has GATE_ORDER.)", (
            Field("START",  0, 1, "At the time in GATE_BASE, the MAC takes over the list that was written, with GATE_CYCLE, "
                "GATE_EXTENSION and GATE_LENGTH as they are now. If that time is over, it takes over the list at the "
                "first later time that is a whole number of cycles after it: the search takes 4 clocks for each "
                "cycle. Ignored while GATE_STATUS has PENDING."),
            Field("STOP",   1, 1, "End all lists: the gates are open."),
            Field("CANCEL", 2, 1, "Forget the list that is PENDING. It may be written again then."),
        )),
        Register("GATE_STATUS", 0x904, "ro", "State of the gates.", (
            Field("RUNNING", 0, 1, "The MAC obeys a list. Otherwise all gates are open."),
            Field("PENDING", 1, 1, "A list waits for its base time. All frames leave before that, as if all gates closed then."),
        )),
        Register("GATE_BASE_LOW",  0x908, "rw", "When the list begins: time in ns, bits 31:0."),
        Register("GATE_BASE_HIGH", 0x90C, "rw", "The same, bits 63:32."),
        Register("GATE_CYCLE", 0x910, "rw", "The list's cycle in ns: 1000 at least, less than 2**30. The last entry lasts until "
            "its end, and entries after its end do not count."),
        Register("GATE_EXTENSION", 0x914, "rw", "ns by which the last cycle may be longer if another list follows: a cycle "
            "that were shorter than that does not begin."),
        Register("GATE_LENGTH", 0x918, "rw", "Entries of the list, 1 at least.", width=MAX_GATE_ORDER + 1),
        Register("GATE_INDEX", 0x91C, "wo", "The number of the next entry to be written.", (
            Field("INDEX", 0, MAX_GATE_ORDER, "The first entry is 0."),
        ), width=MAX_GATE_ORDER),
        Register("GATE_ENTRY", 0x920, "wo", "Writes an entry of the list that START takes over, and increments the number "
            "in GATE_INDEX. Ignored while GATE_STATUS has PENDING. After a takeover, all entries of the next list must be "
            "written.", (
            Field("INTERVAL", 0, 30, "How long the entry lasts, in ns."),
            Field("OPEN",    30,  2, "The queues whose gates are open: bit n is queue n's."),
        )),
    ))

# Flows that the hardware forwards ------------------------------------------------------------------

def _flows():
    """The flow table (gateware/flows/), for frames that this MAC receives and its pair's other MAC sends."""
    yield from (replace(register, option="flows") for register in (
        Register("FLOW_CTRL", 0x800, "rw", "Forwarding in hardware: the other MAC of the pair sends an IPv4 packet of TCP "
            "or UDP whose flow is in the flow table, if that MAC has TX_ENABLE. Software still receives all other frames: "
            "those that are not for the station's own address, fragments, IP options, a TTL of 0 or 1, TCP with SYN, "
            "FIN or RST, a wrong length or header checksum. (Since 1.5, like all FLOW registers, if FEATURES has "
            "FLOW_ORDER.)", (
            Field("ENABLE", 0, 1, "Look frames up. When it is cleared, frames that arrive later go to software."),
            Field("MTU",   16, 14, "Octets of the longest forwarded packet: the MTU of the other MAC's link."),
        ), width=30),
        Register("FLOW_COMMAND", 0x804, "wo", "A command on one entry of the table. Write one bit at a time; while "
            "FLOW_STATUS has BUSY, commands are ignored. Entry e is in way e >> (FLOW_ORDER - 2). In way w, a flow's "
            "entry has to be at (hash >> w*(FLOW_ORDER - 2)) modulo 2**(FLOW_ORDER - 2). The hash is the CRC-32 of "
            "FLOW_KIND, FLOW_SOURCE, FLOW_DESTINATION and FLOW_PORTS, bits 7:0 of each first: crc32_le(~0, ...) in "
            "Linux. A flow must not have entries in two ways.", (
            Field("ENTRY",   0, 10, "The number of the entry."),
            Field("WRITE",  16, 1, "Replace the entry with the contents of the registers below, and clear its counters."),
            Field("REMOVE", 17, 1, "Remove the entry."),
            Field("READ",   18, 1, "Copy the entry's counters to FLOW_FRAMES, FLOW_OCTETS and FLOW_LAST. An entry keeps its "
                "counters after REMOVE, until the next WRITE."),
            Field("CLEAR",  19, 1, "Remove all entries, as a reset does."),
        )),
        Register("FLOW_STATUS", 0x808, "ro", "State of the flow table.", (
            Field("BUSY",  0, 1, "A command is in progress. When WRITE, REMOVE or CLEAR is over, no more frames leave by the "
                "old entry: the hardware drops those that still wait."),
            Field("PEER",  1, 1, "The other MAC has TX_ENABLE."),
            Field("TIME", 16, 16, f"Time for FLOW_LAST, in units of 2**{FLOW_TICK} clocks."),
        )),
        Register("FLOW_SOURCE", 0x80C, "wo", "IPv4 source address of the packets, with the first octet in bits 7:0."),
        Register("FLOW_DESTINATION", 0x810, "wo", "IPv4 destination address, likewise."),
        Register("FLOW_PORTS", 0x814, "wo", "Ports as in the packet: the source port's first octet in bits 7:0."),
        Register("FLOW_KIND", 0x818, "wo", "Protocol and VLAN of the packets.", (
            Field("TCP",    0, 1, "TCP; else UDP."),
            Field("TAGGED", 1, 1, "They arrived with a VLAN tag, which was removed (STRIP of VLAN). 0 if FEATURES lacks "
                "VLAN."),
            Field("VID",    4, 12, "The VLAN of that tag, or 0."),
        ), width=16),
        *(Register(f"FLOW_MAC_{n}", 0x820 + 4*n, "wo", f"Octets {4*n} (bits 7:0) to {4*n + 3} of the sent "
            "packets: the addresses of the next hop and of the other MAC.") for n in range(3)),
        Register("FLOW_FRAMES", 0x840, "ro", "Frames forwarded by the entry of the last READ; wraps at 2**32."),
        Register("FLOW_OCTETS", 0x844, "ro", "Octets of their packets, from the IP header on; wraps at 2**32."),
        Register("FLOW_LAST", 0x848, "ro", "FLOW_STATUS.TIME of the last frame, or of WRITE if there was none.", width=16),
    ))
    yield Register("FLOW_TAG", 0x81C, "wo", "The VLAN tag of the sent packets. (If FEATURES has VLAN, too.)", (
        Field("TCI",     0, 16, "Tag control information."),
        Field("INSERT", 16,  1, "Insert the tag."),
    ), width=17, option="flow_tags")
    yield from (replace(register, option="flow_nat") for register in (
        Register("FLOW_NEW_SOURCE", 0x82C, "wo", "Source address of the sent packets. (If FEATURES has FLOW_NAT, "
            "like the next three.)"),
        Register("FLOW_NEW_DESTINATION", 0x830, "wo", "Destination address of the sent packets."),
        Register("FLOW_NEW_PORTS", 0x834, "wo", "Ports of the sent packets."),
        Register("FLOW_SUMS", 0x838, "wo", "Corrections of the checksums, added to the one's complement sum whose inverse is "
            "the checksum. For each 16-bit word that changes, add the inverse of the old value and the new value. Octets "
            "are in the order of the packet, the first one in bits 7:0.", (
            Field("NETWORK",   0, 16, "For the IP header: addresses and TTL."),
            Field("TRANSPORT", 16, 16, "For TCP or UDP: addresses and ports. A UDP checksum of 0 stays 0."),
        )),
    ))

# Queues: those of one direction, and how frames are spread over them ---------------------------------

# Hashed fields, in the order of the bits of RSS_TYPES: the first enabled bit that matches counts.
RSS_TYPES = {
    "IPV4":     "IPv4 packets: both addresses.",
    "TCP_IPV4": "TCP over IPv4, without fragments: addresses and ports.",
    "UDP_IPV4": "UDP over IPv4, likewise.",
    "IPV6":     "IPv6 packets: both addresses.",
    "TCP_IPV6": "TCP directly after an IPv6 header: addresses and ports.",
    "UDP_IPV6": "UDP, likewise.",
}


def _rss():
    """Receive-side scaling: which queue a received frame goes to."""
    yield Register("RSS_TYPES", 0x700, "rw", "Which fields of a received packet are hashed, after any number of VLAN "
        "tags. If only the bit of the addresses is set, ports are not hashed. A frame that matches no bit has the hash 0. "
        "(Since 1.4, like all that follow up to RSS_TABLE, if FEATURES has QUEUES.)",
        tuple(Field(name, bit, 1, description) for bit, (name, description) in enumerate(RSS_TYPES.items())),
        width=len(RSS_TYPES), option="queues")
    for n in range(2**RSS_TABLE_BITS//32):
        yield Register(f"RSS_TABLE_{n}", 0x710 + 4*n, "rw", f"The queues of the hash values {32*n} (bit 0) to {32*n + 31}, "
            f"taken from the lowest {RSS_TABLE_BITS} bits of the hash.", option="queues")
    for n in range(RSS_KEY_WORDS):
        yield Register(f"RSS_KEY_{n}", 0x720 + 4*n, "wo", f"Octets {4*n} (bits 7:0) to {4*n + 3} of the key of the "
            "Toeplitz hash. Only the FPGA's configuration sets it to 0; a reset does not.", option="queues")


# Global registers ---------------------------------------------------------------------------------

GLOBAL = (
    Register("ID", 0x000, "ro", "Identifies the block: reads 0x%08x." % ID),
    Register("VERSION", 0x004, "ro", "Version of this register map.", (
        Field("MAJOR", 16, 16, "Incompatible changes."),
        Field("MINOR",  0, 16, f"Compatible additions; {PLAIN_MINOR} in an instance without FEATURES."),
    )),
    Register("CLOCK_HZ", 0x008, "ro", "Frequency of the clock that moderation timers count, in Hz."),
    Register("CAPABILITY", 0x00C, "ro", "What this instance was built with.", (
        Field("MAX_RING_ORDER",  0,  4, "Largest ring is 2**n descriptors."),
        Field("TIMER_BITS",      8,  5, "Width of the moderation timers."),
        Field("RX_FIFO_ORDER",  16,  4, "The Rx frame FIFO holds 2**n bytes."),
        Field("TX_FIFO_ORDER",  20,  4, "The Tx frame FIFO holds 2**n bytes."),
        Field("URGENT",         24,  1, "Frames can be urgent: the URGENT registers exist. (Since 1.2.)"),
        Field("PACING",         25,  1, "Rx moderation can be adaptive: the RX_PACING registers exist. (Since 1.2.)"),
        Field("RATES",          26,  1, "On RGMII, the PHY interface works at 10 and 100 Mb/s, too. (Since 1.2.)"),
    )),
    Register("CTRL", 0x010, "rw", "Enables. Clearing an enable stops that direction at a frame boundary, and "
        "resets its ring indices once STATUS shows it idle; enable it again only then. Rx: the MAC drops the frames in "
        "the FIFO. Tx: it reads no further frame from memory, but still sends the frames whose descriptors completed.", (
        Field("RX_ENABLE",   0, 1, "Receive."),
        Field("TX_ENABLE",   1, 1, "Transmit."),
        Field("PROMISCUOUS", 2, 1, "Accept every destination."),
        Field("ALLMULTI",    3, 1, "Accept every multicast destination."),
        Field("HALT_INTERRUPT", 4, 1, "A direction that is armed raises its interrupt while its ring is halted. "
            "(Since 1.1.)"),
        Field("RX1_ENABLE",  5, 1, "Receive to queue 1, as RX_ENABLE does to queue 0: a frame for a disabled queue is "
            "dropped. (Since 1.4, like the next one, if FEATURES has QUEUES.)", option="queues"),
        Field("TX1_ENABLE",  6, 1, "Transmit from queue 1, as TX_ENABLE does from queue 0.", option="queues"),
    ), width=5),
    Register("STATUS", 0x014, "ro", "State of the block.", (
        Field("RX_IDLE", 0, 1, "The Rx ring is stopped, has no DMA in progress, and its FIFO is empty."),
        Field("TX_IDLE", 1, 1, "The Tx ring is stopped and has no DMA in progress."),
        Field("RX_HALTED", 2, 1, "The bus returned an error for a descriptor read or a status write: the Rx ring "
            "takes no further descriptor and drops received frames until it is disabled. (Since 1.1.)"),
        Field("TX_HALTED", 3, 1, "Likewise for the Tx ring, which sends nothing more until it is disabled. (Since 1.1.)"),
        Field("TX_PAUSED", 4, 1, "The MAC is paused by the other end. (Since 1.3.)"),
        Field("RX_PAUSED", 5, 1, "The MAC has requested a pause of the other end. (Since 1.3.)"),
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
        Field("VLAN",        5, 1, "VLAN tags can be removed and inserted: the VLAN registers exist. (Since 1.4.)"),
        Field("VLAN_FILTER", 6, 1, "Tagged frames can be filtered by their VLAN. (Since 1.4.)"),
        Field("MERGE",       7, 1, "TCP segments that continue the frame before them are marked: CONTINUES of their "
            "descriptors. (Since 1.4.)"),
        Field("UNICAST",     8, 4, "Number of further exact addresses: the UNICAST registers exist."),
        Field("TIMESTAMP",  14, 1, "There is a clock, and frames can be time-stamped: the TIME registers exist. "
            "(Since 1.4.)"),
        Field("LAUNCH",     15, 1, "Sent frames can wait for a time of their own: LAUNCH of descriptors, and the LAUNCH "
            "registers exist. (Since 1.6.)"),
        Field("QUEUES",     16, 2, "Number of further queues in each direction: the RX1, TX1 and RSS registers exist. "
            "(Since 1.4.)"),
        Field("FLOW_ORDER", 20, 4, "If not 0, there is a flow table of 2**n entries: the FLOW registers exist. (Since "
            "1.5.)"),
        Field("FLOW_NAT",   24, 1, "Flows can change addresses and ports: the FLOW_NEW registers exist. (Since 1.5.)"),
        Field("GATE_ORDER", 26, 4, "If not 0, gates of the Tx queues follow a list of up to 2**n entries: the GATE registers "
            "exist. (Since 1.6.)"),
        Field("SHAPER",     30, 1, "Each Tx queue has a credit-based shaper: the SHAPER, SLOPE and CREDIT registers exist. "
            "(Since 1.6.)"),
        Field("GATHER",     12, 1, "A sent frame may have several pieces: MORE of descriptors. (Since 1.4.)"),
        Field("SEGMENT",    13, 1, "TCP packets can be cut into segments: SEGMENT of descriptors. (Since 1.4.)"),
    ), option="features"),
    *_urgent(),
    *_unicast(),
    *_pause(),
    *_vlan(),
    *_time(),
    *_launch(),
    *_gates(),
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
    Register("COMPLETED", 0x0C, "ro", "Index of the first descriptor that is not completed. Linux' driver "
        "reads completions from memory instead."),
    Register("FRAMES", 0x10, "rw", "Raise when this many completions are unreported; 0 = never for "
        "this reason.", width=FRAMES_BITS),
    Register("PACKET_TIMER", 0x14, "rw", "Raise when there are unreported completions and no further one for this "
        "many clocks after the latest; 0 = never for this reason. All three timers stop when they reach their setting: "
        "if a setting grows later, the time since then does not count.", width=TIMER_BITS),
    Register("ABSOLUTE_TIMER", 0x18, "rw", "Raise this many clocks after the first unreported completion; 0 = never "
        "for this reason.", width=TIMER_BITS),
    Register("GAP", 0x1C, "rw", "Shortest time in clocks between two interrupts.", width=TIMER_BITS),
    Register("REARM", 0x20, "wo", "Drops the line and arms the next interrupt. Completions at or after the index "
        "count as unreported at once. The index may be up to 15 ahead of COMPLETED, because memory shows completions "
        "first.", (
        Field("INDEX", 0, INDEX_BITS, "Free-running consumer index: the driver has seen all completions before it."),
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

# Only for transmission ------------------------------------------------------------------------------

def _shaper(prefix, base):
    """The credit-based shaper of a queue (IEEE 802.1Q; gateware/schedule/shaper.py)."""
    unit = f"in units of 2**-{SLOPE_FRACTION_BITS} octets for each clock"
    yield from (replace(register, name=f"{prefix}_{register.name}", offset=base + register.offset, option="shaper")
        for register in (
            Register("SHAPER", 0x50, "rw", "The credit-based shaper of the queue. (Since 1.6, like the next four, if FEATURES has "
                "SHAPER.)", (
                Field("ON", 0, 1, "A frame starts only while the queue's credit is not negative. When the bit is 0, "
                    "so is the credit, and the queue is not limited."),
            ), width=1),
            Register("IDLE_SLOPE", 0x54, "rw", f"How fast the credit rises while a frame waits, {unit}.", width=SLOPE_BITS),
            Register("SEND_SLOPE", 0x58, "rw", f"How fast it falls while a frame is on the wire, {unit}, without sign. "
                "The sum of the two slopes is the rate of the link.", width=SLOPE_BITS),
            Register("HIGH_CREDIT", 0x5C, "rw", "The highest credit, in octets.", width=CREDIT_BITS),
            Register("LOW_CREDIT", 0x60, "rw", "The lowest credit when a frame has left, in octets, without sign.",
                reset=2**CREDIT_BITS - 1, width=CREDIT_BITS),
        ))


TX_ONLY = tuple(_shaper("TX", TX_BASE))

# Only for reception --------------------------------------------------------------------------------

def _pacing(prefix, base, option):
    yield Register(f"{prefix}_PACING_LONGEST", base + 0x48, "rw", "If not 0, the hardware chooses the absolute timer every "
        "32768 clocks, by the share of the time between an interrupt and its re-arm. Below 4/8 it is "
        f"{prefix}_ABSOLUTE_TIMER, which must not be 0; from 4/8, 5/8, 6/8 and 7/8 on it is an eighth, a quarter, a half "
        "and all of this register. (Since 1.2, like the next one, if CAPABILITY has PACING.)", width=TIMER_BITS, option=option)
    yield Register(f"{prefix}_PACING", base + 0x4C, "ro", f"The current choice: 0 for {prefix}_ABSOLUTE_TIMER, 1 to "
        f"4 for an eighth, a quarter, a half and all of {prefix}_PACING_LONGEST.", width=3, option=option)


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
    _counter("RX_DROP_FIFO", 0x318, "frames dropped because the Rx FIFO was full (the bus was too slow)."),
    _counter("RX_DROP_RING", 0x31C, "good frames dropped because the ring held no descriptor, or was halted."),
    _counter("RX_DROP_BUFFER", 0x320, "good frames dropped because they did not fit the descriptor's buffer."),
    _counter("TX_GOOD_FRAMES", 0x340, "frames handed to the wire."),
    _counter("TX_GOOD_OCTETS", 0x344, "their octets, destination address to FCS."),
    _counter("TX_DROP_LENGTH", 0x348, "descriptors whose length was 0 or exceeded the FIFO; completed with ERROR."),
    _counter("DMA_ERRORS", 0x360, "bus errors of the DMA."),
    _counter("RX_PAUSE_FRAMES", 0x380, "pause frames that the MAC obeyed. (Since 1.3, like the next two, if FEATURES has "
        "PAUSE.)", option="pause"),
    _counter("RX_CONTROL_UNKNOWN", 0x384, "MAC control frames with another opcode, dropped.", option="pause"),
    _counter("TX_PAUSE_FRAMES", 0x388, "pause frames handed to the wire; TX_GOOD_FRAMES counts them, too.",
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
    for direction, which in (("RX", "frames received, delivered or not,"), ("TX", "frames handed to the wire")):
        for first, last in RMON_RANGES:
            counted[f"{direction}_OCTETS_{first}"] = f"{which} of {rmon_range(first, last)}."
    for n, (name, description) in enumerate(counted.items()):
        yield _counter(name, 0x38C + 4*n, description, option="rmon")


def _queues():
    """Drops of the rings of queue 1. The counters of queue 0 have no number."""
    for n, name in enumerate(("RX_DROP_RING", "RX_DROP_BUFFER", "TX_DROP_LENGTH")):
        direction, rest = name.split("_", 1)
        yield _counter(f"{direction}1_{rest}", 0x3F4 + 4*n, f"like {name}, for queue 1." +
            " (Since 1.4, like the next two, if FEATURES has QUEUES.)"*(n == 0), option="queues")


def rmon_range(first, last):
    """The range in words."""
    if not last:
        return f"{first} octets up to MAX_FRAME"
    return f"{first} octets" if first == last else f"{first} to {last} octets"


STATISTICS += (*_rmon(),
    _counter("RX_VLAN_FILTERED", 0x3DC, "good frames for this station in other VLANs. (Since 1.4, if FEATURES has "
        "VLAN.)", option="vlan"),
    *_queues(),
    _counter("RX_FLOW_FRAMES", 0x3E0, "of RX_GOOD_FRAMES, those that the flow table sent to the other MAC. (Since 1.5, "
        "like the next one, if FEATURES has FLOW_ORDER.)", option="flows"),
    _counter("RX_FLOW_DROPS", 0x3E4, "of RX_GOOD_FRAMES, those of a known flow that were dropped: the flow FIFO was full, "
        "the frame was longer than the other MAC's Tx FIFO, or its entry ended while it waited.", option="flows"),
    _counter("TX_LAUNCH_LATE", 0x3E8, "of TX_GOOD_FRAMES, those sent after the time of their LAUNCH. (Since 1.6, like the "
        "next one, if FEATURES has LAUNCH.)", option="launch"),
    _counter("TX_LAUNCH_DROPS", 0x3EC, "frames with LAUNCH that were dropped: too late with DROP_LATE, or still waiting for "
        "their time when their ring was disabled. If FEATURES has GATE_ORDER, also any frame that waited for its gate then.", option="launch"),
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
    Word("ADDRESS", 0x0, f"Physical address of the buffer. Rx: a multiple of {RX_BUFFER_ALIGN}; "
        f"the frame starts {RX_OFFSET} bytes into the buffer."),
    Word("CONTROL", 0x4, "Requests of the driver.", (
        Field("LENGTH",        0, 16, "Tx: octets of the frame without FCS. Rx: size of the buffer, rounded down to "
            f"a multiple of {RX_BUFFER_ALIGN}."),
        Field("INTERRUPT",    16,  1, "Raise at once when this descriptor completes (subject to GAP)."),
        Field("NO_INTERRUPT", 17,  1, "This completion does not count for any interrupt condition."),
        Field("MORE",         18,  1, "Tx, if FEATURES has GATHER: the frame continues in the next descriptor, and is sent "
            "when its last descriptor was handed over. LENGTH is that of this piece, at least 1; the whole frame must fit "
            "the FIFO. TX_CHECKSUM and TX_TAG count in the first descriptor of a frame. (Since 1.4.)"),
        Field("TIMESTAMP",    19,  1, "Tx, if FEATURES has TIMESTAMP: complete when the start of the frame was sent, with "
            "TX_STAMP. A frame in pieces requests it in its last descriptor. Segments get the stamp of the last one. (Since "
            "1.4.)"),
        Field("SEGMENT",      20,  1, "Tx, in a frame's first descriptor, with MORE, if FEATURES has SEGMENT: this "
            "descriptor has the headers, and the next ones have payload of any length, which the hardware cuts into "
            f"segments. LENGTH is that of all headers including TCP's, even, and up to {HEADER_BYTES}. TX_SEGMENT is in the "
            "place of TX_CHECKSUM. (Since 1.4.)"),
        Field("NETWORK",      21,  7, "In a descriptor with SEGMENT: offset of the IP header in units of 2 octets. It is an "
            "IPv6 header if its version is 6, else an IPv4 header. (Since 1.4.)"),
        Field("LAUNCH",       28,  1, "Tx, if FEATURES has LAUNCH: the frame leaves at the time in TX_LAUNCH, which is in the "
            "place of TX_CHECKSUM: the frame has no such request. Frames of a queue leave in their order. (Since 1.6.)"),
        Field("DROP_LATE",    29,  1, "With LAUNCH: the frame is dropped if its time is over (TX_LAUNCH_DROPS). With "
            "TIMESTAMP, it then completes with ERROR. Without this bit, it is sent as soon as possible "
            "(TX_LAUNCH_LATE). (Since 1.6.)"),
    )),
    Word("RX_CHECKSUM", 0x8, "Rx, written back by the hardware: 0 except for these fields.", (
        Field("SUM", 0, 16, "If FEATURES has RX_CHECKSUM: one's complement sum of the frame from octet 14 to its end "
            "without FCS. The first octet of each pair counts as bits 7:0, so the octets of SUM are in the order of the "
            "frame in memory. 0 with ERROR. (Since 1.3.)"),
        Field("TCI", 16, 16, "Tag control information of the removed tag, if STATUS has TAGGED. (Since 1.4.)"),
    )),
    Word("TX_CHECKSUM", 0x8, "Tx, request of the driver if FEATURES has TX_CHECKSUM; written back as 0. The hardware "
        "never changes other octets of the frame.", (
        Field("START",   0, 14, "First octet to sum; the sum goes to the end of the frame. Bit 0 counts as 0. If it is "
            "after the end, the sum is 0. (Since 1.3, like the next two.)"),
        Field("PLACE",  16, 14, "First of the two octets that the result replaces; bit 0 counts as 0. The sum includes "
            "their contents in memory. Octets after the end of the frame are not sent."),
        Field("INSERT", 31,  1, "Insert the inverted sum, or 0xffff if that is 0."),
    )),
    Word("TX_TAG", 0xC, "Tx, request of the driver if FEATURES has VLAN and the register VLAN has INSERT. It must not "
        "change bit 31, PHASE of STATUS.", (
        Field("TAG",     0, 16, "Tag control information: PCP, DEI, VID."),
        Field("TAGGED", 30,  1, "Send a VLAN tag with TAG after the addresses. LENGTH, START and PLACE are those of the "
            "frame in memory, without the tag. (Since 1.4.)"),
    )),
    Word("TX_STAMP", 0x8, "Tx, written back if STATUS has STAMPED: bits 31:0 of the time in ns at which the octet after "
        "the frame's start-of-frame delimiter left. (Since 1.4.)"),
    Word("TX_LAUNCH", 0x8, "Tx, in a descriptor with LAUNCH: bits 31:0 of the time in ns at which the octet after the "
        "frame's start-of-frame delimiter shall leave, as TX_STAMP would report it; less than 2**31 ns ahead. Written back "
        "as 0, or as TX_STAMP. (Since 1.6.)"),
    Word("TX_SEGMENT", 0x8, "Tx, in a descriptor with SEGMENT; written back as 0.", (
        Field("START",    0, 14, "Offset of the TCP header, from which the checksum of each segment is summed. Octets 16 "
            "and 17 of the TCP header must hold the sum of the pseudo-header without a length. (Since 1.4.)"),
        Field("PAYLOAD", 16, 16, "Octets of payload in all descriptors that follow. If they have another sum, or if one of "
            "them is invalid, the hardware does not send the segment that is incomplete then."),
    )),
    Word("TX_MSS", 0xC, "Tx, in a descriptor with SEGMENT; written back as STATUS.", (
        Field("MSS", 16, 14, "Octets of payload in each segment but the last. The driver must not change bit 31. (Since "
            "1.4.)"),
    )),
    Word("STATUS", 0xC, "Written back by the hardware when the descriptor completes.", (
        Field("LENGTH",     0, 16, "Rx: octets of the frame without FCS."),
        Field("MULTICAST", 16,  1, "Rx: the destination is a group address."),
        Field("BROADCAST", 17,  1, "Rx: the destination is the broadcast address."),
        Field("URGENT",    18,  1, "Rx: a comparison of the URGENT registers held. (Since 1.2.)"),
        Field("TAGGED",    19,  1, "Rx: the VLAN tag TCI was removed from the frame. (Since 1.4.)"),
        Field("STAMPED",   20,  1, f"Rx: {STAMP_OCTETS} octets of time precede the frame (TIME_CTRL). Tx: TX_STAMP has the requested "
            "time. Not set if the ring was disabled before. (Since 1.4.)"),
        Field("CONTINUES", 21,  1, "Rx, if FEATURES has MERGE: a TCP segment that continues the frame of the previous "
            "descriptor. Their headers agree, and its payload, of the same length or less, comes next. The hardware does "
            "not check checksums. (Since 1.4.)"),
        Field("ERROR",     30,  1, "The frame is lost and LENGTH is 0. Rx: it did not fit the buffer, or a write failed. "
            "Tx: the length was invalid, or a read failed. Of a frame in pieces, those before the failed piece may lack "
            "ERROR, and all later ones have it."),
        Field("PHASE",     31,  1, "Completed in this pass: the inverse of bit RING_ORDER of the free-running "
            "index, so 1 in the first pass over a zeroed ring."),
    )),
)

# Event pulses of the MAC, for a simulator or a logic analyser ----------------------------------------

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
    out += [*TX_ONLY, *_shaper("TX1", TX1_BASE), *RX_ONLY, *_pacing("RX1", RX1_BASE, "queues_pacing"), *STATISTICS]
    assert len({r.name for r in out}) == len({r.offset for r in out}) == len(out)
    return sorted(out, key=lambda r: r.offset)


def bits(register, field):
    """A field of a register."""
    [reg] = [r for r in registers() if r.name == register]
    [entry] = [f for f in reg.fields if f.name == field]
    return entry


def value(register, numbers):
    """The value of a register, from the values of its fields by name."""
    return sum(number << bits(register, field).lsb for field, number in numbers.items())


def options():
    """All options that registers name."""
    return sorted({register.option for register in registers() if register.option})


def counters(options=()):
    """Names of the counters of an instance with these options, in address order."""
    return [register.name for register in registers()
        if register.counter and (not register.option or register.option in options)]

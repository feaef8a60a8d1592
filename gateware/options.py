# SPDX-License-Identifier: BSD-2-Clause
"""The one table of a MAC's options.

ModeratoMAC, add_moderato and the stand-alone generator offer these options; pages and the synthesis table
list them; FEATURES and CAPABILITY report them to software. All of them read this table. It imports
Python's standard library only, so `moderato verilog --help` lists the options before LiteX is installed.
"""

from dataclasses import dataclass, field, fields
from difflib     import get_close_matches

from moderato.gateware.registers import table as registers
from moderato.gateware.rings     import IN_FLIGHT

# FIFOs of 2**n octets have room for a jumbo frame and for the octets that move meanwhile.
JUMBO_ORDER = 14

# Octets that still arrive after a request for a pause, besides one frame each way: the pause frame's own time, and
# the delay until the other end obeys.
PAUSE_OCTETS = 512

# The smallest flow table: each way has two entries.
LEAST_FLOW_ORDER = 3

# The shortest list of gates.
LEAST_GATE_ORDER = 6

# Each of these options adds a FIFO for each Tx queue, and a scheduler that chooses between the queues.
SCHEDULED = ("launch", "shaper")

# Option -------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Option:
    """One option.

    meaning  in words that can follow "with".
    least, most
             the range; 0 and 1 for a switch.
    needs    options that it depends on.
    tells    fields of registers, REGISTER.FIELD, that report its value to software,
    without  less this number, which every MAC has.
    """
    name:    str
    default: int
    meaning: str
    least:   int   = 0
    most:    int   = 1
    needs:   tuple = ()
    tells:   tuple = ()
    without: int   = 0

    @property
    def is_switch(self):
        return isinstance(self.default, bool)

    def check(self, value):
        """Raises ValueError."""
        if self.is_switch:
            if value not in (False, True):
                raise ValueError(f"{self.name} must be True or False, not {value!r}: {self.meaning}.")
        elif isinstance(value, bool) or not hasattr(value, "__index__") or not self.least <= value <= self.most:
            raise ValueError(f"{self.name} must be {self.least} to {self.most}, not {value!r}: {self.meaning}.")


def option(default, meaning, **facts):
    return field(default=default, metadata={"meaning": meaning, **facts})

# Options of a MAC ---------------------------------------------------------------------------------

@dataclass(frozen=True, kw_only=True)
class MACOptions:
    """The options of a MAC; without any, the MAC of the published figures. Raises ValueError."""
    rx_fifo_order: int = option(13, "an Rx FIFO of 2^N octets: a frame must fit",
        least=11, most=14)
    tx_fifo_order: int = option(12, "a Tx FIFO of 2^N octets: a frame must fit",
        least=11, most=14)
    max_frames: int = option(64, "the number of frames in each FIFO: more than can be in progress in all queues",
        least=IN_FLIGHT + 1, most=4096)
    urgent: bool = option(False, "urgent frames, which raise their interrupt at once",
        tells=("CAPABILITY.URGENT",))
    pacing: bool = option(False, "adaptive Rx moderation",
        tells=("CAPABILITY.PACING",))
    rx_checksum: bool = option(False, "sums of received frames",
        tells=("FEATURES.RX_CHECKSUM",))
    tx_checksum: bool = option(False, "checksums of sent frames",
        tells=("FEATURES.TX_CHECKSUM",))
    unicast: int = option(0, "further unicast addresses",
        most=registers.MAX_UNICAST, tells=("FEATURES.UNICAST",))
    pause: bool = option(False, "pause frames, obeyed and sent",
        tells=("FEATURES.PAUSE",))
    jumbo: bool = option(False, f"FIFOs of 2^{JUMBO_ORDER} octets: the line rate with frames of up to 9022",
        tells=("FEATURES.JUMBO",))
    rmon: bool = option(False, "counters by length and destination",
        tells=("FEATURES.RMON",))
    vlan: bool = option(False, "removal, insertion and filtering of VLAN tags",
        tells=("FEATURES.VLAN", "FEATURES.VLAN_FILTER"))
    timestamp: bool = option(False, "a clock, and time stamps of frames",
        tells=("FEATURES.TIMESTAMP",))
    queues: int = option(1, "queues in each direction, each with a ring, moderation and interrupts",
        least=1, most=registers.MAX_QUEUES, tells=("FEATURES.QUEUES",), without=1)
    gather: bool = option(False, "sent frames in pieces",
        tells=("FEATURES.GATHER",))
    segment: bool = option(False, "segmentation of TCP packets",
        needs=("gather", "tx_checksum"), tells=("FEATURES.SEGMENT",))
    merge: bool = option(False, "marks on received TCP segments that continue the frame before",
        needs=("rx_checksum",), tells=("FEATURES.MERGE",))
    launch: bool = option(False, "sent frames that leave at a time of their own",
        needs=("timestamp", "queues"), tells=("FEATURES.LAUNCH",))
    gates: int = option(0, "a list of 2^N entries that opens and closes the Tx queues (0: none)",
        most=registers.MAX_GATE_ORDER, needs=("timestamp", "queues", "launch"), tells=("FEATURES.GATE_ORDER",))
    shaper: bool = option(False, "a credit-based shaper for each Tx queue",
        needs=("queues",), tells=("FEATURES.SHAPER",))
    flows: int = option(0, "a table of 2^N flows, which the MAC forwards to the other one of a pair, and a FIFO for their "
        "frames (0: none)",
        most=registers.MAX_FLOW_ORDER, tells=("FEATURES.FLOW_ORDER",))
    flow_nat: bool = option(False, "flows with changed addresses and ports (NAT)",
        needs=("flows",), tells=("FEATURES.FLOW_NAT",))

    def __post_init__(self):
        for known in OPTIONS.values():
            value = getattr(self, known.name)
            known.check(value)
            lacks = [name for name in known.needs if getattr(self, name) == OPTIONS[name].without]
            if value and lacks:
                raise ValueError(f"{known.name} needs {' and '.join(known.needs)}.")
            if value and known.name in SCHEDULED and self.gather:
                raise ValueError(f"{known.name} works only without gather: a frame's length is known with its last piece.")
        if 0 < self.flows < LEAST_FLOW_ORDER:
            raise ValueError(f"flows must be {LEAST_FLOW_ORDER} at least, not {self.flows}: each of the "
                f"{registers.FLOW_WAYS} ways has at least 2 entries.")
        if 0 < self.gates < LEAST_GATE_ORDER:
            raise ValueError(f"gates must be {LEAST_GATE_ORDER} at least, not {self.gates}.")
        if self.max_frames <= self.queues*IN_FLIGHT:
            raise ValueError(f"max_frames must be more than the {self.queues*IN_FLIGHT} frames that can be in "
                f"progress, not {self.max_frames}: the MAC would never send a frame.")

    @classmethod
    def of(cls, **options):
        """Also raises ValueError for an unknown name."""
        for name in options.keys() - OPTIONS.keys():
            close = "".join(f"; did you mean {known}?" for known in get_close_matches(name, OPTIONS, n=1))
            raise ValueError(f"the MAC has no option {name}{close} (known: {', '.join(OPTIONS)})")
        return cls(**options)

    @property
    def rx_order(self):
        """The Rx FIFO has 2**n octets."""
        return max(self.rx_fifo_order, JUMBO_ORDER*self.jumbo)

    @property
    def tx_order(self):
        """The Tx FIFO has 2**n octets."""
        return max(self.tx_fifo_order, JUMBO_ORDER*self.jumbo)

    @property
    def flow_room(self):
        """Octets that may still arrive after the MAC requests a pause: one frame in progress each way, of the longest
        that the driver allows with or without `jumbo`, and PAUSE_OCTETS."""
        longest = 9022 if self.jumbo else max(2048, 2**min(self.rx_order, self.tx_order, 13)//2)
        return 2*longest + PAUSE_OCTETS

    @property
    def flow_fifo_order(self):
        """The flow FIFO has 2**n octets: flow_room, another long frame, and any frame that fits the Rx FIFO."""
        return max(self.rx_order, (3*self.flow_room//2).bit_length())

    @property
    def scheduled(self):
        """Each Tx queue has a FIFO of its own, of tx_order."""
        return any(getattr(self, name) for name in SCHEDULED)

    def told(self, register):
        """Values of the fields of FEATURES or CAPABILITY that report options, by name."""
        places = [(known, *place.split(".")) for known in OPTIONS.values() for place in known.tells]
        return {name: int(getattr(self, known.name)) - known.without
            for known, where, name in places if where == register}

    @property
    def register_options(self):
        """The names that `option` of a register can have in this instance."""
        return {
            *[name for name, known in OPTIONS.items() if known.is_switch and getattr(self, name)],
            *[f"unicast_{n}" for n in range(self.unicast)],
            *["features"]*any(self.told("FEATURES").values()),
            *["queues"]*(self.queues > 1),
            *["flows"]*(self.flows > 0),
            *["gates"]*(self.gates > 0),
            *["flow_tags"]*(self.flows > 0 and self.vlan),
            *["queues_pacing"]*(self.queues > 1 and self.pacing),
        }


OPTIONS = {known.name: Option(known.name, known.default, **known.metadata) for known in fields(MACOptions)}

# SPDX-License-Identifier: BSD-2-Clause
"""The flow table: which packets are forwarded, and how they leave."""

from migen import *

from litex.gen import *

from moderato.gateware.flows.packet    import flow_key
from moderato.gateware.registers.table import FLOW_TICK, FLOW_WAYS

# Entries ------------------------------------------------------------------------------------------

def flow_action(nat=False, vlan=False):
    """How packets of a flow leave.

    stations      octets 0 to 11: both Ethernet addresses.
    insert, tci   a VLAN tag.
    source, destination, ports
                  IP addresses, and ports of TCP or UDP.
    network, transport
                  corrections that are added to the inverse of a checksum.
    """
    return [("stations", 96)] + \
        [("tci", 16), ("insert", 1)]*vlan + \
        [("source", 32), ("destination", 32), ("ports", 32), ("network", 16), ("transport", 16)]*nat


def flow_counters():
    return [("frames", 32), ("octets", 32), ("last", 16)]


class Columns(LiteXModule):
    """A memory of `depth` records. `row` is the record that was at `address` two clocks ago, and `write` stores
    `data` at `target`. A row that is read in the clock in which it is written is undefined.

    The second clock is a register, because the block RAM alone takes most of a clock."""
    def __init__(self, layout, depth):
        self.address = Signal(max=depth)
        self.row     = Record(layout)
        self.write   = Signal()
        self.target  = Signal(max=depth)
        self.data    = Record(layout)

        # # #

        memory = Memory(len(self.row.raw_bits()), depth)
        reader = memory.get_port(mode=READ_FIRST)
        writer = memory.get_port(write_capable=True, mode=READ_FIRST)
        # No logic uses such a row. A lookup is `cut`, and a new action has no frame yet. Counters and the rows of
        # Waiting are read again before use (see FrameFIFO for the attribute).
        memory.attr = {("no_rw_check", 1)}
        self.specials += memory, reader, writer
        self.comb += [
            reader.adr.eq(self.address),
            writer.adr.eq(self.target),
            writer.dat_w.eq(self.data.raw_bits()),
            writer.we.eq(self.write),
        ]
        self.sync += self.row.raw_bits().eq(reader.dat_r)

# Ticker -------------------------------------------------------------------------------------------

class Ticker(LiteXModule):
    """`time` counts periods of 2**bits clocks, also while the datapath sleeps."""
    def __init__(self, bits=FLOW_TICK):
        self.time = Signal(16)

        # # #

        clocks = Signal(bits + len(self.time))
        self.sync += clocks.eq(clocks + 1)
        self.comb += self.time.eq(clocks[bits:])

# Table --------------------------------------------------------------------------------------------

class FlowTable(LiteXModule):
    """2**order entries in FLOW_WAYS ways. In each way, the hash of an entry gives its place.

    Lookup: `start` with `key` and `hash`, which stay until the next one. The table is `busy` for up to seven clocks.
    Then `hit` is set if there is an `entry`; it holds until the next lookup, or until any entry ends.

    Forwarding: the `action` of `address` comes two clocks later. `counted` adds a frame of `octets` to its counters,
    at least two clocks after the address as well; meanwhile, `moving` delays software's commands.

    Commands: `write`, `remove` and `read` of entry `target`, and `clear` of all. While a `command` is in progress,
    others are ignored. A new entry is `new_key`, `new_action`. `counters` are the result of `read`.

    All commands but `read` first end an entry. No lookup hits it from the next clock on. `search` then requests a
    search for frames that hit the entry `ended`, or `all`, and still wait: Waiting marks them, so that they will be
    dropped. In the clock with `searched`, which comes only while nothing is `moving`, all are marked. After that, the
    new entry enters the table with counters of 0. When the command is over, no frame can leave by the old entry.

    After a reset, no entry is valid.
    """
    def __init__(self, order, nat=False, vlan=False):
        places = order - log2_int(FLOW_WAYS)

        # Lookup.
        self.start = Signal()
        self.key   = Record(flow_key())
        self.hash  = Signal(32)
        self.busy  = Signal()
        self.hit   = Signal()
        self.entry = Signal(order)

        # Forwarding.
        self.address = Signal(order)
        self.action  = Record(flow_action(nat, vlan))
        self.moving  = Signal()
        self.counted = Signal()
        self.octets  = Signal(16)
        self.time    = Signal(16)

        # Commands.
        self.command  = Signal()
        self.write    = Signal()
        self.remove   = Signal()
        self.read     = Signal()
        self.clear    = Signal()
        self.target   = Signal(order)
        self.new_key    = Record(flow_key())
        self.new_action = Record(flow_action(nat, vlan))
        self.counters   = Record(flow_counters())
        self.search   = Signal()
        self.ended    = Signal(order)
        self.all      = Signal()
        self.searched = Signal()
        self.awake    = Signal()

        # # #

        self.keys    = keys    = Columns([*flow_key(), ("valid", 1)], 2**order)
        self.actions = actions = Columns(flow_action(nat, vlan), 2**order)
        self.counts  = counts  = Columns(flow_counters(), 2**order)

        # Lookup: way by way, a place each clock; its row comes two clocks later, and is compared in two.
        # -----------------------------------------------------------------------------------------------
        way    = Signal(max=FLOW_WAYS)
        asking = Signal()
        asked  = [Signal() for _ in range(3)] # Stages: in the memory, in its register, in the comparison.
        ways   = [Signal(max=FLOW_WAYS) for _ in asked]
        same   = Signal(len(flow_key()) + 1)
        place  = Signal(places)
        found  = Signal()
        where  = Signal(max=FLOW_WAYS)
        cut    = Signal() # The entry has ended since the hit, or an entry ended during the lookup.
        self.comb += [
            Case(way, {n: place.eq(self.hash[n*places:(n + 1)*places]) for n in range(FLOW_WAYS)}),
            keys.address.eq(Cat(place, way)),
            self.busy.eq(self.start | asking | (Cat(*asked) != 0)),
            self.hit.eq(found & ~cut),
            Case(where, {n: self.entry.eq(Cat(self.hash[n*places:(n + 1)*places], C(n, log2_int(FLOW_WAYS))))
                for n in range(FLOW_WAYS)}),
        ]
        self.sync += [
            If(asking, way.eq(way + 1)),
            If(self.start,
                asking.eq(1),
                way.eq(0),
            ).Elif(way == FLOW_WAYS - 1,
                asking.eq(0)
            ),
            Cat(*asked).eq(Cat(asking, *asked[:-1])),
            [later.eq(sooner) for later, sooner in zip(ways, [way, *ways[:-1]])],
            same.eq(Cat(*[getattr(keys.row, name) == getattr(self.key, name) for name, _ in flow_key()],
                keys.row.valid)),
            If(self.start,
                found.eq(0)
            ).Elif(asked[-1] & (same == 2**len(same) - 1),
                found.eq(1),
                where.eq(ways[-1]),
            ),
        ]

        # Commands: the old entry ends at once; the new one starts when no frame uses the old one.
        # -----------------------------------------------------------------------------------------
        target  = Signal(order)
        writes  = Signal()
        ends    = Signal()
        stores  = Signal()
        reads   = Signal(max=4)
        self.fsm = fsm = FSM(reset_state="CLEAR")
        fsm.act("IDLE",
            NextValue(target, Mux(self.clear, 0, self.target)),
            NextValue(writes, self.write),
            NextValue(self.all, self.clear),
            NextValue(reads, 0),
            If(self.clear,
                NextState("CLEAR")
            ).Elif(self.write | self.remove,
                NextState("END")
            ).Elif(self.read,
                NextState("READ")
            )
        )
        fsm.act("CLEAR",
            ends.eq(1),
            NextValue(target, target + 1),
            NextValue(writes, 0),
            If(target == 2**order - 1, NextState("SEARCH")),
        )
        fsm.act("END",
            ends.eq(1),
            NextState("SEARCH"),
        )
        fsm.act("SEARCH",
            # A frame that hit in the clock before is in the FIFO. Now, none can hit the ended entry: it is `cut`.
            self.search.eq(1),
            If(self.searched,
                NextState("IDLE"),
                If(writes, NextState("STORE")),
            )
        )
        fsm.act("STORE",
            # Nothing is `counted`, because nothing was `moving`.
            stores.eq(1),
            NextState("IDLE"),
        )
        fsm.act("READ",
            # The row comes two clocks after the address.
            NextValue(reads, Mux(self.moving, 0, reads + 1)),
            If(~self.moving & (reads == 2),
                NextState("IDLE"),
            )
        )
        self.sync += If(fsm.ongoing("READ"), self.counters.raw_bits().eq(counts.row.raw_bits()))
        self.sync += If(ends & (self.busy | (found & (target == self.entry))), cut.eq(1)).Elif(self.start, cut.eq(0))
        # A key that was read while it was written is undefined.
        self.sync += If(stores & self.busy, cut.eq(1))
        self.comb += [
            self.command.eq(~fsm.ongoing("IDLE")),
            self.ended.eq(target),
            keys.write.eq(ends | stores),
            keys.data.valid.eq(stores),
            keys.target.eq(target),
            [getattr(keys.data, name).eq(getattr(self.new_key, name)) for name, _ in flow_key()],
            actions.write.eq(stores),
            actions.target.eq(target),
            actions.data.raw_bits().eq(self.new_action.raw_bits()),
        ]

        # Actions and counters, for forwarding.
        # ----------------------------------
        self.comb += [
            actions.address.eq(self.address),
            self.action.raw_bits().eq(actions.row.raw_bits()),
            counts.address.eq(Mux(self.moving, self.address, target)),
            counts.write.eq(self.counted | stores),
            counts.target.eq(Mux(self.counted, self.address, target)),
            counts.data.last.eq(self.time),
            If(self.counted,
                counts.data.frames.eq(counts.row.frames + 1),
                counts.data.octets.eq(counts.row.octets + self.octets),
            ),
            self.awake.eq(self.command | self.busy | self.write | self.remove | self.read | self.clear),
        ]

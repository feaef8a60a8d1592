# SPDX-License-Identifier: BSD-2-Clause
"""Receive-side scaling: frames of a connection go to the same queue, and connections spread over the queues.

A table maps the lowest bits of a hash of addresses and ports to a queue. The hash is the Toeplitz hash with a key
of 40 octets. Microsoft specified it ("Introduction to Receive Side Scaling", "RSS hashing types"), and NICs share
it.
"""

from functools import reduce
from operator  import or_, xor

from migen import *

from litex.gen import *

from moderato.gateware.frame.observer import Observer
from moderato.gateware.registers.table import RSS_KEY_WORDS, RSS_TABLE_BITS, RSS_TYPES

ETHERTYPES = {"tags": (0x8100, 0x88A8), "ipv4": (0x0800,), "ipv6": (0x86DD,)}
TCP, UDP   = 6, 17
HASH_BITS  = 32

# Words, Octets ------------------------------------------------------------------------------------

def in_order(word):
    """The bits of a word in the order of the hash: first octet (bits 7:0) first, its topmost bit first."""
    return [word[bit + 7 - 2*(bit % 8)] for bit in range(len(word))]


def ethertype(half, kind):
    """Whether two octets, the first one in bits 7:0, are an EtherType of that kind."""
    return reduce(or_, [half == int.from_bytes(value.to_bytes(2, "big"), "little") for value in ETHERTYPES[kind]])

# Toeplitz Hash ------------------------------------------------------------------------------------

class Toeplitz(LiteXModule):
    """The lowest `bits` of the hash of a row of 32-bit words, each with its first octet in bits 7:0.

    restart    a new row starts with the next `add`.
    add, word  the next word of the row. `hash` includes it two clocks later.
    key_write, key_word, key_data
               writes a word of the key, with octets as in `word`. Not while a row is hashed.

    Bit n of the hash, counted from the lowest, is the parity of the row ANDed with the key from bit 31 - n on. So
    each word needs only the word of the key next to it, and the one after that.
    """
    def __init__(self, bits=HASH_BITS):
        self.restart   = Signal()
        self.add       = Signal()
        self.word      = Signal(32)
        self.hash      = Signal(bits)
        self.key_write = Signal()
        self.key_word  = Signal(max=RSS_KEY_WORDS)
        self.key_data  = Signal(32)

        # # #

        # Key: in a memory. Registers with multiplexers would be larger than everything else.
        # --------------------------------------------------------------------------------------------
        number = Signal(max=RSS_KEY_WORDS)
        key    = Memory(32, RSS_KEY_WORDS)
        write  = key.get_port(write_capable=True)
        beside, ahead = [key.get_port(async_read=True) for _ in range(2)]
        self.specials += key, write, beside, ahead
        self.comb += [
            write.adr.eq(self.key_word),
            write.dat_w.eq(self.key_data),
            write.we.eq(self.key_write),
            beside.adr.eq(number),
            ahead.adr.eq(number + 1),
        ]

        # A word is hashed in the clock after it came.
        # --------------------------------------------
        word   = Signal(32)
        adding = Signal()
        window = [*in_order(beside.dat_r), *in_order(ahead.dat_r)]
        parity = [reduce(xor, [bit & window[place + 31 - n] for place, bit in enumerate(in_order(word))])
            for n in range(bits)]
        self.sync += [
            adding.eq(self.add & ~self.restart),
            If(self.add, word.eq(self.word)),
            If(self.restart,
                number.eq(0),
                self.hash.eq(0)
            ).Elif(adding,
                number.eq(number + 1),
                self.hash.eq(self.hash ^ Cat(*parity))
            ),
        ]

# Packet -------------------------------------------------------------------------------------------

class HashedWords(LiteXModule):
    """Selects the words of each packet that are hashed.

    take, first, data
           as in Observer.
    types  the kinds of packets that are hashed (RSS_TYPES).

    In the same clock, `add` is set if `word` is hashed: four octets that end with the lower half of `data`. IP
    headers start with such a word, after any number of VLAN tags.
    """
    def __init__(self):
        self.take  = Signal()
        self.first = Signal()
        self.data  = Signal(32)
        self.types = Signal(len(RSS_TYPES))
        self.word  = Signal(32)
        self.add   = Signal()

        # # #

        wanted = {name: self.types[bit] for bit, name in enumerate(RSS_TYPES)}
        word   = self.word
        octets = [word[8*n:8*n + 8] for n in range(4)]

        before = Signal(16) # Octets that came with the word before.
        second = Signal()   # The next word is the third one of the Ethernet header, with octets 6 to 9.
        number = Signal(5)  # Words from the IP header on.
        v6     = Signal()
        length = Signal(4)  # IPv4: words of its header.
        whole  = Signal()   # No fragment.
        addresses = Signal()
        ports     = Signal()
        self.comb += word.eq(Cat(before, self.data[:16]))
        self.sync += If(self.take, before.eq(self.data[16:]))

        # The protocol precedes the addresses, in IPv4 directly.
        # -----------------------------------------------------------------------------------
        transport = Signal(2)
        protocol  = Signal(8)
        self.comb += [
            protocol.eq(Mux(v6, octets[2], octets[1])),
            transport.eq(Mux(v6,
                Cat((protocol == TCP) & wanted["TCP_IPV6"], (protocol == UDP) & wanted["UDP_IPV6"]),
                Cat((protocol == TCP) & wanted["TCP_IPV4"], (protocol == UDP) & wanted["UDP_IPV4"]) &
                    Replicate(whole, 2))),
        ]

        self.fsm = fsm = FSM(reset_state="REST")
        # The first word of interest has octets 10 to 13.
        fsm.act("ETHERNET",
            If(self.take,
                NextValue(second, 1),
                If(second, NextState("TYPE")),
            )
        )
        fsm.act("TYPE",
            NextValue(number, 0),
            NextValue(v6, ethertype(word[16:], "ipv6")),
            If(self.take,
                If(ethertype(word[16:], "ipv4") | ethertype(word[16:], "ipv6"),
                    NextState("HEADER")
                ).Elif(~ethertype(word[16:], "tags"),
                    NextState("REST")
                )
            )
        )
        fsm.act("HEADER",
            If(self.take,
                NextValue(number, number + 1),
                If(number == 0,
                    NextValue(length, octets[0][:4]),
                    If((octets[0][4:] != Mux(v6, 6, 4)) | (~v6 & (octets[0][:4] < 5)), NextState("REST"))
                ),
                If(number == 1, NextValue(whole, (octets[2][:6] == 0) & (octets[3] == 0))),
                If(number == Mux(v6, 1, 2),
                    NextValue(ports, transport != 0),
                    NextValue(addresses, (transport != 0) | Mux(v6, wanted["IPV6"], wanted["IPV4"])),
                    NextState("ADDRESSES"),
                ),
            )
        )
        fsm.act("ADDRESSES",
            self.add.eq(self.take & addresses),
            If(self.take,
                NextValue(number, number + 1),
                If(number == Mux(v6, 9, 4), NextState("PORTS")),
            )
        )
        fsm.act("PORTS",
            self.add.eq(self.take & ports & (v6 | (number == length))),
            If(self.take,
                NextValue(number, number + 1),
                If(v6 | (number == length), NextState("REST")),
            )
        )
        fsm.act("REST")
        # From any state, because a frame may end early.
        for state in ("ETHERNET", "TYPE", "HEADER", "ADDRESSES", "PORTS", "REST"):
            fsm.act(state, If(self.take & self.first, NextValue(second, 0), NextState("ETHERNET")))

# Receive-Side Scaling -----------------------------------------------------------------------------

class RSS(Observer):
    """Chooses a frame's queue. `queue` holds from two clocks after the frame's last word until the next
    frame begins.

    types   the kinds of packets that are hashed.
    indirection
            a queue for each value of the hash's lowest bits.
    on      the queues that take frames; `taken`: the frame's queue does.
    key_write, key_word, key_data
            as in Toeplitz.
    """
    def __init__(self):
        super().__init__()
        self.types = Signal(len(RSS_TYPES))
        self.indirection = Signal(2**RSS_TABLE_BITS)
        self.on    = Signal(2)
        self.queue = Signal()
        self.taken = Signal()
        self.key_write = Signal()
        self.key_word  = Signal(max=RSS_KEY_WORDS)
        self.key_data  = Signal(32)

        # # #

        self.words = words = HashedWords()
        self.hash  = hash  = Toeplitz(RSS_TABLE_BITS)
        self.comb += [
            words.take.eq(self.take),
            words.first.eq(self.first),
            words.data.eq(self.data),
            words.types.eq(self.types),
            hash.restart.eq(self.take & self.first),
            hash.add.eq(words.add),
            hash.word.eq(words.word),
            self.queue.eq((self.indirection >> hash.hash[:RSS_TABLE_BITS]) & 1),
            self.taken.eq((self.on >> self.queue) & 1),
            hash.key_write.eq(self.key_write),
            hash.key_word.eq(self.key_word),
            hash.key_data.eq(self.key_data),
        ]

    def join(self, receive):
        self.observe(receive.sink, ~receive.started)
        self.comb += receive.fifo.param.queue.eq(self.queue)

    def connect_registers(self, regs):
        value = regs.value
        keys  = [regs.strobe[f"RSS_KEY_{n}"] for n in range(RSS_KEY_WORDS)]
        self.comb += [
            self.types.eq(value["RSS_TYPES"]),
            self.indirection.eq(Cat(*[value[f"RSS_TABLE_{n}"] for n in range(2**RSS_TABLE_BITS//32)])),
            self.on.eq(Cat(regs.field("CTRL", "RX_ENABLE"), regs.field("CTRL", "RX1_ENABLE"))),
            self.key_write.eq(reduce(or_, keys)),
            [If(key, self.key_word.eq(n)) for n, key in enumerate(keys)],
            self.key_data.eq(regs.data),
        ]

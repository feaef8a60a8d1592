# SPDX-License-Identifier: BSD-2-Clause
"""LiteEth's MAC, as LiteX's `add_ethernet` builds it, for comparisons with Moderato."""

from liteeth.mac import LiteEthMAC
from litex.gen import LiteXModule
from migen import Cat, ClockDomainsRenamer, Constant, Signal

from moderato.gateware.registers.table import EVENTS

MAX_SLOTS = 64  # the limit of the address range that soc.py reserves


class LiteEth(LiteXModule):
    """LiteEth's fastest MAC: 32 bits wide throughout, with its datapath in the system clock domain.

    The CPU copies each frame from or to a slot, a memory of one frame on the bus.

    phy      a LiteEth PHY.
    slots    per direction, a power of two up to MAX_SLOTS.
    phy_cd   prefix of the PHY's clock domains (phy_cd_rx, phy_cd_tx); "sys" puts all in sys.

    bus_rx, bus_tx  32-bit Wishbone buses of the slots.
    ev              one level interrupt for both directions.
    events          one-clock pulses in the order of registers.EVENTS.
    """

    def __init__(self, phy, slots=2, phy_cd="eth"):
        if not 2 <= slots <= MAX_SLOTS or slots & (slots - 1):
            raise ValueError(f"slots = {slots}: LiteEth's MAC needs a power of two, 2 to {MAX_SLOTS}")
        self.events = Signal(len(EVENTS))

        # # #

        domains = {
            f"eth_{side}": "sys" if phy_cd == "sys" else f"{phy_cd}_{side}" for side in ("rx", "tx")
        }
        self.mac = mac = ClockDomainsRenamer(domains)(
            LiteEthMAC(
                phy,
                dw=32,
                interface="wishbone",
                endianness="little",
                nrxslots=slots,
                ntxslots=slots,
                with_sys_datapath=True,
            )
        )
        self.ev = mac.ev
        self.bus_rx = mac.bus_rx
        self.bus_tx = mac.bus_tx
        self.slot_size = mac.slot_size.constant

        # Events.
        # -------
        writer, reader = mac.interface.sram.writer, mac.interface.sram.reader
        full = ~writer.stat_fifo.sink.ready
        taken = (writer.fsm.ongoing("WRITE") & ~full) | writer.fsm.ongoing("DISCARD-REMAINING")
        last = writer.sink.valid & writer.sink.last
        # Each run of the kernel's interrupt handler reads this register once.
        handled = writer.ev.pending.we
        events = {
            # One level line signals both directions, and may stay high between two runs of the handler.
            # So each run counts as an Rx interrupt if it finds a received frame, else as a Tx interrupt.
            "rx_interrupt": handled & writer.ev.available.pending,
            "tx_interrupt": handled & ~writer.ev.available.pending,
            "rx_completed": writer.stat_fifo.sink.valid,
            "tx_completed": reader.ev.done.trigger,
            "rx_drop_ring": writer.fsm.ongoing("WRITE") & writer.sink.valid & full,
            "rx_drop_error": taken & last & ((writer.sink.error & writer.sink.last_be) != 0),
        }
        self.comb += self.events.eq(Cat(*[events.get(name, Constant(0)) for name in EVENTS]))

    def get_csrs(self):
        return self.mac.get_csrs()  # in LiteEth's order, which the driver expects

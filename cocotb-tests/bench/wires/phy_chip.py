# SPDX-License-Identifier: BSD-2-Clause
"""Software's view of a PHY chip: MDIO and the common registers of IEEE 802.3, clause 22."""

import cocotb
from cocotb.triggers import Event, RisingEdge, Timer

BMCR, BMSR, ID1, ID2, ADVERTISE, PARTNER, EXPANSION = range(7)
CONTROL_1000, STATUS_1000, EXTENDED_STATUS = 9, 10, 15

RESET, AUTONEG, RESTART, SPEED_100, SPEED_1000, FULL = (
    1 << bit for bit in (15, 12, 9, 13, 6, 8))                    # of BMCR
CAN     = 1 << 14 | 1 << 12 | 1 << 8 | 1 << 3 | 1                 # of BMSR: full duplex, extended
DONE, LINK = 1 << 5, 1 << 2
MODES   = {10: 1 << 6, 100: 1 << 8}                               # of ADVERTISE and PARTNER
IEEE_802_3, ACKNOWLEDGED = 1, 1 << 14
FULL_1000 = {CONTROL_1000: 1 << 9, STATUS_1000: 1 << 11 | 3 << 12}  # with both receivers good
NAME    = 0x4D6F, 0x6400                                          # no vendor's

NEGOTIATION_US = 500  # real chips take seconds


class PhyChip:
    """At `address` of a port's MDIO. `speed`: of the link in Mb/s, 0 without one; `changed` is
    called with it.

    The chip's bit on MDIO changes after rising edges of MDC, on which it samples the other side's
    bits.
    """

    def __init__(self, dut, port: int, address: int):
        self.mdc, self.out, self._in = (
            getattr(dut, f"mdio{port}_{name}") for name in ("mdc", "out", "in"))
        self.address, self.partner, self.speed = address, frozenset(), 0
        self.changed, self.accesses = Event(), 0
        self._attempt = 0
        self._in.value = 1
        self._reset()
        cocotb.start_soon(self._serve())

    def plug(self, speeds):
        """Plugs in a cable to a partner that advertises these modes in full duplex."""
        self.partner = frozenset(speeds)
        self._negotiate()

    def unplug(self):
        self.plug(())

    # Registers ------------------------------------------------------------------------------------

    def _reset(self):
        self.registers = {
            BMCR: AUTONEG | FULL | SPEED_1000, BMSR: CAN, ID1: NAME[0], ID2: NAME[1],
            ADVERTISE: IEEE_802_3 | sum(MODES.values()), CONTROL_1000: FULL_1000[CONTROL_1000],
            EXTENDED_STATUS: 1 << 13}
        self._negotiate()

    def _read(self, number: int) -> int:
        value = self.registers.get(number, 0)
        if number == BMSR and self.speed:
            self.registers[BMSR] |= LINK  # BMSR reports a lost link once (22.2.4.2.13)
        return value

    def _write(self, number: int, value: int):
        if number == BMCR and value & RESET:
            self._reset()
        elif number in (BMCR, ADVERTISE, CONTROL_1000):
            before = self.registers[number]
            self.registers[number] = value & ~RESTART
            if number == BMCR and (value & RESTART or value != before):
                self._negotiate()

    # Autonegotiation ------------------------------------------------------------------------------

    def _negotiate(self):
        """The link goes down at once, and comes up if both ends find a common speed."""
        self._attempt += 1
        self._set(0)
        self.registers[BMSR] &= ~(DONE | LINK)
        self.registers |= {PARTNER: 0, STATUS_1000: 0}
        if self.partner:
            cocotb.start_soon(self._agree(self._attempt))

    async def _agree(self, attempt: int):
        await Timer(NEGOTIATION_US, "us")
        if attempt != self._attempt:
            return
        if self.registers[BMCR] & AUTONEG:
            mine = {speed for speed, bit in MODES.items() if self.registers[ADVERTISE] & bit}
            mine |= {1000} if self.registers[CONTROL_1000] & FULL_1000[CONTROL_1000] else set()
            self.registers[BMSR] |= DONE
            self.registers[PARTNER] = IEEE_802_3 | ACKNOWLEDGED | sum(
                bit for speed, bit in MODES.items() if speed in self.partner)
            self.registers[STATUS_1000] = FULL_1000[STATUS_1000] if 1000 in self.partner else 0
        else:
            mine = {{0: 10, SPEED_100: 100}.get(self.registers[BMCR] & (SPEED_100 | SPEED_1000))}
        self._set(max(mine & self.partner, default=0))

    def _set(self, speed: int):
        self.speed = speed
        self.changed.set()

    # MDIO -----------------------------------------------------------------------------------------

    async def _serve(self):
        while True:
            ones = 0
            while await self._bit():
                ones += 1
            if not await self._bit():
                continue  # clause 45, which this chip lacks
            assert ones >= 32, f"a preamble of {ones} bits"
            operation, address, number = [await self._bits(width) for width in (2, 5, 5)]
            assert operation in (0b01, 0b10), f"operation {operation}"
            mine = address == self.address
            self.accesses += mine
            if operation == 0b01:
                turnaround, value = await self._bits(2), await self._bits(16)
                assert turnaround == 0b10
                if mine:
                    self._write(number, value)
            elif mine:
                for bit in f"0{self._read(number):016b}1":
                    await RisingEdge(self.mdc)
                    self._in.value = int(bit)

    async def _bit(self) -> int:
        await RisingEdge(self.mdc)
        return int(self.out.value)

    async def _bits(self, count: int) -> int:
        value = 0
        for _ in range(count):
            value = value << 1 | await self._bit()
        return value

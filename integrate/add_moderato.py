# SPDX-License-Identifier: BSD-2-Clause
"""Adds the MAC to a LiteX SoC, with any CPU and bus."""

import re

from litex.soc.integration.soc import SoCRegion

from moderato.gateware.bus.axi_lite import AXILiteSlave
from moderato.gateware.bus.axi_master import NON_CACHEABLE, AXIMaster
from moderato.gateware.bus.axi_slave import AXISlave
from moderato.gateware.bus.wishbone_master import WishboneMaster
from moderato.gateware.bus.wishbone_slave import WishboneSlave
from moderato.gateware.flows.pair import FlowPair
from moderato.gateware.mac import ModeratoMAC

from .clocks import constrain, require_domains
from .finalized import when_finalized
from .interrupts import InterruptLine
from .memory import require_memory
from .phy import check_phy, parts, require_in_soc, take

REGISTERS = 0x1000  # bytes


def add_moderato(
    soc,
    phy,
    name="eth0",
    phy_cd="eth",
    origin=None,
    coherent=None,
    address_high=0,
    cache=NON_CACHEABLE,
    prot=0,
    with_timing_constraints=True,
    peer=None,
    **options,
):
    """Add the MAC to `soc`, and return it.

    soc         a SoCCore (or SoC with a bus), before it is finalized.
    phy         a LiteEth PHY of the SoC (`soc.ethphy = phy`) that no other MAC uses.
    name        of the module, of its region, and of its entries in csr.json.
    phy_cd      prefix of the PHY's clock domains, as for `add_ethernet`; "sys" if it has none.
    origin      address of the registers, 4 KiB, not cached; by default `soc.mem_map[name]`, or where
                LiteX finds room.
    coherent    True: the DMA uses the CPU's coherent port; an error if there is none. False: the DMA
                uses the main bus. None: the coherent port if there is one, or else the main bus.
    address_high, cache, prot
                on AXI: bits 32 and above of all addresses, AxCACHE, AxPROT.
    peer        name of a MAC added earlier. The two forward flows to each other. Both need `flows`, and
                a MAC with `flows` needs a peer.
    options     of MACOptions (gateware/options.py).

    Raises ValueError if the MAC cannot work in this SoC. Some checks run when the SoC is finalized: the
    PHY is in the SoC, its clock domains match `phy_cd`, the DMA reaches the CPU's memory, and a flow
    table has a peer.
    """
    check(soc, phy, phy_cd, name)
    for option, value, choices in (
        ("coherent", coherent, (True, False, None)),
        ("with_timing_constraints", with_timing_constraints, (True, False)),
    ):
        if value not in choices:
            raise ValueError(
                f"{name}: {option} must be {' or '.join(map(str, choices))}, not {value!r}."
            )
    check_peer(soc, peer, options, name)
    bus = dma_bus(soc, coherent, name)

    try:
        mac = ModeratoMAC(phy, soc.sys_clk_freq, phy_cd=phy_cd, **options)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    require_in_soc(soc, mac, phy, name)
    if phy_cd != "sys":
        require_domains(phy, phy_cd, name)
    if bus is soc.bus:
        require_memory(soc, phy, name)
    soc.add_module(name=name, module=mac)
    registers = mac.bus
    bridge = register_bridge(soc.bus, mac.bus)
    if bridge is not None:
        soc.add_module(name=f"{name}_registers", module=bridge)
        registers = bridge.bus
    soc.bus.add_slave(name, registers, register_region(soc, name, origin))

    master = dma_master(bus, mac.dma, name, address_high, cache, prot)
    soc.add_module(name=f"{name}_dma", module=master)
    bus.add_master(name=f"{name}_dma", master=master.bus)

    for direction, irq in mac.irqs.items():
        line = InterruptLine(irq, direction)
        soc.add_module(name=f"{name}_{direction}", module=line)
        if soc.irq.enabled:
            soc.irq.add(f"{name}_{direction}", use_loc_if_exists=True)

    soc.add_constant(f"{name}_dma_coherent", int(bus is not soc.bus))
    if peer:
        try:
            pair = FlowPair(getattr(soc, peer), mac)
        except ValueError as error:
            raise ValueError(f"{name} and {peer}: {error}") from error
        soc.add_module(name=f"{name}_flows", module=pair)
        soc.add_constant(f"{name}_peer", peer)
        soc.add_constant(f"{peer}_peer", name)
    if mac.flows is not None:
        require_peer(soc, mac, name)
    take(phy, name)
    if with_timing_constraints:
        constrain(soc, phy)
    return mac


def check(soc, phy, phy_cd, name):
    if not re.fullmatch("[a-z][a-z0-9_]*", str(name)):
        raise ValueError(
            f"name is {name!r}, but Verilog and C names contain it; write a lower-case letter, "
            "then letters, digits or underscores, such as eth0."
        )
    if soc.finalized:
        raise ValueError(f"{name}: the SoC is finalized; call add_moderato before that.")
    if hasattr(soc, name) or name in soc.bus.regions:
        raise ValueError(f"{name}: the SoC uses this name already; choose another one.")
    if getattr(soc.cpu, "endianness", "little") != "little":
        raise ValueError(
            f"{name}: the MAC's descriptors are little-endian, but the CPU "
            f"{getattr(soc.cpu, 'human_name', soc.cpu.name)} is not."
        )
    check_phy(phy, name)
    if not isinstance(phy_cd, str) or not phy_cd.isidentifier():
        raise ValueError(
            f"{name}: phy_cd is {phy_cd!r}; write the prefix of the PHY's clock domains, "
            'such as phy_cd="eth".'
        )
    if phy_cd == "sys" and not hasattr(phy, "awake"):
        raise ValueError(
            f"{name}: phy_cd is sys, but {type(phy).__name__} has its own clocks; write "
            'the prefix of their domains, such as phy_cd="eth".'
        )


def check_peer(soc, peer, options, name):
    if peer is None:
        return
    other = getattr(soc, str(peer), None)
    if not isinstance(other, ModeratoMAC):
        raise ValueError(
            f"{name}: peer is {peer!r}, but the SoC has no MAC of this name yet; add that MAC first."
        )
    if other.flows is None or not options.get("flows"):
        raise ValueError(
            f"{name} and {peer} can't forward to each other; give both a flow table, such as flows=9."
        )
    if f"{peer}_peer".upper() in {constant.upper() for constant in soc.constants}:
        raise ValueError(f"{name}: {peer} has a peer already; a MAC forwards to one other MAC only.")


def require_peer(soc, mac, name):
    """When the SoC is finalized, raise ValueError if `mac` has a flow table but no peer."""

    def checked(_):
        if not any(isinstance(part, FlowPair) and mac in part.macs for part in parts(soc)):
            raise ValueError(
                f"{name}: it has a flow table, but no MAC to forward to; add another MAC "
                f'with flows and peer="{name}", or leave flows out.'
            )

    when_finalized(mac, checked)


def register_region(soc, name, origin):
    """The region of the registers. LiteX places its CSRs last, so this function reserves their room.

    LiteX 2024.12 ignores overlaps with regions marked `linker`, such as an interrupt controller inside
    the CPU. The CPU does not pass accesses to such a region on to the bus, so this function checks them.
    """
    origin = soc.mem_map.get(name) if origin is None else origin
    regions = soc.bus.regions
    if origin is not None:
        if not hasattr(origin, "__index__") or origin % REGISTERS:
            raise ValueError(
                f"{name}: its registers can't be at {origin!r}; write a multiple of {REGISTERS:#x}."
            )
        region = SoCRegion(origin=origin, size=REGISTERS, cached=False)
        for other, taken in regions.items():
            if soc.bus.check_regions_overlap({name: region, other: taken}, check_linker=True):
                raise ValueError(
                    f"{name}: its registers can't be at {origin:#x}, where {other} is; "
                    "without origin, LiteX chooses a free address."
                )
        return region
    later = (
        {}
        if "csr" in regions
        else {"csr": SoCRegion(origin=soc.mem_map["csr"], size=4 << soc.csr.address_width, cached=False)}
    )
    regions.update(later)
    linked = [region for region in regions.values() if region.linker]
    for each in linked:
        each.linker = False
    region = soc.bus.alloc_region(name, REGISTERS, cached=False)
    for each in linked:
        each.linker = True
    for kept in later:
        del regions[kept]
    return region


def register_bridge(bus, registers):
    """A bridge to the standard and width of the SoC's bus, or None if the registers need none. LiteX's
    adapters hang after an error response, or drop it, and access more registers than requested."""
    if bus.standard == "axi":
        return AXISlave(registers, bus.data_width, bus.address_width)
    if bus.standard == "axi-lite":
        return AXILiteSlave(registers, bus.address_width, bus.data_width)
    if bus.data_width != registers.data_width:
        return WishboneSlave(registers, bus.data_width, bus.address_width)
    return None


def dma_bus(soc, coherent, name):
    """The bus for DMA: the CPU's coherent port, or else the main bus."""
    port = getattr(soc, "dma_bus", None)
    if coherent and port is None:
        raise ValueError(
            f"{name}: coherent = True, but the SoC has no dma_bus: its CPU "
            f"({soc.cpu_type}) has no coherent port. Without one, the driver must flush caches."
        )
    if port is None or coherent is False:
        return soc.bus
    for region in port.regions.values():
        if region.size_pow2 == 2**port.address_width:
            region.decoder = lambda bus: everywhere
    return port


def everywhere(address):
    """A decoder that accepts any address. LiteX uses a constant. With two masters, its always block then
    has no inputs, so simulators never run it and accesses hang."""
    return address == address


def dma_master(bus, dma, name, address_high, cache, prot):
    """A master with the width of the bus, so that LiteX adds no adapter."""
    kind = AXIMaster if bus.standard == "axi" else WishboneMaster  # LiteX's bridge to AXI-Lite keeps ERR
    if bus.data_width not in (32, 64):
        raise ValueError(
            f"{name}: the SoC's bus for DMA is {bus.data_width} bits wide; the MAC's "
            "masters are 32 or 64."
        )
    if kind is AXIMaster:
        try:
            return AXIMaster(dma, None, bus.data_width, bus.address_width, address_high, cache, prot)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    for option, value, usual in (
        ("address_high", address_high, 0),
        ("cache", cache, NON_CACHEABLE),
        ("prot", prot, 0),
    ):
        if value != usual:
            raise ValueError(f"{name}: {option} is for AXI; this SoC's bus for DMA is {bus.standard}.")
    return WishboneMaster(dma, None, bus.data_width, bus.address_width, bool(bus.bursting))

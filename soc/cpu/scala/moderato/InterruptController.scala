// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._
import spinal.lib.bus.wishbone._

object InterruptController {
  val wishboneConfig = WishboneConfig(addressWidth = 30, dataWidth = 32)

  def isClint(address: UInt) = address(31 downto 16) === 0xf001
  def isPlic(address: UInt)  = address(31 downto 22) === 0xf0c00000L >> 22
}

/** CLINT and PLIC of SiFive's layout, at their fixed addresses.
  *
  * The PLIC has one priority level (a priority is 0, "never", or 1) and takes active-high levels.
  * Its contexts: 2 x hart is machine mode, 2 x hart + 1 supervisor mode.
  *
  * Of several pending sources the lowest is claimed first, as the PLIC's specification has it. With
  * several harts the gateways see to it that none starves: once a source was claimed, its next
  * request waits until nothing is pending that the same context might claim instead.
  */
class InterruptController(harts: Int, sources: Int) extends Component {
  val io = new Bundle {
    val bus     = slave(Wishbone(InterruptController.wishboneConfig))
    val sources = in(Bits(InterruptController.this.sources bits))  // bit n is PLIC source n + 1
    val timer, software, machine, supervisor = out(Bits(harts bits))
    val time    = out(UInt(64 bits))
  }

  // Each access takes two cycles; everything that it does is done in the first.
  private val ack    = RegInit(False)
  private val data   = Reg(Bits(32 bits))
  private val access = io.bus.CYC && io.bus.STB && !ack
  ack := access
  io.bus.ACK      := ack
  io.bus.DAT_MISO := data

  private val offset = io.bus.ADR(19 downto 0) @@ U"00"  // in the PLIC; the CLINT needs fewer bits
  private val write  = io.bus.WE

  // CLINT -----------------------------------------------------------------------------------------

  private val clint = new Area {
    val time    = Reg(UInt(64 bits)) init 0
    val msip    = Reg(Bits(harts bits)) init 0
    val compare = Vec(Reg(UInt(64 bits)) init BigInt(2).pow(64) - 1, harts)
    time := time + 1

    when(access && !io.bus.ADR(21)) {  // bit 23 of the address is 0 in the CLINT, 1 in the PLIC
      data := 0
      switch(offset(15 downto 0)) {
        for (hart <- 0 until harts) {
          is(4 * hart) {
            data(0) := msip(hart)
            when(write) { msip(hart) := io.bus.DAT_MOSI(0) }
          }
          for (half <- 0 to 1) is(0x4000 + 8 * hart + 4 * half) {
            val word = compare(hart)(32 * half, 32 bits)
            data := word.asBits
            when(write) { word := io.bus.DAT_MOSI.asUInt }
          }
        }
        is(0xbff8) { data := time(31 downto 0).asBits }
        is(0xbffc) { data := time(63 downto 32).asBits }
      }
    }
    io.time     := time
    io.software := msip
    io.timer    := RegNext(compare.map(_ <= time).asBits)
  }

  // PLIC ------------------------------------------------------------------------------------------

  private val plic = new Area {
    val contexts  = 2 * harts
    val priority  = Reg(Bits(sources bits)) init 0
    val pending   = Reg(Bits(sources bits)) init 0
    val claimed   = Reg(Bits(sources bits)) init 0  // pending or being served: waits for completion
    val enable    = Vec(Reg(Bits(sources bits)) init 0, contexts)
    val threshold = Vec(RegInit(False), contexts)

    val fair    = harts > 1
    val served  = Vec(Reg(Bits(sources bits)) init 0, if (fair) contexts else 0)
    val held    = served.foldLeft(B(0, sources bits))(_ | _)
    val arrived = io.sources & ~claimed & ~held
    val urgent  = pending & priority
    pending := pending | arrived
    claimed := claimed | arrived

    if (fair) for (context <- 0 until contexts)
      when((urgent & enable(context)) === 0) { served(context) := 0 }

    when(access && io.bus.ADR(21)) {
      data := 0
      for (source <- 1 to sources) when(offset === 4 * source) {
        data(0) := priority(source - 1)
        when(write) { priority(source - 1) := io.bus.DAT_MOSI(0) }
      }
      when(offset === 0x1000) { data := (pending ## False).resized }
      for (context <- 0 until contexts) {
        when(offset === 0x2000 + 0x80 * context) {
          data := (enable(context) ## False).resized
          when(write) { enable(context) := io.bus.DAT_MOSI(sources downto 1) }
        }
        when(offset === 0x200000 + 0x1000 * context) {
          data(0) := threshold(context)
          when(write) { threshold(context) := io.bus.DAT_MOSI(0) }
        }
        when(offset === 0x200004 + 0x1000 * context) {
          val best = OHMasking.first(urgent & enable(context))
          when(write) {  // completion
            for (source <- 1 to sources)
              when(io.bus.DAT_MOSI(4 downto 0) === source && enable(context)(source - 1)) {
                claimed(source - 1) := False
              }
          } elsewhen (best =/= 0) {
            data := (OHToUInt(best) +^ U(1)).asBits.resized
            pending := (pending | arrived) & ~best
            if (fair) served(context) := served(context) | best
          }
        }
      }
    }
    val lines = for (context <- 0 until contexts)
      yield RegNext((urgent & enable(context)) =/= 0 && !threshold(context)) init False
    io.machine    := Seq.tabulate(harts)(hart => lines(2 * hart)).asBits
    io.supervisor := Seq.tabulate(harts)(hart => lines(2 * hart + 1)).asBits
  }
}

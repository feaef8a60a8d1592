// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._
import spinal.lib.bus.wishbone._

/** An access to anything but main memory: a word, or the refill of a cache line (from a ROM). */
case class PeripheralAccess() extends Bundle {
  val address = UInt(32 bits)
  val write   = Bool()
  val data    = Bits(32 bits)
  val mask    = Bits(4 bits)
  val line    = Bool()
}
case class PeripheralAnswer() extends Bundle {
  val data  = Bits(64 bits)
  val last  = Bool()
  val error = Bool()
}

object PeripheralBridge {
  val wishboneConfig = WishboneConfig(addressWidth = 30, dataWidth = 32, selWidth = 4, useERR = true)
}

/** One access at a time, by 32-bit Wishbone cycles. Sources take turns. */
class PeripheralBridge(sources: Int) extends Component {
  val io = new Bundle {
    val access   = Vec(slave(Stream(PeripheralAccess())), sources)
    val answer   = Vec(master(Flow(PeripheralAnswer())), sources)
    val wishbone = master(Wishbone(PeripheralBridge.wishboneConfig))
    val local    = master(Wishbone(InterruptController.wishboneConfig))
  }
  private val busy    = RegInit(False)
  private val isLocal = Reg(Bool())
  private val current = Reg(PeripheralAccess())
  private val owner   = Reg(Bits(sources bits)) init 1
  private val answer  = Reg(PeripheralAnswer())
  private val answers = Reg(Bits(sources bits)) init 0

  private val wanted = io.access.map(_.valid).asBits
  private val chosen = OHMasking.roundRobin(wanted, owner.rotateLeft(1))
  for ((access, selected) <- io.access zip chosen.asBools) access.ready := !busy && selected

  answers := 0
  when(!busy) {
    when(wanted =/= 0) {
      val taken = MuxOH(chosen, io.access.map(_.payload))
      busy    := True
      owner   := chosen
      current := taken
      when(taken.line) { current.mask := B"1111" }
      isLocal := InterruptController.isClint(taken.address) ||
                 InterruptController.isPlic(taken.address)
    }
  } otherwise {
    val ack  = isLocal ? io.local.ACK | (io.wishbone.ACK || io.wishbone.ERR)
    val data = isLocal ? io.local.DAT_MISO | io.wishbone.DAT_MISO
    val word = current.address(5 downto 2)
    when(ack) {
      val last = !current.line || word === 15
      answer.last  := last
      answer.error := io.wishbone.ERR && !isLocal
      answer.data(63 downto 32) := data
      when(!current.line || !word(0)) { answer.data(31 downto 0) := data }
      when(!current.line || word(0)) { answers := owner }
      word := word + 1
      busy := !last
    }
  }

  for (bus <- Seq(io.wishbone, io.local)) {
    val selected = busy && (if (bus == io.local) isLocal else !isLocal)
    bus.CYC      := selected
    bus.STB      := selected
    bus.ADR      := current.address(31 downto 2)
    bus.WE       := current.write
    bus.DAT_MOSI := current.data
  }
  io.wishbone.SEL := current.mask

  for ((port, valid) <- io.answer zip answers.asBools) {
    port.valid   := valid
    port.payload := answer
  }
}

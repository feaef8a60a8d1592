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

/** One access at a time, in the order of arrival, by 32-bit Wishbone cycles. */
class PeripheralBridge(sources: Int) extends Component {
  val io = new Bundle {
    val access   = Vec(slave(Stream(PeripheralAccess())), sources)
    val answer   = Vec(master(Flow(PeripheralAnswer())), sources)
    val wishbone = master(Wishbone(PeripheralBridge.wishboneConfig))
  }
  case class Request() extends Bundle {
    val access = PeripheralAccess()
    val source = UInt(log2Up(sources) bits)
  }
  private val requests = io.access.zipWithIndex.map { case (access, id) =>
    val request = Stream(Request())
    request.arbitrationFrom(access)
    request.access := access.payload
    request.source := id
    request
  }
  private val request = StreamArbiterFactory().roundRobin.transactionLock.on(requests).m2sPipe()

  private val index = Reg(UInt(4 bits)) init 0  // 32-bit word of the line
  private val done  = io.wishbone.ACK || io.wishbone.ERR
  private val last  = !request.access.line || index === index.maxValue
  private val low   = RegNextWhen(io.wishbone.DAT_MISO, request.valid && done)

  io.wishbone.CYC      := request.valid
  io.wishbone.STB      := request.valid
  io.wishbone.ADR      := request.access.address(31 downto 2) | index.resized
  io.wishbone.WE       := request.access.write
  io.wishbone.SEL      := request.access.line ? B"1111" | request.access.mask
  io.wishbone.DAT_MOSI := request.access.data
  request.ready        := done && last
  when(request.valid && done) { index := last ? U(0) | index + 1 }

  private val answer = Flow(PeripheralAnswer())
  answer.valid := request.valid && done && (!request.access.line || index(0))
  answer.data  := io.wishbone.DAT_MISO ## (request.access.line ? low | io.wishbone.DAT_MISO)
  answer.last  := last
  answer.error := io.wishbone.ERR
  private val source = RegNext(request.source)
  private val staged = answer.m2sPipe
  for ((port, id) <- io.answer.zipWithIndex) {
    port.valid   := staged.valid && source === id
    port.payload := staged.payload
  }
}

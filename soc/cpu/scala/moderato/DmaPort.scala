// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

object DmaPort {
  /** Bursts of writes that may be unanswered, a power of two. */
  val writes = 4

  def axiConfig(idWidth: Int) = Axi4Config(
    addressWidth = 32, dataWidth = 64, idWidth = idWidth,
    useRegion = false, useLock = false, useCache = false, useQos = false, useProt = false)
}

/** A coherent AXI4 slave: INCR bursts of 64-bit beats (or single narrower ones).
  *
  * A write is answered when it has its place in memory order and no D-cache holds the old data, so
  * whatever the master does next (a descriptor, an interrupt) is seen after the data. Any number of
  * reads may be unanswered, and a few writes. The master must always be ready for R.
  * Best served by bursts that stay in one 64-byte line. Outside main memory: DECERR.
  */
class DmaPort(idWidth: Int) extends Component {
  val io = new Bundle {
    val axi     = slave(Axi4(DmaPort.axiConfig(idWidth)))
    val memory  = master(Stream(Fragment(Beat())))
    val outcome = in(Outcome())
    val data    = in(Bits(64 bits))
  }
  private val ar = io.axi.ar
  private val aw = io.axi.aw
  private val w  = io.axi.w
  private val r  = io.axi.r
  private val b  = io.axi.b

  // Directions take turns, burst by burst ---------------------------------------------------------

  private val beats    = Stream(Fragment(Beat()))
  private val index    = Reg(UInt(8 bits)) init 0
  private val wasWrite = RegInit(False)
  private val canWrite = Bool()
  private val writing  = (index === 0) ? (canWrite && !(wasWrite && ar.valid)) | wasWrite
  private val address  = writing ? aw.addr | ar.addr
  private val mapped   = Ports.inMainMemory(address)

  beats.valid      := writing ? (aw.valid && w.valid) | ar.valid
  beats.address    := (address >> 3) + index
  beats.write      := writing
  beats.data       := w.data
  beats.mask       := mapped ? w.strb | B(0)
  beats.invalidate := index === 0 || beats.address(2 downto 0) === 0  // once per line
  beats.exclusive  := False
  beats.last       := writing ? w.last | (index === ar.len)
  beats.note       := (ar.id ## !mapped).resized
  when(beats.fire) {
    index    := beats.last ? U(0) | index + 1
    wasWrite := writing
  }
  ar.ready := beats.fire && beats.last && !writing
  aw.ready := beats.fire && beats.last && writing
  w.ready  := beats.ready && writing && aw.valid

  // Registers in both directions separate AXI's handshake from the hub's arbitration.
  io.memory << beats.s2mPipe().m2sPipe()

  // Answers ---------------------------------------------------------------------------------------

  r.valid := io.outcome.read
  r.data  := io.data
  r.last  := io.outcome.last
  r.id    := io.outcome.note(1, idWidth bits).asUInt
  r.resp  := io.outcome.note(0) ? Axi4.resp.DECERR | Axi4.resp.OKAY

  case class Answer() extends Bundle {
    val id    = UInt(idWidth bits)
    val error = Bool()
  }
  private val answers = StreamFifo(Answer(), depth = DmaPort.writes)
  private val settled = CounterUpDown(2 * DmaPort.writes)  // writes that may be answered
  canWrite := aw.valid && w.valid && answers.io.push.ready
  answers.io.push.valid := aw.fire
  answers.io.push.id    := aw.id
  answers.io.push.error := !mapped
  answers.io.pop.ready  := b.fire
  private val ordered = io.memory.fire && io.memory.write && io.memory.last
  when(Delay(ordered, MemoryHub.settleCycles, init = False)) { settled.increment() }
  when(b.fire) { settled.decrement() }
  b.valid := settled =/= 0
  b.id    := answers.io.pop.id
  b.resp  := answers.io.pop.error ? Axi4.resp.DECERR | Axi4.resp.OKAY
}

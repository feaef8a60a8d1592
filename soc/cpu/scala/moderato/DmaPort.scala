// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

object DmaPort {
  def axiConfig(idWidth: Int) = Axi4Config(
    addressWidth = 32, dataWidth = 64, idWidth = idWidth,
    useRegion = false, useLock = false, useCache = false, useQos = false, useProt = false)
}

/** A coherent AXI4 slave: INCR bursts of 64-bit beats (or single narrower ones).
  *
  * A write is answered when it has its place in memory order and no D-cache holds the old data, so
  * whatever the master does next (a descriptor, an interrupt) is seen after the data. One burst of
  * writes is served at a time, any number of reads. The master must always be ready for R.
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

  private val index     = Reg(UInt(8 bits)) init 0
  private val wasWrite  = RegInit(False)
  private val canWrite  = Bool()
  private val writing   = (index === 0) ? (canWrite && !(wasWrite && ar.valid)) | wasWrite
  private val address   = writing ? aw.addr | ar.addr
  private val mapped    = Ports.inMainMemory(address)

  io.memory.valid      := writing ? (aw.valid && w.valid) | ar.valid
  io.memory.address    := (address >> 3) + index
  io.memory.write      := writing
  io.memory.data       := w.data
  io.memory.mask       := mapped ? w.strb | B(0)
  io.memory.invalidate := index === 0 || io.memory.address(2 downto 0) === 0  // once per line
  io.memory.exclusive  := False
  io.memory.last       := writing ? w.last | (index === ar.len)
  io.memory.note       := (ar.id ## !mapped).resized
  when(io.memory.fire) {
    index    := io.memory.last ? U(0) | index + 1
    wasWrite := writing
  }
  ar.ready := io.memory.fire && io.memory.last && !writing
  aw.ready := io.memory.fire && io.memory.last && writing
  w.ready  := io.memory.ready && writing && aw.valid

  // Answers ---------------------------------------------------------------------------------------

  r.valid := io.outcome.read
  r.data  := io.data
  r.last  := io.outcome.last
  r.id    := io.outcome.note(1, idWidth bits).asUInt
  r.resp  := io.outcome.note(0) ? Axi4.resp.DECERR | Axi4.resp.OKAY

  private val settling = Reg(UInt(log2Up(MemoryHub.settleCycles + 2) bits)) init 0
  private val id       = Reg(UInt(idWidth bits))
  private val error    = Reg(Bool())
  canWrite := aw.valid && w.valid && settling === 0
  when(aw.fire) {
    settling := MemoryHub.settleCycles + 1
    id       := aw.id
    error    := !mapped
  } elsewhen (settling =/= 0 && !(b.valid && !b.ready)) {
    settling := settling - 1
  }
  b.valid := settling === 1
  b.id    := id
  b.resp  := error ? Axi4.resp.DECERR | Axi4.resp.OKAY
}

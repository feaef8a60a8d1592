// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi._

object DmaPort {
  def axiConfig(idWidth: Int) = Axi4Config(
    addressWidth = 32, dataWidth = 64, idWidth = idWidth,
    useRegion = false, useLock = false, useCache = false, useQos = false, useProt = false)

  val readAhead = 16  // beats that wait for the master's R channel
}

/** A coherent AXI4 slave: INCR bursts of 64-bit beats (or single narrower ones).
  *
  * A write is answered when it has its place in memory order and no D-cache holds the old data, so
  * whatever the master does next (a descriptor, an interrupt) is seen after the data.
  * Best served by bursts that stay in one 64-byte line. Outside main memory: DECERR.
  */
class DmaPort(idWidth: Int) extends Component {
  val axiConfig = DmaPort.axiConfig(idWidth)
  val io = new Bundle {
    val axi          = slave(Axi4(axiConfig))
    val read         = master(Stream(Fragment(Beat())))
    val write        = master(Stream(Fragment(Beat())))
    val readOutcome  = in(Outcome())
    val writeOutcome = in(Outcome())
    val data         = in(Bits(64 bits))
  }

  // Reads: AR -> beats -> R -----------------------------------------------------------------------

  val reading = new Area {
    case class Answer() extends Bundle {
      val id    = UInt(idWidth bits)
      val error = Bool()
      val last  = Bool()
    }
    val index   = Reg(UInt(8 bits)) init 0
    val pending = Reg(UInt(log2Up(DmaPort.readAhead + 1) bits)) init 0
    val ar      = io.axi.ar

    io.read.valid      := ar.valid && pending =/= DmaPort.readAhead
    io.read.address    := (ar.addr >> 3) + index
    io.read.write      := False
    io.read.invalidate := False
    io.read.exclusive  := False
    io.read.data.assignDontCare()
    io.read.mask.assignDontCare()
    io.read.last       := index === ar.len
    ar.ready           := io.read.fire && io.read.last
    when(io.read.fire) { index := io.read.last ? U(0) | index + 1 }

    val answers = StreamFifo(Answer(), DmaPort.readAhead)
    answers.io.push.valid := io.read.fire
    answers.io.push.id    := ar.id
    answers.io.push.error := !Ports.inMainMemory(ar.addr)
    answers.io.push.last  := io.read.last

    val words = StreamFifo(Bits(64 bits), DmaPort.readAhead)
    words.io.push.valid   := io.readOutcome.read
    words.io.push.payload := io.data

    val r = io.axi.r
    r.valid := words.io.pop.valid
    r.data  := words.io.pop.payload
    r.id    := answers.io.pop.id
    r.last  := answers.io.pop.last
    r.resp  := answers.io.pop.error ? Axi4.resp.DECERR | Axi4.resp.OKAY
    words.io.pop.ready   := r.ready
    answers.io.pop.ready := r.fire
    pending := pending + U(io.read.fire) - U(r.fire)
  }

  // Writes: AW, W -> beats -> B -------------------------------------------------------------------

  val writing = new Area {
    case class Answer() extends Bundle {
      val id    = UInt(idWidth bits)
      val error = Bool()
    }
    val maxPending = 4
    val index   = Reg(UInt(8 bits)) init 0
    val pending = Reg(UInt(log2Up(maxPending + 1) bits)) init 0
    val aw      = io.axi.aw
    val w       = io.axi.w
    val mapped  = Ports.inMainMemory(aw.addr)

    io.write.valid      := aw.valid && w.valid && pending =/= maxPending
    io.write.address    := (aw.addr >> 3) + index
    io.write.write      := True
    io.write.invalidate := index === 0 || io.write.address(2 downto 0) === 0  // once per line
    io.write.exclusive  := False
    io.write.data       := w.data
    io.write.mask       := mapped ? w.strb | B(0)
    io.write.last       := w.last
    w.ready             := io.write.fire
    aw.ready            := io.write.fire && w.last
    when(io.write.fire) { index := w.last ? U(0) | index + 1 }

    val done = Flow(Answer())
    done.valid := aw.fire
    done.id    := aw.id
    done.error := !mapped
    val settled = Iterator.iterate(done)(_.m2sPipe).drop(MemoryHub.settleCycles).next()
    val answers = StreamFifo(Answer(), maxPending)
    answers.io.push.valid   := settled.valid
    answers.io.push.payload := settled.payload

    io.axi.b.arbitrationFrom(answers.io.pop)
    io.axi.b.id   := answers.io.pop.id
    io.axi.b.resp := answers.io.pop.error ? Axi4.resp.DECERR | Axi4.resp.OKAY
    pending := pending + U(aw.fire) - U(io.axi.b.fire)
  }
}

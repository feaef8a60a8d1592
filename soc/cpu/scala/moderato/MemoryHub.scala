// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._

/** One 64-bit word of traffic to main memory. */
case class Beat() extends Bundle {
  val address    = UInt(29 bits)  // in 64-bit words
  val write      = Bool()
  val data       = Bits(64 bits)
  val mask       = Bits(8 bits)
  val invalidate = Bool()         // this write makes copies of the line in other harts stale
  val exclusive  = Bool()         // LR or SC
  val note       = Bits(Beat.noteWidth bits)  // comes back with the answer to a read
}
object Beat {
  val noteWidth = 4
}

/** Main memory: commands are executed in order, a read answers in order, whenever it likes. */
case class MemoryCommand() extends Bundle {
  val address = UInt(29 bits)
  val write   = Bool()
  val data    = Bits(64 bits)
  val mask    = Bits(8 bits)
}
case class MemoryPort() extends Bundle with IMasterSlave {
  val cmd = Stream(MemoryCommand())
  val rsp = Flow(Bits(64 bits))
  def asMaster() { master(cmd); slave(rsp) }
}

/** The hub's responses to a source. */
case class Outcome() extends Bundle {
  val written   = Bool()  // a write of this source took its place in memory order in this cycle
  val exclusive = Bool()  // … and if it was an SC, it succeeded
  val read      = Bool()  // `data` answers this source's oldest unanswered read,
  val last      = Bool()  // … the last of its burst,
  val note      = Bits(Beat.noteWidth bits)
}

/** Invalidates the line at `address` in a D-cache. */
case class Invalidation() extends Bundle {
  val address = UInt(29 bits)
}

object MemoryHub {
  /** Cycles from a write's place in memory order until no D-cache holds the old line. */
  val settleCycles = 5
}

/** The point of coherency: every access to main memory gets its place in one order here.
  *
  * Sources send bursts of beats; a burst is never interleaved with another. A write is announced to
  * the D-caches in the cycle after that in which it takes its place: a refill that took its place
  * before is still in flight, as memory takes two cycles at least, and the cache drops it; a refill
  * that comes later reads the new data.
  * Sources take turns, so that none can starve another.
  *
  * @param harts  data sides of the harts
  * @param others instruction sides of the harts, which only read
  * @param dma    bus masters
  */
class MemoryHub(harts: Int, fetches: Int, dma: Int) extends Component {
  val sources = harts + fetches + dma
  val io = new Bundle {
    val hart     = Vec(slave(Stream(Fragment(Beat()))), harts)
    val fetch    = Vec(slave(Stream(Fragment(Beat()))), fetches)
    val dma      = Vec(slave(Stream(Fragment(Beat()))), MemoryHub.this.dma)
    val outcome  = out(Vec(Outcome(), sources))  // harts first, then fetches, then DMA
    val data     = out(Bits(64 bits))
    val invalidation = Vec(master(Flow(Invalidation())), harts)
    val memory   = master(MemoryPort())
  }

  // Arbitration -----------------------------------------------------------------------------------

  case class Tagged() extends Bundle {
    val beat   = Beat()
    val source = UInt(log2Up(sources) bits)
  }
  private def tag(stream: Stream[Fragment[Beat]], id: Int) = {
    val tagged = Stream(Fragment(Tagged()))
    tagged.arbitrationFrom(stream)
    tagged.last          := stream.last
    tagged.beat.assignAllByName(stream.fragment)
    tagged.source        := id
    tagged
  }
  private val tagged = (io.hart ++ io.fetch ++ io.dma).zipWithIndex.map { case (s, i) => tag(s, i) }
  private val chosen = StreamArbiterFactory().roundRobin.fragmentLock.on(tagged)

  // Reservations of LR/SC -------------------------------------------------------------------------

  private def line(beat: Beat) = beat.address >> log2Up(ClusterConfig.lineBeats)
  private val commit = chosen.fire
  private val refused = False

  for ((hart, id) <- io.hart.zipWithIndex) new Area {
    val valid   = RegInit(False)
    val address = Reg(UInt(26 bits))
    val mine    = chosen.source === id
    // From the hart's request instead of the chosen one, in parallel to the arbitration.
    val fails   = hart.write && hart.exclusive && !(valid && address === line(hart.fragment))
    refused setWhen (mine && fails)
    when(commit) {
      when(mine && chosen.beat.exclusive) {
        valid   := !chosen.beat.write
        address := line(chosen.beat)
      }
      when(!mine && chosen.beat.write && !refused && address === line(chosen.beat)) {
        valid := False
      }
    }
  }

  // Memory ----------------------------------------------------------------------------------------

  case class Read() extends Bundle {
    val source = UInt(log2Up(sources) bits)
    val last   = Bool()
    val note   = Bits(Beat.noteWidth bits)
  }
  private val reads = StreamFifo(Read(), depth = 32)
  private val blocked = !chosen.beat.write && !reads.io.push.ready
  io.memory.cmd.valid   := chosen.valid && !refused && !blocked
  io.memory.cmd.address := chosen.beat.address
  io.memory.cmd.write   := chosen.beat.write
  io.memory.cmd.data    := chosen.beat.data
  io.memory.cmd.mask    := chosen.beat.mask
  chosen.ready          := (io.memory.cmd.ready || refused) && !blocked

  reads.io.push.valid  := commit && !chosen.beat.write
  reads.io.push.source := chosen.source
  reads.io.push.last   := chosen.last
  reads.io.push.note   := chosen.beat.note
  reads.io.pop.ready   := io.memory.rsp.valid
  io.data              := io.memory.rsp.payload

  // Outcome ---------------------------------------------------------------------------------------

  for ((outcome, id) <- io.outcome.zipWithIndex) {
    outcome.written   := commit && chosen.beat.write && chosen.source === id
    outcome.exclusive := !refused
    outcome.read      := io.memory.rsp.valid && reads.io.pop.source === id
    outcome.last      := reads.io.pop.last
    outcome.note      := reads.io.pop.note
  }
  // From a register: the path in the cache is long enough without the arbitration.
  for ((invalidation, id) <- io.invalidation.zipWithIndex) {
    invalidation.valid   := RegNext(commit && chosen.beat.write && chosen.beat.invalidate &&
                                    !refused && chosen.source =/= id) init False
    invalidation.address := RegNext(chosen.beat.address)
  }
}

// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._
import spinal.lib.bus.wishbone._
import spinal.lib.misc.Clint
import spinal.lib.misc.plic._

/** CLINT and PLIC of SiFive's layout. PLIC contexts: 2 x hart is M mode, 2 x hart + 1 S mode. */
class InterruptController(harts: Int, sources: Int) extends Component {
  val io = new Bundle {
    val clint   = slave(Wishbone(WishboneConfig(addressWidth = 14, dataWidth = 32)))
    val plic    = slave(Wishbone(WishboneConfig(addressWidth = 20, dataWidth = 32)))
    val sources = in(Bits(InterruptController.this.sources bits))  // bit n is PLIC source n + 1
    val timer, software, machine, supervisor = out(Bits(harts bits))
    val time    = out(UInt(64 bits))
  }

  val clint = Clint(harts)
  clint.driveFrom(WishboneSlaveFactory(io.clint))
  io.time     := clint.time
  io.timer    := clint.harts.map(_.timerInterrupt).asBits
  io.software := clint.harts.map(_.softwareInterrupt).asBits

  val priorityWidth = 2
  val gateways = for (i <- 0 until sources)
    yield PlicGatewayActiveHigh(io.sources(i), id = i + 1, priorityWidth)
  val targets = Seq.fill(2 * harts)(PlicTarget(gateways, priorityWidth))
  gateways.foreach(_.priority := 1)
  PlicMapper(WishboneSlaveFactory(io.plic), PlicMapping.sifive)(gateways, targets)
  io.machine    := Seq.tabulate(harts)(hart => targets(2 * hart).iep).asBits
  io.supervisor := Seq.tabulate(harts)(hart => targets(2 * hart + 1).iep).asBits
}

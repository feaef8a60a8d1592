// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._
import vexriscv.ip._

object Ports {
  def inMainMemory(address: UInt) = address(31 downto 30) === U"01"  // 0x40000000 to 0x7fffffff
}

/** Instruction side: refills. */
class FetchPort(config: InstructionCacheConfig) extends Component {
  val io = new Bundle {
    val bus     = slave(InstructionCacheMemBus(config))
    val memory  = master(Stream(Fragment(Beat())))
    val outcome = in(Outcome())
    val data    = in(Bits(64 bits))
    val peripheral = master(Stream(PeripheralAccess()))
    val answer     = slave(Flow(PeripheralAnswer()))
  }
  private val cmd   = io.bus.cmd
  private val index = Reg(UInt(log2Up(ClusterConfig.lineBeats) bits)) init 0
  private val toMemory = Ports.inMainMemory(cmd.address)

  io.memory.valid      := cmd.valid && toMemory
  io.memory.address    := (cmd.address >> 3) | index.resized
  io.memory.write      := False
  io.memory.invalidate := False
  io.memory.exclusive  := False
  io.memory.note.assignDontCare()
  io.memory.data.assignDontCare()
  io.memory.mask.assignDontCare()
  io.memory.last       := index === index.maxValue
  when(io.memory.fire) { index := index + 1 }

  io.peripheral.valid   := cmd.valid && !toMemory
  io.peripheral.address := cmd.address
  io.peripheral.write   := False
  io.peripheral.line    := True
  io.peripheral.data.assignDontCare()
  io.peripheral.mask.assignDontCare()

  cmd.ready := toMemory ? (io.memory.ready && io.memory.last) | io.peripheral.ready

  io.bus.rsp.valid := io.outcome.read || io.answer.valid
  io.bus.rsp.data  := io.outcome.read ? io.data | io.answer.data
  io.bus.rsp.error := !io.outcome.read && io.answer.error
}

/** Data side. Commands are served one after the other, each at its point of order, so that answers
  * need no queue: the D-cache itself never has a write after an unanswered read.
  */
class DataPort(config: DataCacheConfig) extends Component {
  val io = new Bundle {
    val bus     = slave(DataCacheMemBus(config))
    val memory  = master(Stream(Fragment(Beat())))
    val outcome = in(Outcome())
    val data    = in(Bits(64 bits))
    val invalidation = slave(Flow(Invalidation()))
    val peripheral = master(Stream(PeripheralAccess()))
    val answer     = slave(Flow(PeripheralAnswer()))
  }
  private val cmd   = io.bus.cmd
  private val index = Reg(UInt(log2Up(ClusterConfig.lineBeats) bits)) init 0
  private val toMemory = Ports.inMainMemory(cmd.address)

  io.memory.valid      := cmd.valid && toMemory
  io.memory.address    := (cmd.address >> 3) | index.resized
  io.memory.write      := cmd.wr
  io.memory.invalidate := True
  io.memory.exclusive  := cmd.exclusive
  io.memory.note.assignDontCare()
  io.memory.data       := cmd.data ## cmd.data
  io.memory.mask       := cmd.address(2) ? (cmd.mask ## B"0000") | (B"0000" ## cmd.mask)
  io.memory.last       := !cmd.isBurst || index === index.maxValue
  when(io.memory.fire && cmd.isBurst) { index := index + 1 }

  // The command stays at the head until the peripheral has answered: strictly in order.
  private val asked = RegInit(False) setWhen io.peripheral.fire clearWhen (io.answer.valid && io.answer.last)
  io.peripheral.valid   := cmd.valid && !toMemory && !asked
  io.peripheral.address := cmd.address
  io.peripheral.write   := cmd.wr
  io.peripheral.line    := cmd.isBurst
  io.peripheral.data    := cmd.data
  io.peripheral.mask    := cmd.mask

  cmd.ready := toMemory ? (io.memory.ready && io.memory.last) | (io.answer.valid && io.answer.last)

  private val written = io.outcome.written || (io.answer.valid && cmd.wr)
  io.bus.rsp.valid     := io.outcome.written || io.outcome.read || io.answer.valid
  io.bus.rsp.data      := io.answer.valid ? io.answer.data | io.data
  io.bus.rsp.error     := io.answer.valid && io.answer.error
  io.bus.rsp.last      := io.answer.valid ? io.answer.last | (io.outcome.written || io.outcome.last)
  io.bus.rsp.exclusive := io.answer.valid || io.outcome.exclusive
  io.bus.rsp.aggregated.clearAll()

  io.bus.inv.valid   := io.invalidation.valid
  io.bus.inv.enable  := True
  io.bus.inv.address := io.invalidation.address << 3
  io.bus.inv.last    := True
  io.bus.ack.ready   := True
  io.bus.sync.valid  := Delay(written, MemoryHub.settleCycles, init = False)
  io.bus.sync.aggregated.clearAll()
}

// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.Axi4
import spinal.lib.bus.wishbone.Wishbone
import spinal.lib.com.jtag.Jtag

/** Harts, coherent DMA ports, one port to main memory, one to the peripherals, CLINT and PLIC.
  *
  *     hart n: I-cache --FetchPort--+--> MemoryHub --> memory
  *             D-cache --DataPort --+--> PeripheralBridge --> CLINT, PLIC, peripheral
  *     dma n:  AXI4 ----DmaPort--------> MemoryHub
  */
class Cluster(config: ClusterConfig) extends Component {
  setDefinitionName("ModeratoCluster")
  val io = new Bundle {
    val memory     = master(MemoryPort())
    val peripheral = master(Wishbone(PeripheralBridge.wishboneConfig))
    val dma        = Vec(slave(Axi4(DmaPort.axiConfig(config.dmaIdWidth))), config.dmaPorts)
    val interrupts = in(Bits(config.plicSources bits))
    val trace      = out(Vec(Trace(), config.harts))
    val jtag       = config.debug generate Vec(slave(Jtag()), config.harts)
  }
  noIoPrefix()

  val harts      = Seq.tabulate(config.harts)(new Hart(config, _))
  val data       = harts.map(hart => new DataPort(hart.dBus.p))
  val fetch      = harts.map(hart => new FetchPort(hart.iBus.p))
  val dma        = Seq.fill(config.dmaPorts)(new DmaPort(config.dmaIdWidth))
  val hub        = new MemoryHub(config.harts, config.harts, config.dmaPorts)
  val bridge     = new PeripheralBridge(2 * config.harts)
  val controller = new InterruptController(config.harts, config.plicSources)

  // Memory ----------------------------------------------------------------------------------------

  for (id <- 0 until config.harts) {
    data(id).io.bus       <> harts(id).dBus
    data(id).io.memory    >> hub.io.hart(id)
    data(id).io.outcome   := hub.io.outcome(id)
    data(id).io.data      := hub.io.data
    data(id).io.invalidation << hub.io.invalidation(id)

    fetch(id).io.bus      <> harts(id).iBus
    fetch(id).io.memory   >> hub.io.fetch(id)
    fetch(id).io.outcome  := hub.io.outcome(config.harts + id)
    fetch(id).io.data     := hub.io.data
  }
  for ((port, id) <- dma.zipWithIndex) {
    port.io.axi     << io.dma(id)
    port.io.memory  >> hub.io.dma(id)
    port.io.outcome := hub.io.outcome(2 * config.harts + id)
    port.io.data    := hub.io.data
  }
  hub.io.memory <> io.memory

  // Peripherals -----------------------------------------------------------------------------------

  for ((port, id) <- (data.map(p => (p.io.peripheral, p.io.answer)) ++
                      fetch.map(p => (p.io.peripheral, p.io.answer))).zipWithIndex) {
    port._1 >> bridge.io.access(id)
    port._2 << bridge.io.answer(id)
  }
  bridge.io.wishbone >> io.peripheral
  bridge.io.local    >> controller.io.bus

  // Interrupts and observation --------------------------------------------------------------------

  controller.io.sources := io.interrupts
  for ((hart, id) <- harts.zipWithIndex) {
    hart.interrupts(
      timer      = controller.io.timer(id),
      software   = controller.io.software(id),
      machine    = controller.io.machine(id),
      supervisor = controller.io.supervisor(id),
      time       = controller.io.time)
    io.trace(id) := hart.trace
    if (config.debug) io.jtag(id) <> hart.jtag
  }
}

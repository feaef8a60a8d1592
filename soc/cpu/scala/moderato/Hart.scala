// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._
import spinal.lib._
import spinal.lib.com.jtag.Jtag
import vexriscv.demo.smp.VexRiscvSmpClusterGen
import vexriscv.ip.{DataCacheMemBus, InstructionCacheMemBus}
import vexriscv.plugin._
import vexriscv.{Riscv, VexRiscv, VexRiscvConfig}

/** Signals of a hart for the lab; synthesis removes them if they are unconnected. */
case class Trace() extends Bundle {
  val wfi       = Bool()         // the hart waits in WFI
  val valid     = Bool()         // an instruction retires in this cycle,
  val pc        = UInt(32 bits)  // at this address,
  val privilege = UInt(2 bits)   // in this mode (0 U, 1 S, 3 M)
}

/** One VexRiscv: rv32ima, M/S/U and Sv32 or, without TLBs, M; both caches with 64-byte lines. */
class Hart(config: ClusterConfig, id: Int) extends Area {
  private val vexConfig = Hart.vexConfig(config, id)
  private val debugPlugin = config.debug generate new DebugPlugin(ClockDomain.current)
  if (config.debug) vexConfig.plugins += debugPlugin

  val cpu  = new VexRiscv(vexConfig)
  val iBus = cpu.plugins.collectFirst { case p: IBusCachedPlugin => p.iBus }.get
  val dBus = cpu.plugins.collectFirst { case p: DBusCachedPlugin => p.dBus }.get
  private val csr = cpu.plugins.collectFirst { case p: CsrPlugin => p }.get

  val jtag = config.debug generate Jtag()
  if (config.debug) jtag <> debugPlugin.io.bus.fromJtag()

  def interrupts(timer: Bool, software: Bool, machine: Bool, supervisor: Bool, time: UInt) {
    csr.timerInterrupt     := timer
    csr.softwareInterrupt  := software
    csr.externalInterrupt  := machine
    csr.utime              := time
    if (csr.externalInterruptS != null) csr.externalInterruptS := supervisor
  }

  def trace = {
    val trace = Trace()
    trace.wfi       := csr.inWfi
    trace.valid     := cpu.lastStageIsFiring.pull()
    trace.pc        := cpu.lastStagePc.pull()
    trace.privilege := csr.privilege.pull()
    trace
  }
}

object Hart {
  /** VexRiscv's own SMP configuration with two plugins replaced. */
  def vexConfig(config: ClusterConfig, id: Int): VexRiscvConfig = {
    val prediction = config.prediction match {
      case "none"    => NONE
      case "static"  => STATIC
      case "dynamic" => DYNAMIC
      case "target"  => DYNAMIC_TARGET
    }
    val vex = VexRiscvSmpClusterGen.vexRiscvConfig(
      hartId = id, ioRange = _.msb, resetVector = 0,
      iBusWidth = 64, dBusWidth = 64, loadStoreWidth = 32,
      iCacheSize = config.icacheBytes, iCacheWays = config.icacheWays,
      dCacheSize = config.dcacheBytes, dCacheWays = config.dcacheWays,
      iTlbSize = config.itlbEntries, dTlbSize = config.dtlbEntries,
      prediction = prediction,
      coherency = true, iBusRelax = true, withMmu = config.withMmu,
      // With predicted targets, only mispredicted branches wait for the decision. It therefore has a
      // register before the fetch, because that path would be the longest one (docs/soc.md).
      earlyBranch = prediction != DYNAMIC_TARGET,
      withFloat = false, withDouble = false, externalFpu = false)

    // Without ebreakGen, `ebreak` is a no-operation: BUG() and WARN() would be lost.
    replace(vex) { case old: CsrPlugin =>
      new CsrPlugin(old.config.copy(
        ebreakGen = true, wfiOutput = true, csrOhDecoder = false,
        userGen = config.withMmu, supervisorGen = config.withMmu,
        misaExtensionsInit = Riscv.misaToInt(if (config.withMmu) "imas" else "ima")))
    }
    // Each store goes to the hub by itself: it orders and acknowledges a store per cycle, so that
    // the write-aggregation buffer (and its timers) would only add latency.
    replace(vex) { case old: DBusCachedPlugin =>
      new DBusCachedPlugin(
        config = old.config.copy(withWriteAggregation = false),
        memoryTranslatorPortConfig = MmuPortConfig(
          portTlbSize = config.dtlbEntries, latency = 1,
          earlyRequireMmuLockup = true, earlyCacheHits = true),
        dBusCmdMasterPipe = true, dBusCmdSlavePipe = true, dBusRspSlavePipe = true,
        relaxedMemoryTranslationRegister = true)
    }
    vex.plugins -= vex.find(classOf[YamlPlugin]).get  // it writes a file next to the netlist
    vex
  }

  private def replace(vex: VexRiscvConfig)
                     (rule: PartialFunction[Plugin[VexRiscv], Plugin[VexRiscv]]) {
    val index = vex.plugins.indexWhere(rule.isDefinedAt)
    vex.plugins(index) = rule(vex.plugins(index))
  }
}

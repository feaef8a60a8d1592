// SPDX-License-Identifier: BSD-2-Clause
package moderato

import spinal.core._

/** `Generate DIRECTORY name=value…` writes DIRECTORY/ModeratoCluster.v. */
object Generate extends App {
  val config = ClusterConfig.parse(args.tail)
  SpinalConfig(
    targetDirectory = args.head,
    inlineRom = true,
    defaultConfigForClockDomains = ClockDomainConfig(resetKind = SYNC)
  ).addStandardMemBlackboxing(blackboxByteEnables)
   .generateVerilog(new Cluster(config))
}

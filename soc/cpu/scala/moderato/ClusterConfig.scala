// SPDX-License-Identifier: BSD-2-Clause
package moderato

/** The cluster's parameters; soc/cpu/config.py has the defaults. */
case class ClusterConfig(
  harts      : Int,
  dmaPorts   : Int,
  dmaIdWidth : Int,
  plicSources: Int,     // interrupt lines, source 0 (which means "none") not counted
  icacheBytes: Int,
  icacheWays : Int,
  dcacheBytes: Int,
  dcacheWays : Int,
  itlbEntries: Int,     // both 0: no MMU, and machine mode alone
  dtlbEntries: Int,
  prediction : String,  // none, static, dynamic or target
  debug      : Boolean  // JTAG debug module
) {
  require(harts == 1 || harts == 2, s"harts = $harts: 1 or 2 are supported")
  val withMmu = itlbEntries != 0 || dtlbEntries != 0
  require(plicSources >= 1 && plicSources <= 31, s"plic-sources = $plicSources: 1 to 31")
}

object ClusterConfig {
  val lineBytes = 64
  val busBytes  = 8
  val lineBeats = lineBytes / busBytes

  /** From `name=value` arguments: all of them, and no others. */
  def parse(args: Seq[String]): ClusterConfig = {
    val given = args.map(_.split("=", 2)).map(a => a(0) -> a(1)).toMap
    var known = Set[String]()
    def text(name: String) = {
      known += name
      given.getOrElse(name, sys.error(s"argument $name=… is missing"))
    }
    def number(name: String) = text(name).toInt
    val config = ClusterConfig(
      harts       = number("harts"),
      dmaPorts    = number("dma-ports"),
      dmaIdWidth  = number("dma-id-width"),
      plicSources = number("plic-sources"),
      icacheBytes = number("icache"),
      icacheWays  = number("icache-ways"),
      dcacheBytes = number("dcache"),
      dcacheWays  = number("dcache-ways"),
      itlbEntries = number("itlb"),
      dtlbEntries = number("dtlb"),
      prediction  = text("prediction"),
      debug       = text("debug").toBoolean
    )
    val unknown = given.keySet -- known
    require(unknown.isEmpty, s"unknown arguments: ${unknown.mkString(", ")}")
    config
  }
}

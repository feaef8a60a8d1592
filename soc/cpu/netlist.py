# SPDX-License-Identifier: BSD-2-Clause
"""The cluster's Verilog: VexRiscv and our Scala, compiled by Maven, run once per configuration."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from ...toolchain.cache import BuildError, artifact, run
from ...toolchain.project import cache_root, settings
from .config import CpuConfig

HERE = Path(__file__).parent
MODULE = "ModeratoCluster"
JAVA = ["java", "-Xss8m", "-Xmx2g"]
OLDEST_JAVA = 17
DEBIANS_JAVA = Path("/usr/lib/jvm/default-java")

# The files of VexRiscv that the cluster uses. Compiling all files takes twice as long.
VEXRISCV = [
    "*.scala",
    "ip/**/*.scala",
    "plugin/*.scala",
    "demo/GenFull.scala",
    "demo/smp/Misc.scala",
    "demo/smp/VexRiscvSmpCluster.scala",
]
NOT_NEEDED = {"TestsWorkspace.scala"}


def cluster(config: CpuConfig, dma_ports: int, plic_sources: int, dma_id_width: int = 1) -> Path:
    """The path of the Verilog file with the module `MODULE`."""
    arguments = {
        "harts": config.harts,
        "dma-ports": dma_ports,
        "dma-id-width": dma_id_width,
        "plic-sources": plic_sources,
        "icache": config.icache,
        "icache-ways": config.icache_ways,
        "dcache": config.dcache,
        "dcache-ways": config.dcache_ways,
        "itlb": config.itlb,
        "dtlb": config.dtlb,
        "prediction": config.prediction,
        "debug": str(config.debug).lower(),
    }
    words = [f"{name}={value}" for name, value in arguments.items()]
    made = generator("cpu-generator", VEXRISCV, HERE / "scala")

    def build(directory: Path):
        run_java(made, "moderato.Generate", [directory, *words], directory)
        verilog = directory / f"{MODULE}.v"
        header, body = verilog.read_text().split("`timescale", 1)  # the header names a commit
        verilog.write_text(f"// {' '.join(words)}\n`timescale{body}")

    inputs = [Path(__file__), made.name, *words]
    return artifact("cpu-netlist", inputs, build, "5 s") / f"{MODULE}.v"


def _vexriscv() -> Path:
    import pythondata_cpu_vexriscv

    root = Path(pythondata_cpu_vexriscv.data_location)
    return root / "ext" / "VexRiscv" / "src" / "main" / "scala" / "vexriscv"


def generator(name: str, files: list[str], own: Path | None = None) -> Path:
    """A folder with the compiled `classes`, and with the `jars` that they need.

    files: patterns of VexRiscv's sources to compile. own: a folder with more sources.
    """
    maven = settings()["maven"]
    sources = _vexriscv()

    def build(directory: Path):
        tree = directory / "scala"
        if own:
            shutil.copytree(own, tree)
        for pattern in files:
            for file in sources.glob(pattern):
                if file.name not in NOT_NEEDED:
                    target = tree / "vexriscv" / file.relative_to(sources)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, target)
        properties = {
            "scala": maven["scala"],
            "scala.binary": maven["scala"].rpartition(".")[0],
            "spinalhdl": maven["spinalhdl"],
            "snakeyaml": maven["snakeyaml"],
            "scala-maven-plugin": maven["scala-maven-plugin"],
            "sources": tree,
            "output": directory,
            "outputDirectory": directory / "jars",
            "maven.repo.local": cache_root() / "maven",
        }
        run(
            [
                "mvn",
                "-B",
                "-U",  # Maven keeps a failed download for a day, and does not try it again
                "-f",
                HERE / "pom.xml",
                *(f"-D{name}={value}" for name, value in properties.items()),
                "compile",
                "dependency:copy-dependencies",
            ],
            env=java_environment(),
        )
        shutil.rmtree(tree)

    inputs = [
        *([own] if own else []),
        HERE / "pom.xml",
        sources,
        *files,
        *(f"{k}={v}" for k, v in maven.items()),
    ]
    return artifact(name, inputs, build, "1 minute")


def run_java(made: Path, main: str, words: list, directory: Path):
    """Run a class that `generator` compiled, in `directory`."""
    run(
        [*JAVA, "-cp", f"{made}/classes:{made}/jars/*", main, *words],
        cwd=directory,
        env=java_environment(),
    )


def java_environment() -> dict[str, str]:
    """Variables with which Maven and we run the same Java: Debian's, or else the first one in PATH, and
    not that of the user's JAVA_HOME. Raises BuildError if this Java is too old."""
    variables = {"JAVA_HOME": ""}
    if DEBIANS_JAVA.is_dir():
        variables = {"JAVA_HOME": str(DEBIANS_JAVA), "PATH": f"{DEBIANS_JAVA}/bin:{os.environ['PATH']}"}
    path = shutil.which("java", path=variables.get("PATH"))
    if path:
        said = subprocess.run([path, "-version"], text=True, capture_output=True).stderr
        version = re.search(r'version "(\d+)', said)
        if version and int(version[1]) < OLDEST_JAVA:
            raise BuildError(
                f"{path} is Java {version[1]}, but the CPU's generator needs {OLDEST_JAVA} or newer; "
                "put one first in PATH"
            )
    return variables

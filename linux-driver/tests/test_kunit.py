# SPDX-License-Identifier: BSD-2-Clause
"""KUnit tests of the driver's arithmetic, its copies and segments of skbs, and the part of XDP that
needs no hardware. They run in User Mode Linux, a kernel that runs as a program.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from driver_sources import find

from moderato.soc.linux import kernel
from moderato.soc.linux.driver import copy
from moderato.toolchain import debian
from moderato.toolchain.cache import artifact, run

HERE = Path(__file__).parent
SUITES = {
    "moderato_ring",
    "moderato_coalesce",
    "moderato_cbs",
    "moderato_gates",
    "moderato_launch",
    "moderato_rxnfc",
    "moderato_cut",
    "moderato_flow",
    "moderato_xdp",
}

# The smallest configuration that runs a test, because each option costs build time. EXPERT removes
# defaults. gcc takes less time with -Os. The host's signal frames nest on the kernel's stack; on a CPU
# with AVX-512, 1 run of 200 overflowed 32 KB.
CONFIG = """\
CONFIG_EXPERT=y
CONFIG_CC_OPTIMIZE_FOR_SIZE=y
CONFIG_64BIT=y
CONFIG_KUNIT=y
CONFIG_MODULES=y
CONFIG_PRINTK=y
CONFIG_BINFMT_ELF=y
CONFIG_BLK_DEV_INITRD=y
CONFIG_NET=y
CONFIG_INET=y
CONFIG_CRC32=y
CONFIG_KERNEL_STACK_ORDER=5
"""

# Octets of a process' registers, next to the stack. Linux 6.1 has room for 2696, and panics at the first
# process if the CPU has AMX, which needs 11008.
OFFSETS, KNOWN, REGISTERS = "arch/x86/um/user-offsets.c", "2696", "16384"


def make(build: Path, *arguments) -> list:
    return ["make", "-C", kernel.source(), f"O={build}", "ARCH=um", *arguments]


def user_mode_linux() -> Path:
    """The build tree of a User Mode Linux with KUnit, and the init program next to it."""

    def build(directory: Path):
        (directory / "wanted.config").write_text(CONFIG)
        run(make(directory, "allnoconfig"), env={"KCONFIG_ALLCONFIG": str(directory / "wanted.config")})
        kernel.check(CONFIG, (directory / ".config").read_text())
        # The build tree's headers come before those of the sources.
        known = (kernel.source() / OFFSETS).read_text()
        assert known.count(KNOWN) == 1
        (directory / OFFSETS).parent.mkdir(parents=True, exist_ok=True)
        (directory / OFFSETS).write_text(known.replace(KNOWN, REGISTERS))
        run(["nice", *make(directory, f"-j{os.cpu_count()}", "linux", "modules")])
        run(["gcc", "-static", "-Os", "-o", directory / "kunit-init", HERE / "init.c"])

    return artifact(
        "user-mode-linux",
        [kernel.source().name, CONFIG, REGISTERS, HERE / "init.c", debian.version("gcc")],
        build,
        "2 minutes on 2 cores",
    )


def run_module(tmp_path: Path) -> str:
    """The kernel's output after the module of the sources in `tmp_path` is loaded."""
    uml = user_mode_linux()
    place = tmp_path / "kunit"
    subprocess.run(
        [str(word) for word in make(uml, f"M={place}", "CONFIG_MODERATO_KUNIT_TEST=m", "modules")],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    root = tmp_path / "root"
    (root / "dev").mkdir(parents=True)
    shutil.copy(uml / "kunit-init", root / "init")
    shutil.copy(place / "moderato_kunit.ko", root)
    names = "".join(f"{path.relative_to(root)}\n" for path in sorted(root.rglob("*")))
    with open(tmp_path / "initrd", "wb") as initrd:
        subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc"],
            cwd=root,
            input=names.encode(),
            stdout=initrd,
            check=True,
        )
    # A file, because the kernel writes without waiting, and loses what finds a pipe full.
    with open(tmp_path / "output", "w") as output:
        subprocess.run(
            [
                uml / "linux",
                "mem=64M",
                "kunit.enable=1",
                "con=null",
                "con0=fd:0,fd:1",
                f"initrd={tmp_path / 'initrd'}",
            ],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return (tmp_path / "output").read_text(errors="replace")


def results(output: str) -> dict[str, bool]:
    """Whether each test passed, by suite and test, from the kernel's TAP lines."""
    found = re.findall(r"^\s*(?:\[[\d. ]+\]\s+)?(not ok|ok) \d+ (\w+)", output, re.MULTILINE)
    return {name: verdict == "ok" for verdict, name in found}


def test_arithmetic(tmp_path):
    output = run_module(copy(tmp_path))
    found = results(output)
    assert SUITES <= found.keys(), output
    assert all(found.values()), output


# One of each kind of arithmetic; the others in the slow set.
FAST = {"ring_phase", "rxnfc_vlan", "coalesce_budget", "cut_gso_boundary", "flow_nat", "xdp_left"}
BROKEN = [
    ("moderato_ring.h", "!((index >> order) & 1)", "!((index >> 8) & 1)", "ring_phase"),
    ("moderato_ring.h", "(u16)(producer - consumer)", "(producer - consumer)", "ring_space"),
    ("moderato_rxnfc.h", "also.mask &= ~word.mask", "(void)0", "rxnfc_vlan"),
    (
        "moderato_ring.h",
        "moderato_size(order) / 4, reserve)",
        "moderato_size(order) / 4, 1U)",
        "ring_wake",
    ),
    ("moderato_ring.h", "DIV_ROUND_UP_ULL(512ULL * hz", "div_u64(512ULL * hz", "ring_pause"),
    ("moderato_budget.h", "? c->frames : moderato_size(order)", "? 256 : 256", "coalesce_budget"),
    ("moderato_cut.h", "cut->id++", "(void)0", "cut_gso"),
    ("moderato_cut.h", "flags &= ~TCP_FLAG_CWR", "flags &= ~TCP_FLAG_ECE", "cut_gso"),
    ("moderato_cut.h", "(TCP_FLAG_FIN | TCP_FLAG_PSH)", "TCP_FLAG_FIN", "cut_gso"),
    ("moderato_cut.h", "\t\t\t\t     done);", "\t\t\t\t     0);", "cut_gso"),
    ("moderato_cut.h", "~(__force u16)check;", "(__force u16)check;", "cut_gso_inserts"),
    (
        "moderato_cut.h",
        "start = skb_transport_offset(skb);",
        "start = skb_network_offset(skb);",
        "cut_gso_inserts",
    ),
    ("moderato_ring.h", "_TX_CHECKSUM_PLACE, place)", "_TX_CHECKSUM_PLACE, start)", "cut_whole"),
    ("moderato_cut.h", "csum_shift(sum, odd)", "sum", "cut_copy_sum"),
    ("moderato_cut.h", "% sizeof(u32);", "* 0;", "cut_offset"),
    (
        "moderato_cut.h",
        "DIV_ROUND_UP(cut->rest, cut->size)",
        "cut->rest / cut->size + 1",
        "cut_gso_boundary",
    ),
    ("moderato_cut.h", "!(skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4)", "0", "cut_gso_refused"),
    (
        "moderato_cut.h",
        "start = skb_checksum_start_offset(skb);",
        "start = skb_checksum_start_offset(skb) & ~1;",
        "cut_whole",
    ),
    ("moderato_cut.h", " ?: CSUM_MANGLED_0", "", "cut_udp_zero"),
    ("moderato_flow.h", "transport = addresses;", "transport = 0;", "flow_nat"),
    ("moderato_flow.h", "htons(0x0100)", "htons(0x0001)", "flow_plain"),
    ("moderato_flow.h", "popped != spec->tagged", "0", "flow_refused_vlans"),
    (
        "moderato_flow.h",
        "dissector->offset[FLOW_DISSECTOR_KEY_VLAN]",
        "dissector->used_keys & 0",
        "flow_vlan",
    ),
    ("moderato_flow.h", "|| spec->tag ||", "||", "flow_vlan_out"),
    ("moderato_flow.h", "used & ~known", "0", "flow_refused_matches"),
    ("moderato_flow.h", "tcp.mask->flags & ~seen", "0", "flow_refused_matches"),
    (
        "moderato_flow.h",
        "if (offset || spec->protocol != IPPROTO_TCP)",
        "if (0)",
        "flow_refused_actions",
    ),
    ("moderato_flow.h", "hash >> way * bits", "hash >> way * 8", "flow_where"),
    ("moderato_flow.h", "one->ports == other->ports", "1", "flow_same"),
    ("moderato_flow.h", "min_t(u64, age, now - looked)", "age", "flow_age"),
    ("moderato_flow.h", "u16 ticks = time - last;", "u32 ticks = time - last;", "flow_age"),
    ("moderato_verdict.h", "config->rx_ops->shared", "0", "xdp_refused"),
    ("moderato_verdict.h", "&& !config->tx_ops->quiet", "", "xdp_refused"),
    ("moderato_verdict.h", "mtu > MODERATO_XDP_MTU", "mtu >= MODERATO_XDP_MTU", "xdp_refused"),
    ("moderato_verdict.h", "mtu > room", "mtu >= room", "xdp_sockets_refused"),
    ("moderato_verdict.h", '(extack, "%s", why)', '(extack, "XDP")', "xdp_refused"),
    (
        "moderato_verdict.h",
        "MODERATO_STAMP_OCTETS - MODERATO_RX_OFFSET",
        "MODERATO_RX_OFFSET",
        "xdp_longest",
    ),
    ("moderato_verdict.h", "!(buff->status & MODERATO_DESC_STATUS_TAGGED)", "0", "xdp_metadata"),
    ("moderato_verdict.h", "(u64)buff->stamp[1] << 32", "0", "xdp_metadata"),
    ("moderato_verdict.h", "buff->xdp.data_meta += MODERATO_STAMP_OCTETS;", "", "xdp_metadata"),
    ("moderato_verdict.h", "flags | MODERATO_TX_FRAME", "MODERATO_TX_FRAME", "xdp_posted"),
    ("moderato_verdict.h", "\t\tdesc->checksum = 0;", "", "xdp_posted"),
    ("moderato_verdict.h", "!(buf->flags & MODERATO_TX_FRAME)", "0", "xdp_left"),
    ("moderato_verdict.h", "max_t(u32, buf->len, ETH_ZLEN)", "buf->len", "xdp_left"),
    ("moderato_verdict.h", "sent = max(sent, 0);\n\tcount", "count", "xdp_count_sent"),
    ("moderato_verdict.h", "data[MODERATO_XDP_RX_COUNTERS + i]", "data[i]", "xdp_count_all"),
]


@pytest.mark.parametrize(
    "file, good, bad, test",
    [pytest.param(*each, marks=[] if each[-1] in FAST else pytest.mark.slow) for each in BROKEN],
)
def test_kunit_fails_with_broken_arithmetic(tmp_path, file, good, bad, test):
    target = find(file, copy(tmp_path))
    assert good in target.read_text()
    target.write_text(target.read_text().replace(good, bad))
    output = run_module(tmp_path)
    # A test may end the kernel before its verdict.
    assert results(output).get(test) is False or f"# {test}: EXPECTATION FAILED" in output

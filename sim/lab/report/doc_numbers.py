# SPDX-License-Identifier: BSD-2-Clause
"""Numbers that pages repeat, and their sources. `./moderato export` writes them, and the outputs of
commands that pages quote (quotes.py).

The version is from pyproject.toml, throughputs from docs/tables.md, which is made from docs/data.
Results of `make forward`, on the lab's machine and on others, are in docs/data/forward. The cost of each
setting of a strategy is in docs/data/strategies.jsonl.gz. Measurements by hand are in their own page.
"""

import gzip
import json
import re
from pathlib import Path

from moderato.toolchain.project import ROOT, release

from ..compare import kept
from . import quotes
from .placeholders import Place, files

VARIANTS = ("original", "tx-128", "tx-off", "napi", "napi-tx-128", "napi-tx-off")
WAYS = {
    "one hart": (0, 1, 2, 3, 4),
    "common": (0, 3, 4),
    "ipi": (0, 2, 3, 4),
    "pinned": (0, 3, 4),
    "rps": (0, 1, 2),
    "threaded": (0,),
}  # the measured columns

# Settings in docs/strategies.md, each with its situations besides round trip and overload.
SETTINGS = (
    "original",
    "napi",
    "napi-tx-off",
    "napi-full",
    "napi-full busy polling",
    "napi-full threaded",
    "napi-full deferred 250 us",
    "napi-timer 100 Hz",
    "napi-timer 1000 Hz",
    "napi-timer 1 ms",
    "hw-moderated 100 us",
    "hw-moderated 1 ms",
    "hw-moderated 10 ms",
    "hw-moderated gap 500 us",
    "adaptive-dim stock",
    "adaptive-dim",
    "adaptive-hw 250 us",
)
SITUATIONS = ("idle", "10%", "50%", "90%", "bursts")

# README's names for the fields of a port in --json.
COUNTS = {
    "received": "received",
    "forwarded": "forwarded",
    "dropped": "dropped_at_ring",
    "rx": "rx_interrupts",
    "tx": "tx_interrupts",
}

# Captions in docs/tables.md.
THROUGHPUT = "Throughput (RFC 2544, 26.1), both ports together"
RATIOS = "Table 1 as ratios to original"
BASELINE = "Throughput as ratio to that of another NIC"
HARTS = "RFC 2544 throughput, frames/s of all ports together"


# Values -------------------------------------------------------------------------------------------


def values() -> dict[str, str]:
    """The numbers, by name."""
    return {"release": release(), **throughputs(), **harts(), **forwarded(), **strategies(), **by_hand()}


def throughputs() -> dict[str, str]:
    """`napi 64`, in frames/s of both ports, and its ratios: `napi 64 / original`, `... / liteeth`."""
    found = {f"{variant} {size}": rate for size, variant, rate, *_ in rows(THROUGHPUT)}
    for caption, base, line in ((RATIOS, "original", "ours"), (BASELINE, "liteeth", "to liteeth")):
        head, *body = rows(caption, head=True)
        for size, what, *ratios in body:
            if what == line:
                found |= {
                    f"{variant} {size} / {base}": ratio for variant, ratio in zip(head[2:], ratios)
                }
    return {name: re.sub(r"[*]", "", value) for name, value in found.items()}


def harts() -> dict[str, str]:
    """`pinned 3`: frames/s in a column of the table, and `pinned 3 / one`, times one hart."""
    found = {}
    for _, way, *cells in rows(HARTS):
        for column, cell in enumerate(cells):
            rate, _, ratio = cell.partition(" ")
            found |= {f"{way} {column}": rate, f"{way} {column} / one": ratio.strip("()")}
    return found


def forwarded() -> dict[str, str]:
    """`napi received`: 64 octets, the lab's machine; `napi versa fps`, `versa boot` (M cycles)."""
    found = {}
    for file in sorted((ROOT / "docs/data/forward").glob("*.json")):
        box = "" if file.stem == "lab" else f"{file.stem} "
        for trial in json.loads(file.read_text()):
            ports = trial["ports"]
            sums = {what: str(sum(port[name] for port in ports)) for what, name in COUNTS.items()}
            # Rounds half up, because the value has been rounded before.
            rates = {
                "fps": str(int(trial["throughput"]["fps"] + 0.5)),
                "median": f"{trial['latency_ns']['median'] / 1e6:.1f}",
            }
            found |= {f"{trial['variant']} {box}{what}": value for what, value in (sums | rates).items()}
            found[f"{file.stem} boot"] = f"{trial['boot_cycles'] / 1e6:.1f}"
    return found


def strategies() -> dict[str, str]:
    """`napi-full idle p99`, in us, or `lost`; `napi-full idle busy`, in percent; `napi-full ping
    median`; `napi-full overload fps`."""
    with gzip.open(ROOT / "docs/data/strategies.jsonl.gz", "rt") as lines:
        trials = {
            (trial["setting"], trial["situation"]): trial
            for trial in map(json.loads, lines)
            if trial and trial.get("kind") == "strategy"
        }
    found = {}
    for setting in SETTINGS:
        for situation in SITUATIONS:
            trial = trials[setting, situation]
            p99 = round(trial["latency_ns"]["p99"] / 1000)
            found |= {
                f"{setting} {situation} p99": "lost" if trial["lost"] else str(p99),
                f"{setting} {situation} busy": f"{100 - trial['cpu_idle_percent']:.0f}",
            }
        ping, overload = trials[setting, "ping"], trials[setting, "overload"]
        found |= {
            f"{setting} ping median": str(round(ping["latency_ns"]["median"] / 1000)),
            f"{setting} overload fps": str(round(overload["throughput"]["fps"])),
        }
    return found


def by_hand() -> dict[str, str]:
    """Figures that were measured once: on LiteX's VexRiscv-SMP, and on two harts."""
    (smp,) = re.findall(
        r"\| forwarded, frames/s \| ([\d ]+) \|", (ROOT / "docs/integrate.md").read_text()
    )
    page = (ROOT / "docs/two-harts.md").read_text()
    (pinned,) = re.findall(r"\| two, `pinned` \| ([\d ]+) \| [\d.]+ \| [\d.]+ \|", page)
    return {"smp": smp, "pinned": pinned}


def rows(caption: str, head: bool = False) -> list[list[str]]:
    """The cells of the table in docs/tables.md whose caption begins like this."""
    text = (ROOT / "docs/tables.md").read_text()
    table, *_ = re.findall(rf"(?:\*\*|<summary>){re.escape(caption)}[^\n]*\n+((?:\|.*\n)+)", text)
    first, _, *body = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()
    ]
    return [first, *body] if head else body


# Places -------------------------------------------------------------------------------------------


def of_results(variant: str) -> Place:
    """A row of the first table of docs/results.md. The best of a column is bold, * means the line
    rate."""
    cells = ["{}", "{}", "{}*" if variant.startswith("napi") else "{}"]
    ratios = ["**{}**" if variant == "napi-tx-off" else "{}"] * 4
    theirs = {
        "original": "1.00",
        "tx-128": "1.06",
        "tx-off": "1.21",
        "napi": "1.29",
        "napi-tx-128": "1.44",
        "napi-tx-off": "2.09",
    }[variant]
    return Place(
        "docs/results.md",
        f"| `{variant}` | " + " | ".join([*cells, ratios[0], theirs, *ratios[1:]]) + " |",
        [
            *(f"{variant} {size}" for size in (64, 512, 1518)),
            f"{variant} 64 / original",
            *(f"{variant} {size} / liteeth" for size in (64, 512, 1518)),
        ],
    )


def of_readme(variant: str) -> Place:
    """A row of README's table."""
    return Place(
        "README.md",
        f"| `{variant}` | " + "{} | " * 6 + "{} ms | 0 % | {} |",
        [f"{variant} {what}" for what in (*COUNTS, "fps", "median", "versa fps")],
    )


def of_harts(way: str, columns: tuple[int, ...]) -> Place:
    """A row of the table in docs/two-harts.md."""
    if way == "one hart":
        return Place(
            "docs/two-harts.md",
            "| one hart | " + "{} | " * 4 + "{} |",
            [f"{way} {column}" for column in columns],
            spaced=True,
        )
    cells = ["{} ({})" if column in columns else "" for column in range(5)]
    return Place(
        "docs/two-harts.md",
        f"| two, `{way}` |" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|",
        [f"{way} {column}{of}" for column in columns for of in ("", " / one")],
        spaced=True,
    )


def of_strategies(setting: str) -> Place:
    """A row of the table in docs/strategies.md."""
    variant, _, more = setting.partition(" ")
    label = f"`{variant}` {more.replace(' us', ' µs')}".rstrip()
    situations = [
        f"{setting} {situation} {what}" for situation in SITUATIONS for what in ("p99", "busy")
    ]
    return Place(
        "docs/strategies.md",
        f"| {label} | {{}} | " + "{} | {} % | " * len(SITUATIONS) + "{} |",
        [f"{setting} ping median", *situations, f"{setting} overload fps"],
    )


PLACES = (
    Place("linux-driver/dkms.conf", 'PACKAGE_VERSION="{}"', ["release"]),
    Place("linux-driver/dkms.conf", "dkms install moderato/{}", ["release"]),
    Place("docs/upstream.md", "dkms install moderato/{}", ["release"]),
    Place("CITATION.cff", "\nversion: {}\ndate-released", ["release"]),
    *map(of_readme, VARIANTS),
    Place(
        "README.md",
        "`napi-tx-off` forwards {} of the smallest frames per second on one hart at 100 "
        "MHz. That is {} times as many as `original`, and {} times as many as LiteEth",
        ["napi-tx-off 64", "napi-tx-off 64 / original", "napi-tx-off 64 / liteeth"],
        spaced=True,
    ),
    Place("README.md", "the driver forwarded {} of the smallest frames", ["smp"]),
    *(
        Place(
            "docs/soc.md",
            f"| `{variant}` | {{}} | {{}} |",
            [f"{variant} stock fps", f"{variant} fps"],
            spaced=True,
        )
        for variant in VARIANTS[3:]
    ),
    Place("linux-driver/upstream/cover.txt", "NAPI, an interrupt per sent frame {}", ["napi fps"]),
    Place("linux-driver/upstream/cover.txt", "NAPI, no Tx interrupt at all {}", ["napi-tx-off fps"]),
    Place("docs/fast-path.md", "| `napi-tx-off` | normal | {} |", ["napi-tx-off fps"], spaced=True),
    Place("docs/soc.md", "| boot | {} | {} |", ["stock boot", "lab boot"]),
    Place("docs/boards.md", "| boot to the shell, M cycles | {} | {} |", ["lab boot", "versa boot"]),
    *map(of_results, VARIANTS),
    Place(
        "docs/results.md",
        "**NAPI-TX-OFF gains more: {} instead of 2.09**",
        ["napi-tx-off 64 / original"],
    ),
    Place(
        "docs/results.md",
        "the throughput of `napi-tx-off` is {} times that of `original` (the goal was 3), and {} times",
        ["napi-tx-off 64 / original", "napi-tx-off 64 / liteeth"],
    ),
    *map(of_strategies, SETTINGS),
    *(of_harts(way, columns) for way, columns in WAYS.items()),
    Place(
        "docs/two-harts.md",
        "| one hart, kernel without SMP | {} | 1.00 | 1.15 | {} ms |",
        ["napi-tx-off fps", "napi-tx-off median"],
        spaced=True,
    ),
    Place(
        "docs/offloads.md",
        "one hart forwards {} frames per second, and `pinned` {}.",
        ["napi-tx-off fps", "pinned"],
        spaced=True,
    ),
)


def measured(found: dict[str, str]) -> list[Place]:
    """Places whose numbers are all known. Two harts have a ratio only if one hart with the same core was
    measured (harts.py); otherwise the page keeps its number."""
    return [place for place in PLACES if all(found[name] not in ("", "–") for name in place.names)]


def texts() -> dict[Path, str]:
    """The correct content of all files with numbers or quotes."""
    found, printed = values(), kept.read()["printed"]
    made = dict(files(measured(found), found))
    return made | {
        page: quotes.fill(made.get(page) or page.read_text(), printed) for page in quotes.pages()
    }


def stale() -> list[str]:
    """Names of files whose numbers or quotes are not up to date."""
    return [str(path.relative_to(ROOT)) for path, text in texts().items() if path.read_text() != text]


def write():
    """Bring these files up to date. The others stay untouched: another process may be reading them."""
    for path, text in texts().items():
        if path.read_text() != text:
            path.write_text(text)

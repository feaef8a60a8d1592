# SPDX-License-Identifier: BSD-2-Clause
"""A profile in the form of the paper's table 5: cycles per frame by term and variant; also as JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ..run import ethtool
from ..show.columns import columns, sentence
from .stacks import Profile
from .terms import IDLE, OTHER, SEVERAL, TERMS, term_of

CAUSES = {
    "retire": "an instruction retired",
    "pipeline": "hazards, branches, multiplications",
    "icache": "I-cache refills",
    "dcache": "D-cache refills",
    "lsu": "other waits of loads and stores",
    "tlb": "page-table walks",
    "idle": "waiting for an interrupt",
}
USES = {  # how a client uses the memory port, by the names of sim/harness/README.md
    "beats": "words of 8 octets, a cycle each",
    "behind": "cycles in which its word waited for another client's",
    "stalled": "cycles in which its word waited, and no word was taken",
}
SHOWN = 10  # functions that are listed for each variant


def by_term(profile: Profile) -> dict[str, Counter]:
    """The window's cycles by term and cause; each cycle counts once."""
    found = {term.name: Counter() for term in (*TERMS, *SEVERAL)}
    for stack in profile.stacks:
        busy = Counter(stack.causes)
        found[IDLE][IDLE] += busy.pop(IDLE, 0)
        found[term_of(stack.functions)].update(busy)
    return {
        name: causes
        for name, causes in found.items()
        if causes.total() or name not in {term.name for term in SEVERAL}
    }


def by_hart(profile: Profile) -> list[tuple[str, Profile]]:
    """The profile of each hart, with the name of its column."""
    variant = profile.result.trial.variant
    harts = sorted({stack.hart for stack in profile.stacks})
    if len(harts) < 2:
        return [(variant, profile)]
    return [
        (
            f"{variant} {hart}",
            replace(profile, stacks=[stack for stack in profile.stacks if stack.hart == hart]),
        )
        for hart in harts
    ]


def enabled(profile: Profile) -> Counter:
    """Cycles by term in which interrupts were enabled. In WFI, Linux has them disabled."""
    found = Counter()
    for stack in profile.stacks:
        found[term_of(stack.functions)] += stack.enabled
    return found


def by_cause(profile: Profile) -> Counter:
    """The window's cycles by cause."""
    found = Counter()
    for stack in profile.stacks:
        found.update(stack.causes)
    return found


def by_function(profile: Profile, term: str | None = None) -> Counter:
    """Cycles of each function itself, without its callees and without WFI."""
    found = Counter()
    for stack in profile.stacks:
        if term in (None, term_of(stack.functions)):
            found[stack.functions[-1]] += stack.cycles - stack.causes[IDLE]
    return found


def per_frame(cycles: dict[str, int], frames: int) -> dict[str, int]:
    """Whole cycles per frame by name, rounded so that they add up to the total (largest remainders)."""
    exact = {name: Fraction(count, frames) for name, count in cycles.items()}
    whole = {name: int(value) for name, value in exact.items()}
    missing = round(sum(exact.values())) - sum(whole.values())
    rounded_up = sorted(exact, key=lambda name: whole[name] - exact[name])[:missing]
    return {name: count + (name in rounded_up) for name, count in whole.items()}


def by_client(profile: Profile) -> dict[str, dict[str, float]]:
    """Cycles of the memory port per frame: by kind of use, then by client."""
    divisor = frames(profile)[0]
    return {
        use: {client: uses[use] / divisor for client, uses in profile.memory.items()} for use in USES
    }


def frames(profile: Profile) -> tuple[int, str]:
    """The divisor of a window's cycles: frames forwarded, or received if none were forwarded."""
    forwarded, received = profile.counts["forwarded"], profile.counts["received"]
    return (forwarded, "forwarded") if forwarded else (max(1, received), "received")


# As text ------------------------------------------------------------------------------------------


def render(profiles: Sequence[Profile]) -> str:
    """Tables of terms and causes, a column per variant and hart; then the costliest functions."""
    trial = profiles[0].result.trial
    ports = [
        _memory_port(use, profiles)
        for use in USES
        if any(uses[use] for each in profiles for uses in each.memory.values())
    ]
    names, profiles = zip(*(part for each in profiles for part in by_hart(each)))
    title = (
        f"{trial.frame_bytes}-byte frames, {trial.load_percent:g} % of {trial.link_mbps} Mb/s "
        f"offered to each port; cycles per frame in the window, "
        f"{profiles[0].result.sys_clk_hz // 1_000_000} cycles are 1 us"
        + ethtool.said(profiles[0].result.conditions)
    )
    terms = [
        per_frame({term: causes.total() for term, causes in by_term(each).items()}, frames(each)[0])
        for each in profiles
    ]
    causes = [per_frame(by_cause(each), frames(each)[0]) for each in profiles]
    meanings = {
        term.name: term.meaning
        for term in (*TERMS[:-2], *SEVERAL, *TERMS[-2:])
        if term not in SEVERAL or any(term.name in each for each in terms)
    }
    tables = [
        _table("term", names, meanings, terms),
        _table("of these", names, CAUSES, causes),
        columns([["", *names, ""], *_facts(profiles)], left=True),
        *ports,
        *(_costliest(*part) for part in zip(names, profiles)),
    ]
    return "\n\n".join("\n".join(lines) for lines in [[sentence(title)], *tables]) + "\n"


def _table(
    head: str, names: Sequence[str], meanings: dict[str, str], figures: list[dict[str, int]]
) -> list[str]:
    rows = [
        [name, *(str(each.get(name, 0)) for each in figures), meaning]
        for name, meaning in meanings.items()
    ]
    total = ["sum", *(str(sum(each.values())) for each in figures), ""]
    return columns([[head, *names, ""], *rows, total], left=True)


def _memory_port(use: str, profiles: Sequence[Profile]) -> list[str]:
    """A line for each client that uses the port in this way, a column per variant."""
    figures = [by_client(each)[use] for each in profiles]
    rows = [
        [client, *(f"{each.get(client, 0):.1f}" for each in figures), ""]
        for client in figures[0]
        if any(each.get(client, 0) >= 0.05 for each in figures)
    ]
    total = ["sum", *(f"{sum(each.values()):.1f}" for each in figures), USES[use]]
    names = [each.result.trial.variant for each in profiles]
    return columns([[f"port: {use}", *names, ""], *rows, total], left=True)


def _facts(profiles: Sequence[Profile]) -> list[list[str]]:
    def row(name, of, meaning):
        return [name, *(of(each) for each in profiles), meaning]

    def share(each):
        causes = by_cause(each)
        busy = causes.total() - causes[IDLE]
        return f"{100 * enabled(each).total() / max(1, busy):.1f} %"

    def interrupts(each):
        raised = each.counts["rx_interrupts"] + each.counts["tx_interrupts"]
        return f"{raised / frames(each)[0]:.3f}"

    def port(each):
        beats = sum(uses["beats"] for uses in each.memory.values())
        return f"{100 * beats / by_cause(each).total():.1f} %"

    return [
        row("interrupts", interrupts, "of the MACs, per frame"),
        row("enabled", share, "part of the busy time in which interrupts were enabled"),
        row("memory", port, "part of the time in which its port took a word"),
        row("frames", lambda each: str(frames(each)[0]), "in the window"),
        row("", lambda each: frames(each)[1], ""),
    ]


def _costliest(name: str, profile: Profile) -> list[str]:
    """A line for each of the costliest functions, then for the costliest functions without a term."""
    divisor = frames(profile)[0]
    functions, others = by_function(profile), by_function(profile, OTHER)
    found = [f"{count / divisor:7.0f} {name}" for name, count in functions.most_common(SHOWN)]
    found += [
        f"{count / divisor:7.1f} {name} ({OTHER})" for name, count in others.most_common(SHOWN) if count
    ]
    return [f"{name}: cycles per frame of functions by themselves", *found]


# As JSON ------------------------------------------------------------------------------------------


def as_json(profile: Profile) -> dict:
    """Whole cycles of the window, so that all sums are exact: of all harts together, then of each."""
    trial, harts = profile.result.trial, by_hart(profile)
    return {
        "variant": trial.variant,
        "frame_bytes": trial.frame_bytes,
        "load_percent": trial.load_percent,
        "link_mbps": trial.link_mbps,
        "sys_clk_hz": profile.result.sys_clk_hz,
        "window": {"cycles": by_cause(profile).total(), **profile.counts},
        "interrupts_enabled": enabled(profile).total(),
        "causes": by_cause(profile),
        "terms": _terms(profile),
        "memory": profile.memory,
        **({"harts": [{"terms": _terms(each)} for _, each in harts]} if len(harts) > 1 else {}),
        "functions": dict(by_function(profile).most_common()),
        "other": dict(by_function(profile, OTHER).most_common()),
        "conditions": profile.result.conditions,
    }


def _terms(profile: Profile) -> dict[str, dict[str, int]]:
    open_to_interrupts = enabled(profile)
    return {
        term: {"cycles": causes.total(), "interrupts_enabled": open_to_interrupts[term], **causes}
        for term, causes in by_term(profile).items()
    }

# SPDX-License-Identifier: BSD-2-Clause
"""`moderato report`: from records of trials to tables, figures and one HTML file."""

import sys
from collections.abc import Sequence
from pathlib import Path

from ..run import store
from ..show import outputs
from . import answers, detail, figures, paper, paper_tables, profiles, records, reproduce
from .markdown import render as as_markdown
from .page import Section, commands, flame_graphs, raw, render, traces
from .plot import Plot
from .table import Table


def report(files: Sequence[Path] | None, output: Path, figure_folder: Path | None,
           markdown: Path | None, profile_folder: Path | None) -> int:
    """Write what was asked for; returns the exit status."""
    trials = records.load(files or [store.default()])
    profiled = profiles.load(profile_folder)
    for note in trials.notes:
        print(f"moderato: {note}", file=sys.stderr)
    sections = contents(trials, profiled)
    with outputs.replacing(output) as file:
        file.write_text(render(sections, trials.notes), encoding="utf-8")
    if figure_folder:
        figure_folder.mkdir(exist_ok=True)
        for plot in _parts(sections, Plot):
            plot.save(figure_folder)
    if markdown:
        with outputs.replacing(markdown) as file:
            file.write_text(as_markdown(sections, markdown, figure_folder), encoding="utf-8")
    print(f"{output}: {len(trials.trials)} trials, {len(_parts(sections, Table))} tables, "
          f"{len(_parts(sections, Plot))} figures")
    return 0


def contents(trials: records.Records, profiled: profiles.Profiles) -> list[Section]:
    """The report's sections: their tables, figures and texts."""
    steady = trials.of("steady")
    found = answers.throughputs(steady)
    models = answers.models(found)
    curves = answers.curves(trials.of("loss") + steady)
    full = answers.full_load(answers.curves(trials.of("loss")), paper.FULL_LOAD_BYTES)
    bursts = answers.bursts(trials.of("burst"))
    recovery, reset = (answers.latest(trials.of(kind)) for kind in ("recovery", "reset"))
    run = "Run `./moderato rfc2544 --test {}` for it.".format
    return [
        Section("conditions", "Conditions", [detail.machines(trials), detail.kinds(trials),
                                             commands(reproduce.commands(trials))]),
        Section("throughput", "Throughput: tables 1 and 2, figure 4", [
            figures.throughput(trials, found), paper_tables.table1(trials, found),
            paper_tables.table1_ratios(trials, found), paper_tables.table2(trials, found),
            paper_tables.baseline(trials, found), detail.throughput(trials, found),
        ] if found else [], run("throughput")),
        Section("overload", "Overload: table 3, figure 5, loss and interrupts", [
            figures.collapse(trials, curves), paper_tables.table3(trials, full) if full else None,
            figures.interrupts(trials, curves),
            detail.loss(trials, curves) if trials.of("loss") else None], run("loss")),
        Section("model", "The model: table 4, figures 6 and 7", [
            paper_tables.table4(trials, found, models), figures.model_fit(trials, found, models),
            figures.model_lines(trials, models),
            paper_tables.table4_residuals(trials, found, models)] if found else [],
            run("throughput")),
        Section("profile", "Where a frame's time goes: table 5", [
            *profiles.tables5(profiled.profiles), profiles.table5_theirs(),
            *flame_graphs(profiled), *traces(profiled)] if profiled != profiles.NONE else [],
            "Run `./moderato profile` for it, and name its folder with --profiles."),
        Section("latency", "Latency", [
            figures.latency(trials, found), detail.latency(trials, found)] if found else [],
            run("latency")),
        Section("burst", "Back-to-back frames", [detail.bursts(trials, bursts)] if bursts else [],
                run("burst")),
        Section("recovery", "System recovery and reset", [
            detail.recovery(trials, recovery) if recovery else None,
            detail.reset(trials, reset) if reset else None], run("recovery,reset")),
        Section("data", "Raw data", [raw(trials)]),
    ]


def _parts(sections: Sequence[Section], kind: type) -> list:
    return [part for section in sections for part in section.present if isinstance(part, kind)]

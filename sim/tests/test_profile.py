# SPDX-License-Identifier: BSD-2-Clause
"""The profiler and the timeline on the real SoC: exact, and without an effect on the guest."""

import functools
import json
import subprocess
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from moderato.sim.lab.explain import (
    attribution,
    flame_graph,
    profile,
    stacks,
    symbols,
    terms,
    timeline,
)
from moderato.sim.lab.measure import trial
from moderato.sim.lab.measure.results import Result, Trial
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.session import Session
from moderato.sim.lab.tcp import costs, receive_queue, segments
from moderato.soc.firmware import firmware
from moderato.soc.linux.driver import driver
from moderato.soc.linux.kernel import kernel
from moderato.soc.linux.memory_map import memory_map

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def lab():
    return machine()


@functools.cache
def guest(variant):
    return symbols.of_guest(state.ready(machine(), variant))


@functools.cache
def profiled(variant, load=100, frames=300) -> stacks.Profile:
    ready = state.ready(machine(), variant)
    return profile.run(Trial(variant, 64, load, frames, 100), ready, guest(variant), ignore)


def ignore(_):
    pass


# The profiler -------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", [pytest.param("original", marks=pytest.mark.slow), "napi-tx-128"])
def test_profile_does_not_affect_a_trial(lab, variant, tmp_path):
    """Cycles and report are equal, also after the trial; the sum is the window's length."""
    asked = Trial(variant, 64, 100, 100, 100)
    request = trial.request(asked, lab.sys_clk_hz)
    symbols.write(guest(variant), tmp_path / "symbols")
    with state.ready(lab, variant).open() as session:
        plain = [session.call("trial", **request), session.call("counters")]
    with state.ready(lab, variant).open() as session:
        session.call("profile", symbols=str(tmp_path / "symbols"), window=True)
        traced = [session.call("trial", **request), session.call("counters")]
        charged = session.call("profile", stop=str(tmp_path / "stacks"))
    for reply in [*plain, *traced]:
        del reply["wall_seconds"], reply["cpu_seconds"]
    assert plain == traced and plain[0]["ports"][0]["forwarded"] > 0
    window = plain[0]["window"]
    rows = stacks.read(tmp_path / "stacks")
    length = window["end_cycle"] - window["start_cycle"]
    assert sum(row.cycles for row in rows) == charged["harts"][0]["cycles"] == length > 10_000
    assert [sum(row.causes["idle"] for row in rows)] == window["idle_cycles"]
    assert charged["harts"][0]["lost"] < 20  # at most the frames that were in progress at the start


def test_a_guest_that_sleeps(lab, tmp_path):
    """Skipped cycles are charged as if they had been simulated."""
    symbols.write(guest("napi-tx-128"), tmp_path / "symbols")
    commands = "".join(
        json.dumps(command) + "\n"
        for command in (
            {"do": "profile", "symbols": "../symbols", "timeline": "timeline"},
            {"do": "send", "text": "usleep 15000; echo aw''ake\n"},
            {"do": "expect", "text": "awake", "max_cycles": 50_000_000},
            {"do": "counters"},
            {"do": "profile", "stop": "stacks"},
        )
    )
    told = []
    for name, options in ("passing", []), ("not passing", ["--ungated"]):
        (tmp_path / name).mkdir()
        done = subprocess.run(
            [
                lab.simulator,
                *options,
                "--restore",
                state.ready(lab, "napi-tx-128").checkpoint,
                "--script",
                "-",
            ],
            input=commands,
            cwd=tmp_path / name,
            text=True,
            check=True,
            capture_output=True,
        )
        *_, counters, profiled = map(json.loads, done.stdout.splitlines())
        slept = counters["slept_cycles"]
        told.append(
            [
                profiled["harts"],
                *((tmp_path / name / file).read_text() for file in ("stacks", "timeline")),
            ]
        )
        assert (slept > 1_000_000) == (name == "passing")
    assert told[0] == told[1]


@pytest.mark.parametrize("variant", ["original", "napi-tx-off"])
def test_calls_agree_with_the_hardwares_counts(lab, variant, tmp_path):
    """For a whole trial, with all its nested interrupts and calls."""
    asked = Trial(variant, 64, 10, 100, 100)
    symbols.write(guest(variant), tmp_path / "symbols")
    with state.ready(lab, variant).open() as session:
        session.call("profile", symbols=str(tmp_path / "symbols"))
        reply = session.call("trial", **trial.request(asked, lab.sys_clk_hz))
        session.call("profile", stop=str(tmp_path / "stacks"))
    entered = Counter()
    for row in stacks.read(tmp_path / "stacks"):
        entered[row.functions[-1]] += row.entries
    events = Counter()
    for port in reply["ports"]:
        events.update(port["events"])
        events["forwarded"] += port["forwarded"]
    assert entered["moderato_rx_interrupt"] == events["rx_interrupt"] > 0
    assert entered["moderato_tx_interrupt"] == events["tx_interrupt"]
    assert entered["ip_forward"] == events["rx_completed"] == 200
    assert entered["moderato_start_xmit"] == events["forwarded"] == 200


def test_idle_cycles_are_those_of_the_report():
    light = profiled("napi", load=0.5, frames=5)
    idle = attribution.by_term(light)[terms.IDLE].total()
    cycles = sum(row.cycles for row in light.stacks)
    assert idle > 0
    assert 100 * idle / cycles == pytest.approx(light.result.cpu_idle_percent, abs=1e-9)


def test_a_function_of_known_cost(lab, tmp_path):
    """The clock's difference for 2000 more loops is charged to the function with the loop."""
    base = memory_map(lab.soc).sbi
    firmware.link(
        tmp_path / "cost",
        Path(firmware.__file__).parent / "sbi.ld",
        base,
        [f"-DUART_BASE={lab.soc['uart']['base']:#x}"],
        [HERE / "cost.S"],
    )
    symbols.write(symbols.of_elf(tmp_path / "cost.elf"), tmp_path / "symbols")
    rom, _ = lab.images[0]
    clock, charged = [], []
    with Session(lab.simulator, load=[(rom, 0), (tmp_path / "cost.bin", base)]) as session:
        for _ in range(4):
            begin = session.call("expect", text="<", max_cycles=100_000)["cycle"]
            session.call("profile", symbols=str(tmp_path / "symbols"))
            clock.append(session.call("expect", text=">", max_cycles=100_000)["cycle"] - begin)
            session.call("profile", stop=str(tmp_path / "stacks"))
            found = Counter()
            for row in stacks.read(tmp_path / "stacks"):
                found[row.functions[-1]] += row.cycles
            charged.append(found)
    assert [found.total() for found in charged] == clock
    assert set(charged[3]) == {"put", "measure", "spin"}
    more = charged[3]["spin"] - charged[2]["spin"]
    assert more == clock[3] - clock[2] and more >= 2 * 2000  # two instructions per loop
    for function in "put", "measure":
        assert charged[3][function] == charged[2][function]


# Terms --------------------------------------------------------------------------------------------


def test_every_function_of_a_term_exists(lab):
    """If the kernel renames one, its cycles would count for its caller without notice."""
    build = kernel(lab.soc["cpu"]["harts"])
    (liteeth,) = Path(build.build, "drivers/net/ethernet/litex").glob("litex_liteeth.ko")
    known = {
        terms.base(symbol.name)
        for symbol in [
            *symbols.of_kernel(lab),
            *symbols.of_module(driver(), 0),
            *symbols.of_module(lab.driver, 0),
            *symbols.of_module(liteeth, 0),
            *symbols.of_elf(firmware.firmware(lab.soc).sbi.with_suffix(".elf")),
        ]
    } | {"[user]"}
    # Netfilter is in other kernels.
    layers = [layer for layer in costs.LAYERS if layer.name != "netfilter"]
    named = {
        part
        for term in (*terms.TERMS, *layers)
        for function in term.functions
        for part in function.split("/")
    }
    named |= {
        *segments.TIMERS,
        *segments.TRANSMIT,
        *segments.RECEIVE,
        *segments.CONTEXTS,
        *receive_queue.CALLS,
    }
    assert named - known == set()


@pytest.mark.parametrize("variant", ["original", "napi"])
def test_every_cycle_has_one_term(variant):
    found = profiled(variant)
    cycles = sum(row.cycles for row in found.stacks)
    by_term = attribution.by_term(found)
    assert sum(causes.total() for causes in by_term.values()) == cycles > 0
    assert by_term[terms.OTHER].total() < cycles / 1000
    for name in "T_CS", "T_RX", "T_SKB":
        assert by_term[name].total() > cycles / 200
    assert by_term["T_COPY"].total() == 0  # DMA moves the frames
    # The MAC writes each frame's first line, which the driver reads; 15 cycles fill one (IntegratedRAM).
    fills = sum(causes["dcache"] for causes in by_term.values())
    assert fills > found.counts["received"] * 15
    assert attribution.as_json(found)["window"]["cycles"] == cycles


def test_an_interrupt_per_frame_costs_more_than_polling():
    """Table 5: ORIGINAL enters and leaves interrupts, with them disabled; NAPI does not."""
    original, napi = profiled("original"), profiled("napi-tx-off")
    assert share(original, "T_CS") > 5 * share(napi, "T_CS")
    assert enabled(original) < enabled(napi)


def share(found, term):
    return attribution.by_term(found)[term].total() / sum(row.cycles for row in found.stacks)


def enabled(found):
    return sum(row.enabled for row in found.stacks) / sum(row.cycles for row in found.stacks)


def test_callers_are_those_of_the_kernel():
    """Chains that the kernel's source has: from the trap to the driver, from the poll to the wire."""
    paths = {row.functions for row in profiled("napi").stacks}
    chains = [
        ("handle_exception", "do_irq", "handle_riscv_irq", "riscv_intc_irq"),
        ("net_rx_action", "__napi_poll", "moderato_napi_poll"),
        ("sch_direct_xmit", "dev_hard_start_xmit", "moderato_start_xmit"),
    ]
    for chain in chains:
        assert any(chain == path[at : at + len(chain)] for path in paths for at in range(len(path)))
    assert not any("[unknown]" in path for path in paths)


# Output -------------------------------------------------------------------------------------------


def test_table_json_folded_and_flame_graph_agree():
    found = [profiled("original"), profiled("napi")]
    cycles = [sum(row.cycles for row in each.stacks) for each in found]
    folded = Counter()
    for line in stacks.fold(found).splitlines():
        path, count = line.rsplit(" ", 1)
        folded[path.split(";")[0]] += int(count)
    assert folded == {"original": cycles[0], "napi": cycles[1]}
    svg = ElementTree.fromstring(flame_graph.render(found))
    titles = [title.text for title in svg.iter("{http://www.w3.org/2000/svg}title")]
    for each, total in zip(found, cycles):
        assert any(
            title.startswith(f"{each.result.trial.variant}: {total} cycles, 100.00 %")
            for title in titles
        )
    rows = [line.split() for line in attribution.render(found).splitlines()]
    total, *_ = [row for row in rows if row[:1] == ["sum"]]
    listed = [row for row in rows if row and row[0] in {term.name for term in terms.TERMS}]
    for column, (each, spent) in enumerate(zip(found, cycles), 1):
        assert sum(int(row[column]) for row in listed) == int(total[column])
        assert int(total[column]) == round(spent / attribution.frames(each)[0])


# The timeline -------------------------------------------------------------------------------------


@functools.cache
def burst(variant) -> timeline.Burst:
    return timeline.run(
        Trial(variant, 64, 100, 16, 100), state.ready(machine(), variant), guest(variant), ignore
    )


@functools.cache
def tracks(variant) -> dict[str, list]:
    """Events of the trace by the path of their track."""
    trace = perfetto_trace_pb2.Trace.FromString(timeline.trace(burst(variant)))
    names, found = {}, {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            group = names.get(track.parent_uuid)
            names[track.uuid] = f"{group}/{track.name}" if group else track.name
        else:
            found.setdefault(names[packet.track_event.track_uuid], []).append(packet)
    return found


def test_wires_show_what_the_tester_saw():
    result: Result = burst("napi").result
    assert result.problems == []
    for port in (0, 1):
        came, left = (begins(f"Wires/port {port} {way}") for way in ("in", "out"))
        assert came == [f"{port}:{number}" for number in range(16)]
        assert left == [f"{1 - port}:{number}" for number in range(16)]
        assert len(came) == result.ports[port].offered
        assert len(left) == result.ports[1 - port].forwarded
        times = [packet.timestamp for packet in tracks("napi")[f"Wires/port {port} in"][::2]]
        assert {later - sooner for sooner, later in zip(times, times[1:])} == {84 * 80}  # ns


def begins(track):
    return [
        packet.track_event.name
        for packet in tracks("napi")[track]
        if packet.track_event.type == packet.track_event.TYPE_SLICE_BEGIN
    ]


def test_arrows_join_a_frame_s_entry_and_exit():
    flows = {}
    for port, way in ((0, "in"), (0, "out"), (1, "in"), (1, "out")):
        for packet in tracks("napi")[f"Wires/port {port} {way}"][::2]:
            (flow,) = packet.track_event.flow_ids
            flows.setdefault(flow, []).append((packet.track_event.name, port, way))
    assert len(flows) == 32
    for (came, port, _), (left, other, _) in (
        sorted(each, key=lambda end: end[2]) for each in flows.values()
    ):
        assert came == left == f"{port}:{came.split(':')[1]}" and other == 1 - port


@pytest.mark.parametrize("variant", ["original", "napi"])
def test_frames_that_wait(variant):
    """Each place has waiting frames at some time, never a negative number, and none at the end."""
    counters = {
        name: [packet.track_event.counter_value for packet in packets]
        for name, packets in tracks(variant).items()
        if name.startswith("Frames")
    }
    assert {name.split("/")[1] for name in counters} == {
        "in MAC 0, received",
        "in MAC 1, received",
        "in MAC 0, to be sent",
        "in MAC 1, to be sent",
        "in the Rx rings",
        "in the Tx rings",
    }
    for name, values in counters.items():
        assert min(values) == values[-1] == 0 < max(values), name
    # 16 arrived at each port while the first was being forwarded.
    assert max(counters["Frames that wait/in the Rx rings"]) > 16


def test_slices_nest_and_time_goes_on():
    for name, packets in tracks("napi").items():
        depth, now = 0, 0
        for packet in packets:
            assert packet.timestamp >= now
            now = packet.timestamp
            event = packet.track_event
            depth += {event.TYPE_SLICE_BEGIN: 1, event.TYPE_SLICE_END: -1}.get(event.type, 0)
            assert 0 <= depth <= (1 if name.startswith("Wires") else 100)
        assert depth == 0


def test_calls_of_the_driver_lie_between_the_wires():
    """A frame is complete in the ring before the end of the poll in which the driver receives it."""
    (calls,), events = burst("napi").calls, burst("napi").events
    polls = [call for call in calls if call.stack[-1] == "moderato_napi_poll"]
    completed = [event.time for event in events if event.name == "rx_completed"]
    assert len(completed) == 32 and polls
    assert completed[0] < polls[0].end
    left = min(
        frame.begin for name, frames in burst("napi").wires.items() if "out" in name for frame in frames
    )
    sent = [call for call in calls if call.stack[-1] == "moderato_start_xmit"]
    assert len(sent) == 32 and sent[0].begin < left
    for call in sent:
        assert any(poll.begin <= call.begin and call.end <= poll.end for poll in polls)
    interrupts = [event for event in events if event.name == "rx_interrupt"]
    handled = [call for call in calls if call.stack[-1] == "moderato_rx_interrupt"]
    assert len(interrupts) == len(handled) == 2 and interrupts[0].time < handled[0].begin

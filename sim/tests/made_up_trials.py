# SPDX-License-Identifier: BSD-2-Clause
"""Records like those of `moderato rfc2544`, for a device with a known time per frame."""

import json

from moderato.sim.lab.receiver.buffers import BUFFERS
from moderato.sim.lab.rfc2544 import metrics, tests, trials

SIZES = (64, 128, 256, 512, 896, 1024, 1280, 1518)
CLOCK = 100_000_000
CONSTANT = {
    "original": 60.0,
    "tx-128": 55.0,
    "tx-off": 50.0,
    "napi": 45.0,
    "napi-tx-128": 30.0,
    "napi-tx-off": 25.0,
    "liteeth": 70.0,
}  # us
PER_OCTET = 0.02  # us
BURST = 300  # frames that are received even in an overload
MACHINE = {
    "machine": "0123456789ab",
    "version": "v1",
    "nic": "moderato",
    "kernel": "6.12.0",
    "cpu": {"harts": 1, "isa": "rv32ima", "icache": 4096, "dcache": 4096, "itlb": 4, "dtlb": 4},
    "memory_bytes": 32 << 20,
    "checkpoint": "123456789abc",
}


def us_per_frame(variant: str, frame_bytes: int) -> float:
    return CONSTANT[variant] + PER_OCTET * frame_bytes


def record(task: trials.Task, conditions: dict | None = MACHINE, **changes) -> dict:
    """A trial's record. Without NAPI, each surplus frame costs a third of a frame's time."""
    us = us_per_frame(task.variant, task.frame_bytes)
    rate = trials.frame_rate(task.frame_bytes, task.load_percent, task.link_mbps)
    most = 1e6 / us / 2  # of one port
    collapsed = 0 if "napi" in task.variant else max(0, rate - most) / 2
    forwarded = max(0, min(rate, most - collapsed))
    per_tx = 1 if "tx" not in task.variant else 1 / 128 if "128" in task.variant else 0
    seconds = task.frames / rate
    begin, end = 1_000_000, 1_000_000 + round(seconds * CLOCK)

    def counts(window: float) -> dict:
        frames = forwarded * window
        received = frames if "napi" in task.variant else rate * window
        rx = 0 if "napi" in task.variant else received
        return {
            "rx_interrupt": round(rx),
            "tx_interrupt": round(per_tx * frames),
            "rx_completed": round(received),
        }

    passed = rate <= most or task.kind == "burst" and task.frames <= BURST
    latency = [round(CLOCK * us / 1e6 * (1 + percent / 10)) for percent in range(101)]
    lost = round(task.frames * (1 - forwarded / rate))
    port = {
        "offered": task.frames,
        "forwarded": task.frames - lost,
        "lost": lost,
        "last_lost_cycle": end + 300_000,
        "longest_pause": {"start_cycle": begin, "end_cycle": begin + 4_000_000},
        "events": {**counts(seconds), "rx_interrupt": counts(seconds)["rx_interrupt"] + 1},
        "window": {"offered": round(0.8 * task.frames), "forwarded": round(forwarded * 0.8 * seconds)},
        "window_events": counts(0.8 * seconds),
    }
    report = {
        "start_cycle": begin,
        "cycle": end + 1000,
        "ports": [port, port],
        "window": {"start_cycle": begin + (end - begin) // 5, "end_cycle": end, "idle_cycles": [0]},
        "latency_percentiles": latency,
    }
    made = {} if conditions is None else {"conditions": conditions}
    whole = {
        "name": task.name,
        "task": task.as_record(),
        "sys_clk_hz": CLOCK,
        "passed": passed,
        "why": "",
        "problems": [],
        "cycles": end + 1000 - begin,
        "report": report,
        "wall_seconds": 3.0,
        "key": f"{conditions}{task}",
        **made,
        **changes,
    }
    return json.loads(json.dumps(whole))  # as read from a file


def drive(job, **options) -> list[dict]:
    """All records that one of RFC 2544's tests asks for."""
    records = []
    try:
        task = next(job)
        while True:
            records.append(record(task, **options))
            task = job.send(records[-1])
    except StopIteration:
        return records


def run(variants, sizes=SIZES, phases=(0.5, 0.0, 0.25), **options) -> list[dict]:
    """The records of all of RFC 2544's tests."""
    found = []
    for variant in variants:
        for size in sizes:
            cell = tests.Cell(variant, size, 100, 1.0)
            steady = drive(tests.throughput(cell, list(phases)), **options)
            best = max((each for each in steady if each["passed"]), key=metrics.offered)
            sustained = tests.Throughput(best, None)
            found += steady
            for job in (
                tests.loss(cell, [100, 60, 30, 20, 15, 12, 10, 8, 6, 4, 2], 0.5),
                tests.burst(cell, 0.5),
                tests.recovery(cell, sustained, 0.5),
                tests.reset(cell, sustained, 0.5),
            ):
                found += drive(job, **options)
    return found


def strategy(setting: str, situation: str, microseconds: int, busy: float, **changes) -> dict:
    """A record of `moderato strategies`."""
    latency = dict.fromkeys(("min", "median", "p99", "max"), 1000 * microseconds)
    return {
        "name": f"{setting} {situation}",
        "kind": "strategy",
        "setting": setting,
        "situation": situation,
        "variant": setting.split()[0],
        "problems": [],
        "frame_bytes": 64,
        "offered_fps": 1000.0,
        "throughput": {"fps": 1000.0},
        "lost": 0,
        "latency_ns": latency,
        "interrupts_per_second": 2000.0,
        "frames_per_interrupt": 1.0,
        "cpu_idle_percent": 100 - busy,
        "conditions": MACHINE,
        "key": f"{setting} {situation} {changes}",
        **changes,
    }


def strategies() -> list[dict]:
    """Two settings of one strategy and one of another, in all situations."""
    made = [
        strategy(setting, situation, microseconds, busy)
        for situation in ("idle", "ping", "10%", "50%", "90%", "bursts", "overload")
        for setting, microseconds, busy in (
            ("hw-moderated 1 ms", 1200, 20),
            ("hw-moderated 100 us", 300, 50),
            ("napi-full", 150, 80),
        )
    ]
    probes = {"probe_latency_ns": {"p99": 160_000}}
    return [*made, strategy("hw-moderated 10 ms, urgent", "urgent", 10_000, 40, **probes)]


def transfer(variant: str = "napi", direction: str = "in", link: int = 100, **changes) -> dict:
    """A record of `moderato tcp`."""
    return {
        "name": f"{variant} {direction}",
        "kind": "tcp",
        "variant": variant,
        "direction": direction,
        "link_mbps": link,
        "connections": 1,
        "octets": 4_000_000,
        "user_buffer": 65536,
        "socket": 0,
        "window": 262144,
        "gro": direction != "through",
        "kernel": "normal",
        "sys_clk_hz": CLOCK,
        "goodput_mbps": 50.0,
        "cpu_idle_percent": 12.4,
        "segments": 10,
        "acks_per_segment": 0.5,
        "mean_window_bytes": 31000.0,
        "problems": [],
        "conditions": MACHINE,
        "key": f"{variant} {direction} {link} {changes}",
        **changes,
    }


def two_harts(spread: str) -> dict:
    """A machine's conditions with two harts and this spread."""
    return MACHINE | {"cpu": MACHINE["cpu"] | {"harts": 2}, "spread": spread}


def through(**changes) -> dict:
    """A record of `moderato tcp --direction through --kernel conntrack`."""
    return transfer(
        "napi",
        "through",
        kernel="conntrack",
        transfer_cycles=2 * CLOCK,
        ports=[
            {"segments": {"in": segments}, "events": {"rx_interrupt": 20, "tx_interrupt": 7}}
            for segments in (1000, 500)
        ],
        **changes,
    )


def through_two_harts(spread: str, *per_hart: int, **changes) -> dict:
    """... with --harts 2; per_hart: interrupts."""
    return through(
        harts=2,
        conditions=two_harts(spread),
        goodput_mbps=90.0,
        interrupts_per_hart=list(per_hart),
        **changes,
    )


def study(**changes) -> list[dict]:
    """Records of `moderato receiver`."""
    return [
        transfer(
            "original",
            user_buffer=size,
            socket=32768,
            gro=False,
            goodput_mbps=float(number),
            **changes,
            profile={
                "segments": {"4": 900, "5": 107, "idle": 0},
                "cycles": 1007,
                "receive_queue": {"softirq_percent": 35.0, "mean_segments": 18.4},
            },
        )
        for number, size in enumerate(BUFFERS, 1)
    ]

# SPDX-License-Identifier: BSD-2-Clause
"""The profiler: every cycle is charged to the right call stack.

The mock's hart retires given lists of instructions, so that the cost of each function is known.
"""

import struct

import pytest
from harness_commands import offer, trial

LIST = 0x4000_8000
NOP, CALL, RETURN, JUMP = 0x13, 0x000000EF, 0x00008067, 0x0000006F
CALL_FAR, SRET, MRET = 0x000300E7, 0x10200073, 0x30200073  # jalr ra, t1
USER, SUPERVISOR, MACHINE = 0, 1, 3
LAST_STAGE, DCACHE, TLB, ICACHE, WFI = 8, 16, 32, 64, 128
HEAD = [
    "retire",
    "pipeline",
    "icache",
    "dcache",
    "lsu",
    "tlb",
    "idle",
    "interrupts_enabled",
    "entries",
    "stack",
]

MAIN, F, G, SWITCH, HANDLER, IRQ = (
    0xC0001000,
    0xC0002000,
    0xC0003000,
    0xC0004000,
    0xC0000100,
    0xC0005000,
)
SYMBOLS = {
    MAIN: "main",
    F: "f",
    G: "g",
    SWITCH: "__switch_to",
    HANDLER: "handle_exception",
    IRQ: "irq",
    0x100: "firmware",
}


def item(
    pc,
    instruction=NOP,
    wait=0,
    *,
    why=0,
    interrupts=True,
    privilege=SUPERVISOR,
    ra=0,
    sp=0x9000,
    tp=0x7000,
    trapped=0,
):
    """An instruction that retires `wait` + 1 cycles after its predecessor."""
    flags = privilege | interrupts << 2 | why
    return struct.pack("<8I", pc, instruction, ra, sp, tp, trapped, wait, flags)


@pytest.fixture
def profile(sim, tmp_path):
    """profile(items) → the profile's rows by stack, each a dict, for a run of the whole list."""

    def run(*items, **fields):
        (tmp_path / "list").write_bytes(b"".join(items) + bytes(32))
        (tmp_path / "symbols").write_text(
            "".join(f"{address:#x} 256 {name}\n" for address, name in SYMBOLS.items())
        )
        cycles = sum(struct.unpack_from("<I", row, 24)[0] + 1 for row in items)
        *_, run.reply = sim(
            {"do": "profile", "symbols": "symbols", **fields},
            {"do": "run", "cycles": cycles},
            {"do": "profile", "stop": "out"},
            options=["--load", f"list@{LIST}"],
        )
        rows = read(tmp_path / "out")
        assert run.reply["harts"][0]["cycles"] == sum(map(total, rows.values())) == cycles
        return rows

    return run


def read(path) -> dict:
    head, *lines = (line.split() for line in path.read_text().splitlines())
    assert head == HEAD
    return {line[-1]: dict(zip(head, map(int, line[:-1]))) for line in lines}


def total(row) -> int:
    return sum(row[name] for name in HEAD[:7])


def costs(rows) -> dict:
    return {stack: total(row) for stack, row in rows.items()}


def test_cycles_before_an_instruction_are_its_own(profile):
    rows = profile(
        item(MAIN),
        item(MAIN + 4, CALL, 2),
        item(F, NOP, 10),
        item(F + 4, RETURN, 1),
        item(MAIN + 8, NOP, 5),
        item(MAIN + 12, CALL_FAR),
        item(F, RETURN, 20),
        item(MAIN + 16),
    )
    assert costs(rows) == {"main": 1 + 3 + 6 + 1 + 1, "main;f": 11 + 2 + 21}
    assert rows["main;f"]["entries"] == 2


def test_a_tail_call_takes_the_place_of_its_caller(profile):
    rows = profile(
        item(MAIN, CALL), item(F, JUMP, 3), item(G, NOP, 7), item(G + 4, RETURN), item(MAIN + 4)
    )
    assert costs(rows) == {"main": 2, "main;f": 4, "main;g": 9}


def test_nested_interrupts_are_charged_to_the_interrupted_stack(profile):
    """The first one interrupts before the first instruction of a called function."""
    rows = profile(
        item(MAIN, CALL),
        item(HANDLER, CALL, 4, trapped=F, interrupts=False),
        item(IRQ, NOP, 2),
        item(HANDLER, NOP, 9, trapped=IRQ + 4, interrupts=False),
        item(HANDLER + 4, SRET),
        item(IRQ + 4, RETURN),
        item(HANDLER + 4, SRET),
        item(F, RETURN, 1),
        item(MAIN + 4, NOP, 2),
    )
    assert costs(rows) == {
        "main": 1 + 3,
        "main;f": 2,
        "main;f;handle_exception": 5 + 1,
        "main;f;handle_exception;irq": 3 + 1,
        "main;f;handle_exception;irq;handle_exception": 10 + 1,
    }
    assert rows["main;f"]["entries"] == 1
    assert sum(row["interrupts_enabled"] for row in rows.values()) == 1 + 3 + 1 + 1 + 1 + 2 + 3


def test_user_mode_and_firmware(profile):
    rows = profile(
        item(0x10000, NOP, 3, privilege=USER),
        item(F, CALL, 2, privilege=USER),
        item(HANDLER, CALL, trapped=G, interrupts=False),
        item(F, NOP, 1, interrupts=False),
        item(0x100, NOP, 5, privilege=MACHINE, trapped=F + 4),
        item(0x104, MRET, privilege=MACHINE),
        item(F + 8, RETURN),
        item(HANDLER + 4, SRET),
        item(0x10008, NOP, 6, privilege=USER),
    )
    assert costs(rows) == {
        "[user]": 4 + 3 + 7,
        "[user];handle_exception": 1 + 1,
        "[user];handle_exception;f": 2 + 1,
        "[user];handle_exception;f;firmware": 6 + 1,
    }


def test_each_task_has_its_own_stack(profile):
    one, two = {"tp": 0x7000}, {"tp": 0x8000, "sp": 0xA000}
    there, back = MAIN + 4, G + 4
    rows = profile(
        item(MAIN, CALL, **one),
        item(SWITCH, NOP, ra=there, **one),
        item(SWITCH + 4, RETURN, 3, ra=G, **two),  # the second task begins in g
        item(G, CALL, 5, **two),
        item(SWITCH, NOP, ra=back, **two),
        item(SWITCH + 4, RETURN, 2, ra=there, **one),
        item(there, NOP, 7, **one),
        item(there + 4, CALL, **one),
        item(SWITCH, NOP, 1, ra=there + 8, **one),
        item(SWITCH + 4, RETURN, ra=back, **two),
        item(back, NOP, 11, **two),
    )
    assert costs(rows) == {
        "main": 1 + 8 + 1,
        "main;__switch_to": 1 + 3 + 2,
        "__switch_to": 4,
        "g": 6 + 12,
        "g;__switch_to": 1 + 1,
    }


def test_new_task_at_the_address_of_an_old_one_has_no_callers(profile):
    """Both have the same address, but the new task's stack is empty."""
    one, two = {"tp": 0x7000}, {"tp": 0x8000}
    rows = profile(
        item(MAIN, CALL, **one),
        item(SWITCH, NOP, ra=MAIN + 4, **one),
        item(SWITCH + 4, RETURN, ra=G, **two),
        item(G, CALL, **two),
        item(SWITCH, NOP, ra=G + 4, **two),
        item(SWITCH + 4, RETURN, ra=F, sp=0x9990, **one),
        item(F, NOP, 8, sp=0x9990, **one),
    )
    assert costs(rows) == {
        "main": 1,
        "main;__switch_to": 1,
        "__switch_to": 1 + 1,
        "g": 1,
        "g;__switch_to": 1,
        "f": 9,
    }


def test_recovers_from_unseen_calls(profile):
    """The profile begins inside of calls, and the second return has no known caller."""
    rows = profile(
        item(F, RETURN, 2),
        item(MAIN, CALL),
        item(G, RETURN, 4),
        item(MAIN + 0x40, NOP, 1),
        item(0xDEAD0000, NOP, 3),
        item(MAIN, NOP),
    )
    assert costs(rows) == {"f": 3, "main": 1 + 2 + 1, "main;g": 5, "[unknown]": 4}
    assert profile.reply["harts"][0]["lost"] == 2


def test_causes(profile):
    rows = profile(
        item(MAIN, NOP, 3),
        item(MAIN, NOP, 4, why=ICACHE),
        item(MAIN, NOP, 5, why=LAST_STAGE),
        item(MAIN, NOP, 2, why=LAST_STAGE | DCACHE | TLB),
        item(MAIN, NOP, 3, why=DCACHE | TLB | ICACHE),
        item(MAIN, NOP, 7, why=TLB | ICACHE),
        item(MAIN, NOP, 8, why=WFI | ICACHE, interrupts=False),
    )
    assert rows["main"] == {
        "retire": 7,
        "pipeline": 3,
        "icache": 4,
        "lsu": 5,
        "dcache": 5,
        "tlb": 7,
        "idle": 8,
        "interrupts_enabled": 39 - 9,
        "entries": 1,
    }
    assert profile.reply["harts"][0]["causes"] == {name: rows["main"][name] for name in HEAD[:7]}
    assert profile.reply["harts"][0]["interrupts_enabled"] == 30


def test_use_of_the_memory_port(sim, tmp_path):
    """Exactly 100 periods of the mock: earlier use does not count."""
    (tmp_path / "symbols").write_text("")
    *_, stopped = sim(
        {"do": "run", "cycles": 77},
        {"do": "profile", "symbols": "symbols"},
        {"do": "run", "cycles": 801},
        {"do": "profile", "stop": "out"},
    )
    assert stopped["memory"] == {
        "hart 0, data": {"beats": 200, "behind": 0, "stalled": 200},
        "hart 0, instructions": {"beats": 400, "behind": 100, "stalled": 0},
        "MAC 0": {"beats": 0, "behind": 0, "stalled": 100},
        "MAC 1": {"beats": 0, "behind": 0, "stalled": 0},
    }


def test_the_memory_port_in_a_trials_window(sim, tmp_path):
    (tmp_path / "symbols").write_text("")
    _, traced, stopped, _, after = sim(
        {"do": "profile", "symbols": "symbols", "window": True},
        trial(offer(frames=100)),
        {"do": "profile", "stop": "out"},
        {"do": "profile", "symbols": "symbols", "window": True},
        {"do": "profile", "stop": "out"},
    )
    window = traced["window"]
    cycles = window["end_cycle"] - window["start_cycle"]
    assert abs(stopped["memory"]["hart 0, instructions"]["beats"] - cycles / 2) <= 2
    assert not any(use for client in after["memory"].values() for use in client.values())


@pytest.mark.parametrize("phase", range(4))
def test_window_of_a_trial(sim, tmp_path, phase):
    """The mock's hart without a list: idle cycles agree with the counters, and all cycles with the
    window's length. The window begins at each phase of the hart's loop of four cycles."""
    (tmp_path / "symbols").write_text("")
    asked = trial(offer(frames=100, load_percent=50, phase=phase))
    (plain,) = sim(asked)
    *_, traced, stopped = sim(
        {"do": "profile", "symbols": "symbols", "window": True}, asked, {"do": "profile", "stop": "out"}
    )
    rows = read(tmp_path / "out")
    window = traced["window"]
    (stopped,) = stopped["harts"]
    assert stopped["cycles"] == window["end_cycle"] - window["start_cycle"] > 1000
    assert sum(map(total, rows.values())) == stopped["cycles"]
    assert [stopped["causes"]["idle"]] == window["idle_cycles"]
    for reply in plain, traced:
        del reply["wall_seconds"], reply["cpu_seconds"]
    assert plain == traced


def test_one_profile_at_a_time(sim, tmp_path):
    """The simulator rejects a second profile and another load, and the first profile continues."""
    (tmp_path / "symbols").write_text("")
    start = {"do": "profile", "symbols": "symbols"}
    *_, second, restored, _, stopped, again = sim(
        {"do": "run", "cycles": 50},
        {"do": "save", "file": "state"},
        start,
        {"do": "run", "cycles": 7},
        start,
        {"do": "restore", "file": "state"},
        {"do": "run", "cycles": 5},
        {"do": "profile", "stop": "out"},
        {"do": "restore", "file": "state"},
    )
    assert second["error"] == "profile: one is in progress; stop it first"
    assert restored["error"] == "state: not restored: a profile is in progress; stop it first"
    assert restored["cycle"] == 57 and stopped["harts"][0]["cycles"] == 12
    assert again["ok"] and again["cycle"] == 50


def test_timeline(profile, tmp_path):
    profile(
        item(MAIN, CALL, 1),
        item(F, NOP, 3),
        item(F + 4, NOP, 4, why=WFI),
        item(HANDLER, SRET, 2, trapped=F + 8),
        item(F + 8, RETURN),
        item(MAIN + 4),
        timeline="line",
    )
    lines = (tmp_path / "line").read_text().splitlines()
    assert [line for line in lines if "!" not in line] == [
        "0 > main",
        "2 > f",
        "6 > [idle]",
        "10 <",
        "11 > handle_exception",
        "14 <",
        "15 <",
    ]


def test_calls(profile, tmp_path):
    """Calls of the requested functions only, with their callers; a return is not a call."""
    profile(
        item(MAIN, CALL, 1),
        item(F, CALL, 3),
        item(G, RETURN, 4),
        item(F + 4, NOP, 2),
        item(HANDLER, CALL, 2, trapped=F + 8),
        item(G, RETURN),
        item(HANDLER + 4, SRET),
        item(F + 8, RETURN),
        item(MAIN + 4, CALL),
        item(F, RETURN),
        calls="calls",
        functions=["g", "irq"],
    )
    assert (tmp_path / "calls").read_text().splitlines() == [
        "6 main;f;g",
        "17 main;f;handle_exception;g",
    ]


def test_calls_before_the_window(sim, tmp_path):
    """The mock's hart without a list stays in one function, which it entered before."""
    (tmp_path / "symbols").write_text("0 1 f\n")
    sim(
        {
            "do": "profile",
            "symbols": "symbols",
            "calls": "calls",
            "functions": ["[user]"],
            "window": True,
        },
        trial(offer(frames=100)),
        {"do": "profile", "stop": "out"},
    )
    assert (tmp_path / "calls").read_text() == "0 [user]\n"


def test_calls_of_unknown_functions(sim, tmp_path):
    (tmp_path / "symbols").write_text("0x10 4 f\n")
    one, other = sim(
        {"do": "profile", "symbols": "symbols", "calls": "c", "functions": ["f", "g"]},
        {"do": "profile", "symbols": "symbols", "calls": "c"},
    )
    assert one["error"] == "functions: 'g' is not among the symbols"
    assert other["error"].startswith("calls: ")


def test_timeline_has_the_events(sim, tmp_path):
    (tmp_path / "symbols").write_text("")
    sim(
        {"do": "run", "cycles": 50},
        {"do": "profile", "symbols": "symbols", "timeline": "line"},
        trial(offer(frames=3)),
        {"do": "profile", "stop": "out"},
    )
    lines = (tmp_path / "line").read_text().splitlines()
    events = [line.split() for line in lines if "!" in line]
    assert lines[0] == "50 > [user]"  # where it was at the start
    completed = [int(row[0]) for row in events if row[2:] == ["0", "rx_completed"]]
    assert len(completed) == 3
    assert [b - a for a, b in zip(completed, completed[1:])] == [84 * 8] * 2


def test_wrong_symbols(sim, tmp_path):
    (tmp_path / "words").write_text("0x10 4 a\nhello\n")
    (tmp_path / "overlap").write_text("0x10 8 a\n0x14 4 b\n")
    replies = sim(*({"do": "profile", "symbols": name} for name in ("words", "overlap", "none")))
    assert [reply["error"] for reply in replies[:2]] == [
        "words: line 2 is not 'address size name'",
        "overlap: a and b overlap",
    ]
    assert "none" in replies[2]["error"]

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Speaks moderato-sim's protocol and pretends a guest: for tests of the lab without the SoC.

Environment: FAKE_LOST frames lost at the ring of port 0, FAKE_MISCOUNT interrupts that only the
guest saw, FAKE_CORRUPTED frames, FAKE_FAIL the guest's commands that fail, FAKE_STALL a command
that never ends, FAKE_JOURNAL a file that gets a line per process (its arguments).
"""

import json
import os
import sys
import time
from pathlib import Path

BUILD = "fake-1"
EVENTS = ("rx_interrupt", "tx_interrupt", "rx_completed", "tx_completed", "rx_drop_ring",
          "rx_drop_fifo", "rx_drop_error", "rx_drop_filter")
NAPI = "napi"


def setting(name: str) -> int:
    return int(os.environ.get(f"FAKE_{name}", 0))


class Guest:
    def __init__(self):
        self.cycle, self.printed = 0, "MODERATO-BOOTED\r\n# "
        self.events = [dict.fromkeys(EVENTS, 0) for _ in range(2)]

    def type(self, text: str):
        if not text.startswith("r '"):  # the definition of that function
            self.printed += f"{text}\r\n# "
            return
        command = text.removeprefix("r '").removesuffix("'\n")
        status = 1 if command in os.environ.get("FAKE_FAIL", "").split(",") else 0
        output = self.proc() if "/proc/interrupts" in command else ""
        if command.startswith("sh "):
            output, status = "hello\r\n", 7
        self.printed += f"{text}@begin@\r\n{output}@end@{status}@\r\n# "

    def proc(self) -> str:
        lines = ["           CPU0"]
        for port, events in enumerate(self.events):
            for line, direction in enumerate(("rx", "tx")):
                count = events[f"{direction}_interrupt"] + setting("MISCOUNT")
                number = 2 * port + line
                lines.append(f" {10 + number}: {count:10}  SiFive PLIC  {3 + number} Level     "
                             f"eth{port}-{direction}")
        lines += ["00000010 00000002 00000000 00000000 00000000"]
        for port in range(2):
            lines.append(f"  eth{port}:       0       0    0    0    0     0          0         0"
                         "        0       0    0    0    0     0       0          0")
        return "\r\n".join(lines) + "\r\n"

    def trial(self, request: dict) -> dict:
        start = self.cycle
        ports = []
        for number, offer in enumerate(request["ports"]):
            lost = setting("LOST") if number == 0 else 0
            passed = offer["frames"] - lost
            events = dict.fromkeys(EVENTS, 0) | {
                "rx_interrupt": passed, "tx_interrupt": passed, "rx_completed": passed,
                "tx_completed": passed, "rx_drop_ring": lost}
            for name, count in events.items():
                self.events[number][name] += count
            ports.append({"offered": offer["frames"], "forwarded": passed, "lost": lost,
                          "corrupted": setting("CORRUPTED"), "reordered": 0, "duplicated": 0,
                          "window": {"offered": passed, "forwarded": passed}, "events": events,
                          "left": {"frames": passed, "bad_fcs": 0, "bad_preamble": 0,
                                   "short_gap": 0, "unrecognised": 0}})
        self.cycle += 3_000_000
        return {"start_cycle": start, "end_cycle": self.cycle, "quiet": True, "ports": ports,
                "latency_cycles": {"min": 1000, "median": 2000, "p99": 3000, "max": 4001},
                "window": {"start_cycle": start, "end_cycle": start + 1_000_000,
                           "idle_cycles": [250_000]}}


def main():
    if journal := os.environ.get("FAKE_JOURNAL"):
        with open(journal, "a") as file:
            file.write(" ".join(sys.argv[1:]) + "\n")
    guest = Guest()
    if "--restore" in sys.argv:
        file = Path(sys.argv[sys.argv.index("--restore") + 1])
        try:
            saved = json.loads(file.read_text())
        except ValueError:
            print(f"moderato-sim: {file}: the checkpoint is damaged", file=sys.stderr)
            sys.exit(3)
        guest.cycle, guest.events, guest.printed = saved["cycle"], saved["events"], saved["printed"]
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"do": request["do"], "ok": True, "wall_seconds": 0.1, "cpu_seconds": 0.1}
        guest.cycle += 1000
        match request["do"]:
            case "send":
                guest.type(request["text"])
            case "expect":
                print(json.dumps({"progress": {"cycles": 1, "of": request["max_cycles"]}}))
                found = guest.printed.find(request["text"])
                if found < 0:
                    reply |= {"ok": False, "error": f"the guest did not print {request['text']!r}"}
                else:
                    end = found + len(request["text"])
                    reply["output"], guest.printed = guest.printed[:end], guest.printed[end:]
            case "counters":
                reply |= {"idle_cycles": [0],
                          "ports": [{"events": events} for events in guest.events]}
            case "trial":
                if setting("STALL"):
                    time.sleep(1000)
                reply |= guest.trial(request)
                if "pcap" in request:
                    (Path(request["pcap"]) / "port0-in.pcap").write_bytes(b"frames")
            case "save":
                Path(request["file"]).write_text(json.dumps(
                    {"cycle": guest.cycle, "events": guest.events, "printed": guest.printed}))
        print(json.dumps(reply | {"cycle": guest.cycle}), flush=True)


main()

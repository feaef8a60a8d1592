#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Implements moderato-sim's protocol with a fake guest, to test the lab without the SoC.

Environment:
  FAKE_LOST       frames lost at the ring of port 0
  FAKE_MISCOUNT   interrupts that only the guest counted
  FAKE_WITHDRAWN  receive interrupts that no hart claimed
  FAKE_CORRUPTED  corrupted frames
  FAKE_FAIL       the guest's commands that fail
  FAKE_STALL      trials that never end: 1: all, else those with that frame size, transfer size, or
                  Mb/s
  FAKE_JOURNAL    a file that gets a line per process: its arguments
  FAKE_CAPACITY   frames/s that each port forwards of an offer in steps (`offer`, `run`, `status`,
                  `collect`)
  FAKE_RING       frames that its ring holds
  FAKE_SHARED     a NIC with one interrupt line for both directions
  FAKE_STARVED    a guest that resets its interfaces only after the load
  FAKE_REFUSED    a guest that rejects connections
  FAKE_OFF        a guest that powers off in a script
  FAKE_UNEVEN     a transfer with a pause in its window
  FAKE_FILTERED   a MAC for which all frames of a replay are addressed to other stations
  FAKE_ENDED      a live session whose guest powers off
  FAKE_DIFFERENCE the message about a replay that differs from its recording
  FAKE_IGNORED    an ethtool that changes nothing
  FAKE_UNREAD     files of a session whose readers leave
"""

import json
import os
import re
import struct
import sys
import time
from pathlib import Path

BUILD = "fake-1"
EVENTS = (
    "rx_interrupt",
    "tx_interrupt",
    "rx_completed",
    "tx_completed",
    "rx_drop_ring",
    "rx_drop_fifo",
    "rx_drop_error",
    "rx_drop_filter",
)
NAPI = "napi"


def setting(name: str) -> int:
    return int(os.environ.get(f"FAKE_{name}", 0))


def octets(text: str | dict) -> bytes:
    return bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode()


def count(path: bytes) -> int:
    """Records of a pcap file."""
    with open(path, "rb") as file:
        content, at, found = file.read(), 24, 0
    while at < len(content):
        at, found = at + 16 + struct.unpack_from("<I", content, at + 8)[0], found + 1
    return found


class Guest:
    def __init__(self):
        self.cycle, self.printed = 0, "MODERATO-BOOTED\r\n# "
        self.events = [dict.fromkeys(EVENTS, 0) for _ in range(2)]
        self.reset, self.request = False, None
        self.happened = []  # rows of a timeline
        self.set = {}  # by ethtool's option that shows it, and interface

    def type(self, text: str):
        self.reset |= "ip -batch" in text and not setting("STARVED")
        if not text.startswith("r "):  # the definition of the function `r`
            self.printed += f"{text}\r\n# "
            return
        command = text.removeprefix("r ").strip("'\n")
        status = 1 if command in os.environ.get("FAKE_FAIL", "").split(",") else 0
        output = self.proc() if "/proc/interrupts" in command else ""
        if status and "FAKE_SAYS" in os.environ:
            output = os.environ["FAKE_SAYS"] + "\r\n"
        if found := re.fullmatch(r"ethtool (-[CG]) (eth\d) (.*)", command):
            option, interface, words = found.groups()
            values = dict(zip(words.split()[::2], words.split()[1::2]))
            if setting("IGNORED"):
                values = dict.fromkeys(values, "0")
                status, output = 80, "no coalesce parameters changed, aborting\r\n"
            self.set.setdefault((option.lower(), interface), {}).update(values)
        if found := re.fullmatch(r"ethtool (-[cg]) (eth\d)", command):
            output = "".join(
                f"{name}: {value}\r\n" for name, value in self.set.get(found.groups(), {}).items()
            )
        if command.startswith("roundtrip "):
            output = "99 of 100 returned, ns: 100 200 300 400\r\n"
            for name in ("rx_interrupt", "tx_interrupt", "rx_completed"):
                self.events[0][name] += 100
            self.cycle += 100_000_000
        if "/proc/net/snmp" in command:
            names = ["InReceives", "InDelivers", "InHdrErrors", "ReasmReqds", "ReasmOKs"]
            extended = ["InCsumErrors", "InNoRoutes"]
            output = "".join(
                f"{table}: {' '.join(words)}\r\n{table}:{' 0' * len(words)}\r\n"
                for table, words in (("Ip", names), ("IpExt", extended))
            )
        if command.startswith(("/tmp/stream", "nuttcp")):
            output = "77\r\n"
        if "/tmp/result" in command and "cat" in command:
            output = self.served()
        if command.startswith("sh "):
            mark = command.rpartition("; echo ")[2].replace("$?", "7")
            output = f"hello\r\n@end@5@\r\n# \r\n@end of it\r\n{mark}\r\n"
            if setting("OFF"):
                self.printed += f"{text}@begin@\r\nhello\r\nbefore\r\n"
                return
        self.printed += f"{text}@begin@\r\n{output}@end@{status}@\r\n# "

    def proc(self) -> str:
        lines = ["           CPU0"]
        for port, events in enumerate(self.events):
            if setting("SHARED"):
                count = events["rx_interrupt"] + events["tx_interrupt"] + setting("MISCOUNT")
                lines.append(f" {10 + port}: {count:10}  SiFive PLIC  {3 + port} Level     eth{port}")
                continue
            for line, direction in enumerate(("rx", "tx")):
                count = (
                    events[f"{direction}_interrupt"] + setting("MISCOUNT") - self.withdrawn()[direction]
                )
                number = 2 * port + line
                lines.append(
                    f" {10 + number}: {count:10}  SiFive PLIC  {3 + number} Level     "
                    f"eth{port}-{direction}"
                )
        lines += ["00000010 00000002 00000000 00000000 00000000"]
        for port in range(2):
            lines.append(
                f"  eth{port}:       0       0    0    0    0     0          0         0"
                "        0       0    0    0    0     0       0          0"
            )
        return "\r\n".join(lines) + "\r\n"

    @staticmethod
    def withdrawn() -> dict[str, int]:
        """A port's withdrawn interrupts, since reset and during a trial."""
        return {"rx": setting("WITHDRAWN"), "tx": 0}

    def claims(self) -> list[list[int]]:
        """Claims of its hart, by the sources in proc()."""
        fell = self.withdrawn()
        taken = [
            [events["rx_interrupt"] - fell["rx"], events["tx_interrupt"] - fell["tx"]]
            for events in self.events
        ]
        lines = [[sum(port)] for port in taken] if setting("SHARED") else taken
        return [[0, 0, 0, *(count for port in lines for count in port)]]

    def offer(self, request: dict) -> dict:
        self.offered = request["ports"][0]
        slot = (self.offered["frame_bytes"] + 20) * 8 * 100 / self.offered["load_percent"]
        self.slot, self.start = slot, self.cycle + 1
        self.end = self.start + round(slot * self.offered["frames"])
        self.begin = self.start + (self.end - self.start) // 5
        return {"start_cycle": self.start, "window": {"start_cycle": self.begin, "end_cycle": self.end}}

    def inside(self, cycle: int) -> tuple[int, int]:
        """Frames that arrived and left until a cycle: a fluid model."""
        came = min(self.offered["frames"], max(0, cycle - self.start) / self.slot)
        capacity = setting("CAPACITY") or 10_000
        return int(came), int(min(came, max(0, cycle - self.start) * capacity / 1e8))

    def status(self, quiet: bool) -> dict:
        came, left = self.inside(min(self.cycle, self.end))
        lost = max(0, came - left - (setting("RING") or 256)) + 9 * self.reset
        if quiet:
            left = came - lost
        parts = [self.begin + (self.end - self.begin) * part // 8 for part in range(9)]
        least = [came - left for came, left in map(self.inside, parts[:-1])]
        over = sum(part <= self.cycle for part in parts[1:])
        before, until = (self.inside(min(cycle, self.end)) for cycle in (self.begin, self.cycle))
        window = {
            "offered": until[0] - before[0],
            "forwarded": until[1] - before[1],
            "least_outstanding": least[:over],
        }
        events = dict.fromkeys(EVENTS, 0) | {"rx_interrupt": left, "rx_completed": left}
        port = {
            "offered": came,
            "forwarded": left,
            "lost": lost,
            "corrupted": setting("CORRUPTED"),
            "reordered": 0,
            "duplicated": 0,
            "window": window,
            "events": events,
            "window_events": events | {"rx_completed": window["forwarded"]},
            "last_lost_cycle": self.cycle if lost else None,
            "longest_pause": {"start_cycle": self.start, "end_cycle": self.begin},
            "left": {"bad_fcs": 0, "bad_preamble": 0, "short_gap": 0, "answered": 0},
        }
        return {
            "start_cycle": self.start,
            "offered_cycle": self.end,
            "quiet": quiet,
            "ports": [port, port],
            "latency_percentiles": [1000 + percent for percent in range(101)],
            "window": {"start_cycle": self.begin, "end_cycle": self.end, "idle_cycles": [0]},
        }

    def collect(self) -> dict:
        self.cycle = max(self.cycle, self.end) + 1_000_000
        return self.status(quiet=True)

    def talk(self, request: dict):
        """TCP at 8 cycles an octet, in segments of 1448, an ACK for every two."""
        self.request, self.begin = request, self.cycle

    def served(self) -> str:
        if not self.request["check"]:
            return f"nuttcp: {self.request['octets'] / 2**20:.4f} MB / 0.50 sec = 99.5000 Mbps 5 %TX\r\n"
        return "".join(
            f"{number} {self.request['octets']} {setting('CORRUPTED')} "
            f"{3 if setting('CORRUPTED') else '-'} 9\r\n"
            for number in range(self.request["connections"])
        )

    def talked(self) -> dict:
        request, refused = self.request, setting("REFUSED")
        octets = 0 if refused else request["octets"] * request["connections"]
        begin, end = self.begin + octets * 8 // 5, self.begin + octets * 8
        parts = [begin + (end - begin) * part // 8 for part in range(9)]
        if setting("UNEVEN"):
            parts = [*parts[:8], parts[8] + 30 * (end - begin)]
        self.cycle = parts[-1] + 1_000_000
        segments, ways = octets * 4 // 5 // 1448, request["direction"] == "out"

        def way(count, back):
            return dict(zip(("in", "out"), (back, count) if ways else (count, back)))

        trip = {"min": 1000, "median": 2000, "p99": 3000, "max": 4001}
        counts = {
            "segments": way(segments, 0),
            "octets": way(segments * 1448, 0),
            "acks": way(0, segments // 2),
            "retransmitted": way(0, 0),
            "window": {"mean": 65535.0, "min": 0, "max": 65535},
            "round_trip_cycles": trip,
        }
        events = dict.fromkeys(EVENTS, 0) | {"rx_interrupt": segments, "rx_completed": segments}
        port = counts | {
            "steady": counts,
            "events": events,
            "window_events": events,
            "left": {"frames": segments, "bad_fcs": 0, "bad_preamble": 0, "short_gap": 0, "answered": 0},
        }
        for name, count in events.items():
            for each in self.events:
                each[name] += count
        state, error = ("refused", "the guest rejected the connection") if refused else ("closed", None)
        return {
            "direction": request["direction"],
            "start_cycle": self.begin,
            "octets": octets,
            "idle_cycles": [0],
            "end_cycle": self.cycle,
            "quiet": True,
            "done": not refused,
            "window": {
                "start_cycle": begin,
                "end_cycle": parts[-1],
                "octets": octets * 4 // 5,
                "parts": parts,
                "idle_cycles": [(parts[-1] - begin) // 4],
            },
            "connections": [
                {
                    "number": number,
                    "state": state,
                    "octets": request["octets"],
                    "corrupted": 0,
                    "first_corrupted": None,
                    "error": error,
                }
                for number in range(request["connections"])
            ],
            "ports": [port, port],
        }

    def profile(self, request: dict):
        """A third of the cycles each in a system call, in a softirq, and idle."""
        if "symbols" in request:
            self.calls, self.timeline = request.get("calls"), request.get("timeline")
            return
        if self.timeline:
            Path(self.timeline).write_text("".join(f"{row}\n" for row in self.happened))
            return
        window = self.talked_window
        third = (window["end_cycle"] - window["start_cycle"]) // 3
        head = "retire pipeline icache dcache lsu tlb idle interrupts_enabled entries stack\n"
        Path(request["stop"]).write_text(
            head
            + "".join(
                f"{busy} 0 0 0 0 0 {idle} 0 1 {stack}\n"
                for busy, idle, stack in (
                    (third, 0, "handle_exception;do_trap_ecall_u;tcp_recvmsg"),
                    (third, 0, "handle_exception;do_irq;handle_softirqs;tcp_v4_rcv"),
                    (0, third, "do_idle"),
                )
            )
        )
        if self.calls:
            start, end = window["start_cycle"], window["end_cycle"]
            Path(self.calls).write_text(
                "".join(
                    f"{cycle} {stack}\n"
                    for cycle, stack in (
                        (1, "handle_softirqs;tcp_rcv_established;tcp_queue_rcv"),
                        (start, "handle_softirqs;tcp_v4_rcv;tcp_rcv_established"),
                        (start, "handle_softirqs;tcp_rcv_established;tcp_queue_rcv"),
                        (start, "do_trap_ecall_u;tcp_recvmsg;tcp_recvmsg_locked"),
                        (start, "do_trap_ecall_u;tcp_recvmsg_locked;skb_copy_datagram_iter"),
                        (start, "do_trap_ecall_u;tcp_recvmsg_locked;sock_rfree"),
                        (start, "do_trap_ecall_u;release_sock;tcp_rcv_established"),
                        (end, "handle_softirqs;tcp_v4_rcv;tcp_rcv_established"),
                    )
                )
            )

    def replay(self, request: dict) -> dict:
        """Frames are received, or filtered; none leaves."""
        ports = []
        for number, each in enumerate(request["in"]):
            frames = count(octets(each)) if each else 0
            fate = "rx_drop_filter" if setting("FILTERED") else "rx_completed"
            self.events[number][fate] += frames
            ports.append(
                {
                    "offered": frames,
                    "events": dict.fromkeys(EVENTS, 0) | {fate: frames},
                    "withdrawn": self.withdrawn(),
                    "left": {"answered": 0, "bad_fcs": 0, "bad_preamble": 0, "short_gap": 0},
                }
            )
        for each in [*request["out"], *request["answers"]]:
            with open(octets(each), "wb") as file:
                file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        start, self.cycle = self.cycle, self.cycle + 3_000_000
        self.happened.append(f"{start + 500} ! 0 rx_completed")
        return {"start_cycle": start, "end_cycle": self.cycle, "quiet": True, "ports": ports}

    def live(self, request: dict) -> dict:
        """A frame entered port 0 and left again, and the console printed a line."""
        start, ended = self.cycle + 1, {}
        if "window" in request:
            os.write(request["window"], b'{"ended": 0}')
        if setting("ENDED"):
            ended = {"ended": "the guest powered off"}
        elif "until_closed" in request:
            os.read(request["until_closed"], 1)
        self.cycle = request.get("until", start + 1_000_000)
        passed = {"frames": 1, "octets": 64}
        port = {
            "in": passed,
            "out": passed,
            "dropped": 0,
            "events": dict.fromkeys(EVENTS, 0),
            "withdrawn": self.withdrawn(),
            "left": {"frames": 1},
        }
        report = {
            "start_cycle": start,
            "end_cycle": self.cycle,
            "keys": len(request.get("keys", "")),
            "ports": [port, port],
            "idle_cycles": [0],
            "claims": self.claims(),
        }
        if "record" in request:
            about, end = (json.dumps(each).encode() for each in (request["about"], report))
            with open(octets(request["record"]), "wb") as file:
                file.write(
                    struct.pack("<8sII", b"ModeLive", 1, len(about))
                    + about
                    + struct.pack("<Q", start)
                    + struct.pack("<QHHI", self.cycle, 4, 0, len(end))
                    + end
                )
        if "replay" in request:
            report["difference"] = os.environ.get("FAKE_DIFFERENCE")
        self.happened.append(f"{start + 500} ! 0 rx_completed")
        if "capture" in request:  # without frames
            with open(octets(request["capture"]), "wb") as file:
                file.write(struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28))
        unread = [name for name in os.environ.get("FAKE_UNREAD", "").split(",") if name]
        written = [name for name in ("record", "capture") if name in {*request} - {*unread}]
        return (
            report
            | ended
            | {
                "printed": b"hello\r\n".hex(),
                "written": written,
                "notes": [f"{name}: its reader has left" for name in unread],
            }
        )

    def trial(self, request: dict) -> dict:
        start = self.cycle
        ports = []
        for number, offer in enumerate(request["ports"]):
            lost = setting("LOST") if number == 0 else 0
            passed = offer["frames"] - lost
            events = dict.fromkeys(EVENTS, 0) | {
                "rx_interrupt": passed,
                "tx_interrupt": passed,
                "rx_completed": passed,
                "tx_completed": passed,
                "rx_drop_ring": lost,
            }
            for name, count in events.items():
                self.events[number][name] += count
            ports.append(
                {
                    "offered": offer["frames"],
                    "forwarded": passed,
                    "lost": lost,
                    "corrupted": setting("CORRUPTED"),
                    "reordered": 0,
                    "duplicated": 0,
                    "window": {"offered": passed, "forwarded": passed},
                    "events": events,
                    "window_events": events,
                    "withdrawn": self.withdrawn(),
                    "left": {
                        "frames": passed,
                        "bad_fcs": 0,
                        "bad_preamble": 0,
                        "short_gap": 0,
                        "unrecognised": 0,
                        "answered": 0,
                    },
                }
            )
        self.cycle += 3_000_000
        return {
            "start_cycle": start,
            "end_cycle": self.cycle,
            "quiet": True,
            "ports": ports,
            "latency_cycles": {"min": 1000, "median": 2000, "p99": 3000, "max": 4001},
            "probe_latency_cycles": {"min": 10, "median": 20, "p99": 30, "max": 40}
            if "probe_every" in request["ports"][0]
            else None,
            "window": {"start_cycle": start, "end_cycle": start + 1_000_000, "idle_cycles": [250_000]},
        }


def stall(*of: int):
    """Never return if FAKE_STALL is 1 or one of these."""
    if setting("STALL") in (1, *of):
        time.sleep(1000)


def stream(output: str, cycle: int) -> str:
    """Print all but the end in small pieces; returns the end."""
    *pieces, last = [output[at : at + 3] for at in range(0, len(output), 3)]
    for piece in pieces:
        print(
            json.dumps(
                {"progress": {"cycle": cycle, "cycles": 1, "of": 2, "printed": piece.encode().hex()}}
            )
        )
    return last.encode().hex()


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
        if request["do"] not in ("live", "profile", "wave") and request.get("cycles") != 0:
            guest.cycle += 1000
        match request["do"]:
            case "send":
                guest.type(octets(request["text"]).decode(errors="replace"))
            case "expect":
                if not request.get("stream"):
                    print(
                        json.dumps(
                            {
                                "progress": {
                                    "cycle": guest.cycle,
                                    "cycles": 1,
                                    "of": request["max_cycles"],
                                }
                            }
                        )
                    )
                found = guest.printed.find(request["text"])
                if found < 0 and request.get("stream"):
                    reply |= {
                        "ok": False,
                        "error": "the guest powered off",
                        "printed": stream(guest.printed, guest.cycle),
                    }
                elif found < 0:
                    reply |= {"ok": False, "error": f"the guest did not print {request['text']!r}"}
                else:
                    end = found + len(request["text"])
                    reply["output"], guest.printed = guest.printed[:end], guest.printed[end:]
                    if request.get("stream"):
                        reply["printed"] = stream(reply["output"], guest.cycle)
            case "counters":
                reply |= {
                    "idle_cycles": [0],
                    "claims": guest.claims(),
                    "ports": [
                        {"events": events, "withdrawn": guest.withdrawn()} for events in guest.events
                    ],
                }
            case "trial":
                stall(request["ports"][0]["frame_bytes"], request["link_mbps"])
                reply |= guest.trial(request)
                if "pcap" in request:
                    folder = Path(os.fsdecode(octets(request["pcap"])))
                    (folder / "port0-in.pcap").write_bytes(b"frames")
            case "offer":
                stall(request["ports"][0]["frame_bytes"], request["link_mbps"])
                reply |= guest.offer(request)
            case "talk":
                stall(request["octets"], request["link_mbps"])
                guest.talk(request)
                if "pcap" in request:
                    folder = Path(os.fsdecode(octets(request["pcap"])))
                    (folder / "port0-in.pcap").write_bytes(b"segments")
            case "replay":
                reply |= guest.replay(request)
            case "live":
                reply |= guest.live(request)
            case "profile":
                guest.profile(request)
            case "wave" if "stop" not in request:
                Path(request["file"]).write_text(json.dumps(request))
            case "run":
                guest.cycle += request["cycles"]
            case "status":
                reply |= guest.status(quiet=False)
            case "collect" if guest.request:
                print(json.dumps({"progress": {"cycle": guest.cycle, "octets": 1, "of": 2}}))
                reply |= guest.talked()
                guest.talked_window = reply["window"]
            case "collect":
                reply |= guest.collect()
            case "save":
                Path(request["file"]).write_text(
                    json.dumps({"cycle": guest.cycle, "events": guest.events, "printed": guest.printed})
                )
        print(json.dumps(reply | {"cycle": guest.cycle}), flush=True)


main()

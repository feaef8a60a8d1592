# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board check`: a booted board, part by part; each line passes, or names the next step."""

import hashlib
import random
import re
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from moderato.gateware.registers import table as registers
from moderato.toolchain import project

from ..run import ethtool
from ..run.stations import ROUTER, TESTER
from ..show.errors import LabError
from . import counters, desk, die, findings, frames, wire
from .built import Built
from .desk import Desk
from .findings import PARTS, Finding, failed, passed, skipped
from .shell import Restarted

LINES = 100  # of the serial line's test
CLOCK_SECONDS = 10
READINGS = 8
CLOCK_ERROR = 0.003  # 84.375 MHz for 85 is 0.0073; /proc/uptime has 10 ms
TIMER_US = 100_000  # of the moderation timer's test
TIMER_ERROR_US = 1_000
TIMER_WORDS = ("adaptive-rx", "rx-frames", "rx-usecs", "rx-usecs-low")
MEMORY_KB = 4096
PINGS = 64
GIVE_UP = 3  # of them without any answer
SIZES = (60, 61, 62, 63, 64, 65, 128, 594, 1513, 1514)  # octets of a frame, without the FCS
SEED = 1


def check(at: Desk, only: Collection[str] = ()) -> Iterator[Finding]:
    """Findings, one after the other. only: some of PARTS, next to the driver; none: all."""
    for name, part in _CHECKS.items():
        if only and name not in (*only, "driver"):
            continue
        try:
            yield from part(at)
        except Restarted as error:
            yield failed("power", str(error), "then repeat all")
            return
        except LabError as error:
            yield failed(name, str(error), "correct this first; later lines depend on it")


def _serial_line(at: Desk) -> Iterator[Finding]:
    """Both directions: what is typed is checked by the board, what it prints by its MD5."""
    for command, expected in (
        (f"seq {LINES}", "".join(f"{number}\n" for number in range(1, LINES + 1))),
        (f"echo {'.' * 400}", "." * 400 + "\n"),
    ):
        if at.shell.check(command) != expected:
            yield failed("serial line", "the board prints other lines than it should", "flash it again")
            return
    if at.shell.repeated:
        yield failed(
            "serial line",
            f"{at.shell.repeated} commands or outputs were damaged, and repeated",
            findings.LOSSY_LINE,
        )
    else:
        yield passed("serial line", "every octet arrived in both directions")


# Identity ------------------------------------------------------------------------------------------


def _image(at: Desk) -> Iterator[Finding]:
    built = at.built
    build = f"build, flash and boot again: ./moderato bitstream --board {built.board}"
    here, there = project.version(), built.report.get("commit")
    if here != there:
        yield failed("image", f"{built.folder}/ is of commit {there}, this clone of {here}", build)
    wanted = _modules(built)
    said = at.shell.check("md5sum /lib/modules/*.ko /sys/firmware/fdt 2>/dev/null; :")
    found = {Path(name).name: digest for digest, name in re.findall(r"^(\w{32})  (\S+)$", said, re.M)}
    if "fdt" in found and not built.simulated:  # whose rng-seed the kernel has erased
        wanted["fdt"] = _md5((built.folder / "moderato.dtb").read_bytes())
    other = [name for name, digest in wanted.items() if found.get(name) != digest]
    if other:
        yield failed(
            "image", f"the board runs another {', '.join(sorted(other))} than {built.folder}/ has", build
        )
    elif here == there:
        yield passed("image", f"{', '.join(sorted(wanted))} are those of commit {there}")


def _modules(built: Built) -> dict[str, str]:
    """The MD5 of each kernel module in the root file system, by name."""
    if built.simulated:
        return {"moderato.ko": _md5((built.folder / "moderato.ko").read_bytes())}
    return {
        Path(name).name: _md5(content)
        for name, content in unpacked((built.folder / "initramfs.cpio").read_bytes())
        if name.endswith(".ko")
    }


def unpacked(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Names and contents of newc archives, one after the other (soc/linux/rootfs.py)."""
    place = 0
    while archive[place : place + 6] == b"070701":
        fields = [int(archive[place + 6 + 8 * n : place + 14 + 8 * n], 16) for n in range(13)]
        size, length = fields[6], fields[11]
        name = archive[place + 110 : place + 109 + length].decode()
        start = (place + 110 + length + 3) & ~3
        yield name, archive[start : start + size]
        place = (start + size + 3) & ~3


def _md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


# The SoC -------------------------------------------------------------------------------------------


def _driver(at: Desk) -> Iterator[Finding]:
    at.start()
    ports = at.built.interfaces
    found = sorted(at.shell.check("cd /sys/class/net; ls -d eth*; cd /").split())
    if len(found) < len(ports):
        yield failed(
            "driver",
            f"interfaces: {', '.join(found)}; the bitstream has {len(ports)} MACs",
            "look for the driver's message: dmesg | grep moderato",
        )
    else:
        yield passed("driver", f"loaded; interfaces: {', '.join(found)}")


def _clock(at: Desk) -> Iterator[Finding]:
    """The board's seconds, which count its clock, against the host's."""
    board, host = _elapsed(at, "cat /proc/uptime", lambda said: float(said.split()[0]))
    ratio = board / host
    hz = at.built.soc.get("sys_clk_hz", 0)
    said = f"{board:.2f} s of the board in {host:.2f} s of this machine"
    if at.built.simulated:
        yield skipped("clock", f"{said}; simulated: not judged")
    elif abs(ratio - 1) > CLOCK_ERROR:
        yield failed(
            "clock",
            f"{said}: the clock runs at {hz * ratio / 1e6:.3f} MHz instead of {hz / 1e6:.3f}",
            findings.OTHER_CLOCK,
        )
    else:
        yield passed("clock", f"{said}: {hz * ratio / 1e6:.2f} MHz")


def _temperature(at: Desk) -> Iterator[Finding]:
    """Of the FPGA's die, by its own sensor."""
    if "die" not in at.built.soc:
        yield skipped("temperature", "the bitstream reads no sensor")
        return
    found = die.degrees(int(at.shell.check(f"devmem {at.built.soc['die']:#x}"), 16))
    if found is None:
        yield failed("temperature", "the sensor has measured nothing", "switch the board off and on")
    elif found > die.MAX_DEGREES:
        yield failed(
            "temperature",
            f"the FPGA has {found} °C, more than {die.MAX_DEGREES}",
            "add a heat sink or a fan; then look for a short circuit",
        )
    else:
        yield passed("temperature", f"the FPGA has {found} °C")


def _elapsed(at: Desk, command: str, seconds: Callable[[str], float]) -> tuple[float, float]:
    """Seconds by a clock of the board, of what `command` prints, and by the host's. Both ends are the
    quickest of some readings, and so take as long."""
    ends = []
    for wait in (0, CLOCK_SECONDS):
        time.sleep(wait)
        found = []
        for _ in range(1 if at.built.simulated else READINGS):
            start = time.monotonic()
            board = seconds(at.shell.check(command))
            found.append((time.monotonic() - start, board, start))
        ends.append(min(found)[1:])
    (first, start), (last, end) = ends
    return last - first, end - start


def _memory(at: Desk) -> Iterator[Finding]:
    """The MD5 of random octets in memory, three times."""
    kilobytes = MEMORY_KB // 16 if at.built.simulated else MEMORY_KB
    digests = at.shell.check(
        f"dd if=/dev/urandom of=/tmp/.random bs=1024 count={kilobytes} 2>/dev/null; "
        "for n in 1 2 3; do md5sum < /tmp/.random; done; rm /tmp/.random"
    ).split("\n")[:3]
    if len(set(digests)) == 1:
        yield passed("memory", f"{kilobytes} KiB read three times, and equal")
    else:
        yield failed(
            "memory",
            f"{kilobytes} KiB differ from read to read",
            "boot again and look at the DRAM's training; try a slower sys_clk_freq",
        )


# The ports -----------------------------------------------------------------------------------------


def _phys(at: Desk) -> Iterator[Finding]:
    if at.built.soc.get("link") != "negotiated":
        yield skipped("PHY", "the link is fixed: the board does not ask the chips")
        return
    ports = len(at.built.interfaces)
    chips = at.shell.run("ls /sys/bus/mdio_bus/devices 2>/dev/null")[1].split()
    text = f"{len(chips)} chips answer at MDIO, for {ports} ports"
    if len(chips) < ports:
        yield failed("PHY", text, findings.NO_CHIP)
    else:
        yield passed("PHY", text)


def _links(at: Desk) -> Iterator[Finding]:
    for port, name in enumerate(at.built.interfaces):
        said = at.shell.run(f"ethtool {name}; cat /sys/class/net/{name}/mtu")[1]
        mtu = said.split()[-1]
        speed = re.search(r"Speed: (\d+)Mb/s", said)
        up = "Link detected: yes" in said
        here = at.wires.get(port)
        theirs = wire.speed(here.name) if here else None
        text = f"{name}: {speed[1] if speed else '?'} Mb/s, link {'up' if up else 'down'}"
        if not up:
            yield failed(f"link {port}", text, findings.NO_LINK)
        elif speed and theirs and int(speed[1]) != theirs and not at.built.simulated:  # a TAP has none
            yield failed(
                f"link {port}",
                f"{text}; {here and here.name} has {theirs} Mb/s",
                "the FPGA's ports are fixed at 1000 Mb/s; use a gigabit port, or --link negotiated",
            )
        elif here and (other := (wire.NET / here.name / "mtu").read_text().strip()) != mtu:
            yield failed(
                f"link {port}",
                f"{text}; {here.name} has an MTU of {other} octets, the board one of {mtu}",
                f"ip link set {here.name} mtu {mtu}; the board's MAC drops longer frames",
            )
        else:
            yield passed(f"link {port}", text)


def _ports(at: Desk) -> Iterator[Finding]:
    addresses = at.addresses()
    for port in range(len(at.built.interfaces)):
        if port in at.unusable:
            fault, _, next_ = at.unusable[port].partition("; ")
            yield failed(f"port {port}", fault, next_)
            continue
        if port not in at.wires:
            yield skipped(f"port {port}", f"--port{port} is not named")
            continue
        name = at.wires[port].name
        if fault := desk.port_fault(port, at.router(port), addresses, name):
            yield failed(f"port {port}", *fault)
        else:
            yield passed(f"port {port}", f"{name} reaches the board's port {port}")


def _frames(at: Desk) -> Iterator[Finding]:
    """Echo requests of all lengths with random data; the counters must show each."""
    for each in at.wires.values():
        _entered(each)  # all that precedes
    before = counters.read(at.shell, at.built.interfaces)
    entered = {port: -each.sent for port, each in at.wires.items()}
    results = {port: _echo(at, port) for port in at.wires}
    after = counters.read(at.shell, at.built.interfaces).since(before)
    for port, each in at.wires.items():
        entered[port] += _entered(each)
    for port, (sent, intact, damaged) in results.items():
        count, name = after.ports[port], at.wires[port].name
        others = sum(count[kind] for kind in counters.ARRIVED) - entered[port]
        bad = count["rx_crc_errors"] + count["rx_length_errors"]
        said = f"{sent} echo requests: {intact} answers, {damaged} damaged"
        if bad:
            yield failed(
                f"frames {port}",
                f"{said}; the board counts {bad} damaged frames",
                findings.DAMAGED,
            )
        elif others > 0:
            yield failed(
                f"frames {port}",
                f"{said}; {others} more frames entered, which this machine's programs did not send",
                f"its NIC sends pause frames: ethtool -A {name} rx off tx off; or a switch is between",
            )
        elif not damaged and intact < sent <= count["tx_packets"]:
            yield failed(
                f"frames {port}",
                f"{said}; the board sent all answers",
                f"this machine's NIC lost them: look at ip -s -s link show {name}; then at the cable",
            )
        elif damaged or intact < sent:
            missing = sent - count["rx_packets"]
            yield failed(
                f"frames {port}",
                f"{said}; {max(0, missing)} requests did not reach the board",
                "repeat it with another cable; then another port of this machine",
            )
        else:
            yield passed(f"frames {port}", f"{said}, {SIZES[0]} to {SIZES[-1]} octets")
        yield from _counted(after, port, sent)


def _entered(at: wire.Wire) -> int:
    """The frames that this machine has sent until now."""
    while at.receive():
        pass
    return at.sent


def _counted(after: counters.Counters, port: int, sent: int) -> Iterator[Finding]:
    received, transmitted = (after.ports[port][name] for name in ("rx_packets", "tx_packets"))
    if received >= sent and transmitted >= sent:
        yield passed(f"counters {port}", f"{received} received, {transmitted} sent")
    else:
        yield failed(
            f"counters {port}",
            f"{received} received, {transmitted} sent, of {sent}",
            "compare with `ethtool -S` on the board; report both",
        )
    lines = after.kernel.rx_interrupts or after.kernel.shared_interrupts
    if lines[port]:
        yield passed(f"interrupt {port}", f"{lines[port]} for {received} frames")
    else:
        yield failed(
            f"interrupt {port}", "none was raised", "report it with the output of cat /proc/interrupts"
        )


def _echo(at: Desk, port: int) -> tuple[int, int, int]:
    """Echo requests sent, answered with the same data, answered with other data."""
    wire_, patterns = at.wires[port], random.Random(SEED)
    mac = at.addresses()[port]
    intact = damaged = 0
    total = len(SIZES) if at.built.simulated else PINGS
    for number in range(total):
        if number == GIVE_UP and not intact + damaged:
            return number, 0, 0
        data = patterns.randbytes(SIZES[number % len(SIZES)] - 42)
        wire_.send(
            frames.echo((mac, TESTER[port].mac), (ROUTER[port].ipv4, TESTER[port].ipv4), number, data)
        )
        for found in wire_.frames(desk.ANSWER * at.built.slow):
            packet = frames.parse(found.frame)
            if not isinstance(packet, frames.Packet) or packet.protocol != frames.ICMP:
                continue
            if packet.payload[0] == frames.ECHO_REPLY and packet.source == ROUTER[port].ipv4:
                same = packet.payload[8:] == data and not frames.checksum(packet.payload)
                intact, damaged = intact + same, damaged + (not same)
                break
    return total, intact, damaged


def _timer(at: Desk) -> Iterator[Finding]:
    """The packet timer delays an answer by a time that this machine can measure."""
    if 0 not in at.wires:
        yield skipped("timer", "--port0 is not named")
        return
    name = at.built.interfaces[0]
    before = ethtool.shown(at.shell.run(f"ethtool -c {name}")[1])
    delay_us = TIMER_US // 100 if at.built.simulated else TIMER_US
    status, said = at.shell.run(
        f"ethtool -C {name} adaptive-rx off rx-frames 0 rx-usecs 0 rx-usecs-low {delay_us}"
    )
    if status:
        yield skipped("timer", f"this driver does not take the setting: {' '.join(said.split())}")
        return
    times = [_round_trip(at) for _ in range(3)]
    words = (f"{word} {before[word]}" for word in TIMER_WORDS)
    at.shell.check(f"ethtool -C {name} {' '.join(words)}")
    normal = min((each for each in (_round_trip(at) for _ in range(3)) if each), default=0)
    found = [each for each in times if each]
    if not found:
        yield failed("timer", f"nothing answers at {at.wires[0].name}", "correct `port 0` first")
        return
    delay = (min(found) - normal) * 1e6
    text = f"{delay / 1000:.2f} ms for the {delay_us / 1000:g} ms that were set"
    if at.built.simulated:
        yield skipped("timer", f"{text}; simulated: not judged")
    elif abs(delay - delay_us) < TIMER_ERROR_US:
        yield passed("timer", text)
    else:
        yield failed("timer", text, "the driver's clock rate differs from the FPGA's; compare `clock`")


def _round_trip(at: Desk) -> float | None:
    """Seconds until the board answers ARP at port 0."""
    start = time.monotonic()
    return time.monotonic() - start if at.router(0) else None


def _self_test(at: Desk) -> Iterator[Finding]:
    for name in at.built.interfaces:
        status, said = at.shell.run(f"ethtool -t {name}")
        if status and re.search(r"not supported|Cannot", said):
            yield skipped(f"self-test {name}", "this driver has none")
        elif status or "FAIL" in said:
            yield failed(
                f"self-test {name}", " ".join(said.split()), "report it with the output of dmesg"
            )
        else:
            yield passed(f"self-test {name}", " ".join(said.split()))


def _ptp(at: Desk) -> Iterator[Finding]:
    """The MACs' clocks, read from their registers, against the host's time."""
    if at.built.soc.get("nic") == "liteeth":
        yield skipped("PTP", "LiteEth has no clock")
        return
    for port, mac in enumerate(at.built.soc.get("macs", [])):
        features = int(at.shell.check(f"devmem {_register(mac, 'FEATURES')}"), 16)
        if not features >> registers.bits("FEATURES", "TIMESTAMP").lsb & 1:
            yield skipped(f"PTP {port}", "this MAC has no clock")
            continue
        read = registers.value("TIME_COMMAND", {"READ": 1})
        low, high = (f"devmem {_register(mac, f'TIME_NOW_{half}')}" for half in ("LOW", "HIGH"))
        command = f"devmem {_register(mac, 'TIME_COMMAND')} 32 {read}; {low}; {high}"
        board, host = _elapsed(at, command, _ptp_seconds)
        text = f"{board:.3f} s of the MAC's clock in {host:.3f} s of this machine"
        if at.built.simulated:
            yield skipped(f"PTP {port}", f"{text}; simulated: not judged")
        elif abs(board / host - 1) > CLOCK_ERROR:
            yield failed(f"PTP {port}", text, findings.OTHER_CLOCK)
        else:
            yield passed(f"PTP {port}", text)


def _register(mac: dict, name: str) -> str:
    [offset] = [register.offset for register in registers.registers() if register.name == name]
    return f"{mac['base'] + offset:#x}"


def _ptp_seconds(said: str) -> float:
    low, high = (int(word, 16) for word in said.split())
    return (high << 32 | low) / 1e9


_CHECKS: dict[str, Callable[[Desk], Iterator[Finding]]] = dict(
    zip(
        PARTS,
        (
            _serial_line,
            _image,
            _driver,
            _clock,
            _temperature,
            _memory,
            _phys,
            _links,
            _ports,
            _frames,
            _timer,
            _self_test,
            _ptp,
        ),
        strict=True,
    )
)

# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board check` and `forward`, with a pretended board that has ports (board_bench.py)."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import board_bench
import fake_board
import pytest
import test_board_selftest
from fake_board import Faults, playing

from moderato.soc.linux.rootfs import Entry, archive
from moderato.toolchain import project

NEIGHBOUR = "ip neigh replace 198.19.0.2 lladdr 02:54:73:74:00:01 nud permanent dev eth1"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="raw frames need root")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with board_bench.made(tmp_path_factory.mktemp("bench") / "bench") as made:
        yield made


@pytest.fixture
def built(tmp_path):
    return made(tmp_path / "built")


def made(place: Path, board: str = "versa_ecp5") -> Path:
    """A folder with the driver of the bench."""
    folder = fake_board.folder(place, project.version(), board)
    module = Entry("lib/modules/moderato.ko", 0o100644, b"the driver")
    (folder / "initramfs.cpio").write_bytes(
        archive([Entry("init", 0o100755, b"#!")]) + archive([module])
    )
    soc = json.loads((folder / "soc.json").read_text())
    macs = [{"base": 0xF1000000}, {"base": 0xF1001000}]
    (folder / "soc.json").write_text(
        json.dumps(soc | {"nic": "moderato", "macs": macs, "die": 0xF0006000})
    )
    return folder


def run(
    bench,
    built,
    action: str,
    *words: str,
    faults=Faults(),
    ports=("port0", "port1"),
    board="versa_ecp5",
    **settings,
):
    """A command's output, with a booted board."""
    shell = fake_board.shell(bench.environment(**settings), board_bench.entering(bench.board))
    with playing(faults, shell) as line:
        named = [word for n, name in enumerate(ports) for word in (f"--port{n}", name)]
        return bench.moderato(
            *("board", action, "--board", board, "--folder", str(built)),
            *("--serial", line.device, *named, *words),
        )


def lines(done: subprocess.CompletedProcess) -> dict[str, str]:
    """The status of each line of `check`."""
    return {
        line[6:18].strip(): line[:4]
        for line in done.stdout.splitlines()
        if line[:4] in ("pass", "FAIL", "skip")
    }


# check ---------------------------------------------------------------------------------------------


def test_check_passes(bench, built, tmp_path):
    done = run(bench, built, "check", "--json", str(tmp_path / "check.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    found = lines(done)
    assert "FAIL" not in found.values()
    for name in ("serial line", "image", "driver", "clock", "temperature", "memory", "link 0", "port 0",
                 "frames 0", "counters 0", "interrupt 0", "frames 1", "interrupt 1",
                 "PTP 1"):  # fmt: skip
        assert found[name] == "pass", done.stdout
    assert found["self-test eth0"[:12].strip()] == found["PTP 0"] == "skip"
    written = json.loads((tmp_path / "check.json").read_text())
    assert [each["name"] for each in written][:2] == ["serial line", "image"]


def test_check_names_each_fault(bench, built):
    """At once: another image, a clock that is 0.74 % slow, a hot FPGA, jumbo frames, a port without
    cable."""
    (bench.folder / "moderato.ko").write_bytes(b"another driver")
    bench.on_host("ip link set port0 mtu 9000")
    bench.on_board("ip link set eth1 down")
    try:
        done = run(bench, built, "check", BENCH_PPM="992650", BENCH_PTP_PPM="1007400", BENCH_DIE="0x6F")
    finally:
        (bench.folder / "moderato.ko").write_bytes(b"the driver")
        bench.on_host("ip link set port0 mtu 1500")
        bench.on_board(f"ip link set eth1 up; {NEIGHBOUR}")
    found = lines(done)
    assert done.returncode == 1
    assert {name for name, status in found.items() if status == "FAIL"} == {
        "image", "clock", "temperature", "link 0", "link 1", "port 1", "PTP 1",
    }, done.stdout  # fmt: skip
    assert "another moderato.ko" in done.stdout and "instead of 84.375" in done.stdout
    assert "port0 has an MTU of 9000 octets, the board one of 1500" in done.stdout
    assert "port1 has no carrier" in done.stdout
    assert "the FPGA has 97 °C, more than 85" in done.stdout
    assert done.stdout.count("next: ") == 7


def test_board_with_one_port(bench, tmp_path):
    """Neither check nor report asks for a second interface."""
    built = made(tmp_path / "built", "ecpix5")
    soc = json.loads((built / "soc.json").read_text())
    (built / "soc.json").write_text(json.dumps(soc | {"macs": soc["macs"][:1]}))
    bench.on_board("ip link set eth1 down; ip link set eth1 name other1")
    try:
        checked, reported = (
            run(bench, built, action, ports=["port0"], board="ecpix5") for action in ("check", "report")
        )
    finally:
        bench.on_board(f"ip link set other1 name eth1; ip link set eth1 up; {NEIGHBOUR}")
    found = lines(checked)
    assert checked.returncode == 0 and not checked.stderr, checked.stdout + checked.stderr
    ports = ("link 0", "port 0", "frames 0", "counters 0", "interrupt 0", "driver")
    assert all(found[name] == "pass" for name in ports)
    assert not [name for name in found if name.endswith(("1", "eth1"))]
    assert reported.returncode == 0 and "ethtool -S eth0" in reported.stdout
    assert "eth1" not in reported.stdout.partition("## ethtool")[2]


def test_check_names_phys_that_do_not_answer(bench, built):
    soc = json.loads((built / "soc.json").read_text()) | {"link": "negotiated"}
    (built / "soc.json").write_text(json.dumps(soc))
    done = run(bench, built, "check", "--only", "PHY")
    assert lines(done) == {"driver": "pass", "PHY": "FAIL"}
    assert "0 chips answer at MDIO, for 2 ports" in done.stdout


def test_check_names_swapped_cables(bench, built):
    done = run(bench, built, "check", ports=("port1", "port0"))
    assert "port1 is connected to the board's port 1" in done.stdout
    assert "swap the cables" in done.stdout and done.returncode == 1


@pytest.mark.slow  # the shell of test_board.py, at length
def test_check_names_a_line_that_drops_octets(bench, built):
    done = run(bench, built, "check", faults=Faults(drop=0.001), ports=())
    assert lines(done)["serial line"] == "FAIL", done.stdout + done.stderr
    assert "shorter USB cable" in done.stdout


def test_changes_nothing_of_the_interfaces(bench, built):
    def state() -> str:
        return subprocess.run(
            [*board_bench.entering(bench.host), "ip", "-d", "address"], capture_output=True, text=True
        ).stdout

    before = state()
    run(bench, built, "check")
    assert state() == before and "promiscuity 0" in before


def strategy(bench) -> dict[str, str]:
    return {str(path): path.read_text() for path in bench.folder.glob("-*/*")}


def test_restores_the_boards_settings_after_ctrl_c(bench, built):
    bench.on_board(
        f"PATH={bench.folder}/bin:$PATH BENCH={bench.folder}; export PATH BENCH; "
        "ethtool -C eth0 rx-frames 16 rx-usecs 100; ethtool --set-priv-flags eth0 rx-napi off"
    )
    before = strategy(bench)
    assert sorted(before.values()) == ["100\n", "16\n", "off\n"]
    words = ("--frame-size", "64", "--load", "0.001", "--frames", "10000", "--variant", "napi")
    shell = fake_board.shell(bench.environment(), board_bench.entering(bench.board))
    with playing(Faults(), shell) as line:
        process = bench.started(
            *("board", "forward", "--board", "versa_ecp5", "--folder", str(built)),
            *("--serial", line.device, "--port0", "port0", "--port1", "port1", *words),
        )
        while strategy(bench).items() >= before.items():
            assert process.poll() is None, process.communicate()
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130
    assert strategy(bench).items() >= before.items()


@pytest.mark.parametrize(
    "ports, says",
    [
        (("port0", "eth7"), "there is no interface eth7; there are: lo, port0, port1"),
        (("port0", "lo"), "lo is down; set it up"),
    ],
)
def test_rejects_other_interfaces(bench, built, ports, says):
    done = run(bench, built, "forward", ports=ports)
    assert done.returncode == 1 and says in done.stderr


def test_rejects_the_default_route(bench, built):
    bench.on_host("ip addr add 10.9.9.1/24 dev port1; ip route add default via 10.9.9.2")
    try:
        done = run(bench, built, "forward")
    finally:
        bench.on_host("ip addr del 10.9.9.1/24 dev port1")
    assert "this host's default route uses port1" in done.stderr


def test_report_has_each_part(bench, built):
    done = run(bench, built, "report")
    assert done.returncode == 0, done.stderr
    for part in ("check", "bitstream", "SoC", "this machine", "dmesg | tail -n 60", "ip -s -s link"):
        assert f"\n## {part}\n\n```\n" in done.stdout
    assert "pass  frames 1" in done.stdout and '"sys_clk_hz": 84375000' in done.stdout
    assert "port0" not in done.stdout and "/dev/pts" not in done.stdout


# forward -------------------------------------------------------------------------------------------

LOAD = ("--frame-size", "64,1518", "--load", "0.1", "--frames", "300")


def test_account_closes_to_the_frame(bench, built, tmp_path):
    done = run(bench, built, "forward", *LOAD, "--json", str(tmp_path / "out.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    trials = json.loads((tmp_path / "out.json").read_text())
    assert [each["frame_bytes"] for each in trials] == [64, 1518]
    for each in trials:
        assert each["on"] == "hardware" and "simulation" not in each
        assert each["hardware"]["host_drivers"] == ["veth", "veth"]
        assert each["hardware"]["intended_fps"] == each["offered_fps"]  # by --load
        for port in each["ports"]:
            assert port["offered"] == port["received"] == port["forwarded"] == 300
            assert port["lost"] == port["corrupted"] == port["reordered"] == 0
        assert 0 < each["latency_ns"]["min"] <= each["latency_ns"]["max"]
    assert "300 frames per port" in done.stdout and "on hardware" in done.stdout


def test_counts_frames_that_the_board_does_not_forward(bench, built, tmp_path):
    bench.on_board("ip route add blackhole 198.19.0.2")
    try:
        done = run(bench, built, "forward", *LOAD, "--json", str(tmp_path / "out.json"))
    finally:
        bench.on_board("ip route del blackhole 198.19.0.2")
    assert done.returncode == 0, done.stderr
    into, back = json.loads((tmp_path / "out.json").read_text())[0]["ports"]
    assert (into["lost"], back["lost"], into["received"]) == (300, 0, 300)


def test_reports_an_account_that_does_not_close(bench, built):
    done = run(bench, built, "forward", *LOAD, BENCH_MISCOUNT="1")
    assert done.returncode == 1
    assert "this machine sent 300 frames into port 0, and the board counts 30" in done.stderr


def test_reports_a_host_that_is_the_bottleneck(bench, built):
    done = run(bench, built, "forward", "--frame-size", "64", "--load", "100", "--frames", "3000")
    assert "this machine is the bottleneck" in done.stdout, done.stderr


def test_forward_measures_no_other_variant_instead(bench, built):
    """The image of this board has no XDP."""
    done = run(bench, built, "forward", "--variant", "xdp", "--frame-size", "64", "--frames", "300")
    assert done.returncode == 1 and not done.stdout
    assert "the board can't run xdp: `ip neigh | xdp forward eth0 eth1` failed" in done.stderr


# rfc2544 -------------------------------------------------------------------------------------------


def search(bench, built, *words: str) -> subprocess.CompletedProcess:
    trials = ("--frame-size", "512", "--frames", "600", "--resolution", "10")
    return run(bench, built, "rfc2544", *trials, *words)


def test_finds_the_highest_rate_without_loss(bench, built, tmp_path):
    """A queue of the board lets 400 frames of 508 octets pass in a second."""
    bench.on_board("tc qdisc add dev eth1 root tbf rate 203200bps burst 1600 limit 4000")
    try:
        done = search(bench, built, "--json", str(tmp_path / "out.json"))
    finally:
        bench.on_board("tc qdisc del dev eth1 root")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((tmp_path / "out.json").read_text())
    assert 360 <= found["hardware"]["offered_fps"] / 2 <= 410
    assert [port["lost"] for port in found["ports"]] == [0, 0]
    rate = f"{found['hardware']['offered_fps']:.0f}"
    assert f"napi-tx-off 512 bytes: {rate} frames/s, " in done.stdout


def test_search_ends_at_the_hosts_rate(bench, built):
    done = search(bench, built)
    assert done.returncode == 0 and "napi-tx-off 512 bytes: at least " in done.stdout, done.stderr


def test_search_reports_that_no_rate_passes(bench, built):
    bench.on_board("ip route add blackhole 198.19.0.2")
    try:
        done = search(bench, built, "--frames", "20")
    finally:
        bench.on_board("ip route del blackhole 198.19.0.2")
    assert done.returncode == 0 and "napi-tx-off 512 bytes: no rate passed" in done.stdout, done.stderr


# boot by TFTP --------------------------------------------------------------------------------------

CLIENT = Path(__file__).with_name("tftp_client.py")


def netboot(bench, status: list[int], prints: str, then):
    """Plays a board that boots from the network, by the stack of its namespace. The booted program
    writes `prints` right after the boot loader's last line; `then` plays the rest."""

    def play(line, ended):
        while not line.read(0.1):  # the command is up, and looks for a prompt
            if ended.is_set():
                return
        line.send(fake_board.BANNER.format(memtest=fake_board.MEMTEST_OK, width="03", lane="04+-03"))
        line.send("Booting from network...\r\n")
        client = [*board_bench.entering(bench.board), sys.executable, str(CLIENT)]
        status.append(subprocess.run(client, timeout=60).returncode)
        line.send("Network boot failed.\r\n" if status[0] else fake_board.LIFTOFF + prints)
        then(line, ended)

    return play


def boot(
    bench, built, action="boot", prints=fake_board.BOOTED, then=fake_board.nothing
) -> tuple[subprocess.CompletedProcess, list[int]]:
    status: list[int] = []
    with playing(Faults(), netboot(bench, status, prints, then)) as line:
        done = bench.moderato(
            *("board", action, "--board", "versa_ecp5", "--folder", str(built)),
            *("--serial", line.device, "--tftp", "--port0", "port0"),
        )
    return done, status


@pytest.fixture
def client_address(bench):
    bench.on_board("ip addr add 192.168.1.50/24 dev eth0")
    yield
    bench.on_board("ip addr del 192.168.1.50/24 dev eth0")


def test_boots_by_tftp(bench, built, client_address):
    done, status = boot(bench, built)
    assert (done.returncode, status) == (0, [0]), done.stdout + done.stderr
    assert "octets by TFTP, 0 blocks sent again" in done.stdout


def test_self_test_is_loaded_by_tftp(bench, built, client_address):
    """Its first lines may arrive with the boot loader's last ones."""
    made = test_board_selftest.with_self_test(built)
    said, then = test_board_selftest.GOOD, test_board_selftest.answers
    done, status = boot(bench, made, "selftest", said, then)
    assert (done.returncode, status) == (0, [0]), done.stdout + done.stderr
    found = "5 octets by TFTP", "5 octets are those of commit", "every octet arrived"
    assert all(each in done.stdout for each in found), done.stdout


def test_server_needs_an_unused_address(bench, built):
    bench.on_board("ip addr add 192.168.1.100/24 dev eth0")
    try:
        done, _ = boot(bench, built)
    finally:
        bench.on_board("ip addr del 192.168.1.100/24 dev eth0")
    assert "192.168.1.100 is in use at port0, by another station (02:4d:6f:64:00:00)" in done.stderr


def test_server_needs_a_kernel_without_its_address(bench, built):
    bench.on_host("ip addr add 192.168.1.100/24 dev port0")
    try:
        done, _ = boot(bench, built)
    finally:
        bench.on_host("ip addr del 192.168.1.100/24 dev port0")
    assert "the kernel would answer the board, too; remove it: ip address del" in done.stderr

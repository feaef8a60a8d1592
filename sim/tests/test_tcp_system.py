# SPDX-License-Identifier: BSD-2-Clause
"""TCP on the simulated SoC, between Linux and the tester."""

import functools
import json

import pytest
from scapy.layers.inet import IP, TCP
from scapy.utils import rdpcap

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.show.errors import LabError
from moderato.sim.lab.tcp import exchange, transfers
from moderato.sim.lab.tcp.transfer import DIRECTIONS, FAULTS, Transfer, usual_gro

VARIANT = "napi-full"
MSS = 1448
OCTETS = 150_000


@pytest.fixture(scope="session")
def lab():
    return machine(1000)


@functools.cache
def ready(direction: str, variant: str = VARIANT):
    return transfers.ready(machine(1000), transfer(direction, variant=variant))


def transfer(direction: str, **changes) -> Transfer:
    return Transfer(
        **{
            "direction": direction,
            "variant": VARIANT,
            "link_mbps": 1000,
            "octets": OCTETS,
            "gro": usual_gro(direction),
        }
        | changes
    )


def record(wanted: Transfer) -> dict:
    with ready(wanted.direction, wanted.variant).open() as session:
        return exchange.run(wanted, session, 100_000_000, lambda _: None)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_all_octets_arrive(direction):
    """Over two connections at once; both ends compare each octet."""
    made = record(transfer(direction, connections=2, check=True))
    assert not [problem for problem in made["problems"] if "steady" not in problem]
    assert [(each["state"], each["octets"], each["checked"]) for each in made["connections_ended"]] == [
        ("closed", OCTETS, direction != "in")
    ] * 2
    assert [each["octets"] for each in made["guest"]] == [OCTETS] * (2 if direction != "through" else 0)
    assert made["corrupted"] == made["retransmissions"] == 0


def test_guest_detects_wrong_octets():
    """The damage keeps all checksums valid: only a comparison can detect it."""
    wanted = transfer("in", check=True)
    request = exchange.request(wanted)
    fault = {"port": 0, "way": "in", "segments": "data", "frame": 40, "kind": "scramble"}
    with ready("in").open() as session:
        pid = exchange.start(session, wanted, f"in {exchange.RESULT}")
        session.call("talk", **request, faults=[fault])
        session.call("collect")
        (served,) = exchange.served(
            session.check(f"while [ -d /proc/{pid} ]; do :; done; cat {exchange.RESULT}")
        )
    assert served["octets"] == OCTETS and 1 <= served["corrupted"] <= 8
    assert 39 * MSS <= served["first_corrupted"] < 42 * MSS


def test_no_checkpoint_while_connections_are_open(tmp_path):
    with ready("through").open() as session:
        session.call("talk", **exchange.request(transfer("through")))
        session.call("run", cycles=1_000_000)
        with pytest.raises(LabError, match="connections are open"):
            session.call("save", file=str(tmp_path / "checkpoint"))
        assert session.call("collect")["done"]


def test_no_listener():
    with ready("in").open() as session:
        session.call("talk", **exchange.request(transfer("in")))
        reply = session.call("collect")
    assert [each["state"] for each in reply["connections"]] == ["refused"]
    assert not reply["done"] and reply["connections"][0]["error"].startswith("nobody listens")


def test_a_buffer_larger_than_memory():
    with pytest.raises(LabError, match="a user's buffer of 900000000 octets does not fit"):
        record(transfer("in", user_buffer=900_000_000))


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_lost_and_damaged_segments_are_retransmitted(direction):
    made = record(transfer(direction, octets=1_000_000, check=True, faults=FAULTS))
    assert not [problem for problem in made["problems"] if "steady" not in problem]
    assert made["retransmissions"] > 0 and made["corrupted"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "direction, peer, says", [("out", "vanishes", "vanished"), ("through", "vanishes", "timed out")]
)
def test_a_peer_that_vanishes(direction, peer, says):
    made = record(transfer(direction, octets=1_000_000, peer=peer))
    assert [each["state"] for each in made["connections_ended"]] == [says]
    assert made["problems"][0].startswith("connection 0: ")


@pytest.mark.slow
def test_a_window_of_zero_for_a_second():
    """All octets arrive in the end, but the figures are unsound."""
    made = record(transfer("out", octets=1_000_000, peer="stalls"))
    assert made["connections_ended"][0]["octets"] == 1_000_000
    assert "not steady" in made["problems"][0]


@pytest.mark.slow
def test_nuttcp_agrees():
    ours = record(transfer("out", octets=1_500_000))
    other = record(transfer("out", octets=1_500_000, program="nuttcp"))
    assert other["goodput_mbps"] == pytest.approx(ours["goodput_mbps"], rel=0.05)
    # Its own figure includes slow start.
    assert other["guest"][0]["goodput_mbps"] == pytest.approx(ours["goodput_mbps"], rel=0.1)
    assert not ours["problems"] and not other["problems"]


@pytest.mark.slow
def test_transfers_are_reproducible():
    def made(wanted):
        return {name: value for name, value in record(wanted).items() if name != "simulation"}

    wanted = transfer("in", octets=500_000, check=True)
    assert json.dumps(made(wanted)) == json.dumps(made(wanted))


@pytest.mark.slow
def test_segments_on_the_wire(tmp_path):
    """Checked with scapy: checksums, the negotiated options, full segments."""
    wanted = transfer("out")
    with ready("out").open() as session:
        session.call("talk", **exchange.request(wanted), pcap=str(tmp_path))
        exchange.start(session, wanted, f"out {exchange.TESTER} {exchange.RESULT}")
        session.call("collect")
    packets = [packet for packet in rdpcap(str(tmp_path / "port0-out.pcap")) if TCP in packet]
    assert packets[0][TCP].flags == "S"
    assert dict(packets[0][TCP].options).keys() >= {"MSS", "WScale", "Timestamp", "SAckOK"}
    lengths = []
    for packet in packets:
        sums = packet[IP].chksum, packet[TCP].chksum
        del packet[IP].chksum, packet[TCP].chksum
        made = IP(bytes(packet[IP]))
        assert (made[IP].chksum, made[TCP].chksum) == sums
        lengths.append(packet[IP].len - 4 * packet[IP].ihl - 4 * packet[TCP].dataofs)
    assert sum(lengths) == 300_000 and lengths.count(MSS) >= 300_000 // MSS - 10

# SPDX-License-Identifier: BSD-2-Clause
"""Metadata of a frame that the driver gives XDP programs: its time stamp and its VLAN tag.

Programs read it through kfuncs, which the kernel's compiler for rv32 does not support. So a modified
driver calls the functions that implement the kfuncs, and writes the results into the frame. The program
sends the frame back, and the test compares the results with the sent tags and times.
"""

import errno
import struct

import modified
import pytest
from guests import complaints, replay
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from test_xdp import GUEST, HERE, KERNEL, PASS, PORTS, TESTER, TX, bring, padded
from test_xsk import begin, end, put

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import MODERATO, OFFLOAD
from moderato.soc.linux import userspace

pytestmark = pytest.mark.slow

CONTENT = 14 + 20 + 8  # octets ahead of an ICMP packet's content
ANSWERS = struct.Struct("<iqi2sHi")
KNOWN, UNKNOWN, NEVER = 0, -errno.ENODATA, -errno.EOPNOTSUPP
# The start of a frame is known to 40 ns, one MII clock. The MAC's own clock has 10 ns.
NANOSECONDS = 50

ASKS = """\
struct answers {
	s32 stamp_error;
	s64 stamp;
	s32 tag_error;
	__be16 proto;
	u16 tci;
	s32 hash_error;
} __packed;

static void ask(const struct xdp_buff *xdp, struct answers *said)
{
	const struct xdp_metadata_ops *ops = xdp->rxq->dev->xdp_metadata_ops;
	const struct xdp_md *context = (const void *)xdp;
	__be16 proto = 0;
	u64 stamp = 0;
	u16 tci = 0;

	said->stamp_error = -EOPNOTSUPP;
	said->tag_error = -EOPNOTSUPP;
	if (ops && ops->xmo_rx_timestamp)
		said->stamp_error = ops->xmo_rx_timestamp(context, &stamp);
	if (ops && ops->xmo_rx_vlan_tag)
		said->tag_error = ops->xmo_rx_vlan_tag(context, &proto, &tci);
	said->hash_error = ops && ops->xmo_rx_hash ? 0 : -EOPNOTSUPP;
	said->stamp = stamp;
	said->proto = proto;
	said->tci = tci;
}

static void write_answers(struct xdp_buff *xdp)
{
	void *room = xdp->data_hard_start + sizeof(struct xdp_frame);
	u8 *content = xdp->data + 42;
	struct answers said;

	/* Programs may write there */
	memset(room, 0xa5, xdp->data - room);
	ask(xdp, &said);
	if (content + 2 + sizeof(said) <= (u8 *)xdp->data_end && content[0] == XDP_TX)
		memcpy(content + 2, &said, sizeof(said));
}

static void compare_skb(const struct xdp_buff *xdp, struct sk_buff *skb)
{
	struct answers said;

	ask(xdp, &said);
	WARN_ON(ktime_to_ns(skb_hwtstamps(skb)->hwtstamp) != said.stamp);
	WARN_ON(skb_vlan_tag_present(skb) != !said.tag_error);
	WARN_ON(!said.tag_error && skb->vlan_proto != said.proto);
	WARN_ON(!said.tag_error && skb_vlan_tag_get(skb) != said.tci);
}

"""
MADE = "static struct sk_buff *moderato_xdp_build("
COPIED = "static struct sk_buff *moderato_xsk_copy("
SHOWN = "skb->protocol = eth_type_trans(skb, rx->ndev);"
RUNS = "act = likely(prog) ? bpf_prog_run_xdp("
ACTS = "return moderato_xsk_act("
CHANGES = [
    # This kernel has no PTP clocks, but the hardware has one.
    ("moderato_ptp.c", "if (IS_ERR_OR_NULL(ptp->clock))", "if (IS_ERR(ptp->clock))"),
    ("xdp_rx.c", MADE, ASKS + MADE),
    ("xdp_rx.c", RUNS, "write_answers(xdp);\n\t" + RUNS),
    ("xdp_rx.c", SHOWN, "compare_skb(xdp, skb);\n\t" + SHOWN),
    ("xsk_rx.c", COPIED, ASKS + COPIED),
    ("xsk_rx.c", ACTS, "write_answers(xdp);\n\t" + ACTS),
    ("xsk_rx.c", SHOWN, "compare_skb(xdp, skb);\n\t" + SHOWN),
]


@pytest.fixture
def guest(request, tmp_path):
    """A guest with the modified driver, the program at both ports, and /tmp/stamping."""
    system = System(nic=request.param, kernel=KERNEL)
    with modified.guest(tmp_path, *CHANGES, system=system) as session:
        session.mailbox = machine(system=system).mailbox
        stamping = userspace.compiled("stamping", HERE / "stamping.c", userspace.toolchain())
        session.call("mailbox", file=str(stamping), address=session.mailbox)
        session.check("mailbox > /tmp/stamping; chmod +x /tmp/stamping")
        session.check(f"xdp {bring(session, 'verdicts')} {PORTS}")
        yield session


def asking(serial: int, tag: int | None, verdict: int) -> Ether:
    """A frame with room for the results, which arrives more than 2 ms after the previous one."""
    head = Ether(dst=GUEST, src=TESTER)
    if tag is not None:
        head /= Dot1Q(prio=tag >> 13, dei=tag >> 12 & 1, vlan=tag & 4095)
    content = bytes([verdict, 0]) + bytes((serial + n) % 251 for n in range(40 + serial))
    frame = head / IP(src="198.18.0.2", dst="198.18.0.1") / ICMP(type=8, seq=serial) / Raw(content)
    frame.time = 1 + serial * 2e-3 + serial**2 * 1e-6
    return frame


def play(guest, tmp_path, tags) -> list[tuple]:
    """Offer two frames with each of the tags (None: without): one to send back, and one for Linux.

    Returns the time in ns and the results of each returned frame. Checks that these frames differ from
    the sent ones only in tag and results, and that Linux has answered its frames.
    """
    frames = [
        asking(2 * n + passed, tag, PASS if passed else TX)
        for n, tag in enumerate(tags)
        for passed in (False, True)
    ]
    here, _ = replay(guest, tmp_path, frames)
    echoes = [
        Ether(frame)[ICMP] for frame in here if ICMP in Ether(frame) and Ether(frame)[ICMP].type == 0
    ]
    # VLAN 0 is none.
    passed = [frame for frame, tag in zip(frames[1::2], tags) if not (tag or 0) & 4095]
    assert [(echo.seq, bytes(echo.payload)) for echo in echoes] == [
        (frame[ICMP].seq, bytes(frame[Raw])) for frame in passed
    ]
    sent = {frame[ICMP].seq: frame for frame in frames}
    answers = []
    for frame in here:
        if ICMP not in Ether(frame) or Ether(frame)[ICMP].type != 8:
            continue
        asked = sent[Ether(frame)[ICMP].seq]
        start, end = CONTENT + 2, CONTENT + 2 + ANSWERS.size
        assert frame[:12] == bytes.fromhex((TESTER + GUEST).replace(":", ""))
        as_sent = b"\x08\x00" + bytes(asked[IP])
        assert padded(frame)[12:start] == as_sent[: start - 12]
        assert padded(frame)[end:] == as_sent[end - 12 :]
        answers.append((round(asked.time * 1e6) * 1000, *ANSWERS.unpack(frame[start:end])))
    return answers


TAGS = [None, 1, 0xEFFE, None, 0x1005, 0xFFFF, 0, None]


@pytest.mark.parametrize("zero", [False, True], ids=["ring", "socket"])
@pytest.mark.parametrize("guest", [OFFLOAD], indirect=True)
def test_stamps_and_tags(guest, tmp_path, zero):
    """Stamps and tags, each switched on and off while a program is attached. In the ring's own memory,
    and in an AF_XDP application's."""
    if zero:
        put(guest, guest.mailbox)
        begin(guest, "zero drop eth0")
    guest.check("ethtool -K eth0 rx-vlan-filter off")
    tags = [(UNKNOWN, b"\0\0", 0) if tag is None else (KNOWN, b"\x81\0", tag) for tag in TAGS]
    for stamped in (False, True, False):
        guest.check(f"/tmp/stamping eth0 {'on' if stamped else 'off'}")
        said = play(guest, tmp_path, TAGS)
        assert [answers[3:] for answers in said] == [(*tag, NEVER) for tag in tags]
        if not stamped:
            assert {answers[1:3] for answers in said} == {(UNKNOWN, 0)}
            continue
        assert {answers[1] for answers in said} == {KNOWN}
        (first, _, stamp, *_), *others = said
        for time, _, later, *_ in others:
            assert abs(later - stamp - (time - first)) <= NANOSECONDS

    guest.check("ethtool -K eth0 rxvlan off; /tmp/stamping eth0 on")
    guest.check(f"xdp off {PORTS}; xdp /tmp/verdicts.o {PORTS}")  # accepted although stamps are on
    # The program does not recognise frames that still have their tag.
    said = play(guest, tmp_path, [None, 1, 0xFFFF, None])
    assert [answers[1] for answers in said] == 2 * [KNOWN]
    assert {answers[3:] for answers in said} == {(UNKNOWN, b"\0\0", 0, NEVER)}
    if zero:
        assert end(guest)["copies"] == "no"
    assert complaints(guest) == []


@pytest.mark.parametrize("guest", [MODERATO], indirect=True)
def test_no_metadata_from_hardware_without_options(guest, tmp_path):
    """The program gets no value that does not exist: Linux returns the error in the driver's place."""
    assert guest.type("/tmp/stamping eth0 on")[0] != 0
    said = play(guest, tmp_path, [None, 5, None])
    assert [answers[1:] for answers in said] == 2 * [(NEVER, 0, NEVER, b"\0\0", 0, NEVER)]
    assert complaints(guest) == []

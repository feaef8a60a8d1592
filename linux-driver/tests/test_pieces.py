# SPDX-License-Identifier: BSD-2-Clause
"""Frames in pieces (tx_gather.c) in rare situations: a tap holds a clone, the ring goes down with frames
on it, or an interrupt on another hart reads a slot that is being filled.
"""

import contextlib

import modified
import pytest
from guests import complaints
from test_copies import HERE, LENGTHS, expect, sent

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.soc.linux import userspace

pytestmark = pytest.mark.slow

# A clone of the skb, like a tap's, keeps the old head. The skb no longer owns the fragments there.
MOVED = """static int moderato_moved(struct sk_buff *skb)
{
	struct sk_buff *tap = skb_clone(skb, GFP_ATOMIC);
	int err = skb_cow_head(skb, 0);

	if (!tap)
		return err;
	WARN_ON(skb_shinfo(tap) == skb_shinfo(skb));
	for (u8 *left = &skb_shinfo(tap)->nr_frags; *left;)
		put_page(skb_frag_page(&skb_shinfo(tap)->frags[--*left]));
	kfree_skb(tap);
	return err;
}

"""


@contextlib.contextmanager
def sender(tmp_path, *changes, harts: int = 1):
    """A guest with a driver with `changes`, and with send_tcp, whose packets have no other owner."""
    system = System(nic=OFFLOAD, harts=harts)
    program = userspace.compiled("send_tcp", HERE / "send_tcp.c", userspace.toolchain())
    with modified.guest(tmp_path, *changes, system=system) as guest:
        guest.call("mailbox", file=str(program), address=machine(system=system).mailbox)
        guest.check("mailbox > /tmp/send_tcp; chmod +x /tmp/send_tcp")
        yield guest


def test_gathers_after_head_reallocation(tmp_path):
    """The driver uses the fragments of the new head."""
    changes = [
        ("tx_gather.c", "skb_cow_head(skb, 0)", "moderato_moved(skb)"),
        (
            "tx_gather.c",
            "/* The hardware adds each segment's length to the sum",
            MOVED + "/* The hardware adds each segment's length to the sum",
        ),
    ]
    with sender(tmp_path, *changes) as guest:
        expect(sent(guest, tmp_path, 1448, LENGTHS), 1448, LENGTHS)
        assert complaints(guest) == []


def test_pages_are_unmapped_before_they_are_freed(tmp_path):
    """The ring goes down with unsent frames, which hold pages from the first one on."""
    changes = [
        (
            "tx_gather.c",
            "		buf->flags = MODERATO_TX_PAGE;\n",
            "		buf->flags = MODERATO_TX_PAGE;\n		mapped++;\n",
        ),
        (
            "moderato_tx.c",
            "	if (buf->flags & MODERATO_TX_PAGE)\n",
            "	if (buf->flags & MODERATO_TX_PAGE && mapped--)\n",
        ),
        (
            "moderato_tx.c",
            "	dev_kfree_skb_any(buf->skb);\n}\n",
            "	WARN_ON(mapped);\n	dev_kfree_skb_any(buf->skb);\n}\n\nint mapped;\n",
        ),
        ("moderato_tx.h", "struct moderato_queue;\n", "extern int mapped;\n\nstruct moderato_queue;\n"),
        (
            "moderato_tx.h",
            "	moderato_doorbell(&tx->ring, tx->rung);\n",
            "	if (!mapped)\n		moderato_doorbell(&tx->ring, tx->rung);\n",
        ),
    ]
    with sender(tmp_path, *changes) as guest:
        guest.check(f"/tmp/send_tcp eth0 1448 {60 * '46336 '} > /dev/null 2>&1 &")
        guest.check("sleep 0.1; ethtool -G eth0 tx 128")
        assert int(guest.check("cat /sys/class/net/eth0/statistics/tx_dropped")) > 0
        assert complaints(guest) == []


def test_ring_waits_for_segments(tmp_path):
    """A replaced ring waits, even if headers are nearly half of the segments' octets on the wire."""
    lengths = 24 * [30000]
    with sender(tmp_path) as guest:
        guest.check(
            "for i in 1 2 3 4; do sleep 0.04; ethtool -G eth0 tx 128; ethtool -G eth0 tx 256; "
            "done > /dev/null 2>&1 &"
        )
        expect(sent(guest, tmp_path, 100, lengths), 100, lengths)
        assert int(guest.check("cat /sys/class/net/eth0/statistics/tx_dropped")) == 0
        assert complaints(guest) == []


def test_reads_slot_only_after_completion(tmp_path):
    """An interrupt on hart 1 uses a slot's content only after its descriptor has completed."""
    change = (
        "moderato_tx.c",
        "	if (unlikely(buf->flags & MODERATO_TX_PLANNED))\n",
        "	len = READ_ONCE(buf->flags);\n	udelay(40);\n"
        "	if (unlikely(len & MODERATO_TX_PLANNED))\n",
    )
    with sender(tmp_path, change, harts=2) as guest:
        guest.check("ethtool -L eth0 combined 1; ethtool --set-priv-flags eth0 tx-napi off")
        guest.type("ethtool -C eth0 adaptive-tx off tx-frames 1 tx-usecs 0")
        guest.check("for i in /proc/irq/*/eth0-tx; do echo 2 > ${i%/*}/smp_affinity; done")
        guest.check("pin 1 $$")
        for _ in range(4):
            lengths = 5 * [1448, 2896, 3000, 333]
            expect(sent(guest, tmp_path, 1448, lengths), 1448, lengths)
        assert complaints(guest) == []

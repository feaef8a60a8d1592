// SPDX-License-Identifier: GPL-2.0-only
/* Zero-copy AF_XDP: receives into the application's memory. The application
 * puts free chunks into the pool's fill ring, which only the poll reads. So
 * slots are empty until it has run, and some stay empty while the application
 * provides too few. The ring's own buffers wait in rx->buf: the ring continues
 * with them after the socket has closed, without an allocation.
 */

#include <linux/bpf_trace.h>
#include <net/busy_poll.h>
#include <net/xdp_sock_drv.h>

#include "moderato_verdict.h"

/* Frames of one poll
 * @redirected: some are on their way to a socket or to another device
 */
struct moderato_xsk_round {
	struct napi_struct *napi;
	unsigned int count[MODERATO_XDP_RX_COUNTERS];
	bool redirected;
};

/* Slots ---------------------------------------------------------------------- */

/* Fills up to @space slots from the producer index on, not past the ring's last
 * one. Return: number of slots
 */
static u32 moderato_xsk_get(struct moderato_rx *rx, u32 space)
{
	struct moderato_ring *ring = &rx->ring;
	u32 slot = moderato_slot(ring->producer, ring->order);
	struct xdp_buff **xdp = &rx->program->zero[slot];
	u32 got;

	space = min(space, moderato_size(ring->order) - slot);
	got = xsk_buff_alloc_batch(rx->program->pool, xdp, space);
	for (u32 i = 0; i < got; i++) {
		dma_addr_t dma = xsk_buff_xdp_get_dma(xdp[i]);

		ring->desc[slot + i].address = cpu_to_le32(dma);
	}
	ring->producer += got;
	return got;
}

/* Return: whether some slot stays empty */
static bool moderato_xsk_get_all(struct moderato_rx *rx)
{
	struct moderato_ring *ring = &rx->ring;
	u32 space;

	do {
		space = moderato_space(ring->producer, ring->consumer,
				       ring->order);
	} while (space && moderato_xsk_get(rx, space));
	return space;
}

/* Return: whether the poll has to run again, because no event will report new
 * chunks
 */
static bool moderato_xsk_fill(struct moderato_rx *rx)
{
	struct xsk_buff_pool *pool = rx->program->pool;
	bool hungry = moderato_xsk_get_all(rx);
	bool told = xsk_uses_need_wakeup(pool);

	if (told && hungry)
		xsk_set_rx_need_wakeup(pool);
	else if (told)
		xsk_clear_rx_need_wakeup(pool);
	/* While any slot has a buffer, a frame causes the next poll */
	if (rx->ring.producer != rx->ring.consumer)
		return false;
	if (!told)
		return true;
	/* Either the application sees the flag, or this CPU sees its chunks.
	 * Pairs with the barrier of the application between these two.
	 */
	smp_mb();
	moderato_xsk_get_all(rx);
	return false;
}

/* Called with the ring stopped and without polls: returns buffers without
 * frames
 */
void moderato_xsk_empty(struct moderato_rx *rx)
{
	u32 size = moderato_size(rx->ring.order);

	for (u32 slot = 0; slot < size; slot++) {
		struct xdp_buff *xdp = rx->program->zero[slot];

		if (xdp)
			xsk_buff_free(xdp);
		rx->program->zero[slot] = NULL;
	}
}

/* Frames --------------------------------------------------------------------- */

/* Metadata follows the part of the buffer that programs see */
static struct moderato_xdp_buff *moderato_xsk_told(struct xdp_buff *xdp)
{
	return container_of(xdp, struct moderato_xdp_buff, xdp);
}

/* Copies the frame that the program has left for the stack, which must not use
 * the pool's memory
 */
static struct sk_buff *moderato_xsk_copy(struct moderato_rx *rx, u32 slot,
					 struct xdp_buff *xdp,
					 struct moderato_xsk_round *round)
{
	unsigned int meta = xdp->data - xdp->data_meta;
	unsigned int len = xdp->data_end - xdp->data_meta;
	struct sk_buff *skb;

	skb = napi_alloc_skb(round->napi, len);
	if (unlikely(!skb))
		return NULL;
	skb_put_data(skb, xdp->data_meta, len);
	if (meta) {
		__skb_pull(skb, meta);
		skb_metadata_set(skb, meta);
	}
	if (rx->more)
		moderato_xdp_tell_skb(rx, slot, moderato_xsk_told(xdp), skb);
	skb->protocol = eth_type_trans(skb, rx->ndev);
	return skb;
}

/* Sends a copy of the frame; if it does not fit the ring, it is lost. Return:
 * false if there is no memory for the copy; otherwise @xdp is free
 */
static bool moderato_xsk_send_back(struct moderato_rx *rx, struct xdp_buff *xdp,
				   struct moderato_xsk_round *round)
{
	struct moderato_tx *tx = READ_ONCE(rx->queue->tx);
	struct xdp_frame *frame = xdp_convert_buff_to_frame(xdp);

	if (unlikely(!frame))
		return false;
	if (moderato_xdp_send(tx, &frame, 1, false, true) == 1) {
		round->count[MODERATO_XDP_SENT]++;
	} else {
		round->count[MODERATO_XDP_SEND_FAILED]++;
		xdp_return_frame_rx_napi(frame);
	}
	return true;
}

/* Carries out the program's verdict on @xdp. Return: an skb for the stack, or
 * NULL
 */
static struct sk_buff *
moderato_xsk_act(struct moderato_rx *rx, u32 slot, struct xdp_buff *xdp,
		 struct moderato_xsk_round *round,
		 struct moderato_rx_done *done)
{
	struct bpf_prog *prog = READ_ONCE(rx->program->prog);
	u32 act = bpf_prog_run_xdp(prog, xdp);
	struct sk_buff *skb = NULL;

	switch (act) {
	case XDP_REDIRECT:
		/* A multicast may fail after some copies are on their way */
		round->redirected = true;
		if (unlikely(xdp_do_redirect(rx->ndev, xdp, prog)))
			goto fail;
		round->count[MODERATO_XDP_REDIRECTED]++;
		return NULL;
	case XDP_TX:
		if (unlikely(!moderato_xsk_send_back(rx, xdp, round)))
			goto fail;
		return NULL;
	case XDP_PASS:
		skb = moderato_xsk_copy(rx, slot, xdp, round);
		if (likely(skb))
			round->count[MODERATO_XDP_PASSED]++;
		else
			done->alloc_failed++;
		break;
	case XDP_DROP:
		round->count[MODERATO_XDP_DROPPED]++;
		break;
	default:
		bpf_warn_invalid_xdp_action(rx->ndev, prog, act);
		fallthrough;
	case XDP_ABORTED:
fail:
		trace_xdp_exception(rx->ndev, prog, act);
		round->count[MODERATO_XDP_FAILED]++;
		break;
	}
	xsk_buff_free(xdp);
	return skb;
}

/* Runs the program on the frame in @slot, which completed with @status, and
 * empties the slot. Return: as moderato_xsk_act()
 */
static struct sk_buff *moderato_xsk_show(struct moderato_rx *rx, u32 slot,
					 u32 status,
					 struct moderato_xsk_round *round,
					 struct moderato_rx_done *done)
{
	unsigned int len = FIELD_GET(MODERATO_DESC_STATUS_LENGTH, status);
	struct xdp_buff *xdp = rx->program->zero[slot];

	rx->program->zero[slot] = NULL;
	if (unlikely(status & MODERATO_DESC_STATUS_ERROR ||
		     len < ETH_HLEN || len > rx->longest)) {
		done->errors++;
		xsk_buff_free(xdp);
		return NULL;
	}
	done->packets++;
	done->bytes += len;

	xsk_buff_set_size(xdp, MODERATO_RX_OFFSET + len);
	xdp->data += MODERATO_RX_OFFSET;
	xdp->data_meta = xdp->data;
	xsk_buff_dma_sync_for_cpu(xdp);
	if (rx->more)
		moderato_xdp_tell(rx, slot, status, moderato_xsk_told(xdp), done);
	return moderato_xsk_act(rx, slot, xdp, round, done);
}

/* Receives up to @budget frames. Return: number of descriptors */
static int moderato_xsk_receive(struct moderato_rx *rx,
				struct moderato_xsk_round *round, int budget,
				struct moderato_rx_done *done)
{
	bool gro = rx->ndev->features & NETIF_F_GRO;
	struct moderato_queue *q = rx->queue;
	struct moderato_ring *ring = &rx->ring;
	LIST_HEAD(list);
	u32 status;

	while (done->taken < budget && moderato_ring_completed(ring, &status)) {
		u32 slot = moderato_slot(ring->consumer++, ring->order);
		struct sk_buff *skb;

		done->taken++;
		skb = moderato_xsk_show(rx, slot, status, round, done);
		if (skb && gro) {
			napi_gro_receive(round->napi, skb);
		} else if (skb) {
			skb_mark_napi_id(skb, round->napi);
			list_add_tail(&skb->list, &list);
		}
	}
	/* Before slots are filled: the application may return chunks at once */
	if (round->redirected)
		xdp_do_flush();
	if (done->taken)
		moderato_xdp_count_rx(&q->priv->xdp->stats[q->index],
				      round->count);
	netif_receive_skb_list(&list);
	return done->taken;
}

/* Replaces moderato_napi_poll() */
int moderato_xsk_poll(struct napi_struct *napi, int budget)
{
	struct moderato_queue *q = container_of(napi, struct moderato_queue,
						napi);
	struct moderato_xsk_round round = { .napi = napi };
	struct moderato_tx *tx = READ_ONCE(q->tx);
	struct moderato_rx_done done = {};
	struct moderato_rx *rx = q->rx;
	unsigned int freed;
	bool again = false;
	u16 producer;
	int work;

	/* netpoll */
	if (!budget) {
		moderato_tx_poll(tx, 0);
		return 0;
	}

	work = moderato_xsk_receive(rx, &round, budget, &done);
	producer = rx->ring.producer;
	/* In the last round, the ring needs no more */
	if (READ_ONCE(rx->ring.running))
		again = moderato_xsk_fill(rx);
	if (done.taken)
		moderato_rx_finish(rx, &done);
	else if (rx->ring.producer != producer)
		moderato_doorbell(&rx->ring, rx->ring.producer);

	freed = moderato_tx_poll(tx, budget);
	/* Fills the slots that are free now */
	moderato_xsk_send(tx);

	if (again)
		return budget;
	if (work < budget && napi_complete_done(napi, work))
		moderato_napi_end(rx, tx, work, freed);
	return work;
}

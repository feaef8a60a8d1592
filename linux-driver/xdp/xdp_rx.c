// SPDX-License-Identifier: GPL-2.0-only
/* XDP: runs a program on received frames, and carries out its verdict. A
 * dropped frame leaves its buffer in the slot.
 */

#include <linux/bpf_trace.h>
#include <net/busy_poll.h>
#include <net/page_pool/helpers.h>

#include "moderato_verdict.h"

/* Frames posted under one lock, as redirections do */
#define MODERATO_XDP_BULK	16

/* Frames of one poll
 * @frame: frames to be sent by this device, @frames of them
 * @redirected: some are on their way to other devices
 */
struct moderato_xdp_round {
	struct moderato_xdp_buff buff;
	struct xdp_frame *frame[MODERATO_XDP_BULK];
	unsigned int frames;
	unsigned int count[MODERATO_XDP_RX_COUNTERS];
	bool redirected;
};

/* One page per frame: unshared pages cost a pool less. Frames begin at
 * different offsets in their pages, because caches select a set by the offset.
 */
static __always_inline bool moderato_xdp_alloc(struct moderato_rx *rx, u32 slot,
					       struct moderato_rx_buf *buf,
					       gfp_t gfp)
{
	u32 offset = slot * SMP_CACHE_BYTES & rx->program->spread;
	struct page *page = page_pool_alloc_pages(rx->pool, gfp);

	if (unlikely(!page))
		return false;
	buf->data = page_address(page) + offset;
	buf->dma = page_pool_get_dma_addr(page) + offset + XDP_PACKET_HEADROOM;
	return true;
}

bool moderato_xdp_get(struct moderato_rx *rx, struct moderato_rx_buf *buf,
		      gfp_t gfp)
{
	return moderato_xdp_alloc(rx, buf - rx->buf, buf, gfp);
}

/* Posts the waiting frames under one lock; those that do not fit are lost */
static void moderato_xdp_send_round(struct moderato_rx *rx,
				    struct moderato_xdp_round *round,
				    bool flush)
{
	struct moderato_tx *tx = READ_ONCE(rx->queue->tx);
	int err = moderato_xdp_send(tx, round->frame, round->frames, true,
				    flush);
	unsigned int sent = moderato_xdp_count_sent(round->count,
						    round->frames, err);

	for (; sent < round->frames; sent++)
		xdp_return_frame_rx_napi(round->frame[sent]);
	round->frames = 0;
}

/* Builds an skb of the frame that the program has left */
static struct sk_buff *moderato_xdp_build(struct moderato_rx *rx, u32 slot,
					  const struct moderato_xdp_buff *buff)
{
	const struct xdp_buff *xdp = &buff->xdp;
	unsigned int meta = xdp->data - xdp->data_meta;
	struct sk_buff *skb;

	skb = napi_build_skb(xdp->data_hard_start, xdp->frame_sz);
	if (unlikely(!skb))
		return NULL;
	skb_mark_for_recycle(skb);
	skb_reserve(skb, xdp->data - xdp->data_hard_start);
	skb_put(skb, xdp->data_end - xdp->data);
	if (meta)
		skb_metadata_set(skb, meta);
	if (rx->more)
		moderato_xdp_tell_skb(rx, slot, buff, skb);
	skb->protocol = eth_type_trans(skb, rx->ndev);
	return skb;
}

/* Runs @prog on the frame in @slot and carries out its verdict. The slot then
 * has a new buffer, or the same one if the frame was dropped.
 *
 * Return: an skb for the stack, or NULL
 */
static __always_inline struct sk_buff *
moderato_xdp_act(struct moderato_rx *rx, u32 slot, struct bpf_prog *prog,
		 u32 act, struct moderato_xdp_round *round,
		 struct moderato_rx_done *done)
{
	struct moderato_rx_buf *buf = &rx->buf[slot];
	struct xdp_buff *xdp = &round->buff.xdp;
	struct moderato_rx_buf fresh;
	struct sk_buff *skb = NULL;
	struct xdp_frame *frame;

	if (unlikely(!moderato_xdp_alloc(rx, slot, &fresh,
					 GFP_ATOMIC | __GFP_NOWARN))) {
		done->alloc_failed++;
		goto keep;
	}

	switch (act) {
	case XDP_REDIRECT:
		/* A multicast may fail after some copies are on their way */
		round->redirected = true;
		if (unlikely(xdp_do_redirect(rx->ndev, xdp, prog)))
			goto fail;
		round->count[MODERATO_XDP_REDIRECTED]++;
		break;
	case XDP_TX:
		frame = xdp_convert_buff_to_frame(xdp);
		if (unlikely(!frame))
			goto fail;
		round->frame[round->frames++] = frame;
		break;
	case XDP_PASS:
		skb = moderato_xdp_build(rx, slot, &round->buff);
		if (unlikely(!skb)) {
			done->alloc_failed++;
			goto free;
		}
		round->count[MODERATO_XDP_PASSED]++;
		break;
	default:
		bpf_warn_invalid_xdp_action(rx->ndev, prog, act);
		fallthrough;
	case XDP_ABORTED:
		goto fail;
	}

	*buf = fresh;
	rx->ring.desc[slot].address = cpu_to_le32(fresh.dma);
	/* Only now: it may be the last frame with a buffer */
	if (round->frames == MODERATO_XDP_BULK)
		moderato_xdp_send_round(rx, round, false);
	return skb;

fail:
	trace_xdp_exception(rx->ndev, prog, act);
	round->count[MODERATO_XDP_FAILED]++;
free:
	page_pool_free_va(rx->pool, fresh.data, true);
keep:
	dma_sync_single_for_device(rx->dev, buf->dma, rx->room, rx->dir);
	return NULL;
}

/* Runs the program on the frame that completed the descriptor at @index with
 * @status. @more: as in struct moderato_rx. Return: as moderato_xdp_act()
 */
static __always_inline struct sk_buff *
moderato_xdp_show(struct moderato_rx *rx, u16 index, u32 status, bool more,
		  struct moderato_xdp_round *round,
		  struct moderato_rx_done *done)
{
	unsigned int len = FIELD_GET(MODERATO_DESC_STATUS_LENGTH, status);
	u32 slot = moderato_slot(index, rx->ring.order);
	struct moderato_rx_buf *buf = &rx->buf[slot];
	struct xdp_buff *xdp = &round->buff.xdp;
	struct bpf_prog *prog;
	u32 act;

	if (unlikely(status & MODERATO_DESC_STATUS_ERROR ||
		     len < ETH_HLEN || len > rx->longest)) {
		done->errors++;
		return NULL;
	}
	done->packets++;
	done->bytes += len;

	dma_sync_single_for_cpu(rx->dev, buf->dma, MODERATO_RX_OFFSET + len +
				(more ? rx->ahead : 0), rx->dir);
	xdp->frame_sz = PAGE_SIZE - offset_in_page(buf->data);
	xdp_prepare_buff(xdp, buf->data,
			 XDP_PACKET_HEADROOM + MODERATO_RX_OFFSET, len, true);
	if (more)
		moderato_xdp_tell(rx, slot, status, &round->buff, done);
	prog = READ_ONCE(rx->program->prog);
	act = likely(prog) ? bpf_prog_run_xdp(prog, xdp) : XDP_PASS;
	if (act != XDP_DROP)
		return moderato_xdp_act(rx, slot, prog, act, round, done);

	/* The program's writes must not reach memory after the hardware's */
	dma_sync_single_for_device(rx->dev, buf->dma, rx->room, rx->dir);
	round->count[MODERATO_XDP_DROPPED]++;
	return NULL;
}

static __always_inline int
moderato_xdp_poll(struct moderato_rx *rx, struct napi_struct *napi, int budget,
		  bool more, struct moderato_rx_done *done)
{
	struct moderato_queue *q = rx->queue;
	bool gro = napi->dev->features & NETIF_F_GRO;
	struct moderato_xdp_round round;
	LIST_HEAD(list);
	int work = 0;
	u32 status;

	xdp_init_buff(&round.buff.xdp, PAGE_SIZE, &rx->program->rxq);
	round.frames = 0;
	round.redirected = false;
	memset(round.count, 0, sizeof(round.count));

	while (work < budget && moderato_ring_completed(&rx->ring, &status)) {
		u16 index = moderato_rx_next(rx, done);
		struct sk_buff *skb = moderato_xdp_show(rx, index, status, more,
							&round, done);

		if (skb && gro) {
			napi_gro_receive(napi, skb);
		} else if (skb) {
			skb_mark_napi_id(skb, napi);
			list_add_tail(&skb->list, &list);
		}
		work++;
	}
	if (done->taken)
		moderato_rx_finish(rx, done);
	/* One doorbell for frames sent here, and one at each other device */
	if (round.frames || round.count[MODERATO_XDP_SENT])
		moderato_xdp_send_round(rx, &round, true);
	if (round.redirected)
		xdp_do_flush();
	if (work)
		moderato_xdp_count_rx(&q->priv->xdp->stats[q->index],
				      round.count);
	netif_receive_skb_list(&list);
	return work;
}

/* Replaces moderato_rx_receive() */
int moderato_xdp_receive(struct moderato_rx *rx, struct napi_struct *napi,
			 int budget, struct moderato_rx_done *done)
{
	return moderato_xdp_poll(rx, napi, budget, false, done);
}

/* The same for hardware with more than a length in descriptors, so that other
 * hardware does not check
 */
int moderato_xdp_receive_more(struct moderato_rx *rx, struct napi_struct *napi,
			      int budget, struct moderato_rx_done *done)
{
	return moderato_xdp_poll(rx, napi, budget, true, done);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* XDP: shared by its files */
#ifndef MODERATO_XDP_H
#define MODERATO_XDP_H

#include <linux/filter.h>
#include <net/xdp.h>

#include "moderato_priv.h"

/* Verdicts on received frames, and results for frames of other devices */
enum {
	MODERATO_XDP_PASSED,
	MODERATO_XDP_DROPPED,
	MODERATO_XDP_SENT,
	MODERATO_XDP_SEND_FAILED,
	MODERATO_XDP_REDIRECTED,
	MODERATO_XDP_FAILED,
	MODERATO_XDP_RX_COUNTERS,
};

enum {
	MODERATO_XDP_XMIT,
	MODERATO_XDP_XMIT_FAILED,
	MODERATO_XDP_TX_COUNTERS,
};

/* Counts of one queue: its poll writes @rx, holders of the Tx queue's lock
 * write @tx
 */
struct moderato_xdp_stats {
	u64_stats_t rx[MODERATO_XDP_RX_COUNTERS];
	u64_stats_t tx[MODERATO_XDP_TX_COUNTERS];
	struct u64_stats_sync rx_syncp;
	struct u64_stats_sync tx_syncp;
};

/* Zero-copy sockets of one queue
 * @pool: their memory; NULL: none is bound
 * @rxq: their queue, for programs
 * @rx: the ring that last received into the memory; NULL: no ring uses it any
 * more
 */
struct moderato_xsk {
	struct xsk_buff_pool *pool;
	struct xdp_rxq_info rxq;
	struct moderato_rx *rx;
};

/* @prog: the program, for which rings are created; guarded by RTNL
 * @xsk: sockets of each queue; guarded by RTNL
 * @stats: counts of each queue
 * @netdev_ops, @ethtool_ops: the replaced operations
 * @bpf: ndo_bpf without sockets
 * @metadata_ops: metadata that this hardware has
 */
struct moderato_xdp {
	struct bpf_prog *prog;
	struct moderato_xsk xsk[MODERATO_MAX_QUEUES];
	struct moderato_xdp_stats stats[MODERATO_MAX_QUEUES];
	struct net_device_ops netdev_ops;
	struct ethtool_ops ethtool_ops;
	int (*bpf)(struct net_device *ndev, struct netdev_bpf *bpf);
	struct xdp_metadata_ops metadata_ops;
};

/* A frame for a program, with the metadata for bpf_xdp_metadata_rx_*()
 * @status: of its descriptor
 * @desc: its descriptor
 * @stamp: time of reception in ns, if @status has its bit; the lower word
 * first. A socket's frames have no room for an aligned u64.
 */
struct moderato_xdp_buff {
	struct xdp_buff xdp;
	u32 status;
	const struct moderato_desc *desc;
	u32 stamp[2];
};

/* XDP of one ring
 * @prog: the program; NULL: frames go to the stack
 * @spread: bits of a buffer's offset in its page
 * @rxq: the queue, for programs
 * @pool: sockets' memory, while the ring receives into it; else NULL
 * @zero: with @pool: the buffer of each slot
 */
struct moderato_xdp_rx {
	struct bpf_prog *prog;
	u32 spread;
	struct xdp_rxq_info rxq;
	struct xsk_buff_pool *pool;
	struct xdp_buff **zero;
};

const char *moderato_xdp_unfit(const struct moderato_priv *priv,
			       const struct moderato_config *config,
			       unsigned int mtu);
bool moderato_xdp_fill(struct moderato_rx *rx, struct moderato_rx_buf *buf,
		       gfp_t gfp);
int moderato_xdp_receive(struct moderato_rx *rx, struct napi_struct *napi,
			 int budget, struct moderato_rx_done *done);
int moderato_xdp_receive_more(struct moderato_rx *rx, struct napi_struct *napi,
			      int budget, struct moderato_rx_done *done);
bool moderato_xdp_get(struct moderato_rx *rx, struct moderato_rx_buf *buf,
		      gfp_t gfp);
int moderato_xdp_send(struct moderato_tx *tx, struct xdp_frame **frame,
		      unsigned int frames, bool own, bool flush);
int moderato_xdp_xmit(struct net_device *ndev, int frames,
		      struct xdp_frame **frame, u32 flags);
struct sk_buff *moderato_xdp_take(struct moderato_tx *tx,
				  struct moderato_tx_done *done);
void moderato_xdp_drop(struct moderato_tx_buf *buf);
int moderato_xsk_poll(struct napi_struct *napi, int budget);
void moderato_xsk_empty(struct moderato_rx *rx);
void moderato_xsk_send(struct moderato_tx *tx);
struct sk_buff *moderato_xsk_take(struct moderato_tx *tx,
				  struct moderato_tx_done *done);
void moderato_xsk_drop(struct moderato_tx_buf *buf);

#ifdef MODERATO_XDP
int moderato_xdp_refuse_gates(const struct moderato_priv *priv,
			      struct netlink_ext_ack *extack);
int moderato_xdp_init(struct moderato_priv *priv);
int moderato_xdp_rx_create(struct moderato_rx *rx);
void moderato_xdp_rx_destroy(struct moderato_rx *rx);
void moderato_xdp_tx_create(struct moderato_tx *tx);
void moderato_xdp_free_aside(struct moderato_tx *tx);
#else
static inline int moderato_xdp_refuse_gates(const struct moderato_priv *priv,
					    struct netlink_ext_ack *extack) { return 0; }
static inline int moderato_xdp_init(struct moderato_priv *priv) { return 0; }
static inline int moderato_xdp_rx_create(struct moderato_rx *rx) { return 0; }
static inline void moderato_xdp_rx_destroy(struct moderato_rx *rx) { }
static inline void moderato_xdp_tx_create(struct moderato_tx *tx) { }
static inline void moderato_xdp_free_aside(struct moderato_tx *tx) { }
#endif

#ifdef MODERATO_XSK
int moderato_xsk_init(struct moderato_priv *priv);
int moderato_xsk_rx_create(struct moderato_rx *rx);
void moderato_xsk_rx_up(struct moderato_rx *rx);
void moderato_xsk_tx_up(struct moderato_tx *tx);
void moderato_xsk_queue_down(struct moderato_queue *q);
#else
static inline int moderato_xsk_init(struct moderato_priv *priv) { return 0; }
static inline int moderato_xsk_rx_create(struct moderato_rx *rx) { return 0; }
static inline void moderato_xsk_rx_up(struct moderato_rx *rx) { }
static inline void moderato_xsk_tx_up(struct moderato_tx *tx) { }
static inline void moderato_xsk_queue_down(struct moderato_queue *q) { }
#endif

#endif /* MODERATO_XDP_H */

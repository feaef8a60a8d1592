/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of 6.12 that Linux 6.1 lacks, so that the driver builds out of both
 * trees. Each compilation includes this file, which is empty from 6.12 on. With
 * 6.1, Kbuild replaces some files by compat.c. Neither file is for the kernel.
 */
#ifndef MODERATO_COMPAT_H
#define MODERATO_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0) || \
	LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#error "moderato builds against Linux 6.1, and 6.12 or later"
#endif

#include <asm/unaligned.h>
#include <linux/ethtool.h>
#include <linux/gfp.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/phylink.h>
#include <linux/platform_device.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/string.h>
#include <net/page_pool.h>

/* Strings: without a size, that of the array */
#define moderato_strscpy(dst, src, size, ...)	(strscpy)(dst, src, size)
#define strscpy(dst, src, ...) \
	moderato_strscpy(dst, src, ##__VA_ARGS__, sizeof(dst))

#define ethtool_puts(data, string)	ethtool_sprintf(data, "%s", string)

/* Netlink keeps only a pointer to the message. Each place has one buffer; at
 * worst, a user whose request fails at the same time reads the other's number.
 */
#define NL_SET_ERR_MSG_FMT_MOD(extack, fmt, ...)			\
	do {								\
		static char moderato_text[80];				\
									\
		snprintf(moderato_text, sizeof(moderato_text),		\
			 KBUILD_MODNAME ": " fmt, ##__VA_ARGS__);	\
		if (extack)						\
			(extack)->_msg = moderato_text;			\
	} while (0)

/* DIM's profiles are the driver's own, and fixed */
#define NET_DIM_PARAMS_NUM_PROFILES	5
#define NET_DIM_DEF_PROFILE_EQE		1
#define ETHTOOL_COALESCE_RX_PROFILE	0
#define ETHTOOL_COALESCE_TX_PROFILE	0

/* Time stamps */
#define kernel_ethtool_ts_info		ethtool_ts_info
#define adjust_by_scaled_ppm		moderato_adjust_by_scaled_ppm

struct kernel_hwtstamp_config {
	int flags;
	int tx_type;
	int rx_filter;
};

static inline u64 moderato_adjust_by_scaled_ppm(u64 base, long scaled_ppm)
{
	u64 diff = mul_u64_u64_div_u64(base, abs(scaled_ppm), 1000000ULL << 16);

	return scaled_ppm < 0 ? base - diff : base + diff;
}

/* XDP is off there */
struct xdp_metadata_ops {
};

/* phylink of 6.1 calls validate() for the modes of a MAC */
static inline struct phylink *
moderato_phylink_create(struct phylink_config *config,
			struct fwnode_handle *fwnode, phy_interface_t mode,
			const struct phylink_mac_ops *ops)
{
	static struct phylink_mac_ops with;

	with = *ops;
	with.validate = phylink_generic_validate;
	return (phylink_create)(config, fwnode, mode, &with);
}

#define phylink_create	moderato_phylink_create

/* The remove() that returns nothing has another name there */
#define remove	remove_new

/* NAPI has no interrupt and no queue that netlink could report */
#define netif_napi_set_irq(napi, irq)			do { } while (0)
#define netif_queue_set_napi(ndev, queue, type, napi)	((void)(ndev))

/* Memory */
static inline void page_frag_cache_drain(struct page_frag_cache *cache)
{
	if (!cache->va)
		return;

	__page_frag_cache_drain(virt_to_head_page(cache->va),
				cache->pagecnt_bias);
	cache->va = NULL;
}

#endif /* 6.1 */

#endif /* MODERATO_COMPAT_H */

/* SPDX-License-Identifier: GPL-2.0-only */
/* Arithmetic of launch times: the time of the PTP clock at which a frame leaves.
 * The hardware compares the lower 32 bits of both.
 */
#ifndef MODERATO_LAUNCH_H
#define MODERATO_LAUNCH_H

#include <linux/limits.h>
#include <linux/types.h>

/* LINK_OCTET at 1000 Mb/s */
#define MODERATO_LINK_OCTET_LEAST	8

/* How late a frame may be for the hardware to see that it is late, in ns: half
 * of what it can compare, as the clock runs on
 */
#define MODERATO_LAUNCH_LATEST	(S32_MAX / 2)

/* Whether the hardware can compare the launch time @time at @now */
static inline bool moderato_launch_fits(s64 time, s64 now)
{
	s64 ahead = time - now;

	return ahead <= S32_MAX && ahead >= -MODERATO_LAUNCH_LATEST;
}

/* LINK_OCTET: time of an octet at @mbps, in ns */
static inline u32 moderato_link_octet(u32 mbps)
{
	return 8000 / mbps;
}

/* LAUNCH_AHEAD on a link with octets of @octet ns: how much longer than at
 * 1000 Mb/s a frame takes through the MAC, preamble included. @rates: MACs that
 * also transfer nibbles (CAPABILITY.RATES) have further stages on the link's
 * clock. It never sends early.
 */
static inline u32 moderato_launch_ahead(u32 octet, bool rates)
{
	if (octet <= MODERATO_LINK_OCTET_LEAST)
		return 0;
	return rates ? 11 * octet - 112 : 8 * octet - 64;
}

#endif /* MODERATO_LAUNCH_H */

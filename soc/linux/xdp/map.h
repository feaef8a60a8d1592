/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program for XDP and its loader share. */
#ifndef MAP_H
#define MAP_H

#include <linux/types.h>

/* A map, in the program's section `maps`: the loader makes it. */
struct map {
	__u32 type;
	__u32 key_size;
	__u32 value_size;
	__u32 max_entries;
};

/* A next hop, of the map `hops`: by destination address, in the network's byte order. */
struct hop {
	__u32 port;  /* its interface's index */
	__u32 asked;  /* when and for which port the program asked Linux last; at first 0 */
	__u16 mtu;  /* the port's, then */
	__u8 addresses
		[12]; /* of Ethernet: the next hop's, this station's; the third octet is at a word */
	__u16 unused;
};

#endif

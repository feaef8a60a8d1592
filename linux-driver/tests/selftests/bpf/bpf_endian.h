/* SPDX-License-Identifier: GPL-2.0-only */
/* Likewise, where BPF has the order of a little-endian CPU. */
#define bpf_htons(value)	((__be16)__builtin_bswap16(value))
#define bpf_ntohs(value)	__builtin_bswap16(value)

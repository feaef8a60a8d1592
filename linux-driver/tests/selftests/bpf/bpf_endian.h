/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's own programs for XDP need of libbpf's header of this name: BPF has the order of
 * octets of the guest's CPU, which is little-endian.
 */
#define bpf_htons(value)	((__be16)__builtin_bswap16(value))
#define bpf_ntohs(value)	__builtin_bswap16(value)

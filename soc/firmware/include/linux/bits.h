/* SPDX-License-Identifier: BSD-2-Clause */
/* What moderato_regs.h takes from the kernel, for programs that run without one. */
#define BIT(bit)	   (1u << (bit))
#define GENMASK(high, low) ((~0u >> (31 - (high))) & (~0u << (low)))

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boot ROM: jumps to OpenSBI at the start of RAM. It passes the device tree and OpenSBI's description of
 * the next stage (struct fw_dynamic_info).
 */
	.section .text.start
	.globl	_start
_start:
	csrr	a0, mhartid
	li	a1, DTB_BASE
	la	a2, next
	li	t0, OPENSBI_BASE
	jr	t0

	.balign	8
next:
	.dword	0x4942534f	/* "OSBI" */
	.dword	2		/* version of this structure */
	.dword	KERNEL_BASE
	.dword	1		/* in supervisor mode */
	.dword	0		/* options */
	.dword	0		/* the hart that boots */

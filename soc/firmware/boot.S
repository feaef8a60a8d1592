/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boot ROM: every hart comes out of reset here and goes on in the SBI, which was put into RAM
 * together with the kernel and the device tree (by the simulator, or by a board's loader).
 */
	.section .text.start
	.globl	_start
_start:
	csrr	a0, mhartid
	li	a1, DTB_BASE
	li	t0, SBI_BASE
	jr	t0

/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry of forward.c, for harts in any state after a boot loader. Interrupts stay disabled. */
#define STACK_SIZE	2048

	.section .text.start
	.globl	_start
_start:
	csrci	mstatus, 8		/* MIE */
	csrw	mie, zero
	fence.i
	csrr	t0, mhartid
	bnez	t0, sleep		/* one hart is enough */
	la	sp, stack + STACK_SIZE
	call	forward
sleep:
	wfi
	j	sleep

	.section .noinit, "aw", @nobits
	.balign	16
stack:
	.space	STACK_SIZE

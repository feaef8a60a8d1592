/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry of forward.c, in whatever state a boot loader leaves a hart. No interrupt is ever taken. */
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

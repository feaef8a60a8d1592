/* SPDX-License-Identifier: BSD-2-Clause */
/* Reset at 0: a stack for each hart, a trap handler that counts and skips, then main(hart). */
	.section .text.start
	.globl _start
_start:
	csrr	a0, mhartid
	la	sp, 0x40100000
	slli	t0, a0, 14
	sub	sp, sp, t0
	la	t0, trap
	csrw	mtvec, t0
	li	s10, 0
	li	s11, 0
	call	main
1:	wfi
	j	1b

	.balign 4
trap:
	csrw	mscratch, t0
	csrr	t0, mcause
	bltz	t0, interrupt
	/* exception: store its cause in s11, and continue after the instruction */
	mv	s11, t0
	csrr	t0, mepc
	addi	t0, t0, 4
	csrw	mepc, t0
	csrr	t0, mscratch
	mret
interrupt:
	/* mask what came; s10 counts */
	addi	s10, s10, 1
	csrw	mie, zero
	csrr	t0, mscratch
	mret

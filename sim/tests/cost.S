/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two functions of known cost for the profiler, in place of the SBI. measure() prints '<', calls
 * spin(), which loops a0 times, and prints '>': so the simulator's own clock shows the difference
 * between numbers of loops.
 */
	.section .text.start
	.globl	_start, measure, spin, put
_start:
	li	s0, UART_BASE
	li	a0, 1000
	call	measure			/* fills the caches, and teaches the branch predictor */
	li	a0, 1000
	call	measure
	li	a0, 1000
	call	measure
	li	a0, 3000
	call	measure
1:	j	1b

measure:
	mv	s1, ra
	li	a1, '<'
	call	put
	call	spin
	li	a1, '>'
	call	put
	mv	ra, s1
	ret

spin:
	addi	a0, a0, -1
	bnez	a0, spin
	ret

put:
	lw	t1, 4(s0)		/* full */
	bnez	t1, put
	sw	a1, 0(s0)
	ret
	nop				/* put() ends here */
end:

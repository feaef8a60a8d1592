/* SPDX-License-Identifier: BSD-2-Clause */
	.section .text.start
	.globl _start
_start:
	la	sp, stack_top
	la	a0, bss_start
	la	a1, bss_end
1:	sw	zero, 0(a0)
	addi	a0, a0, 4
	bltu	a0, a1, 1b
	call	main
2:	j	2b

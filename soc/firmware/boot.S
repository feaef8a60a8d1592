/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boot ROM: every hart starts here after reset and jumps to the SBI. The simulator, or a board's
 * loader, has written SBI, kernel and device tree to RAM.
 */
	.section .text.start
	.globl	_start
_start:
#ifdef AFTER_BIOS
	/*
	 * Linux's UART driver never acknowledges the event "no longer full", and sends nothing before
	 * the event's first occurrence. LiteX's BIOS acknowledges it, so this code fills the FIFO with
	 * NULs. The BIOS also leaves interrupts enabled, which the driver does not expect.
	 */
	li	t0, UART_BASE
	sw	zero, 20(t0)		/* EV_ENABLE */
1:	sw	zero, 0(t0)		/* RXTX */
	lw	t1, 4(t0)		/* TXFULL */
	beqz	t1, 1b
#endif
	csrr	a0, mhartid
	li	a1, DTB_BASE
	li	t0, SBI_BASE
	jr	t0

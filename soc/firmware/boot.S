/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boot ROM: every hart comes out of reset here and goes on in the SBI, which was put into RAM
 * together with the kernel and the device tree (by the simulator, or by a board's loader).
 */
	.section .text.start
	.globl	_start
_start:
#ifdef AFTER_BIOS
	/*
	 * Linux' driver of the UART never acknowledges the event "no longer full", and sends nothing
	 * before it was raised once. LiteX's BIOS does acknowledge it: fill the FIFO, with NULs. The
	 * BIOS also leaves interrupts enabled, which the driver does not expect before it asks.
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SBI, the part in assembly: entry of each hart, the way into supervisor mode, the trap frame.
 * The rest is in sbi.c. VexRiscv has no PMP and no mcounteren; other cores need them set.
 */
#define STACK_SHIFT	10

	.section .text.start
	.globl	_start
_start:					/* a0 = hart, a1 = device tree */
	la	t0, stacks		/* each hart has its own */
	addi	t1, a0, 1
	slli	t1, t1, STACK_SHIFT
	add	sp, t0, t1

	/* A CSR that does not exist traps: continue after the write. */
	la	t0, 1f
	csrw	mtvec, t0
	li	t1, -1
	csrw	pmpaddr0, t1
	li	t1, 0x1f		/* one region: all of memory, rwx */
	csrw	pmpcfg0, t1
	.balign	4
1:	la	t0, 2f
	csrw	mtvec, t0
	li	t1, 7			/* cycle, time, instret in supervisor mode */
	csrw	mcounteren, t1
	.balign	4
2:	la	t0, trap_entry
	csrw	mtvec, t0

	/* Supervisor mode handles everything but its own calls. */
	li	t1, 0xb1ff
	csrw	medeleg, t1
	li	t1, 0x222
	csrw	mideleg, t1
	j	sbi_start

/* void enter_supervisor(hart, opaque, entry): never returns; the stack is empty again. */
	.globl	enter_supervisor
enter_supervisor:
	la	t0, stacks
	addi	t1, a0, 1
	slli	t1, t1, STACK_SHIFT
	add	t0, t0, t1
	csrw	mscratch, t0
	csrw	mepc, a2
	csrw	satp, zero
	li	t0, (3 << 11) | (1 << 7) | (1 << 5) | (1 << 1)	/* MPP, MPIE, SPIE, SIE */
	csrc	mstatus, t0
	li	t0, 1 << 11		/* MPP = supervisor */
	csrs	mstatus, t0
	fence.i
	mret

	.balign	4
trap_entry:
	csrrw	sp, mscratch, sp
	addi	sp, sp, -64
	sw	a0, 0(sp)		/* struct frame of sbi.c */
	sw	a1, 4(sp)
	sw	a2, 8(sp)
	sw	a3, 12(sp)
	sw	a4, 16(sp)
	sw	a5, 20(sp)
	sw	a6, 24(sp)
	sw	a7, 28(sp)
	sw	ra, 32(sp)
	sw	t0, 36(sp)
	sw	t1, 40(sp)
	sw	t2, 44(sp)
	sw	t3, 48(sp)
	sw	t4, 52(sp)
	sw	t5, 56(sp)
	sw	t6, 60(sp)
	mv	a0, sp
	csrr	a1, mcause
	call	sbi_trap
	lw	a0, 0(sp)
	lw	a1, 4(sp)
	lw	a2, 8(sp)
	lw	a3, 12(sp)
	lw	a4, 16(sp)
	lw	a5, 20(sp)
	lw	a6, 24(sp)
	lw	a7, 28(sp)
	lw	ra, 32(sp)
	lw	t0, 36(sp)
	lw	t1, 40(sp)
	lw	t2, 44(sp)
	lw	t3, 48(sp)
	lw	t4, 52(sp)
	lw	t5, 56(sp)
	lw	t6, 60(sp)
	addi	sp, sp, 64
	csrrw	sp, mscratch, sp
	mret

	.section .stack, "aw", @nobits
	.balign	16
stacks:
	.space	HARTS << STACK_SHIFT

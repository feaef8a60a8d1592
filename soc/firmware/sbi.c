/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small supervisor binary interface (RISC-V SBI 2.0) for a VexRiscv cluster: BASE, TIME, IPI,
 * RFENCE, HSM, SRST, DBCN, and the legacy putchar. No timer, interrupt or misaligned access is
 * emulated: the core does the first two itself, and Linux handles the last.
 *
 * HARTS, CLINT_BASE, UART_BASE, SOC_CONTROLLER_BASE, POWERED_OFF and KERNEL_BASE come from the SoC.
 */
typedef unsigned int u32;

#define REG(address)	    (*(volatile u32 *)(address))
#define MSIP(hart)	    REG(CLINT_BASE + 4 * (hart))
#define MTIMECMP_LOW(hart)  REG(CLINT_BASE + 0x4000 + 8 * (hart))
#define MTIMECMP_HIGH(hart) REG(CLINT_BASE + 0x4004 + 8 * (hart))

/* LiteX: registers of the SoC controller and of the UART. */
#define CONTROLLER_RESET   REG(SOC_CONTROLLER_BASE)
#define CONTROLLER_SCRATCH REG(SOC_CONTROLLER_BASE + 4)
#define UART_RXTX	   REG(UART_BASE)
#define UART_TXFULL	   REG(UART_BASE + 4)
#define UART_RXEMPTY	   REG(UART_BASE + 8)
#define UART_EV_PENDING	   REG(UART_BASE + 16)

#define csr_set(csr, bits)    asm volatile("csrs " #csr ", %0" : : "r"(bits) : "memory")
#define csr_clear(csr, bits)  asm volatile("csrc " #csr ", %0" : : "r"(bits) : "memory")
#define csr_write(csr, value) asm volatile("csrw " #csr ", %0" : : "r"(value) : "memory")
#define csr_read(csr)                                                                              \
	({                                                                                         \
		u32 value_;                                                                        \
		asm volatile("csrr %0, " #csr : "=r"(value_));                                     \
		value_;                                                                            \
	})

#define MIP_SSIP (1u << 1)
#define MIP_MSIP (1u << 3)
#define MIP_STIP (1u << 5)
#define MIP_MTIP (1u << 7)

#define MSTATUS_SIE   (1u << 1)
#define MSTATUS_SPIE  (1u << 5)
#define MSTATUS_SPP   (1u << 8)
#define MSTATUS_MPP   (3u << 11)
#define MSTATUS_MPP_S (1u << 11)

#define CAUSE_MSOFT  0x80000003u
#define CAUSE_MTIMER 0x80000007u
#define CAUSE_SCALL  9

enum { SBI_OK = 0, SBI_NOT_SUPPORTED = -2, SBI_INVALID_PARAM = -3, SBI_ALREADY_AVAILABLE = -6 };

#define EXT_PUTCHAR 0x01
#define EXT_BASE    0x10
#define EXT_TIME    0x54494D45
#define EXT_IPI	    0x735049
#define EXT_RFENCE  0x52464E43
#define EXT_HSM	    0x48534D
#define EXT_SRST    0x53525354
#define EXT_DBCN    0x4442434E

/* As trap_entry in sbi.S lays it out. */
struct frame {
	u32 a[8], ra, t[7];
};

/* Requests of other harts to a hart, which reads them after a software interrupt. */
enum { STARTED, STOPPED, START_PENDING };
enum { ASK_IPI = 1, ASK_FENCE = 2 };

/* In .data, because no code clears .bss, and a board's RAM has random content. */
static struct hart {
	u32 status, entry, opaque, asked;
} harts[HARTS] __attribute__((section(".data")));

void enter_supervisor(u32 hart, u32 opaque, u32 entry) __attribute__((noreturn));

/* Requests between harts ----------------------------------------------------------------------- */

static void fence(void)
{
	asm volatile("fence.i\n\tsfence.vma" : : : "memory");
}

/* Execute the requests of other harts to this one. */
static void serve(u32 self)
{
	u32 asked;

	MSIP(self) = 0;
	asm volatile("fence" : : : "memory");
	asked = __atomic_exchange_n(&harts[self].asked, 0, __ATOMIC_ACQ_REL);
	if (asked & ASK_IPI)
		csr_set(mip, MIP_SSIP);
	if (asked & ASK_FENCE)
		fence();
}

static void ask(u32 hart, u32 what)
{
	__atomic_fetch_or(&harts[hart].asked, what, __ATOMIC_ACQ_REL);
	MSIP(hart) = 1;
}

static int selected(u32 hart, u32 mask, u32 base)
{
	return base == -1u || (hart >= base && hart - base < 32 && (mask >> (hart - base) & 1));
}

static int send_ipi(u32 mask, u32 base)
{
	for (u32 hart = 0; hart < HARTS; hart++)
		if (selected(hart, mask, base))
			ask(hart, ASK_IPI);
	return SBI_OK;
}

/* Returns after every selected hart has fenced. The hart serves requests meanwhile, because two
 * harts that fence each other would otherwise deadlock. A stopped hart fences when it starts.
 */
static int remote_fence(u32 self, u32 mask, u32 base)
{
	for (u32 hart = 0; hart < HARTS; hart++) {
		if (!selected(hart, mask, base))
			continue;
		if (hart == self) {
			fence();
		} else if (__atomic_load_n(&harts[hart].status, __ATOMIC_ACQUIRE) == STARTED) {
			ask(hart, ASK_FENCE);
			while (__atomic_load_n(&harts[hart].asked, __ATOMIC_ACQUIRE) & ASK_FENCE)
				if (csr_read(mip) & MIP_MSIP)
					serve(self);
		}
	}
	return SBI_OK;
}

/* Harts ---------------------------------------------------------------------------------------- */

static int hart_start(u32 hart, u32 entry, u32 opaque)
{
	if (hart >= HARTS)
		return SBI_INVALID_PARAM;
	if (harts[hart].status != STOPPED)
		return SBI_ALREADY_AVAILABLE;
	harts[hart].entry = entry;
	harts[hart].opaque = opaque;
	__atomic_store_n(&harts[hart].status, START_PENDING, __ATOMIC_RELEASE);
	MSIP(hart) = 1;
	return SBI_OK;
}

static void __attribute__((noreturn)) hart_wait(u32 self)
{
	csr_write(mie, MIP_MSIP);
	while (__atomic_load_n(&harts[self].status, __ATOMIC_ACQUIRE) != START_PENDING) {
		asm volatile("wfi");
		MSIP(self) = 0;
		asm volatile("fence" : : : "memory");
	}
	serve(self);
	csr_clear(mip, MIP_SSIP);
	fence();
	__atomic_store_n(&harts[self].status, STARTED, __ATOMIC_RELEASE);
	enter_supervisor(self, harts[self].opaque, harts[self].entry);
}

static void __attribute__((noreturn)) hart_stop(u32 self)
{
	__atomic_store_n(&harts[self].status, STOPPED, __ATOMIC_RELEASE);
	hart_wait(self);
}

/* Timer, reset, console ------------------------------------------------------------------------ */

static void set_timer(u32 self, u32 low, u32 high)
{
	MTIMECMP_HIGH(self) = -1;
	MTIMECMP_LOW(self) = low;
	MTIMECMP_HIGH(self) = high;
	csr_clear(mip, MIP_STIP);
	csr_set(mie, MIP_MTIP);
}

/* Type 0 is power-off. There is no power switch: write a mark, and sleep without interrupts. */
static void system_reset(u32 type)
{
	if (type) {
		CONTROLLER_RESET = 1;
	} else {
		CONTROLLER_SCRATCH = POWERED_OFF;
		csr_write(mie, 0);
	}
	for (;;)
		asm volatile("wfi");
}

static void put(u32 character)
{
	while (UART_TXFULL)
		;
	UART_RXTX = character & 0xff;
}

static u32 console_write(const char *text, u32 length)
{
	for (u32 i = 0; i < length; i++)
		put(text[i]);
	return length;
}

static u32 console_read(char *text, u32 length)
{
	u32 i;

	for (i = 0; i < length && !UART_RXEMPTY; i++) {
		text[i] = UART_RXTX;
		UART_EV_PENDING = 2;
	}
	return i;
}

/* Calls and traps ------------------------------------------------------------------------------ */

static u32 probe(u32 extension)
{
	switch (extension) {
	case EXT_PUTCHAR:
	case EXT_BASE:
	case EXT_TIME:
	case EXT_IPI:
	case EXT_RFENCE:
	case EXT_HSM:
	case EXT_SRST:
	case EXT_DBCN:
		return 1;
	}
	return 0;
}

static u32 base_call(u32 function, u32 argument)
{
	switch (function) {
	case 0:
		return 0x02000000; /* SBI 2.0 */
	case 1:
		return 0x4d4f44; /* implementation: "MOD" */
	case 2:
		return 1; /* and its version */
	case 3:
		return probe(argument);
	}
	return 0; /* mvendorid, marchid, mimpid */
}

static void call(struct frame *frame, u32 self)
{
	u32 *a = frame->a, function = a[6], value = 0;
	int error = SBI_OK;

	switch (a[7]) {
	case EXT_PUTCHAR:
		put(a[0]);
		a[0] = 0;
		return;
	case EXT_BASE:
		value = base_call(function, a[0]);
		break;
	case EXT_TIME:
		set_timer(self, a[0], a[1]);
		break;
	case EXT_IPI:
		error = send_ipi(a[0], a[1]);
		break;
	case EXT_RFENCE: /* whichever of the fences it is: all of them at once */
		error = function < 3 ? remote_fence(self, a[0], a[1]) : SBI_NOT_SUPPORTED;
		break;
	case EXT_HSM:
		if (function == 0)
			error = hart_start(a[0], a[1], a[2]);
		else if (function == 1)
			hart_stop(self);
		else if (function == 2 && a[0] < HARTS)
			value = harts[a[0]].status;
		else
			error = function == 2 ? SBI_INVALID_PARAM : SBI_NOT_SUPPORTED;
		break;
	case EXT_SRST:
		system_reset(a[0]);
		break;
	case EXT_DBCN: /* addresses are physical, and we run untranslated */
		if (function == 0)
			value = console_write((const char *)a[1], a[0]);
		else if (function == 1)
			value = console_read((char *)a[1], a[0]);
		else
			put(a[0]);
		break;
	default:
		error = SBI_NOT_SUPPORTED;
	}
	a[0] = error;
	a[1] = value;
}

/* Pass a trap on to supervisor mode, as the core does for delegated traps. */
static void reflect(u32 cause)
{
	u32 status = csr_read(mstatus), previous = status;

	csr_write(scause, cause);
	csr_write(sepc, csr_read(mepc));
	csr_write(stval, csr_read(mtval));
	csr_write(mepc, csr_read(stvec) & ~3u);

	status &= ~(MSTATUS_SPP | MSTATUS_SPIE | MSTATUS_SIE | MSTATUS_MPP);
	if (previous & MSTATUS_MPP)
		status |= MSTATUS_SPP;
	if (previous & MSTATUS_SIE)
		status |= MSTATUS_SPIE;
	csr_write(mstatus, status | MSTATUS_MPP_S);
}

void sbi_trap(struct frame *frame, u32 cause)
{
	u32 self = csr_read(mhartid);

	switch (cause) {
	case CAUSE_MTIMER:
		csr_clear(mie, MIP_MTIP);
		csr_set(mip, MIP_STIP);
		break;
	case CAUSE_MSOFT:
		serve(self);
		break;
	case CAUSE_SCALL:
		csr_write(mepc, csr_read(mepc) + 4);
		call(frame, self);
		break;
	default:
		if ((csr_read(mstatus) & MSTATUS_MPP) != MSTATUS_MPP) {
			reflect(cause); /* VexRiscv cannot delegate breakpoints, which WARN uses */
			break;
		}
		console_write("SBI: fault\r\n", 12); /* in here: nothing can be trusted now */
		csr_write(mie, 0);
		for (;;)
			asm volatile("wfi");
	}
}

/* Hart 0 starts the kernel, the others wait to be started by it. */
void sbi_start(u32 self, u32 device_tree)
{
	if (self)
		hart_wait(self);
	for (u32 hart = 1; hart < HARTS; hart++)
		harts[hart].status = STOPPED;
	csr_write(mie, MIP_MSIP);
	enter_supervisor(0, device_tree, KERNEL_BASE);
}

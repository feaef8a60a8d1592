/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first process: mounts the usual file systems, prints a message, and keeps a shell on the console.
 * A C program, because each program that starts before the shell costs a million cycles of boot.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONSOLE "/dev/console"
#define TTY	"/dev/ttyLXU0" /* LiteUART; unlike the console, it can be a controlling terminal */

static char *const environment[] = { "PATH=/bin", "HOME=/",	   "TERM=linux",
				     "PS1=# ",	  "ENV=/etc/shrc", NULL };
static char *const shell[] = { "sh", "-i", NULL };

static void say(const char *text, size_t length)
{
	if (write(1, text, length) < 0)
		_exit(1);
}

static void open_terminal(void)
{
	int terminal = open(TTY, O_RDWR);

	if (terminal < 0)
		terminal = open(CONSOLE, O_RDWR);
	setsid();
	ioctl(terminal, TIOCSCTTY, 1);
	for (int fd = 0; fd < 3; fd++)
		dup2(terminal, fd);
	if (terminal > 2)
		close(terminal);
}

/* Signals from busybox's poweroff, halt and reboot. */
static void stop(int signal)
{
	sync();
	reboot(signal == SIGTERM ? RB_AUTOBOOT : RB_POWER_OFF);
}

int main(void)
{
	signal(SIGUSR1, stop);
	signal(SIGUSR2, stop);
	signal(SIGTERM, stop);
	sethostname("moderato", 8);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	klogctl(8, NULL, 5); /* the boot was quiet; from here on show warnings and worse */
	say("MODERATO-BOOTED\n", 16);

	for (;;) {
		pid_t child = vfork();

		if (child == 0) {
			open_terminal();
			execve("/bin/sh", shell, environment);
			_exit(127);
		}
		while (wait(NULL) != child)
			;
	}
}

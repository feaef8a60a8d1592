// SPDX-License-Identifier: BSD-2-Clause
// The guest's only program: loads the driver, lets Linux forward between both ports, and prints the
// kernel's counters after each input line.
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PORTS 2

static void check(int result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	for (;;)
		pause();
}

static void set(struct sockaddr *socket, const char *address)
{
	struct sockaddr_in *in = (struct sockaddr_in *)socket;

	in->sin_family = AF_INET;
	inet_pton(AF_INET, address, &in->sin_addr);
}

/* The bench's addresses, as in etc/moderato/up, with static neighbours instead of ARP. */
static void up(int socket, int port)
{
	struct ifreq interface = { 0 };
	struct arpreq neighbour = { .arp_flags = ATF_COM | ATF_PERM };
	const unsigned char station[] = { 0x02, 0x54, 0x73, 0x74, 0x00, port };
	char address[16];

	snprintf(interface.ifr_name, sizeof(interface.ifr_name), "eth%d", port);
	snprintf(address, sizeof(address), "198.1%d.0.1", 8 + port);
	set(&interface.ifr_addr, address);
	check(ioctl(socket, SIOCSIFADDR, &interface), "SIOCSIFADDR");
	check(ioctl(socket, SIOCGIFFLAGS, &interface), "SIOCGIFFLAGS");
	interface.ifr_flags |= IFF_UP;
	check(ioctl(socket, SIOCSIFFLAGS, &interface), "SIOCSIFFLAGS");

	snprintf(address, sizeof(address), "198.1%d.0.2", 8 + port);
	set(&neighbour.arp_pa, address);
	neighbour.arp_ha.sa_family = ARPHRD_ETHER;
	memcpy(neighbour.arp_ha.sa_data, station, sizeof(station));
	memcpy(neighbour.arp_dev, interface.ifr_name, sizeof(neighbour.arp_dev) - 1);
	check(ioctl(socket, SIOCSARP, &neighbour), "SIOCSARP");
}

static void show(const char *path)
{
	char text[4096];
	ssize_t length;
	int file = open(path, O_RDONLY);

	while ((length = read(file, text, sizeof(text))) > 0)
		if (write(1, text, length) != length)
			break;
	close(file);
}

int main(void)
{
	struct utsname name;
	char line[80];
	int file;

	klogctl(8, NULL, 5); /* warnings and worse */
	check(mount("proc", "/proc", "proc", 0, NULL), "/proc");

	file = open("/moderato.ko", O_RDONLY | O_CLOEXEC);
	check(syscall(SYS_finit_module, file, "", 0), "moderato.ko");
	close(file);

	file = open("/proc/sys/net/ipv4/ip_forward", O_WRONLY);
	check(write(file, "1", 1), "ip_forward");
	close(file);

	file = socket(AF_INET, SOCK_DGRAM, 0);
	for (int port = 0; port < PORTS; port++)
		up(file, port);
	close(file);

	uname(&name);
	printf("MODERATO-UP on %s\n", name.machine);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		show("/proc/interrupts");
		show("/proc/net/dev");
		printf("MODERATO-TOLD\n");
		fflush(stdout);
	}
	for (;;)
		pause();
}

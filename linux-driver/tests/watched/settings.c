// SPDX-License-Identifier: BSD-2-Clause
/* Changes settings of eth0 in the guest as ethtool and ip do, many in little time. Each line of the
 * standard input is one: `FAIL NAME NUMBER...`. Its FAIL-th allocation fails (0: none); with `each`,
 * one after the other does, until it succeeds. After each attempt the driver is asked for its state.
 *
 * Prints a line for each: its number, the attempts, the last error (0: none), and `changed` if an
 * attempt failed and yet changed something.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PARAMETERS "/sys/module/moderato/parameters/"

static int link_;
static long number[8];

static void say_fail(int value)
{
	char text[16];
	int file = open(PARAMETERS "fail", O_WRONLY);
	int length = snprintf(text, sizeof(text), "%d\n", value);

	if (file < 0 || write(file, text, length) != length) {
		perror(PARAMETERS "fail");
		exit(1);
	}
	close(file);
}

static void ask(const char *parameter, char *to, int room)
{
	char path[80];
	int file, length;

	snprintf(path, sizeof(path), PARAMETERS "%s", parameter);
	file = open(path, O_RDONLY);
	length = file < 0 ? -1 : read(file, to, room - 1);
	if (length < 0) {
		perror(path);
		exit(1);
	}
	to[length] = 0;
	close(file);
}

static struct ifreq request(void *data)
{
	struct ifreq ifr = { .ifr_name = "eth0" };

	ifr.ifr_data = data;
	return ifr;
}

static int ethtool(void *command)
{
	struct ifreq ifr = request(command);

	return ioctl(link_, SIOCETHTOOL, &ifr) < 0 ? errno : 0;
}

static int rings(void)
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_SRINGPARAM, .rx_pending = number[0],
					  .tx_pending = number[1] };

	return ethtool(&ring);
}

static int channels(void)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_SCHANNELS, .combined_count = number[0] };

	return ethtool(&channels);
}

static int flags(void)
{
	struct ethtool_value value = { .cmd = ETHTOOL_SPFLAGS, .data = number[0] };

	return ethtool(&value);
}

static int value(unsigned int command)
{
	struct ethtool_value value = { .cmd = command, .data = number[0] };

	return ethtool(&value);
}

static void coalesce_numbers(struct ethtool_coalesce *c, const long *n)
{
	c->use_adaptive_rx_coalesce = n[0];
	c->use_adaptive_tx_coalesce = n[1];
	c->rx_max_coalesced_frames = n[2];
	c->rx_coalesce_usecs = n[3];
	c->tx_max_coalesced_frames = n[4];
	c->tx_coalesce_usecs = n[5];
	c->rx_coalesce_usecs_irq = n[6];
}

static int coalesce(void)
{
	struct ethtool_coalesce c = { .cmd = ETHTOOL_SCOALESCE };

	coalesce_numbers(&c, number);
	return ethtool(&c);
}

/* NUMBER[0] is the queue */
static int queue(void)
{
	struct {
		struct ethtool_per_queue_op op;
		struct ethtool_coalesce c;
	} of = { .op = { .cmd = ETHTOOL_PERQUEUE, .sub_command = ETHTOOL_SCOALESCE } };

	of.op.queue_mask[0] = 1 << number[0];
	of.c.cmd = ETHTOOL_SCOALESCE;
	coalesce_numbers(&of.c, number + 1);
	return ethtool(&of);
}

static int mtu(void)
{
	struct ifreq ifr = request(NULL);

	ifr.ifr_mtu = number[0];
	return ioctl(link_, SIOCSIFMTU, &ifr) < 0 ? errno : 0;
}

static int up(void)
{
	struct ifreq ifr = request(NULL);

	if (ioctl(link_, SIOCGIFFLAGS, &ifr) < 0)
		return errno;
	ifr.ifr_flags = number[0] ? ifr.ifr_flags | IFF_UP : ifr.ifr_flags & ~IFF_UP;
	return ioctl(link_, SIOCSIFFLAGS, &ifr) < 0 ? errno : 0;
}

/* A rule for frames of the type of service NUMBER[0]; none if that is 0 */
static int rule(void)
{
	struct ethtool_rxnfc nfc = { .cmd = number[0] ? ETHTOOL_SRXCLSRLINS : ETHTOOL_SRXCLSRLDEL };

	nfc.fs.flow_type = IP_USER_FLOW;
	nfc.fs.h_u.usr_ip4_spec.tos = number[0];
	nfc.fs.m_u.usr_ip4_spec.tos = 0xff;
	nfc.fs.h_u.usr_ip4_spec.ip_ver = ETH_RX_NFC_IP4;
	return ethtool(&nfc);
}

static int change(const char *name)
{
	if (!strcmp(name, "rings"))
		return rings();
	if (!strcmp(name, "channels"))
		return channels();
	if (!strcmp(name, "flags"))
		return flags();
	if (!strcmp(name, "coalesce"))
		return coalesce();
	if (!strcmp(name, "queue"))
		return queue();
	if (!strcmp(name, "mtu"))
		return mtu();
	if (!strcmp(name, "up"))
		return up();
	if (!strcmp(name, "rule"))
		return rule();
	if (!strcmp(name, "tso"))
		return value(ETHTOOL_STSO);
	if (!strcmp(name, "gro"))
		return value(ETHTOOL_SGRO);
	fprintf(stderr, "settings: no setting is called %s\n", name);
	exit(1);
}

int main(void)
{
	static char before[4096], after[4096];
	char line[160], fail[16], name[16], left[16];

	link_ = socket(AF_INET, SOCK_DGRAM, 0);
	for (int n = 1; fgets(line, sizeof(line), stdin); n++) {
		int attempts = 0, err, changed = 0, each;

		memset(number, 0, sizeof(number));
		if (sscanf(line, "%15s %15s %ld %ld %ld %ld %ld %ld %ld %ld", fail, name, number,
			   number + 1, number + 2, number + 3, number + 4, number + 5, number + 6,
			   number + 7) < 2)
			return 1;
		each = !strcmp(fail, "each");
		do {
			ask("state", before, sizeof(before));
			say_fail(each ? attempts + 1 : atoi(fail));
			attempts++;
			err = change(name);
			ask("fail", left, sizeof(left));
			say_fail(0);
			ask("state", after, sizeof(after));
			if (err && strcmp(before, after))
				changed = 1;
		} while (each && err && !atoi(left));
		printf("%d %d %d%s\n", n, attempts, err, changed ? " changed" : "");
		if (changed)
			printf("# %s# %s", before, after);
		fflush(stdout);
	}
	return 0;
}

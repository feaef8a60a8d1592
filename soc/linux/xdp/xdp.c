/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaches a program for XDP to ports, and detaches it:
 *
 *     xdp PROGRAM PORT...
 *     xdp off PORT...
 *
 * PROGRAM is a file that clang made, or the name of one in /lib/xdp. For a map `hops`, the loader reads
 * next hops from standard input, in the format of `ip neigh`. With a map `ports`, the program can
 * redirect frames to the PORTs. The new program replaces the old one of a PORT. If one PORT rejects the
 * program, no PORT gets it.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "map.h"

#define MAX_MAPS 8
#define MAX_FILE 65536
#define MAX_SAID 65536
#define DETACHED (-1) /* the descriptor that detaches */

static _Alignas(8) char file[MAX_FILE];
static char said[MAX_SAID];

static const Elf64_Ehdr *const elf = (void *)file;
static size_t length;

/* Of the program's section `maps`, in its order */
static struct {
	const char *name;
	int fd;
} maps[MAX_MAPS];

static void die(const char *what, const char *why)
{
	fprintf(stderr, "xdp: %s: %s\n", what, why);
	exit(1);
}

/* The file ---------------------------------------------------------------------------------------- */

/* A part of the file at `offset`; ends the program if the file is too short. */
static const void *part(uint64_t offset, uint64_t size)
{
	if (offset > length || size > length - offset)
		die("program", "the file is cut off");
	return file + offset;
}

static const Elf64_Shdr *section(size_t number)
{
	if (number >= elf->e_shnum)
		die("program", "the file names a section that is not there");
	return (const Elf64_Shdr *)part(elf->e_shoff, elf->e_shnum * sizeof(Elf64_Shdr)) + number;
}

static const void *content(const Elf64_Shdr *of)
{
	return part(of->sh_offset, of->sh_size);
}

/* A string of a table, which ends within it */
static const char *string(const Elf64_Shdr *table, uint32_t at)
{
	const char *strings = content(table);

	if (at >= table->sh_size || strings[table->sh_size - 1])
		die("program", "the file has no names");
	return strings + at;
}

static const char *name_of(const Elf64_Shdr *of)
{
	return string(section(elf->e_shstrndx), of->sh_name);
}

static const Elf64_Shdr *find(const char *name)
{
	for (size_t i = 1; i < elf->e_shnum; i++)
		if (!strcmp(name_of(section(i)), name))
			return section(i);
	return NULL;
}

static const Elf64_Shdr *symbols(void)
{
	for (size_t i = 1; i < elf->e_shnum; i++)
		if (section(i)->sh_type == SHT_SYMTAB)
			return section(i);
	die("program", "the file has no symbols");
	return NULL;
}

static void load_file(const char *name)
{
	char path[256];
	FILE *stream;

	snprintf(path, sizeof(path), "%s%s%s", strchr(name, '/') ? "" : "/lib/xdp/", name,
		 strchr(name, '/') ? "" : ".o");
	stream = fopen(path, "r");
	if (!stream)
		die(path, strerror(errno));
	length = fread(file, 1, sizeof(file), stream);
	fclose(stream);
	if (length < sizeof(*elf) || memcmp(elf->e_ident, ELFMAG, SELFMAG) ||
	    elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != EM_BPF ||
	    length == sizeof(file))
		die(path, "is no program that clang made for BPF");
}

/* bpf() -------------------------------------------------------------------------------------------- */

static int bpf(int command, union bpf_attr *attributes)
{
	return syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

static void set(int map, const char *what, const void *key, const void *value)
{
	union bpf_attr attributes = {
		.map_fd = map,
		.key = (uintptr_t)key,
		.value = (uintptr_t)value,
	};

	if (bpf(BPF_MAP_UPDATE_ELEM, &attributes))
		die(what, strerror(errno));
}

/* Return: its descriptor, or -1 */
static int map_called(const char *name)
{
	for (int i = 0; i < MAX_MAPS; i++)
		if (maps[i].name && !strcmp(maps[i].name, name))
			return maps[i].fd;
	return -1;
}

static void create_map(const Elf64_Shdr *defined, const char *name, uint64_t at)
{
	const struct map *map = content(defined);
	size_t number = at / sizeof(*map);
	union bpf_attr attributes = {};

	if (at % sizeof(*map) || at + sizeof(*map) > defined->sh_size || number >= MAX_MAPS)
		die(name, "is no map of map.h");
	map += number;
	attributes.map_type = map->type;
	attributes.key_size = map->key_size;
	attributes.value_size = map->value_size;
	attributes.max_entries = map->max_entries;
	strncpy(attributes.map_name, name, sizeof(attributes.map_name) - 1);
	maps[number].name = name;
	maps[number].fd = bpf(BPF_MAP_CREATE, &attributes);
	if (maps[number].fd < 0)
		die(name, strerror(errno));
}

static void create_maps(void)
{
	const Elf64_Shdr *defined = find("maps"), *table = symbols();
	const Elf64_Sym *symbol = content(table);

	for (size_t i = 0; defined && i < table->sh_size / sizeof(*symbol); i++)
		if (ELF64_ST_TYPE(symbol[i].st_info) == STT_OBJECT &&
		    section(symbol[i].st_shndx < elf->e_shnum ? symbol[i].st_shndx : 0) == defined)
			create_map(defined, string(section(table->sh_link), symbol[i].st_name),
				   symbol[i].st_value);
}

/* Instructions that load a map's address get its descriptor, which the kernel replaces. */
static void relocate(struct bpf_insn *code, size_t size)
{
	const Elf64_Shdr *list = find(".relxdp"), *table = symbols();
	const Elf64_Sym *symbol = content(table);
	const Elf64_Rel *entry = list ? content(list) : NULL;

	for (size_t i = 0; list && i < list->sh_size / sizeof(*entry); i++) {
		size_t at = entry[i].r_offset / sizeof(*code), which = ELF64_R_SYM(entry[i].r_info);
		size_t number = which < table->sh_size / sizeof(*symbol)
					? symbol[which].st_value / sizeof(struct map)
					: MAX_MAPS;

		if (at >= size / sizeof(*code) || number >= MAX_MAPS || !maps[number].name)
			die("program", "it uses something else than maps from outside");
		code[at].src_reg = BPF_PSEUDO_MAP_FD;
		code[at].imm = maps[number].fd;
	}
}

static int load(const char *name)
{
	const Elf64_Shdr *program = find("xdp"), *licence = find("license");
	union bpf_attr attributes = {};
	int fd;

	if (!program || !licence)
		die(name, "has no section `xdp`, or no `license`");
	relocate((void *)content(program), program->sh_size);
	attributes.prog_type = BPF_PROG_TYPE_XDP;
	attributes.expected_attach_type = BPF_XDP;
	attributes.insns = (uintptr_t)content(program);
	attributes.insn_cnt = program->sh_size / sizeof(struct bpf_insn);
	attributes.license = (uintptr_t)content(licence);
	name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	/* The kernel takes letters, digits and _ */
	for (size_t n = 0; n < BPF_OBJ_NAME_LEN - 1 && name[n] && name[n] != '.'; n++)
		attributes.prog_name[n] = isalnum((unsigned char)name[n]) ? name[n] : '_';
	fd = bpf(BPF_PROG_LOAD, &attributes);
	if (fd < 0) {
		int error = errno;

		/* Again, for the verifier's log. */
		attributes.log_level = 1;
		attributes.log_buf = (uintptr_t)said;
		attributes.log_size = sizeof(said);
		bpf(BPF_PROG_LOAD, &attributes);
		fputs(said, stderr);
		die(name, error == 524 ? "the kernel's compiler for this CPU cannot take it"
				       : strerror(error));
	}
	return fd;
}

/* Ports --------------------------------------------------------------------------------------------- */

static uint32_t port(const char *name)
{
	uint32_t index = if_nametoindex(name);

	if (!index)
		die(name, "there is no such interface");
	return index;
}

static struct rtattr *put(struct nlmsghdr *message, uint16_t type, const void *data, size_t size)
{
	struct rtattr *attribute = (void *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(attribute), data, size);
	message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + RTA_ALIGN(attribute->rta_len);
	return attribute;
}

/* The kernel's message for an error, or the text of its number */
static const char *explanation(const struct nlmsghdr *answer)
{
	const struct nlmsgerr *error = NLMSG_DATA(answer);
	size_t at = NLMSG_HDRLEN + sizeof(*error);

	while (answer->nlmsg_flags & NLM_F_ACK_TLVS && at + NLA_HDRLEN < answer->nlmsg_len) {
		const struct nlattr *attribute = (void *)((char *)answer + at);

		if (attribute->nla_type == NLMSGERR_ATTR_MSG)
			return (char *)attribute + NLA_HDRLEN;
		at += NLA_ALIGN(attribute->nla_len);
	}
	return strerror(-error->error);
}

/* Return: NULL, or why not */
static const char *attach(uint32_t index, int program)
{
	static _Alignas(NLMSG_ALIGNTO) char buffer[4096];
	struct nlmsghdr *message = (void *)buffer;
	struct ifinfomsg *link = NLMSG_DATA(message);
	uint32_t flags = XDP_FLAGS_DRV_MODE;
	struct rtattr *nest;
	int on = 1, netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	const struct nlmsgerr *error;
	const char *why;

	setsockopt(netlink, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(netlink, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	memset(buffer, 0, sizeof(buffer));
	message->nlmsg_len = NLMSG_LENGTH(sizeof(*link));
	message->nlmsg_type = RTM_SETLINK;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	link->ifi_index = index;
	nest = put(message, IFLA_XDP | NLA_F_NESTED, NULL, 0);
	put(message, IFLA_XDP_FD, &program, sizeof(program));
	put(message, IFLA_XDP_FLAGS, &flags, sizeof(flags));
	nest->rta_len = (char *)message + message->nlmsg_len - (char *)nest;

	if (send(netlink, message, message->nlmsg_len, 0) < 0 ||
	    recv(netlink, buffer, sizeof(buffer), 0) < 0)
		die("netlink", strerror(errno));
	close(netlink);
	error = NLMSG_DATA(message);
	why = message->nlmsg_type == NLMSG_ERROR && error->error ? explanation(message) : NULL;
	return why;
}

/* Next hops ----------------------------------------------------------------------------------------- */

/* The hardware's address of an interface */
static void own_address(const char *name, uint8_t address[6])
{
	char path[64];
	FILE *stream;

	snprintf(path, sizeof(path), "/sys/class/net/%s/address", name);
	stream = fopen(path, "r");
	if (!stream || fscanf(stream, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", address, address + 1,
			      address + 2, address + 3, address + 4, address + 5) != 6)
		die(name, "has no address");
	fclose(stream);
}

static void read_hops(int map)
{
	char line[256], ip[64], name[IFNAMSIZ];

	while (fgets(line, sizeof(line), stdin)) {
		struct hop hop = {};
		uint8_t *to = hop.addresses;
		uint32_t key;

		/* A neighbour that does not answer has no address. */
		if (sscanf(line, "%63s dev %15s lladdr %hhx:%hhx:%hhx:%hhx:%hhx:%hhx", ip, name, to,
			   to + 1, to + 2, to + 3, to + 4, to + 5) != 8)
			continue;
		if (inet_pton(AF_INET, ip, &key) != 1)
			continue;
		hop.port = port(name);
		own_address(name, to + 6);
		set(map, ip, &key, &hop);
	}
}

int main(int words, char **word)
{
	int program = DETACHED, hops;

	if (words < 3) {
		fputs("usage: xdp PROGRAM PORT...\n       xdp off PORT...\n", stderr);
		return 2;
	}
	for (int i = 2; i < words; i++)
		port(word[i]); /* before any has it */
	if (strcmp(word[1], "off")) {
		load_file(word[1]);
		create_maps();
		hops = map_called("hops");
		if (hops >= 0)
			read_hops(hops);
		program = load(word[1]);
	}
	for (int i = 2; i < words; i++) {
		const char *why = attach(port(word[i]), program);

		if (!why)
			continue;
		fprintf(stderr, "xdp: %s: %s\n", word[i], why);
		while (program != DETACHED && i-- > 2)
			attach(port(word[i]), DETACHED);
		return 1;
	}
	/* Until all ports have the program, Linux forwards. */
	for (int i = 2, ports = map_called("ports"); ports >= 0 && i < words; i++) {
		uint32_t index = port(word[i]);

		set(ports, word[i], &index, &index);
	}
	return 0;
}

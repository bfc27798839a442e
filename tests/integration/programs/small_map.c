// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into gpuprobe: makes one of its BPF maps smaller than requested, lists the maps that it
 * reads, and keeps probes out of libraries.
 *
 *   SMALL_LIST=FILE   a line for each map: its type, its name, the number of entries requested
 *   SMALL_MAP=NAME    the map that is made smaller
 *   SMALL_ENTRIES=N   to this number of entries
 *   READ_LIST=FILE    a line with the map's name whenever gpuprobe begins to read a whole map
 *   REFUSED_LINKS=N   links of many probes fail with this errno
 *
 * The programs that gpuprobe starts do not inherit any of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Values of the kernel, since <linux/bpf.h> may be older: BPF_LINK_CREATE for uprobe_multi. Indices
 * count words of 4 bytes.
 */
#define LINK_TYPE 2
#define UPROBE_MULTI 48
#define UPROBE_SESSION 57
#define MULTI_LINK_COUNT 12 /* the number of probes */
#define MANY 20		    /* more than in gpuprobe's trials on itself */

static int list = -1, read_list = -1, refused;
static char wanted[BPF_OBJ_NAME_LEN];
static unsigned int entries;

static long call(long number, const long *a)
{
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

static void look_at(union bpf_attr *attr)
{
	char line[96];
	int length;

	if (!*attr->map_name)
		return;
	length = snprintf(line, sizeof(line), "%u %.15s %u\n", attr->map_type, attr->map_name,
			  attr->max_entries);
	if (list >= 0 && write(list, line, (size_t)length) < 0)
		abort();
	if (!strncmp(attr->map_name, wanted, sizeof(wanted)) && attr->max_entries > entries)
		attr->max_entries = entries;
}

/* A batch without a start position begins a reading. */
static void look_at_reading(const union bpf_attr *attr)
{
	struct bpf_map_info info = {0};
	union bpf_attr question = {.info = {.bpf_fd = attr->batch.map_fd,
					    .info_len = sizeof(info),
					    .info = (unsigned long)&info}};
	const long a[6] = {BPF_OBJ_GET_INFO_BY_FD, (long)&question, sizeof(question)};
	char line[BPF_OBJ_NAME_LEN + 2];
	int length;

	if (read_list < 0 || attr->batch.in_batch)
		return;
	if (call(SYS_bpf, a))
		abort();
	length = snprintf(line, sizeof(line), "%s\n", info.name);
	if (write(read_list, line, (size_t)length) < 0)
		abort();
}

/* Other kinds of links have something else at that index, or nothing. */
static bool is_of_many(const __u32 *words)
{
	if (words[LINK_TYPE] != UPROBE_MULTI && words[LINK_TYPE] != UPROBE_SESSION)
		return false;
	return words[MULTI_LINK_COUNT] >= MANY;
}

/* Both libbpf and gpuprobe call bpf(2) this way. */
long syscall(long number, ...)
{
	long a[6];
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number == SYS_bpf && a[0] == BPF_MAP_CREATE)
		look_at((union bpf_attr *)a[1]);
	if (number == SYS_bpf && a[0] == BPF_MAP_LOOKUP_BATCH)
		look_at_reading((const union bpf_attr *)a[1]);
	if (number == SYS_bpf && a[0] == BPF_LINK_CREATE && refused &&
	    is_of_many((const __u32 *)a[1])) {
		errno = refused;
		return -1;
	}
	return call(number, a);
}

static int open_list(const char *variable)
{
	const char *path = getenv(variable);

	return path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
}

static void __attribute__((constructor)) begin(void)
{
	const char *name = getenv("SMALL_MAP"), *number = getenv("SMALL_ENTRIES"),
		   *code = getenv("REFUSED_LINKS");

	list = open_list("SMALL_LIST");
	read_list = open_list("READ_LIST");
	refused = code ? atoi(code) : 0;
	if (name && number) {
		snprintf(wanted, sizeof(wanted), "%s", name);
		entries = (unsigned int)strtoul(number, NULL, 10);
	}
	unsetenv("SMALL_LIST");
	unsetenv("SMALL_MAP");
	unsetenv("SMALL_ENTRIES");
	unsetenv("READ_LIST");
	unsetenv("REFUSED_LINKS");
	unsetenv("LD_PRELOAD");
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into gpuprobe: one of its BPF maps is made smaller than it asks for.
 *
 *   SMALL_LIST=FILE   a line for each map: its type, its name, how many entries it was to have
 *   SMALL_MAP=NAME    the one that is made smaller
 *   SMALL_ENTRIES=N   to so many entries
 *
 * The programs that gpuprobe starts do not inherit any of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int list = -1;
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
	length = snprintf(line, sizeof(line), "%u %.15s %u\n", attr->map_type, attr->map_name, attr->max_entries);
	if (list >= 0 && write(list, line, (size_t)length) < 0)
		abort();
	if (!strncmp(attr->map_name, wanted, sizeof(wanted)) && attr->max_entries > entries)
		attr->max_entries = entries;
}

/* As libbpf calls bpf(2). */
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
	return call(number, a);
}

static void __attribute__((constructor)) begin(void)
{
	const char *path = getenv("SMALL_LIST"), *name = getenv("SMALL_MAP"), *number = getenv("SMALL_ENTRIES");

	if (path)
		list = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (name && number) {
		snprintf(wanted, sizeof(wanted), "%s", name);
		entries = (unsigned int)strtoul(number, NULL, 10);
	}
	unsetenv("SMALL_LIST");
	unsetenv("SMALL_MAP");
	unsetenv("SMALL_ENTRIES");
	unsetenv("LD_PRELOAD");
}

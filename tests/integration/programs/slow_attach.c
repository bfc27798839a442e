// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into gpuprobe: once there is the file SLOW_ATTACH, the next probes take SLOW_SECONDS
 * to attach, as on a busy machine. The programs that gpuprobe starts do not inherit any of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS 6

static char file[4096];
static long seconds;
static bool over;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("SLOW_ATTACH");

	strncpy(file, text ? text : "", sizeof(file) - 1);
	text = getenv("SLOW_SECONDS");
	seconds = text ? atol(text) : 0;
	unsetenv("LD_PRELOAD");
	unsetenv("SLOW_ATTACH");
	unsetenv("SLOW_SECONDS");
}

static void wait_if_asked(void)
{
	const struct timespec time = {.tv_sec = seconds};
	int fd = over ? -1 : open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	close(fd);
	over = true;
	nanosleep(&time, NULL);
}

long syscall(long number, ...)
{
	__typeof__(syscall) *own = (__typeof__(own))dlsym(RTLD_NEXT, "syscall");
	long argument[ARGUMENTS];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < ARGUMENTS; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && argument[0] == BPF_LINK_CREATE)
		wait_if_asked();
	return own(number, argument[0], argument[1], argument[2], argument[3], argument[4],
		   argument[5]);
}

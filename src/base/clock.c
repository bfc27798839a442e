// SPDX-License-Identifier: BSD-2-Clause
// Reads the system's clocks; see clock.h.
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * PROC_TIME_INIT_INO of include/linux/proc_ns.h; part of the kernel's uapi as TIME_NS_INIT_INO
 * since 6.18.
 */
#define FIRST_NAMESPACE UINT64_C(0xEFFFFFFA)

/*
 * How far this process's CLOCK_BOOTTIME is ahead of the kernel's, that is, the offset of its time
 * namespace. Constant while the program runs: the kernel refuses to change the offset of a
 * namespace that has processes. Modulo 2^64, so that adding also works for a negative offset.
 */
static uint64_t ahead_ns;
/* Negative errno if `ahead_ns` could not be determined. */
static int unknown;

/* Each line is "boottime SECONDS NANOSECONDS". */
static int read_offset(uint64_t *offset)
{
	FILE *in = fopen("/proc/self/timens_offsets", "re");
	int64_t seconds, ns;
	int ret = -EBADMSG;
	char line[128];

	if (!in)
		return -errno;
	while (ret && fgets(line, sizeof(line), in))
		if (sscanf(line, "boottime %" SCNd64 " %" SCNd64, &seconds, &ns) == 2)
			ret = 0;
	fclose(in);
	if (!ret)
		*offset = (uint64_t)seconds * NS_PER_S + (uint64_t)ns;
	return ret;
}

/*
 * /proc shows the offsets of future children; between unshare(2) and fork(2) those are in another
 * namespace than this process.
 */
static int find_offset(uint64_t *offset)
{
	struct stat own, childrens;

	*offset = 0;
	if (stat("/proc/self/ns/time", &own))
		/* A kernel without time namespaces. A missing /proc is reported elsewhere. */
		return errno == ENOENT ? 0 : -errno;
	if (own.st_ino == FIRST_NAMESPACE)
		return 0;
	if (stat("/proc/self/ns/time_for_children", &childrens))
		return -errno;
	return own.st_ino == childrens.st_ino && own.st_dev == childrens.st_dev ?
		       read_offset(offset) :
		       -EXDEV;
}

__attribute__((constructor)) void clock__find_kernels(void)
{
	unknown = find_offset(&ahead_ns);
}

int clock__check(struct error *err)
{
	if (unknown == -EXDEV)
		return error__set(err, unknown,
				  "gpuprobe's children would be in another time namespace than "
				  "gpuprobe: start it with unshare --time --fork");
	if (unknown)
		return error__set(
			err, unknown,
			"cannot read this time namespace's clock offset from /proc/self: %s; "
			"is /proc mounted?",
			strerror(-unknown));
	return 0;
}

uint64_t clock__of_kernel(uint64_t boot_ns)
{
	return boot_ns - ahead_ns;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock__boot_ns(void)
{
	return clock__of_kernel(read_clock(CLOCK_BOOTTIME));
}

uint64_t clock__monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock__thread_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

struct timespec clock__wall(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now;
}

struct timeval clock__timeval(double seconds)
{
	double whole = floor(seconds);

	return (struct timeval){.tv_sec = (time_t)whole,
				.tv_usec = (suseconds_t)((seconds - whole) * 1e6)};
}

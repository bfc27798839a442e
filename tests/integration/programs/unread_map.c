// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into gpuprobe: one in UNREAD_EVERY of its BPF map readings breaks off for lack of
 * memory, for UNREAD_SECONDS from the first reading on. The programs that gpuprobe starts do not
 * inherit any of it.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static unsigned long every, seconds, count;
static double end; /* 0: no map has been read */

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("UNREAD_EVERY");

	every = text ? strtoul(text, NULL, 10) : 0;
	text = getenv("UNREAD_SECONDS");
	seconds = text ? strtoul(text, NULL, 10) : -1ul;
	unsetenv("LD_PRELOAD");
	unsetenv("UNREAD_EVERY");
	unsetenv("UNREAD_SECONDS");
}

static bool is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (end == 0)
		end = (double)now.tv_sec + (double)now.tv_nsec / 1e9 + (double)seconds;
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9 > end;
}

int bpf_map_lookup_batch(int fd, void *in_batch, void *out_batch, void *keys, void *values,
			 __u32 *entries, const struct bpf_map_batch_opts *opts)
{
	__typeof__(bpf_map_lookup_batch) *own =
		(__typeof__(own))dlsym(RTLD_NEXT, "bpf_map_lookup_batch");

	if (!every || is_over() || ++count % every)
		return own(fd, in_batch, out_batch, keys, values, entries, opts);
	errno = ENOMEM;
	return -ENOMEM;
}

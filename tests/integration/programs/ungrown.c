// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into gpuprobe: from its first reading of a BPF map on, the first UNGROWN_TIMES
 * reallocations to exactly UNGROWN_BYTES fail. The programs that gpuprobe starts do not inherit any
 * of it.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

void *__libc_realloc(void *old, size_t size);

static size_t bytes;
static atomic_long times;
static atomic_bool reads;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("UNGROWN_BYTES");

	bytes = text ? strtoul(text, NULL, 10) : 0;
	text = getenv("UNGROWN_TIMES");
	times = text ? strtol(text, NULL, 10) : 0;
	unsetenv("LD_PRELOAD");
	unsetenv("UNGROWN_BYTES");
	unsetenv("UNGROWN_TIMES");
}

int bpf_map_lookup_batch(int fd, void *in_batch, void *out_batch, void *keys, void *values,
			 __u32 *entries, const struct bpf_map_batch_opts *opts)
{
	__typeof__(bpf_map_lookup_batch) *own =
		(__typeof__(own))dlsym(RTLD_NEXT, "bpf_map_lookup_batch");

	reads = true;
	return own(fd, in_batch, out_batch, keys, values, entries, opts);
}

void *realloc(void *old, size_t size)
{
	if (!reads || size != bytes || atomic_fetch_sub(&times, 1) <= 0)
		return __libc_realloc(old, size);
	errno = ENOMEM;
	return NULL;
}

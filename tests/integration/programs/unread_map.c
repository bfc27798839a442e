// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into gpuprobe: of its readings of BPF maps, one in UNREAD_EVERY breaks off for want of memory, UNREAD_TIMES
 * at most. The programs that gpuprobe starts do not inherit any of it.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

static unsigned long every, times = -1ul, count;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("UNREAD_EVERY");

	every = text ? strtoul(text, NULL, 10) : 0;
	text = getenv("UNREAD_TIMES");
	if (text)
		times = strtoul(text, NULL, 10);
	unsetenv("LD_PRELOAD");
	unsetenv("UNREAD_EVERY");
	unsetenv("UNREAD_TIMES");
}

int bpf_map_lookup_batch(int fd, void *in_batch, void *out_batch, void *keys, void *values, __u32 *entries,
			 const struct bpf_map_batch_opts *opts)
{
	__typeof__(bpf_map_lookup_batch) *own = (__typeof__(own))dlsym(RTLD_NEXT, "bpf_map_lookup_batch");

	if (!every || !times || ++count % every)
		return own(fd, in_batch, out_batch, keys, values, entries, opts);
	times--;
	errno = ENOMEM;
	return -ENOMEM;
}

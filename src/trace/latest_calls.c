// SPDX-License-Identifier: BSD-2-Clause
// Reads the latest calls of threads; see latest_calls.h.
#include "trace/latest_calls.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "gen/trace.skel.h"

#define READ_AT_ONCE 1024

/*
 * Reads as much as the kernel returns at once, in whole elements. Returns 1, 0 at the end, or a
 * negative errno.
 */
static int read_some(struct latest_calls *latest, int fd)
{
	ssize_t n;

	if (ARRAY_RESERVE(latest->list, latest->count, READ_AT_ONCE))
		return -ENOMEM;
	n = read(fd, latest->list + latest->count, READ_AT_ONCE * sizeof(*latest->list));
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	latest->count += (size_t)n / sizeof(*latest->list);
	return n > 0;
}

int latest_calls__read(struct latest_calls *latest, struct trace_bpf *skeleton)
{
	struct bpf_link *link = bpf_program__attach_iter(skeleton->progs.latest_calls, NULL);
	int fd, ret;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	ret = fd < 0 ? -errno : 1;
	while (ret > 0)
		ret = read_some(latest, fd);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return ret;
}

void latest_calls__clear(struct latest_calls *latest)
{
	free(latest->list);
	*latest = (struct latest_calls){0};
}

uint64_t latest_calls__of(const struct latest_calls *latest, pid_t tid)
{
	for (size_t i = 0; i < latest->count; i++)
		if (latest->list[i].tid == tid)
			return latest->list[i].start_ns;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
// Samples threads, see host_watch.h.
#include "probe/host_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "gpuprobe/host.h"
#include "gpuprobe/state.h"
#include "gen/gpuprobe.skel.h"

struct sampled_thread {
	pid_t tid; /* 0: the place is free */
	uint64_t start_ns;
	struct bpf_link *link; /* has the event */
};

struct host_watch {
	struct gpuprobe_bpf *skeleton;
	struct bpf_link *switches, *wakes;
	struct sampled_thread threads[HOST_THREADS];
};

static void release(struct sampled_thread *thread)
{
	bpf_link__destroy(thread->link);
	*thread = (struct sampled_thread){0};
}

void host_watch__free(struct host_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < HOST_THREADS; i++)
		release(&watch->threads[i]);
	bpf_link__destroy(watch->switches);
	bpf_link__destroy(watch->wakes);
	free(watch);
}

int host_watch__new(struct gpuprobe_bpf *skeleton, struct host_watch **out, struct error *err)
{
	struct host_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return error__set(err, -ENOMEM, "out of memory");
	watch->skeleton = skeleton;
	skeleton->bss->host_period_ns = NS_PER_S / HOST_RATE_HZ;
	watch->switches = bpf_program__attach(skeleton->progs.host_switch);
	if (watch->switches)
		watch->wakes = bpf_program__attach(skeleton->progs.host_waking);
	if (!watch->wakes) {
		int ret = -errno;

		host_watch__free(watch);
		return error__set(err, ret, "cannot follow what the scheduler does: %s", strerror(-ret));
	}
	*out = watch;
	return 0;
}

static struct sampled_thread *find(struct host_watch *watch, pid_t tid, uint64_t start_ns)
{
	for (size_t i = 0; i < HOST_THREADS; i++)
		if (watch->threads[i].tid == tid && watch->threads[i].start_ns == start_ns)
			return &watch->threads[i];
	return NULL;
}

/* A descriptor or a negative errno. */
static int open_clock(pid_t tid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NS_PER_S / HOST_RATE_HZ,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int host_watch__add(struct host_watch *watch, pid_t tid, uint64_t start_ns)
{
	struct sampled_thread *thread = find(watch, tid, start_ns);
	int fd;

	if (thread)
		return 0;
	thread = find(watch, 0, 0);
	if (!thread)
		return -ENOSPC;
	fd = open_clock(tid);
	if (fd < 0)
		return fd;
	thread->link = bpf_program__attach_perf_event(watch->skeleton->progs.sample_thread, fd);
	if (!thread->link) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	thread->tid = tid;
	thread->start_ns = start_ns;
	return 0;
}

#define HOLDER_LEAST_TIMES 10 /* fewer are by chance */

int host_watch__add_holders(struct host_watch *watch)
{
	int fd = bpf_map__fd(watch->skeleton->maps.host_holders), ret = 0;
	struct host_holder holder;
	uint32_t key, *before = NULL;

	/* What comes and goes meanwhile is met the next time. */
	for (int i = 0; i < HOST_HOLDERS && !bpf_map_get_next_key(fd, before, &key); i++) {
		before = &key;
		if (bpf_map_lookup_elem(fd, &key, &holder) || holder.times < HOLDER_LEAST_TIMES || !holder.tid)
			continue;
		ret = host_watch__add(watch, holder.tid, holder.start_ns);
		if (ret == -ESRCH) {
			bpf_map_delete_elem(fd, &key);
			ret = 0;
		}
	}
	return ret;
}

void host_watch__remove(struct host_watch *watch, pid_t tid, uint64_t start_ns)
{
	struct sampled_thread *thread = find(watch, tid, start_ns);

	if (thread)
		release(thread);
}

// SPDX-License-Identifier: BSD-2-Clause
// Loads the BPF object that follows threads; see host_object.h.
#include "probe/host_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "gen/gpuprobe.skel.h"
#include "gen/host.skel.h"
#include "gpuprobe/thread_counts.h"
#include "probe/cpu_samples.h"
#include "probe/tracepoints.h"

#define COPIED_BYTES 4096
#define TRIAL_RATE 99 /* samples per second */

struct shared_map {
	struct bpf_map *own;
	const struct bpf_map *monitors;
};

/* Shared maps must have the monitor's sizes. The stack maps only exist if stacks are captured. */
static int share_maps(struct host_bpf *host, const struct gpuprobe_bpf *monitor)
{
	const struct shared_map maps[] = {
		{host->maps.threads, monitor->maps.threads},
		{host->maps.thread_accounts, monitor->maps.thread_accounts},
		{host->maps.losses, monitor->maps.losses},
		{host->maps.python_targets, monitor->maps.python_targets},
		{host->maps.code_maps, monitor->maps.code_maps},
		{host->maps.code_changes, monitor->maps.code_changes},
		{host->maps.stack_ring, monitor->maps.stack_ring},
		{host->maps.stacks_told, monitor->maps.stacks_told},
		{host->maps.whole_chains, monitor->maps.whole_chains},
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		int fd = bpf_map__fd(maps[i].monitors);

		if (fd < 0)
			bpf_map__set_autocreate(maps[i].own, false);
		else if (bpf_map__reuse_fd(maps[i].own, fd))
			return -errno;
	}
	return 0;
}

/*
 * A waiting thread is in libc, which frame pointers skip together with its caller. So the innermost
 * part of native stacks is copied.
 */
static void choose_stacks(struct host_bpf *host, bool takes)
{
	host->rodata->config.stack_mode = takes ? STACK_DWARF : STACK_OFF;
	host->rodata->config.stack_bytes = COPIED_BYTES;
	host->rodata->config.copies_native = true;
}

/* The configuration decides which scratch map is used; no program here refers to the other ones. */
static void leave_out_maps(struct host_bpf *host)
{
	struct bpf_map *unused[] = {host->maps.ring, host->maps.watched, host->maps.sites};
	uint8_t mode = host->rodata->config.stack_mode;

	for (size_t i = 0; i < sizeof(unused) / sizeof(*unused); i++)
		bpf_map__set_autocreate(unused[i], false);
	bpf_map__set_autocreate(host->maps.stack_scratches, mode == STACK_FP);
	bpf_map__set_autocreate(host->maps.stack_copy_scratches, mode > STACK_FP);
}

static int refuse(int code, struct error *err)
{
	return error__set(err, code,
			  "the kernel refused the programs that follow threads: %s; they need "
			  "Linux 6.1, its tracepoints "
			  "sched_switch and sched_waking with BTF, CAP_BPF and CAP_PERFMON",
			  strerror(-code));
}

int host_object__load(const struct gpuprobe_bpf *monitor, struct host_bpf **skeleton,
		      struct error *err)
{
	struct host_bpf *host = host_bpf__open();
	int ret;

	if (!host)
		return refuse(-errno, err);
	memcpy((void *)&host->rodata->config, (const void *)&monitor->rodata->config,
	       sizeof(host->rodata->config));
	choose_stacks(host, monitor->rodata->config.stack_mode != STACK_OFF);
	leave_out_maps(host);
	ret = share_maps(host, monitor);
	if (!ret)
		ret = host_bpf__load(host);
	if (ret) {
		host_bpf__destroy(host);
		return refuse(ret, err);
	}
	*skeleton = host;
	return 0;
}

int host_object__attach(struct host_bpf *host, struct error *err)
{
	const struct tracepoint points[] = {
		{host->progs.host_switch, &host->links.host_switch, "sched_switch"},
		{host->progs.host_waking, &host->links.host_waking, "sched_waking"},
	};

	return tracepoints__attach(points, sizeof(points) / sizeof(*points), err);
}

static int try_samples(const struct host_bpf *host, struct error *err)
{
	struct cpu_samples *samples;
	int ret = cpu_samples__new(host->progs.host_sample, TRIAL_RATE, &samples, err);

	if (!ret)
		cpu_samples__free(samples);
	return ret;
}

int host_object__try(struct error *err)
{
	struct host_bpf *host = host_bpf__open();
	int ret;

	if (!host)
		return refuse(-errno, err);
	choose_stacks(host, true);
	leave_out_maps(host);
	bpf_map__set_max_entries(host->maps.thread_accounts, THREAD_COUNTER_SLOTS);
	ret = host_bpf__load(host);
	ret = ret ? refuse(ret, err) : host_object__attach(host, err);
	if (!ret)
		ret = try_samples(host, err);
	host_bpf__destroy(host);
	return ret;
}

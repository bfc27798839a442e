// SPDX-License-Identifier: BSD-2-Clause
// Samples CPUs; see cpu_samples.h.
#include "probe/cpu_samples.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

struct cpu_samples {
	struct bpf_link **links; /* NULL for a CPU that is offline */
	int count;
};

static int open_event(int cpu, unsigned int rate)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NS_PER_S / rate,
		.exclude_idle = true,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The link owns the event and closes it. */
static struct bpf_link *attach(const struct bpf_program *program, int cpu, unsigned int rate)
{
	int fd = open_event(cpu, rate), code;
	struct bpf_link *link = fd < 0 ? NULL : bpf_program__attach_perf_event(program, fd);

	if (fd >= 0 && !link) {
		code = errno;
		close(fd);
		errno = code;
	}
	return link;
}

int cpu_samples__new(const struct bpf_program *program, unsigned int rate, struct cpu_samples **out,
		     struct error *err)
{
	struct cpu_samples *samples = calloc(1, sizeof(*samples));
	int cpus = libbpf_num_possible_cpus(), made = 0, code = -ENODEV;

	if (samples && cpus > 0)
		samples->links = calloc((size_t)cpus, sizeof(struct bpf_link *));
	if (!samples || !samples->links) {
		cpu_samples__free(samples);
		return error__set(err, -ENOMEM, "out of memory");
	}
	samples->count = cpus;
	for (int cpu = 0; cpu < cpus; cpu++) {
		samples->links[cpu] = attach(program, cpu, rate);
		made += samples->links[cpu] != NULL;
		/* ENODEV: the CPU is offline. */
		if (!samples->links[cpu] && errno != ENODEV)
			code = -errno;
	}
	if (made) {
		*out = samples;
		return 0;
	}
	cpu_samples__free(samples);
	return error__set(err, code, "threads cannot be sampled by perf events: %s",
			  strerror(-code));
}

void cpu_samples__free(struct cpu_samples *samples)
{
	if (!samples)
		return;
	for (int cpu = 0; cpu < samples->count; cpu++)
		bpf_link__destroy(samples->links[cpu]);
	free(samples->links);
	free(samples);
}

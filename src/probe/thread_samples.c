// SPDX-License-Identifier: BSD-2-Clause
// Samples threads, see thread_samples.h.
#include "probe/thread_samples.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

struct bpf_link *thread_samples__attach(const struct bpf_program *program, pid_t tid, unsigned int rate)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NS_PER_S / rate,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event(program, fd);
	if (!link) {
		int code = errno;

		close(fd);
		errno = code;
	}
	return link; /* it closes the event */
}

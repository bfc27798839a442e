// SPDX-License-Identifier: BSD-2-Clause
// Follows the threads of a live model, see live_host.h.
#include "cli/session/live_host.h"

#include <event2/event.h>

#include "base/clock.h"
#include "collect/collector.h"
#include "host/watch.h"

static void see_followed(pid_t pid, void *arg)
{
	const struct live_host *host = arg;

	collector__see_process(host->collector, pid);
}

/* Returns NULL if no reading has found the process yet. */
static const struct process *find_process(const struct live_host *host, pid_t pid,
					  uint64_t start_ns)
{
	const struct model *model = collector__model(host->collector);

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		if (process->pid == pid && host__is_same_start(process->start_ns, start_ns))
			return process;
	}
	return NULL;
}

/* A process that no reading has found yet may have been seen from its start. */
static bool is_seen_from_start(pid_t pid, uint64_t start_ns, void *arg)
{
	const struct process *process = find_process(arg, pid, start_ns);

	return !process || !process->since_attach;
}

static bool report_steady(pid_t pid, uint64_t start_ns, struct steady_marks *marks, void *arg)
{
	const struct live_host *host = arg;
	const struct process *process = find_process(host, pid, start_ns);

	if (process)
		steady__marks(process, collector__model(host->collector)->now_ns, marks);
	return process;
}

void live_host__begin(struct live_host *host, unsigned int rate,
		      const struct gpuprobe_bpf *skeleton, struct collector *collector,
		      const struct log *log)
{
	const struct host_watch_options options = {
		.rate = rate,
		.stacks = collector__stacks(collector),
		.see_process = see_followed,
		.is_seen_from_start = is_seen_from_start,
		.steady = report_steady,
		.arg = host,
	};

	*host = (struct live_host){.collector = collector, .rate = rate};
	if (!rate || !host_watch__new(skeleton, &options, &host->watch, &host->lack))
		return;
	log__warn(log, "cannot follow threads between CUDA calls, so no reasons are given: %s",
		  host->lack.text);
	host->unfollowed = (struct host_side){.lack = host->lack.text};
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	const struct live_host *host = arg;

	(void)fd;
	(void)what;
	host_watch__look(host->watch);
}

int live_host__start(struct live_host *host, struct event_base *loop)
{
	const struct timeval period = clock__timeval((double)WATCH_PERIOD_NS / NS_PER_S);

	if (!host->watch)
		return 0;
	host->look = event_new(loop, -1, EV_PERSIST, on_look, host);
	return host->look ? event_add(host->look, &period) : -1;
}

void live_host__look(struct live_host *host)
{
	if (host->watch)
		host_watch__look(host->watch);
}

void live_host__refresh(struct live_host *host)
{
	struct model *model = collector__model(host->collector);

	if (host->watch)
		model->host = host_watch__report(host->watch, model->final);
	else if (host->rate)
		model->host = &host->unfollowed;
	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		process->host = host_side__find(model->host, process->pid, process->start_ns);
	}
}

void live_host__end(struct live_host *host)
{
	if (host->look)
		event_free(host->look);
	host_watch__free(host->watch);
}

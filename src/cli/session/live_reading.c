// SPDX-License-Identifier: BSD-2-Clause
// Readings of what is counted, and the model that they fill; see live_model.h.
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/clock.h"
#include "cli/session/left_out.h"
#include "cli/session/gpu_times_watch.h"
#include "cli/session/nvtx_watch.h"
#include "cli/session/live_private.h"
#include "cli/session/overhead.h"
#include "cli/session/shortages.h"
#include "cli/session/target_pids.h"
#include "cli/session/tensor_watch.h"
#include "collect/collector.h"
#include "probe/attacher.h"
#include "serve/pages.h"
#include "stack/stacks.h"

void live_model__warn_unread(const struct live_model *live, int ret)
{
	if (ret)
		log__warn(live->log, "cannot read all of the BPF maps: %s", strerror(-ret));
}

struct session *live_model__session(const struct live_model *live)
{
	return live->session;
}

const struct tensor_trace *live_model__tensor_trace(struct live_model *live)
{
	return live->tensor_watch ? tensor_watch__trace(live->tensor_watch) : NULL;
}

const struct gpu_times *live_model__gpu_times(const struct live_model *live)
{
	return live->gpu_times ? gpu_times_watch__times(live->gpu_times) : NULL;
}

const struct nvtx_ranges *live_model__nvtx_ranges(const struct live_model *live)
{
	return live->nvtx ? nvtx_watch__ranges(live->nvtx, live_model__gpu_times(live)) : NULL;
}

const struct stack *live_model__stack(void *live, uint64_t id)
{
	struct stacks *stacks = collector__stacks(((struct live_model *)live)->collector);

	return stacks && id ? stacks__find(stacks, id) : NULL;
}

uint64_t live_model__counts_since(const struct live_model *live)
{
	return live->counts_since_ns;
}

struct model *live_model__model(const struct live_model *live)
{
	return collector__model(live->collector);
}

/* Fills in the paths of driver libraries that call other driver libraries. */
static void name_shims(struct live_model *live)
{
	struct model *model = collector__model(live->collector);

	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		if (process->shim_number && !process->shim)
			process->shim = session__driver_path(live->session, process->shim_number);
		if (process->shim_number && !process->driver)
			process->driver =
				session__driver_path(live->session, process->driver_number);
	}
}

static void refresh_counts(struct live_model *live)
{
	struct model *model = collector__model(live->collector);
	struct attacher_counts counts;
	size_t count;
	struct process *processes = collector__processes(live->collector, &count);

	session__count(live->session, &counts);
	memcpy(model->probes_attached, counts.sites, sizeof(model->probes_attached));
	model->sites_missing = counts.missing;
	model->libraries = counts.libraries;
	/* A copy: the attacher's counts are gone when the last report is made. */
	memcpy(live->slow, counts.slow, api_function_count * sizeof(*live->slow));
	model->slow = live->slow;
	model->lost[LOSS_LIBRARY_SKIPPED] = counts.skipped;
	target_pids__see_calls(session__target_processes(live->session), processes, count);
	session__look_at_silent(live->session, model->final);
	name_shims(live);
	model->gpu_times = live_model__gpu_times(live);
	model->targets = *session__target_processes(live->session);
	if (live->overhead)
		overhead__report(live->overhead, &model->sampling);
}

bool live_model__gathers(const struct live_model *live)
{
	return collector__gathers(live->collector);
}

bool live_model__gather(struct live_model *live)
{
	return collector__gather(live->collector) > 0;
}

bool live_model__is_recent(const struct live_model *live)
{
	return clock__boot_ns() < live->recent_until_ns;
}

int live_model__update(struct live_model *live, bool with_lists)
{
	uint64_t began_ns = clock__thread_ns();
	int ret;

	session__look_at_earlier(live->session, live->collector);
	ret = collector__update(live->collector, with_lists);
	if (with_lists && live->shortages)
		shortages__sample(live->shortages);
	live_model__warn_unread(live, ret);
	refresh_counts(live);
	live_host__refresh(&live->host);
	if (live->nccl)
		live_nccl__refresh(live->nccl, collector__model(live->collector));
	if (live->options.needs & NEEDS_ASKS && !live->asks_stay)
		ask_probes__look(&live->asks, collector__model(live->collector),
				 live_model__watch_asks, live);
	live->recent_until_ns =
		ret ? 0 : clock__boot_ns() + pages__reuse_ns(clock__thread_ns() - began_ns);
	return ret;
}

void live_model__finish(struct live_model *live)
{
	collector__consume(live->collector);
	session__settle(live->session);
	collector__model(live->collector)->final = true;
	session__look_at_earlier(live->session, live->collector);
	live_host__look(&live->host);
	live_model__warn_unread(live, collector__reap(live->collector, true));
	refresh_counts(live);
	live_host__refresh(&live->host);
	if (live->nccl)
		live_nccl__refresh(live->nccl, collector__model(live->collector));
	if (live->shortages)
		shortages__finish(live->shortages);
	left_out__report(&live->filter, collector__filtered(live->collector), live->log);
}

const struct process_filter *live_model__filter(const struct live_model *live)
{
	return &live->filter;
}

struct attribution *live_model__attribution(const struct live_model *live)
{
	return collector__attribution(live->collector);
}

const struct filtered_processes *live_model__filtered(const struct live_model *live)
{
	return collector__filtered(live->collector);
}

void live_model__expect_reports(struct live_model *live)
{
	collector__expect_reports(live->collector);
}

void live_model__reported(struct live_model *live)
{
	collector__reported(live->collector);
}

void live_model__paged(struct live_model *live)
{
	collector__paged(live->collector);
}

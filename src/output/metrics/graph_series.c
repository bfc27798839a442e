// SPDX-License-Identifier: BSD-2-Clause
// Graph launches by what they run, captured launches, host functions, first launches, see series.h.
#include "output/metrics/series.h"

static const struct metric_family graph_launches = {
	"gpuprobe_graph_launches",
	METRIC_COUNTER,
	"Graph launch calls.",
};
static const struct metric_family graph_kernels = {
	"gpuprobe_graph_kernels",
	METRIC_COUNTER,
	"Kernels executed by launches of graphs that were captured or built while watched.",
};
static const struct metric_family unsized = {
	"gpuprobe_graph_launches_unsized",
	METRIC_COUNTER,
	"Graph launches that executed an unknown number of kernels.",
};
static const struct metric_family captured = {
	"gpuprobe_captured_launches",
	METRIC_COUNTER,
	"Kernel launch calls that were put into a graph, not executed.",
};
static const struct metric_family host_functions = {
	"gpuprobe_host_functions",
	METRIC_COUNTER,
	"Host functions put on streams.",
};
static const struct metric_family first_launches = {
	"gpuprobe_first_launches",
	METRIC_COUNTER,
	"First launches of kernels that succeeded.",
};
static const struct metric_family first_seconds = {
	"gpuprobe_first_launch_seconds",
	METRIC_COUNTER,
	"Time inside the first launch of each kernel, which may load it, in seconds.",
};

static uint64_t value_of(const struct metric_family *family, const struct process *p)
{
	if (family == &graph_launches)
		return p->graph_launches;
	if (family == &graph_kernels)
		return p->graph_kernels;
	if (family == &unsized)
		return p->graph_launches_of_unknown_size;
	if (family == &captured)
		return p->captured_launches;
	if (family == &host_functions)
		return p->host_functions;
	return p->first_launches.calls;
}

static void write_counter(struct metrics_page *page, const struct metric_family *family)
{
	struct exposition_writer *w = &page->writer;
	size_t i;

	exposition__family(w, family);
	for (i = 0; i < page->process_count; i++) {
		metrics_page__sample(w, page->processes[i]);
		exposition__u64(w, value_of(family, page->processes[i]));
	}
}

static void write_seconds(struct metrics_page *page)
{
	struct exposition_writer *w = &page->writer;
	size_t i;

	exposition__family(w, &first_seconds);
	for (i = 0; i < page->process_count; i++) {
		metrics_page__sample(w, page->processes[i]);
		exposition__seconds(w, page->processes[i]->first_launches.ns);
	}
}

void graph_series__write(struct metrics_page *page)
{
	write_counter(page, &graph_launches);
	write_counter(page, &graph_kernels);
	write_counter(page, &unsized);
	write_counter(page, &captured);
	write_counter(page, &host_functions);
	/* Without returns of launches no time is known. */
	if (!page->model->launch_sample)
		return;
	write_counter(page, &first_launches);
	write_seconds(page);
}

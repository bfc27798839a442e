// SPDX-License-Identifier: BSD-2-Clause
// Graph launches by size, captured launches, host functions, first launches, see series.h.
#include "output/metrics/series.h"

static const struct metric metrics[] = {
	{{"gpuprobe_graph_launches", METRIC_COUNTER, "Graph launch calls."},
	 METRIC_TOTAL(graph_launches)},
	{{"gpuprobe_graph_kernels", METRIC_COUNTER,
	  "Kernels executed by launches of graphs that were captured or built while watched."},
	 METRIC_TOTAL(graph_kernels)},
	{{"gpuprobe_graph_launches_unsized", METRIC_COUNTER,
	  "Graph launches that executed an unknown number of kernels."},
	 METRIC_TOTAL(graph_launches_of_unknown_size)},
	{{"gpuprobe_captured_launches", METRIC_COUNTER,
	  "Kernel launch calls that were put into a graph, not executed."},
	 METRIC_TOTAL(captured_launches)},
	{{"gpuprobe_host_functions", METRIC_COUNTER, "Host functions put on streams."},
	 METRIC_TOTAL(host_functions)},
};

/* Known only if returns of launches are probed. */
static const struct metric metrics_of_returns[] = {
	{{"gpuprobe_first_launches", METRIC_COUNTER, "First launches of kernels that succeeded."},
	 METRIC_TOTAL(first_launches.calls)},
	{{"gpuprobe_first_launch_seconds", METRIC_COUNTER,
	  "Time inside the first launch of each kernel, which may load it, in seconds."},
	 METRIC_TOTAL(first_launches.ns)},
};

void graph_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
	if (page->model->launch_sample)
		metrics_page__write(page, metrics_of_returns, METRIC_COUNT(metrics_of_returns));
}

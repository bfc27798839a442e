// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs that are captured or built, instantiated, launched a few times and created anew. Graphs
 * all created before they are launched are fine, so only times count in which graphs are both
 * created and launched.
 */
#include <errno.h>

#include "base/quantity.h"
#include "finding/history.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "api/api.h"

#define LEAST_GRAPHS 0
#define MOST_LAUNCHES 1
#define LEAST_SHARE 2

static const char assumption[] = "one graph is captured and instantiated, and launched each time";

struct graph_work {
	uint64_t captures, instantiations, updates;
	uint64_t capture_ns, instantiation_ns, destroy_ns;
};

static void add_capture(struct graph_work *work, const struct function_totals *function)
{
	if (function->kind != CAPTURE_BEGIN && function->kind != CAPTURE_BEGIN_TO &&
	    function->kind != CAPTURE_END && function->kind != CAPTURE_END_TO)
		return;
	work->capture_ns += function->ns;
	if (function->kind == CAPTURE_END || function->kind == CAPTURE_END_TO)
		work->captures += function->calls;
}

static void add_change(struct graph_work *work, const struct function_totals *function,
		       uint8_t change)
{
	switch (change) {
	case GRAPH_INSTANTIATE:
		work->instantiations += function->calls;
		work->instantiation_ns += function->ns;
		break;
	case GRAPH_UPDATE: work->updates += function->calls; break;
	case GRAPH_DESTROY:
	case GRAPH_DESTROY_EXEC: work->destroy_ns += function->ns; break;
	}
}

static void sum_up(const struct process *process, struct graph_work *work)
{
	*work = (struct graph_work){0};
	for (size_t i = 0; i < process->function_count; i++) {
		const struct function_totals *function = &process->functions[i];
		const struct function_desc *desc;

		if (function->row >= api_function_count || function->flags & TALLY_REPLACED)
			continue;
		desc = &api_functions[function->row].desc;
		if (desc->operation == OP_CAPTURE)
			add_capture(work, function);
		else if (desc->operation == OP_GRAPH)
			add_change(work, function, desc->kind);
	}
}

static int add(const struct finding_input *input, const struct process *process,
	       const struct graph_work *work, uint64_t cost_ns, struct finding_list *out)
{
	struct finding *finding = finding_list__add(out, input, process);
	double launches = (double)process->graph_launches / (double)work->instantiations;

	if (!finding)
		return -ENOMEM;
	finding__cost(finding, cost_ns, site_lookup__watched_ns(input, process));
	finding__saving(finding,
			(uint64_t)((double)cost_ns * (1 - 1 / (double)work->instantiations)),
			assumption);
	finding__number(finding, "instantiations", (double)work->instantiations, UNIT_COUNT);
	finding__number(finding, "captures", (double)work->captures, UNIT_COUNT);
	finding__number(finding, "updates", (double)work->updates, UNIT_COUNT);
	finding__number(finding, "graph_launches", (double)process->graph_launches, UNIT_COUNT);
	finding__number(finding, "launches_of_each", launches, UNIT_RATIO);
	finding__number(finding, "capture_time", (double)work->capture_ns, UNIT_NS);
	finding__number(finding, "instantiation_time", (double)work->instantiation_ns, UNIT_NS);
	finding__number(finding, "destroy_time", (double)work->destroy_ns, UNIT_NS);
	return finding__evidence(
		finding,
		"%s executable graphs were instantiated (%s each) and %s streams captured, for %s "
		"graph launches: %s of "
		"each graph; captures took %s, instantiations %s, destroying graphs %s: %s of the "
		"time",
		quantity__amount((double)work->instantiations).text,
		quantity__time((double)work->instantiation_ns / (double)work->instantiations).text,
		quantity__amount((double)work->captures).text,
		quantity__amount((double)process->graph_launches).text,
		quantity__ratio(launches).text, quantity__time((double)work->capture_ns).text,
		quantity__time((double)work->instantiation_ns).text,
		quantity__time((double)work->destroy_ns).text,
		quantity__share(finding->share).text);
}

static int detect(const struct finding_input *input, const struct process *process,
		  struct finding_list *out)
{
	const struct finding_history *history = findings__history(input->state);
	uint64_t cost_ns;
	struct graph_work work;

	sum_up(process, &work);
	if (!work.instantiations ||
	    (double)graph_history__made_between(history->graphs, process) <
		    input->thresholds[LEAST_GRAPHS] ||
	    (double)process->graph_launches >
		    input->thresholds[MOST_LAUNCHES] * (double)work.instantiations)
		return 0;
	cost_ns = work.capture_ns + work.instantiation_ns + work.destroy_ns;
	if ((double)cost_ns <
	    input->thresholds[LEAST_SHARE] * (double)site_lookup__watched_ns(input, process))
		return 0;
	return add(input, process, &work, cost_ns, out);
}

const struct finding_kind graph_recapture_kind = {
	.id = "graph-recapture",
	.severity = SEVERITY_WARNING,
	.every = EVERY_LAUNCH,
	.title = "graphs are made again and again instead of launched again",
	.advice = "Capture and instantiate once, and launch the executable graph each time. Put "
		  "values that change between launches into buffers at fixed addresses that are "
		  "filled before the launch, or set them with cudaGraphExecKernelNodeSetParams(). "
		  "If most nodes get new arguments, capture again and call cudaGraphExecUpdate(), "
		  "which costs a fraction of an instantiation. If shapes vary, keep an executable "
		  "graph for each of a few sizes and pad to the next one. In PyTorch make the "
		  "torch.cuda.CUDAGraph once and call replay(), after copying the inputs into its "
		  "static tensors; with torch.compile(mode=\"reduce-overhead\") mark what varies "
		  "as dynamic, or the graph is captured again for each shape. If a graph is only "
		  "launched a few times, launch its kernels without one.",
	.cost = "captures, instantiations and destroys of graphs",
	.thresholds =
		{
			{"graphs", 10, UNIT_COUNT,
			 "minimum instantiations while graphs are launched"},
			{"launches", 4, UNIT_RATIO, "maximum mean launches of a graph"},
			{"share", 0.01, UNIT_SHARE, "minimum share of the watched time"},
		},
	.detect = detect,
};

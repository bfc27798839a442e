// SPDX-License-Identifier: BSD-2-Clause
// The limits of a flame graph, one a line, see forms.h.
#include <inttypes.h>

#include "base/quantity.h"
#include "output/flame/forms.h"
#include "output/flame/parts.h"
#include "output/report/line.h"
#include "output/enum_names.h"

static void note_nothing(FILE *out, const struct flame_graph *graph, const struct model *model)
{
	static const char *const words[FLAME_BYS] = {
		[FLAME_BYTES] = "no allocation of device memory was seen",
		[FLAME_LIVE_BYTES] = "no live device memory at the end",
		[FLAME_LAUNCHES] = "no kernel launch was seen",
		[FLAME_FAILURES] = "no failure was seen",
		[FLAME_GPU_TIME] = "no work of a GPU was seen",
		[FLAME_TENSOR_BYTES] = "no tensor was seen",
		[FLAME_LIVE_TENSOR_BYTES] = "no live tensor at the end",
	};

	if (graph->root->total)
		return;
	if (!model->process_count && report_line__no_call(out, model)) {
		fputs("nothing was seen", out);
	} else if (!model->process_count) {
		fputs("no CUDA process was seen", out);
	} else if (graph->by == FLAME_WAIT_TIME) {
		fputs("no wait of ", out);
		flame_text__amount(out, graph, FLAME_WAIT_TIME, model->min_wait_ns);
		fputs(" or more was seen", out);
	} else {
		fputs(words[graph->by], out);
	}
	fputs(": the graph is empty\n", out);
}

/* Processes older than the probes: their earlier calls are unknown. */
static void note_attached(FILE *out, const struct model *model)
{
	size_t late = 0;

	for (size_t i = 0; i < model->process_count; i++)
		late += model->processes[i].since_attach;
	if (late)
		fprintf(out, "%zu of %zu process%s since attach: earlier calls are missing\n", late,
			model->process_count, model->process_count == 1 ? "" : "es");
}

static void add_waits(struct wait_totals *sum, const struct wait_totals *waits)
{
	sum->calls += waits->calls;
	sum->ns += waits->ns - waits->beside_ns;
}

/* Sums all waits that can have a site: see is_blocking() of bpf/stack/take_stack.bpf.h. */
static void sum_waits(const struct process *process, struct wait_totals *sum)
{
	for (int scope = 0; scope < WAIT_SCOPES; scope++)
		add_waits(sum, &process->waits[scope]);
	add_waits(sum, &process->copy_waits);
	add_waits(sum, &process->free_waits);
}

static void note_short_waits(FILE *out, const struct flame_graph *graph, const struct model *model)
{
	struct wait_totals all = {0}, shown = {0};

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		sum_waits(process, &all);
		for (size_t n = 0; n < process->site_count; n++)
			if (process->sites[n].kind == SITE_WAIT)
				add_waits(&shown,
					  &(struct wait_totals){.calls = process->sites[n].calls,
								.ns = process->sites[n].amount});
	}
	if (!model->min_wait_ns || all.calls <= shown.calls)
		return;
	fputs("waits shorter than ", out);
	flame_text__amount(out, graph, FLAME_WAIT_TIME, model->min_wait_ns);
	fprintf(out, " not shown: %s, together ",
		quantity__amount_as(graph->amounts, all.calls - shown.calls).text);
	flame_text__amount(out, graph, FLAME_WAIT_TIME, all.ns > shown.ns ? all.ns - shown.ns : 0);
	fputc('\n', out);
}

static void note_samples(FILE *out, const struct flame_graph *graph, const struct model *model)
{
	if (graph->by == FLAME_LAUNCHES && graph->root->total && model->stack_sample > 1)
		fprintf(out,
			"stacks are those of a kernel's first launch by a call and of one in %u "
			"after it, and stand "
			"for the launches between: --stack-sample 1 takes all\n",
			model->stack_sample);
	if (graph->by == FLAME_FAILURES && model->launch_sample > 1)
		fprintf(out, "launches: the result of one in %u was checked\n",
			model->launch_sample);
	if (graph->by == FLAME_FAILURES && !model->launch_sample)
		fputs("launches: results were not checked\n", out);
}

static void note_unknown(FILE *out, const struct flame_graph *graph)
{
	if (!graph->unknown)
		return;
	fputs("stack not known: ", out);
	flame_text__amount(out, graph, graph->by, graph->unknown);
	fputs(", ", out);
	flame_text__share(out, graph->unknown, graph->root->total);
	fputc('\n', out);
}

int flame_notes__print(FILE *out, const struct flame_graph *graph, const struct model *model)
{
	note_nothing(out, graph, model);
	if (model->process_count)
		report_line__no_call(out, model);
	note_attached(out, model);
	if (graph->by == FLAME_WAIT_TIME)
		note_short_waits(out, graph, model);
	if (graph->by == FLAME_GPU_TIME)
		flame_gpu_time__print_notes(out, model);
	note_samples(out, graph, model);
	note_unknown(out, graph);
	if (graph->unknown && model->stacks_evicted)
		fprintf(out, "%" PRIu64 " stacks are no longer known: see --stack-storage-size\n",
			model->stacks_evicted);
	for (int loss = 0; loss < LOSS_COUNT; loss++)
		if (model->lost[loss])
			fprintf(out, "lost: %s: %" PRIu64 "\n", enum_names__loss_text(loss),
				model->lost[loss]);
	return 0;
}

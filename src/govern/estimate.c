// SPDX-License-Identifier: BSD-2-Clause
// Distributes missed calls among those that were seen, see estimate.h.
#include "govern/estimate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "govern/estimate_counters.h"
#include "collect/graphs.h"
#include "collect/tally.h"
#include "api/api.h"
#include "model/kernels.h"

#define RATIO_FADE (15.0 / 16) /* how fast the ratio of counted calls is forgotten, per reading */

struct estimates *estimates__new(const struct estimate_source *source, uint32_t max_processes)
{
	struct estimates *estimates = calloc(1, sizeof(*estimates));

	if (!estimates)
		return NULL;
	estimates->source = *source;
	estimates->slots = max_processes;
	estimates->of = calloc(max_processes, sizeof(struct process_estimates *));
	if (estimates->of)
		return estimates;
	free(estimates);
	return NULL;
}

void estimates__free(struct estimates *estimates)
{
	if (!estimates)
		return;
	for (uint32_t slot = 0; slot < estimates->slots; slot++)
		process_estimates__free(estimates->of[slot]);
	free(estimates->of);
	free(estimates);
}

void estimates__begin(struct estimates *estimates)
{
	if (estimates->source.refresh)
		estimates->source.refresh(estimates->source.arg);
}

void estimates__forget(struct estimates *estimates, uint32_t slot)
{
	process_estimates__free(estimates->of[slot]);
	estimates->of[slot] = NULL;
	if (estimates->source.forget)
		estimates->source.forget(estimates->source.arg, slot);
}

static struct counter *function_counter(struct process_estimates *own,
					const struct function_totals *function)
{
	const struct counter_key key = {
		.row = function->row,
		.flags = function->flags,
		.kind = function->kind,
		.device = function->device,
		.of = COUNTER_TALLY,
	};

	return counter__of(own, &key);
}

/* --- how much was missed --- */

/* By family: the counters' weight from earlier readings, and calls counted since the latest. */
struct counted {
	double weight[RATE_FAMILIES];
	uint64_t fresh[RATE_FAMILIES];
};

static struct tally reported(const struct function_totals *function)
{
	return (struct tally){
		.calls = function->calls,
		.failures = function->failures,
		.bytes = function->bytes,
		.ns = function->ns,
	};
}

static int count(struct process_estimates *own, const struct process *process,
		 struct counted *counted)
{
	memset(counted, 0, sizeof(*counted));
	kernel_table__weigh(process->kernel_table, &counted->weight[RATE_LAUNCH],
			    &counted->fresh[RATE_LAUNCH]);
	for (size_t i = 0; i < process->function_count; i++) {
		const struct tally now = reported(&process->functions[i]);
		enum rate_family family = api__tally_family(process->functions[i].row);
		struct counter *counter;
		struct tally fresh;

		if (family == RATE_EXACT)
			continue;
		counter = function_counter(own, &process->functions[i]);
		if (!counter)
			return -ENOMEM;
		fresh = counter__fresh(counter, &now);
		counted->weight[family] += counter->calls + counter->failures;
		counted->fresh[family] += fresh.calls + fresh.failures;
	}
	return 0;
}

/* How many counted calls result from one call that is entered. */
static double counted_per_call(const struct estimates *estimates, uint32_t slot,
			       enum rate_family which, struct estimated_family *family,
			       uint64_t fresh)
{
	uint64_t seen;

	if (!estimates->source.seen)
		return 1;
	seen = estimates->source.seen(estimates->source.arg, slot, which);
	if (seen > family->seen) {
		family->entered = RATIO_FADE * family->entered + (double)(seen - family->seen);
		family->counted = RATIO_FADE * family->counted + (double)fresh;
		family->seen = seen;
	} else {
		family->counted += (double)fresh;
	}
	return family->entered > 0 ? family->counted / family->entered : 1;
}

/*
 * Whether the process is older than the end of the latest time for which the family's probes were
 * detached.
 */
static bool is_older(const struct estimates *estimates, const struct process *process,
		     enum rate_family which)
{
	const struct estimate_source *source = &estimates->source;

	return source->unseen_until && process->start_ns < source->unseen_until(source->arg, which);
}

static void choose_share(const struct estimates *estimates, const struct process *process,
			 enum rate_family which, struct estimated_family *family,
			 const struct counted *counted)
{
	uint64_t missed = estimates->source.missed(estimates->source.arg, process->slot, which);
	uint64_t fresh = counted->fresh[which];
	double each = counted_per_call(estimates, process->slot, which, family, fresh);
	double weight;

	family->calls.counted += fresh;
	family->calls.sampled = is_older(estimates, process, which);
	family->share = (struct missed_share){.fade = fresh ? WEIGHT_FADE : 1};
	weight = missed_share__weigh(&family->share, counted->weight[which], fresh);
	/* The function or kernel of missed calls is unknown until one call has been seen. */
	if (weight <= 0)
		return;
	family->share.ratio = (double)(missed - family->taken) * each / weight;
	family->taken = missed;
}

/* --- distribution --- */

static int apply_functions(struct process_estimates *own, struct process *process)
{
	for (size_t i = 0; i < process->function_count; i++) {
		struct function_totals *function = &process->functions[i];
		const struct tally now = reported(function);
		enum rate_family which = api__tally_family(function->row);
		struct counter *counter;
		struct estimated_family *family;
		int ret;

		if (which == RATE_EXACT)
			continue;
		counter = function_counter(own, function);
		if (!counter)
			return -ENOMEM;
		family = &own->families[which];
		family->calls.missed +=
			counter__share_out(counter, &now, &family->share, &family->rest);
		ret = tally__apply_missed(process, function, &counter->missed);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * The same launches once more, by graph size; so they are not counted again, and have a remainder
 * of their own.
 */
static int apply_runs(struct process_estimates *own, struct process *process)
{
	for (size_t i = 0; i < process->graph_run_count; i++) {
		struct graph_run *run = &process->graph_runs[i];
		const struct counter_key key = {
			.kernels = run->kernels, .unknown = run->unknown, .of = COUNTER_RUN};
		const struct tally now = {.calls = run->launches};
		struct counter *counter = counter__of(own, &key);

		if (!counter)
			return -ENOMEM;
		counter__share_out(counter, &now, &own->families[RATE_LAUNCH].share,
				   &own->runs_rest);
		run->launches += counter->missed.calls;
		if (run->unknown)
			process->graph_launches_of_unknown_size += counter->missed.calls;
		else
			process->graph_kernels += counter->missed.calls * run->kernels;
	}
	graphs__sort_runs(process);
	return 0;
}

static struct process_estimates *take(struct estimates *estimates, uint32_t slot)
{
	if (!estimates->of[slot])
		estimates->of[slot] = calloc(1, sizeof(struct process_estimates));
	return estimates->of[slot];
}

int estimates__apply(struct estimates *estimates, struct process *process)
{
	struct process_estimates *own = take(estimates, process->slot);
	struct estimated_family *launches;
	struct counted counted;
	int ret;

	if (!own)
		return -ENOMEM;
	ret = count(own, process, &counted);
	if (ret)
		return ret;
	for (enum rate_family which = 0; which < RATE_EXACT; which++)
		choose_share(estimates, process, which, &own->families[which], &counted);
	launches = &own->families[RATE_LAUNCH];
	launches->calls.missed += kernel_table__miss(process->kernel_table, &launches->share,
						     &launches->rest, own->missed_launches);
	ret = apply_functions(own, process);
	if (!ret)
		ret = apply_runs(own, process);
	if (!ret)
		ret = kernel_table__fold_left(process->kernel_table);
	for (enum rate_family which = 0; which < RATE_EXACT; which++)
		process->family_calls[which] = own->families[which].calls;
	return ret;
}

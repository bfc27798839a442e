// SPDX-License-Identifier: BSD-2-Clause
// Shares calls that were not seen out among those that were, see estimate.h.
#include "collect/estimate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "collect/graphs.h"
#include "collect/tally.h"
#include "model/account.h"
#include "model/api.h"
#include "model/kernels.h"

/* How fast what was long ago is forgotten, by reading: what counters weigh, and how many calls are counted. */
#define WEIGHT_FADE 0.25
#define RATIO_FADE (15.0 / 16)

enum counter_of {
	COUNTER_TALLY,
	COUNTER_RUN, /* launches of graphs of a size */
	COUNTER_DURATION,
};

struct counter_key {
	uint64_t kernels;
	uint16_t row, flags;
	uint8_t kind, device;
	uint8_t of; /* enum counter_of */
	uint8_t unknown;
};

/* What a counter of the maps has told lately, and what it is estimated to have missed. */
struct counter {
	struct counter_key key;
	struct tally weighed; /* what it had told when it was looked at last */
	double calls, failures, bytes, ns; /* weights, see model/missed.h */
	struct tally missed;
	UT_hash_handle hh;
};

struct family {
	struct family_calls calls;
	uint64_t taken; /* of the source's missed calls, what has been shared out */
	uint64_t seen;	/* the source's, at the latest reading */
	double entered, counted; /* that many calls came to so many counted ones, lately */
	double rest;
	struct missed_share share; /* of the reading in progress */
};

struct process_estimates {
	struct family families[RATE_FAMILIES];
	struct counter *counters; /* a uthash table */
};

struct estimates {
	struct estimate_source source;
	uint32_t slots;
	struct process_estimates **of; /* by slot */
};

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

static void drop(struct process_estimates *own)
{
	struct counter *counter, *next;

	if (!own)
		return;
	HASH_ITER(hh, own->counters, counter, next) {
		HASH_DEL(own->counters, counter);
		free(counter);
	}
	free(own);
}

void estimates__free(struct estimates *estimates)
{
	if (!estimates)
		return;
	for (uint32_t slot = 0; slot < estimates->slots; slot++)
		drop(estimates->of[slot]);
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
	drop(estimates->of[slot]);
	estimates->of[slot] = NULL;
	if (estimates->source.forget)
		estimates->source.forget(estimates->source.arg, slot);
}

/* --- counters --- */

static struct counter *counter_of(struct process_estimates *own, const struct counter_key *key)
{
	struct counter *counter;

	HASH_FIND(hh, own->counters, key, sizeof(*key), counter);
	if (counter)
		return counter;
	counter = calloc(1, sizeof(*counter));
	if (!counter)
		return NULL;
	counter->key = *key;
	HASH_ADD(hh, own->counters, key, sizeof(counter->key), counter);
	if (counter->hh.tbl)
		return counter;
	free(counter);
	return NULL;
}

static struct counter *function_counter(struct process_estimates *own, const struct function_totals *function)
{
	const struct counter_key key = {
		.row = function->row,
		.flags = function->flags,
		.kind = function->kind,
		.device = function->device,
		.of = COUNTER_TALLY,
	};

	return counter_of(own, &key);
}

static uint64_t above(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* What the counter has told since it was looked at; a part of it may be on its way from a thread to the map. */
static struct tally fresh_of(const struct counter *counter, const struct tally *now)
{
	return (struct tally){
		.calls = above(now->calls, counter->weighed.calls),
		.failures = above(now->failures, counter->weighed.failures),
		.bytes = above(now->bytes, counter->weighed.bytes),
		.ns = above(now->ns, counter->weighed.ns),
	};
}

static void weigh(struct counter *counter, const struct tally *now, const struct missed_share *share)
{
	const struct tally fresh = fresh_of(counter, now);

	counter->calls = missed_share__weigh(share, counter->calls, fresh.calls);
	counter->failures = missed_share__weigh(share, counter->failures, fresh.failures);
	counter->bytes = missed_share__weigh(share, counter->bytes, fresh.bytes);
	counter->ns = missed_share__weigh(share, counter->ns, fresh.ns);
	counter->weighed.calls += fresh.calls;
	counter->weighed.failures += fresh.failures;
	counter->weighed.bytes += fresh.bytes;
	counter->weighed.ns += fresh.ns;
}

/* What was missed is like what was seen: as many bytes and as much time for each call. Returns how many calls it was. */
static uint64_t share_out(struct counter *counter, const struct tally *now, const struct missed_share *share,
			  double *rest)
{
	uint64_t calls, failures;

	weigh(counter, now, share);
	calls = missed_share__of(share, counter->calls, rest);
	failures = missed_share__of(share, counter->failures, rest);
	counter->missed.calls += calls;
	counter->missed.failures += failures;
	if (counter->calls > 0) {
		counter->missed.bytes += (uint64_t)((double)calls * (counter->bytes / counter->calls) + 0.5);
		counter->missed.ns += (uint64_t)((double)calls * (counter->ns / counter->calls) + 0.5);
	}
	return calls + failures;
}

/* --- how much was missed --- */

/* By family: what counters weigh since readings before, and counted calls since the latest. */
struct counted {
	double weight[RATE_FAMILIES];
	uint64_t fresh[RATE_FAMILIES];
};

static struct tally told(const struct function_totals *function)
{
	return (struct tally){
		.calls = function->calls,
		.failures = function->failures,
		.bytes = function->bytes,
		.ns = function->ns,
	};
}

static int count(struct process_estimates *own, const struct process *process, struct counted *counted)
{
	memset(counted, 0, sizeof(*counted));
	kernel_table__weigh(process->kernel_table, &counted->weight[RATE_LAUNCH], &counted->fresh[RATE_LAUNCH]);
	for (size_t i = 0; i < process->function_count; i++) {
		const struct tally now = told(&process->functions[i]);
		enum rate_family family = api__tally_family(process->functions[i].row);
		struct counter *counter;
		struct tally fresh;

		if (family == RATE_EXACT)
			continue;
		counter = function_counter(own, &process->functions[i]);
		if (!counter)
			return -ENOMEM;
		fresh = fresh_of(counter, &now);
		counted->weight[family] += counter->calls + counter->failures;
		counted->fresh[family] += fresh.calls + fresh.failures;
	}
	return 0;
}

/* How many counted calls one that is entered comes to. */
static double counted_per_call(const struct estimates *estimates, uint32_t slot, enum rate_family which,
			       struct family *family, uint64_t fresh)
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
	return family->entered > 0 && family->counted > 0 ? family->counted / family->entered : 1;
}

/* Than the end of the latest stretch of time that the family's probes were out. */
static bool is_older(const struct estimates *estimates, const struct process *process, enum rate_family which)
{
	const struct estimate_source *source = &estimates->source;

	return source->unseen_until && process->start_ns < source->unseen_until(source->arg, which);
}

static void choose_share(const struct estimates *estimates, const struct process *process, enum rate_family which,
			 struct family *family, const struct counted *counted)
{
	uint64_t missed = estimates->source.missed(estimates->source.arg, process->slot, which);
	uint64_t fresh = counted->fresh[which];
	double each = counted_per_call(estimates, process->slot, which, family, fresh);
	double weight;

	family->calls.counted += fresh;
	family->calls.sampled |= is_older(estimates, process, which);
	family->share = (struct missed_share){.fade = fresh ? WEIGHT_FADE : 1};
	weight = missed_share__weigh(&family->share, counted->weight[which], fresh);
	/* Of which function or kernel it was is not known before one is seen. */
	if (missed <= family->taken || weight <= 0)
		return;
	family->share.ratio = (double)(missed - family->taken) * each / weight;
	family->taken = missed;
}

/* --- sharing it out --- */

static int apply_functions(struct process_estimates *own, struct process *process)
{
	for (size_t i = 0; i < process->function_count; i++) {
		struct function_totals *function = &process->functions[i];
		const struct tally now = told(function);
		enum rate_family which = api__tally_family(function->row);
		struct counter *counter;
		struct family *family;
		int ret;

		if (which == RATE_EXACT)
			continue;
		counter = function_counter(own, function);
		if (!counter)
			return -ENOMEM;
		family = &own->families[which];
		family->calls.missed += share_out(counter, &now, &family->share, &family->rest);
		if (!counter->missed.calls && !counter->missed.failures)
			continue;
		ret = tally__apply_missed(process, function, &counter->missed);
		if (ret)
			return ret;
	}
	return 0;
}

/* The same launches once more, by size; so they are not counted again, and have a remainder of their own. */
static int apply_runs(struct process_estimates *own, struct process *process)
{
	double rest = 0.5;

	for (size_t i = 0; i < process->graph_run_count; i++) {
		struct graph_run *run = &process->graph_runs[i];
		const struct counter_key key = {.kernels = run->kernels, .unknown = run->unknown, .of = COUNTER_RUN};
		const struct tally now = {.calls = run->launches};
		struct counter *counter = counter_of(own, &key);

		if (!counter)
			return -ENOMEM;
		share_out(counter, &now, &own->families[RATE_LAUNCH].share, &rest);
		run->launches += counter->missed.calls;
		if (run->unknown)
			process->unsized_graph_launches += counter->missed.calls;
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
	struct family *launches;
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
	launches->calls.missed += kernel_table__miss(process->kernel_table, &launches->share, &launches->rest);
	ret = apply_functions(own, process);
	if (!ret)
		ret = apply_runs(own, process);
	if (!ret)
		ret = kernel_table__fold_left(process->kernel_table);
	for (enum rate_family which = 0; which < RATE_EXACT; which++)
		process->family_calls[which] = own->families[which].calls;
	return ret;
}

int estimates__apply_durations(struct estimates *estimates, struct process *process)
{
	struct process_estimates *own = estimates->of[process->slot];
	double rest = 0.5;

	for (size_t i = 0; own && i < process->account->function_count; i++) {
		struct account_function *function = &process->account->functions[i];
		const struct counter_key key = {.row = function->row, .of = COUNTER_DURATION};
		const struct tally now = {.calls = function->time.calls, .ns = function->time.ns};
		enum rate_family which = rate_family_of(api_functions[function->row].desc.operation);
		struct counter *counter;

		if (which == RATE_EXACT)
			continue;
		counter = counter_of(own, &key);
		if (!counter)
			return -ENOMEM;
		share_out(counter, &now, &own->families[which].share, &rest);
		function->missed = counter->missed.calls;
		function->missed_ns = counter->missed.ns;
	}
	return 0;
}

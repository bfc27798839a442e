// SPDX-License-Identifier: BSD-2-Clause
// Histories of all sites and sizes, see growth.h.
#include "model/growth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "base/table.h"
#include "model/profile.h"
#include "model/growth_history.h"
#include "model/object_costs.h"
#include "model/object_sites.h"
#include "model/process_index.h"
#include "model/tensors.h"

#define WINDOW_LEAST_NS (10 * NS_PER_S)
#define NO_STACK UINT64_MAX

struct growth_key {
	uint64_t start_ns; /* identifies the process together with the pid */
	uint64_t stack;	   /* serial number; NO_STACK for a size */
	uint64_t size;	   /* allocation size; 0: it is a call site */
	int32_t pid;
	uint16_t row;	      /* ROW_NONE: objects of the kind */
	uint8_t kind, device; /* of a size; of objects only the kind */
};

struct growing_site {
	struct growth_key key;
	struct growth_history history;
	uint64_t seen;	/* the latest sample in which it was live */
	uint64_t count; /* live allocations in that sample */
	/* frees of memory never seen allocated: at the end of the warm-up, and now */
	uint64_t first_unknown, unknown;
	UT_hash_handle hh;
};

struct growth {
	uint64_t window_ns;
	size_t max;
	bool of_tensors, of_pinned;
	struct object_costs *costs;
	struct growing_site *sites; /* a uthash table */
	uint64_t samples;
	uint64_t sampled_ns;
	size_t unfollowed;
};

uint64_t growth__window(double seconds)
{
	double window = seconds * 2 / 3 * (double)NS_PER_S;

	if (!seconds || window >= (double)GROWTH_WINDOW_NS)
		return GROWTH_WINDOW_NS;
	return window > (double)WINDOW_LEAST_NS ? (uint64_t)window : WINDOW_LEAST_NS;
}

struct growth *growth__new(uint64_t window_ns, size_t max)
{
	struct growth *growth = calloc(1, sizeof(*growth));

	if (!growth)
		return NULL;
	growth->window_ns = window_ns;
	growth->max = max;
	growth->costs = object_costs__new();
	if (growth->costs)
		return growth;
	free(growth);
	return NULL;
}

struct growth *growth__new_of_tensors(uint64_t window_ns, size_t max)
{
	struct growth *growth = growth__new(window_ns, max);

	if (growth)
		growth->of_tensors = true;
	return growth;
}

struct growth *growth__new_of_pinned(uint64_t window_ns, size_t max)
{
	struct growth *growth = growth__new(window_ns, max);

	if (growth)
		growth->of_pinned = true;
	return growth;
}

static void forget(struct growth *growth, struct growing_site *site)
{
	HASH_DEL(growth->sites, site);
	free(site);
}

void growth__free(struct growth *growth)
{
	if (!growth)
		return;
	TABLE_CLEAR(growth->sites, free);
	object_costs__free(growth->costs);
	free(growth);
}

static struct growth_key key_of_stack(const struct process *process, const struct stack *stack)
{
	return (struct growth_key){.start_ns = process->start_ns,
				   .pid = process->pid,
				   .stack = stack ? stack->serial : NO_STACK};
}

static struct growth_key key_of_size(const struct process *process, const struct size_key *size)
{
	return (struct growth_key){
		.start_ns = process->start_ns,
		.pid = process->pid,
		.stack = NO_STACK,
		.size = size->size,
		.row = size->row,
		.kind = size->kind,
		.device = size->device,
	};
}

static struct growth_key key_of_objects(const struct process *process,
					const struct object_site *site)
{
	struct growth_key key = key_of_stack(process, site->stack);

	key.row = ROW_NONE;
	key.kind = site->kind;
	return key;
}

static struct growing_site *find(const struct growth *growth, const struct growth_key *key)
{
	return TABLE_FIND(growth->sites, key, key);
}

static struct growing_site *add(struct growth *growth, const struct growth_key *key)
{
	struct growing_site *site = TABLE_ADD_NEW(growth->sites, key, key);

	if (site)
		site->history.window_ns = growth->window_ns;
	return site;
}

static uint64_t count_unknown_frees(const struct process *process)
{
	uint64_t count = 0;

	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		count += process->memory[kind].unknown_frees;
	return count;
}

/* A process's live memory at one call site or of one size. */
struct growth_amount {
	struct growth_key key;
	uint64_t bytes, count;
	uint64_t unknown; /* the process's frees of memory never seen allocated */
};

static int sample_amount(struct growth *growth, const struct growth_amount *amount, uint64_t now_ns)
{
	struct growing_site *site = find(growth, &amount->key);

	if (!site && HASH_COUNT(growth->sites) >= growth->max) {
		growth->unfollowed++;
		return 0;
	}
	if (!site)
		site = add(growth, &amount->key);
	if (!site)
		return -ENOMEM;
	site->seen = growth->samples;
	growth_history__add(&site->history, now_ns, amount->bytes);
	site->count = amount->count;
	site->unknown = amount->unknown;
	if (!site->history.recent_count)
		site->first_unknown = amount->unknown;
	return 0;
}

static int sample_sites(struct growth *growth, const struct process *process,
			const struct live_site *sites, size_t count, uint64_t unknown,
			uint64_t now_ns)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		const struct live_site *live = &sites[i];
		struct growth_amount amount = {.key = key_of_stack(process, live->stack),
					       .bytes = live->bytes,
					       .count = live->count,
					       .unknown = unknown};

		ret = sample_amount(growth, &amount, now_ns);
	}
	return ret;
}

/*
 * Live memory of one size can only grow in number, so a size with at most one allocation counts as
 * setup.
 */
static int sample_sizes(struct growth *growth, const struct process *process, uint64_t now_ns)
{
	uint64_t unknown = count_unknown_frees(process);
	int ret = 0;

	for (size_t i = 0; i < process->profile->size_count && !ret; i++) {
		const struct profile_size *size = &process->profile->sizes[i];
		struct growth_amount amount = {
			.key = key_of_size(process, &size->key),
			.bytes = saturate__product(size->key.size, size->record.live),
			.count = size->record.live,
			.unknown = unknown};

		if (size->key.size && size->record.peak > 1)
			ret = sample_amount(growth, &amount, now_ns);
	}
	return ret;
}

static int sample_objects(struct growth *growth, const struct process *process, uint64_t now_ns)
{
	int ret = 0;

	for (size_t i = 0; i < process->object_site_count && !ret; i++) {
		const struct object_site *site = &process->object_sites[i];
		struct growth_amount amount = {
			.key = key_of_objects(process, site),
			.bytes = site->live,
			.count = site->live,
			.unknown = process->objects[site->kind].unknown_destroyed,
		};

		if (site->live > 1)
			ret = sample_amount(growth, &amount, now_ns);
	}
	return ret;
}

/* Memory first: if there is not enough room, it is the more important. */
static int sample_process(struct growth *growth, const struct model *model,
			  const struct process *process)
{
	const struct tensors *tensors = process->tensors;
	int ret;

	if (growth->of_tensors)
		return tensors ? sample_sites(growth, process, tensors->live_sites,
					      tensors->live_site_count,
					      tensors->total.unknown_frees, model->now_ns) :
				 0;
	if (growth->of_pinned)
		return sample_sites(growth, process, process->pinned_sites,
				    process->pinned_site_count,
				    process->memory[MEMORY_HOST].unknown_frees, model->now_ns);
	if (!model->stacks && process->profile)
		ret = sample_sizes(growth, process, model->now_ns);
	else
		ret = sample_sites(growth, process, process->live_sites, process->live_site_count,
				   count_unknown_frees(process), model->now_ns);
	return ret ? ret : sample_objects(growth, process, model->now_ns);
}

/*
 * Sites without live memory get a sample of 0, and are dropped after a window of these. Sites of an
 * ended process stay unchanged while the model has the process.
 */
static int sample_rest(struct growth *growth, const struct model *model)
{
	struct process_index *index = process_index__new(model, NULL);
	struct growing_site *site, *next;

	if (!index)
		return -ENOMEM;

	HASH_ITER (hh, growth->sites, site, next) {
		const struct process *process;

		if (site->seen == growth->samples)
			continue;
		process = process_index__find(index, site->key.pid, site->key.start_ns);
		if (!process || (!process->ended && growth->samples - site->seen > GROWTH_RECENT))
			forget(growth, site);
		else if (!process->ended)
			growth_history__add(&site->history, model->now_ns, 0);
	}
	process_index__free(index);
	return 0;
}

int growth__sample(struct growth *growth, const struct model *model)
{
	int ret = 0, rest;

	/* Amounts missing from the reading would look like a low. */
	if (model->broken_off)
		return 0;
	/* Half an interval, because a timer may fire a little early. */
	if (growth->sampled_ns &&
	    model->now_ns - growth->sampled_ns < GROWTH_SAMPLE_NS(growth->window_ns) / 2)
		return 0;
	growth->sampled_ns = model->now_ns;
	growth->samples++;
	growth->unfollowed = 0;
	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (!model->processes[i].ended)
			ret = sample_process(growth, model, &model->processes[i]);
	rest = sample_rest(growth, model);
	if (!ret)
		ret = object_costs__sample(growth->costs, model);
	return ret ? ret : rest;
}

/*
 * Memory live before gpuprobe started is not counted, but its replacements are: that looks like
 * growth until all of it has been replaced.
 */
static bool may_replace(const struct growing_site *site, const struct process *process)
{
	return process->since_attach && (site->unknown - site->first_unknown) * 2 >= site->count;
}

static void judge(const struct growing_site *site, const struct process *process,
		  struct growth_evidence *evidence)
{
	*evidence = (struct growth_evidence){.verdict = GROWTH_UNKNOWN};
	if (!site)
		return;
	growth_history__judge(&site->history, evidence);
	if (evidence->verdict != GROWTH_GROWING || !may_replace(site, process))
		return;
	evidence->verdict = GROWTH_UNKNOWN;
	evidence->replaces = true;
}

void growth__judge(const struct growth *growth, const struct process *process,
		   const struct stack *stack, struct growth_evidence *evidence)
{
	struct growth_key key = key_of_stack(process, stack);

	judge(find(growth, &key), process, evidence);
}

void growth__judge_size(const struct growth *growth, const struct process *process,
			const struct size_key *size, struct growth_evidence *evidence)
{
	struct growth_key key = key_of_size(process, size);

	judge(find(growth, &key), process, evidence);
}

void growth__judge_objects(const struct growth *growth, const struct process *process,
			   const struct object_site *site, struct growth_evidence *evidence)
{
	struct growth_key key = key_of_objects(process, site);

	judge(find(growth, &key), process, evidence);
}

const struct object_costs *growth__object_costs(const struct growth *growth)
{
	return growth->costs;
}

size_t growth__unfollowed(const struct growth *growth)
{
	return growth->unfollowed;
}

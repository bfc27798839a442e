// SPDX-License-Identifier: BSD-2-Clause
// Histories of all sites, see growth.h.
#include "model/growth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "model/growth_history.h"

#define NO_STACK UINT64_MAX

struct growth_key {
	uint64_t start_ns; /* with the pid tells which process it is */
	uint64_t stack;	   /* serial */
	int64_t pid;
};

struct growing_site {
	struct growth_key key;
	struct growth_history history;
	uint64_t seen; /* the latest sample that it was live in */
	uint64_t count; /* live in it */
	uint64_t first_unknown, unknown; /* frees of memory never seen allocated: up to the end of its warm-up, and now */
	UT_hash_handle hh;
};

struct growth {
	uint64_t window_ns;
	size_t max;
	struct growing_site *sites; /* a uthash table */
	uint64_t samples;
	uint64_t sampled_ns;
	size_t unfollowed;
};

struct growth *growth__new(uint64_t window_ns, size_t max)
{
	struct growth *growth = calloc(1, sizeof(*growth));

	if (!growth)
		return NULL;
	growth->window_ns = window_ns;
	growth->max = max;
	return growth;
}

static void forget(struct growth *growth, struct growing_site *site)
{
	HASH_DEL(growth->sites, site);
	free(site);
}

void growth__free(struct growth *growth)
{
	struct growing_site *site, *next;

	if (!growth)
		return;
	HASH_ITER(hh, growth->sites, site, next)
		forget(growth, site);
	free(growth);
}

static struct growing_site *find(const struct growth *growth, const struct process *process,
				 const struct stack *stack)
{
	struct growth_key key = {
		.start_ns = process->start_ns, .pid = process->pid, .stack = stack ? stack->serial : NO_STACK};
	struct growing_site *site;

	HASH_FIND(hh, growth->sites, &key, sizeof(key), site);
	return site;
}

static struct growing_site *add(struct growth *growth, const struct process *process, const struct stack *stack)
{
	struct growing_site *site = calloc(1, sizeof(*site));

	if (!site)
		return NULL;
	site->key = (struct growth_key){
		.start_ns = process->start_ns, .pid = process->pid, .stack = stack ? stack->serial : NO_STACK};
	site->history.window_ns = growth->window_ns;
	HASH_ADD(hh, growth->sites, key, sizeof(site->key), site);
	return site;
}

static uint64_t count_unknown_frees(const struct process *process)
{
	uint64_t count = 0;

	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		count += process->memory[kind].unknown_frees;
	return count;
}

static void sample_site(struct growing_site *site, const struct live_site *live, uint64_t unknown, uint64_t now_ns)
{
	growth_history__add(&site->history, now_ns, live->bytes);
	site->count = live->count;
	site->unknown = unknown;
	if (!site->history.recent_count)
		site->first_unknown = unknown;
}

static int sample_process(struct growth *growth, const struct process *process, uint64_t now_ns)
{
	uint64_t unknown = count_unknown_frees(process);

	for (size_t i = 0; i < process->live_site_count; i++) {
		const struct live_site *live = &process->live_sites[i];
		struct growing_site *site = find(growth, process, live->stack);

		if (!site && HASH_COUNT(growth->sites) >= growth->max) {
			growth->unfollowed++;
			continue;
		}
		if (!site)
			site = add(growth, process, live->stack);
		if (!site)
			return -ENOMEM;
		site->seen = growth->samples;
		sample_site(site, live, unknown, now_ns);
	}
	return 0;
}

static const struct process *process_of(const struct model *model, const struct growing_site *site)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].start_ns == site->key.start_ns && model->processes[i].pid == site->key.pid)
			return &model->processes[i];
	return NULL;
}

/*
 * Sites with nothing live are at 0, and forgotten after a window of that; those of an ended process
 * stay as they were while the model has it.
 */
static void sample_rest(struct growth *growth, const struct model *model)
{
	struct growing_site *site, *next;

	HASH_ITER(hh, growth->sites, site, next) {
		const struct process *process;

		if (site->seen == growth->samples)
			continue;
		process = process_of(model, site);
		if (!process || (!process->ended && growth->samples - site->seen > GROWTH_RECENT))
			forget(growth, site);
		else if (!process->ended)
			growth_history__add(&site->history, model->now_ns, 0);
	}
}

int growth__sample(struct growth *growth, const struct model *model)
{
	int ret = 0;

	/* A timer may be a little early. */
	if (growth->sampled_ns && model->now_ns - growth->sampled_ns < GROWTH_SAMPLE_NS(growth->window_ns) / 2)
		return 0;
	growth->sampled_ns = model->now_ns;
	growth->samples++;
	growth->unfollowed = 0;
	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (!model->processes[i].ended)
			ret = sample_process(growth, &model->processes[i], model->now_ns);
	sample_rest(growth, model);
	return ret;
}

/*
 * What was live before gpuprobe is not counted, and what takes its place is:
 * that looks like growth until all of it has been replaced.
 */
static bool may_replace(const struct growing_site *site, const struct process *process)
{
	return process->since_attach && (site->unknown - site->first_unknown) * 2 >= site->count;
}

void growth__judge(const struct growth *growth, const struct process *process, const struct stack *stack,
		   struct growth_evidence *evidence)
{
	const struct growing_site *site = find(growth, process, stack);

	*evidence = (struct growth_evidence){.verdict = GROWTH_UNKNOWN};
	if (!site)
		return;
	growth_history__judge(&site->history, evidence);
	if (evidence->verdict != GROWTH_GROWING || !may_replace(site, process))
		return;
	evidence->verdict = GROWTH_UNKNOWN;
	evidence->replaces = true;
}

size_t growth__unfollowed(const struct growth *growth)
{
	return growth->unfollowed;
}

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

static int sample_process(struct growth *growth, const struct process *process, uint64_t now_ns)
{
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
		growth_history__add(&site->history, now_ns, live->bytes);
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

void growth__judge(const struct growth *growth, const struct process *process, const struct stack *stack,
		   struct growth_evidence *evidence)
{
	const struct growing_site *site = find(growth, process, stack);

	if (site)
		growth_history__judge(&site->history, evidence);
	else
		*evidence = (struct growth_evidence){.verdict = GROWTH_UNKNOWN};
}

size_t growth__unfollowed(const struct growth *growth)
{
	return growth->unfollowed;
}

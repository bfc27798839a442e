// SPDX-License-Identifier: BSD-2-Clause
// Facts about call sites for text and JSON, see site.h.
#include "output/memleak/site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"

void memleak_level__of_segments(struct memleak_level *level, const struct process *process,
				const struct memleak_growth *growth)
{
	*level = (struct memleak_level){
		.process = process,
		.growth = growth->segments,
		.sites = process->live_sites,
		.site_count = process->live_site_count,
		.live = process->live,
		.live_listed = process->live_listed,
		.left_out_bytes = process->left_out_bytes,
		.left_out_count = process->left_out_count,
		.at_exit_bytes = process->live_at_exit_bytes,
		.at_exit_count = process->live_at_exit_count,
	};
}

void memleak_level__of_tensors(struct memleak_level *level, const struct process *process,
			       const struct memleak_growth *growth)
{
	const struct tensors *tensors = process->tensors;

	*level = (struct memleak_level){
		.process = process,
		.tensors = tensors,
		.growth = growth->tensors,
		.sites = tensors->live_sites,
		.site_count = tensors->live_site_count,
		.live = tensors->live,
		.live_listed = tensors->live_listed,
		.left_out_bytes = tensors->left_out_bytes,
		.left_out_count = tensors->left_out_count,
		.at_exit_bytes = tensors->live_bytes,
		.at_exit_count = tensors->live_count,
	};
}

void memleak_level__of_pinned(struct memleak_level *level, const struct process *process,
			      const struct memleak_growth *growth)
{
	*level = (struct memleak_level){
		.process = process,
		.growth = growth->pinned,
		.sites = process->pinned_sites,
		.site_count = process->pinned_site_count,
	};
}

bool memleak_level__shows_tensors(const struct process *process,
				  const struct memleak_options *options)
{
	return process->tensors && options->levels != MEMLEAK_SEGMENTS;
}

bool memleak_level__shows_segments(const struct process *process,
				   const struct memleak_options *options)
{
	return options->levels == MEMLEAK_LEVELS_AUTO ? !process->tensors :
							options->levels & MEMLEAK_SEGMENTS;
}

enum loss memleak_site__untracked(const struct model *model, bool of_tensors)
{
	if (of_tensors && model->lost[LOSS_TENSOR_MAP_FULL])
		return LOSS_TENSOR_MAP_FULL;
	if (!of_tensors && model->lost[LOSS_ALLOCATION_MAP_FULL])
		return LOSS_ALLOCATION_MAP_FULL;
	return model->lost[LOSS_NO_MEMORY] ? LOSS_NO_MEMORY : LOSS_COUNT;
}

bool memleak_site__shows(const struct live_site *live, const struct memleak_options *options)
{
	return live->count >= options->min_count;
}

/* Ties are ordered by address: all allocations are in one array, in the order of display. */
static int by_stack(const void *a, const void *b)
{
	const struct allocation *x = *(const struct allocation *const *)a,
				*y = *(const struct allocation *const *)b;

	if (x->stack != y->stack)
		return (uintptr_t)x->stack < (uintptr_t)y->stack ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int sort_allocations(struct memleak_process *known)
{
	const struct memleak_level *level = &known->level;

	known->allocations = calloc(level->live_listed + 1, sizeof(*known->allocations));
	if (!known->allocations)
		return -ENOMEM;
	known->allocation_count = level->live_listed;
	for (size_t i = 0; i < level->live_listed; i++)
		known->allocations[i] = &level->live[i];
	qsort(known->allocations, known->allocation_count, sizeof(*known->allocations), by_stack);
	return 0;
}

int memleak_process__begin(struct memleak_process *known, const struct memleak_level *level,
			   const struct memleak_options *options)
{
	int ret = 0;

	*known = (struct memleak_process){.process = level->process, .level = *level};
	if (level->process->ended && !level->tensors)
		ret = allocated_sites__read(level->process, &known->allocated);
	if (!ret && options->show_allocations)
		ret = sort_allocations(known);
	if (ret)
		memleak_process__end(known);
	return ret;
}

void memleak_process__end(struct memleak_process *known)
{
	allocated_sites__clear(&known->allocated);
	free(known->allocations);
}

/* Without a stack, allocations cannot be attributed to one call site. */
static uint64_t count_calls(const struct memleak_process *known, const struct stack *stack)
{
	const struct tensor_site *made =
		stack && known->level.tensors ? tensors__site(known->level.tensors, stack) : NULL;

	const struct allocated_site *site =
		stack ? allocated_sites__find(&known->allocated, stack) : NULL;

	if (known->level.tensors)
		return made ? made->counts.made : 0;
	return site ? site->calls : 0;
}

static void find_allocations(const struct memleak_process *known, struct memleak_site *site)
{
	const struct stack *stack = site->live->stack;
	size_t low = 0, high = known->allocation_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)known->allocations[middle]->stack < (uintptr_t)stack)
			low = middle + 1;
		else
			high = middle;
	}
	while (high < known->allocation_count && known->allocations[high]->stack == stack)
		high++;
	if (high == low)
		return;
	site->allocations = &known->allocations[low];
	site->allocation_count = high - low;
}

void memleak_site__know(const struct model *model, const struct memleak_process *known,
			const struct live_site *live, const struct memleak_options *options,
			struct memleak_site *site)
{
	const struct process *process = known->process;
	const struct tensors *tensors = known->level.tensors;

	*site = (struct memleak_site){
		.process = process,
		.live = live,
		.made = tensors && live->stack ? tensors__site(tensors, live->stack) : NULL,
		.untracked = memleak_site__untracked(model, tensors)};
	find_allocations(known, site);
	growth__judge(known->level.growth, process, live->stack, &site->growth);
	/*
	 * Live allocations without a record may hide growth, so the site cannot be called stable.
	 * Growth of the recorded ones is certain.
	 */
	if (site->untracked != LOSS_COUNT && site->growth.verdict == GROWTH_STABLE)
		site->growth.verdict = GROWTH_UNKNOWN;
	/*
	 * Otherwise the calls would include allocations that are young, of other sizes or without a
	 * record, which the live ones exclude.
	 */
	if (process->ended && !options->some_sizes && site->untracked == LOSS_COUNT)
		site->allocated = count_calls(known, live->stack);
	/* Fewer calls than live allocations: a table was full, which the losses report. */
	if (site->allocated < live->count)
		site->allocated = 0;
	else
		site->freed = site->allocated - live->count;
	site->leak = process->ended && (site->growth.verdict == GROWTH_GROWING ||
					(site->allocated && site->freed > site->allocated / 2));
}

bool memleak_site__is_early(const struct memleak_site *site)
{
	return site->growth.verdict == GROWTH_UNKNOWN && !site->growth.replaces &&
	       !site->process->ended && site->untracked == LOSS_COUNT;
}

void memleak_site__sum(const struct model *model, const struct memleak_process *known,
		       const struct memleak_options *options, struct memleak_sums *sums)
{
	const struct memleak_level *level = &known->level;
	struct memleak_site site;

	memset(sums, 0, sizeof(*sums));
	sums->left_out_bytes = level->left_out_bytes;
	sums->left_out_count = level->left_out_count;
	for (size_t i = 0; i < level->site_count; i++) {
		const struct live_site *live = &level->sites[i];

		if (!memleak_site__shows(live, options)) {
			saturate__add(&sums->left_out_bytes, live->bytes);
			sums->left_out_count += live->count;
			continue;
		}
		memleak_site__know(model, known, live, options, &site);
		sums->sites++;
		sums->growing += site.growth.verdict == GROWTH_GROWING;
		sums->too_early += memleak_site__is_early(&site);
		sums->leaks += site.leak;
		saturate__add(&sums->bytes, live->bytes);
		sums->count += live->count;
	}
}

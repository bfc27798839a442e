// SPDX-License-Identifier: BSD-2-Clause
// What is known of a site, see memleak_site.h.
#include "output/memleak_site.h"

#include <string.h>

enum loss memleak_site__untracked(const struct model *model)
{
	if (model->lost[LOSS_ALLOCATION_MAP_FULL])
		return LOSS_ALLOCATION_MAP_FULL;
	return model->lost[LOSS_NO_MEMORY] ? LOSS_NO_MEMORY : LOSS_COUNT;
}

bool memleak_site__shows(const struct live_site *live, const struct memleak_options *options)
{
	return live->count >= options->min_count;
}

static uint64_t count_calls(const struct process *process, const struct stack *stack)
{
	uint64_t calls = 0;

	/* Of what has no stack nothing says that it is one place. */
	for (size_t i = 0; stack && i < process->site_count; i++)
		if (process->sites[i].kind == SITE_ALLOCATION && process->sites[i].stack == stack)
			calls += process->sites[i].calls;
	return calls;
}

void memleak_site__know(const struct model *model, const struct process *process, const struct live_site *live,
			const struct growth *growth, const struct memleak_options *options, struct memleak_site *site)
{
	*site = (struct memleak_site){
		.process = process, .live = live, .untracked = memleak_site__untracked(model)};
	growth__judge(growth, process, live->stack, &site->growth);
	/* What was live and had no room may have grown. What grows by what is known does. */
	if (site->untracked != LOSS_COUNT && site->growth.verdict == GROWTH_STABLE)
		site->growth.verdict = GROWTH_UNKNOWN;
	/* Else what is young, of other sizes or had no room is among the calls, and not among the live. */
	if (process->ended && !options->some_sizes && site->untracked == LOSS_COUNT)
		site->allocated = count_calls(process, live->stack);
	/* Fewer than are live: some had no room in a table, which is told among the losses. */
	if (site->allocated < live->count)
		site->allocated = 0;
	else
		site->freed = site->allocated - live->count;
	site->leak = process->ended && (site->growth.verdict == GROWTH_GROWING ||
					(site->allocated && site->freed > site->allocated / 2));
}

void memleak_site__sum(const struct model *model, const struct process *process, const struct growth *growth,
		       const struct memleak_options *options, struct memleak_sums *sums)
{
	struct memleak_site site;

	memset(sums, 0, sizeof(*sums));
	sums->left_out_bytes = process->left_out_bytes;
	sums->left_out_count = process->left_out_count;
	for (size_t i = 0; i < process->live_site_count; i++) {
		const struct live_site *live = &process->live_sites[i];

		if (!memleak_site__shows(live, options)) {
			sums->left_out_bytes += live->bytes;
			sums->left_out_count += live->count;
			continue;
		}
		memleak_site__know(model, process, live, growth, options, &site);
		sums->sites++;
		sums->growing += site.growth.verdict == GROWTH_GROWING;
		sums->leaks += site.leak;
		sums->bytes += live->bytes;
		sums->count += live->count;
	}
}

// SPDX-License-Identifier: BSD-2-Clause
// Allocations by call site, see allocated_sites.h.
#include "model/allocated_sites.h"

#include <errno.h>
#include <stdlib.h>

#include "base/saturate.h"

static int by_stack(const void *a, const void *b)
{
	const struct allocated_site *x = a, *y = b;

	if (x->stack != y->stack)
		return (uintptr_t)x->stack < (uintptr_t)y->stack ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void gather(const struct process *process, struct allocated_sites *sites)
{
	for (size_t i = 0; i < process->site_count; i++) {
		const struct call_site *site = &process->sites[i];

		if (site->kind == SITE_ALLOCATION && site->stack)
			sites->list[sites->count++] = (struct allocated_site){
				.stack = site->stack,
				.index = i,
				.calls = site->calls,
				.bytes = site->amount,
				.row = site->row,
			};
	}
}

/* Merges sites of one stack with different functions, which are adjacent after sorting. */
static size_t merge(struct allocated_site *list, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		struct allocated_site site = list[i];

		if (used && list[used - 1].stack == site.stack) {
			site.calls += list[used - 1].calls;
			saturate__add(&site.bytes, list[used - 1].bytes);
			used--;
		}
		list[used++] = site;
	}
	return used;
}

int allocated_sites__read(const struct process *process, struct allocated_sites *sites)
{
	*sites = (struct allocated_sites){
		.list = calloc(process->site_count + 1, sizeof(*sites->list))};
	if (!sites->list)
		return -ENOMEM;
	gather(process, sites);
	qsort(sites->list, sites->count, sizeof(*sites->list), by_stack);
	sites->count = merge(sites->list, sites->count);
	return 0;
}

void allocated_sites__clear(struct allocated_sites *sites)
{
	free(sites->list);
	*sites = (struct allocated_sites){0};
}

static int compare_stack(const void *key, const void *item)
{
	const struct stack *stack = ((const struct allocated_site *)item)->stack;

	return (uintptr_t)key < (uintptr_t)stack ? -1 : (uintptr_t)key > (uintptr_t)stack;
}

const struct allocated_site *allocated_sites__find(const struct allocated_sites *sites,
						   const struct stack *stack)
{
	return sites->count ? bsearch(stack, sites->list, sites->count, sizeof(*sites->list),
				      compare_stack) :
			      NULL;
}

// SPDX-License-Identifier: BSD-2-Clause
// Shares of time for which families are watched, from what threads pay; see private.h.
#include "base/quantity.h"
#include "govern/budget.h"
#include "govern/private.h"

static void warn_of_exact(struct governor *governor, double cost)
{
	if (governor->reported_exact || cost <= governor->allowed)
		return;
	governor->reported_exact = true;
	log__warn(governor->log,
		  "cannot keep to --max-overhead: the calls that are always watched (memory, "
		  "contexts, modules, "
		  "graphs%s) make a thread %s slower",
		  governor->sampling == GOVERNED_FAMILIES ? "" : ", copies, waits",
		  quantity__share(budget__overhead(cost * governor->cold)).text);
}

static const char *name_of(int family)
{
	static const char *const names[RATE_EXACT] = {"launches", "copies", "waits"};

	return names[family];
}

static void report_change(const struct governor *governor, unsigned int before, int family)
{
	if (is_in(before & ~governor->sampled, family))
		log__info(governor->log, "all %s are watched again", name_of(family));
	else if (is_in(governor->sampled & ~before, family))
		log__info(governor->log, "%s are watched %s of the time, to keep to --max-overhead",
			  name_of(family), quantity__share(governor->share[family]).text);
}

void governor__plan_shares(struct governor *governor, uint64_t now_ns)
{
	const struct plan_basis basis = governor__basis(governor, now_ns);
	unsigned int before = governor->sampled;
	double exact_cost;

	plan__shares(&basis, governor->share, &exact_cost);
	warn_of_exact(governor, exact_cost);
	governor->sampled = 0;
	for (int family = 0; family < RATE_EXACT; family++) {
		if (governor->share[family] < 1)
			governor->sampled |= 1u << family;
		report_change(governor, before, family);
	}
	governor->ever |= governor->sampled;
}

void governor__end_cycle(struct governor *governor, uint64_t now_ns, bool plan)
{
	const struct plan_basis basis = governor__basis(governor, now_ns);
	struct governed_thread *thread, *next;

	governor->overhead = plan__overhead(&basis);
	governor->cycled = true;
	plan__carry_over(&basis);
	if (plan)
		governor__plan_shares(governor, now_ns);
	HASH_ITER (hh, governor->threads.table, thread, next)
		governed_thread__end_cycle(thread, governor->cycle_ns, now_ns);
	governed_threads__drop_ended(&governor->threads);
	governor->cycle_ns = now_ns;
}

double governor__least_share(const struct governor *governor)
{
	double least = 1;

	for (int family = 0; family < RATE_EXACT; family++)
		least = governor->share[family] < least ? governor->share[family] : least;
	return least;
}

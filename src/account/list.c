// SPDX-License-Identifier: BSD-2-Clause
// The list of an account: its groups as of now, see account.h.
#include <stdlib.h>
#include <string.h>

#include "account/private.h"
#include "base/saturate.h"

static bool is_held(const struct account *account, const struct holding *holding)
{
	return holding->reading && holding->reading == account->sources[holding->source].readings;
}

static bool is_idle(const struct account *account, const struct holding *holding)
{
	uint64_t now_ns = account->sources[holding->source].boot_ns,
		 used_ns = holding->last_call_ns ? holding->last_call_ns : holding->first_ns;

	return saturate__difference(now_ns, used_ns) >= account->options.idle_ns;
}

static void count_gpus(const struct account *account, struct group *group)
{
	group->shown.gpus = group->shown.idle_gpus = group->shown.alive = 0;
	for (struct holding *holding = group->holdings; holding; holding = holding->hh.next) {
		if (!is_held(account, holding))
			continue;
		group->shown.gpus++;
		group->shown.idle_gpus += is_idle(account, holding);
	}
}

static void count_alive(struct account *account)
{
	for (struct accounted *process = account->processes; process; process = process->hh.next) {
		if (process->ended || !process->group)
			continue;
		process->group->shown.alive++;
		account->groups.total.shown.alive++;
	}
}

static int by_held(const void *a, const void *b)
{
	const struct account_group *x = *(struct account_group *const *)a,
				   *y = *(struct account_group *const *)b;

	if (x->is_other != y->is_other)
		return x->is_other ? 1 : -1;
	if (x->held_ns != y->held_ns)
		return x->held_ns < y->held_ns ? 1 : -1;
	return strcmp(x->name[0] ? x->name : x->user, y->name[0] ? y->name : y->user);
}

static void add_losses(const struct account *account, struct account_list *list)
{
	for (size_t i = 0; i < account->source_count; i++)
		for (int loss = 0; loss < LOSS_COUNT; loss++)
			saturate__add(&list->lost[loss], account->sources[i].lost[loss]);
}

int account__list(struct account *account, struct account_list *list)
{
	struct groups *groups = &account->groups;

	*list = (struct account_list){
		.total = &groups->total.shown,
		.from_ns = account->from_ns,
		.to_ns = account->to_ns,
		.more_groups = groups->other,
	};
	list->groups = calloc(HASH_COUNT(groups->table) + 1, sizeof(struct account_group *));
	if (!list->groups)
		return -ENOMEM;
	for (struct group *group = groups->table; group; group = group->hh.next) {
		count_gpus(account, group);
		list->groups[list->count++] = &group->shown;
	}
	if (groups->other) {
		count_gpus(account, groups->other);
		list->groups[list->count++] = &groups->other->shown;
	}
	add_losses(account, list);
	count_gpus(account, &groups->total);
	count_alive(account);
	if (list->count)
		qsort(list->groups, list->count, sizeof(struct account_group *), by_held);
	return 0;
}

void account_list__clear(struct account_list *list)
{
	free(list->groups);
	*list = (struct account_list){0};
}

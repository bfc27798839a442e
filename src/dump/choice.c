// SPDX-License-Identifier: BSD-2-Clause
// Which processes a dump covers; see dump.h.
#include "dump/dump.h"

#include "base/array.h"

static int add_pid(struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->pids[i] == pid)
			return 0;
	return ARRAY_APPEND(list->pids, list->count, pid);
}

/* Adds the processes in the list that use CUDA. */
static int add_users_of_cuda(struct pid_list *to, const struct pid_list *from)
{
	int ret = 0;

	for (size_t i = 0; i < from->count && !ret; i++)
		if (dump__maps_cuda(from->pids[i]))
			ret = add_pid(to, from->pids[i]);
	return ret;
}

/* Adds one process that the user named, whatever it maps, and its descendants that use CUDA. */
static int add_requested(struct pid_list *pids, pid_t pid)
{
	struct pid_list children = {0};
	int ret = add_pid(pids, pid);

	if (!ret && !proc__descendants(pid, &children))
		ret = add_users_of_cuda(pids, &children);
	pid_list__clear(&children);
	return ret;
}

int dump_choice__make(const pid_t *requested, size_t count, struct pid_list *pids)
{
	struct pid_list all = {0};
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = add_requested(pids, requested[i]);
	if (count)
		return ret;
	ret = proc__list(&all);
	if (!ret)
		ret = add_users_of_cuda(pids, &all);
	pid_list__clear(&all);
	return ret;
}

void dump_choice__filter(const struct process_filter *filter, struct pid_list *pids)
{
	size_t kept = 0;

	for (size_t i = 0; i < pids->count; i++)
		if (process_filter__judge_pid(filter, pids->pids[i]) == FILTER_TAKES)
			pids->pids[kept++] = pids->pids[i];
	pids->count = kept;
}

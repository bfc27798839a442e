// SPDX-License-Identifier: BSD-2-Clause
// Whose threads are looked at, see dump.h.

#include "dump/dump.h"

#include <errno.h>
#include <stdlib.h>

static int add_pid(struct pid_list *list, pid_t pid)
{
	pid_t *grown;

	for (size_t i = 0; i < list->count; i++)
		if (list->pids[i] == pid)
			return 0;
	grown = realloc(list->pids, (list->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	list->pids = grown;
	grown[list->count++] = pid;
	return 0;
}

/* Those of the list that have CUDA. */
static int add_users_of_cuda(struct pid_list *to, const struct pid_list *from)
{
	int ret = 0;

	for (size_t i = 0; i < from->count && !ret; i++)
		if (dump__maps_cuda(from->pids[i]))
			ret = add_pid(to, from->pids[i]);
	return ret;
}

/* One that was asked for, whatever it has mapped, and its descendants that use CUDA. */
static int add_asked(struct pid_list *pids, pid_t pid)
{
	struct pid_list children = {0};
	int ret = add_pid(pids, pid);

	if (!ret && !proc__descendants(pid, &children))
		ret = add_users_of_cuda(pids, &children);
	pid_list__clear(&children);
	return ret;
}

int dump_choice__make(const pid_t *asked, size_t count, struct pid_list *pids)
{
	struct pid_list all = {0};
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = add_asked(pids, asked[i]);
	if (count)
		return ret;
	ret = proc__list(&all);
	if (!ret)
		ret = add_users_of_cuda(pids, &all);
	pid_list__clear(&all);
	return ret;
}

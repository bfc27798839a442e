// SPDX-License-Identifier: BSD-2-Clause
// Groups, by thread: the outermost end does what was called since the start.
#include "nccl/library.h"

#include <stdlib.h>

static __thread struct {
	unsigned int depth;
	struct group_work *works;
	size_t count, room;
} group;

bool group__is_open(void)
{
	return group.depth > 0;
}

void group__start(void)
{
	group.depth++;
}

ncclResult_t group__add(const struct group_work *work)
{
	struct group_work *grown;

	if (!group.depth)
		return work->run(work);
	if (group.count == group.room) {
		group.room = group.room ? group.room * 2 : 16;
		grown = realloc(group.works, group.room * sizeof(*grown));
		if (!grown)
			return ncclSystemError;
		group.works = grown;
	}
	group.works[group.count++] = *work;
	return ncclSuccess;
}

ncclResult_t group__end(bool launches)
{
	ncclResult_t result = ncclSuccess, one;

	if (!group.depth)
		return ncclInvalidUsage;
	if (--group.depth)
		return ncclSuccess;
	for (size_t i = 0; launches && i < group.count; i++) {
		one = group.works[i].run(&group.works[i]);
		result = result ? result : one;
	}
	free(group.works);
	group.works = NULL;
	group.count = group.room = 0;
	return result;
}

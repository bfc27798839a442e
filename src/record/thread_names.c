// SPDX-License-Identifier: BSD-2-Clause
// The names of threads, see thread_names.h.
#include "record/thread_names.h"

#include <errno.h>

#include "base/table.h"
#include "trace/line.h"

struct thread_key {
	uint32_t process;
	pid_t tid;
};

struct named_thread {
	struct thread_key key;
	char name[COMM_SIZE];
	UT_hash_handle hh;
};

void thread_names__clear(struct thread_names *names)
{
	TABLE_CLEAR(names->threads, free);
}

size_t thread_names__count(const struct thread_names *names)
{
	return HASH_COUNT(names->threads);
}

const char *thread_names__of(const struct thread_names *names, uint32_t process, pid_t tid)
{
	const struct thread_key key = {process, tid};
	const struct named_thread *thread = TABLE_FIND(names->threads, key, &key);

	return thread ? thread->name : "";
}

int thread_names__set(struct thread_names *names, uint32_t process, pid_t tid, const char *name,
		      size_t length)
{
	const struct thread_key key = {process, tid};
	struct named_thread *thread = TABLE_FIND(names->threads, key, &key);
	char kept[COMM_SIZE] = "";

	memcpy(kept, name, length < COMM_SIZE ? length : COMM_SIZE - 1);
	if (thread ? !strcmp(thread->name, kept) : !*kept)
		return 0;
	if (!thread && HASH_COUNT(names->threads) >= THREAD_NAMES_MAX)
		return -E2BIG;
	if (!thread)
		thread = TABLE_ADD_NEW(names->threads, key, &key);
	if (!thread)
		return -ENOMEM;
	memcpy(thread->name, kept, sizeof(kept));
	return 1;
}

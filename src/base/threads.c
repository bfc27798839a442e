// SPDX-License-Identifier: BSD-2-Clause
// Runs the same work in several threads; see threads.h.
#include "base/threads.h"

#include <pthread.h>
#include <stddef.h>

struct job {
	void (*work)(void *arg);
	void *arg;
};

static void *run_job(void *arg)
{
	const struct job *job = arg;

	job->work(job->arg);
	return NULL;
}

void threads__run(void (*work)(void *arg), void *arg, unsigned int count)
{
	struct job job = {.work = work, .arg = arg};
	pthread_t threads[THREADS_MAX];
	unsigned int started = 0;

	while (started + 1 < count && !pthread_create(&threads[started], NULL, run_job, &job))
		started++;
	work(arg);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

struct items {
	void (*work)(void *arg, unsigned int i);
	void *arg;
	unsigned int next; /* atomic */
	unsigned int count;
};

static void take_items(void *arg)
{
	struct items *items = arg;
	unsigned int i;

	while ((i = __atomic_fetch_add(&items->next, 1, __ATOMIC_RELAXED)) < items->count)
		items->work(items->arg, i);
}

void threads__each(void (*work)(void *arg, unsigned int i), void *arg, unsigned int count)
{
	struct items items = {.work = work, .arg = arg, .count = count};

	threads__run(take_items, &items, count < THREADS_MAX ? count : THREADS_MAX);
}

// SPDX-License-Identifier: BSD-2-Clause
// The account of a process: its life and what is reckoned from it, see account.h.
#include "model/account.h"

#include <stdlib.h>

#include "model/model.h"

struct account *account__new(void)
{
	return calloc(1, sizeof(struct account));
}

void account__free(struct account *account)
{
	if (!account)
		return;
	free(account->functions);
	free(account->threads);
	free(account->sizes);
	free(account->copies);
	free(account->repeats);
	free(account->ignored);
	free(account->stacks);
	free(account);
}

uint64_t account__percentile(const __u64 buckets[TIME_BUCKETS], double share, uint64_t max_ns)
{
	uint64_t total = 0, below = 0, wanted, middle;
	uint32_t bucket = 0;

	for (uint32_t i = 0; i < TIME_BUCKETS; i++)
		total += buckets[i];
	if (!total)
		return 0;
	wanted = (uint64_t)(share * (double)total);
	while (bucket < TIME_BUCKETS - 1 && below + buckets[bucket] <= wanted)
		below += buckets[bucket++];
	/* All of them are wanted: the last that has any. */
	while (!buckets[bucket])
		bucket--;
	middle = time_bucket_start(bucket) + (time_bucket_start(bucket + 1) - time_bucket_start(bucket)) / 2;
	return middle < max_ns ? middle : max_ns;
}

uint64_t account__wall_ns(const struct thread_account *thread, uint64_t began_ns, uint64_t now_ns)
{
	uint64_t from = thread->start_ns > began_ns ? thread->start_ns : began_ns;
	uint64_t to = thread->ended_ns ? thread->ended_ns : now_ns;

	return to > from ? to - from : 0;
}

uint64_t account__inside_ns(const struct thread_account *thread)
{
	uint64_t ns = 0;

	for (int i = 0; i < TIME_CLASSES; i++)
		ns += thread->time[i].ns;
	return ns;
}

uint64_t account__errors(const struct process *process, uint16_t row)
{
	uint64_t failures = 0;

	for (size_t i = 0; i < process->function_count; i++)
		if (process->functions[i].row == row)
			failures += process->functions[i].failures;
	return failures;
}

const struct stack *account__stack(const struct account *account, uint64_t id)
{
	for (size_t i = 0; id && i < account->stack_count; i++)
		if (account->stacks[i].id == id)
			return account->stacks[i].stack;
	return NULL;
}

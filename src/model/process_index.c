// SPDX-License-Identifier: BSD-2-Clause
// Processes by pid and start, see process_index.h.
#include "model/process_index.h"

#include <stdlib.h>

/* Holds a copy of the key, because processes are large. */
struct entry {
	uint64_t start_ns;
	int32_t pid;
	const struct process *process;
};

struct process_index {
	size_t count;
	struct entry entries[]; /* ordered by start and pid */
};

static int compare_keys(const struct entry *x, const struct entry *y)
{
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Entries with equal keys keep the model's order, since its processes are in one array. */
static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = compare_keys(x, y);

	return order ? order : (x->process < y->process ? -1 : x->process > y->process);
}

struct process_index *process_index__new(const struct model *model,
					 bool (*has)(const struct process *process))
{
	struct process_index *index =
		malloc(sizeof(*index) + model->process_count * sizeof(*index->entries));

	if (!index)
		return NULL;
	index->count = 0;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		if (!has || has(process))
			index->entries[index->count++] =
				(struct entry){process->start_ns, process->pid, process};
	}
	qsort(index->entries, index->count, sizeof(*index->entries), compare);
	return index;
}

void process_index__free(struct process_index *index)
{
	free(index);
}

const struct process *process_index__find(const struct process_index *index, int32_t pid,
					  uint64_t start_ns)
{
	const struct entry wanted = {.start_ns = start_ns, .pid = pid};
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(&index->entries[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == index->count || compare_keys(&index->entries[low], &wanted))
		return NULL;
	return index->entries[low].process;
}

size_t process_index__count(const struct process_index *index)
{
	return index->count;
}

// SPDX-License-Identifier: BSD-2-Clause
// The failures of one process, see failures.h.
#include "model/failures.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "api/api.h"

#define ROW_SHIFT 33 /* above the code and the `sampled` bit */

static uint64_t pack(const struct failure_key *key)
{
	return (uint64_t)key->row << ROW_SHIFT | (uint64_t)(key->sampled != 0) << 32 |
	       (uint32_t)key->code;
}

void failures__begin(struct process *process)
{
	process->failure_count = 0;
	process->other_failures = (struct failure){0};
}

/* Index of the key, or where it would be inserted, in the ordered keys. */
static size_t index_of(const struct process *process, uint64_t key)
{
	size_t low = 0, high = process->failure_key_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->failure_keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the key has an entry; it gets one while there is room. Returns 1, 0 or -ENOMEM. */
static int claim(struct process *process, uint64_t key)
{
	size_t index = index_of(process, key), count = process->failure_key_count;
	uint64_t *keys;

	if (index < count && process->failure_keys[index] == key)
		return 1;
	if (count == FAILURES_MAX)
		return 0;
	if (ARRAY_RESERVE(process->failure_keys, count, 1))
		return -ENOMEM;
	keys = process->failure_keys + index;
	memmove(keys + 1, keys, (count - index) * sizeof(*keys));
	*keys = key;
	process->failure_key_count++;
	return 1;
}

static int append(struct process *process, const struct failure *failure)
{
	return ARRAY_APPEND(process->failures, process->failure_count, *failure);
}

static void add_to_rest(struct failure *rest, const struct failure_record *record)
{
	if (!rest->count || record->first_ns < rest->first_ns)
		rest->first_ns = record->first_ns;
	if (record->last_ns > rest->last_ns)
		rest->last_ns = record->last_ns;
	rest->count += record->count;
}

int failures__add(struct process *process, const struct failure_key *key,
		  const struct failure_record *record)
{
	const struct api_function *function = &api_functions[key->row];
	int ret = claim(process, pack(key));

	if (ret < 0)
		return ret;
	if (!ret) {
		add_to_rest(&process->other_failures, record);
		return 0;
	}
	return append(process, &(struct failure){
				       .function = function->base,
				       .error = api__error_name(function->desc.layer, key->code),
				       .code = key->code,
				       .layer = function->desc.layer,
				       .count = record->count,
				       .first_ns = record->first_ns,
				       .last_ns = record->last_ns,
				       .sampled = key->sampled,
			       });
}

void failures__add_rest(struct process *process, uint64_t count)
{
	process->other_failures.count += count;
}

static int by_count(const void *a, const void *b)
{
	const struct failure *x = a, *y = b;

	return x->count < y->count ? 1 :
	       x->count > y->count ? -1 :
				     strcmp(x->function, y->function);
}

int failures__finish(struct process *process)
{
	struct failure rest = process->other_failures;

	/* Named here: a process that a reading finds in its middle has had no failures__begin. */
	rest.function = FAILURES_REST;
	rest.error = FAILURES_REST;
	rest.is_rest = true;
	if (process->failure_count)
		qsort(process->failures, process->failure_count, sizeof(*process->failures),
		      by_count);
	return rest.count ? append(process, &rest) : 0;
}

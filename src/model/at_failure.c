// SPDX-License-Identifier: BSD-2-Clause
// What a process held when an allocation failed, see at_failure.h.
#include "model/at_failure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"

struct at_failure *at_failure__new(void)
{
	struct at_failure *at_failure = calloc(1, sizeof(*at_failure));

	if (!at_failure)
		return NULL;
	at_failure->table = site_table__new();
	if (!at_failure->table) {
		free(at_failure);
		return NULL;
	}
	return at_failure;
}

void at_failure__free(struct at_failure *at_failure)
{
	if (!at_failure)
		return;
	site_table__free(at_failure->table);
	tensors__free(at_failure->tensors);
	free(at_failure->sites);
	free(at_failure);
}

size_t at_failure__bytes(const struct at_failure *at_failure)
{
	if (!at_failure)
		return 0;
	return sizeof(*at_failure) + site_table__bytes(at_failure->table) +
	       tensors__bytes(at_failure->tensors) +
	       at_failure->site_count * sizeof(*at_failure->sites);
}

void at_failure__begin(struct at_failure *at_failure, uint64_t time_ns)
{
	at_failure->time_ns = time_ns;
	memset(at_failure->held_bytes, 0, sizeof(at_failure->held_bytes));
	site_table__begin(at_failure->table, true);
	if (at_failure->tensors)
		tensors__begin(at_failure->tensors, true);
}

/* --- memory from CUDA --- */

int at_failure__add(struct at_failure *at_failure, const struct allocation_record *record,
		    uint64_t stack)
{
	if (record->start_ns > at_failure->time_ns)
		return 0;
	saturate__add(&at_failure->held_bytes[record->device], record->size);
	return site_table__add_live(at_failure->table, stack, 1, record->size, record->start_ns);
}

/* --- tensors --- */

static struct tensors *tensors_of(struct at_failure *at_failure)
{
	if (!at_failure->tensors)
		at_failure->tensors = tensors__new();
	return at_failure->tensors;
}

int at_failure__add_segment(struct at_failure *at_failure, uint64_t address, uint64_t bytes,
			    uint64_t start_ns, bool expandable, enum segment_owner owner)
{
	struct tensors *tensors;

	if (start_ns > at_failure->time_ns)
		return 0;
	tensors = tensors_of(at_failure);
	return tensors ? tensors__add_segment(tensors, address, bytes, expandable, owner) : -ENOMEM;
}

int at_failure__add_tensor(struct at_failure *at_failure, const struct allocation *tensor,
			   uint64_t stack, uint32_t weight)
{
	struct tensors *tensors;
	int ret;

	if (tensor->start_ns > at_failure->time_ns)
		return 0;
	tensors = tensors_of(at_failure);
	if (!tensors)
		return -ENOMEM;
	ret = tensors__place(tensors, tensor->address, tensor->size);
	return ret ? ret : tensors__add_live(tensors, tensor, stack, weight, false);
}

/* --- lists --- */

int at_failure__list(struct at_failure *at_failure, site_stack_fn find, void *arg)
{
	int ret = site_table__list_live(at_failure->table, &at_failure->sites,
					&at_failure->site_count, find, arg);

	if (ret || !at_failure->tensors)
		return ret;
	ret = tensors__sum_segments(at_failure->tensors);
	return ret ? ret : tensors__list(at_failure->tensors, find, arg);
}

void at_failure__forget_stacks(struct at_failure *at_failure)
{
	if (!at_failure)
		return;
	at_failure->site_count = 0;
	tensors__forget_stacks(at_failure->tensors);
}

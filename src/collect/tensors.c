// SPDX-License-Identifier: BSD-2-Clause
// Takes tensors into the model, see tensors.h.
#include "collect/tensors.h"

#include <errno.h>

#include "api/api.h"
#include "base/saturate.h"
#include "collect/site_maps.h"
#include "gen/gpuprobe.skel.h"
#include "model/at_failure.h"
#include "model/tensors.h"
#include "stack/stacks.h"

int tensors__begin_reading(struct reading *reading)
{
	struct model *model = &reading->collector->model;

	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		if (!process->tensors)
			continue;
		/* Ended processes too: stacks may be dropped. */
		tensors__forget_stacks(process->tensors);
		if (process->slot != NO_PROCESS)
			tensors__begin(process->tensors, reading__lists(reading, process));
	}
	return 0;
}

int tensors__take_device(struct reading *reading, struct process *process, const void *key,
			 const void *value)
{
	(void)reading;
	if (!process->tensors)
		process->tensors = tensors__new();
	if (!process->tensors ||
	    tensors__add_device(process->tensors, ((const struct tensor_device_key *)key)->device,
				value))
		return -ENOMEM;
	return ELEMENT_KEEP;
}

enum segment_owner tensors__owner_of(const struct collector *collector, uint64_t stack_id)
{
	const struct stack *stack =
		collector->stacks && stack_id ? stacks__find(collector->stacks, stack_id) : NULL;

	if (!stack)
		return SEGMENT_UNKNOWN;
	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->frames[i].object && api__has_allocator(stack->frames[i].object))
			return SEGMENT_FRAMEWORK;
	return SEGMENT_OTHER;
}

int tensors__take_segment(const struct reading *reading, struct process *process,
			  const struct allocation_key *key, const struct allocation_record *record)
{
	bool mapped = key->space == SPACE_MAPPED && record->kind == MEMORY_MAPPED;
	enum segment_owner owner;

	if (!process->tensors || !reading__lists(reading, process))
		return 0;
	if (!mapped && (key->space != SPACE_ADDRESS || record->kind != MEMORY_DEVICE))
		return 0;
	owner = tensors__owner_of(reading->collector, record->stack);
	if (process->at_failure &&
	    at_failure__add_segment(process->at_failure, key->address, record->size,
				    record->start_ns, mapped, owner))
		return -ENOMEM;
	return tensors__add_segment(process->tensors, key->address, record->size, mapped, owner);
}

static int take_tensor(struct reading *reading, struct process *process, const void *key_data,
		       const void *value)
{
	const struct tensor_key *key = key_data;
	const struct tensor_record *record = value;
	const struct collector *collector = reading->collector;
	struct tensors *tensors = process->tensors;
	const struct allocation_record filtered = {.size = record->bytes,
						   .start_ns = record->start_ns};
	const struct allocation tensor = {
		.address = key->address,
		.size = record->bytes,
		.start_ns = record->start_ns,
		.kind = MEMORY_DEVICE,
		.device = record->device < 0 ? DEVICE_UNKNOWN : (uint8_t)record->device,
		.stack_id = record->stack,
		.stream = record->stream,
	};
	uint64_t same = collector->stacks ? stacks__same(collector->stacks, record->stack) : 0;

	if (!tensors || !reading__lists(reading, process))
		return ELEMENT_KEEP;
	if (tensors__place(tensors, key->address, record->bytes) ||
	    (process->at_failure &&
	     at_failure__add_tensor(process->at_failure, &tensor, same, record->weight)))
		return -ENOMEM;
	if (site_maps__leaves_out(collector, process, &filtered)) {
		saturate__add(&tensors->left_out_bytes, record->bytes);
		tensors->left_out_count++;
		return ELEMENT_KEEP;
	}
	return tensors__add_live(tensors, &tensor, same, record->weight, !collector->options.top) ?
		       -ENOMEM :
		       ELEMENT_KEEP;
}

static const struct reading_step walk_tensors = {
	IN_MAP(tensors, tensor_key, slot),
	.take = take_tensor,
};

int tensors__read(struct reading *reading)
{
	struct model *model = &reading->collector->model;
	bool needed = false;
	int ret = 0;

	for (size_t i = 0; i < model->process_count; i++)
		needed |= model->processes[i].tensors &&
			  reading__lists(reading, &model->processes[i]);
	if (needed)
		ret = reading__walk(reading, &walk_tensors);
	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (model->processes[i].tensors && reading__lists(reading, &model->processes[i]))
			ret = tensors__sum_segments(model->processes[i].tensors);
	return ret;
}

int tensors__take_site(struct reading *reading, struct process *process, const void *key,
		       const void *value)
{
	uint64_t stack = ((const struct tensor_site_key *)key)->stack;

	(void)reading;
	if (!process->tensors)
		return ELEMENT_KEEP;
	return tensors__set_site(process->tensors, stack, value) ? -ENOMEM : ELEMENT_KEEP;
}

static const struct stack *find_stack(void *arg, uint64_t id)
{
	return stacks__find(arg, id);
}

int tensors__list_all(struct reading *reading)
{
	struct collector *collector = reading->collector;
	struct model *model = &collector->model;
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++) {
		struct process *process = &model->processes[i];

		if (!process->tensors || process->left_out)
			continue;
		tensors__follow_steps(process->tensors, process, model->now_ns);
		ret = tensors__list(process->tensors, find_stack, collector->stacks);
	}
	return ret;
}

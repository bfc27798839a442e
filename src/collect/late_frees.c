// SPDX-License-Identifier: BSD-2-Clause
// Reads what was freed since an allocation failed, see late_frees.h.
#include "collect/late_frees.h"

#include <errno.h>

#include "collect/tensors.h"
#include "model/at_failure.h"
#include "model/devices.h"
#include "stack/stacks.h"

/* By then a walk has deleted all that was freed after the failure. */
#define OVER_NS (2 * LATE_FREES_NS)

/* The process's latest failure; 0: none of late. */
static uint64_t failed_ns(const struct collector *collector, const struct process *process)
{
	const struct process_record *record = &collector->records[process->slot];

	return __atomic_load_n(&record->shortage_ns, __ATOMIC_ACQUIRE);
}

static int begin_process(const struct reading *reading, struct process *process)
{
	uint64_t time_ns = failed_ns(reading->collector, process);

	if (!time_ns)
		return 0;
	if (!process->at_failure)
		process->at_failure = at_failure__new();
	if (!process->at_failure)
		return -ENOMEM;
	at_failure__begin(process->at_failure, time_ns);
	process->at_failure->lost = reading->collector->records[process->slot].late_frees_lost;
	return 0;
}

int late_frees__begin(struct reading *reading)
{
	struct model *model = &reading->collector->model;
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++) {
		struct process *process = &model->processes[i];

		/* Ended processes too: stacks may be dropped. */
		at_failure__forget_stacks(process->at_failure);
		if (reading__lists(reading, process))
			ret = begin_process(reading, process);
	}
	return ret;
}

/* Memory from CUDA; a framework's segment may be among it. */
static int add_memory(const struct collector *collector, const struct process *process,
		      const struct allocation_key *key, const struct allocation_record *freed,
		      uint64_t stack)
{
	if (!memory_kind__is_device(freed->kind))
		return 0;
	if (process->tensors && key->space == SPACE_ADDRESS && freed->kind == MEMORY_DEVICE &&
	    at_failure__add_segment(process->at_failure, key->address, freed->size, freed->start_ns,
				    false, tensors__owner_of(collector, freed->stack)))
		return -ENOMEM;
	return at_failure__add(process->at_failure, freed, stack);
}

static int add(const struct collector *collector, const struct process *process,
	       const struct allocation_key *key, const struct allocation_record *freed)
{
	struct at_failure *at_failure = process->at_failure;
	uint64_t stack = collector->stacks ? stacks__same(collector->stacks, freed->stack) : 0;
	const struct allocation tensor = {
		.address = key->address,
		.size = freed->size,
		.start_ns = freed->start_ns,
		.kind = MEMORY_DEVICE,
		.device = freed->device,
		.stack_id = freed->stack,
	};

	if (freed->start_ns > at_failure->time_ns || freed->freed_ns < at_failure->time_ns)
		return 0;
	if (key->late == LATE_TENSOR)
		return at_failure__add_tensor(at_failure, &tensor, stack, freed->references);
	return add_memory(collector, process, key, freed, stack);
}

static bool is_over(const struct model *model, uint64_t time_ns)
{
	return model->now_ns > time_ns && model->now_ns - time_ns > OVER_NS;
}

bool late_frees__needs_walk(const struct reading *reading, const struct process *process)
{
	uint64_t time_ns = failed_ns(reading->collector, process);

	return time_ns && ((reading->with_lists && reading->collector->stacks) ||
			   is_over(&reading->collector->model, time_ns));
}

int late_frees__take(struct reading *reading, struct process *process,
		     const struct allocation_key *key, const struct allocation_record *freed)
{
	uint64_t now_ns = reading->collector->model.now_ns;

	if (process->at_failure && reading__lists(reading, process) &&
	    add(reading->collector, process, key, freed))
		return -ENOMEM;
	return now_ns > freed->freed_ns && now_ns - freed->freed_ns > LATE_FREES_NS ?
		       ELEMENT_DELETE :
		       ELEMENT_KEEP;
}

/* BPF may have begun another failure meanwhile. */
static void forget_failure(struct reading *reading, struct process *process, __u64 time_ns)
{
	struct process_record *record = &reading->collector->records[process->slot];

	__atomic_compare_exchange_n(&record->shortage_ns, &time_ns, 0, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	at_failure__free(process->at_failure);
	process->at_failure = NULL;
}

int late_frees__forget(struct reading *reading)
{
	struct model *model = &reading->collector->model;

	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];
		uint64_t time_ns =
			process->slot == NO_PROCESS ? 0 : failed_ns(reading->collector, process);

		if (time_ns && is_over(model, time_ns))
			forget_failure(reading, process, time_ns);
	}
	return 0;
}

static const struct stack *find_stack(void *arg, uint64_t id)
{
	return stacks__find(arg, id);
}

int late_frees__list(struct reading *reading)
{
	struct collector *collector = reading->collector;
	struct model *model = &collector->model;
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (model->processes[i].at_failure && !model->processes[i].left_out)
			ret = at_failure__list(model->processes[i].at_failure, find_stack,
					       collector->stacks);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * With config.step_range: the ranges of this name are the steps of their thread. The monitor's
 * programs sum up what the thread does, and its helpers, in step records; here steps begin and end.
 */
#ifndef BPF_NVTX_STEPS_BPF_H
#define BPF_NVTX_STEPS_BPF_H

#include "nvtx/paths.bpf.h"
#include "steps/record.bpf.h"

/* Whether a range of this name begins a step: none is in progress. */
static __always_inline bool begins_step(const struct nvtx_process *process,
					const struct open_ranges *open, u64 name)
{
	struct nvtx_open_key key = {.process = *process};

	if (!config.step_range || name != config.step_range || !open)
		return false;
	if (!open->in_step)
		return true;
	/* Another thread may have ended it. */
	key.id = open->step_id;
	return key.id && !bpf_map_lookup_elem(&nvtx_open, &key);
}

/* Global: the verifier goes through it once. */
__noinline int begin_record_step(struct step_record *record, u64 at_ns)
{
	struct step_sums sums = {};

	if (!record)
		return 0;
	record->changing++;
	barrier();
	has_other_helpers(record);
	gather_step_sums(record, &sums);
	record->at = sums;
	record->begin_ns = at_ns;
	if (!record->from)
		record->from = record->count + 1;
	barrier();
	record->changing++;
	return 0;
}

/* `begin_ns` is of a step that has begun before the record. Global, as the one above. */
__noinline int end_record_step(struct step_record *record, u64 begin_ns, u64 at_ns)
{
	struct step_sums sums = {};

	if (!record)
		return 0;
	record->changing++;
	barrier();
	if (!record->begin_ns)
		record->begin_ns = begin_ns;
	gather_step_sums(record, &sums);
	subtract_step_sums(&sums, &record->at);
	count_step(record, at_ns - record->begin_ns, &sums);
	record->begin_ns = at_ns;
	barrier();
	record->changing++;
	return 0;
}

/* The thread's storage; without a record it has made no call. */
static __always_inline struct step_record *own_step_record(const struct thread *thread)
{
	return thread && thread->steps ? step_record_at(thread->steps) : NULL;
}

/* The range of `frame` begins a step; `id` is 0 of ranges in each other. */
static __always_inline void begin_range_step(struct open_ranges *open, struct frame *frame, u64 id)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL,
						     BPF_LOCAL_STORAGE_GET_F_CREATE);

	frame->is_step = 1;
	open->in_step = 1;
	open->step_id = id;
	if (!thread)
		return;
	thread->in_step = 1;
	begin_record_step(own_step_record(thread), frame->begin_ns);
}

/* A range has ended in the thread that it began in. */
static __always_inline void end_range_step(struct open_ranges *open, const struct frame *frame)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);

	if (!config.step_range || !open || !frame->is_step)
		return;
	open->in_step = 0;
	if (!thread)
		return;
	thread->in_step = 0;
	end_record_step(own_step_record(thread), frame->begin_ns, now());
}

#endif

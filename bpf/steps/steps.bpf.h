// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What threads submit repeatedly, gpuprobe/steps.h: each submission is recorded and compared with
 * the anchor that userspace has chosen. Without config.steps the programs contain none of this.
 */
#ifndef BPF_STEPS_STEPS_BPF_H
#define BPF_STEPS_STEPS_BPF_H

#include "call/call.bpf.h"
#include "steps/record.bpf.h"

/* Free records. Userspace fills the queue, and returns records that it has read to the end. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, STEP_RECORDS);
	__type(value, u32);
} free_steps SEC(".maps");

/* --- a thread's record --- */

static __noinline int open_steps(struct thread *thread)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct process_record *process = thread ? process_at(thread->slot) : NULL;
	struct step_record *record;
	u32 number;

	if (!process || (++thread->submissions < STEP_FIRST && !thread->in_step))
		return 0;
	thread->steps = NO_COUNTER_SLOT;
	if (__sync_fetch_and_add(&process->step_records, 1) >= STEP_RECORDS_EACH ||
	    bpf_map_pop_elem(&free_steps, &number)) {
		__sync_fetch_and_add(&process->step_records, -1);
		return 0;
	}
	record = bpf_map_lookup_elem(&step_records, &number);
	if (!record)
		return 0;
	record->slot = thread->slot;
	record->tid = pid_of(task);
	BPF_CORE_READ_INTO(&record->comm, task, comm);
	/* Written last: userspace ignores the record without it. */
	*(volatile u64 *)&record->start_ns = BPF_CORE_READ(task, start_boottime);
	thread->steps = number + 1;
	return 0;
}

/*
 * The calling thread makes no more calls: it exits or executes another program. Its record belongs
 * to userspace from now on.
 */
static __always_inline void close_steps(void)
{
	struct thread *thread = returning_thread();
	struct process_record *process = own_process(thread);
	struct step_record *record = thread && thread->steps ? step_record_at(thread->steps) : NULL;

	if (record)
		*(volatile u64 *)&record->ended_ns = now();
	if (record && process)
		__sync_fetch_and_add(&process->step_records, -1);
	if (thread)
		thread->steps = NO_COUNTER_SLOT;
}

/* --- steps --- */

/* Whether the step has about as many launches as a period, and all of them were seen. */
static __always_inline bool is_regular_step(const struct step_record *record, u64 launches)
{
	u64 usual = record->anchor.launches;

	return 2 * launches >= usual && 2 * launches <= 3 * usual &&
	       !was_blind_since(record->begin_ns, RATE_LAUNCH, RATE_LAUNCH);
}

/*
 * The anchor was submitted: a step ends, and the next one begins. Global: the verifier goes through
 * it once.
 */
__noinline int end_step(struct step_record *record, u64 at_ns)
{
	struct step_sums now_sums = {}, sums;
	u64 ns;

	if (!record || !record->anchor.serial)
		return 0;
	gather_step_sums(record, &now_sums);
	ns = at_ns - record->begin_ns;
	record->changing++;
	barrier();
	if (!record->begin_ns) {
		record->from = record->count;
	} else if (is_regular_step(record, record->totals.launches - record->own_launches)) {
		sums = now_sums;
		subtract_step_sums(&sums, &record->at);
		count_step(record, ns, &sums);
	} else {
		record->irregular++;
		record->irregular_ns += ns;
	}
	if (has_other_helpers(record))
		gather_step_sums(record, &now_sums);
	record->begin_ns = at_ns;
	record->latest = record->count;
	record->at = now_sums;
	record->own_launches = record->totals.launches;
	barrier();
	record->changing++;
	return 0;
}

#define STEP_WORDS \
	((offsetof(struct step_record, codes) - offsetof(struct step_record, from)) / sizeof(u64))

/*
 * Userspace has chosen another anchor: the sums belong to the old one and are cleared. Global: the
 * verifier goes through it once.
 */
__noinline int change_anchor(struct step_record *record)
{
	volatile u64 *words;

	if (!record)
		return 0;
	record->changing++;
	barrier();
	words = &record->from;
	for (u32 i = 0; i < STEP_WORDS; i++)
		words[i] = 0;
	record->anchor = record->wanted;
	barrier();
	record->changing++;
	return 0;
}

/* --- submissions --- */

/*
 * Lets userspace read the history before it is overwritten. If the ring is full, it does so at its
 * next reading.
 */
static __noinline int report_steps(u32 slot)
{
	struct record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record)
		return 0;
	record->type = RECORD_STEPS;
	record->slot = slot;
	bpf_ringbuf_submit(record, 0);
	return 0;
}

/* The contents of a regular step are not read. Not storing them spares the program's caches. */
static __always_inline bool is_as_usual(const struct step_record *record)
{
	return record->settled &&
	       record->totals.launches - record->own_launches <= 2ull * record->anchor.launches;
}

static __always_inline void put_step_code(struct step_record *record, u64 code)
{
	u32 at = record->count & (STEP_HISTORY - 1);
	u64 ns;

	if (record->anchor.serial != record->wanted.serial)
		change_anchor(record);
	ns = record->latest_ns;
	if (config.step_range) {
		record->count++;
		return;
	}
	if (is_as_usual(record)) {
		record->kept_from = record->count + 1;
	} else {
		record->codes[at] = code;
		record->stamps[at] = ns >> STEP_STAMP_SHIFT;
	}
	/* Only after the entry is complete. */
	barrier();
	record->count++;
	if (!(record->count & (STEP_HISTORY / 2 - 1)) && !record->wanted.serial)
		report_steps(record->slot);
	if (code == record->anchor.code &&
	    !((record->context ^ record->anchor.before) & record->anchor.mask))
		end_step(record, ns);
	record->context = step_context(record->context, code);
}

/* The thread's record; NULL until it has one. */
static __always_inline struct step_record *steps_of(struct thread *thread)
{
	if (!thread->steps)
		open_steps(thread);
	return step_record_at(thread->steps);
}

/* A launch at its entry, if returns are not followed. */
static __noinline int step_launch_enter(struct thread *thread, u64 handle)
{
	struct step_record *record = thread ? steps_of(thread) : NULL;

	if (!record)
		return 0;
	if ((!record->settled && !(record->count & (STEP_CLOCKED_LAUNCHES - 1))) ||
	    handle == record->anchor.code)
		record->latest_ns = now();
	record->totals.launches++;
	put_step_code(record, handle);
	return 0;
}

#endif

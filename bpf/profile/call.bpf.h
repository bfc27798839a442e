// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What each call adds to the profile of a run: where the thread's time goes, how launches follow
 * one another, and which waits follow them. Other topics have their own files.
 */
#ifndef BPF_PROFILE_CALL_BPF_H
#define BPF_PROFILE_CALL_BPF_H

#include "profile/profile.bpf.h"
#include "profile/copy.bpf.h"
#include "profile/error.bpf.h"
#include "profile/file.bpf.h"
#include "profile/size.bpf.h"
#include "launch/launch.bpf.h"
#include "memory/memory.bpf.h"

/* --- startup --- */

static __always_inline void note_start_sums(struct start_sums *sums,
					    const struct thread_profile *profile)
{
	for (u32 i = 0; i < TIME_CLASSES; i++)
		sums->inside[i] = profile->time[i].ns;
	__builtin_memcpy(sums->setup, profile->setup, sizeof(sums->setup));
	__builtin_memcpy(sums->setup_inside, profile->setup_inside, sizeof(sums->setup_inside));
	sums->loads = profile->loads;
	sums->uploads = profile->uploads;
}

/*
 * A thread's first launch has returned. The process's first thread to get here stores what it has
 * done so far.
 */
__noinline int note_first_launch(struct thread *thread, struct thread_profile *profile, u64 end_ns)
{
	struct process_profile *process = thread ? process_profile_at(thread->slot) : NULL;

	if (!process || !profile || process->launched_tid ||
	    __sync_val_compare_and_swap(&process->launched_tid, 0, profile->tid))
		return 0;
	note_start_sums(&process->launched, profile);
	*(volatile u64 *)&process->launched_ns = end_ns;
	return 0;
}

/* Global: the verifier does not follow the result once per class. */
__noinline u32 setup_of(u32 operation, u32 kind)
{
	return setup_class_of(operation, kind);
}

__noinline u32 time_of(u32 operation)
{
	return time_class_of(operation);
}

static __always_inline bool is_in_setup(const struct thread *thread)
{
	for (u32 i = 0; i < CALL_DEPTH && i < thread->depth; i++)
		if (setup_of(thread->calls[i].operation, thread->calls[i].kind) < SETUP_CLASSES)
			return true;
	return false;
}

/* A setup call has returned. */
__noinline int profile_setup(struct thread *thread, const struct call *call,
			     struct thread_profile *profile)
{
	u32 class, outer;

	if (!thread || !call || !profile || is_in_setup(thread))
		return 0;
	class = setup_of(call->operation, call->kind);
	outer = time_of(thread->depth ? thread->calls[0].operation : call->operation);
	barrier_var(class);
	barrier_var(outer);
	if (class >= SETUP_CLASSES || outer >= TIME_CLASSES)
		return 0;
	profile->setup[class] += call->end_ns - call->start_ns;
	profile->setup_inside[outer] += call->end_ns - call->start_ns;
	if (call->operation == OP_CREATE && class == SETUP_MODULE)
		profile->loads++;
	return 0;
}

static __always_inline void profile_upload(struct upload_sums *uploads, const struct call *call)
{
	if (call->operation != OP_COPY || call->kind != COPY_H2D ||
	    call->arg[COPY_FLAGS] & TALLY_CAPTURED)
		return;
	uploads->calls++;
	uploads->bytes += call->arg[COPY_BYTES];
	uploads->ns += call->end_ns - call->start_ns;
	if (call->arg[COPY_FLAGS] & TALLY_PAGEABLE)
		uploads->pageable_bytes += call->arg[COPY_BYTES];
}

/* --- launches and waits --- */

/* A launch that is executed has returned. */
static __always_inline void profile_launch(struct thread *thread, struct thread_profile *profile,
					   const struct call *call)
{
	u64 gap = 0, ns = call->end_ns - call->start_ns, before_ns = launched_before(profile);
	u32 bucket;

	if (before_ns) {
		gap = call->start_ns - before_ns;
		profile->gap_count++;
		profile->gap_ns += gap;
		bucket = bucket_of_time(gap);
		if (bucket < TIME_BUCKETS)
			profile->gaps[bucket]++;
	}
	if (before_ns && gap <= CHAINED_GAP_NS && !profile->others &&
	    !was_blind_since(before_ns, RATE_COPY, RATE_WAIT)) {
		add_time(&profile->chained, ns);
		profile->chained_gap_ns += gap;
	}
	if (!profile->launches++)
		note_first_launch(thread, profile, call->end_ns);
	profile->launches_since_wait++;
	profile->launched_ns = call->end_ns;
	profile->others = 0;
}

static __always_inline void profile_wait(struct thread_profile *profile, u64 ns, u64 end_ns)
{
	u64 since_ns = profile->waited_ns ? profile->waited_ns : profile->first_ns;

	if (was_blind_since(since_ns, RATE_LAUNCH, RATE_LAUNCH))
		add_time(&profile->blind_waits, ns);
	else if (!profile->launches_since_wait)
		add_time(&profile->bare_waits, ns);
	else if (profile->launches_since_wait == 1)
		add_time(&profile->single_waits, ns);
	else
		add_time(&profile->batch_waits, ns);
	profile->launches_since_wait = 0;
	profile->waited_ns = end_ns;
}

/* Allocations and frees by size. Captured calls and frees of unknown memory are left out. */
static __always_inline void profile_size(u32 slot, const struct call *call)
{
	struct size_key key = {.slot = slot, .kind = call->kind, .device = call->device};

	if (call->operation == OP_ALLOC && call->flag != ALLOC_CAPTURED) {
		key.size = call->arg[ALLOC_SIZE];
		key.row = call->row;
		size_allocated(&key, call, call->flag == ALLOC_ON_RECORD);
	} else if (call->operation == OP_FREE && call->flag == FREE_TAKEN) {
		key.size = call->arg[FREED_SIZE];
		key.row = call->extra;
		size_ended(&key, 1, call->end_ns - call->start_ns);
	}
}

/* Any call other than an executed launch. */
static __always_inline void profile_other(struct thread *thread, struct thread_profile *profile,
					  const struct call *call, s32 result)
{
	if (!thread->depth && call->operation != OP_ASK) /* getters are only probed at times */
		profile->others++;
	if (setup_class_of(call->operation, call->kind) < SETUP_CLASSES)
		profile_setup(thread, call, profile);
	if (result)
		return;
	profile_upload(&profile->uploads, call);
	if (call->operation == OP_WAIT)
		profile_wait(profile, call->end_ns - call->start_ns, call->end_ns);
}

/* A call has returned, and its family has handled it. Global: the verifier goes through it once. */
__noinline int profile_leave(struct thread *thread, struct call *call, s32 result)
{
	struct thread_profile *profile;
	u64 ns;

	if (!thread || !call)
		return 0;
	ns = call->end_ns - call->start_ns;
	note_duration(thread, call->row, ns);
	profile = profile_of(thread);
	if (!profile) {
		lose(LOSS_THREAD_ACCOUNTS);
		return 0;
	}
	if (!thread->depth)
		add_time(&profile->time[time_class_of(call->operation)], ns);
	profile->latest_ns = call->end_ns;
	if (!thread->depth)
		profile_error(profile, call, result);
	if ((call->operation == OP_LAUNCH && !call->arg[LAUNCH_CAPTURE]) ||
	    (call->operation == OP_GRAPH_LAUNCH && !call->arg[RUN_CAPTURE]))
		profile_launch(thread, profile, call);
	else
		profile_other(thread, profile, call, result);
	return 0;
}

/*
 * Effects of the call, nested or not, on memory. Runs once profile/work.bpf.h knows what has
 * emptied a queue.
 */
__noinline int profile_memory(u32 slot, const struct call *call, s32 result)
{
	struct process_profile *profile = process_profile_at(slot);

	if (!config.profile)
		return 0;
	if (!profile || !call)
		return 0;
	/* The most frequent case first. */
	if (queues_use(call)) {
		note_use(profile, true);
		return 0;
	}
	if (!result)
		profile_size(slot, call);
	if (call->operation == OP_ALLOC && call->kind == MEMORY_MANAGED)
		profile->managed = 1;
	if (call->operation == OP_COPY && !result)
		note_mapped_copy(slot, call);
	if (call->operation == OP_COPY || call->operation == OP_SET)
		profile_copy(slot, call, result);
	else if (uses_memory(call))
		note_use(profile, false);
	return 0;
}

#endif

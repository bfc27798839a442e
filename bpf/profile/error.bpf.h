// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Errors after which the program went on launching. An error counts if the thread neither queried
 * it nor reacted at once as a program does that has checked the result.
 */
#ifndef BPF_PROFILE_ERROR_BPF_H
#define BPF_PROFILE_ERROR_BPF_H

#include "profile/profile.bpf.h"
#include "object/context.bpf.h"

/*
 * Codes that answer a query (no such kernel, already registered, feature not supported) and are not
 * failures.
 */
#define CUDA_NOT_FOUND 500
#define CUDA_ALREADY_REGISTERED 712
#define CUDA_NOT_SUPPORTED 801

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ignored_key);
	__type(value, struct ignored_record);
} ignored SEC(".maps");

/* Counts the thread's pending error as ignored, if launches came after it. */
__noinline int fold_error(const struct thread_profile *profile)
{
	struct ignored_record *record, fresh = {};
	struct ignored_key key = {};
	int error;

	if (!config.profile)
		return 0;
	if (!profile || !profile->error_code || !profile->error_launches)
		return 0;
	key.slot = profile->slot;
	key.code = profile->error_code;
	key.row = profile->error_row;
	record = bpf_map_lookup_elem(&ignored, &key);
	if (!record) {
		fresh.first_ns = profile->error_ns;
		error = bpf_map_update_elem(&ignored, &key, &fresh, BPF_NOEXIST);
		record = bpf_map_lookup_elem(&ignored, &key);
		if (!record) {
			lose_update(error, LOSS_IGNORED_MAP_FULL);
			return 0;
		}
	}
	__sync_fetch_and_add(&record->calls, 1);
	__sync_fetch_and_add(&record->launches, profile->error_launches);
	record->stack = profile->error_stack;
	return 0;
}

/* An error query was called. Returns 1: its return is ignored. */
static __always_inline int ask_enter(const struct thread *thread)
{
	struct process_profile *process = process_profile_at(thread->slot);
	struct thread_profile *profile = profile_of(thread);

	if (process)
		__sync_fetch_and_add(&process->asks.calls, 1);
	if (profile)
		profile->error_code = 0;
	return 1;
}

static __always_inline bool is_unwelcome(const struct call *call, s32 result)
{
	if (!result || result == RESULT_ABANDONED || result == CUDA_NOT_READY ||
	    is_end_of_driver(result))
		return false;
	if (result == CUDA_NOT_SUPPORTED || result == CUDA_ALREADY_REGISTERED ||
	    (result == CUDA_NOT_FOUND && call->operation == OP_GET_KERNEL))
		return false;
	/* Getters are only probed at times, and many fail as their way to say no. */
	return call->operation != OP_ASK;
}

/* Whether the call, before any launch, is a reaction to the thread's pending error. */
static __always_inline bool acts_on_error(const struct thread_profile *profile,
					  const struct call *call, s32 result)
{
	const volatile struct function_desc *failed = function_at(profile->error_row);

	if (profile->error_launches || !failed)
		return false;
	/* After a failed free, further frees are not a reaction. */
	if (failed->operation == OP_FREE)
		return false;
	if (call->operation == OP_FREE)
		return true;
	if (call->operation == OP_CONTEXT)
		return is_end_of_context(call->kind);
	return !result && !profile->error_others && call->row == profile->error_row;
}

/* Whether a query of an error of that time may have been missed. */
static __always_inline bool may_have_asked(u64 error_ns)
{
	return *(volatile u64 *)&asks_unseen_until > error_ns;
}

/* An outermost call of the thread has returned. */
static __always_inline void profile_error(struct thread_profile *profile, const struct call *call,
					  s32 result)
{
	bool launches = time_class_of(call->operation) == TIME_LAUNCH;

	if (profile->error_code && may_have_asked(profile->error_ns)) {
		fold_error(profile);
		profile->error_code = 0;
	}
	if (profile->error_code) {
		if (launches)
			profile->error_launches++;
		else if (acts_on_error(profile, call, result))
			profile->error_code = 0;
		profile->error_others++;
	}
	if (!is_unwelcome(call, result) || may_have_asked(call->end_ns))
		return;
	fold_error(profile);
	profile->error_code = result;
	profile->error_row = call->row;
	profile->error_ns = call->end_ns;
	profile->error_launches = 0;
	profile->error_others = 0;
	profile->error_stack = config.stack_mode ? call->stack : 0;
}

#endif

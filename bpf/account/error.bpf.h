// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Errors that the program went on with launches after, as far as calls can
 * tell: it neither asked for the error, nor did it do at once what one does who
 * has looked at the result.
 */
#ifndef BPF_ACCOUNT_ERROR_BPF_H
#define BPF_ACCOUNT_ERROR_BPF_H

#include "account/account.bpf.h"
#include "object/context.bpf.h"

/* Answers rather than failures: about a kernel, asked for by name; about what has other ways to be done. */
#define CUDA_NOT_FOUND 500
#define CUDA_ALREADY_REGISTERED 712
#define CUDA_NOT_SUPPORTED 801

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ignored_key);
	__type(value, struct ignored_record);
} ignored SEC(".maps");

/* The thread's pending error has been ignored, if launches came after it. */
__noinline int fold_error(const struct thread_account *account)
{
	struct ignored_record *record, fresh = {};
	struct ignored_key key = {};
	int error;

	if (!config.account)
		return 0;
	if (!account || !account->error_code || !account->error_launches)
		return 0;
	key.slot = account->slot;
	key.code = account->error_code;
	key.row = account->error_row;
	record = bpf_map_lookup_elem(&ignored, &key);
	if (!record) {
		fresh.first_ns = account->error_ns;
		error = bpf_map_update_elem(&ignored, &key, &fresh, BPF_NOEXIST);
		record = bpf_map_lookup_elem(&ignored, &key);
		if (!record) {
			lose_update(error, LOSS_IGNORED_MAP_FULL);
			return 0;
		}
	}
	__sync_fetch_and_add(&record->calls, 1);
	__sync_fetch_and_add(&record->launches, account->error_launches);
	record->stack = account->error_stack;
	return 0;
}

/* What asks for errors has been called. Returns 1: its return is of no interest. */
static __always_inline int ask_enter(const struct thread *thread)
{
	struct process_account *process = process_account_at(thread->slot);
	struct thread_account *account = account_of(thread);

	if (process)
		__sync_fetch_and_add(&process->asks.calls, 1);
	if (account)
		account->error_code = 0;
	return 1;
}

static __always_inline bool is_unwelcome(const struct call *call, s32 result)
{
	if (!result || result == RESULT_ABANDONED || result == CUDA_NOT_READY || is_end_of_driver(result))
		return false;
	if (result == CUDA_NOT_SUPPORTED || result == CUDA_ALREADY_REGISTERED ||
	    (result == CUDA_NOT_FOUND && call->operation == OP_GET_KERNEL))
		return false;
	/* Getters are not always probed, and many fail to say no. */
	return call->operation != OP_ASK;
}

/* Whether the call, before any launch, is what one does about the thread's pending error. */
static __always_inline bool acts_on_error(const struct thread_account *account, const struct call *call,
					  s32 result)
{
	const volatile struct function_desc *failed = function_at(account->error_row);

	if (account->error_launches || !failed)
		return false;
	/* Frees in a row, of which one has failed, are no answer to that. */
	if (failed->operation == OP_FREE)
		return false;
	if (call->operation == OP_FREE)
		return true;
	if (call->operation == OP_CONTEXT)
		return is_end_of_context(call->kind);
	return !result && !account->error_others && call->row == account->error_row;
}

/* Whether the thread may have asked for an error of then without being seen. */
static __always_inline bool may_have_asked(u64 error_ns)
{
	return *(volatile u64 *)&asks_unseen_until > error_ns;
}

/* An outermost call of the thread has returned. */
static __always_inline void account_error(struct thread_account *account, const struct call *call, s32 result)
{
	bool launches = time_class_of(call->operation) == TIME_LAUNCH;

	if (account->error_code && may_have_asked(account->error_ns)) {
		fold_error(account);
		account->error_code = 0;
	}
	if (account->error_code) {
		if (launches)
			account->error_launches++;
		else if (acts_on_error(account, call, result))
			account->error_code = 0;
		account->error_others++;
	}
	if (!is_unwelcome(call, result) || may_have_asked(call->end_ns))
		return;
	fold_error(account);
	account->error_code = result;
	account->error_row = call->row;
	account->error_ns = call->end_ns;
	account->error_launches = 0;
	account->error_others = 0;
	account->error_stack = config.stack_mode ? call->stack : 0;
}

#endif

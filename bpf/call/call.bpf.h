// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A call from entry to return: its entry in the thread's record of calls in progress, and how its
 * outcome is counted.
 *
 * A call inside another of the same operation is the same act and is not counted again: cudaMalloc
 * that calls cuMemAlloc_v2 is one allocation. A recorded call encloses the present one while the
 * stack pointer is at or below where that call began. Once it is above, the call is gone, however
 * it ended (return, longjmp, exception), and its record is dropped.
 */
#ifndef BPF_CALL_CALL_BPF_H
#define BPF_CALL_CALL_BPF_H

#include "gpuprobe/sticky.h"
#include "stack/call_site.bpf.h"
#include "process/hold.bpf.h"
#include "call/argument.bpf.h"
#include "call/shim.bpf.h"
#include "call/switch.bpf.h"
#include "call/tally.bpf.h"
#include "call/thread.bpf.h"

#define CUDA_NOT_READY 600 /* a query's "not ready", which is not a failure */

#define NCCL_IN_PROGRESS 7 /* a communicator that does not block is begun, which is no failure */

static __always_inline bool has_failed(const struct call *call, s32 result)
{
	return result && !(result == NCCL_IN_PROGRESS && call->kind == OBJECT_NCCL &&
			   (call->operation == OP_CREATE || call->operation == OP_DESTROY));
}

/*
 * Result of a call that never returned: undone like a failed call, but not counted. Neither a
 * CUresult nor a cudaError_t.
 */
#define RESULT_ABANDONED 0x7fffffff

/*
 * call/abandon.bpf.h: undoes the thread's innermost call if that is gone, and returns whether it
 * was; and the further ones. `sp` is its stack pointer now, `entering` says whether another call
 * enters there.
 */
int abandon_innermost(struct thread *thread, u64 sp, u32 entering);
int abandon_further(struct thread *thread, u64 sp, u32 entering);

/* Undoes the thread's calls that are gone: mostly none. */
static __always_inline void abandon_gone_calls(struct thread *thread, u64 sp, bool entering)
{
	if (abandon_innermost(thread, sp, entering))
		abandon_further(thread, sp, entering);
}

/* Whether the thread's innermost recorded call began deeper in the stack than `sp`. */
static __always_inline bool innermost_is_below(const struct thread *thread, u64 sp)
{
	u32 depth = thread->depth;

	return depth && thread->calls[(depth - 1) & (CALL_DEPTH - 1)].sp < sp;
}

/* Forgets the calls of the thread that are gone: those that began below `sp`. */
static __always_inline void drop_gone_calls(struct thread *thread, u64 sp)
{
	u32 depth = thread->depth;

	for (int i = 0; i < CALL_DEPTH; i++) {
		if (!depth || thread->calls[(depth - 1) & (CALL_DEPTH - 1)].sp >= sp)
			break;
		depth--;
	}
	thread->depth = depth;
}

/*
 * Creating one kind of object may create or load others (creating a stream loads the library at
 * first use), and choosing a device reads the UUIDs of all devices.
 */
static __always_inline bool is_object_act(u8 operation)
{
	return operation == OP_CREATE || operation == OP_DESTROY || operation == OP_DEVICE;
}

static __always_inline bool is_same_act(const struct call *call, u32 row, u8 operation)
{
	const volatile struct function_desc *function;

	if (call->operation != operation)
		return false;
	if (!is_object_act(operation))
		return true;
	function = function_at(row);
	return function && function->kind == call->kind;
}

#define ANY_KIND ~0u

/*
 * Index of the outermost call in progress that is the same act as a call of `row`; CALL_DEPTH: none
 * is. Global: the verifier does not follow the result once per call.
 */
__noinline u32 same_act_around(const struct thread *thread, u32 row, u32 operation)
{
	const volatile struct function_desc *function;
	u32 kind = ANY_KIND;

	if (!thread)
		return CALL_DEPTH;
	if (is_object_act(operation)) {
		function = function_at(row);
		if (!function)
			return CALL_DEPTH;
		kind = function->kind;
	}
	for (u32 i = 0; i < CALL_DEPTH && i < thread->depth; i++)
		if (thread->calls[i].operation == operation &&
		    (kind == ANY_KIND || thread->calls[i].kind == kind))
			return i;
	return CALL_DEPTH;
}

/*
 * Whether a call in progress is the same act as the call that enters now at `site`. If both have
 * the same stack pointer, one function jumped to the other, or to the same function of another
 * library. A new call that replaces one that never returned has put its own return address there,
 * so is_in_progress() tells the two cases apart. Calls that are gone have been abandoned before.
 * Global: the verifier goes through it once, not for each path to it.
 */
__noinline int call_is_nested(struct thread *thread, u32 site, u32 operation)
{
	struct call *call;
	u32 at;

	if (!thread)
		return 0;
	at = same_act_around(thread, site & SITE_ROW, operation);
	if (at >= CALL_DEPTH)
		return false;
	call = &thread->calls[at & (CALL_DEPTH - 1)];
	if (is_in_progress(call->sp)) {
		note_shim(thread->slot, call->driver, site);
		return true;
	}
	thread->depth = at;
	return false;
}

static __always_inline void begin_call(struct thread *thread, struct call *call,
				       struct pt_regs *ctx, u32 site, u8 operation)
{
	call->sp = ctx->sp;
	call->row = site & SITE_ROW;
	call->driver = driver_of_site(site);
	call->operation = operation;
	call->flag = 0;
	if (config.profile)
		call->marked = 0;
	call->device = current_device(thread);
	call->counter_slot = thread->counter_slot;
	if (config.stack_mode) {
		call->function = ctx->ip;
		call->site = SITE_KINDS;
	}
	if (config.stack_mode > STACK_FP &&
	    bpf_probe_read_user(&call->caller, sizeof(call->caller), (void *)ctx->sp))
		call->caller = 0;
	call->start_ns = now();
}

/*
 * How long the calling process was held between `from_ns` and `to_ns`. Global: the verifier goes
 * through it once.
 */
__noinline u64 held_between(u64 from_ns, u64 to_ns)
{
	s32 pid = pid_of(BPF_CORE_READ(bpf_get_current_task_btf(), group_leader));
	const struct holds *own = bpf_map_lookup_elem(&holds, &pid);

	return own ? holds__within(own, from_ns, to_ns) : 0;
}

/* The time from `from_ns` to now, minus the time for which the calling process was held. */
static __always_inline u64 time_since(u64 from_ns)
{
	u64 to_ns = now();

	if (config.hold && let_go_ns > from_ns)
		return to_ns - from_ns - held_between(from_ns, to_ns);
	return to_ns - from_ns;
}

/*
 * Records the call that enters now. Returns NULL if it is nested in the same act, or too deep
 * (which is counted): then its return is ignored.
 */
static __always_inline struct call *call_enter(struct thread *thread, struct pt_regs *ctx, u32 site,
					       u8 operation)
{
	struct call *call;
	u32 depth;

	if (thread->depth && call_is_nested(thread, site, operation))
		return NULL;
	depth = thread->depth;
	if (depth >= CALL_DEPTH) {
		lose(LOSS_CALL_DEPTH);
		return NULL;
	}
	call = &thread->calls[depth & (CALL_DEPTH - 1)];
	begin_call(thread, call, ctx, site, operation);
	call->unfollowed = 0;
	thread->depth = depth + 1;
	return call;
}

/* Whether a call at `site` is the same act as the unfollowed call around it. */
static __always_inline bool is_unfollowed_again(const struct unfollowed_call *outer, u32 site,
						u8 operation)
{
	const volatile struct function_desc *inner = function_at(site & SITE_ROW),
					    *function = function_at(outer->row);

	if (outer->operation != operation || !inner || !function)
		return false;
	return !is_object_act(operation) || function->kind == inner->kind;
}

#define MADE_BY_OTHERS (-1)
#define MADE_BY_SAME 1

/*
 * What the unfollowed call `outer` is to a call that enters at `sp` and `site`: MADE_BY_SAME if it
 * encloses it and is the same act, MADE_BY_OTHERS if it is another act, 0 if it does not enclose
 * it. Global: the verifier goes through it once.
 */
__noinline int unfollowed_made(const struct unfollowed_call *outer, u64 sp, u32 site, u32 operation)
{
	if (!outer || !outer->sp || !is_within_unfollowed(outer, sp, site))
		return 0;
	return is_unfollowed_again(outer, site, operation) ? MADE_BY_SAME : MADE_BY_OTHERS;
}

/*
 * Index plus 1 of the unfollowed call that encloses a call entering at `sp` and `site` and is the
 * same act. MADE_BY_OTHERS: only other acts enclose it; 0: none does. Global: the verifier goes
 * through it once.
 */
__noinline int unfollowed_same_act(const struct unfollowed_calls *all, u64 sp, u32 site,
				   u32 operation)
{
	int found = 0;

	if (!all)
		return 0;
	for (int i = 0; i < UNFOLLOWED_CALLS; i++) {
		int made = unfollowed_made(&all->calls[i], sp, site, operation);

		if (made == MADE_BY_SAME)
			return i + 1;
		found |= made;
	}
	return found;
}

/*
 * Whether an unfollowed call counts: it does not if it is the same act as the call around it. Calls
 * nested in others are kept only if they may call another driver library behind theirs.
 */
static __noinline bool unfollowed_begins(struct thread *thread, u64 sp, u32 site, u8 operation)
{
	int made_by;

	if (!thread)
		return false;
	made_by = unfollowed_same_act(&thread->unfollowed, sp, site, operation);
	if (made_by > 0) {
		note_shim(thread->slot,
			  thread->unfollowed.calls[(made_by - 1) & (UNFOLLOWED_CALLS - 1)].driver,
			  site);
		return false;
	}
	if (!made_by || several_drivers)
		keep_unfollowed(&thread->unfollowed, sp, site, operation);
	return true;
}

/*
 * As call_enter, for a call whose return is not followed: it does not go on the thread's record.
 * Also returns NULL if it would overwrite a recorded call.
 */
static __always_inline struct call *
call_enter_unfollowed(struct thread *thread, struct pt_regs *ctx, u32 site, u8 operation)
{
	u32 depth = thread->depth;
	struct call *call;

	if (!unfollowed_begins(thread, ctx->sp, site, operation))
		return NULL;
	if (depth >= CALL_DEPTH) {
		lose(LOSS_CALL_DEPTH);
		return NULL;
	}
	call = &thread->calls[depth & (CALL_DEPTH - 1)];
	begin_call(thread, call, ctx, site, operation);
	call->unfollowed = 1;
	call->end_ns = call->start_ns;
	return call;
}

/*
 * Removes the call that returns now from the thread's record and returns its index; negative if it
 * was not recorded. `sp` is the stack pointer at its entry. Global: the verifier does not follow
 * calls of libraries and of CUDA separately from here.
 */
__noinline int take_returning(struct thread *thread, u64 sp)
{
	u32 depth;

	if (!thread)
		return -1;
	if (thread->in_library && thread->calls[LIBRARY_CALL].sp == sp) {
		thread->in_library = 0;
		return LIBRARY_CALL;
	}
	drop_gone_calls(thread, sp);
	depth = thread->depth;
	if (!depth || depth > CALL_DEPTH)
		return -1;
	if (thread->calls[(depth - 1) & (CALL_DEPTH - 1)].sp != sp)
		return -1;
	thread->depth = depth - 1;
	return (int)depth - 1;
}

/*
 * Removes the call that returns now from the thread's record and returns it; NULL if it was not
 * recorded. After the return instruction the stack pointer is one word above its value at entry.
 */
static __always_inline struct call *call_leave(struct thread *thread, struct pt_regs *ctx)
{
	u32 index = take_returning(thread, ctx->sp - 8);
	struct call *call;

	if (index > LIBRARY_CALL)
		return NULL;
	call = &thread->calls[index];
	call->end_ns = call->start_ns + time_since(call->start_ns);
	return call;
}

/*
 * CUDA_ERROR_DEINITIALIZED: the driver shuts down with the process. An unload or a context release
 * that comes too late is not a failure: every program with a static cudart makes some (PyTorch 19).
 */
static __always_inline bool is_end_of_driver(s32 result)
{
	return result == 4;
}

/*
 * The process met an error that makes CUDA unusable. The results of its later calls show whether
 * that holds.
 */
static __always_inline void note_sticky(u32 slot, s32 code)
{
	struct process_record *process = process_at(slot);

	if (!process)
		return;
	if (!process->sticky_code) {
		if (!error__is_sticky(code))
			return;
		if (!__sync_val_compare_and_swap(&process->sticky_code, 0, code)) {
			process->sticky_ns = now();
			any_sticky = 1;
			return;
		}
	}
	if (process->sticky_code == code)
		__sync_fetch_and_add(&process->sticky_failures, 1);
	else
		__sync_fetch_and_add(&process->after_sticky, 1);
}

/* Counts a successful call at its call site, for the kinds that are counted by site. */
static __always_inline void count_success_site(u32 slot, const struct call *call, u16 flags,
					       u64 bytes, u64 ns)
{
	struct call_site_key key = {
		.stack = call->stack, .what = call->row, .slot = slot, .kind = call->site};

	if (call->site == SITE_ALLOCATION && !(flags & (TALLY_CAPTURED | TALLY_REFERENCE)))
		count_site(&key, 1, bytes);
	else if (call->site == SITE_OBJECT &&
		 (call->operation != OP_CONTEXT || flags & TALLY_OBJECT))
		count_site(&key, 1, 0);
	else if ((call->site == SITE_WAIT || call->site == SITE_COPY) && !(flags & TALLY_CAPTURED))
		count_site(&key, 1, ns);
}

/*
 * Counts a successful call. Global, as the next function: the verifier goes through each once, and
 * their stack use does not add to that of their inlined callers (512 bytes for all functions that
 * call each other).
 */
__noinline int count_success(u32 slot, const struct call *call, u8 kind, u16 flags, u64 bytes)
{
	struct tally *tally;
	u64 ns, bits;

	if (!call)
		return 0;
	if (call->unfollowed)
		flags |= TALLY_UNFOLLOWED;
	ns = call->end_ns - call->start_ns;
	if (config.stack_mode)
		count_success_site(slot, call, flags, bytes, ns);
	bits = tally_bits(slot, call->row, kind, flags, call->device);
	if (!count_by_thread(call->counter_slot, bits, bytes, ns)) {
		tally = tally_of(slot, call->row, kind, flags, call->device);
		if (tally)
			add_tally(tally, 1, bytes, ns);
		else
			count_other_calls(slot, 1, 0, ns);
	}
	if (any_sticky)
		note_sticky(slot, 0);
	return 0;
}

static __always_inline void count_failure_site(u32 slot, const struct call *call, s32 code)
{
	struct call_site_key key = {
		.stack = call->stack,
		.what = (u64)call->row << 32 | (u32)code,
		.slot = slot,
		.kind = SITE_FAILURE,
	};

	count_site(&key, 1, 0);
}

/*
 * A failure that is new to the process. Without a free entry it goes to the process's other
 * failures.
 */
static __always_inline struct failure_record *failure_first_sight(const struct failure_key *key)
{
	struct failure_record *failure = NULL, fresh = {.first_ns = now()};
	struct process_record *process = process_at(key->slot);
	int error = 0;

	if (!process)
		return NULL;
	if (process->failure_keys < FAILURES_KEPT) {
		error = bpf_map_update_elem(&failures, key, &fresh, BPF_NOEXIST);
		failure = bpf_map_lookup_elem(&failures, key);
	}
	if (failure) {
		__sync_fetch_and_add(&process->failure_keys, 1);
		return failure;
	}
	lose_update(error, LOSS_ERROR_MAP_FULL);
	__sync_fetch_and_add(&process->other_failures, 1);
	return NULL;
}

__noinline int count_failure(u32 slot, const struct call *call, u8 kind, u16 flags, s32 code)
{
	struct failure_key key = {
		.slot = slot, .code = code, .sampled = flags & TALLY_SAMPLED ? 1 : 0};
	struct failure_record *failure;
	struct tally *tally;

	if (!call || code == RESULT_ABANDONED)
		return 0;
	if (wants_site(SITE_FAILURE))
		count_failure_site(slot, call, code);
	key.row = call->row;
	tally = tally_of(slot, call->row, kind, flags, call->device);
	if (tally) {
		__sync_fetch_and_add(&tally->failures, 1);
		__sync_fetch_and_add(&tally->other_ns, call->end_ns - call->start_ns);
	} else {
		count_other_calls(slot, 0, 1, call->end_ns - call->start_ns);
	}
	note_sticky(slot, code);
	failure = bpf_map_lookup_elem(&failures, &key);
	if (!failure)
		failure = failure_first_sight(&key);
	if (!failure)
		return 0;
	__sync_fetch_and_add(&failure->count, 1);
	failure->last_ns = now();
	return 0;
}

#endif

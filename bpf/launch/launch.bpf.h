// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Launches: each one is counted at entry, by process, kernel handle and device. One in
 * config.launch_sample, and the first of each kernel, is examined more closely, also at its return.
 * This is the hottest path of gpuprobe.
 */
#ifndef BPF_LAUNCH_LAUNCH_BPF_H
#define BPF_LAUNCH_LAUNCH_BPF_H

#include "profile/outstanding.bpf.h"
#include "launch/capture.bpf.h"
#include "launch/name.bpf.h"
#include "launch/shape.bpf.h"
#include "steps/steps.bpf.h"
#include "stack/take_stack.bpf.h"

/* call.flag */
#define LAUNCH_SAMPLED 0x01
#define LAUNCH_FIRST 0x02 /* the kernel's first launch */
#define LAUNCH_LOADS 0x04 /* a module or library load happened inside it */
/* call.arg */
#define LAUNCH_CAPTURE 0
#define LAUNCH_HANDLE 1

/* Kernels whose name could not be read yet; retried at sampled launches. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct kernel_key);
	__type(value, u8);
} unnamed SEC(".maps");

/* Reads the name of a kernel that is new, and remembers the kernel for a retry if that fails. */
static __always_inline void name_kernel(const struct kernel_key *key)
{
	u8 pending = 1;

	/* Userspace reads the names of kernels that do not fit here. */
	if (send_name_of_handle(key))
		bpf_map_update_elem(&unnamed, key, &pending, BPF_ANY);
	else
		bpf_map_delete_elem(&unnamed, key);
}

#define NOT_COUNTED (~0ull)

static __noinline u64 *kernel_first_sight(struct launch_key *key)
{
	bool is_new = false;
	u64 *count;

	if (!key)
		return NULL;
	count = add_kernel(key, &is_new);
	if (is_new)
		name_kernel(&key->kernel);
	return count;
}

/* The kernel's counter in the map, created if needed; NULL if there is no room. */
static __noinline u64 *shared_launches(struct launch_key *key)
{
	u64 *count;

	if (!key)
		return NULL;
	count = bpf_map_lookup_elem(&launches, key);
	return count ? count : kernel_first_sight(key);
}

/*
 * Moves the counting of the kernel's launches to the thread, and counts one. Returns as
 * count_launch. Global: the verifier goes through it once.
 */
__noinline u64 claim_launches(struct thread *thread, u64 handle, u64 where)
{
	u32 index = scatter(handle) & (THREAD_LAUNCHES - 1);
	struct launch_key key;
	struct thread_counts *own;
	struct thread_launch *mine;
	u64 *count;

	if (!thread)
		return NOT_COUNTED;
	key = launch_key_of(thread->slot, handle, where);
	count = shared_launches(&key);
	if (!count)
		return NOT_COUNTED;
	own = thread_counts_at(thread->counter_slot);
	if (!own)
		return __sync_fetch_and_add(count, 1);
	spill_launches(thread->slot, thread->counter_slot, index);
	mine = &own->launches[index];
	mine->handle = handle;
	mine->where = where | (*count + 1) << WHERE_BITS;
	barrier();
	mine->launches = 1;
	return *count;
}

/* Returns approximately how many launches of the kernel came before, or NOT_COUNTED. */
static __always_inline u64 count_launch(struct thread *thread, u64 handle, u64 where)
{
	struct thread_counts *own = thread_counts_at(thread->counter_slot);
	struct thread_launch *mine;
	u64 known;

	if (!own)
		return claim_launches(thread, handle, where);
	mine = &own->launches[scatter(handle) & (THREAD_LAUNCHES - 1)];
	known = mine->where;
	if (mine->handle != handle || !is_same_site(known, where) || !mine->launches)
		return claim_launches(thread, handle, where);
	mine->where = known + (1ull << WHERE_BITS);
	mine->launches++;
	return known >> WHERE_BITS;
}

/*
 * Records the launch, so that its return is followed. Returns 1 if the return is to be ignored,
 * otherwise 0.
 */
static __always_inline int follow_launch(struct thread *thread, struct pt_regs *ctx, u32 site,
					 u8 flags, u64 capture, u64 handle, u64 stream)
{
	struct call *call = call_enter(thread, ctx, site, OP_LAUNCH);

	if (!call) {
		/* Whether the launch succeeds, and so is in the graph, will not be seen. */
		capture_add(thread->slot, capture, 0, true);
		lose_sight_too_deep(thread);
		return 1;
	}
	call->flag = flags;
	call->arg[LAUNCH_CAPTURE] = capture;
	call->arg[LAUNCH_HANDLE] = handle;
	if (config.profile) {
		call->noted = stream;
		begin_submission(thread, call);
	}
	return 0;
}

/* Counts the launch at its call site. Separate because of its stack use. */
static __noinline int note_launch_of(struct pt_regs *ctx, struct thread *thread, u64 handle,
				     u64 where)
{
	struct launch_key key;

	if (!thread)
		return 0;
	key = launch_key_of(thread->slot, handle, where);
	note_launch(ctx, thread, &key);
	return 0;
}

/* The capture that records the launch; 0 if it is executed. */
static __noinline u64 capture_of_launch(struct pt_regs *ctx,
					const volatile struct function_desc *function,
					struct thread *thread)
{
	return capture_of(thread, function, stream_of_launch(ctx, function));
}

/*
 * Samples a launch. `seen` is struct thread_launch's `where`. Returns flags for its call. Separate
 * because of its stack use.
 */
static __noinline u8 sample_launch(struct pt_regs *ctx,
				   const volatile struct function_desc *function,
				   const struct thread *thread, u64 handle, u64 seen)
{
	/* With a profile, every return is examined anyway. */
	u8 flags = config.launch_sample > 1 && !config.profile ? LAUNCH_SAMPLED : 0;
	struct launch_key key;

	if (!thread)
		return 0;
	key = launch_key_of(thread->slot, handle, seen);
	if (sample_shape(ctx, function, thread, &key.kernel))
		flags |= LAUNCH_FIRST;
	if (seen >> WHERE_BITS && bpf_map_lookup_elem(&unnamed, &key.kernel))
		name_kernel(&key.kernel);
	return flags;
}

/* Whether launches of driver libraries can be recorded. */
static __always_inline bool sees_launches_return(void)
{
	return config.launch_returns || config.links == LINKS_SESSION;
}

#define LAUNCH_IS_PART 1    /* part of a launch that has been counted */
#define LAUNCH_IS_SHIMMED 2 /* its driver library may be in front of another one, or behind one */

/*
 * How a launch relates to the thread's calls in progress: LAUNCH_*. Global: the verifier goes
 * through it once, and treats its result as a single state.
 */
__noinline int launch_within(struct thread *thread, u64 sp, u32 site, u32 follows)
{
	struct process_record *process = thread ? process_at(thread->slot) : NULL;
	int shimmed;

	if (!process)
		return LAUNCH_IS_PART;
	shimmed = several_drivers && note_driver(process, site) ? LAUNCH_IS_SHIMMED : 0;
	if (follows && (both_layers || shimmed) && call_is_nested(thread, site, OP_LAUNCH))
		return LAUNCH_IS_PART;
	if ((!follows || (shimmed && !sees_launches_return())) &&
	    !unfollowed_begins(thread, sp, site, OP_LAUNCH))
		return LAUNCH_IS_PART;
	return shimmed;
}

/* Returns 1 if the call's return is to be ignored; always if not `follows`. */
static __always_inline int launch_enter(struct pt_regs *ctx,
					const volatile struct function_desc *function,
					struct thread *thread, u32 site, bool follows)
{
	struct process_record *process = process_at(thread->slot);
	u64 before, handle, where, capture = 0, stream = 0;
	bool each, sampled;
	int within = 0;
	u8 flags = 0;

	if (!process)
		return 1;
	if (both_layers || several_drivers || !follows)
		within = launch_within(thread, ctx->sp, site, follows);
	if (within & LAUNCH_IS_PART)
		return 1;
	if (process->captures)
		capture = capture_of_launch(ctx, function, thread);
	handle = argument_here(ctx, function->location[ROLE_FUNC]);
	where = where_launched(process->generation, current_device(thread), capture != 0);
	before = count_launch(thread, handle, where);
	if (before == NOT_COUNTED) {
		count_other_launches(thread->slot, device_launched(where), capture != 0, 1);
		before = 1;
	}
	if (wants_site(SITE_LAUNCH) && !capture)
		note_launch_of(ctx, thread, handle, where);
	if (config.steps && !config.profile && !capture)
		step_launch_enter(thread, handle);
	sampled = !(before & (config.launch_sample - 1));
	if (sampled)
		flags = sample_launch(ctx, function, thread, handle, where | before << WHERE_BITS);
	/*
	 * A nested launch is recognized only if the enclosing one is recorded, so runtime launches
	 * and those of a shim always are.
	 */
	each = config.profile || (both_layers && function->layer == LAYER_RUNTIME) ||
	       (within & LAUNCH_IS_SHIMMED && sees_launches_return());
	if (!follows && config.profile)
		lose_sight(thread->slot);
	if (!follows || (!each && !config.launch_returns)) {
		capture_add(thread->slot, capture, 1, false);
		return 1;
	}
	if (config.profile)
		stream = stream_id(function, stream_of_launch(ctx, function));
	if (each || capture)
		return follow_launch(thread, ctx, site, flags & LAUNCH_FIRST, capture, handle,
				     stream);
	return sampled ? follow_launch(thread, ctx, site, flags, 0, handle, 0) : 1;
}

static __always_inline void launch_leave(struct thread *thread, const struct call *call, s32 result)
{
	u64 capture = call->arg[LAUNCH_CAPTURE];
	u16 flags = 0;

	if (call->flag & LAUNCH_SAMPLED)
		flags |= TALLY_SAMPLED;
	if (call->flag & LAUNCH_FIRST)
		flags |= TALLY_FIRST;
	if (capture)
		flags |= TALLY_CAPTURED;
	if (result) {
		count_failure(thread->slot, call, 0, flags, result);
		return;
	}
	count_success(thread->slot, call, 0, flags, 0);
	if (capture)
		capture_add(thread->slot, capture, 1, false);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Threads that switch stacks inside a call: coroutines, handlers on an alternate signal stack. The
 * kernel keeps a thread's return probes in the order of one stack, and kills a process whose calls
 * return in another order (arch_uretprobe_is_alive of Linux). So if a call enters while an earlier
 * one waits on another stack, its return is not followed. Such a call is counted from its
 * arguments.
 */
#ifndef BPF_CALL_SWITCH_BPF_H
#define BPF_CALL_SWITCH_BPF_H

#include "core/site.bpf.h"

#define PAGE 4096ull
#define ONE_STACK_PAGES 64 /* calls that are further apart cannot be nested in each other */

/* Whether the address is on the calling thread's alternate signal stack. */
static __always_inline bool is_on_signal_stack(u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return sp - task->sas_ss_sp < task->sas_ss_size;
}

/*
 * Whether calls that entered at `sp` and at `other` are on one stack. If so, the pages between the
 * two are in use or were recently; between two stacks there are untouched pages. Two adjacent
 * stacks, each used up to its end, are mistaken for one. Global: the verifier goes through it once.
 */
__noinline int is_one_stack(u64 sp, u64 other)
{
	u64 low = sp < other ? sp : other, high = sp < other ? other : sp, page = low & ~(PAGE - 1);
	u8 byte;

	if (is_on_signal_stack(sp) != is_on_signal_stack(other))
		return false;
	for (int i = 0; i < ONE_STACK_PAGES; i++) {
		page += PAGE;
		if (page > high)
			return true;
		if (bpf_probe_read_user(&byte, sizeof(byte), (void *)page))
			return false;
	}
	return false;
}

/*
 * Whether the unfollowed call has not returned yet. Another tracer may follow its return, so both
 * return addresses count.
 */
static __always_inline bool is_unfollowed_in_progress(const struct unfollowed_call *call)
{
	u64 caller;

	if (bpf_probe_read_user(&caller, sizeof(caller), (void *)call->sp))
		return false;
	return caller == call->caller || is_in_progress(call->sp);
}

/*
 * Whether the unfollowed call entered at `site`, or at the same function of another library with
 * the same number.
 */
static __always_inline bool is_at_site(const struct unfollowed_call *call, u32 site)
{
	return call->row == (site & SITE_ROW) && call->driver == site >> SITE_DRIVER_SHIFT;
}

/* Whether a call that enters at `sp` and `site` is nested in the unfollowed call `outer`. */
static __always_inline bool is_within_unfollowed(const struct unfollowed_call *outer, u64 sp,
						 u32 site)
{
	if (outer->sp < sp || (outer->sp == sp && is_at_site(outer, site)) ||
	    !is_one_stack(sp, outer->sp))
		return false;
	return is_unfollowed_in_progress(outer);
}

/* Index plus 1 of the unfollowed call around one that enters at `sp` and `site`; 0: none. */
__noinline int unfollowed_around(const struct unfollowed_calls *all, u64 sp, u32 site)
{
	if (!all)
		return 0;
	for (int i = 0; i < UNFOLLOWED_CALLS; i++)
		if (all->calls[i].sp && is_within_unfollowed(&all->calls[i], sp, site))
			return i + 1;
	return 0;
}

/*
 * Keeps the call that enters at `sp`, which is in no other unfollowed call, in place of one that
 * has returned.
 */
__noinline int keep_unfollowed(struct unfollowed_calls *all, u64 sp, u32 site, u32 operation)
{
	struct unfollowed_call *call;
	u32 index;

	if (!all)
		return 0;
	index = all->next++;
	for (u32 i = 0; i < UNFOLLOWED_CALLS; i++) {
		if (all->calls[i].sp == sp || !is_unfollowed_in_progress(&all->calls[i])) {
			index = i;
			break;
		}
	}
	call = &all->calls[index & (UNFOLLOWED_CALLS - 1)];
	call->sp = sp;
	call->row = site & SITE_ROW;
	call->driver = site >> SITE_DRIVER_SHIFT;
	call->operation = operation;
	if (bpf_probe_read_user(&call->caller, sizeof(call->caller), (void *)sp))
		call->caller = 0;
	return 0;
}

#endif

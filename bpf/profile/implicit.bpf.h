// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls that block a thread between launches although they are not waits. They count once a launch
 * follows; if a wait follows instead, the thread would have waited anyway.
 */
#ifndef BPF_PROFILE_IMPLICIT_BPF_H
#define BPF_PROFILE_IMPLICIT_BPF_H

#include "profile/profile.bpf.h"
#include "launch/launch.bpf.h"

#define SLOW_LAUNCH_NS 100000 /* a kernel's first launch that took less was not delayed */

/* Frees that wait for the device. */
static __always_inline bool is_blocking_free(const volatile struct function_desc *function)
{
	if (function->operation != OP_FREE || function->flags & FUNCTION_ASYNC)
		return false;
	return function->kind == MEMORY_DEVICE || function->kind == MEMORY_HOST ||
	       function->kind == MEMORY_REGISTERED || function->kind == MEMORY_ARRAY;
}

/* The kind of implicit wait in a blocking call; IMPLICIT_WAITS: none of these. */
static __always_inline enum implicit_wait
implicit_wait_of(const volatile struct function_desc *function)
{
	bool blocks = !(function->flags & FUNCTION_ASYNC);

	switch (function->operation) {
	case OP_COPY: return blocks ? IMPLICIT_COPY : IMPLICIT_WAITS;
	case OP_SET: return blocks ? IMPLICIT_SET : IMPLICIT_WAITS;
	case OP_FREE: return is_blocking_free(function) ? IMPLICIT_FREE : IMPLICIT_WAITS;
	case OP_CREATE:
		return function->kind == OBJECT_MODULE || function->kind == OBJECT_LIBRARY ?
			       IMPLICIT_LOAD :
			       IMPLICIT_WAITS;
	default: return IMPLICIT_WAITS;
	}
}

static __always_inline void add_pending(struct thread_profile *profile, u32 cause, u64 ns)
{
	if (cause >= IMPLICIT_WAITS || !profile->launches_since_wait)
		return;
	barrier_var(cause);
	add_time(&profile->pending[cause], ns);
	profile->pending_calls++;
}

static __noinline int count_pending(struct thread *thread)
{
	struct thread_profile *profile = profile_of(thread);

	if (!profile)
		return 0;
	for (u32 i = 0; i < IMPLICIT_WAITS; i++) {
		profile->implicit[i].calls += profile->pending[i].calls;
		profile->implicit[i].ns += profile->pending[i].ns;
		profile->pending[i] = (struct time_totals){};
	}
	profile->pending_calls = 0;
	return 0;
}

static __always_inline void drop_pending(struct thread_profile *profile)
{
	if (!profile->pending_calls)
		return;
	for (u32 i = 0; i < IMPLICIT_WAITS; i++)
		profile->pending[i] = (struct time_totals){};
	profile->pending_calls = 0;
}

#endif

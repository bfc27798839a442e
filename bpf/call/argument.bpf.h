// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The row of a called function, and the call's arguments at its entry. */
#ifndef BPF_CALL_ARGUMENT_BPF_H
#define BPF_CALL_ARGUMENT_BPF_H

#include "call/thread.bpf.h"

static __always_inline const volatile struct function_desc *function_at(u32 row)
{
	/*
	 * The verifier only accepts the access if the compiler checks the same value that it
	 * computes the address from, and checks it first.
	 */
	barrier_var(row);
	if (row >= MAX_FUNCTIONS)
		return NULL;
	barrier_var(row);
	return &functions[row];
}

/* The argument at `location` at function entry; 0 for LOCATION_NONE. */
static __always_inline u64 argument_here(struct pt_regs *ctx, u32 location)
{
	u64 value = 0;

	if (location == LOCATION_NONE)
		return 0;
	switch (location & LOCATION_MASK) {
	case 0: value = ctx->di; break;
	case 1: value = ctx->si; break;
	case 2: value = ctx->dx; break;
	case 3: value = ctx->cx; break;
	case 4: value = ctx->r8; break;
	case 5: value = ctx->r9; break;
	default:
		if (bpf_probe_read_user(&value, sizeof(value),
					(void *)(ctx->sp + 8 * (u64)((location & LOCATION_MASK) -
								     LOCATION_STACK + 1))))
			lose(LOSS_UNREADABLE);
	}
	return location & LOCATION_32 ? (u32)value : value;
}

/* The name by which the kernel knows a probe's context in a global function's arguments. */
struct bpf_user_pt_regs_t {
};

/*
 * Not inlined: it has so many callers that it would make up a sixth of the program, and the
 * verifier's time grows with the length. Global: the verifier goes through it once.
 */
__noinline u64 argument_at(struct bpf_user_pt_regs_t *ctx, u32 location)
{
	return argument_here((struct pt_regs *)ctx, location);
}

/* The argument that has `role` in `function`, at its entry; 0 if there is none. */
static __always_inline u64 argument(struct pt_regs *ctx,
				    const volatile struct function_desc *function, enum role role)
{
	return argument_at((struct bpf_user_pt_regs_t *)ctx, function->location[role]);
}

/* The address of a structure passed by value on the stack. */
static __always_inline u64 stack_address(struct pt_regs *ctx,
					 const volatile struct function_desc *function,
					 enum role role)
{
	return ctx->sp + 8 * (u64)((function->location[role] & LOCATION_MASK) - LOCATION_STACK + 1);
}

static __always_inline bool has_role(const volatile struct function_desc *function, enum role role)
{
	return function->location[role] != LOCATION_NONE;
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Builds an event and puts it into the ring; include/gpuprobe/trace.h has the layout. It is built
 * in the thread's storage, where its call is kept, and copied to the ring in one piece.
 */
#ifndef BPF_TRACE_EVENT_BPF_H
#define BPF_TRACE_EVENT_BPF_H

#include "trace/stack.bpf.h"

#define REGISTERS 6
/* Room for a string: the shown bytes, one more that shows truncation, and the NUL. */
#define STRING_ROOM (TRACE_STRING_SIZE + 2)
#define BLOCK_ROOM (2 + STRING_ROOM)

/* Completes the block at `at`, whose `length` bytes are in place. */
static __always_inline void end_block(struct traced_call *call, u32 at, u16 length)
{
	if (at > TRACE_PAYLOAD_MAX - 2)
		return;
	call->payload[at] = length & 0xff;
	call->payload[at + 1] = length >> 8;
	call->used = at + 2 + (length == TRACE_UNREADABLE ? 0 : length);
}

static __always_inline u16 read_string(u8 *to, u64 address)
{
	long n = bpf_probe_read_user_str(to, STRING_ROOM, (void *)address);

	return n <= 0 ? TRACE_UNREADABLE : n - 1;
}

/*
 * Appends a block with the data at `address`. Global, as the next function: the verifier goes
 * through each once.
 */
__noinline int add_block(struct traced_call *call, u64 address, u32 kind, u32 size)
{
	u16 length;
	u32 at;
	u8 *to;

	if (!call)
		return 0;
	at = call->used;
	if (at > TRACE_PAYLOAD_MAX - BLOCK_ROOM) {
		end_block(call, at, TRACE_UNREADABLE);
		return 0;
	}
	to = call->payload + at + 2;
	if (kind == TRACE_READ_POINTED && address &&
	    bpf_probe_read_user(&address, sizeof(address), (void *)address)) {
		end_block(call, at, TRACE_UNREADABLE);
		return 0;
	}
	if (!address) {
		length = 0;
	} else if (kind == TRACE_READ_BYTES) {
		if (size > TRACE_BLOCK_MAX)
			size = TRACE_BLOCK_MAX;
		length = bpf_probe_read_user(to, size, (void *)address) ? TRACE_UNREADABLE : size;
	} else {
		length = read_string(to, address);
	}
	end_block(call, at, length);
	return 0;
}

/*
 * Appends the first word of each kernel argument. Each pointer in kernelParams points to one
 * argument, whose size the API does not reveal.
 */
__noinline int add_kernel_arguments(struct traced_call *call, u64 params)
{
	u64 pointer, value;
	u32 at, count = 0;

	if (!call)
		return 0;
	at = call->used;
	if (at > TRACE_PAYLOAD_MAX - 2 - TRACE_ARGS_MAX * sizeof(u64)) {
		end_block(call, at, TRACE_UNREADABLE);
		return 0;
	}
	for (u32 i = 0; i < TRACE_ARGS_MAX; i++) {
		if (i >= trace.kernel_args)
			break;
		if (bpf_probe_read_user(&pointer, sizeof(pointer),
					(void *)(params + i * sizeof(u64))) ||
		    bpf_probe_read_user(&value, sizeof(value), (void *)pointer))
			break;
		*(u64 *)(call->payload + at + 2 + i * sizeof(u64)) = value;
		count = i + 1;
	}
	end_block(call, at, count * sizeof(u64));
	return 0;
}

/*
 * CU_LAUNCH_PARAM_BUFFER_POINTER of <cuda.h>: the word after it points to all arguments in one
 * buffer.
 */
#define LAUNCH_PARAM_BUFFER_POINTER 1

/* Appends the first words of the argument buffer described by `extra` of a launch. */
static __always_inline void add_argument_buffer(struct traced_call *call, u64 extra)
{
	u64 pair[2];

	for (u32 i = 0; i < 3; i++) {
		if (bpf_probe_read_user(pair, sizeof(pair), (void *)(extra + i * sizeof(pair))))
			break;
		if (pair[0] != LAUNCH_PARAM_BUFFER_POINTER)
			continue;
		add_block(call, pair[1], TRACE_READ_BYTES, trace.kernel_args * sizeof(u64));
		return;
	}
	add_block(call, 0, TRACE_READ_BYTES, 0);
}

/* The argument word `index` of the event. */
static __always_inline u64 word_of(const struct traced_call *call, u32 index)
{
	return index < TRACE_WORDS ? *(const u64 *)(call->payload + index * sizeof(u64)) : 0;
}

static __always_inline void add_launch_arguments(struct traced_call *call,
						 const struct trace_plan *plan)
{
	u64 params = word_of(call, plan->args_word);

	if (params || plan->extra_word == TRACE_NO_WORD)
		add_kernel_arguments(call, params);
	else
		add_argument_buffer(call, word_of(call, plan->extra_word));
}

/* Appends the plan's reads that are made at entry, or those that are made at return. */
static __always_inline void add_reads(struct traced_call *call, const struct trace_plan *plan,
				      bool at_return)
{
	for (u32 i = 0; i < TRACE_READS; i++) {
		const struct trace_read *read = &plan->read[i];

		if (i >= plan->reads)
			break;
		if (!!read->at_return == at_return)
			add_block(call, word_of(call, read->word), read->kind, read->size);
	}
}

/* A failed call is not read from: its blocks are present, but empty. */
static __always_inline void add_empty_reads(struct traced_call *call, const struct trace_plan *plan)
{
	for (u32 i = 0; i < TRACE_READS; i++) {
		if (i >= plan->reads)
			break;
		if (plan->read[i].at_return)
			end_block(call, call->used, 0);
	}
}

/*
 * Keeps the arguments: the registers, the stack slots that the plan requests, and after them the
 * other words.
 */
static __always_inline void keep_words(struct traced_call *call, struct pt_regs *ctx,
				       const struct trace_plan *plan, u64 stack)
{
	u64 *words = (u64 *)call->payload;
	u32 count = plan->words;

	words[0] = ctx->di;
	words[1] = ctx->si;
	words[2] = ctx->dx;
	words[3] = ctx->cx;
	words[4] = ctx->r8;
	words[5] = ctx->r9;
	if (count > TRACE_WORDS)
		count = TRACE_WORDS;
	if (count > REGISTERS &&
	    bpf_probe_read_user(words + REGISTERS, (count - REGISTERS) * sizeof(u64),
				(void *)(ctx->sp + 8)))
		lose(LOSS_UNREADABLE);
	call->event.words = count;
	if (plan->flags & TRACE_PLAN_KERNEL) {
		call->kernel_at = count * sizeof(u64);
		words[count++] = 0;
	}
	if (config.stack_mode)
		words[count++] = stack;
	call->used = count * sizeof(u64);
}

/* Puts a call's event into the ring. Returns -1 and counts a loss if there is no room. */
static __noinline int put_event(struct traced_thread *thread, struct traced_call *call, u32 type)
{
	u64 size, flags;

	if (!thread || !call)
		return -1;
	call->event.type = type;
	call->event.thread = thread->number;
	size = call->used;
	if (size > TRACE_PAYLOAD_MAX)
		size = TRACE_PAYLOAD_MAX;
	size += sizeof(call->event);
	flags = wake_flags(size);
	if ((thread->announced || !announce(thread)) &&
	    !bpf_ringbuf_output(&ring, &call->event, size, flags))
		return 0;
	lose_call(trace.entry_return && type != TRACE_ENTRY && type != TRACE_UNFOLLOWED ?
			  TRACE_LOST_RETURN :
			  TRACE_LOST_RING);
	return -1;
}

#endif

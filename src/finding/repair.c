// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the repair of the main reason can save, see repair.h. The loop is the innermost function
 * that is on all stacks of the submitting threads. Its statement is found by that function's line.
 */
#include "finding/repair.h"

#include <string.h>

#include "model/user_line.h"

/* a location outside CUDA calls with less of its thread's time does not tell where the loop is */
#define LEAST_PART 0.01

/* --- the program's own frames, from the outermost on --- */

struct own_frames {
	const struct stack *stack;
	uint8_t kind;  /* lines of Python take precedence, as in user_line__find */
	uint32_t next; /* 1 + index in the stack */
};

static struct own_frames own_frames_of(const struct stack *stack)
{
	const struct stack_frame *line = user_line__find(stack);

	return (struct own_frames){
		.stack = stack, .kind = line ? line->kind : 0, .next = line ? stack->count : 0};
}

/* NULL: no more. */
static const struct stack_frame *next_of(struct own_frames *frames)
{
	while (frames->next) {
		const struct stack_frame *frame = &frames->stack->frames[--frames->next];

		if (frame->kind == frames->kind && user_line__is_own(frame))
			return frame;
	}
	return NULL;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_same_function(const struct stack_frame *a, const struct stack_frame *b)
{
	return is_same_text(a->function, b->function) && is_same_text(a->file, b->file) &&
	       is_same_text(a->object, b->object);
}

/* How many of the outermost functions both stacks have in common. */
static uint32_t common_depth(const struct stack *a, const struct stack *b)
{
	struct own_frames of_a = own_frames_of(a), of_b = own_frames_of(b);
	uint32_t depth = 0;

	for (;;) {
		const struct stack_frame *frame_a = next_of(&of_a), *frame_b = next_of(&of_b);

		if (!frame_a || !frame_b || !is_same_function(frame_a, frame_b))
			return depth;
		depth++;
	}
}

static const struct stack_frame *frame_at(const struct stack *stack, uint32_t depth)
{
	struct own_frames frames = own_frames_of(stack);
	const struct stack_frame *frame = NULL;

	for (uint32_t i = 0; i < depth; i++)
		frame = next_of(&frames);
	return frame;
}

/* --- the loop's statement --- */

/* Work is submitted in the loop, however short that takes. */
static bool is_in_loop(const struct host_location *location, uint64_t thread_ns)
{
	return location->class != HOST_OUTSIDE ||
	       (double)location->ns >= LEAST_PART * (double)thread_ns;
}

static uint64_t sum_of(const struct host_thread *thread)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < thread->location_count; i++)
		ns += thread->locations[i].ns;
	return ns;
}

struct loop_search {
	uint32_t depth; /* of the innermost function that all stacks so far have in common */
	bool submits;	/* a call into CUDA is among them */
};

static void look_at_thread(const struct host_reason *reason, const struct host_thread *thread,
			   struct loop_search *search)
{
	uint64_t ns = sum_of(thread);

	for (size_t i = 0; i < thread->location_count; i++) {
		const struct host_location *location = &thread->locations[i];
		uint32_t depth;

		if (!user_line__find(location->stack) || !is_in_loop(location, ns))
			continue;
		depth = common_depth(reason->stack, location->stack);
		/* Another thread may have a loop of its own. */
		if (!depth && thread != reason->thread)
			continue;
		search->depth = depth < search->depth ? depth : search->depth;
		search->submits = search->submits || location->class != HOST_OUTSIDE;
	}
}

/*
 * Depth of the loop's function in the reason's stack. 0: the stacks have none in common, or none of
 * them submits work, so that their innermost function may be only a part of the loop.
 */
static uint32_t loop_depth(const struct host_reasons *reasons, const struct host_reason *reason)
{
	struct loop_search search = {.depth = common_depth(reason->stack, reason->stack)};

	for (size_t i = 0; i < reasons->process->thread_count; i++)
		if (reasons->process->threads[i].submits)
			look_at_thread(reason, &reasons->process->threads[i], &search);
	return search.submits ? search.depth : 0;
}

/* Without line numbers, a function is one statement. */
static bool is_of_statement(const struct host_location *location, const struct stack *stack,
			    uint32_t depth)
{
	const struct stack_frame *here, *there;

	if (common_depth(location->stack, stack) < depth)
		return false;
	here = frame_at(location->stack, depth);
	there = frame_at(stack, depth);
	return !here->line || !there->line || here->line == there->line;
}

/* A wait for another submitting thread is that one's time. */
static uint64_t of_statement(const struct host_thread *thread, const struct stack *stack,
			     uint32_t depth)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < thread->location_count; i++)
		if (thread->locations[i].activity != ACTIVITY_TEAM &&
		    is_of_statement(&thread->locations[i], stack, depth))
			ns += thread->locations[i].ns;
	return ns;
}

static double share_of(uint64_t ns, uint64_t all_ns)
{
	return ns < all_ns ? (double)ns / (double)all_ns : 1;
}

/*
 * Submitting threads may work in turn, in parallel, or hardly at all. So it is the share of all
 * their time, or of the time of the reason's thread alone.
 */
static double statement_share(const struct host_reasons *reasons, const struct host_reason *reason,
			      uint32_t depth)
{
	const struct host_process *process = reasons->process;
	uint64_t all_ns = 0;
	double all, own;

	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].submits)
			all_ns += of_statement(&process->threads[i], reason->stack, depth);
	all = share_of(all_ns, reasons->ns);
	own = share_of(of_statement(reason->thread, reason->stack, depth), sum_of(reason->thread));
	return all > own ? all : own;
}

bool repair__of_main_reason(const struct host_reasons *reasons, struct repair *repair)
{
	const struct host_reason *reason = reasons->items;
	double kind, statement;
	uint32_t depth;

	if (!reasons->count || !reasons->ns)
		return false;
	depth = reason->line ? loop_depth(reasons, reason) : 0;
	statement = depth ? statement_share(reasons, reason, depth) : 1;
	kind = share_of(reason->kind_ns, reasons->ns);
	repair->everywhere = reason->kind != HOST_CPU && kind >= statement;
	repair->share = repair->everywhere ? kind : statement;
	return true;
}

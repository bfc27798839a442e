// SPDX-License-Identifier: BSD-2-Clause
// What a thread does or waits for, see host_kind.h.
#include "finding/host_kind.h"

#include <string.h>

const char *host_kind__doing(enum host_kind kind)
{
	static const char *const words[HOST_KINDS] = {
		[HOST_CPU] = "on the CPU",
		[HOST_IN_LAUNCH] = "in launches",
		[HOST_IN_MEMORY] = "allocating and freeing",
		[HOST_IN_COPY] = "copying",
		[HOST_IN_WAIT] = "waiting for the GPU",
		[HOST_IN_MODULE] = "loading modules",
		[HOST_IN_GRAPH] = "making graphs",
		[HOST_IN_OTHER] = "in other CUDA calls",
		[HOST_LOCK] = "waiting for a lock",
		[HOST_GIL] = "waiting for Python's GIL",
		[HOST_QUEUE] = "waiting for a queue",
		[HOST_OUTPUT] = "waiting for a reader",
		[HOST_DISK] = "waiting for a disk",
		[HOST_FAULT] = "in page faults",
		[HOST_SLEEP] = "sleeping",
		[HOST_READY] = "waiting for a CPU",
		[HOST_THROTTLED] = "throttled by its cgroup",
		[HOST_STOPPED] = "stopped",
		[HOST_OFF] = "waiting for something else",
	};

	return kind < HOST_KINDS && words[kind] ? words[kind] : "doing something else";
}

const char *host_kind__advice(enum host_kind kind)
{
	static const char *const advice[HOST_KINDS] = {
		/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
		[HOST_CPU] = "Prepare that ahead, in DataLoader workers or another thread, "
			     "or do it on the GPU",
		[HOST_IN_LAUNCH] = "Launch less: CUDA graphs, torch.compile, larger batches",
		[HOST_IN_MEMORY] = "Keep the memory: use a caching allocator, or reuse buffers",
		[HOST_IN_COPY] = "Copy from pinned memory, asynchronously, and less often",
		[HOST_IN_WAIT] = "Wait for results only now and then",
		[HOST_IN_MODULE] = "Load modules before the loop",
		[HOST_IN_GRAPH] = "Capture once, and launch that graph again",
		[HOST_LOCK] = "Hold the lock for less time",
		[HOST_GIL] = "Move the work that holds the GIL to another process",
		[HOST_QUEUE] = "The threads that fill the queue do not keep up: use more of them, "
			       "or give each less work",
		[HOST_OUTPUT] = "Write less, or make the reader faster",
		[HOST_DISK] = "Read ahead, keep the files in memory, or put them on a faster disk",
		[HOST_FAULT] = "Reuse memory that was touched before, and read files ahead of time",
		[HOST_SLEEP] = "Wait for the event itself instead of sleeping",
		[HOST_READY] = "Give the program CPUs of its own, or fewer threads",
		[HOST_THROTTLED] = "Raise the CPU limit of its control group",
	};

	return kind < HOST_KINDS ? advice[kind] : NULL;
}

/* --- from the stack --- */

static bool is_queue_of_python(const struct stack_frame *frame)
{
	const char *base =
		frame->kind == FRAME_PYTHON && frame->file ? strrchr(frame->file, '/') : NULL;

	return base && (!strcmp(base, "/queue.py") || !strcmp(base, "/queues.py"));
}

/* A function of the C library, which C++'s std::condition_variable also uses. */
static bool is_condition(const struct stack_frame *frame)
{
	const char *name = frame->kind == FRAME_NATIVE && frame->function ? frame->function : "";

	return !strncmp(name + strspn(name, "_"), "pthread_cond_", strlen("pthread_cond_"));
}

/*
 * The kernel reports a lock when a thread waits in a Python queue or on a condition variable. There
 * it waits for another thread to fill or empty the queue, or to do its part. On some systems
 * Python's own locks are condition variables; those still count as locks.
 */
static bool is_in_queue(const struct stack *stack)
{
	bool python = false, condition = false;

	for (uint32_t i = 0; stack && i < stack->count; i++) {
		if (is_queue_of_python(&stack->frames[i]))
			return true;
		python = python || stack->frames[i].kind == FRAME_PYTHON;
		condition = condition || is_condition(&stack->frames[i]);
	}
	return condition && !python;
}

/* Also matches the C library's names: __libc_recv, __GI___select. */
static bool is_in_one_of(const struct stack *stack, const char *const functions[])
{
	for (uint32_t i = 0; stack && i < stack->count; i++) {
		const char *name =
			stack->frames[i].kind == FRAME_NATIVE && stack->frames[i].function ?
				stack->frames[i].function :
				"";

		name += strspn(name, "_");
		name += !strncmp(name, "GI_", strlen("GI_")) ? strlen("GI_") : 0;
		name += strspn(name, "_");
		name += !strncmp(name, "libc_", strlen("libc_")) ? strlen("libc_") : 0;
		for (size_t k = 0; functions[k]; k++)
			if (!strcmp(name, functions[k]))
				return true;
	}
	return false;
}

/* To the kernel, waiting for input and waiting for room to write look the same. */
static bool is_writing(const struct stack *stack)
{
	static const char *const functions[] = {"write",  "writev",  "send",
						"sendto", "sendmsg", NULL};

	return is_in_one_of(stack, functions);
}

static enum host_kind kind_in_call(enum host_class class)
{
	static const enum host_kind kinds[HOST_CLASSES] = {
		[HOST_LAUNCHES] = HOST_IN_LAUNCH, [HOST_MEMORY] = HOST_IN_MEMORY,
		[HOST_MODULE] = HOST_IN_MODULE,	  [HOST_CAPTURE] = HOST_IN_GRAPH,
		[HOST_COPIES] = HOST_IN_COPY,	  [HOST_WAITS] = HOST_IN_WAIT,
		[HOST_CALLS] = HOST_IN_OTHER,
	};

	return kinds[class];
}

enum host_kind host_kind__of(const struct host_location *location, bool limited)
{
	static const enum host_kind kinds[HOST_ACTIVITIES] = {
		[ACTIVITY_CPU] = HOST_CPU,
		[ACTIVITY_LOCK] = HOST_LOCK,
		[ACTIVITY_GIL] = HOST_GIL,
		[ACTIVITY_QUEUE] = HOST_QUEUE,
		[ACTIVITY_DISK] = HOST_DISK,
		[ACTIVITY_FAULT] = HOST_FAULT,
		[ACTIVITY_SLEEP] = HOST_SLEEP,
		[ACTIVITY_READY] = HOST_READY,
		[ACTIVITY_THROTTLED] = HOST_THROTTLED,
		[ACTIVITY_STOPPED] = HOST_STOPPED,
		[ACTIVITY_TEAM] = HOST_OFF,
		[ACTIVITY_OTHER] = HOST_OFF,
	};

	if (location->class != HOST_OUTSIDE && location->activity != ACTIVITY_STOPPED)
		return kind_in_call(location->class);
	if (location->activity == ACTIVITY_READY && limited)
		return HOST_THROTTLED;
	if (location->activity == ACTIVITY_QUEUE && is_writing(location->stack))
		return HOST_OUTPUT;
	return location->activity == ACTIVITY_LOCK && is_in_queue(location->stack) ?
		       HOST_QUEUE :
		       kinds[location->activity];
}

/* C library functions in which servers wait for clients; reads from pipes and files use others. */
bool host_kind__is_at_a_socket(const struct stack *stack)
{
	static const char *const functions[] = {
		"epoll_wait", "epoll_pwait", "epoll_pwait2", "accept",	"accept4",
		"select",     "recv",	     "recvfrom",     "recvmsg", NULL};

	return is_in_one_of(stack, functions);
}

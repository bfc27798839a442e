// SPDX-License-Identifier: BSD-2-Clause
// The current device of a thread; see device.h.
#include "trace/device.h"

#include <string.h>

#include "api/api.h"

int16_t trace_device__of(const struct trace_thread *thread)
{
	return thread->pushed > CONTEXTS_PUSHED ? -1 : thread->current[thread->pushed].device;
}

static uint64_t argument(const struct trace_event *event, uint8_t location)
{
	uint8_t word = location & LOCATION_MASK;

	if (location == LOCATION_NONE || word >= event->words)
		return 0;
	return location & LOCATION_32 ? (uint32_t)event->payload[word] : event->payload[word];
}

/* Steps over a block; returns false if the event ends before the block. */
static bool take_block(const char **at, const char *end, const char **bytes, uint16_t *length)
{
	if (end - *at < (ptrdiff_t)sizeof(*length))
		return false;
	memcpy(length, *at, sizeof(*length));
	*bytes = *at += sizeof(*length);
	if (*length == TRACE_UNREADABLE)
		return true;
	if (end - *at < *length)
		return false;
	*at += *length;
	return true;
}

/* The 64 bits that the call wrote through the argument in `location`; 0 if not recorded. */
static uint64_t written(const struct trace_plan *plan, bool kernel_args, bool has_stack,
			const struct trace_event *event, size_t size, uint8_t location)
{
	const char *at = (const char *)(event->payload + event->words),
		   *end = (const char *)event + size, *bytes;
	unsigned int before = 0;
	uint64_t value;
	uint16_t length;

	at += plan->flags & TRACE_PLAN_KERNEL ? sizeof(uint64_t) : 0;
	at += has_stack ? sizeof(uint64_t) : 0;
	before += plan->flags & TRACE_PLAN_ARGS && kernel_args;
	for (size_t i = 0; i < plan->reads; i++)
		before += !plan->read[i].at_return;
	while (before--) {
		if (at > end || !take_block(&at, end, &bytes, &length))
			return 0;
	}
	for (size_t i = 0; i < plan->reads; i++) {
		if (!plan->read[i].at_return)
			continue;
		if (at > end || !take_block(&at, end, &bytes, &length))
			return 0;
		if (plan->read[i].word != (location & LOCATION_MASK) || length != sizeof(value))
			continue;
		memcpy(&value, bytes, sizeof(value));
		return value;
	}
	return 0;
}

static int16_t device_of(const struct traced_process *process, uint64_t context)
{
	uint32_t count =
		process->context_count < CONTEXTS_KNOWN ? process->context_count : CONTEXTS_KNOWN;

	for (uint32_t i = 0; context && i < count; i++) {
		if (process->contexts[i].context == context)
			return process->contexts[i].device;
	}
	return -1;
}

static void learn(struct traced_process *process, uint64_t context, int16_t device)
{
	uint32_t count =
		process->context_count < CONTEXTS_KNOWN ? process->context_count : CONTEXTS_KNOWN;

	for (uint32_t i = 0; i < count; i++) {
		if (process->contexts[i].context == context) {
			process->contexts[i].device = device;
			return;
		}
	}
	process->contexts[process->context_count++ % CONTEXTS_KNOWN] =
		(struct context_device){.context = context, .device = device};
}

static void set_current(struct trace_thread *thread, uint64_t context, int16_t device)
{
	if (thread->pushed <= CONTEXTS_PUSHED)
		thread->current[thread->pushed] =
			(struct context_device){.context = context, .device = device};
}

static void pop(struct trace_thread *thread)
{
	set_current(thread, 0, -1);
	if (thread->pushed)
		thread->pushed--;
}

static void push(struct trace_thread *thread, uint64_t context, int16_t device)
{
	thread->pushed++;
	set_current(thread, context, device);
}

static void end(struct trace_thread *thread, uint64_t context)
{
	if (device_of(thread->process, context) >= 0)
		learn(thread->process, context, -1);
	if (thread->pushed <= CONTEXTS_PUSHED && thread->current[thread->pushed].context == context)
		pop(thread);
}

void trace_device__follow(struct trace_thread *thread, const struct trace_plan *plan,
			  bool kernel_args, bool has_stack, const struct trace_event *event,
			  size_t size)
{
	const struct function_desc *desc;
	uint64_t context;
	int16_t device;

	if (event->row >= api_function_count || thread->process->shown.number == PROCESS_NOT_TOLD)
		return;
	desc = &api_functions[event->row].desc;
	device = (int16_t)argument(event, desc->location[ROLE_DEVICE]);
	if (desc->operation == OP_DEVICE && desc->kind == DEVICE_CURRENT)
		set_current(thread, 0, device);
	if (desc->operation != OP_CONTEXT)
		return;
	context = argument(event, desc->location[ROLE_CTX]);
	switch (desc->kind) {
	case CONTEXT_SET:
		if (context)
			set_current(thread, context, device_of(thread->process, context));
		else
			pop(thread);
		break;
	case CONTEXT_PUSH: push(thread, context, device_of(thread->process, context)); break;
	case CONTEXT_POP: pop(thread); break;
	case CONTEXT_CREATE:
	case CONTEXT_RETAIN:
		context = written(plan, kernel_args, has_stack, event, size,
				  desc->location[ROLE_CTX]);
		if (context)
			learn(thread->process, context, device);
		if (desc->kind == CONTEXT_CREATE)
			push(thread, context, device);
		break;
	case CONTEXT_DESTROY:
	case CONTEXT_DETACH: end(thread, context); break;
	}
}

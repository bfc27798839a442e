/* SPDX-License-Identifier: BSD-2-Clause */
/* Which device a thread's calls act on, as far as its calls that change that are traced. */
#ifndef TRACE_DEVICE_H
#define TRACE_DEVICE_H

#include "trace/function.h"
#include "trace/threads.h"

/* The process's own number of the device, or -1: not known. */
int16_t trace_device__of(const struct trace_thread *thread);

/*
 * Takes in what a successful call of the thread has changed. `plan` is its
 * function's; `kernel_args` and `has_stack`: whether those are in events. The event's size has been checked for its words only.
 */
void trace_device__follow(struct trace_thread *thread, const struct trace_plan *plan,
			  bool kernel_args, bool has_stack, const struct trace_event *event, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The current device of a thread, as far as the calls that change it are traced. */
#ifndef TRACE_DEVICE_H
#define TRACE_DEVICE_H

#include "trace/function.h"
#include "trace/threads.h"

/* The process's own number of the device, or -1 if unknown. */
int16_t trace_device__of(const struct trace_thread *thread);

/*
 * Applies what a successful call of the thread has changed. `plan` is its function's; `kernel_args`
 * and `has_stack` say whether events contain those. Only the words of the event have been checked
 * against its size.
 */
void trace_device__follow(struct trace_thread *thread, const struct trace_plan *plan,
			  bool kernel_args, bool has_stack, const struct trace_event *event,
			  size_t size);

#endif

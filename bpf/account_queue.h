// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * When a device's queue is known to be empty, and for how long. Work is noted
 * when its call has returned, so that what is not of an epoch before a wait's
 * may be after it; a wait that has ended with no such work has emptied the queue.
 * What cannot be told leaves it not empty: an idle time that is missed is no
 * harm, one that was none is.
 *
 * A launch that comes ends the idle time. Copies on the way to it do not, but
 * their time does not count.
 */
#ifndef BPF_ACCOUNT_QUEUE_H
#define BPF_ACCOUNT_QUEUE_H

#include "account.h"
#include "account_stream.h"
#include "copy.h"

#define UNKNOWN_QUEUE (ACCOUNT_DEVICES - 1)

static __always_inline u32 queue_of(u8 device)
{
	return device < UNKNOWN_QUEUE ? device : UNKNOWN_QUEUE;
}

static __always_inline struct device_queue *queue_at(struct process_account *process, u32 number)
{
	/* The compiler knows that it is, and leaves the check out, but the verifier does not. */
	barrier_var(number);
	if (number >= ACCOUNT_DEVICES)
		return NULL;
	return &process->queues[number];
}

static __always_inline u64 inside_of(const struct thread_account *account)
{
	u64 ns = 0;

	for (u32 i = 0; i < TIME_CLASSES; i++)
		ns += account->time[i].ns;
	return ns;
}

/* --- work --- */

static __always_inline void note_queue_stream(struct device_queue *queue, u64 stream)
{
	u64 other = queue->stream;

	if (!other)
		other = __sync_val_compare_and_swap(&queue->stream, 0, stream);
	if (other && other != stream && !queue->mixed)
		queue->mixed = 1;
}

static __always_inline void note_queue_context(struct device_queue *queue, u64 context)
{
	u64 other = queue->context;

	if (!other)
		other = __sync_val_compare_and_swap(&queue->context, 0, context);
	if (other && other != context && !queue->shared)
		queue->shared = 1;
}

/* Work of this epoch has come. The epoch first: a wait that ends now looks at it again once it has told that all is done. */
static __always_inline void note_work(const struct thread *thread, struct device_queue *queue, u32 number, u64 stream,
				      u64 epoch)
{
	u64 context = current_context(thread);

	if (queue->launched_epoch < epoch)
		raise_max(&queue->launched_epoch, epoch);
	if (queue->stream != stream)
		note_queue_stream(queue, stream);
	if (number != UNKNOWN_QUEUE && queue->context != context && context)
		note_queue_context(queue, context);
}

/* Whether work may have come to the queue's device since that wait, by a thread of which the device is not known. */
static __always_inline bool has_work_elsewhere(struct process_account *process, u32 number, u64 epoch)
{
	u64 latest = 0;

	if (number != UNKNOWN_QUEUE)
		return process->queues[UNKNOWN_QUEUE].launched_epoch >= epoch;
	for (u32 i = 0; i < UNKNOWN_QUEUE; i++)
		if (process->queues[i].launched_epoch > latest)
			latest = process->queues[i].launched_epoch;
	return latest >= epoch;
}

/* The time that the queue has been empty for when this launch came; 0: not known to have been. Of several that come at once, one has it. */
static __always_inline u64 take_idle_time(struct device_queue *queue, const struct call *call, u64 *since)
{
	u64 copied = queue->copied_ns, busy = queue->busy_ns, end = call->start_ns;

	*since = __sync_lock_test_and_set(&queue->empty_ns, 0);
	if (busy && busy < end)
		end = busy;
	return *since && end > *since + copied ? end - *since - copied : 0;
}

static __always_inline void note_idle_gap(struct thread_account *account, u64 gap, u64 since, u64 inside)
{
	account->idle_gaps++;
	account->idle_ns += gap;
	if (account->inside_since == since) {
		inside -= account->inside_ns;
		account->idle_inside_ns += inside < gap ? inside : gap;
	}
}

/*
 * A launch has ended an idle time. Threads whose device is not known may be on several: their waits are for their
 * own. Returns whether it is the thread's longest.
 */
static __noinline int end_idle_time(struct thread *thread, struct call *call, struct process_account *process,
				    u32 number)
{
	struct device_queue *queue = queue_at(process, number);
	struct thread_account *account = account_of(thread);
	u64 since, gap, own_ns = thread->depth ? 0 : call->end_ns - call->start_ns;

	if (!queue)
		return 0;
	gap = take_idle_time(queue, call, &since);
	if (gap <= IDLE_GAP_NS || !account || has_work_elsewhere(process, number, queue->empty_epoch))
		return 0;
	if (number == UNKNOWN_QUEUE && queue->empty_tid != (u32)bpf_get_current_pid_tgid())
		return 0;
	note_idle_gap(account, gap, since, inside_of(account) - own_ns);
	if (gap <= account->idle_max_ns)
		return 0;
	account->idle_max_ns = gap;
	account->idle_stack = 0;
	return 1;
}

/* An asynchronous copy: the idle time stands still. */
static __always_inline void note_copy_work(struct device_queue *queue, const struct call *call)
{
	if (call->kind != COPY_H2D && call->kind != COPY_D2H && !queue->used)
		queue->used = 1;
	if (queue->empty_ns && !queue->busy_ns)
		queue->busy_ns = call->start_ns;
}

/* --- what empties a queue --- */

/* A proof that a queue is empty. */
struct emptying {
	u64 epoch;    /* all work before it is done, */
	u64 stream;   /* of this stream; 0: of all of the context's */
	u64 context;  /* 0: not known */
	u64 since_ns; /* of a copy that waited: its start; 0: else */
	u32 queue;
	u32 pad;
};

/* It was empty all the time, but for copies that are done now. */
static __always_inline void go_on_empty(struct device_queue *queue, const struct emptying *emptying, u64 end_ns)
{
	u64 busy = queue->busy_ns;

	if (!busy)
		busy = emptying->since_ns;
	queue->busy_ns = 0;
	if (busy && end_ns > busy)
		__sync_fetch_and_add(&queue->copied_ns, end_ns - busy);
}

static __always_inline void begin_empty(struct device_queue *queue, const struct emptying *emptying, u64 end_ns)
{
	queue->busy_ns = 0;
	queue->copied_ns = 0;
	queue->empty_epoch = emptying->epoch;
	queue->empty_tid = (u32)bpf_get_current_pid_tgid();
	__sync_lock_test_and_set(&queue->empty_ns, end_ns);
}

static __always_inline bool proves_empty(const struct device_queue *queue, const struct emptying *emptying)
{
	if (!queue->launched_epoch || queue->launched_epoch >= emptying->epoch || queue->shared)
		return false;
	if (queue->context && queue->context != emptying->context)
		return false;
	if (!emptying->stream)
		return true;
	return !queue->mixed && (!queue->stream || queue->stream == emptying->stream);
}

static __noinline int note_empty(struct process_account *process, const struct emptying *emptying, u64 end_ns)
{
	struct device_queue *queue = queue_at(process, emptying->queue);

	if (!queue || !proves_empty(queue, emptying))
		return 0;
	queue->stream = 0;
	queue->mixed = 0;
	queue->used = 0;
	if (queue->empty_ns)
		go_on_empty(queue, emptying, end_ns);
	else
		begin_empty(queue, emptying, end_ns);
	/* Work that came meanwhile: which stream's, nobody knows now. */
	if (queue->launched_epoch >= emptying->epoch) {
		queue->mixed = 1;
		__sync_lock_test_and_set(&queue->empty_ns, 0);
	}
	return 0;
}

/* What the thread has spent inside calls so far, for the idle time that has begun or that it has not looked at yet. */
static __always_inline void note_inside(struct thread_account *account, const struct device_queue *queue, u64 start_ns,
					u64 ns)
{
	u64 since = queue->empty_ns;

	if (!since || account->inside_since == since)
		return;
	account->inside_since = since;
	account->inside_ns = inside_of(account) - (start_ns >= since ? ns : 0);
}

/* Nobody knows whether the call has put work on the device, and whether it will. */
static __always_inline void spoil_queue(struct device_queue *queue, u64 epoch)
{
	raise_max(&queue->launched_epoch, epoch);
	queue->mixed = 1;
	__sync_lock_test_and_set(&queue->empty_ns, 0);
}

#endif

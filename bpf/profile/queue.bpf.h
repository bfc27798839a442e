// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * When a device is idle as far as this process is concerned, and for how long. Work is noted when
 * its call has returned, so only work of epochs before a wait's is known to precede the wait.
 *
 * There are two measures. `idle_ns` sums all times without work, from the return of the call that
 * proves it to the entry of the next call that may submit work. Gaps are for findings: times of
 * more than IDLE_GAP_NS from a proof to the next launch. Copies in between do not end a gap, but
 * their time is not counted.
 */
#ifndef BPF_PROFILE_QUEUE_BPF_H
#define BPF_PROFILE_QUEUE_BPF_H

#include "profile/outstanding.bpf.h"
#include "copy/copy.bpf.h"
#include "process/share.bpf.h"

/* Work from before the process was watched is assumed finished after this time. */
#define EARLIER_WORK_NS 2000000000ull

static __always_inline u64 inside_of(const struct thread_profile *profile)
{
	u64 ns = 0;

	for (u32 i = 0; i < TIME_CLASSES; i++)
		ns += profile->time[i].ns;
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

/* The calling thread submits work to a context that was created before the process was watched. */
static __always_inline void note_strange(struct process_profile *process)
{
	u64 tid = (u32)bpf_get_current_pid_tgid(), other = process->strange_tid;

	if (!other)
		other = __sync_val_compare_and_swap(&process->strange_tid, 0, tid);
	if (other && other != tid && other != NO_SUBMISSION)
		process->strange_tid = NO_SUBMISSION;
}

/*
 * Whether all unknown contexts are one and the same. A thread keeps its context: a change would
 * have been seen.
 */
static __always_inline bool is_one_strange(const struct process_profile *process)
{
	return process->one_device || process->strange_tid == (u32)bpf_get_current_pid_tgid();
}

/* Sends an idle time to userspace, if requested. */
static __always_inline int report_idle_time(u32 slot, u32 device, u64 begin_ns, u64 end_ns)
{
	struct process_record *process = process_at(slot);
	struct record_idle *record;

	if (!config.idle_records || !process || !may_notify(process))
		return 0;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		lose(LOSS_RING_FULL);
		return 0;
	}
	record->header.type = RECORD_IDLE;
	record->header.slot = slot;
	record->begin_ns = begin_ns;
	record->end_ns = end_ns;
	record->device = device;
	record->pad = 0;
	bpf_ringbuf_submit(record, 0);
	notified(process, sizeof(*record));
	return 0;
}

/*
 * A call that began at `end_ns` has submitted work. Other threads may have begun earlier and not
 * noted their work yet.
 */
__noinline int end_idle(const struct thread *thread, u32 number, u64 end_ns)
{
	struct process_profile *process = thread ? process_profile_at(thread->slot) : NULL;
	struct device_queue *queue = process ? queue_at(process, number) : NULL;
	u64 since, other;

	since = queue ? __sync_lock_test_and_set(&queue->idle_since_ns, 0) : 0;
	if (!since || was_blind_since(since, RATE_LAUNCH, RATE_COPY))
		return 0;
	/* A submitter that is not listed may have begun at any time. */
	if (*(volatile u64 *)&process->unlisted_submitters)
		return 0;
	other = earliest_submission(process, thread->slot, thread->counter_slot);
	if (other < end_ns)
		end_ns = other;
	if (end_ns <= since)
		return 0;
	__sync_fetch_and_add(&queue->idle_ns, end_ns - since);
	__sync_fetch_and_add(&queue->idle_times, 1);
	return report_idle_time(thread->slot, number, since, end_ns);
}

/* Work on an unknown device may be on any device. */
static __always_inline void end_idle_of(const struct thread *thread,
					struct process_profile *process, u32 number, u64 end_ns)
{
	for (u32 i = 0; number == UNKNOWN_QUEUE && i < UNKNOWN_QUEUE; i++)
		if (process->queues[i].idle_since_ns)
			end_idle(thread, i, end_ns);
	if (number < PROFILE_DEVICES && process->queues[number].idle_since_ns)
		end_idle(thread, number, end_ns);
}

/* Returns whether the stream was listed or the list is full; false: the list is locked. */
static __always_inline bool try_list(const struct thread *thread, struct device_queue *queue,
				     u64 id)
{
	struct stream_key key = stream_key_of_id(thread, id);
	bool listed;

	if (!lock_word(&queue->lock))
		return false;
	listed = list_stream(queue, key.stream, key.scope);
	unlock_word(&queue->lock);
	if (!listed)
		loosen_queue(queue, work_epoch(thread->slot));
	return true;
}

/*
 * The stream has work now. If another thread holds the list, the stream is listed at this thread's
 * next call.
 */
static __always_inline void note_outstanding(const struct thread *thread,
					     struct device_queue *queue, u32 number, u64 id)
{
	struct thread_profile *profile = profile_of(thread);
	u64 where = id | (u64)number << STREAM_ID_DEVICE_SHIFT;

	if (try_list(thread, queue, id))
		return;
	if (!profile || (profile->unlisted && profile->unlisted != where)) {
		loosen_queue(queue, work_epoch(thread->slot));
	} else if (!profile->unlisted) {
		profile->unlisted = where;
		__sync_fetch_and_add(&queue->unlisted, 1);
	}
}

/* See note_outstanding. */
__noinline int list_late(struct thread *thread)
{
	struct process_profile *process = thread ? process_profile_at(thread->slot) : NULL;
	struct thread_profile *profile = process ? profile_of(thread) : NULL;
	struct device_queue *queue;
	u64 where;

	if (!profile)
		return 0;
	where = profile->unlisted;
	queue = queue_at(process, where >> STREAM_ID_DEVICE_SHIFT);
	if (!queue || !try_list(thread, queue, where & ((1ull << STREAM_ID_DEVICE_SHIFT) - 1)))
		return 0;
	profile->unlisted = 0;
	__sync_fetch_and_add(&queue->unlisted, -1);
	return 0;
}

struct work {
	u64 stream;   /* stream id */
	u64 start_ns; /* start of the call */
	u64 bytes;    /* see note_stream_work */
	u32 queue;
	u32 pad;
};

/*
 * Notes new work. The epoch comes first: a wait that ends now checks it again after it has declared
 * all work finished. The list comes before the idle time: later proofs then see the work.
 */
__noinline int note_work(struct thread *thread, const struct work *work)
{
	struct process_profile *process = thread ? process_profile_at(thread->slot) : NULL;
	struct device_queue *queue;
	u64 context, epoch;

	if (!process || !work)
		return 0;
	queue = queue_at(process, work->queue);
	if (!queue)
		return 0;
	context = current_context(thread);
	epoch = work_epoch(thread->slot);
	if (queue->launched_epoch < epoch)
		raise_max(&queue->launched_epoch, epoch);
	if (!note_stream_work(thread, work->stream, work->bytes))
		loosen_queue(queue, epoch);
	note_outstanding(thread, queue, work->queue, work->stream);
	end_idle_of(thread, process, work->queue, work->start_ns);
	if (queue->stream != work->stream)
		note_queue_stream(queue, work->stream);
	if (work->queue != UNKNOWN_QUEUE && queue->context != context && context)
		note_queue_context(queue, context);
	if (!context)
		note_strange(process);
	return 0;
}

/*
 * Whether a thread whose device is unknown may have put work on the queue's device since that wait.
 */
static __always_inline bool has_work_elsewhere(struct process_profile *process, u32 number,
					       u64 epoch)
{
	u64 latest = 0;

	if (number != UNKNOWN_QUEUE)
		return process->queues[UNKNOWN_QUEUE].launched_epoch >= epoch;
	for (u32 i = 0; i < UNKNOWN_QUEUE; i++)
		if (process->queues[i].launched_epoch > latest)
			latest = process->queues[i].launched_epoch;
	return latest >= epoch;
}

/*
 * How long the queue was empty when this launch came; 0: not known to have been empty. If several
 * launches come at once, one of them gets the time.
 */
static __always_inline u64 take_idle_time(struct device_queue *queue, const struct call *call,
					  u64 *since)
{
	u64 copied = queue->copied_ns, busy = queue->busy_ns, end = call->start_ns;

	*since = __sync_lock_test_and_set(&queue->empty_ns, 0);
	if (busy && busy < end)
		end = busy;
	return *since && end > *since + copied ? end - *since - copied : 0;
}

static __always_inline void note_idle_gap(struct thread_profile *profile, u64 gap, u64 since,
					  u64 inside)
{
	profile->idle_gaps++;
	profile->idle_ns += gap;
	if (profile->inside_since == since) {
		inside -= profile->inside_ns;
		profile->idle_inside_ns += inside < gap ? inside : gap;
	}
}

/*
 * A launch has ended an idle time. A thread whose device is unknown may use several devices, so
 * only its own waits count for it. Returns whether the gap is the thread's longest.
 */
static __noinline int end_idle_time(struct thread *thread, struct call *call,
				    struct process_profile *process, u32 number)
{
	struct device_queue *queue = queue_at(process, number);
	struct thread_profile *profile = profile_of(thread);
	u64 since, gap, own_ns = thread->depth ? 0 : call->end_ns - call->start_ns;

	if (!queue)
		return 0;
	gap = take_idle_time(queue, call, &since);
	if (gap <= IDLE_GAP_NS || !profile ||
	    has_work_elsewhere(process, number, queue->empty_epoch))
		return 0;
	if (number == UNKNOWN_QUEUE && queue->empty_tid != (u32)bpf_get_current_pid_tgid())
		return 0;
	note_idle_gap(profile, gap, since, inside_of(profile) - own_ns);
	if (gap <= profile->idle_max_ns)
		return 0;
	profile->idle_max_ns = gap;
	profile->idle_stack = 0;
	return 1;
}

/* An asynchronous copy pauses the idle time. */
static __always_inline void note_copy_work(struct device_queue *queue, const struct call *call)
{
	if (call->kind != COPY_H2D && call->kind != COPY_D2H && !queue->used)
		queue->used = 1;
	if (queue->empty_ns && !queue->busy_ns)
		queue->busy_ns = call->start_ns;
}

/* --- proofs of an empty queue --- */

/* A proof that a queue is empty. */
struct emptying {
	u64 epoch;    /* all work of earlier epochs is finished, */
	u64 stream;   /* on this stream; 0: on all streams of the context */
	u64 context;  /* 0: unknown */
	u64 since_ns; /* synchronous copy: its start; otherwise 0 */
	u64 start_ns; /* start of the call */
	u32 queue;
	u32 pad;
};

/* The queue was empty throughout, except for copies that are finished now. */
static __always_inline void go_on_empty(struct device_queue *queue, const struct emptying *emptying,
					u64 end_ns)
{
	u64 busy = queue->busy_ns;

	if (!busy)
		busy = emptying->since_ns;
	queue->busy_ns = 0;
	if (busy && end_ns > busy)
		__sync_fetch_and_add(&queue->copied_ns, end_ns - busy);
}

static __always_inline void begin_empty(struct device_queue *queue, const struct emptying *emptying,
					u64 end_ns)
{
	queue->busy_ns = 0;
	queue->copied_ns = 0;
	queue->empty_epoch = emptying->epoch;
	queue->empty_tid = (u32)bpf_get_current_pid_tgid();
	__sync_lock_test_and_set(&queue->empty_ns, end_ns);
}

/* Whether the wait covers all work of the process on the device. */
static __always_inline bool is_for_all(const struct process_profile *process,
				       const struct device_queue *queue,
				       const struct emptying *emptying)
{
	if (emptying->stream || queue->shared)
		return false;
	if (!process->strange_tid)
		return queue->context == emptying->context;
	return is_one_strange(process) &&
	       (!emptying->context || !queue->context || queue->context == emptying->context);
}

/*
 * Only waits for the whole device cover work outside the listed streams. Returns whether there is
 * no such work left.
 */
static __always_inline bool settle_loose(const struct process_profile *process,
					 struct device_queue *queue,
					 const struct emptying *emptying)
{
	u64 loose = *(volatile u64 *)&queue->loose_epoch;

	if (is_for_all(process, queue, emptying)) {
		queue->sure_ns = emptying->start_ns;
		if (loose && loose < emptying->epoch) {
			raise_max(&queue->done_ns, now());
			if (__sync_bool_compare_and_swap(&queue->loose_epoch, loose, 0))
				loose = 0;
		}
	}
	return !loose && !was_blind_since(queue->sure_ns, RATE_LAUNCH, RATE_COPY);
}

/*
 * Work that came after a wait's end may have been finished by another wait before this one is
 * examined.
 */
static __always_inline u64 idle_since(const struct process_profile *process,
				      const struct device_queue *queue, u64 since_ns)
{
	u64 elsewhere_ns = process->queues[UNKNOWN_QUEUE].done_ns;

	if (since_ns < queue->done_ns)
		since_ns = queue->done_ns;
	return since_ns < elsewhere_ns ? elsewhere_ns : since_ns;
}

/* Whether the queue has work that its list of streams does not show. */
static __always_inline bool has_unlisted(const struct device_queue *queue)
{
	return *(volatile const u64 *)&queue->loose_epoch ||
	       *(volatile const u64 *)&queue->unlisted;
}

/*
 * The queue is idle, unless another thread's work came while the list was examined: it found the
 * list locked, and then no idle time to end. The caller holds the lock.
 */
static __always_inline bool begin_idle(struct process_profile *process, struct device_queue *queue,
				       u64 since_ns)
{
	const struct device_queue *elsewhere = &process->queues[UNKNOWN_QUEUE];

	__sync_lock_test_and_set(&queue->idle_since_ns, since_ns);
	if (!has_unlisted(queue) &&
	    (queue == elsewhere || (!elsewhere->stream_count && !has_unlisted(elsewhere))))
		return true;
	__sync_lock_test_and_set(&queue->idle_since_ns, 0);
	return false;
}

/*
 * Whether nothing is left in the queue. If so, it is idle since `since_ns`, or since it was last
 * seen with work; 0: unknown.
 */
static __always_inline bool is_done(struct process_profile *process, u32 number, u32 slot,
				    u64 since_ns)
{
	struct device_queue *queue = queue_at(process, number);
	bool done;

	if (!queue || !lock_word(&queue->lock))
		return false;
	done = !drop_done_streams(queue, slot, is_one_strange(process)) && !has_unlisted(queue);
	if (done && since_ns && !queue->idle_since_ns)
		done = begin_idle(process, queue, idle_since(process, queue, since_ns));
	unlock_word(&queue->lock);
	return done;
}

/* A process that was running before may have work that was not seen, see EARLIER_WORK_NS. */
static __always_inline bool has_earlier_work(u32 slot)
{
	const struct process_record *record = process_at(slot);
	u64 watched_ns;

	if (is_seen_from_start(slot))
		return false;
	watched_ns = record && record->seen_ns < attached_ns ? record->seen_ns : attached_ns;
	return !record || now() - watched_ns < EARLIER_WORK_NS;
}

/*
 * Whether the covered work proves that the queue is empty. If so, the device is idle from the end
 * of the call on.
 */
static __always_inline bool proves_empty(const struct thread *thread,
					 struct process_profile *process,
					 const struct emptying *emptying, u64 end_ns)
{
	struct device_queue *queue = queue_at(process, emptying->queue);
	bool earlier;

	if (!queue || !queue->launched_epoch || process->unproven || process->unlisted_submitters ||
	    !settle_loose(process, queue, emptying))
		return false;
	if (emptying->queue != UNKNOWN_QUEUE && process->queues[UNKNOWN_QUEUE].launched_epoch &&
	    !is_done(process, UNKNOWN_QUEUE, thread->slot, 0))
		return false;
	if (earliest_submission(process, thread->slot, thread->counter_slot) < end_ns)
		return false;
	earlier = has_earlier_work(thread->slot);
	return is_done(process, emptying->queue, thread->slot, earlier ? 0 : end_ns);
}

__noinline int note_empty(const struct thread *thread, const struct emptying *emptying, u64 end_ns)
{
	struct process_profile *process = thread ? process_profile_at(thread->slot) : NULL;
	struct device_queue *queue =
		process && emptying ? queue_at(process, emptying->queue) : NULL;

	if (!queue || !proves_empty(thread, process, emptying, end_ns))
		return 0;
	queue->stream = 0;
	queue->mixed = 0;
	queue->used = 0;
	if (queue->empty_ns)
		go_on_empty(queue, emptying, end_ns);
	else
		begin_empty(queue, emptying, end_ns);
	/* Work came meanwhile, on an unknown stream. */
	if (queue->launched_epoch >= emptying->epoch) {
		queue->mixed = 1;
		__sync_lock_test_and_set(&queue->empty_ns, 0);
	}
	return 0;
}

/*
 * Notes the thread's time inside calls so far, for an idle time that has begun or that it has not
 * seen yet.
 */
static __always_inline void note_inside(struct thread_profile *profile,
					const struct device_queue *queue, u64 start_ns, u64 ns)
{
	u64 since = queue->empty_ns;

	if (!since || profile->inside_since == since)
		return;
	profile->inside_since = since;
	profile->inside_ns = inside_of(profile) - (start_ns >= since ? ns : 0);
}

/* Whether the call has put work on the device, or will, is unknown. */
static __always_inline void spoil_queue(struct device_queue *queue, u64 epoch)
{
	raise_max(&queue->launched_epoch, epoch);
	loosen_queue(queue, epoch);
	queue->mixed = 1;
	__sync_lock_test_and_set(&queue->empty_ns, 0);
}

#endif

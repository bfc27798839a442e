// SPDX-License-Identifier: BSD-2-Clause
/*
 * The device clock. A stream's work begins when its previous work has ended. For blocking streams
 * the rule of the legacy default stream applies as well: that stream waits for all blocking streams
 * of its context (stream__occupy() reports their ends), and they wait for it. Kernels of several
 * streams run side by side without limit.
 */
#include "cuda/clock.h"
#include "cuda/busy.h"
#include "cuda/durations.h"
#include "record/internal.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* The ends of a stream's latest work, in a ring, in ascending order. */
struct clock_queue {
	uint32_t head;
	uint32_t count;
	uint64_t ends[];
};

/* A per-thread default stream: one for each thread and context. */
struct thread_stream {
	struct CUstream_st stream;
	uint64_t context_id;
	struct thread_stream *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the queues and busy.c's data */
static pthread_key_t thread_key;

/* --- the calling thread's streams --- */

static void free_thread_streams(void *argument)
{
	struct thread_stream *next;

	for (struct thread_stream *each = argument; each; each = next) {
		next = each->next;
		clock__forget(&each->stream);
		free(each);
	}
}

struct CUstream_st *clock__thread_stream(struct CUctx_st *context)
{
	struct thread_stream *first = pthread_getspecific(thread_key);
	struct thread_stream *each;

	for (each = first; each; each = each->next)
		if (each->stream.context == context && each->context_id == context->id)
			return &each->stream;
	each = calloc(1, sizeof(*each));
	if (!each)
		sim_parse__refuse("the device clock", "calloc", "out of memory");
	each->stream.context = context;
	each->context_id = context->id;
	each->next = first;
	pthread_setspecific(thread_key, each);
	return &each->stream;
}

/* --- times; the lock is held --- */

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t load(const uint64_t *time)
{
	return __atomic_load_n(time, __ATOMIC_RELAXED);
}

/* Places work on the stream, starting at `earliest` or later. Returns when it will end. */
static uint64_t place(struct CUstream_st *stream, uint64_t earliest, uint64_t ns)
{
	struct CUctx_st *context = stream->context;
	uint64_t begin, end;

	begin = later_of(later_of(earliest, sim_now()),
			 later_of(load(&stream->busy_until), context->held_until));
	if (!(stream->flags & CU_STREAM_NON_BLOCKING))
		begin = later_of(begin, context->legacy_until);
	end = begin + ns;
	stream__occupy(stream, end);
	if (stream == context->legacy)
		context->legacy_until = end;
	if (ns)
		busy__add(context->device, begin, end);
	return end;
}

static struct clock_queue *queue_of(struct CUstream_st *stream)
{
	if (!stream->queue)
		stream->queue =
			calloc(1, sizeof(*stream->queue) + durations__queue() * sizeof(uint64_t));
	if (!stream->queue)
		sim_parse__refuse("the device clock", "calloc", "out of memory");
	return stream->queue;
}

static void drop_ended(struct clock_queue *queue, uint64_t now)
{
	while (queue->count && queue->ends[queue->head] <= now) {
		queue->head = (queue->head + 1) % durations__queue();
		queue->count--;
	}
}

/*
 * Returns whether there was room. `*end` is the end of this work or, without room, of the work that
 * frees the next slot.
 */
static bool submit(struct CUstream_st *stream, uint64_t ns, uint64_t *end)
{
	struct clock_queue *queue = queue_of(stream);

	drop_ended(queue, sim_now());
	if (queue->count == durations__queue()) {
		*end = queue->ends[queue->head];
		return false;
	}
	*end = place(stream, sim_now() + durations__latency(), ns);
	queue->ends[(queue->head + queue->count++) % durations__queue()] = *end;
	return true;
}

/* --- */

uint64_t clock__work(struct CUstream_st *stream, uint64_t ns)
{
	unsigned int flags = stream->context->flags;
	uint64_t end;
	bool done;

	for (;;) {
		pthread_mutex_lock(&lock);
		done = submit(stream, ns, &end);
		pthread_mutex_unlock(&lock);
		if (done)
			return end;
		clock__wait(end, flags);
	}
}

uint64_t clock__mark(struct CUstream_st *stream, uint64_t earliest)
{
	uint64_t end;

	pthread_mutex_lock(&lock);
	end = place(stream, earliest, 0);
	pthread_mutex_unlock(&lock);
	return end;
}

void clock__hold(struct CUctx_st *context, uint64_t until)
{
	pthread_mutex_lock(&lock);
	context->held_until = later_of(context->held_until, until);
	pthread_mutex_unlock(&lock);
}

static void sleep_until(uint64_t time)
{
	struct timespec until = {
		.tv_sec = (time_t)(time / 1000000000), .tv_nsec = (long)(time % 1000000000)
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

void clock__wait(uint64_t until, unsigned int flags)
{
	if (flags & CU_CTX_SCHED_BLOCKING_SYNC)
		sleep_until(until);
	while (sim_now() < until) {
		if (flags & CU_CTX_SCHED_YIELD)
			sched_yield();
		else
			__builtin_ia32_pause();
	}
}

void clock__forget(struct CUstream_st *stream)
{
	pthread_mutex_lock(&lock);
	free(stream->queue);
	stream->queue = NULL;
	pthread_mutex_unlock(&lock);
}

void clock__describe(FILE *out, int device)
{
	pthread_mutex_lock(&lock);
	busy__print(out, device, sim_now());
	pthread_mutex_unlock(&lock);
}

void clock__start(void)
{
	driver.clock = durations__read();
	if (driver.clock && pthread_key_create(&thread_key, free_thread_streams))
		sim_parse__refuse("the device clock", "pthread_key_create", "no key is left");
}

void clock__child(void)
{
	pthread_mutex_init(&lock, NULL);
	busy__forget();
}

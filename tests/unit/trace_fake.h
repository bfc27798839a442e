/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plays the tracer's BPF programs for tests of the stream: a ring that wraps, the table of calls in
 * progress, losses, and a clock that the test advances.
 */
#ifndef TESTS_TRACE_FAKE_H
#define TESTS_TRACE_FAKE_H

#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/api.h"
#include "trace/private.h"

#define FAKE_RING (1u << 20)
#define FAKE_WORDS 18 /* including those of a kernel and a stack */
#define FAKE_BEGIN 1000000000ull

struct fake_call {
	struct trace_event event;
	uint64_t payload[FAKE_WORDS];
	size_t size; /* of event and payload */
};

struct fake_ring {
	struct ring ring;
	uint64_t consumer, producer;
	char *data;
};

struct fake {
	struct trace_source source; /* must come first */
	struct trace_config config;
	struct fake_ring events, stacks;
	uint64_t stack; /* the id for calls that begin; 0 if they have none */
	uint64_t clock;
	uint64_t began[TRACE_THREADS];
	uint32_t thread_count;
	struct trace_lost lost[TRACE_LOSSES];
	struct fake_call calls[64][TRACE_DEPTH]; /* in progress, by thread */
	uint32_t depth[64];
	unsigned int lists; /* number of requests for the calls in progress */
	bool hides_calls;   /* from that list */
	bool ends_threads;  /* that have calls in progress, right after the request */
};

static inline struct fake *fake_of(struct trace_source *source)
{
	return (struct fake *)source;
}

static inline uint64_t fake__now(struct trace_source *source)
{
	return fake_of(source)->clock;
}

static inline uint32_t fake__thread_count(struct trace_source *source)
{
	return fake_of(source)->thread_count;
}

static inline void fake__acknowledge(struct trace_source *source)
{
	(void)source;
}

static inline uint64_t fake__written(struct trace_source *source)
{
	return ring__written(&fake_of(source)->events.ring);
}

static inline uint64_t fake__position(struct trace_source *source)
{
	return fake_of(source)->events.ring.read;
}

static inline int fake__read(struct trace_source *source, uint64_t end, ring_record_fn fn,
			     void *arg)
{
	return ring__read(&fake_of(source)->events.ring, end, fn, arg);
}

/* Begins a record, which counts as being written until fake__commit. NULL if there is no room. */
static inline char *fake_ring__reserve(struct fake_ring *ring, const void *record, size_t size)
{
	uint64_t bytes = (size + BPF_RINGBUF_HDR_SZ + 7) & ~7ull;
	char *at = ring->data + (ring->producer & (FAKE_RING - 1));

	if (ring->producer + bytes - ring->consumer > FAKE_RING)
		return NULL;
	*(uint32_t *)at = (uint32_t)size | BPF_RINGBUF_BUSY_BIT;
	memcpy(at + BPF_RINGBUF_HDR_SZ, record, size);
	ring->producer += bytes;
	return at;
}

static inline char *fake__reserve(struct fake *fake, const void *record, size_t size)
{
	return fake_ring__reserve(&fake->events, record, size);
}

static inline void fake__commit(char *at)
{
	*(uint32_t *)at &= ~BPF_RINGBUF_BUSY_BIT;
}

static inline bool fake__put(struct fake *fake, const void *record, size_t size)
{
	char *at = fake__reserve(fake, record, size);

	if (at)
		fake__commit(at);
	return at;
}

static inline int fake__in_progress(struct trace_source *source, trace_call_fn fn, void *arg)
{
	struct fake *fake = fake_of(source);
	int ret = 0;

	fake->lists++;
	for (uint32_t i = 0; i < 64 && !fake->hides_calls; i++) {
		for (uint32_t d = 0; d < fake->depth[i] && !ret; d++) {
			struct fake_call call = fake->calls[i][d];

			call.event.type = TRACE_UNFINISHED;
			call.event.duration_ns = fake->clock - call.event.start_ns;
			ret = fn(&call.event, call.size, arg);
			if (fake->ends_threads)
				fake__put(fake, &call.event, call.size);
		}
	}
	return ret;
}

static inline void fake__free(struct trace_source *source)
{
	struct fake *fake = fake_of(source);

	munmap(fake->events.data, 2 * FAKE_RING);
	munmap(fake->stacks.data, 2 * FAKE_RING);
	free(fake);
}

/* Memory mapped twice in a row, as the kernel maps it. */
static inline void fake_ring__make(struct fake_ring *ring)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, FAKE_RING))
		abort();
	ring->data = mmap(NULL, 2 * FAKE_RING, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2; i++) {
		if (mmap(ring->data + i * FAKE_RING, FAKE_RING, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			abort();
	}
	close(fd);
	ring->ring = (struct ring){
		.consumer = &ring->consumer,
		.producer = &ring->producer,
		.data = ring->data,
		.size = FAKE_RING,
	};
}

static inline struct fake *fake__new(bool takes_stacks)
{
	static const struct trace_source_calls calls = {
		fake__now,	fake__thread_count, fake__acknowledge, fake__written,
		fake__position, fake__read,	    fake__in_progress, NULL,
		fake__free};
	struct fake *fake = calloc(1, sizeof(*fake));

	if (!fake)
		abort();
	fake_ring__make(&fake->events);
	fake_ring__make(&fake->stacks);
	fake->clock = FAKE_BEGIN;
	fake->config.wake_bytes = FAKE_RING / 4;
	fake->source = (struct trace_source){
		.calls = &calls,
		.config = &fake->config,
		.began = fake->began,
		.lost = fake->lost,
		.fd = -1,
		.stacks = takes_stacks ? &fake->stacks.ring : NULL,
	};
	return fake;
}

static inline void fake__lose(struct fake *fake, enum trace_loss reason)
{
	fake->lost[reason].count++;
	if (!fake->lost[reason].since_ns)
		fake->lost[reason].since_ns = fake->clock;
}

static inline void fake__announce(struct fake *fake, uint32_t thread, uint32_t process, pid_t pid,
				  pid_t tid, const char *comm)
{
	struct trace_thread_record record = {
		.type = TRACE_THREAD,
		.thread = thread,
		.process = process,
		.pid = pid,
		.tid = tid,
		.uid = 1000,
	};

	memcpy(record.comm, comm, strnlen(comm, sizeof(record.comm)));
	if (thread >= fake->thread_count)
		fake->thread_count = thread + 1;
	fake__put(fake, &record, sizeof(record));
}

static inline void fake__name(struct fake *fake, uint32_t process, uint64_t handle,
			      uint32_t generation, const char *name)
{
	size_t length = strlen(name);
	struct record_name *record = calloc(1, sizeof(*record) + length + 1);

	record->header = (struct record){.type = RECORD_KERNEL_NAME, .slot = process};
	record->handle = handle;
	record->generation = generation;
	record->length = (uint16_t)length;
	memcpy(record->name, name, length + 1);
	fake__put(fake, record, sizeof(*record) + length + 1);
	free(record);
}

/* The event of a call that begins now, with `serial` in its first word. */
static inline struct fake_call *fake__begin(struct fake *fake,
					    const struct trace_functions *functions,
					    uint32_t thread, const char *symbol, uint64_t serial)
{
	uint32_t row = (uint32_t)api__find(symbol, API_NEWEST), depth = fake->depth[thread]++;
	const struct trace_plan *plan = trace_function__plan(trace_functions__at(functions, row));
	struct fake_call *call = &fake->calls[thread][depth];

	*call = (struct fake_call){0};
	call->event.row = (uint16_t)row;
	call->event.thread = thread;
	call->event.depth = (uint8_t)depth;
	call->event.words = plan->words;
	call->event.start_ns = fake->clock;
	call->payload[0] = serial;
	call->size = sizeof(call->event) + plan->words * sizeof(uint64_t) +
		     (plan->flags & TRACE_PLAN_KERNEL ? sizeof(uint64_t) : 0);
	if (!fake->source.stacks)
		return call;
	call->payload[plan->words + !!(plan->flags & TRACE_PLAN_KERNEL)] = fake->stack;
	call->size += sizeof(uint64_t);
	return call;
}

/* Entry of a call, as BPF does it. */
static inline struct fake_call *fake__enter(struct fake *fake,
					    const struct trace_functions *functions,
					    uint32_t thread, const char *symbol, uint64_t serial)
{
	struct fake_call *call;

	if (!fake->depth[thread])
		fake->began[thread] = TRACE_ENTERING;
	call = fake__begin(fake, functions, thread, symbol, serial);
	if (!call->event.depth)
		fake->began[thread] = call->event.start_ns;
	return call;
}

/* The thread's innermost call returns now: its event as it goes into the ring. */
static inline struct fake_call fake__end(struct fake *fake, uint32_t thread, int32_t result)
{
	struct fake_call call = fake->calls[thread][--fake->depth[thread]];

	call.event.type = TRACE_CALL;
	call.event.result = result;
	call.event.duration_ns = fake->clock - call.event.start_ns;
	return call;
}

static inline void fake__leave(struct fake *fake, uint32_t thread, int32_t result)
{
	struct fake_call call = fake__end(fake, thread, result);

	if (!fake__put(fake, &call.event, call.size))
		fake__lose(fake, TRACE_LOST_RING);
	if (!fake->depth[thread])
		fake->began[thread] = 0;
}

#endif

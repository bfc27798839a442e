/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the simulated libcuda: how an API function is defined, the objects behind
 * the handles, and the process's one driver state.
 *
 * An API function is one line: its name, its parameters, and the expression that does its work and
 * gives its result. The macro adds the bookkeeping. The expression may use `call`, the record of
 * the call in progress.
 */
#ifndef SIM_CUDA_DRIVER_H
#define SIM_CUDA_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL
#include "cuda/gate.h"
#include "cuda_api.h"
#include "record/record.h"

#include <pthread.h>

#define DRIVER_PROLOGUE(name, family, params, moved, ptds)				\
	SIM_EXPORT CUresult name params;						\
	SIM_FUNCTION(name, SIM_DRIVER, family);						\
	CUresult name params								\
	{										\
		struct sim_call call;							\
		int result;								\
											\
		SIM_FRAME();								\
		sim_enter(&call, &function_##name, SIM_DRIVER, moved, ptds)

#define DRIVER_EPILOGUE									\
		return (CUresult)sim_leave(&call, SIM_DRIVER, result);			\
	}										\
	_Static_assert(1, "")

/* A function that works without a context or before cuInit, and moves no bytes. */
#define DRIVER_PLAIN(name, params, work)						\
	DRIVER_PROLOGUE(name, SIM_OTHER, params, 0, false);				\
	result = sim_inject(&call);							\
	if (!result)									\
		result = (work);							\
	DRIVER_EPILOGUE

/* A function that needs a current context; `moved` is its size in bytes, if it has one. */
#define DRIVER_FORM(name, family, params, moved, ptds, work)				\
	DRIVER_PROLOGUE(name, family, params, moved, ptds);				\
	result = sim_inject(&call);							\
	if (!result)									\
		result = driver__require_context();					\
	if (!result)									\
		result = (work);							\
	DRIVER_EPILOGUE

#define DRIVER(name, family, params, moved, work)					\
	DRIVER_FORM(name, family, params, moved, false, work)

/* Also defines the form for per-thread default streams. */
#define DRIVER_PTSZ(name, family, params, moved, work)					\
	DRIVER_FORM(name, family, params, moved, false, work);				\
	DRIVER_FORM(name##_ptsz, family, params, moved, true, work)

#define DRIVER_COPY(name, kind, mode, params, moved, ptds, work)			\
	DRIVER_PROLOGUE(name, SIM_COPY, params, moved, ptds);				\
	result = sim_inject(&call);							\
	if (!result)									\
		result = driver__require_context();					\
	if (!result)									\
		result = (work);							\
	sim_count_copy(&call, SIM_DRIVER, kind, mode, result);				\
	driver__count_move(&call, kind, result);					\
	DRIVER_EPILOGUE

#define DRIVER_COPY_PTDS(name, kind, params, moved, work)				\
	DRIVER_COPY(name, kind, SIM_SYNCHRONOUS, params, moved, false, work);		\
	DRIVER_COPY(name##_ptds, kind, SIM_SYNCHRONOUS, params, moved, true, work)

#define DRIVER_COPY_PTSZ(name, kind, params, moved, work)				\
	DRIVER_COPY(name, kind, SIM_ASYNCHRONOUS, params, moved, false, work);		\
	DRIVER_COPY(name##_ptsz, kind, SIM_ASYNCHRONOUS, params, moved, true, work)

#define DRIVER_LAUNCH_FORM(name, params, handle, ptds, work)				\
	DRIVER_PROLOGUE(name, SIM_LAUNCH, params, 0, ptds);				\
	call.kernel = kernel__name_id(handle);						\
	call.device = (uint32_t)driver__device();					\
	result = sim_inject(&call);							\
	if (!result)									\
		result = driver__require_context();					\
	if (!result)									\
		result = (work);							\
	sim_count_launch(&call, SIM_DRIVER, result);					\
	driver__count_launch(&call, result);						\
	DRIVER_EPILOGUE

#define DRIVER_LAUNCH(name, params, handle, work)					\
	DRIVER_LAUNCH_FORM(name, params, handle, false, work);				\
	DRIVER_LAUNCH_FORM(name##_ptsz, params, handle, true, work)

#define MAX_DEVICES SIM_MAX_DEVICES
#define SM_COUNT 132

struct pool;
struct image;
struct clock_queue;

/* The kind of a piece of work on a stream, and in comments the unit of its amount. */
enum work {
	WORK_OTHER,	/* no amount; takes no time with the device clock */
	WORK_KERNEL,	/* the id of its name */
	WORK_COPY,	/* bytes */
	WORK_SET,	/* bytes */
	WORK_GRAPH,	/* the time of its nodes with the device clock, in ns */
};

/* Every object behind a handle begins with this; kernels have their name at +8. */
struct object {
	uint32_t live;
	uint32_t type;
};

/* Behind CUfunction and CUkernel. */
struct kernel {
	struct object object;
	const char *name;	/* at +8, where a tracer looks for it */
	uint32_t name_id;
	int attributes[CU_FUNC_ATTRIBUTE_MAX];
	unsigned int block[3];		/* for launches that do not give it */
	struct image *image;
	struct kernel *function;	/* for a CUkernel: its CUfunction, once requested */
	struct kernel *next;
};

struct CUctx_st {
	struct object object;
	uint64_t reserved;
	int device;
	bool primary;
	bool inactive;		/* a primary context without references */
	unsigned int flags;
	uint32_t retained;
	uint32_t attached;
	uint64_t id;
	uint64_t busy_until;	/* the latest end of its streams; ns, monotonic */
	uint64_t legacy_until;	/* device clock: no blocking stream's work begins before */
	uint64_t held_until;	/* the same for all streams */
	struct CUstream_st *legacy;
	struct CUmemPoolHandle_st *pool;
	struct CUgreenCtx_st *green;	/* the green context that it belongs to */
	struct gates gates;	/* of all its streams */
};

struct CUstream_st {
	struct object object;
	uint64_t reserved;
	struct CUctx_st *context;
	unsigned int flags;
	int priority;
	uint64_t id;
	uint64_t busy_until;
	struct clock_queue *queue;	/* for the device clock, NULL before the first work */
	struct CUgraph_st *capture;	/* use stream__capture(): the capture may be over */
	uint64_t capture_id;
	struct CUstream_st *origin;	/* the stream whose capture this one joined */
	struct CUgraphNode_st *last;	/* the newest node captured from this stream */
	struct gates gates;
};

struct CUevent_st {
	struct object object;
	uint64_t reserved;
	struct CUctx_st *context;
	unsigned int flags;
	bool recorded;
	uint64_t done_at;
	struct CUgraph_st *capture;	/* the capture that it was recorded into; kept afterwards */
	uint64_t capture_id;
	struct CUstream_st *stream;
	struct CUgraphNode_st *node;	/* the stream's newest node at that time */
	struct gates gates;	/* of the stream, when it was recorded */
};

struct CUmemPoolHandle_st {
	struct object object;
	uint64_t reserved;
	int device;
	uint64_t threshold;
	uint64_t used;
	uint64_t used_high;
	uint64_t reserved_bytes;	/* of the device, used or kept for later */
	uint64_t reserved_high;
	uint64_t maximum;
	bool doomed;		/* destroyed; freed with its last allocation */
	uint64_t settings[4];
};

/* The process's driver. */
struct driver {
	bool initialized;
	bool forked;		/* a child of an initialized parent: CUDA does not work here */
	int nr_devices;
	uint64_t memory;	/* per device, in bytes */
	uint64_t async_ns;	/* CUDA_SIM_ASYNC: duration of work on a stream */
	bool clock;		/* CUDA_SIM_CLOCK is set: durations.c has the durations */
	bool listened;		/* the simulated CUPTI wants to know of work: listener.h */
	bool takes_time;	/* either of them is set */
	bool objects_cost;	/* CUDA_SIM_OBJECTS is set */
	pthread_mutex_t lock;	/* contexts, modules, graphs; taken before the memory lock */
	struct CUctx_st *primary[MAX_DEVICES];
	unsigned int primary_flags[MAX_DEVICES];
	struct CUmemPoolHandle_st *default_pool[MAX_DEVICES];
	struct CUmemPoolHandle_st *current_pool[MAX_DEVICES];
	struct pool *contexts, *streams, *events, *kernels, *pools;
	uint64_t next_id;
};

extern struct driver driver;

#define CONTEXT_STACK 32

/* The calling thread's state. */
struct driver_thread {
	struct CUctx_st *stack[CONTEXT_STACK];
	uint32_t depth;
	struct CUstream_st stream;	/* its per-thread default stream */
	CUstreamCaptureMode capture_mode;
};

extern __thread struct driver_thread driver_thread
	__attribute__((tls_model("initial-exec")));

/* The current context, NULL if none. */
static inline struct CUctx_st *driver__context(void)
{
	uint32_t depth = driver_thread.depth;

	return depth ? driver_thread.stack[depth - 1] : NULL;
}

int driver__no_context(void);

/* 0, or why there is no usable current context. */
static inline int driver__require_context(void)
{
	struct CUctx_st *context = driver__context();

	if (sim_unlikely(!context || !context->object.live || context->inactive ||
			 !driver.initialized))
		return driver__no_context();
	return CUDA_SUCCESS;
}

/* The current context's device, for the recorder. */
static inline int driver__device(void)
{
	struct CUctx_st *context = driver__context();

	return context && context->object.live ? context->device : SIM_NO_DEVICE;
}

static inline void driver__count_launch(const struct sim_call *call, int result)
{
	struct sim_tallies *tallies = &call->thread->tallies;
	struct sim_device_tally *device = &tallies->devices[driver__device()];

	sim_add(&device->launches, 1);
	if (sim_unlikely(result)) {
		sim_add(&device->failed, 1);
	} else if (sim_unlikely(call->captured)) {
		sim_add(&device->captured, 1);
		sim_add(&tallies->captured.launches, 1);
	}
}

/* listener.c: the calling thread's copy, if it submitted one, was of this kind. */
void listener__copied(enum sim_copy_kind kind);

static inline void driver__count_move(const struct sim_call *call, enum sim_copy_kind kind,
				      int result)
{
	struct sim_tallies *tallies = &call->thread->tallies;
	struct sim_device_tally *device = &tallies->devices[driver__device()];
	struct sim_moves *moves = kind == SIM_SET ? &device->sets : &device->copies;
	struct sim_calls_bytes *captured = kind == SIM_SET ? &tallies->captured.sets :
							     &tallies->captured.copies;

	if (sim_unlikely(driver.listened))
		listener__copied(kind);
	sim_add(&moves->calls, 1);
	if (sim_unlikely(result)) {
		sim_add(&moves->failures, 1);
	} else if (sim_unlikely(call->captured)) {
		sim_add(&moves->captured, 1);
		sim_add(&captured->calls, 1);
		sim_add(&captured->bytes, call->bytes);
	} else {
		sim_add(&moves->bytes, call->bytes);
	}
}

/* Records the creation or end of an object; does nothing else. */
/*
 * object_memory.c: device memory that objects take (CUDA_SIM_OBJECTS). The driver keeps the memory
 * of objects that have ended for later ones.
 */
void object_memory__start(void);
void object_memory__changed(enum sim_object kind, int change);

static inline void driver__created(enum sim_object kind)
{
	sim_add(&sim_self()->tallies.objects[kind].created, 1);
	if (sim_unlikely(driver.objects_cost))
		object_memory__changed(kind, 1);
}

static inline void driver__destroyed(enum sim_object kind)
{
	sim_add(&sim_self()->tallies.objects[kind].destroyed, 1);
	if (sim_unlikely(driver.objects_cost))
		object_memory__changed(kind, -1);
}

static inline void driver__went(enum sim_object kind)
{
	sim_add(&sim_self()->tallies.objects[kind].with_context, 1);
	if (sim_unlikely(driver.objects_cost))
		object_memory__changed(kind, -1);
}

/* 0 if cuInit was called and `device` exists. */
int driver__require_device(CUdevice device);

/*
 * pool.c: objects of one kind, reused last-in-first-out in an address range of their own, so that
 * any pointer can be checked.
 */
struct pool *pool__new(size_t size, size_t capacity);
void *pool__take(struct pool *pool);
void pool__give(struct pool *pool, void *object);
bool pool__holds(const struct pool *pool, const void *object);
/* Iterates over the live objects: NULL starts; returns NULL at the end. */
void *pool__next(const struct pool *pool, const void *object);

/* context.c; with driver.lock held */
struct CUctx_st *context__new(int device, unsigned int flags, bool primary);
void context__free(struct CUctx_st *context);

/* stream.c */
int stream__create(CUstream *out, struct CUctx_st *context, unsigned int flags, int priority);
/*
 * Records an event for all of the context's work so far, and makes all its later work wait for an
 * event.
 */
int event__record_context(CUevent event, struct CUctx_st *context);
int event__wait_context(struct CUctx_st *context, CUevent event);
/* The stream of a handle, NULL if the handle is invalid. */
struct CUstream_st *stream__get(const struct sim_call *call, CUstream stream);
void stream__slow_issue(struct CUstream_st *stream, enum work work, uint64_t amount);
/* The stream has work until `done`; the legacy default stream waits for that of blocking ones. */
void stream__occupy(struct CUstream_st *stream, uint64_t done);
void stream__release_all(struct CUctx_st *context);
/* Call before the stream is destroyed: frees the clock's data. */
void stream__forget(struct CUstream_st *stream);
/* Waits for the work on the stream, or for all work in the context. */
int stream__wait(struct CUstream_st *stream);
int stream__wait_context(struct CUctx_st *context);
/* Holds up the stream until the gate is open; an unknown handle is ignored. */
void stream__gate(CUstream stream, const struct gate *gate);
/*
 * Waits on the default stream as a synchronous copy or memset does; with the device clock, the
 * stream is busy meanwhile.
 */
void stream__wait_default(const struct sim_call *call, enum work work);
void stream__slow_settle(const struct CUctx_st *context);

/*
 * Submits work to the stream. It takes CUDA_SIM_ASYNC from now, or as long as CUDA_SIM_CLOCK says.
 */
static inline void stream__issue(struct CUstream_st *stream, enum work work, uint64_t amount)
{
	if (sim_unlikely(driver.takes_time))
		stream__slow_issue(stream, work, amount);
}

/* Waits for all work in the context, as a free does; with the device clock only. */
static inline void stream__settle(const struct CUctx_st *context)
{
	if (sim_unlikely(driver.clock))
		stream__slow_settle(context);
}

/*
 * listener.c: submits work to the stream by the device clock, see stream__issue(), and tells the
 * simulated CUPTI. Returns when it will end.
 */
uint64_t listener__work(struct CUstream_st *stream, enum work work, uint64_t amount);
/* Tells it of a graph's node, besides the graph. */
void listener__node(const struct CUstream_st *stream, enum work work, enum sim_copy_kind copy,
		    uint64_t amount, uint64_t begin, uint64_t end);
/* Loads the library that CUDA_INJECTION64_PATH names, if it is set. */
void listener__inject(void);

/* module.c */
bool image__start(void);
void image__release_all(struct CUctx_st *context);
/* The kernel behind a CUfunction or CUkernel, NULL if it is invalid. */
struct kernel *kernel__get(const void *handle);
/* The id of its name, SIM_NO_KERNEL if it is invalid. */
uint32_t kernel__name_id(const void *handle);

/* launch.c: 0 if a grid of these blocks can be launched. */
int launch__check(const unsigned int *grid, const unsigned int *block);

/* array.c */
bool array__start(void);
bool green__start(void);
void array__release_all(struct CUctx_st *context);

/* capture.c */
struct CUgraph_st *stream__slow_capture(struct CUstream_st *stream);

/* The graph that the stream's work goes into, NULL if work is executed. */
static inline struct CUgraph_st *stream__capture(struct CUstream_st *stream)
{
	return sim_unlikely(stream->capture) ? stream__slow_capture(stream) : NULL;
}

/*
 * The stream waits for an event that was recorded in a capture, and joins the capture. Returns 0 or
 * an error.
 */
int capture__join(struct CUstream_st *stream, struct CUevent_st *event);

/*
 * mempool.c: call after a wait for work on the device: its pools release memory above their
 * thresholds.
 */
void mempool__synchronized(int device);
/* The pool behind a handle, NULL if it is invalid. */
struct CUmemPoolHandle_st *mempool__get(CUmemoryPool pool);
bool mempool__is_default(const struct CUmemPoolHandle_st *pool);

/* graph.c, exec.c */
bool graph__start(void);
bool exec__start(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the mix workload: the actors, which make random calls one at a time, what
 * they hold, and their random numbers. An actor outlives its thread: if that ends in the middle of
 * a call, another one continues.
 */
#ifndef WORKLOADS_MIX_H
#define WORKLOADS_MIX_H

#include "../common.h"
#include "cuda_api.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/types.h>

#define MIX_DEVICES 4
#define MIX_HOLDINGS 48
#define MIX_SHARED 256
#define MIX_STREAMS 3
#define MIX_EVENTS 4
#define MIX_MODULES 3
#define MIX_GRAPHS 3
#define MIX_KERNELS 6			/* per module */
#define MIX_BUFFER (64u << 10)		/* bytes of an actor's pageable memory */

enum layers { LAYERS_RUNTIME, LAYERS_DRIVER, LAYERS_BOTH };

/* Kinds of things, by how they are freed. */
enum holding_kind {
	HOLD_DEVICE, HOLD_MANAGED, HOLD_POOL, HOLD_PINNED, HOLD_REGISTERED, HOLD_ARRAY,
	HOLD_MIPMAPS,
	HOLD_KINDS,
};

/*
 * Where a thing lives, which determines its end: in the device's primary context until its next
 * reset, or in a context of the actor's own.
 */
struct home {
	int device;
	uint32_t generation;		/* of the device: number of its resets */
	uint64_t context;		/* number of an own context, 0: the primary one */
};

struct holding {
	enum holding_kind kind;
	struct home home;
	uint64_t address;		/* or an array's handle */
	size_t size;
	bool flat;			/* can be copied as `size` contiguous bytes */
};

struct stream_slot {
	struct home home;
	CUstream stream;
	bool capturing;
};

struct event_slot {
	struct home home;
	CUevent event;
};

/* A module or a library with its kernels. */
struct module_slot {
	struct home home;
	CUmodule module;
	CUlibrary library;
	uint32_t count;
	void *kernels[MIX_KERNELS];
};

struct exec_slot {
	CUgraphExec exec;
};

struct mix;

struct actor {
	struct mix *mix;
	uint32_t index;
	uint64_t random;
	pthread_t thread;
	pid_t tid;
	bool running;
	bool in_action;			/* holds the lock mix->quiet */
	sigjmp_buf way_out;		/* for leaving a call by a jump */
	struct home here;		/* the current context; device -1: none */
	uint64_t contexts_made;
	struct holding held[MIX_HOLDINGS];
	uint32_t nr_held;
	struct stream_slot streams[MIX_STREAMS];
	struct event_slot events[MIX_EVENTS];
	struct module_slot modules[MIX_MODULES];
	struct exec_slot execs[MIX_GRAPHS];
	char *buffer;			/* pageable */
	uint64_t actions;
	uint64_t deaths;
};

/* How a thread or a process ends in the middle of a call. */
enum end {
	END_JUMP, END_EXIT, END_BARE, END_CANCEL, END_THREAD_ENDS,	/* of the thread only */
	END_STAY = END_THREAD_ENDS,	/* stays in the call until the process is killed */
	END_EXEC, END_PROCESS_EXIT, END_PROCESS_EXIT_NOW,
};

/* The state of the process. */
struct mix {
	uint64_t seed;
	uint64_t nr_threads;
	uint64_t least_actions; /* minimum for all threads together before the process ends */
	double seconds;
	int layers;
	int nr_devices;
	bool deadly;			/* threads may end in the middle of calls */
	bool resets;			/* devices are reset */
	uint32_t families;
	const char *family_list;
	double pause;			/* average pause after an action */
	struct actor *actors;
	CUcontext primary[MIX_DEVICES];
	uint32_t generations[MIX_DEVICES];
	CUlibrary library;		/* shared by all actors */
	void *kernels[MIX_KERNELS];
	pthread_rwlock_t quiet;		/* read-locked by each action; write-locked if all stop */
	bool stop;
	int ended[2];			/* a pipe: indices of actors whose thread has ended */
	pthread_mutex_t lock;		/* guards the things that pass from one actor to another */
	struct holding shared[MIX_SHARED];
	uint32_t nr_shared;
	uint32_t inside;		/* threads that stay inside a call */
	char **environment;
};

/* For calls that must succeed, because calls fail at random. */
#define RETRY(call)										\
	do {											\
		int result_, tries_ = 1000;							\
												\
		do										\
			result_ = (int)(call);							\
		while (result_ && --tries_);							\
		need(result_, #call);								\
	} while (0)

/* splitmix64: each actor has its own sequence. */
static inline uint64_t mix__draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline uint32_t actor__below(struct actor *actor, uint32_t limit)
{
	return (uint32_t)(mix__draw(&actor->random) >> 32) % limit;
}

static inline bool actor__chance(struct actor *actor, uint32_t in)
{
	return actor__below(actor, in) == 0;
}

#define PICK(actor, array) ((array)[actor__below(actor, sizeof(array) / sizeof(*(array)))])

/* Whether the next call should be one of the runtime's. */
static inline bool actor__at_runtime(struct actor *actor)
{
	int layers = actor->mix->layers;

	return layers == LAYERS_RUNTIME || (layers == LAYERS_BOTH && actor__chance(actor, 2));
}

static inline bool home__is_here(const struct actor *actor, const struct home *home)
{
	return home->device == actor->here.device && home->context == actor->here.context &&
	       home->generation == actor->here.generation;
}

/* actor.c */
/* The families in a comma-separated list of names, all if it is NULL. */
uint32_t actor__families(const char *list);
/* Performs one action of any family; the caller holds mix->quiet for reading. */
void actor__act(struct actor *actor);
/* Finds the current context after a call that may have changed it. */
void actor__find_here(struct actor *actor);
/* Forgets things that ended with a context or a reset of its device. */
void actor__forget_gone(struct actor *actor);
/* Call after a jump or in a new thread: abandons what the calls left half done. */
void actor__recover(struct actor *actor, bool new_thread);

/* memory.c */
void memory__act(struct actor *actor);
/* Allocates something that copies can use; the allocation may fail. */
void memory__allocate(struct actor *actor);
/* A random thing of one of the kinds in the mask, NULL if there is none. */
struct holding *memory__pick(struct actor *actor, uint32_t kinds);

/* Forgets a thing that ended without being freed. */
void memory__forget(const struct holding *holding);

/* virtual.c: ranges and physical memory, and memory imported by its handle. */
void virtual__act(struct actor *actor);
void ipc__act(struct actor *actor);
void pool__act(struct actor *actor);

/* copy.c, set.c */
void copy__act(struct actor *actor);
void set__act(struct actor *actor);
/* Submits a copy that may use `stream` and is asynchronous. */
void copy__enqueue(struct actor *actor, CUstream stream);

/* launch.c */
void launch__act(struct actor *actor);
void launch__enqueue(struct actor *actor, CUstream stream);
void module__act(struct actor *actor);
/* Loads the kernels for all actors; call before there are any. */
void launch__prepare(struct mix *mix);

/* graph.c */
void graph__act(struct actor *actor);

/* object.c */
void stream__act(struct actor *actor);
void event__act(struct actor *actor);
void wait__act(struct actor *actor);
void device__act(struct actor *actor);
void context__act(struct actor *actor);
/* A stream in the current context: an own one, or one without handle. */
CUstream stream__pick(struct actor *actor);
struct stream_slot *stream__own(struct actor *actor);
CUevent event__pick(struct actor *actor);

/* death.c: ends inside one of the next calls. */
void death__arm(struct actor *actor, enum end end);
void death__disarm(void);

/* child.c */
/* Runs a child whose process ends as `end` says; does not return. */
_Noreturn void child__live(struct mix *mix, enum end end);
/* Starts a child by executing this program. */
pid_t child__execute(struct mix *mix, uint64_t seed);
/* Starts a child that continues in this program; call before CUDA is used. */
pid_t child__fork(struct mix *mix, uint64_t seed);

/* main.c */
void mix__start(struct mix *mix);
/* Runs the actors for `seconds`; their threads have ended when it returns. */
void mix__run(struct mix *mix, double seconds);

#endif

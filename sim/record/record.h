/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records the calls of the simulated CUDA: every exported function of the simulated libcuda and
 * libcudart enters and leaves its calls here. The recorder counts them (per thread, summed up when
 * the truth file is written), makes them fail or take longer as the environment requests, and knows
 * which driver calls were made by the runtime.
 *
 * Both libraries use one recorder: the one inside libcuda, which libcudart finds when it opens
 * libcuda. A libcudart without a driver uses its own.
 */
#ifndef SIM_RECORD_RECORD_H
#define SIM_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "record/tallies.h"

#define SIM_EXPORT __attribute__((visibility("default")))
#define SIM_COLD __attribute__((cold, noinline))
/*
 * At the start of every exported function: uses its frame pointer, so that the function begins with
 * `push %rbp` however little it does.
 */
#define SIM_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))
#define sim_unlikely(x) __builtin_expect(!!(x), 0)

/* Maximum number of functions that both libraries together register. */
#define SIM_MAX_FUNCTIONS 2560
/* Counts calls with a handle that is not a kernel's. */
#define SIM_NO_KERNEL 0u
/* The result of a query about unfinished work, which is not a failure. */
#define SIM_NOT_READY 600

enum sim_layer { SIM_DRIVER, SIM_RUNTIME };

/*
 * The caller: the program to the driver, the runtime to the driver, the program to the
 * runtime.
 */
enum sim_caller { SIM_BY_PROGRAM, SIM_BY_RUNTIME, SIM_AT_RUNTIME, SIM_CALLERS };

enum sim_family {
	SIM_OTHER,
	SIM_ALLOC,
	SIM_FREE,
	SIM_COPY,
	SIM_LAUNCH,
	SIM_SYNC,
};

enum sim_copy_kind {
	SIM_H2H,
	SIM_H2D,
	SIM_D2H,
	SIM_D2D,
	SIM_P2P,
	SIM_DEFAULT,
	SIM_SET,
	SIM_COPY_KINDS,
};

enum sim_mode { SIM_SYNCHRONOUS, SIM_ASYNCHRONOUS, SIM_MODES };

struct sim_fault;
struct sim_latency;
struct sim_hang;

enum sim_lock { SIM_LOCK_NONE, SIM_LOCK_NEEDED, SIM_LOCK_HELD };

/* One exported function. Lives in the library that exports it. */
struct sim_function {
	const char *name;
	const void *address;
	enum sim_layer layer;
	enum sim_family family;
	uint32_t index;			/* index of its counters, set by attach */
	bool armed;			/* has faults, a latency or a hang, or needs the lock */
	uint64_t armed_calls;		/* calls while armed; updated atomically */
	struct sim_fault *faults;
	struct sim_latency *latency;
	struct sim_hang *hang;
	enum sim_lock lock;
};

struct sim_counts {
	uint64_t calls;
	uint64_t failures;
	uint64_t not_ready;
	uint64_t bytes;			/* of successful calls */
	uint64_t ns;			/* only if a truth file was requested */
	uint64_t nulls;			/* successful frees of NULL and allocations of zero bytes */
	uint64_t abandoned;		/* begun and never ended: not in `calls` */
};

/* Maximum depth of calls recorded as in progress; deeper ones are still counted. */
#define SIM_MAX_DEPTH 8

/* A call in progress, for the case that it never ends. */
struct sim_open_call {
	const struct sim_call *call;	/* on the stack; invalid once the thread has left it */
	uint32_t function;
	bool nested;
	enum sim_layer layer;
};

/* A function to run inside a call: see cuda_sim_interrupt(). */
struct sim_interrupt {
	void (*run)(void *argument);	/* NULL if there is none */
	void *argument;
	uint32_t skip;			/* calls to skip first */
};

struct sim_copies {
	uint64_t calls;
	uint64_t failures;
	uint64_t bytes;			/* of successful calls that were not captured */
	uint64_t captured_calls;	/* by the stream into a graph */
	uint64_t captured_bytes;
};

struct sim_launches {
	uint64_t launches;		/* calls, including failed ones */
	uint64_t failed;
	uint64_t captured;		/* those of the successful ones that went into a graph */
	uint64_t abandoned;		/* not in `launches`: begun and never ended */
};

/*
 * The counters of one thread. Only the thread writes them, without locks; others may read them at
 * any time.
 */
struct sim_thread {
	const struct sim_recorder *recorder;
	bool timed;
	bool captured;			/* a driver call in the runtime's went into a graph */
	enum sim_copy_kind resolved;	/* the actual kind of its copy */
	uint32_t runtime_depth;		/* nested calls of the runtime */
	uint32_t nr_kernels;
	uint32_t depth;			/* nested calls of both layers */
	struct sim_open_call open[SIM_MAX_DEPTH];
	struct sim_interrupt interrupt;
	bool left;			/* the requested function left the open calls for good */
	struct sim_counts (*functions)[2];	/* by function; [1]: made by the runtime */
	struct sim_launches (*kernels)[SIM_CALLERS];
	struct sim_copies copies[SIM_CALLERS][SIM_COPY_KINDS][SIM_MODES];
	/* Executed ones; the kind comes from the addresses if the function does not say. */
	struct sim_calls_bytes executed[SIM_CALLERS][SIM_COPY_KINDS][SIM_MODES];
	uint64_t null_frees[SIM_CALLERS];
	struct sim_tallies tallies;
	struct sim_thread *next;
	struct sim_thread *previous;
};

/* A call in progress, on the function's stack. */
struct sim_call {
	struct sim_thread *thread;
	struct sim_function *function;
	uint64_t bytes;
	uint64_t start;
	uint32_t kernel;
	uint32_t device;		/* for a launch at the driver */
	bool nested;
	bool per_thread;		/* the _ptds or _ptsz form */
	bool captured;
	bool null_free;
	bool batch;			/* of copies */
	bool nothing;			/* an allocation of zero bytes, which gives no address */
	enum sim_copy_kind resolved;	/* for a copy; SIM_COPY_KINDS: not known yet */
};

/* The interface of libcuda's recorder that libcudart uses. */
struct sim_recorder {
	struct sim_thread *(*self)(void);
	void (*attach)(struct sim_function *const *begin, struct sim_function *const *end);
	int (*inject)(struct sim_call *call);
	/* Counts the thread's open calls as abandoned: it has left them for good. */
	void (*abandon)(struct sim_thread *thread);
	void (*fail)(const struct sim_call *call, int result);
	struct sim_launches *(*grow)(struct sim_thread *thread, const struct sim_call *call,
				     enum sim_caller caller);
	uint64_t (*now)(void);
	uint32_t (*intern)(const char *name);
	/* The kernel of a launch handle, SIM_NO_KERNEL if it is invalid; provided by the driver. */
	uint32_t (*kernel_of)(const void *handle);
	/* The calling thread's current context, NULL if there is none; provided by the driver. */
	void *(*context)(void);
};

/* The recorder of this library; sim_recorder__driver() must set the driver's hooks first. */
const struct sim_recorder *sim_recorder__get(void);
void sim_recorder__driver(uint32_t (*kernel_of)(const void *), void *(*context)(void),
			  void (*describe)(FILE *out));

/* The id of a kernel's name, unique per name; SIM_NO_KERNEL if out of memory. */
uint32_t sim_names__intern(const char *name);
/* The interned copy, which lives as long as the process. */
const char *sim_names__get(uint32_t id);
uint32_t sim_names__count(void);

/* The calling thread's counters in this library's recorder. */
struct sim_thread *sim_recorder__self(void);
/* The same in the recorder in use; each library implements this. */
struct sim_thread *sim_self(void);

static inline void sim_add(uint64_t *counter, uint64_t value)
{
	__atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + value,
			 __ATOMIC_RELAXED);
}

static inline enum sim_caller sim_caller(const struct sim_call *call, enum sim_layer layer)
{
	if (layer == SIM_RUNTIME)
		return SIM_AT_RUNTIME;
	return call->nested ? SIM_BY_RUNTIME : SIM_BY_PROGRAM;
}

static inline void sim_enter(struct sim_call *call, struct sim_function *function,
			     enum sim_layer layer, uint64_t bytes, bool per_thread)
{
	struct sim_thread *thread = sim_self();

	if (sim_unlikely(thread->left))
		thread->recorder->abandon(thread);
	call->thread = thread;
	call->function = function;
	call->bytes = bytes;
	call->kernel = SIM_NO_KERNEL;
	call->device = SIM_NO_DEVICE;
	call->per_thread = per_thread;
	call->captured = false;
	call->null_free = false;
	call->resolved = SIM_COPY_KINDS;
	call->nothing = false;
	call->batch = false;
	call->nested = thread->runtime_depth != 0;
	if (layer == SIM_RUNTIME && thread->runtime_depth++ == 0) {
		thread->captured = false;
		thread->resolved = SIM_COPY_KINDS;
	}
	if (thread->depth < SIM_MAX_DEPTH)
		thread->open[thread->depth] = (struct sim_open_call){
			call, function->index, call->nested, layer };
	thread->depth++;
	call->start = sim_unlikely(thread->timed) ? thread->recorder->now() : 0;
}

/* Applies the faults and latencies for this call: returns 0 or the result it must fail with. */
static inline int sim_inject(struct sim_call *call)
{
	if (sim_unlikely(call->function->armed || call->thread->interrupt.run))
		return call->thread->recorder->inject(call);
	return 0;
}

static inline int sim_leave(struct sim_call *call, enum sim_layer layer, int result)
{
	struct sim_thread *thread = call->thread;
	struct sim_counts *counts = &thread->functions[call->function->index][call->nested];

	thread->depth--;
	if (layer == SIM_RUNTIME)
		thread->runtime_depth--;
	sim_add(&counts->calls, 1);
	if (sim_unlikely(result))
		thread->recorder->fail(call, result);
	else
		sim_add(&counts->bytes, call->bytes);
	if (sim_unlikely(call->start))
		sim_add(&counts->ns, thread->recorder->now() - call->start);
	if (sim_unlikely(call->null_free)) {
		sim_add(&thread->null_frees[sim_caller(call, layer)], 1);
		sim_add(&counts->nulls, !result);
	}
	if (sim_unlikely(call->nothing))
		sim_add(&counts->nulls, !result);
	if (sim_unlikely(call->captured))
		thread->captured = true;
	if (layer == SIM_DRIVER && sim_unlikely(call->resolved != SIM_COPY_KINDS))
		thread->resolved = call->resolved;
	return result;
}

/*
 * Whether a successful call put its work into a graph; for a runtime call, whether its driver calls
 * did.
 */
static inline bool sim_captured(const struct sim_call *call, enum sim_layer layer)
{
	return layer == SIM_RUNTIME ? call->thread->captured : call->captured;
}

static inline void sim_count_launch(struct sim_call *call, enum sim_layer layer, int result)
{
	struct sim_thread *thread = call->thread;
	enum sim_caller caller = sim_caller(call, layer);
	struct sim_launches *launches;

	if (sim_unlikely(call->kernel >= thread->nr_kernels)) {
		launches = thread->recorder->grow(thread, call, caller);
		if (!launches)
			return;
	} else {
		launches = &thread->kernels[call->kernel][caller];
	}
	sim_add(&launches->launches, 1);
	if (sim_unlikely(result))
		sim_add(&launches->failed, 1);
	else if (sim_unlikely(sim_captured(call, layer)))
		sim_add(&launches->captured, 1);
}

static inline void sim_count_copy(struct sim_call *call, enum sim_layer layer,
				  enum sim_copy_kind kind, enum sim_mode mode, int result)
{
	struct sim_copies *copies = &call->thread->copies[sim_caller(call, layer)][kind][mode];
	enum sim_copy_kind resolved = layer == SIM_RUNTIME ? call->thread->resolved :
							     call->resolved;
	struct sim_calls_bytes *executed;

	sim_add(&copies->calls, 1);
	if (result) {
		sim_add(&copies->failures, 1);
	} else if (sim_unlikely(sim_captured(call, layer))) {
		sim_add(&copies->captured_calls, 1);
		sim_add(&copies->captured_bytes, call->bytes);
	} else {
		if (kind != SIM_DEFAULT || resolved == SIM_COPY_KINDS)
			resolved = kind;
		executed = &call->thread->executed[sim_caller(call, layer)][resolved][mode];
		sim_add(&copies->bytes, call->bytes);
		sim_add(&executed->calls, 1);
		sim_add(&executed->bytes, call->bytes);
	}
}

/*
 * Registers an exported function with the recorder. The pointers are collected in a section of the
 * library, which it passes to attach when it starts.
 */
#define SIM_FUNCTION(name_, layer_, family_)						\
	static struct sim_function function_##name_ = {					\
		.name = #name_, .address = (const void *)(uintptr_t)name_,		\
		.layer = layer_, .family = family_,					\
	};										\
	static struct sim_function *const pointer_##name_				\
		__attribute__((section("sim_functions"), used)) = &function_##name_

extern struct sim_function *const __start_sim_functions[] __attribute__((visibility("hidden")));
extern struct sim_function *const __stop_sim_functions[] __attribute__((visibility("hidden")));

#endif

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver's start: the settings in the environment, cuInit, and the hooks that the recorder and
 * the simulated libcudart use.
 */
#include "cuda/clock.h"
#include "cuda/describe.h"
#include "cuda/driver.h"
#include "cuda/memory.h"
#include "record/internal.h"

#include <stdlib.h>

#define DEFAULT_MEMORY (80ull << 30)
#define MAX_KERNELS (1u << 20)
#define MAX_OBJECTS (1u << 16)

struct driver driver = { .lock = PTHREAD_MUTEX_INITIALIZER };
__thread struct driver_thread driver_thread __attribute__((tls_model("initial-exec")));

/*
 * The simulated libcudart finds the recorder by this symbol, whose presence also shows that libcuda
 * is simulated.
 */
SIM_EXPORT const struct sim_recorder *cuda_sim_recorder(void);
/* For programs that are about to end without exit: writes the truth file now. */
SIM_EXPORT void cuda_sim_write_truth(void);
/*
 * Makes the calling thread run `run` once, inside its next call of either library after skipping
 * `skip` calls, before that does any work. `run` may end the thread or the process, or jump out of
 * the call; it may make no CUDA calls itself.
 */
SIM_EXPORT void cuda_sim_interrupt(unsigned int skip, void (*run)(void *), void *argument);

/*
 * For simulated libraries above CUDA: the stream goes on when open(source, number) is true. Gates
 * of one source open in the order of their numbers; the source must stay valid. This is no call.
 */
SIM_EXPORT void cuda_sim_gate(CUstream stream, bool (*open)(void *source, uint64_t number),
			      void *source, uint64_t number);

const struct sim_recorder *cuda_sim_recorder(void)
{
	return sim_recorder__get();
}

void cuda_sim_write_truth(void)
{
	sim_truth__write();
}

void cuda_sim_interrupt(unsigned int skip, void (*run)(void *), void *argument)
{
	sim_faults__interrupt(skip, run, argument);
}

void cuda_sim_gate(CUstream stream, bool (*open)(void *, uint64_t), void *source, uint64_t number)
{
	const struct gate gate = { open, source, number };

	if (driver__context())
		stream__gate(stream, &gate);
}

struct sim_thread *sim_self(void)
{
	return sim_recorder__self();
}

int driver__no_context(void)
{
	struct CUctx_st *context = driver__context();

	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (context && (!context->object.live || context->inactive))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return CUDA_ERROR_INVALID_CONTEXT;
}

int driver__require_device(CUdevice device)
{
	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (device < 0 || device >= driver.nr_devices)
		return CUDA_ERROR_INVALID_DEVICE;
	return CUDA_SUCCESS;
}

static void read_settings(void)
{
	const char *devices = getenv("CUDA_SIM_DEVICES");
	const char *memory = getenv("CUDA_SIM_MEMORY");
	const char *async = getenv("CUDA_SIM_ASYNC");
	const char *end;
	double ns = 0;

	driver.nr_devices = devices ? atoi(devices) : 1;
	if (driver.nr_devices < 0 || driver.nr_devices > MAX_DEVICES)
		sim_parse__refuse("CUDA_SIM_DEVICES", devices, "expected 0 to 16");
	driver.memory = DEFAULT_MEMORY;
	if (memory && (!sim_parse__size(memory, &driver.memory) || !driver.memory))
		sim_parse__refuse("CUDA_SIM_MEMORY", memory, "expected bytes, or a number with "
				  "K, M, G or T");
	if (async && (!sim_parse__duration(async, &ns, &end) || *end))
		sim_parse__refuse("CUDA_SIM_ASYNC", async, "expected a duration in ns, us, ms "
				  "or s");
	driver.async_ns = (uint64_t)ns;
	clock__start();
	object_memory__start();
	if (driver.clock && driver.async_ns)
		sim_parse__refuse("CUDA_SIM_ASYNC", async, "CUDA_SIM_CLOCK has the times already");
	driver.takes_time = driver.clock || driver.async_ns;
}

static bool make_pools(void)
{
	driver.contexts = pool__new(sizeof(struct CUctx_st), MAX_OBJECTS);
	driver.streams = pool__new(sizeof(struct CUstream_st), MAX_OBJECTS);
	driver.events = pool__new(sizeof(struct CUevent_st), MAX_KERNELS);
	driver.kernels = pool__new(sizeof(struct kernel), MAX_KERNELS);
	driver.pools = pool__new(sizeof(struct CUmemPoolHandle_st), MAX_OBJECTS);
	return driver.contexts && driver.streams && driver.events && driver.kernels &&
	       driver.pools && image__start() && array__start() && graph__start() &&
	       exec__start() && green__start();
}

static int make_devices(void)
{
	for (int device = 0; device < driver.nr_devices; device++) {
		struct CUmemPoolHandle_st *pool = pool__take(driver.pools);

		if (!pool)
			return CUDA_ERROR_OUT_OF_MEMORY;
		pool->device = device;
		driver.default_pool[device] = pool;
		driver.current_pool[device] = pool;
	}
	return memory__start() ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int init(unsigned int flags)
{
	int result = CUDA_SUCCESS;
	bool first;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (driver.forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!driver.nr_devices)
		return CUDA_ERROR_NO_DEVICE;
	pthread_mutex_lock(&driver.lock);
	first = !driver.initialized;
	if (first) {
		result = make_pools() ? make_devices() : CUDA_ERROR_OUT_OF_MEMORY;
		driver.initialized = result == CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&driver.lock);
	if (first && !result)
		listener__inject();
	return result;
}

DRIVER_PLAIN(cuInit, (unsigned int flags), init(flags));

static void *current_context(void)
{
	return driver__context();
}

static unsigned int current_flags(void)
{
	struct CUctx_st *context = driver__context();

	return context ? context->flags : 0;
}

/* As with the real driver, a child of a process that uses CUDA cannot use it. */
static void after_fork_child(void)
{
	driver.forked = driver.initialized;
	driver.initialized = false;
	pthread_mutex_init(&driver.lock, NULL);
	driver_thread.depth = 0;
	clock__child();
	memory__forget();
	show__forget();
	virtual__forget();
	driver.pools = NULL;
}

__attribute__((constructor)) static void start(void)
{
	read_settings();
	sim_state.schedule = current_flags;
	sim_recorder__driver(kernel__name_id, current_context, describe__driver);
	sim_recorder__get()->attach(__start_sim_functions, __stop_sim_functions);
	pthread_atfork(NULL, NULL, after_fork_child);
}

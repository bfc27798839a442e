// SPDX-License-Identifier: BSD-2-Clause
/*
 * Work for the simulated CUPTI, see listener.h; and the library that CUDA_INJECTION64_PATH names,
 * which the driver loads.
 */
#include "cuda/listener.h"
#include "cuda/clock.h"
#include "cuda/driver.h"
#include "cuda/durations.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static sim_work_fn listener;
/*
 * The thread's copy whose kind is not known before its call ends (struct sim_work, malloc). Not a
 * __thread variable: the static block, which this library's are in, would have no room for those of
 * several copies of the library.
 */
static pthread_key_t copies;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
	if (pthread_key_create(&copies, free))
		abort();
}

static struct sim_work *own_copy(void)
{
	struct sim_work *copy;

	pthread_once(&once, make_key);
	copy = pthread_getspecific(copies);
	if (copy)
		return copy;
	copy = calloc(1, sizeof(*copy));
	if (!copy || pthread_setspecific(copies, copy))
		abort();
	return copy;
}

void cuda_sim_listen(sim_work_fn fn)
{
	listener = fn;
	driver.listened = fn;
}

static enum sim_work_kind kind_of(enum work work)
{
	switch (work) {
	case WORK_KERNEL:
		return SIM_WORK_KERNEL;
	case WORK_COPY:
		return SIM_WORK_COPY;
	case WORK_SET:
		return SIM_WORK_SET;
	default:
		return SIM_WORK_GRAPH;
	}
}

static void tell(const struct CUstream_st *stream, enum work work, uint64_t amount,
		 uint64_t begin, uint64_t end)
{
	struct sim_work done = {
		.kind = kind_of(work), .device = stream->context->device,
		.stream = (uint32_t)stream->id, .begin = begin, .end = end, .bytes = amount,
	};

	if (work == WORK_COPY) {
		*own_copy() = done;
		return;
	}
	done.name = work == WORK_KERNEL ? sim_names__get((uint32_t)amount) : NULL;
	if (work != WORK_OTHER)
		listener(&done);
}

void listener__node(const struct CUstream_st *stream, enum work work, enum sim_copy_kind copy,
		    uint64_t amount, uint64_t begin, uint64_t end)
{
	struct sim_work node = {
		.kind = kind_of(work), .device = stream->context->device,
		.stream = (uint32_t)stream->id, .begin = begin, .end = end, .bytes = amount,
		.copy = copy, .in_graph = true,
	};

	node.name = work == WORK_KERNEL ? sim_names__get((uint32_t)amount) : NULL;
	listener(&node);
}

uint64_t listener__work(struct CUstream_st *stream, enum work work, uint64_t amount)
{
	uint64_t ns = durations__of(work, amount), end = clock__work(stream, ns);

	if (driver.listened)
		tell(stream, work, amount, end - ns, end);
	return end;
}

void listener__copied(enum sim_copy_kind kind)
{
	struct sim_work *copy = driver.listened ? own_copy() : NULL;

	if (!copy)
		return;
	if (copy->end && kind != SIM_SET) {
		copy->copy = kind;
		listener(copy);
	}
	copy->end = 0;
}

/* As in the real driver, nobody learns of a library that cannot be loaded. */
void listener__inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*begin)(void);

	if (!library)
		return;
	*(void **)&begin = dlsym(library, "InitializeInjection");
	if (begin)
		begin();
}

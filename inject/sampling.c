// SPDX-License-Identifier: BSD-2-Clause
// Switches records on and off between calls of the program, see sampling.h.
#include "sampling.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "bursts.h"

static const int work_kinds[] = {CUPTI_KERNEL, CUPTI_COPY, CUPTI_PEER_COPY, CUPTI_SET};

static const uint32_t waits[] = {
	CUPTI_CTX_SYNCHRONIZE,	  CUPTI_EVENT_SYNCHRONIZE,
	CUPTI_STREAM_SYNCHRONIZE, CUPTI_STREAM_SYNCHRONIZE_PTSZ,
	CUPTI_COPY_H2D,		  CUPTI_COPY_H2D_PTDS,
	CUPTI_COPY_H2D_ASYNC,	  CUPTI_COPY_H2D_ASYNC_PTSZ,
	CUPTI_COPY_D2H,		  CUPTI_COPY_D2H_PTDS,
	CUPTI_COPY_D2H_ASYNC,	  CUPTI_COPY_D2H_ASYNC_PTSZ,
};
static const uint32_t launches[] = {
	CUPTI_LAUNCH,	      CUPTI_LAUNCH_PTSZ,  CUPTI_LAUNCH_EX,
	CUPTI_LAUNCH_EX_PTSZ, CUPTI_LAUNCH_GRAPH, CUPTI_LAUNCH_GRAPH_PTSZ,
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct {
	const struct cupti *cupti;
	void *subscriber;
	pid_t owner; /* CUPTI does not work in forked children */
	struct bursts bursts;
	bool asked;	/* a thread is in `bursts` */
	uint16_t burst; /* its number */
} sampling;

int sampling__enable_work(const struct cupti *cupti)
{
	size_t i = 0;
	int result = 0;

	while (i < COUNT(work_kinds) && !(result = cupti->enable(work_kinds[i])))
		i++;
	while (result && i > 0)
		cupti->disable(work_kinds[--i]);
	return result;
}

void sampling__disable_work(const struct cupti *cupti)
{
	for (size_t i = 0; i < COUNT(work_kinds); i++)
		cupti->disable(work_kinds[i]);
}

static int call_back(uint32_t on, const uint32_t *functions, size_t count)
{
	int result = 0;

	for (size_t i = 0; i < count && !result; i++)
		result = sampling.cupti->enable_callback(on, sampling.subscriber, CUPTI_DRIVER,
							 functions[i]);
	return result;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void act(enum bursts_action action)
{
	if (action == BURSTS_NOTHING || getpid() != sampling.owner)
		return;
	call_back(action != BURSTS_END, launches, COUNT(launches));
	if (action == BURSTS_BEGIN) {
		sampling.burst = (uint16_t)(sampling.burst == UINT16_MAX ? 1 : sampling.burst + 1);
		sampling__enable_work(sampling.cupti);
	} else if (action == BURSTS_END) {
		sampling__disable_work(sampling.cupti);
		sampling.cupti->flush_all(0);
	}
}

int sampling__begin(const struct cupti *cupti, void *subscriber, double share)
{
	int result;

	sampling.cupti = cupti;
	sampling.subscriber = subscriber;
	sampling.owner = getpid();
	sampling.burst = 1;
	bursts__begin(&sampling.bursts, share, now_ns() ^ (uint64_t)sampling.owner << 32);
	result = call_back(1, waits, COUNT(waits));
	return result ? result : call_back(1, launches, COUNT(launches));
}

static bool is_launch(uint32_t function)
{
	for (size_t i = 0; i < COUNT(launches); i++)
		if (launches[i] == function)
			return true;
	return false;
}

/* A thread does not wait for another one that asks: it asks at its next call. */
void sampling__called(void *arg, int domain, uint32_t function, const void *data)
{
	const struct cupti_call *call = data;

	(void)arg;
	if (!sampling.cupti || domain != CUPTI_DRIVER || call->site != CUPTI_EXIT ||
	    __atomic_test_and_set(&sampling.asked, __ATOMIC_ACQUIRE))
		return;
	act(bursts__ask(&sampling.bursts, !is_launch(function), now_ns()));
	__atomic_clear(&sampling.asked, __ATOMIC_RELEASE);
}

uint16_t sampling__burst(void)
{
	return __atomic_load_n(&sampling.burst, __ATOMIC_RELAXED);
}

// SPDX-License-Identifier: BSD-2-Clause
// Switches records on and off at random times, see sampling.h.
#include "sampling.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define BURST_NS 10000000ull
#define SECOND_NS 1000000000ull
#define STACK_SIZE (512u << 10) /* of the thread, for CUPTI's functions */

static const int work_kinds[] = {CUPTI_KERNEL, CUPTI_COPY, CUPTI_PEER_COPY, CUPTI_SET};

#define KINDS (sizeof(work_kinds) / sizeof(*work_kinds))

static struct {
	const struct cupti *cupti;
	double share;
	pthread_mutex_t switching; /* held while CUPTI is called, and for good at the end */
	uint16_t burst;
} sampling = {.switching = PTHREAD_MUTEX_INITIALIZER};

int sampling__enable_work(const struct cupti *cupti)
{
	size_t i = 0;
	int result = 0;

	while (i < KINDS && !(result = cupti->enable(work_kinds[i])))
		i++;
	while (result && i > 0)
		cupti->disable(work_kinds[--i]);
	return result;
}

void sampling__disable_work(const struct cupti *cupti)
{
	for (size_t i = 0; i < KINDS; i++)
		cupti->disable(work_kinds[i]);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / SECOND_NS),
				      .tv_nsec = (long)(ns % SECOND_NS)};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* xorshift */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

uint64_t sampling__pause_ns(uint64_t burst_ns, double share, uint64_t random)
{
	double part = (double)(random >> 11) / (double)(1ull << 53); /* from 0 to below 1 */

	return (uint64_t)((double)burst_ns * (1 / share - 1) * (0.5 + part));
}

/*
 * Work that was submitted in a burst may still be in the GPU's queue at its end. So its records are
 * handed over just before the next burst, under the number of their own.
 */
static void begin_burst(void)
{
	pthread_mutex_lock(&sampling.switching);
	sampling.cupti->flush_all(0);
	__atomic_store_n(&sampling.burst,
			 (uint16_t)(sampling.burst == UINT16_MAX ? 1 : sampling.burst + 1),
			 __ATOMIC_RELAXED);
	sampling__enable_work(sampling.cupti);
	pthread_mutex_unlock(&sampling.switching);
}

static void end_burst(void)
{
	pthread_mutex_lock(&sampling.switching);
	sampling__disable_work(sampling.cupti);
	pthread_mutex_unlock(&sampling.switching);
}

/* A burst lasts as long as it is on: a machine that is busy may let the thread sleep for longer. */
static void *switch_records(void *arg)
{
	uint64_t random = now_ns() | 1, begin = now_ns();

	for (;;) {
		sleep_ns(BURST_NS);
		end_burst();
		sleep_ns(
			sampling__pause_ns(now_ns() - begin, sampling.share, next_random(&random)));
		begin_burst();
		begin = now_ns();
	}
	return arg;
}

static int start_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	error = pthread_attr_setstacksize(&attributes, STACK_SIZE);
	if (!error)
		error = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (!error)
		error = pthread_create(&thread, &attributes, switch_records, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

/* The thread inherits the mask of its creator: the program's signals are for its own threads. */
int sampling__begin(const struct cupti *cupti, double share)
{
	sigset_t all, before;
	int error;

	sampling.cupti = cupti;
	sampling.share = share;
	sampling.burst = 1;
	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before))
		return -1;
	error = start_thread();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error ? -1 : 0;
}

void sampling__end(void)
{
	struct timespec until;

	if (!sampling.burst)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_timedlock(&sampling.switching, &until);
}

uint16_t sampling__burst(void)
{
	return __atomic_load_n(&sampling.burst, __ATOMIC_RELAXED);
}

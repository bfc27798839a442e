// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread that queries NVML; see nvml.h. The last of the two threads to leave frees what they
 * share.
 */
#include "device/nvml.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

#define STOP_MS 100
#define HURRY_MS 100 /* watched processes cause such queries: not more often */

struct shared {
	pthread_mutex_t lock;
	pthread_cond_t changed;	    /* by CLOCK_MONOTONIC */
	struct gpu_snapshot *fresh; /* not taken yet */
	bool requested;		    /* a snapshot is wanted; the thread clears it afterwards */
	bool with_power;	    /* set before the thread is started */
	bool stop;
	int failure;	/* why NVML is unavailable: the thread has left; otherwise 0 */
	bool left;	/* the thread is about to end */
	bool abandoned; /* the owner is gone: the thread frees this */
};

struct nvml {
	struct shared *shared;
	struct gpu_snapshot *current;
	bool started;
	int failure; /* see nvml__failure */
	uint64_t requested_ns;
	uint64_t hurried_ns; /* the latest nvml__hurry */
};

static void shared__free(struct shared *shared)
{
	gpu_snapshot__free(shared->fresh);
	pthread_cond_destroy(&shared->changed);
	pthread_mutex_destroy(&shared->lock);
	free(shared);
}

/* Waits until a snapshot is wanted. Returns false if the thread must stop. */
static bool wait_for_question(struct shared *shared)
{
	bool stop;

	pthread_mutex_lock(&shared->lock);
	while (!shared->requested && !shared->stop)
		pthread_cond_wait(&shared->changed, &shared->lock);
	stop = shared->stop;
	pthread_mutex_unlock(&shared->lock);
	return !stop;
}

static void hand_over(struct shared *shared, struct gpu_snapshot *snapshot)
{
	pthread_mutex_lock(&shared->lock);
	if (snapshot) {
		gpu_snapshot__free(shared->fresh);
		shared->fresh = snapshot;
	}
	shared->requested = false;
	pthread_cond_broadcast(&shared->changed);
	pthread_mutex_unlock(&shared->lock);
}

static void leave(struct shared *shared, int failure)
{
	bool abandoned;

	pthread_mutex_lock(&shared->lock);
	shared->failure = failure;
	shared->left = true;
	shared->requested = false;
	abandoned = shared->abandoned;
	pthread_cond_broadcast(&shared->changed);
	pthread_mutex_unlock(&shared->lock);
	if (abandoned)
		shared__free(shared);
}

static void *run(void *arg)
{
	struct shared *shared = arg;
	struct nvml_library *library = NULL;
	int ret = nvml_library__open(&library);

	if (ret) {
		leave(shared, ret);
		return NULL;
	}
	while (wait_for_question(shared))
		hand_over(shared, nvml_library__read(library, shared->with_power));
	nvml_library__close(library);
	leave(shared, 0);
	return NULL;
}

static struct shared *shared__new(void)
{
	struct shared *shared = calloc(1, sizeof(*shared));
	pthread_condattr_t attributes;

	if (!shared)
		return NULL;
	pthread_mutex_init(&shared->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&shared->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return shared;
}

struct nvml *nvml__new(void)
{
	struct nvml *nvml = calloc(1, sizeof(*nvml));

	if (!nvml)
		return NULL;
	nvml->shared = shared__new();
	if (nvml->shared)
		return nvml;
	free(nvml);
	return NULL;
}

/* Starts the thread with all signals blocked: the event loop handles them. */
static void start(struct nvml *nvml)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	nvml->started = true;
	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attributes, run, nvml->shared)) {
		nvml->failure = -EAGAIN;
		nvml->shared->left = true;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

void nvml__ask_power(struct nvml *nvml)
{
	nvml->shared->with_power = true;
}

void nvml__begin(struct nvml *nvml)
{
	if (nvml->started)
		return;
	nvml->shared->requested = true;
	start(nvml);
}

static struct timespec deadline(unsigned int ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += ms / 1000;
	time.tv_nsec += (long)(ms % 1000) * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	return time;
}

/* Called with the lock held. */
static void wait_for_answer(struct shared *shared, unsigned int wait_ms)
{
	struct timespec until = deadline(wait_ms);

	while (shared->requested && !shared->left)
		if (pthread_cond_timedwait(&shared->changed, &shared->lock, &until))
			break;
}

static bool is_due(const struct nvml *nvml, uint64_t now_ns)
{
	bool hurries = nvml->hurried_ns > nvml->requested_ns;

	return !nvml->requested_ns ||
	       now_ns - nvml->requested_ns >= (hurries ? HURRY_MS : NVML_INTERVAL_MS) * NS_PER_MS;
}

/* Called with the lock held, and while no query is unanswered. */
static void request(struct nvml *nvml, uint64_t now_ns)
{
	nvml->requested_ns = now_ns;
	nvml->shared->requested = true;
	pthread_cond_broadcast(&nvml->shared->changed);
}

/* Called with the lock held. */
static void ask(struct nvml *nvml, unsigned int wait_ms)
{
	uint64_t now = clock__boot_ns();

	if (nvml->shared->requested || !is_due(nvml, now))
		return;
	request(nvml, now);
	wait_for_answer(nvml->shared, wait_ms);
}

void nvml__hurry(struct nvml *nvml)
{
	struct shared *shared = nvml->shared;

	uint64_t now = clock__boot_ns();

	nvml->hurried_ns = now;
	if (!nvml->started || nvml->failure)
		return;
	pthread_mutex_lock(&shared->lock);
	if (!shared->requested && !shared->left && is_due(nvml, now))
		request(nvml, now);
	pthread_mutex_unlock(&shared->lock);
}

static const struct gpu_snapshot *refresh(struct nvml *nvml, unsigned int wait_ms, bool patient)
{
	struct shared *shared = nvml->shared;

	if (nvml->failure)
		return NULL;
	if (!nvml->started)
		start(nvml);
	pthread_mutex_lock(&shared->lock);
	if (patient && shared->requested)
		wait_for_answer(shared, wait_ms);
	else if (!shared->left)
		ask(nvml, wait_ms);
	nvml->failure = shared->left ? shared->failure : 0;
	if (shared->fresh) {
		gpu_snapshot__free(nvml->current);
		nvml->current = shared->fresh;
		shared->fresh = NULL;
	}
	pthread_mutex_unlock(&shared->lock);
	return nvml->current;
}

const struct gpu_snapshot *nvml__refresh(struct nvml *nvml, unsigned int wait_ms)
{
	return refresh(nvml, wait_ms, false);
}

const struct gpu_snapshot *nvml__wait(struct nvml *nvml, unsigned int wait_ms)
{
	return refresh(nvml, wait_ms, true);
}

int nvml__failure(const struct nvml *nvml)
{
	return nvml->failure;
}

uint64_t nvml__requested_ns(const struct nvml *nvml)
{
	return nvml->requested_ns;
}

/* Returns whether the thread has left. If it has not, it frees the shared part when it leaves. */
static bool stop(struct shared *shared)
{
	struct timespec until = deadline(STOP_MS);
	bool left;

	pthread_mutex_lock(&shared->lock);
	shared->stop = true;
	pthread_cond_broadcast(&shared->changed);
	while (!shared->left)
		if (pthread_cond_timedwait(&shared->changed, &shared->lock, &until))
			break;
	left = shared->left;
	shared->abandoned = !left;
	pthread_mutex_unlock(&shared->lock);
	return left;
}

void nvml__free(struct nvml *nvml)
{
	if (!nvml)
		return;
	if (!nvml->started || stop(nvml->shared))
		shared__free(nvml->shared);
	gpu_snapshot__free(nvml->current);
	free(nvml);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that make random calls of all families, on things of their own and on things that pass
 * from one to another; threads that end in the middle of calls and are replaced; devices that are
 * reset while all are stopped; and children that do the same and die.
 */
#define _GNU_SOURCE
#include "mix.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CHILDREN 256
#define DEATH_IN 400			/* one action in this many is the thread's last */
#define RESET_SECONDS 0.7
#define CHILD_SECONDS 0.5

extern char **environ;

static void act_once(struct actor *actor)
{
	struct mix *mix = actor->mix;
	bool deadly = mix->deadly && actor__chance(actor, DEATH_IN);

	pthread_rwlock_rdlock(&mix->quiet);
	actor->in_action = true;
	if (deadly)
		death__arm(actor, actor__below(actor, END_THREAD_ENDS));
	actor__act(actor);
	if (deadly)
		death__disarm();
	actor->in_action = false;
	pthread_rwlock_unlock(&mix->quiet);
	if (mix->pause > 0)
		sleep_seconds(mix->pause * actor__below(actor, 2000) / 1000);
}

static void *live(void *argument)
{
	struct actor *actor = argument;

	actor->tid = (pid_t)syscall(SYS_gettid);
	if (sigsetjmp(actor->way_out, 0)) {
		actor->deaths++;
		actor__recover(actor, false);
		actor->in_action = false;
		pthread_rwlock_unlock(&actor->mix->quiet);
	} else {
		actor__recover(actor, true);
	}
	while (!__atomic_load_n(&actor->mix->stop, __ATOMIC_RELAXED))
		act_once(actor);
	return NULL;
}

static void start_thread(struct actor *actor)
{
	if (pthread_create(&actor->thread, NULL, live, actor))
		give_up("thread %u does not start", actor->index);
}

/* Replaces a thread that has ended in the middle of a call; waits for one up to `seconds`. */
static void replace_thread(struct mix *mix, double seconds)
{
	struct pollfd ready = { .fd = mix->ended[0], .events = POLLIN };
	struct actor *actor;
	uint32_t index;

	if (poll(&ready, 1, (int)(seconds * 1000)) <= 0)
		return;
	if (read(mix->ended[0], &index, sizeof(index)) != sizeof(index))
		give_up("the pipe is gone");
	actor = &mix->actors[index];
	pthread_join(actor->thread, NULL);
	/* A joined thread may still be leaving the kernel. */
	while (!syscall(SYS_tgkill, getpid(), actor->tid, 0))
		sleep_seconds(0.0001);
	actor->deaths++;
	start_thread(actor);
}

/* The last release destroys the context; the caller retains it as often again. */
static int release_primary(struct mix *mix, int device)
{
	uint32_t released = 0;
	int result;

	do {
		result = (int)cuDevicePrimaryCtxRelease(device);
		released += !result;
	} while (result != CUDA_ERROR_INVALID_CONTEXT);
	while (released--)
		RETRY(cuDevicePrimaryCtxRetain(&mix->primary[device], device));
	return 0;
}

static int reset(struct mix *mix, struct actor *draws, int device)
{
	switch (actor__below(draws, 3)) {
	case 0:
		return (int)cuDevicePrimaryCtxReset(device);
	case 1:
		return release_primary(mix, device);
	default:
		if (mix->layers == LAYERS_DRIVER || cudaSetDevice(device))
			return 1;
		return (int)cudaDeviceReset();
	}
}

/* Resets a device while all are stopped; afterwards nothing that ended with it is held. */
static void reset_device(struct mix *mix, struct actor *draws)
{
	int device = (int)actor__below(draws, (uint32_t)mix->nr_devices);

	pthread_rwlock_wrlock(&mix->quiet);
	if (!reset(mix, draws, device)) {
		mix->generations[device]++;
		for (uint32_t i = 0; i < mix->nr_shared; i++) {
			struct holding *holding = &mix->shared[i];

			if (holding->home.device != device)
				continue;
			memory__forget(holding);
			*holding = mix->shared[--mix->nr_shared];
			i--;
		}
	}
	pthread_rwlock_unlock(&mix->quiet);
}

static void make_actors(struct mix *mix)
{
	uint64_t seeds = mix->seed;

	mix->actors = must_allocate(mix->nr_threads * sizeof(*mix->actors));
	for (uint32_t i = 0; i < mix->nr_threads; i++) {
		struct actor *actor = &mix->actors[i];

		actor->mix = mix;
		actor->index = i;
		actor->random = mix__draw(&seeds);
		actor->buffer = must_allocate(MIX_BUFFER);
	}
}

void mix__start(struct mix *mix)
{
	pthread_rwlockattr_t attributes;

	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&mix->quiet, &attributes);
	pthread_mutex_init(&mix->lock, NULL);
	if (pipe(mix->ended))
		give_up("no pipe");
	RETRY(cuInit(0));
	RETRY(cuDeviceGetCount(&mix->nr_devices));
	if (mix->nr_devices > MIX_DEVICES)
		mix->nr_devices = MIX_DEVICES;
	for (int device = 0; device < mix->nr_devices; device++)
		RETRY(cuDevicePrimaryCtxRetain(&mix->primary[device], device));
	/*
	 * The runtime retains the contexts under a lock, inside which no thread may end. So let it
	 * do so here.
	 */
	for (int device = 0; device < mix->nr_devices && mix->layers != LAYERS_DRIVER; device++)
		RETRY(cudaSetDevice(device));
	RETRY(cuCtxSetCurrent(mix->primary[0]));
	launch__prepare(mix);
	make_actors(mix);
}

static uint64_t actions_of(const struct mix *mix)
{
	uint64_t actions = 0;

	for (uint32_t i = 0; i < mix->nr_threads; i++)
		actions += __atomic_load_n(&mix->actors[i].actions, __ATOMIC_RELAXED);
	return actions;
}

void mix__run(struct mix *mix, double seconds)
{
	struct actor draws = { .mix = mix, .random = ~mix->seed };
	double end = now() + seconds, next_reset = now() + RESET_SECONDS;

	mix->stop = false;
	for (uint32_t i = 0; i < mix->nr_threads; i++)
		start_thread(&mix->actors[i]);
	while (now() < end || actions_of(mix) < mix->least_actions) {
		replace_thread(mix, 0.02);
		if (mix->resets && now() >= next_reset) {
			reset_device(mix, &draws);
			next_reset = now() + RESET_SECONDS;
		}
	}
	__atomic_store_n(&mix->stop, true, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < mix->nr_threads; i++)
		pthread_join(mix->actors[i].thread, NULL);
}

struct family {
	struct mix *mix;
	pid_t children[MAX_CHILDREN];
	uint32_t nr_children;
	bool stop;
};

/* Starts a child from time to time, while the others continue. */
static void *start_children(void *argument)
{
	struct family *family = argument;

	while (!__atomic_load_n(&family->stop, __ATOMIC_ACQUIRE)) {
		if (family->nr_children < MAX_CHILDREN) {
			family->children[family->nr_children] =
				child__execute(family->mix,
					       family->mix->seed * 1000 + family->nr_children);
			family->nr_children++;
		}
		sleep_seconds(CHILD_SECONDS);
	}
	return NULL;
}

static void wait_for_children(const struct family *family)
{
	for (uint32_t i = 0; i < family->nr_children; i++) {
		int status;

		if (waitpid(family->children[i], &status, 0) < 0)
			give_up("child %u is gone", i);
		if (WIFEXITED(status) ? WEXITSTATUS(status) != 0 : WTERMSIG(status) != 9)
			give_up("child %u ended with status %#x", i, status);
	}
}

int main(int argc, char **argv)
{
	struct mix mix = { .nr_threads = 64, .seconds = 10, .layers = LAYERS_BOTH, .pause = 0.002,
			   .environment = environ };
	struct family family = { .mix = &mix };
	uint64_t children = 5, end = 0, deaths = 0;
	bool calm = false, no_resets = false;
	const struct workload_option options[] = {
		{ "seed", OPTION_NUMBER, &mix.seed, NULL, "of the random numbers [0]" },
		{ "threads", OPTION_NUMBER, &mix.nr_threads, NULL, "threads [64]" },
		{ "seconds", OPTION_SECONDS, &mix.seconds, NULL, "how long [10]" },
		{ "actions", OPTION_NUMBER, &mix.least_actions, NULL,
		  "at least so many, however long that takes [0]" },
		{ "api", OPTION_CHOICE, &mix.layers, "runtime|driver|both",
		  "whose calls, where both have one [both]" },
		{ "children", OPTION_NUMBER, &children, NULL,
		  "forked first; if any, others are started later [5]" },
		{ "calm", OPTION_FLAG, &calm, NULL, "no thread ends in the middle of a call" },
		{ "no-resets", OPTION_FLAG, &no_resets, NULL, "no device is reset" },
		{ "families", OPTION_TEXT, &mix.family_list, NULL, "only these, with commas" },
		{ "pause", OPTION_SECONDS, &mix.pause, NULL,
		  "between a thread's actions, on the average [0.002]" },
		{ "end", OPTION_NUMBER, &end, NULL, "how a child ends, for the program itself" },
		{ 0 },
	};
	pthread_t starter;

	monitor_options__parse(argc, argv, "Random calls of all kinds, on the simulated CUDA only.",
		       options);
	mix.deadly = !calm;
	mix.resets = !no_resets;
	mix.families = actor__families(mix.family_list);
	if (!mix.nr_threads || children > MAX_CHILDREN || end > END_PROCESS_EXIT_NOW + 1)
		give_up("--threads, --children or --end is out of range");
	if (end)
		child__live(&mix, (enum end)(end - 1));
	for (; family.nr_children < children; family.nr_children++)
		family.children[family.nr_children] =
			child__fork(&mix, mix.seed * 1000 + 500 + family.nr_children);
	mix__start(&mix);
	if (children && pthread_create(&starter, NULL, start_children, &family))
		give_up("no thread");
	mix__run(&mix, mix.seconds);
	__atomic_store_n(&family.stop, true, __ATOMIC_RELEASE);
	if (children)
		pthread_join(starter, NULL);
	wait_for_children(&family);
	for (uint32_t i = 0; i < mix.nr_threads; i++)
		deaths += mix.actors[i].deaths;
	printf("%llu actions, %llu ends in the middle of a call, %u children\n",
	       (unsigned long long)actions_of(&mix), (unsigned long long)deaths,
	       family.nr_children);
	return 0;
}

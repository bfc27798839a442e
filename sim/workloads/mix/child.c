// SPDX-License-Identifier: BSD-2-Clause
/*
 * Children that do the same for a short time and end in many ways. Their calls are known exactly:
 * the truth is written when every other thread has ended or stays in a call that has done nothing
 * yet.
 */
#define _GNU_SOURCE
#include "mix.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STAYING 3
#define MAX_ARGUMENTS 20

/* Exported by the simulated libcuda. */
void cuda_sim_write_truth(void);

/* Acts until the call that it never leaves. */
static void *stay_inside(void *argument)
{
	struct actor *actor = argument;

	actor__recover(actor, true);
	death__arm(actor, END_STAY);
	for (;;)
		actor__act(actor);
	return NULL;
}

static void wait_until_inside(struct mix *mix)
{
	for (uint32_t i = 0; i < STAYING; i++)
		if (pthread_create(&mix->actors[i].thread, NULL, stay_inside, &mix->actors[i]))
			give_up("a thread does not start");
	while (__atomic_load_n(&mix->inside, __ATOMIC_ACQUIRE) < STAYING)
		sleep_seconds(0.001);
}

void child__live(struct mix *mix, enum end end)
{
	mix__start(mix);
	mix__run(mix, mix->seconds);
	if (end == END_JUMP)
		exit(0);
	if (mix->nr_threads <= STAYING)
		give_up("too few threads");
	wait_until_inside(mix);
	if (end != END_STAY) {
		actor__recover(&mix->actors[STAYING], true);
		death__arm(&mix->actors[STAYING], end);
		for (;;)
			actor__act(&mix->actors[STAYING]);
	}
	cuda_sim_write_truth();
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

/* How the child with that seed ends: one in five by exit, when everything is done. */
static enum end end_of(uint64_t seed)
{
	static const enum end ends[] = {
		END_JUMP, END_STAY, END_EXEC, END_PROCESS_EXIT, END_PROCESS_EXIT_NOW,
	};

	return ends[seed % 5];
}

pid_t child__execute(struct mix *mix, uint64_t seed)
{
	static const char *const layers[] = { "runtime", "driver", "both" };
	char seed_text[32], end_text[32];
	char *arguments[MAX_ARGUMENTS] = {
		"mix", "--seed", seed_text, "--threads", "4", "--seconds", "0.2", "--api",
		(char *)layers[mix->layers], "--end", end_text,
	};
	uint32_t count = 11;
	pid_t pid;

	snprintf(seed_text, sizeof(seed_text), "%llu", (unsigned long long)seed);
	snprintf(end_text, sizeof(end_text), "%d", (int)end_of(seed) + 1);
	if (!mix->deadly)
		arguments[count++] = "--calm";
	if (!mix->resets)
		arguments[count++] = "--no-resets";
	if (mix->family_list) {
		arguments[count++] = "--families";
		arguments[count++] = (char *)mix->family_list;
	}
	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, mix->environment))
		give_up("a child does not start");
	return pid;
}

pid_t child__fork(struct mix *mix, uint64_t seed)
{
	pid_t pid = fork();

	if (pid < 0)
		give_up("a child does not start");
	if (pid)
		return pid;
	mix->seed = seed;
	mix->nr_threads = 4;
	mix->seconds = 0.3;
	mix->least_actions = 0;
	child__live(mix, end_of(seed));
}

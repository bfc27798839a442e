// SPDX-License-Identifier: BSD-2-Clause
// Faults about devices: queried all the time, or loaded unequally.
#include "faults.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GETTERS 500
#define DEVICES 2

static const uint64_t unequal[DEVICES] = { 12, 8 };
static const uint64_t equal[DEVICES] = { 10, 10 };

/* Queries the current device before each of five hundred small operations; fixed: once. */
static void chatty_getters(struct run *run)
{
	int device = -1;

	NEED(cudaGetDevice(&device));
	while (run__goes_on(run)) {
		for (int i = 0; !run->fixed && i < GETTERS; i++)
			NEED(cudaGetDevice(&device));
		run__step(run);
	}
	run__close(run);
}

static const uint64_t *launches_of(const struct run *run)
{
	return run->fixed ? equal : unequal;
}

static void feed_both(struct run *run)
{
	struct run runs[DEVICES];

	for (int i = 0; i < DEVICES; i++) {
		runs[i] = *run;
		run__open(&runs[i], i);
	}
	while (run__goes_on(&runs[0])) {
		for (int i = 0; i < DEVICES; i++) {
			NEED(cudaSetDevice(i));
			run__launch(&runs[i], launches_of(run)[i]);
		}
		for (int i = 0; i < DEVICES; i++) {
			NEED(cudaSetDevice(i));
			run__wait(&runs[i]);
		}
	}
	for (int i = 0; i < DEVICES; i++) {
		NEED(cudaSetDevice(i));
		run__close(&runs[i]);
	}
}

/* Ranks proceed step by step together, as if they exchanged gradients. */
struct job {
	pthread_barrier_t barrier;
	bool over;
};

static struct job *make_job(void)
{
	struct job *job =
		mmap(NULL, sizeof(*job), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;

	if (job == MAP_FAILED || pthread_barrierattr_init(&shared) ||
	    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) ||
	    pthread_barrier_init(&job->barrier, &shared, DEVICES))
		give_up("no job can be made");
	return job;
}

static void be_rank(struct run *run, struct job *job, int rank)
{
	/* If one fails, the others must not wait for it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run__open(run, rank);
	while (!job->over) {
		run__launch(run, launches_of(run)[rank]);
		run__wait(run);
		pthread_barrier_wait(&job->barrier);
		if (!rank)
			job->over = !run__goes_on(run);
		pthread_barrier_wait(&job->barrier);
	}
	run__close(run);
	exit(0);
}

/* One device gets twelve of the twenty launches per step, the other eight; fixed: ten each. */
static void device_imbalance(struct run *run)
{
	struct job *job;
	int status;

	if (run->processes < DEVICES) {
		feed_both(run);
		return;
	}
	job = make_job();
	for (int rank = 0; rank < DEVICES; rank++) {
		pid_t child = fork();

		if (child < 0)
			give_up("a rank does not start");
		if (!child)
			be_rank(run, job, rank);
	}
	for (int rank = 0; rank < DEVICES; rank++)
		if (wait(&status) < 0 || status)
			give_up("a rank has failed");
}

const struct fault device_faults[] = {
	{ "chatty-getters", chatty_getters, "cudaGetDevice 500 times a step; fixed: once", false,
	  .environment = "CUDA_SIM_LATENCY=cudaGetDevice=20us",
	  .options = "--getters --threshold chatty-getters=5000/s" },
	{ "device-imbalance", device_imbalance,
	  "two devices with 60 % and 40 % of the launches; fixed: half each", true,
	  .environment = "CUDA_SIM_ASYNC=4ms CUDA_SIM_DEVICES=2" },
	{ 0 },
};

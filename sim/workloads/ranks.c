// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ranks of a job, as processes or threads, that make collectives of the simulated libnccl. One rank
 * may misbehave at a step. Prints "rank R pid P" for each, "ended P STATUS" for processes that
 * fail, "stuck P" for ranks that do not go on by themselves. If nobody can go on any more, it kills
 * all and exits with status 3.
 */
#include "common.h"
#include "nccl_api.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_RANKS 64

enum shape { SHAPE_DDP, SHAPE_SPLIT, SHAPE_PIPELINE, SHAPE_ALLTOALL, SHAPE_GROUP, SHAPE_CAPTURE,
	     SHAPE_SEVERAL };

enum fault { FAULT_NONE, FAULT_SKIP, FAULT_EXTRA, FAULT_SIZE, FAULT_TYPE, FAULT_OP, FAULT_ROOT,
	     FAULT_FUNCTION, FAULT_ORDER, FAULT_SLOW, FAULT_DEAD, FAULT_STOPPED, FAULT_HOST,
	     FAULT_EXCEPTION, FAULT_ERROR };

enum state { RUNNING, WAITING, STUCK, DONE };

/* A rank as the parent sees it. */
struct seen {
	int state;		/* enum state */
	uint64_t changes;	/* of the state */
	uint64_t looks;		/* at work that was not done */
	pid_t pid;
};

static struct {
	uint64_t ranks, steps, rank, step;
	double slow, jitter, pause;
	int shape, fault;
	bool threads, block;
	struct seen *seen;
	ncclUniqueId id, second_id;
} run = { .ranks = 4, .steps = 50, .slow = 0.02 };

/* What a rank has. */
struct rank {
	int number;
	unsigned int random;
	ncclComm_t comm, other;
	cudaStream_t stream;
};

static void set_state(const struct rank *rank, enum state state)
{
	__atomic_store_n(&run.seen[rank->number].state, state, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&run.seen[rank->number].changes, 1, __ATOMIC_SEQ_CST);
}

/* Does not go on. Not inlined, so that its name is in stacks. */
static __attribute__((noinline)) void stuck_in_host_code(const struct rank *rank)
{
	set_state(rank, STUCK);
	for (;;)
		pause();
}

/* Waits for the rank's stream; by looking, the parent knows that nobody can go on. */
static void wait_for_stream(const struct rank *rank)
{
	if (run.block) {
		NEED(cudaStreamSynchronize(rank->stream));
		return;
	}
	set_state(rank, WAITING);
	while (cudaStreamQuery(rank->stream) == cudaErrorNotReady) {
		__atomic_add_fetch(&run.seen[rank->number].looks, 1, __ATOMIC_SEQ_CST);
		sleep_seconds(0.0002);
	}
	set_state(rank, RUNNING);
}

/* --- steps --- */

/* The three collectives of a step of data-parallel training; `faulty` changes the second. */
static ncclResult_t collective(const struct rank *rank, ncclComm_t comm, int which,
			       enum fault fault)
{
	void *data = (void *)0x10000;
	size_t count = fault == FAULT_SIZE ? 512 : 1024;
	int type = fault == FAULT_TYPE ? 6 : 9, op = fault == FAULT_OP ? 2 : 0;
	int root = fault == FAULT_ROOT ? 1 : fault == FAULT_ERROR ? 1000 : 0;

	switch (which) {
	case 0:
		return ncclAllReduce(data, data, 4096, 9, 0, comm, rank->stream);
	case 1:
		if (fault == FAULT_FUNCTION)
			return ncclAllGather(data, data, count, type, comm, rank->stream);
		return ncclReduce(data, data, count, type, op, root, comm, rank->stream);
	default:
		return ncclBcast(data, 256, 7, 0, comm, rank->stream);
	}
}

static void make(const struct rank *rank, ncclComm_t comm, int which)
{
	NEED(collective(rank, comm, which, FAULT_NONE));
}

/* A step's collectives by a rank that misbehaves in it. */
static void make_wrongly(const struct rank *rank, ncclComm_t comm)
{
	make(rank, comm, 0);
	switch (run.fault) {
	case FAULT_SKIP:
		break;
	case FAULT_EXTRA:
		make(rank, comm, 2);
		make(rank, comm, 1);
		break;
	case FAULT_ORDER:
		make(rank, comm, 2);
		make(rank, comm, 1);
		return;
	case FAULT_ERROR:
		if (!collective(rank, comm, 1, FAULT_ERROR))
			give_up("a collective with an impossible root succeeded");
		make(rank, comm, 1);
		break;
	default:
		NEED(collective(rank, comm, 1, run.fault));
	}
	make(rank, comm, 2);
}

static void data_parallel(const struct rank *rank, ncclComm_t comm, bool wrong)
{
	if (wrong) {
		make_wrongly(rank, comm);
		return;
	}
	for (int which = 0; which < 3; which++)
		make(rank, comm, which);
}

/* Sends forward. */
static void pipeline(const struct rank *rank, bool skips)
{
	void *data = (void *)0x10000;

	if (rank->number)
		NEED(ncclRecv(data, 1024, 9, rank->number - 1, rank->comm, rank->stream));
	wait_for_stream(rank);
	if (rank->number + 1 < (int)run.ranks && !skips)
		NEED(ncclSend(data, 1024, 9, rank->number + 1, rank->comm, rank->stream));
}

static void all_to_all(const struct rank *rank, bool other_size)
{
	void *data = (void *)0x10000;

	NEED(ncclGroupStart());
	for (int peer = 0; peer < (int)run.ranks; peer++) {
		NEED(ncclSend(data, other_size ? 2048 : 1024, 9, peer, rank->comm, rank->stream));
		NEED(ncclRecv(data, 1024, 9, peer, rank->comm, rank->stream));
	}
	NEED(ncclGroupEnd());
}

static void captured(const struct rank *rank)
{
	cudaGraph_t graph;

	NEED(cudaStreamBeginCapture(rank->stream, cudaStreamCaptureModeThreadLocal));
	make(rank, rank->comm, 0);
	NEED(cudaStreamEndCapture(rank->stream, &graph));
	NEED(cudaGraphDestroy(graph));
}

static void work(const struct rank *rank, bool wrong)
{
	bool skips = wrong && run.fault == FAULT_SKIP;

	switch (run.shape) {
	case SHAPE_PIPELINE:
		pipeline(rank, skips);
		break;
	case SHAPE_ALLTOALL:
		all_to_all(rank, wrong && run.fault == FAULT_SIZE);
		break;
	case SHAPE_GROUP:
		NEED(ncclGroupStart());
		data_parallel(rank, rank->comm, wrong);
		NEED(ncclGroupEnd());
		break;
	case SHAPE_CAPTURE:
		captured(rank);
		data_parallel(rank, rank->comm, wrong);
		break;
	case SHAPE_SPLIT:
	case SHAPE_SEVERAL:
		data_parallel(rank, rank->other, wrong);
		make(rank, rank->comm, 0);
		break;
	default:
		data_parallel(rank, rank->comm, wrong);
	}
}

/* What happens to a rank before its step. */
static void misfortune(const struct rank *rank)
{
	switch (run.fault) {
	case FAULT_DEAD:
		raise(SIGKILL);
		break;
	case FAULT_EXCEPTION:
		exit(1);
	case FAULT_STOPPED:
		set_state(rank, STUCK);
		raise(SIGSTOP);
		break;
	case FAULT_HOST:
		stuck_in_host_code(rank);
		break;
	default:
		break;
	}
}

/* --- ranks --- */

static void open_rank(struct rank *rank)
{
	int size = (int)run.ranks, count;

	NEED(cudaGetDeviceCount(&count));
	NEED(cudaSetDevice(rank->number % count));
	NEED(cudaStreamCreateWithFlags(&rank->stream, cudaStreamNonBlocking));
	NEED(ncclCommInitRank(&rank->comm, size, run.id, rank->number));
	if (run.shape == SHAPE_SPLIT)
		NEED(ncclCommSplit(rank->comm, rank->number % 2, -rank->number, &rank->other,
				   NULL));
	if (run.shape == SHAPE_SEVERAL)
		NEED(ncclCommInitRank(&rank->other, size, run.second_id, rank->number));
}

static void run_rank(uint64_t number, void *context)
{
	struct rank rank = { .number = (int)number, .random = (unsigned int)number + 1 };

	(void)context;
	run.seen[number].pid = getpid();
	open_rank(&rank);
	for (uint64_t step = 0; step < run.steps; step++) {
		bool chosen = run.fault && number == run.rank;

		if (run.pause > 0 || run.jitter > 0)
			sleep_seconds(run.pause +
				      run.jitter * rand_r(&rank.random) / (double)RAND_MAX);
		if (chosen && run.fault == FAULT_SLOW && step >= run.step)
			sleep_seconds(run.slow);
		if (chosen && step == run.step)
			misfortune(&rank);
		work(&rank, chosen && step == run.step);
		wait_for_stream(&rank);
	}
	if (rank.other)
		NEED(ncclCommDestroy(rank.other));
	NEED(ncclCommDestroy(rank.comm));
	set_state(&rank, DONE);
}

/* --- the parent --- */

static uint64_t load(const uint64_t *value)
{
	return __atomic_load_n(value, __ATOMIC_SEQ_CST);
}

static int state_of(uint64_t rank)
{
	return run.seen[rank].pid ? __atomic_load_n(&run.seen[rank].state, __ATOMIC_SEQ_CST) : DONE;
}

/* Whether all ranks that wait have looked twice since `looks`, and none has gone on. */
static bool looked_in_vain(const uint64_t *changes, const uint64_t *looks, bool *gone_on)
{
	bool all = true;

	for (uint64_t rank = 0; rank < run.ranks; rank++) {
		*gone_on |= load(&run.seen[rank].changes) != changes[rank];
		all &= state_of(rank) != WAITING || load(&run.seen[rank].looks) >= looks[rank] + 2;
	}
	return all;
}

/*
 * Whether nobody can go on: each rank waits, is stuck or is gone, and each one that waits has
 * looked in vain after all others had stopped.
 */
static bool all_stand_still(void)
{
	uint64_t changes[MOST_RANKS] = { 0 }, looks[MOST_RANKS] = { 0 };
	bool gone_on = false, anybody = false;

	for (uint64_t rank = 0; rank < run.ranks; rank++) {
		changes[rank] = load(&run.seen[rank].changes);
		if (state_of(rank) == RUNNING)
			return false;
		anybody |= state_of(rank) != DONE;
	}
	if (!anybody)
		return false;
	for (uint64_t rank = 0; rank < run.ranks; rank++)
		looks[rank] = load(&run.seen[rank].looks);
	while (!looked_in_vain(changes, looks, &gone_on) && !gone_on)
		sleep_seconds(0.0002);
	return !gone_on;
}

/* Notes processes that have ended. Returns how many there still are. */
static uint64_t reap(const pid_t *pids)
{
	uint64_t left = 0;
	int status;

	for (uint64_t rank = 0; rank < run.ranks; rank++) {
		if (run.seen[rank].state == DONE && !run.seen[rank].pid)
			continue;
		if (waitpid(pids[rank], &status, WNOHANG) != pids[rank]) {
			left++;
			continue;
		}
		if (status)
			printf("ended %d %d\n", (int)pids[rank], status);
		run.seen[rank].pid = 0;
		run.seen[rank].state = DONE;
	}
	return left;
}

static void kill_all(const pid_t *pids)
{
	for (uint64_t rank = 0; rank < run.ranks; rank++) {
		if (!run.seen[rank].pid)
			continue;
		if (run.seen[rank].state == STUCK)
			printf("stuck %d\n", (int)pids[rank]);
		kill(pids[rank], SIGKILL);
		waitpid(pids[rank], NULL, 0);
	}
}

static int run_processes(void)
{
	pid_t pids[MOST_RANKS];

	for (uint64_t rank = 0; rank < run.ranks; rank++) {
		pids[rank] = fork();
		if (pids[rank] < 0)
			give_up("fork failed");
		if (!pids[rank]) {
			run_rank(rank, NULL);
			exit(0);
		}
		run.seen[rank].pid = pids[rank];
		printf("rank %d pid %d\n", (int)rank, (int)pids[rank]);
		fflush(stdout);
	}
	while (reap(pids)) {
		if (!run.block && all_stand_still() && reap(pids)) {
			kill_all(pids);
			return 3;
		}
		sleep_seconds(0.001);
	}
	return 0;
}

static const char faults[] = "none|skip|extra|size|type|op|root|function|order|slow|dead|stopped|"
			     "host|exception|error";

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "ranks", OPTION_NUMBER, &run.ranks, NULL, "ranks [4]" },
		{ "steps", OPTION_NUMBER, &run.steps, NULL, "steps of each [50]" },
		{ "shape", OPTION_CHOICE, &run.shape,
		  "ddp|split|pipeline|alltoall|group|capture|several", "what a step does [ddp]" },
		{ "fault", OPTION_CHOICE, &run.fault, faults, "what goes wrong [none]" },
		{ "rank", OPTION_NUMBER, &run.rank, NULL, "in this rank [0]" },
		{ "at", OPTION_NUMBER, &run.step, NULL, "at this step [0]" },
		{ "slow", OPTION_SECONDS, &run.slow, NULL, "by how much `slow` is late [0.02]" },
		{ "jitter", OPTION_SECONDS, &run.jitter, NULL,
		  "each rank begins a step up to so late, by chance [0]" },
		{ "pause", OPTION_SECONDS, &run.pause, NULL, "before each step [0]" },
		{ "threads", OPTION_FLAG, &run.threads, NULL, "ranks are threads" },
		{ "block", OPTION_FLAG, &run.block, NULL,
		  "wait in cudaStreamSynchronize, and hang where ranks do" },
		{ NULL },
	};
	const char *temporary = getenv("TMPDIR");
	char directory[256];
	int status = 0;

	monitor_options__parse(argc, argv, "Ranks that make collectives.", options);
	if (!run.ranks || run.ranks > MOST_RANKS)
		give_up("--ranks: 1 to %d", MOST_RANKS);
	run.seen = mmap(NULL, MOST_RANKS * sizeof(*run.seen), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(directory, sizeof(directory), "%s/cuda-sim-nccl-XXXXXX",
		 temporary && *temporary ? temporary : "/tmp");
	if (run.seen == MAP_FAILED || !run.seen || !mkdtemp(directory))
		give_up("no shared memory, or no directory in TMPDIR");
	setenv("CUDA_SIM_NCCL_DIRECTORY", directory, 1);
	NEED(ncclGetUniqueId(&run.id));
	NEED(ncclGetUniqueId(&run.second_id));
	if (run.threads)
		run_threads(run.ranks, run_rank, NULL);
	else
		status = run_processes();
	/* Ranks that were killed before they met have left a file. */
	if (status && fork() == 0)
		execlp("rm", "rm", "-rf", directory, NULL);
	if (!status)
		rmdir(directory);
	wait(NULL);
	return status;
}

// SPDX-License-Identifier: BSD-2-Clause
// Simulated ranks (sim/workloads/ranks.c), each a process with the simulated libnccl: their truth
// files are fed to the judge. Counts must be exact, sound runs without a finding, and for each
// fault the verdict and the rank right.
#include <dirent.h>
#include <inttypes.h>
#include <libgen.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "nccl_scene.h"

#define MOST_EVENTS 100000
#define MOST_RANKS 16

/* A run: what happened, and who it happened to. */
struct job {
	struct nccl_event *events;
	size_t count;
	int32_t pids[MOST_RANKS];
	int32_t ended, stuck; /* process ids; 0: none */
	int status;
};

static const struct {
	const char *name;
	enum nccl_function function;
} functions[] = {
	{"AllReduce", NCCL_ALL_REDUCE},
	{"AllGather", NCCL_ALL_GATHER},
	{"Reduce", NCCL_REDUCE},
	{"Bcast", NCCL_BCAST},
	{"Broadcast", NCCL_BROADCAST},
	{"Send", NCCL_SEND},
	{"Recv", NCCL_RECV},
	{"GroupStart", NCCL_GROUP_START},
	{"GroupEnd", NCCL_GROUP_END},
	{"CommInitRank", NCCL_INIT_RANK},
	{"CommSplit", NCCL_SPLIT},
	{"CommDestroy", NCCL_DESTROY},
};

static enum nccl_function function_of(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	return NCCL_OTHER;
}

static bool read_event(const char *line, struct nccl_event *event)
{
	uint64_t comm, hash, count;
	int pid, tid, rank, size, type, op, root, captured, result;
	char phase, name[40];

	if (sscanf(line,
		   "%" SCNu64 " %d %d %c %39s %" SCNx64 " %" SCNx64 " %d %d %" SCNu64
		   " %d %d %d %d %d",
		   &event->ns, &pid, &tid, &phase, name, &comm, &hash, &rank, &size, &count, &type,
		   &op, &root, &captured, &result) != 15)
		return false;
	*event = (struct nccl_event){
		.ns = event->ns,
		.process = {.pid = pid, .start_ns = 1},
		.tid = tid,
		.phase = phase == 'b' ? NCCL_BEGIN : NCCL_END,
		.function = function_of(name),
		.comm = comm,
		.made = comm,
		.operation = {.count = count, .datatype = type, .op = op, .root = root},
		.captured = captured,
		.hash = hash,
		.rank = rank,
		.size = size,
		.color = rank,
		.key = size,
		.device = NCCL_DEVICE_UNKNOWN,
		.result = result,
	};
	return true;
}

static void read_truth(struct job *job, const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	char path[512], line[512];
	FILE *file;

	assert_non_null(entries);
	while ((entry = readdir(entries))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		file = fopen(path, "r");
		assert_non_null(file);
		/* Besides, there is what ranks that died have left of the memory they shared. */
		while (strncmp(entry->d_name, "cuda-sim-", 9) && fgets(line, sizeof(line), file) &&
		       job->count < MOST_EVENTS)
			job->count += read_event(line, &job->events[job->count]);
		fclose(file);
		unlink(path);
	}
	closedir(entries);
	rmdir(directory);
}

static int by_time(const void *one, const void *other)
{
	const struct nccl_event *a = one, *b = other;

	/* A thread's own order stays: its times differ, or its begin comes before its end. */
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (int)a->phase - (int)b->phase;
}

static void read_output(struct job *job, FILE *output)
{
	char line[256];
	int one, two;

	while (fgets(line, sizeof(line), output)) {
		if (sscanf(line, "rank %d pid %d", &one, &two) == 2)
			job->pids[one] = two;
		else if (sscanf(line, "ended %d", &one) == 1)
			job->ended = one;
		else if (sscanf(line, "stuck %d", &one) == 1)
			job->stuck = one;
	}
}

/* build/tests or build/sanitized/tests, where this program is; build/sim has the ranks */
static const char *tests_directory;

static struct job run(const char *options)
{
	struct job job = {.events = calloc(MOST_EVENTS, sizeof(*job.events))};
	char directory[] = "/tmp/nccl-ranks-XXXXXX", command[512];
	FILE *output;

	assert_non_null(job.events);
	assert_non_null(mkdtemp(directory));
	snprintf(command, sizeof(command),
		 "cd %s && cd .. && [ -x sim/ranks ] || cd .. && "
		 "CUDA_SIM_NCCL_DIRECTORY=%s CUDA_SIM_NCCL_TRUTH=%s/%%p exec sim/ranks %s 2>&1",
		 tests_directory, directory, directory, options);
	output = popen(command, "r");
	assert_non_null(output);
	read_output(&job, output);
	job.status = WEXITSTATUS(pclose(output));
	read_truth(&job, directory);
	qsort(job.events, job.count, sizeof(*job.events), by_time);
	return job;
}

/* Feeds everything; the judge looks long after. */
static struct scene judge(const struct job *job, const struct nccl_patience *patience)
{
	struct scene scene = {.jobs = nccl_jobs__new(NULL)};

	for (size_t i = 0; i < job->count; i++) {
		scene__feed(&scene, job->events[i]);
		scene.now = job->events[i].ns;
	}
	if (job->ended) {
		struct nccl_process_key key = {.pid = job->ended, .start_ns = 1};

		nccl_jobs__process_ended(scene.jobs, &key);
	}
	scene.now += 20 * SECOND;
	assert_int_equal(nccl_jobs__judge(scene.jobs, patience, scene.now, &scene.findings), 0);
	return scene;
}

static bool counts(const struct nccl_event *event)
{
	/* Bcast has Broadcast inside. */
	return nccl_function__is_collective(event->function) && event->function != NCCL_BCAST &&
	       event->phase == NCCL_BEGIN && !event->captured;
}

/* Each rank's number against a count of the lines of its process and communicator. */
static void expect_exact(const struct job *job, const struct scene *scene)
{
	const struct nccl_comm *comm = NULL;
	const struct nccl_rank *rank;

	while ((comm = nccl_jobs__next(scene->jobs, comm))) {
		for (size_t i = 0; (rank = nccl_comm__rank(comm, i)); i++) {
			uint64_t count = 0;

			for (size_t j = 0; j < job->count; j++)
				count += counts(&job->events[j]) &&
					 job->events[j].comm == rank->handle &&
					 job->events[j].process.pid == rank->process->key.pid;
			assert_int_equal(rank->sequence, count);
			assert_int_equal(rank->rank, i);
		}
		assert_int_equal(comm->seen, comm->size);
	}
}

static void sound(void **state)
{
	static const char *const runs[] = {
		"--ranks 2",
		"--ranks 4 --shape split",
		"--ranks 5 --shape split --steps 20",
		"--ranks 4 --shape pipeline",
		"--ranks 4 --shape alltoall",
		"--ranks 4 --shape group",
		"--ranks 4 --shape capture",
		"--ranks 4 --shape several",
		"--ranks 16 --steps 10",
		"--ranks 4 --steps 40 --pause 0.004 --jitter 0.0008",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct job job = run(runs[i]);
		struct scene scene = judge(&job, NULL);
		const struct nccl_losses losses = nccl_jobs__losses(scene.jobs);

		assert_int_equal(job.status, 0);
		expect_exact(&job, &scene);
		for (size_t j = 0; j < scene.findings.count; j++)
			/* A busy machine makes ranks late: that is no fault of the judge. */
			assert_true(scene.findings.items[j].verdict >= NCCL_STRAGGLER);
		assert_int_equal(losses.stray_ends + losses.unended + losses.invalid, 0);
		scene__free(&scene);
		free(job.events);
	}
}

static void faulty(const char *options, int32_t blamed, enum nccl_verdict verdict,
		   enum nccl_cause cause)
{
	struct job job = run(options);
	struct scene scene = judge(&job, NULL);
	const struct nccl_finding *finding = NULL;

	/* The one that the test is about comes first of its kind. */
	for (size_t i = 0; i < scene.findings.count && !finding; i++)
		if (scene.findings.items[i].verdict == verdict)
			finding = &scene.findings.items[i];
	/* On a busy machine others are late, too, but not so much. */
	if (!finding || finding->cause != cause ||
	    (finding->blamed != 1 && verdict != NCCL_STRAGGLER) ||
	    finding->ranks[0]->process->key.pid != job.pids[blamed])
		fail_msg("%s: %zu findings, cause %d, blames %zu", options, scene.findings.count,
			 finding ? (int)finding->cause : -1, finding ? finding->blamed : 0);
	scene__free(&scene);
	free(job.events);
}

static void faults(void **state)
{
	static const struct {
		const char *fault;
		enum nccl_verdict verdict;
		enum nccl_cause cause;
	} kinds[] = {
		{"skip", NCCL_MISMATCH, NCCL_SKIPPED},
		{"extra", NCCL_MISMATCH, NCCL_INSERTED},
		{"size", NCCL_MISMATCH, NCCL_DIFFERENT},
		{"type", NCCL_MISMATCH, NCCL_DIFFERENT},
		{"op", NCCL_MISMATCH, NCCL_DIFFERENT},
		{"root", NCCL_MISMATCH, NCCL_DIFFERENT},
		{"function", NCCL_MISMATCH, NCCL_DIFFERENT},
		{"order", NCCL_MISMATCH, NCCL_SWAPPED},
		{"dead", NCCL_HANG, NCCL_RANK_MISSING},
		{"stopped", NCCL_HANG, NCCL_RANK_MISSING},
		{"host", NCCL_HANG, NCCL_RANK_MISSING},
		{"exception", NCCL_HANG, NCCL_RANK_MISSING},
		{"error", NCCL_ERROR, NCCL_CAUSE_NONE},
	};
	static const struct {
		int32_t ranks, rank;
		const char *shape;
	} jobs[] = {{4, 2, "ddp"}, {3, 0, "group"}, {8, 7, "several"}};
	char options[128];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (size_t j = 0; j < sizeof(jobs) / sizeof(jobs[0]); j++) {
			snprintf(options, sizeof(options),
				 "--ranks %" PRId32 " --rank %" PRId32
				 " --shape %s --steps 8 --at 5 --fault %s",
				 jobs[j].ranks, jobs[j].rank, jobs[j].shape, kinds[i].fault);
			faulty(options, jobs[j].rank, kinds[i].verdict, kinds[i].cause);
		}
	}
}

static void messages(void **state)
{
	(void)state;
	faulty("--ranks 4 --shape pipeline --steps 8 --at 7 --rank 1 --fault skip", 1, NCCL_HANG,
	       NCCL_PEER_MISSING);
	faulty("--ranks 4 --shape pipeline --steps 8 --at 5 --rank 2 --fault dead", 2, NCCL_HANG,
	       NCCL_PEER_MISSING);
	faulty("--ranks 4 --shape pipeline --steps 8 --at 5 --rank 0 --fault host", 0, NCCL_HANG,
	       NCCL_PEER_MISSING);
}

static void slow(void **state)
{
	(void)state;
	faulty("--ranks 4 --steps 10 --rank 3 --at 0 --fault slow --slow 0.1", 3, NCCL_STRAGGLER,
	       NCCL_CAUSE_NONE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound),
		cmocka_unit_test(faults),
		cmocka_unit_test(messages),
		cmocka_unit_test(slow),
	};

	tests_directory = argc ? dirname(argv[0]) : "build/tests";
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls of every family with known arguments in a known order, for tests of the tracer. With --log,
 * each call that the program makes itself is logged as a tab-separated line: thread, nanoseconds
 * (CLOCK_BOOTTIME) just before and just after it, function, result, and its arguments as NAME=VALUE
 * in hexadecimal. The lines of a thread are in the order of its calls.
 */
#define _GNU_SOURCE
#include "gpu.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KERNELS 4
#define MAX_VALUES 6
#define CALLS_FIRST 3  /* per thread, before its rounds */
#define CALLS_ROUND 11 /* maximum per round */
#define TOO_MUCH (1ull << 50)

struct record {
	const char *function;
	const char *names; /* of the values, separated by spaces */
	uint64_t before, after;
	uint64_t values[MAX_VALUES];
	int result;
};

struct worker {
	pid_t tid;
	struct record *records;
	size_t count;
	uint64_t round;
	double start; /* of its first round */
	CUstream stream;
	CUevent event;
	void *host;
};

static struct {
	uint64_t threads, rounds, fail, size;
	double rate, hold;
	const char *log, *prefix, *until;
	uint64_t name_length;
	int api;
	struct gpu gpu;
	struct kernels loaded;
	struct worker *workers;
} run = { .threads = 1, .rounds = 100, .size = 4096, .prefix = "traced" };

static uint64_t boot_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_BOOTTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

/* Without --log all calls use the first record. */
static struct record *begin(struct worker *worker, const char *function, const char *names)
{
	struct record *record = &worker->records[worker->count];

	if (run.log)
		worker->count++;
	record->function = function;
	record->names = names;
	record->before = boot_ns();
	return record;
}

#define VALUE(value) ((uint64_t)(uintptr_t)(value))

/* Makes the call and logs it. The values are read after the call, so they include its outputs. */
#define CALL(worker, names, function, arguments, ...)						\
	__extension__({										\
		struct record *record_ = begin(worker, #function, names);			\
												\
		record_->result = (int)function arguments;					\
		record_->after = boot_ns();							\
		memcpy(record_->values, ((uint64_t[MAX_VALUES]){ __VA_ARGS__ }),		\
		       sizeof(record_->values));						\
		record_->result;								\
	})

static void runtime_round(struct worker *worker)
{
	void *kernel = run.loaded.handles[worker->round % KERNELS], *host = worker->host;
	size_t size = run.size - worker->round % 64;
	unsigned int x = (unsigned int)(worker->round % 1000) + 1;
	dim3 grid = { x, 2, 3 }, block = { 32, 1, 2 };
	CUstream stream = worker->stream;
	void *memory = NULL;

	NEED(CALL(worker, "device", cudaSetDevice, (0), 0));
	NEED(CALL(worker, "ptr size", cudaMalloc, (&memory, size), VALUE(memory), size));
	NEED(CALL(worker, "dst src size kind", cudaMemcpy,
		  (memory, host, size, cudaMemcpyHostToDevice), VALUE(memory), VALUE(host), size,
		  cudaMemcpyHostToDevice));
	NEED(CALL(worker, "ptr value size", cudaMemset, (memory, 7, size), VALUE(memory), 7, size));
	NEED(CALL(worker, "func grid block shmem stream", cudaLaunchKernel,
		  (kernel, grid, block, NULL, x, stream), VALUE(kernel), x, 32, x, VALUE(stream)));
	NEED(CALL(worker, "event stream", cudaEventRecord, (worker->event, stream),
		  VALUE(worker->event), VALUE(stream)));
	NEED(CALL(worker, "dst src size kind stream", cudaMemcpyAsync,
		  (host, memory, size, cudaMemcpyDeviceToHost, stream), VALUE(host), VALUE(memory),
		  size, cudaMemcpyDeviceToHost, VALUE(stream)));
	NEED(CALL(worker, "event", cudaEventSynchronize, (worker->event), VALUE(worker->event)));
	NEED(CALL(worker, "stream", cudaStreamSynchronize, (stream), VALUE(stream)));
	if (run.fail && worker->round % run.fail == 0 &&
	    CALL(worker, "size", cudaMalloc, (&memory, TOO_MUCH), TOO_MUCH) !=
		    cudaErrorMemoryAllocation)
		give_up("an allocation that is too large did not fail as it should");
	NEED(CALL(worker, "ptr", cudaFree, (memory), VALUE(memory)));
}

static void driver_round(struct worker *worker)
{
	void *kernel = run.loaded.handles[worker->round % KERNELS], *host = worker->host;
	size_t size = run.size - worker->round % 64;
	unsigned int x = (unsigned int)(worker->round % 1000) + 1;
	CUstream stream = worker->stream;
	CUdeviceptr memory = 0;

	NEED(CALL(worker, "ctx", cuCtxSetCurrent, (run.gpu.context), VALUE(run.gpu.context)));
	NEED(CALL(worker, "ptr size", cuMemAlloc_v2, (&memory, size), memory, size));
	NEED(CALL(worker, "dst src size", cuMemcpyHtoD_v2, (memory, host, size), memory,
		  VALUE(host), size));
	NEED(CALL(worker, "ptr value size", cuMemsetD8_v2, (memory, 7, size), memory, 7, size));
	NEED(CALL(worker, "func grid block shmem stream", cuLaunchKernel,
		  (kernel, x, 2, 3, 32, 1, 2, x, stream, NULL, NULL), VALUE(kernel), x, 32, x,
		  VALUE(stream)));
	NEED(CALL(worker, "event stream", cuEventRecord, (worker->event, stream),
		  VALUE(worker->event), VALUE(stream)));
	NEED(CALL(worker, "dst src size stream", cuMemcpyDtoHAsync_v2, (host, memory, size, stream),
		  VALUE(host), memory, size, VALUE(stream)));
	NEED(CALL(worker, "event", cuEventSynchronize, (worker->event), VALUE(worker->event)));
	NEED(CALL(worker, "stream", cuStreamSynchronize, (stream), VALUE(stream)));
	if (run.fail && worker->round % run.fail == 0 &&
	    CALL(worker, "size", cuMemAlloc_v2, (&memory, TOO_MUCH), TOO_MUCH) !=
		    CUDA_ERROR_OUT_OF_MEMORY)
		give_up("an allocation that is too large did not fail as it should");
	NEED(CALL(worker, "ptr", cuMemFree_v2, (memory), memory));
}

static void prepare(struct worker *worker)
{
	uint64_t records = CALLS_FIRST;

	worker->tid = (pid_t)syscall(SYS_gettid);
	if (run.log)
		records += run.rounds * CALLS_ROUND;
	worker->records = must_allocate(records * sizeof(struct record));
	worker->host = must_allocate(run.size);
	if (run.api == API_RUNTIME) {
		NEED(CALL(worker, "stream flags", cudaStreamCreateWithFlags,
			  (&worker->stream, cudaStreamNonBlocking), VALUE(worker->stream),
			  cudaStreamNonBlocking));
		NEED(CALL(worker, "event", cudaEventCreate, (&worker->event),
			  VALUE(worker->event)));
	} else {
		NEED(CALL(worker, "ctx", cuCtxSetCurrent, (run.gpu.context),
			  VALUE(run.gpu.context)));
		NEED(CALL(worker, "stream flags", cuStreamCreate,
			  (&worker->stream, CU_STREAM_NON_BLOCKING), VALUE(worker->stream),
			  CU_STREAM_NON_BLOCKING));
		NEED(CALL(worker, "event flags", cuEventCreate, (&worker->event, 0),
			  VALUE(worker->event), 0));
	}
}

static bool is_enough(void)
{
	return run.until && access(run.until, F_OK) == 0;
}

static void work(uint64_t index, void *context)
{
	struct worker *worker = &run.workers[index];

	(void)context;
	prepare(worker);
	worker->start = now();
	for (worker->round = 0; worker->round < run.rounds && !is_enough(); worker->round++) {
		double left =
			run.rate > 0 ? worker->start + (double)worker->round / run.rate - now() : 0;

		if (left > 0)
			sleep_seconds(left);
		if (run.api == API_RUNTIME)
			runtime_round(worker);
		else
			driver_round(worker);
	}
}

static void write_record(FILE *out, pid_t tid, const struct record *record)
{
	const char *names = record->names;

	fprintf(out, "%d\t%llu\t%llu\t%s\t%d", tid, (unsigned long long)record->before,
		(unsigned long long)record->after, record->function, record->result);
	for (int i = 0; *names; i++) {
		int length = (int)strcspn(names, " ");

		fprintf(out, "\t%.*s=%llx", length, names, (unsigned long long)record->values[i]);
		names += length + (names[length] == ' ');
	}
	fputc('\n', out);
}

static void write_log(void)
{
	FILE *out = fopen(run.log, "w");

	if (!out)
		give_up("%s cannot be written", run.log);
	for (uint64_t i = 0; i < run.threads; i++)
		for (size_t j = 0; j < run.workers[i].count; j++)
			write_record(out, run.workers[i].tid, &run.workers[i].records[j]);
	if (fclose(out))
		give_up("%s cannot be written", run.log);
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "threads", OPTION_NUMBER, &run.threads, NULL, "threads that call [1]" },
		{ "rounds", OPTION_NUMBER, &run.rounds, NULL,
		  "rounds of ten calls a thread [100]" },
		{ "rate", OPTION_SECONDS, &run.rate, NULL, "rounds a second a thread" },
		{ "api", OPTION_CHOICE, &run.api, API_CHOICES, "[runtime]" },
		{ "fail", OPTION_NUMBER, &run.fail, NULL,
		  "in every so-manieth round one more call, that fails" },
		{ "size", OPTION_NUMBER, &run.size, NULL, "bytes of the largest allocation [4K]" },
		{ "name-prefix", OPTION_TEXT, &run.prefix, NULL, "of the kernels [traced]" },
		{ "name-length", OPTION_NUMBER, &run.name_length, NULL, "of the kernels' names" },
		{ "log", OPTION_TEXT, &run.log, NULL, "note each call in this file" },
		{ "until", OPTION_TEXT, &run.until, NULL,
		  "no more rounds once this file is there" },
		{ "hold", OPTION_SECONDS, &run.hold, NULL, "stay for so long at the end [0]" },
		{ 0 },
	};

	monitor_options__parse(argc, argv, "Calls of every family with known arguments.", options);
	if (run.size < 64)
		give_up("--size is at least 64");
	run.gpu = gpu__open(run.api);
	run.loaded = kernels__load(run.api, run.prefix, KERNELS, run.name_length);
	run.workers = must_allocate(run.threads * sizeof(*run.workers));
	run_threads(run.threads, work, NULL);
	if (run.log)
		write_log();
	sleep_seconds(run.hold);
	return 0;
}

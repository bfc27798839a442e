// SPDX-License-Identifier: BSD-2-Clause
/* The device clock: times of events relative to each other and to the truth file. */
#define _GNU_SOURCE
#include "clock.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void cuda_sim_write_truth(void);

CUfunction first, second;
CUevent held;
unsigned int rounds;

static CUfunction kernel_of(const char *name)
{
	CUfunction function;
	CUmodule module;

	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&function, module, name));
	return function;
}

void open_clock(void)
{
	open_driver();
	first = kernel_of("first");
	second = kernel_of("second");
	OK(cuEventCreate(&held, 0));
}

CUstream new_stream(unsigned int flags)
{
	CUstream stream;

	OK(cuStreamCreate(&stream, flags));
	return stream;
}

CUevent new_event(void)
{
	CUevent event;

	OK(cuEventCreate(&event, 0));
	return event;
}

void launch(CUfunction function, CUstream stream)
{
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

void hold(CUstream stream)
{
	rounds++;
	launch(first, stream);
	OK(cuEventRecord(held, stream));
}

bool ended(void)
{
	bool in_time = cuEventQuery(held) == 600;

	EXPECT(in_time || rounds < 20); /* the submission waits; the machine is not just slow */
	OK(cuCtxSynchronize());
	return in_time;
}

double between(CUevent from, CUevent to)
{
	float ms;

	OK(cuEventElapsedTime(&ms, from, to));
	return 10 * (double)(long long)((double)ms * 1e5 + (ms < 0 ? -0.5 : 0.5));
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_order(void)
{
	CUevent after = new_event();
	CUstream stream;
	CUdeviceptr address;

	stream = new_stream(CU_STREAM_NON_BLOCKING);
	OK(cuMemAlloc(&address, 1000));
	do {
		hold(stream);
		launch(second, stream);
		OK(cuMemsetD8Async(address, 0, 1000, stream));
		OK(cuMemcpyDtoDAsync(address, address, 100, stream));
		launch(second, stream);
		OK(cuEventRecord(after, stream));
	} while (!ended());
	EXPECT(between(held, after) == 1e6 + 4e6 + 1000 + 2e6 + 1000 + 1e6);
}

static void test_queries(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
		 idle = new_stream(CU_STREAM_NON_BLOCKING);
	int stream_is, event_is, elapsed_is;
	double start;
	float ms;

	do {
		start = seconds();
		hold(stream);
		stream_is = (int)cuStreamQuery(stream);
		event_is = (int)cuEventQuery(held);
		elapsed_is = (int)cuEventElapsedTime(&ms, held, held);
		OK(cuStreamQuery(idle));
		OK(cuStreamSynchronize(idle));
	} while (!ended());
	EXPECT(stream_is == 600 && event_is == 600 && elapsed_is == 600);
	EXPECT(seconds() - start >= HOLD_NS / 1e9);
	OK(cuStreamQuery(stream));
	OK(cuEventQuery(held));
}

static void test_waits(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
	struct rusage before, after;
	CUevent event;

	OK(cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC));
	for (int i = 0; i < 5; i++) {
		static const unsigned int flags[] = { 0, CU_CTX_SCHED_YIELD,
						      CU_CTX_SCHED_BLOCKING_SYNC, 0, 0 };
		bool sleeps = i == 2 || i == 4;

		OK(cuCtxSetFlags(flags[i]));
		hold(stream);
		OK(cuEventRecord(event, stream));
		getrusage(RUSAGE_THREAD, &before);
		if (i < 3)
			OK(cuStreamSynchronize(stream));
		else if (i == 3)
			OK(cuCtxSynchronize());
		else
			OK(cuEventSynchronize(event));
		getrusage(RUSAGE_THREAD, &after);
		OK(cuEventQuery(held));
		EXPECT(!sleeps || after.ru_nvcsw > before.ru_nvcsw);
	}
	TOLD(5 * HOLD_NS, "devices", "0", "busy", "ns");
	TOLD(5, "devices", "0", "busy", "intervals");
}

static void test_events(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
		 other = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent early = new_event(), late = new_event();

	do {
		hold(stream);
		launch(second, other);
		OK(cuEventRecord(early, other));
		OK(cuStreamWaitEvent(other, held, 0));
		launch(second, other);
		OK(cuEventRecord(late, other));
	} while (!ended());
	EXPECT(between(held, early) < 1e6);
	EXPECT(between(held, late) == 1e6);
}

/* All later work of a context waits for an event, and an event covers all of its work. */
static void test_context_events(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
		 other = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent all = new_event(), late = new_event();
	CUcontext context;

	OK(cuCtxGetCurrent(&context));
	do {
		hold(stream);
		OK(cuCtxRecordEvent(context, all));
		OK(cuCtxWaitEvent(context, all));
		launch(second, other);
		OK(cuEventRecord(late, other));
	} while (!ended());
	EXPECT(between(held, all) == 0);
	EXPECT(between(all, late) == 1e6);
}

static void test_legacy(void)
{
	CUstream blocking[] = { new_stream(0), CU_STREAM_PER_THREAD, new_stream(0) };
	CUevent legacy = new_event(), after[3] = { new_event(), new_event(), new_event() };
	CUstream free = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent freely = new_event();

	for (int i = 0; i < 3; i++) {
		int query;

		do {
			hold(blocking[i]);
			launch(second, NULL);
			OK(cuEventRecord(legacy, NULL));
			for (int k = 0; k < 3; k++) {
				launch(second, blocking[k]);
				OK(cuEventRecord(after[k], blocking[k]));
			}
			launch(second, free);
			OK(cuEventRecord(freely, free));
			query = (int)cuStreamQuery(CU_STREAM_LEGACY);
		} while (!ended());
		EXPECT(query == 600);
		EXPECT(between(held, legacy) == 1e6);
		for (int k = 0; k < 3; k++)
			EXPECT(between(legacy, after[k]) == 1e6);
		EXPECT(between(held, freely) < 1e6);
	}
}

/* Work of non-blocking streams does not delay the legacy stream. */
static void test_non_blocking(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent legacy = new_event();

	do {
		hold(stream);
		launch(second, NULL);
		OK(cuEventRecord(legacy, NULL));
	} while (!ended());
	EXPECT(between(held, legacy) < 1e6);
}

static void *on_own_stream(void *event)
{
	CUcontext *context = event;

	OK(cuCtxSetCurrent(*context));
	launch(second, CU_STREAM_PER_THREAD);
	OK(cuEventRecord(held, CU_STREAM_PER_THREAD));
	return NULL;
}

/* Each thread has its own default stream, whose work outlives the thread. */
static void test_threads(void)
{
	CUcontext context;
	pthread_t thread;

	OK(cuCtxGetCurrent(&context));
	for (int i = 0; i < 3; i++) {
		EXPECT(!pthread_create(&thread, NULL, on_own_stream, &context));
		pthread_join(thread, NULL);
		OK(cuStreamQuery(CU_STREAM_PER_THREAD));
		OK(cuCtxSynchronize());
		OK(cuEventQuery(held));
	}
	TOLD(3000000, "devices", "0", "busy", "ns");
}

/* The queue of a stream holds 4 pieces of work of 20 ms here. */
static void test_full_queue(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
		 other = new_stream(CU_STREAM_NON_BLOCKING);
	CUdeviceptr address;
	double start;

	OK(cuMemAlloc(&address, 64));
	start = seconds();
	for (int i = 0; i < 10; i++) {
		launch(second, stream);
		EXPECT(i < 4 || seconds() - start >= (i - 3) * 0.02);
	}
	launch(second, other);
	for (int i = 0; i < 5; i++)
		OK(cuMemcpyDtoDAsync(address, address, 64, other));
	EXPECT(seconds() - start >= 6 * 0.02 + 2 * 0.02);
	OK(cuCtxSynchronize());
	EXPECT(truth(4, (const char *[]){ "devices", "0", "busy", "ns" }) >= 200000000);
}

/*
 * Synchronous copies and memsets run on the default stream, after the work that it waits for, and
 * block until they are done.
 */
static void test_synchronous(void)
{
	CUstream stream = new_stream(0);
	char host[100] = "";
	CUdeviceptr address;

	OK(cuMemAlloc(&address, 100));
	hold(stream);
	OK(cuMemcpyHtoD(address, host, 100));
	OK(cuEventQuery(held));
	OK(cuStreamQuery(NULL));
	OK(cuMemsetD32(address, 0, 25));
	OK(cuStreamQuery(NULL));
	TOLD(HOLD_NS + 2000000 + 1000 + 4000000 + 100, "devices", "0", "busy", "ns");
}

static void free_each(int which, CUdeviceptr address, void *host)
{
	static char mine[4096] __attribute__((aligned(4096)));
	CUDA_ARRAY_DESCRIPTOR descriptor = { 16, 2, CU_AD_FORMAT_FLOAT, 1 };
	CUarray array;

	if (which == 0)
		OK(cuMemFree(address));
	if (which == 1)
		OK(cuMemFreeHost(host));
	if (which == 2) {
		OK(cuMemHostRegister(mine, sizeof(mine), 0));
		OK(cuMemHostUnregister(mine));
	}
	if (which == 3) {
		OK(cuArrayCreate(&array, &descriptor));
		OK(cuArrayDestroy(array));
	}
}

static void test_frees(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
	CUcontext context;
	CUdeviceptr address;
	void *host;

	OK(cuMemAlloc(&address, 64));
	OK(cuMemAllocHost(&host, 64));
	for (int i = 0; i < 4; i++) {
		hold(stream);
		free_each(i, address, host);
		OK(cuEventQuery(held));
	}
	OK(cuMemAllocAsync(&address, 64, stream));
	do {
		hold(stream);
		OK(cuMemFreeAsync(address, stream));
		OK(cuMemAllocAsync(&address, 64, stream));
		OK(cuMemFree(0));
	} while (!ended());
	hold(stream);
	OK(cuCtxGetCurrent(&context));
	OK(cuCtxDestroy(context));
	TOLD(rounds * HOLD_NS, "devices", "0", "busy", "ns");
}

/* Ending a primary context, by the last release or a reset, waits for its work. */
static void test_primary_contexts(void)
{
	CUcontext context;

	for (int i = 0; i < 2; i++) {
		OK(cuDevicePrimaryCtxRetain(&context, 0));
		OK(cuCtxSetCurrent(context));
		launch(kernel_of("first"), new_stream(CU_STREAM_NON_BLOCKING));
		if (i)
			OK(cuDevicePrimaryCtxRelease(0));
		else
			OK(cuDevicePrimaryCtxReset(0));
		TOLD((i + 1) * HOLD_NS, "devices", "0", "busy", "ns");
		if (!i)
			OK(cuDevicePrimaryCtxRelease(0));
	}
}

/* After the hold, two streams work side by side for 3 ms and 4 ms: together 4 ms. */
static void test_union(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
		 other = new_stream(CU_STREAM_NON_BLOCKING);

	do {
		hold(stream);
		OK(cuStreamWaitEvent(other, held, 0));
		for (int i = 0; i < 4; i++)
			launch(second, other);
		for (int i = 0; i < 3; i++)
			launch(second, stream);
	} while (!ended());
	/* In a round that was too slow there may be gaps, and less overlap. */
	if (rounds == 1) {
		TOLD(HOLD_NS + 4000000, "devices", "0", "busy", "ns");
		TOLD(1, "devices", "0", "busy", "intervals");
	}
	TOLD(0, "devices", "0", "busy", "left_out");
	EXPECT(truth(4, (const char *[]){ "devices", "0", "busy", "ns" }) >=
	       rounds * (HOLD_NS + 4000000));
}

/* More intervals than are kept: the older ones go into the sums. */
static void test_many_intervals(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
	unsigned long long left_out;

	for (int i = 0; i < 70000; i++) {
		launch(second, stream);
		OK(cuStreamSynchronize(stream));
	}
	TOLD(70000 * 100ull, "devices", "0", "busy", "ns");
	TOLD(70000, "devices", "0", "busy", "intervals");
	left_out = truth(4, (const char *[]){ "devices", "0", "busy", "left_out" });
	EXPECT(left_out == 32768);
}

/* Work after the time of writing is not in the file. */
static void test_unfinished(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);

	launch(first, stream);
	launch(first, stream);
	EXPECT(truth(4, (const char *[]){ "devices", "0", "busy", "ns" }) <= 2 * HOLD_NS);
	OK(cuCtxSynchronize());
	TOLD(2 * HOLD_NS, "devices", "0", "busy", "ns");
}

/* Without the variable everything is done at once, and the truth file has no clock data. */
static void test_no_clock(void)
{
	static char text[1 << 16];
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
	FILE *in;

	hold(stream);
	OK(cuEventQuery(held));
	OK(cuStreamQuery(stream));
	cuda_sim_write_truth();
	in = fopen(getenv("CUDA_SIM_TRUTH"), "re");
	EXPECT(in && fread(text, 1, sizeof(text) - 1, in));
	fclose(in);
	EXPECT(strstr(text, "\"devices\"") && !strstr(text, "\"busy\""));
}

/*
 * The exit status of this program with these settings: 2 from main() (no such case) if they are
 * understood.
 */
static int status_with(const char *clock, const char *async)
{
	pid_t child = fork();
	int status;

	if (!child) {
		setenv("CUDA_SIM_CLOCK", clock, 1);
		setenv("CUDA_SIM_ASYNC", async, 1);
		if (!freopen("/dev/null", "w", stderr))
			_exit(3);
		execl("/proc/self/exe", "selftest", "no such case", NULL);
		_exit(127);
	}
	EXPECT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_settings(void)
{
	static const char *const good[] = {
		"", "kernel=1us", "kernel:_Z3addPfi=1.5ms,kernel=0ns", "copy=1us+0.1ns/B,set=1ns/B",
		"queue=1", "graph_node=3us,queue=65536,kernel=1s"
	};
	static const char *const bad[] = {
		"kernel", "kernel=", "kernel=1", "kernel=1us,", "kernels=1us", "kernel:=1us",
		"kernel=1us+1ns/B", "graph_node=1ns/B", "copy=1us+", "copy=1us/B/B", "queue=0",
		"queue=65537", "queue=-1", "queue=1us", "Kernel=1us", "kernel=1us;copy=1us",
		",kernel=1us", "kern=1us", "event=1us"
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		EXPECT(status_with(good[i], "0s") == 2);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT(status_with(bad[i], "0s") == 1);
	EXPECT(status_with("kernel=1us", "1us") == 1);
}

/* In a child the device has never worked. */
static void test_fork(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
	int status;
	pid_t child;

	launch(second, stream);
	OK(cuStreamSynchronize(stream));
	child = fork();
	if (!child) {
		FAILS(3, cuInit(0));
		_exit(0);
	}
	EXPECT(child > 0 && waitpid(child, &status, 0) == child && !status);
	TOLD(1000000, "devices", "0", "busy", "ns");
}

CASE(order);
CASE(queries);
CASE(waits);
CASE(events);
CASE(context_events);
CASE(legacy);
CASE(non_blocking);
CASE(threads);
CASE(full_queue);
CASE(synchronous);
CASE(frees);
CASE(primary_contexts);
CASE(union);
CASE(many_intervals);
CASE(unfinished);
CASE(no_clock);
CASE(fork);

const struct test clock_tests[] = {
	{ "clock_order", clock_order, CLOCK, TIMES },
	{ "clock_queries", clock_queries, CLOCK, TIMES },
	{ "clock_waits", clock_waits, CLOCK, TIMES },
	{ "clock_events", clock_events, CLOCK, TIMES },
	{ "clock_context_events", clock_context_events, CLOCK, TIMES },
	{ "clock_legacy", clock_legacy, CLOCK, TIMES },
	{ "clock_non_blocking", clock_non_blocking, CLOCK, TIMES },
	{ "clock_threads", clock_threads, CLOCK, TIMES },
	{ "clock_full_queue", clock_full_queue, CLOCK, "queue=4,kernel=20ms,copy=20ms" },
	{ "clock_synchronous", clock_synchronous, CLOCK, TIMES },
	{ "clock_frees", clock_frees, CLOCK, TIMES },
	{ "clock_primary_contexts", clock_primary_contexts, CLOCK, TIMES },
	{ "clock_union", clock_union, CLOCK, TIMES },
	{ "clock_many_intervals", clock_many_intervals, CLOCK, "kernel=100ns" },
	{ "clock_unfinished", clock_unfinished, CLOCK, TIMES },
	{ "clock_no_clock", clock_no_clock, NULL, NULL },
	{ "clock_fork", clock_fork, CLOCK, TIMES },
	{ "clock_settings", test_settings, NULL, NULL },
	{ NULL, NULL, NULL, NULL },
};

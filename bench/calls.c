// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures the cost of a call: calls [-y] [-t THREADS] KIND MILLISECONDS. Each thread (default: 1)
 * calls one function, or a pair, over and over. The program prints the nanoseconds of one call or
 * pair: the 10th percentile and the median over short stretches, in the thread's processor time. A
 * stretch is shorter than a time slice, so the low percentile is not affected by other programs.
 * With -y a short stretch of cuProfilerStop follows each: the yardstick. Two more numbers, 0
 * without -y, are the median ratio of a stretch's time to its yardstick's, which is stable when
 * everything slows down, and the 10th percentile of the yardstick.
 *
 * KIND deep is an allocation and its free below 30 frames of callers. Frame pointers are kept
 * (bench.mk), so that they lead to the bottom of the stack. KIND user is an allocation and its free
 * through the runtime, which calls the driver.
 *
 * A program with work of its own: calls -w KIB [-t THREADS] KIND MILLISECONDS. Before each call a
 * thread walks KIB of memory, one access for each cache line in it. Each call is its own stretch,
 * measured in wall time. The output is the same.
 *
 * A fixed call rate: calls [-t THREADS] KIND RATE SECONDS. Each thread makes RATE calls a second,
 * in bursts of about 100 us; with 0, as many as it can. The program prints their number, the
 * seconds, and the processor time of all threads.
 */
#include "../sim/workloads/gpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define CALLS 500 /* calls in a stretch */
#define YARDSTICK_CALLS 50
#define FEWEST 20 /* minimum number of stretches */
#define KERNELS 8
#define LINE 64	      /* bytes of a cache line */
#define BURST_NS 50e3 /* a thread sleeps when it is this far ahead of its schedule */
#define COPY_BYTES 64
#define DEPTH 30

/* Nanoseconds of one call. */
struct stretch {
	double ns, yardstick_ns;
};

struct thread {
	struct bench *bench;
	pthread_t id;
	CUstream stream;
	CUdeviceptr memory;
	char host[COPY_BYTES];
	volatile char *work; /* bench.work_bytes */
	uint32_t at;	     /* position in `work` */
	struct stretch *stretches;
	size_t count, room;
	unsigned long calls;
	double seconds;
};

struct bench {
	struct gpu gpu;
	struct kernels kernels;
	const struct kind *kind;
	double milliseconds;  /* to measure, or: */
	double rate, seconds; /* to pace */
	size_t threads;
	bool yardstick;
	size_t work_bytes; /* memory that a thread walks between its calls, a power of two */
	pthread_barrier_t begin;
	/* threads that have finished measuring; all keep up the load until every thread has */
	atomic_size_t done;
};

static void launch(struct thread *thread, int i)
{
	void *kernel = thread->bench->kernels.handles[i % KERNELS];

	NEED(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, thread->stream, NULL, NULL));
}

static void allocate(struct thread *thread, int i)
{
	CUdeviceptr memory;

	(void)thread;
	(void)i;
	NEED(cuMemAlloc_v2(&memory, 4096));
	NEED(cuMemFree_v2(memory));
}

/* Adds `depth` frames above the call, as a real program has. */
__attribute__((noinline)) static void descend(struct thread *thread, int i, int depth)
{
	if (depth)
		descend(thread, i, depth - 1);
	else
		allocate(thread, i);
	__asm__ volatile("" ::: "memory"); /* no tail call: the frame stays */
}

static void allocate_deep(struct thread *thread, int i)
{
	descend(thread, i, DEPTH);
}

static void allocate_by_runtime(struct thread *thread, int i)
{
	void *memory;

	(void)thread;
	(void)i;
	NEED(cudaMalloc(&memory, 4096));
	NEED(cudaFree(memory));
}

static void copy(struct thread *thread, int i)
{
	(void)i;
	NEED(cuMemcpyHtoD_v2(thread->memory, thread->host, COPY_BYTES));
}

static void wait_for_stream(struct thread *thread, int i)
{
	(void)i;
	NEED(cuStreamSynchronize(thread->stream));
}

static void ask(struct thread *thread, int i)
{
	CUdevice device;

	(void)thread;
	(void)i;
	NEED(cuCtxGetDevice(&device));
}

static void use_yardstick(struct thread *thread, int i)
{
	(void)thread;
	(void)i;
	NEED(cuProfilerStop());
}

static const struct kind {
	const char *name;
	void (*call)(struct thread *thread, int i);
} kinds[] = {
	{"launch", launch},	 {"allocation", allocate},
	{"deep", allocate_deep}, {"user", allocate_by_runtime},
	{"copy", copy},		 {"wait", wait_for_stream},
	{"getter", ask},
};

static double clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* CPU time of this process since its start. */
static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void keep(struct thread *thread, struct stretch stretch)
{
	if (thread->count == thread->room) {
		thread->room = thread->room ? thread->room * 2 : 1024;
		thread->stretches =
			realloc(thread->stretches, thread->room * sizeof(*thread->stretches));
		if (!thread->stretches)
			give_up("no memory");
	}
	thread->stretches[thread->count++] = stretch;
}

static double call_ns(struct thread *thread, void (*call)(struct thread *thread, int i), int count)
{
	double began = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < count; i++)
		call(thread, i);
	return (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / count;
}

/* Each access depends on the previous one, so that the CPU cannot prefetch. */
static void do_work(struct thread *thread)
{
	for (size_t i = 0; i < thread->bench->work_bytes / LINE; i++) {
		thread->at = thread->at * 1664525 + 1013904223;
		thread->work[thread->at & (thread->bench->work_bytes - 1)]++;
	}
}

static struct stretch call_after_work(struct thread *thread)
{
	double began;

	do_work(thread);
	began = clock_ns(CLOCK_MONOTONIC);
	thread->bench->kind->call(thread, (int)(thread->count % KERNELS));
	return (struct stretch){.ns = clock_ns(CLOCK_MONOTONIC) - began};
}

static struct stretch stretch(struct thread *thread)
{
	struct stretch stretch;

	if (thread->bench->work_bytes)
		return call_after_work(thread);
	stretch = (struct stretch){.ns = call_ns(thread, thread->bench->kind->call, CALLS)};

	if (thread->bench->yardstick)
		stretch.yardstick_ns = call_ns(thread, use_yardstick, YARDSTICK_CALLS);
	return stretch;
}

static void measure(struct thread *thread)
{
	double end = clock_ns(CLOCK_MONOTONIC) + thread->bench->milliseconds * 1e6;

	while (thread->count < FEWEST || clock_ns(CLOCK_MONOTONIC) < end)
		keep(thread, stretch(thread));
	atomic_fetch_add(&thread->bench->done, 1);
	while (atomic_load(&thread->bench->done) < thread->bench->threads)
		stretch(thread);
}

static void sleep_ns(double ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / 1e9), .tv_nsec = (long)ns % 1000000000};

	nanosleep(&time, NULL);
}

/* Calls without a pause while behind schedule; sleeps while ahead, to leave the core to others. */
static void pace(struct thread *thread)
{
	const struct bench *bench = thread->bench;
	double began = clock_ns(CLOCK_MONOTONIC), end = began + bench->seconds * 1e9,
	       now_ns = began;
	double step = bench->rate > 0 ? 1e9 / bench->rate : 0, due_ns;

	while (now_ns < end) {
		for (int i = 0; i < KERNELS; i++)
			bench->kind->call(thread, (int)(thread->calls++ % KERNELS));
		due_ns = began + (double)thread->calls * step;
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (due_ns > now_ns + BURST_NS)
			sleep_ns(due_ns - now_ns);
	}
	thread->seconds = (now_ns - began) / 1e9;
}

static void *run(void *arg)
{
	struct thread *thread = arg;

	gpu__enter(&thread->bench->gpu);
	NEED(cuStreamCreate(&thread->stream, 0));
	NEED(cuMemAlloc_v2(&thread->memory, COPY_BYTES));
	thread->work = thread->bench->work_bytes ? must_allocate(thread->bench->work_bytes) : NULL;
	pthread_barrier_wait(&thread->bench->begin);
	if (thread->bench->seconds > 0)
		pace(thread);
	else
		measure(thread);
	return NULL;
}

static double stretch_ns(const struct stretch *stretch)
{
	return stretch->ns;
}

static double yardstick_ns(const struct stretch *stretch)
{
	return stretch->yardstick_ns;
}

static double yardsticks(const struct stretch *stretch)
{
	return stretch->yardstick_ns > 0 ? stretch->ns / stretch->yardstick_ns : 0;
}

/* The value that `hundredths` of all stretches do not exceed. */
static double percentile(const struct bench *bench, const struct thread *threads,
			 double (*value)(const struct stretch *stretch), size_t hundredths)
{
	size_t sum = 0;
	double *all, found;

	for (size_t i = 0; i < bench->threads; i++)
		sum += threads[i].count;
	all = must_allocate(sum * sizeof(*all));
	sum = 0;
	for (size_t i = 0; i < bench->threads; i++)
		for (size_t at = 0; at < threads[i].count; at++)
			all[sum++] = value(&threads[i].stretches[at]);
	qsort(all, sum, sizeof(*all), by_size);
	found = all[sum * hundredths / 100];
	free(all);
	return found;
}

static void print_stretches(const struct bench *bench, const struct thread *threads)
{
	printf("%.1f %.1f %.4f %.1f\n", percentile(bench, threads, stretch_ns, 10),
	       percentile(bench, threads, stretch_ns, 50),
	       percentile(bench, threads, yardsticks, 50),
	       percentile(bench, threads, yardstick_ns, 10));
}

static void print_calls(const struct thread *threads, size_t count)
{
	unsigned long calls = 0;
	double seconds = 0;

	for (size_t i = 0; i < count; i++) {
		calls += threads[i].calls;
		seconds = threads[i].seconds > seconds ? threads[i].seconds : seconds;
	}
	printf("%lu %.6f %.6f\n", calls, seconds, cpu_seconds());
}

static void run_all(struct bench *bench)
{
	struct thread *threads = must_allocate(bench->threads * sizeof(*threads));

	memset(threads, 0, bench->threads * sizeof(*threads));
	pthread_barrier_init(&bench->begin, NULL, (unsigned int)bench->threads);
	for (size_t i = 0; i < bench->threads; i++) {
		threads[i].bench = bench;
		if (pthread_create(&threads[i].id, NULL, run, &threads[i]))
			give_up("no thread");
	}
	for (size_t i = 0; i < bench->threads; i++)
		pthread_join(threads[i].id, NULL);
	if (bench->seconds > 0)
		print_calls(threads, bench->threads);
	else
		print_stretches(bench, threads);
	for (size_t i = 0; i < bench->threads; i++)
		free(threads[i].stretches);
	for (size_t i = 0; i < bench->threads; i++)
		free((void *)threads[i].work);
	free(threads);
}

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(name, kinds[i].name))
			return &kinds[i];
	return NULL;
}

int main(int argc, char **argv)
{
	struct bench bench = {.threads = 1};
	int option;

	while ((option = getopt(argc, argv, "+yt:w:")) != -1)
		if (option == 'y')
			bench.yardstick = true;
		else if (option == 'w')
			bench.work_bytes = strtoul(optarg, NULL, 10) << 10;
		else
			bench.threads = option == 't' ? strtoul(optarg, NULL, 10) : 0;
	argc -= optind;
	argv += optind;
	bench.kind = argc > 1 ? find_kind(argv[0]) : NULL;
	if (!bench.kind || !bench.threads || bench.work_bytes & (bench.work_bytes - 1))
		give_up("usage: calls [-y] [-w KIB] [-t THREADS] "
			"launch|allocation|deep|user|copy|wait|getter MILLISECONDS | RATE SECONDS");
	if (argc > 2) {
		bench.rate = strtod(argv[1], NULL);
		bench.seconds = strtod(argv[2], NULL);
	} else {
		bench.milliseconds = strtod(argv[1], NULL);
	}
	bench.gpu = gpu__open(API_DRIVER);
	bench.kernels = kernels__load(API_DRIVER, "kernel", KERNELS, 0);
	run_all(&bench);
	return 0;
}

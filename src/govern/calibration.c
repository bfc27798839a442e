// SPDX-License-Identifier: BSD-2-Clause
// Measures what a probed call costs, see calibration.h.
#include "govern/calibration.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/gpuprobe.skel.h"
#include "api/api.h"
#include "probe/multi_link.h"
#include "target/proc_maps.h"

#define CHUNK LAUNCH_SAMPLE /* calls timed together: each chunk contains one sampled launch */
/* the median counts: other activity of the machine also affects programs */
#define CHUNKS 16
#define WARM_UP 3	     /* chunks before the first one that counts */
#define TRIES 4		     /* at most this many times the chunks, on a busy machine */
#define COLD_CHUNKS 5	     /* chunks with caches filled by other work */
#define WORK_BYTES (4 << 20) /* memory that the other work uses */
#define WORK_LINES 4096	     /* cache lines of it that are touched between two calls */
/*
 * With `diagnose` on an H100, a PyTorch launch cost 3.1 us more, but only 2.0 us as timed here with
 * caches filled by other work (docs/diagnosis.md): PyTorch's and Python's own code leave less of
 * the caches.
 */
#define BEYOND_WORK 1.6
/* pause before each call: calls in immediate succession cost less than in a program */
#define PAUSE_NS 2000

/*
 * Functions that stand in for CUDA's. They begin like most compiled functions, so the kernel
 * emulates the probed instruction and need not single-step it.
 */
#define STAND_IN(name) \
	__asm__(".pushsection .text\n" \
		".p2align 4\n" \
		".type " #name ", @function\n" #name ":\n" \
		"push %rbp\n" \
		"mov %rsp, %rbp\n" \
		"xor %eax, %eax\n" \
		"pop %rbp\n" \
		"ret\n" \
		".size " #name ", . - " #name "\n" \
		".popsection\n")

STAND_IN(calibration_launch);
STAND_IN(calibration_copy);
STAND_IN(calibration_wait);
STAND_IN(calibration_allocate);
STAND_IN(calibration_free);

int calibration_launch(const void *kernel, unsigned int grid_x, unsigned int grid_y,
		       unsigned int grid_z, unsigned int block_x, unsigned int block_y,
		       unsigned int block_z, unsigned int shared, const void *stream,
		       void **arguments, void **extra);
int calibration_copy(uint64_t to, const void *from, size_t bytes);
int calibration_wait(const void *stream);
int calibration_allocate(uint64_t *address, size_t bytes);
int calibration_free(uint64_t address);

/* What a kernel's handle points to, as far as the name lookup reads it. */
struct kernel {
	uint64_t number;
	const char *name;
	uint64_t rest[32];
};

static const struct kernel kernel = {.name = "calibration"};

static void launch(void)
{
	calibration_launch(&kernel, 1, 1, 1, 32, 1, 1, 0, &kernel.rest[0], NULL, NULL);
}

static void copy(void)
{
	calibration_copy(0x7f0000000000, &kernel, sizeof(kernel));
}

static void wait_for_stream(void)
{
	calibration_wait(&kernel.rest[0]);
}

static void allocate_and_free(void)
{
	uint64_t address = 0x7f0000001000;

	calibration_allocate(&address, 4096);
	calibration_free(address);
}

/* In the order of enum rate_family. */
static const struct stand_in {
	void (*call)(void);
	unsigned int calls; /* calls that `call` makes */
} stand_ins[RATE_FAMILIES] = {{launch, 1}, {copy, 1}, {wait_for_stream, 1}, {allocate_and_free, 2}};

static const struct site {
	uintptr_t address;
	const char *symbol; /* the symbol it stands in for */
} sites[] = {
	{(uintptr_t)calibration_launch, "cuLaunchKernel"},
	{(uintptr_t)calibration_copy, "cuMemcpyHtoD_v2"},
	{(uintptr_t)calibration_wait, "cuStreamSynchronize"},
	{(uintptr_t)calibration_allocate, "cuMemAlloc_v2"},
	{(uintptr_t)calibration_free, "cuMemFree_v2"},
};

#define SITES (sizeof(sites) / sizeof(*sites))

/* --- timing --- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * What a program does between its calls: nothing or, with memory, work that displaces the probes'
 * data from the caches.
 */
struct work {
	volatile char *memory; /* WORK_BYTES; NULL: only time passes */
	uint32_t at;
};

static void do_work(struct work *work)
{
	double began = (double)clock__monotonic_ns();

	for (int i = 0; work->memory && i < WORK_LINES; i++) {
		work->at = work->at * 1664525 + 1013904223;
		work->memory[work->at % WORK_BYTES]++;
	}
	while ((double)clock__monotonic_ns() < began + PAUSE_NS)
		;
}

/* Nanoseconds per call, excluding the work. */
static double time_chunk(const struct stand_in *stand_in, struct work *work)
{
	double took = 0;

	for (int i = 0; i < CHUNK; i++) {
		double began;

		do_work(work);
		began = (double)clock__monotonic_ns();
		stand_in->call();
		took += (double)clock__monotonic_ns() - began;
	}
	return took / CHUNK / stand_in->calls;
}

/* How often this thread had to leave its CPU to another one. */
static long preemptions(void)
{
	struct rusage usage = {.ru_nivcsw = 0};

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

/*
 * The median of `chunks`, at most CHUNKS. On a busy machine, other threads run during many chunks:
 * chunks without them replace these while there are tries. If most of those that remain had others
 * in them, the shortest of all tries counts, because others only add time.
 */
static double time_calls(const struct stand_in *stand_in, struct work *work, int chunks)
{
	double ns[CHUNKS] = {0}, least = INFINITY;
	int spare = (TRIES - 1) * chunks, disturbed = 0;

	for (int chunk = 0; chunk < WARM_UP; chunk++)
		time_chunk(stand_in, work);
	for (int chunk = 0; chunk < chunks;) {
		long before = preemptions();
		bool alone;

		ns[chunk] = time_chunk(stand_in, work);
		least = fmin(least, ns[chunk]);
		alone = preemptions() == before;
		if (!alone && spare-- > 0)
			continue;
		disturbed += !alone;
		chunk++;
	}
	if (disturbed > chunks / 2)
		return least;
	qsort(ns, (size_t)chunks, sizeof(*ns), by_size);
	return ns[chunks / 2];
}

/* --- probes --- */

struct own_sites {
	uint64_t offsets[SITES], cookies[SITES];
	size_t found;
};

static int find_in(const struct mapping *mapping, void *arg)
{
	struct own_sites *own = arg;

	for (size_t i = 0; i < SITES; i++) {
		if (sites[i].address < mapping->start || sites[i].address >= mapping->end)
			continue;
		own->offsets[i] = sites[i].address - mapping->start + mapping->file_offset;
		own->cookies[i] = (uint64_t)api__find(sites[i].symbol, API_NEWEST);
		own->found++;
	}
	return 0;
}

static int find_own_sites(struct own_sites *own, struct error *err)
{
	int ret = proc_maps__each(getpid(), find_in, own);

	if (!ret && own->found != SITES)
		ret = -ENOENT;
	return ret ? error__set(err, ret, "cannot find gpuprobe's own functions: %s",
				strerror(-ret)) :
		     0;
}

struct own_links {
	int fds[2]; /* sessions only use the first */
};

static void detach(const struct own_links *links)
{
	for (int i = 0; i < 2; i++)
		if (links->fds[i] >= 0)
			close(links->fds[i]);
}

static int attach(const struct probe_programs *programs, enum link_kind kind, bool launch_returns,
		  struct own_links *links, struct error *err)
{
	const char *path = "/proc/self/exe";
	struct own_sites own = {.found = 0};
	size_t skipped = launch_returns ? 0 : 1; /* the launch is the first */
	int ret = find_own_sites(&own, err);

	if (ret)
		return ret;
	if (kind == LINKS_SESSION) {
		links->fds[0] = multi_link__create_in(getpid(), bpf_program__fd(programs->session),
						      ATTACH_UPROBE_SESSION, path, own.offsets,
						      own.cookies, SITES, false);
	} else {
		links->fds[1] = multi_link__create_in(
			getpid(), bpf_program__fd(programs->on_return), ATTACH_UPROBE_MULTI, path,
			own.offsets + skipped, NULL, SITES - skipped, true);
		links->fds[0] = multi_link__create_in(getpid(), bpf_program__fd(programs->entry),
						      ATTACH_UPROBE_MULTI, path, own.offsets,
						      own.cookies, SITES, false);
	}
	ret = links->fds[0] < 0 ? links->fds[0] : (kind == LINKS_SESSION ? 0 : links->fds[1]);
	return ret < 0 ? error__set(err, ret, "cannot probe gpuprobe's own functions: %s",
				    strerror(-ret)) :
			 0;
}

/*
 * Durations of calls: of each family with warm caches, and of a launch with caches filled by other
 * work, 0 if its memory is NULL.
 */
struct timings {
	double ns[RATE_FAMILIES], cold_launch;
};

static void time_all(struct work *work, struct timings *timings)
{
	struct work none = {.memory = NULL};

	for (int family = 0; family < RATE_FAMILIES; family++)
		timings->ns[family] = time_calls(&stand_ins[family], &none, CHUNKS);
	timings->cold_launch =
		work->memory ? time_calls(&stand_ins[RATE_LAUNCH], work, COLD_CHUNKS) : 0;
}

static double beyond(double probed, double plain)
{
	return probed > plain ? probed - plain : 0;
}

/* From the durations of calls with and without the probes. */
static void find_costs(const struct timings *probed, const struct timings *plain,
		       struct call_costs *costs)
{
	double cold = beyond(probed->cold_launch, plain->cold_launch);

	for (int family = 0; family < RATE_FAMILIES; family++)
		costs->ns[family] = beyond(probed->ns[family], plain->ns[family]);
	costs->cold = costs->ns[RATE_LAUNCH] > 0 && cold > costs->ns[RATE_LAUNCH] ?
			      cold / costs->ns[RATE_LAUNCH] :
			      1;
	if (cold > 0)
		costs->cold *= BEYOND_WORK;
}

/*
 * This object only watches gpuprobe itself, so small maps are enough, and no program of tensors is
 * loaded: calls of CUDA do not run it.
 */
static struct object_options own_options(const struct object_options *options)
{
	struct object_options own = *options;

	own.sites_alone = true;
	own.only_watched = false;
	own.hold = false;
	own.max_tensors = 0;
	own.exhaustion = false;
	own.max_processes = 64;
	own.max_allocations = 1024;
	own.max_kernels = 1024;
	own.max_inflight = 1024;
	return own;
}

int calibration__measure(const struct object_options *options, const struct features *features,
			 bool with_cold, struct call_costs *costs, struct error *err)
{
	const struct object_options own = own_options(options);
	struct own_links links = {.fds = {-1, -1}};
	struct gpuprobe_bpf *skeleton = NULL;
	struct probe_programs programs;
	struct timings plain, probed;
	struct work work = {.memory = with_cold ? calloc(1, WORK_BYTES) : NULL};
	int ret;

	if (options->links == LINKS_TRACEFS)
		return error__set(err, -EOPNOTSUPP,
				  "--max-overhead needs uprobe_multi links (Linux 6.6)");
	if (with_cold && !work.memory)
		return error__set(err, -ENOMEM, "out of memory");
	time_all(&work, &plain);
	ret = object__load(&own, features, &skeleton, err);
	if (ret)
		goto out;
	object__programs(skeleton, &programs);
	ret = attach(&programs, own.links, object__launch_sample(&own) > 0, &links, err);
	if (!ret) {
		time_all(&work, &probed);
		find_costs(&probed, &plain, costs);
	}
	detach(&links);
	gpuprobe_bpf__destroy(skeleton);
out:
	free((void *)work.memory);
	return ret;
}

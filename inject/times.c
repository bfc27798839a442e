// SPDX-License-Identifier: BSD-2-Clause
/*
 * libgpuprobe-times.so: has CUPTI record the work of the program's GPUs, and hands the records to
 * probes. It opens no file but CUPTI, starts no thread but that of bursts, and prints nothing.
 * Whatever fails, the program runs on as if the library were not there.
 */
#include "times.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti_library.h"
#include "probe_point.h"
#include "sampling.h"

#define EXPORTED __attribute__((visibility("default")))

/*
 * CUPTI fills buffers of this size. They are small: the records of a buffer that is not full are
 * lost if the program is killed.
 */
#define BUFFER_SIZE (64u << 10)
#define BUFFERS 512 /* at most in CUPTI's hands: 32 MiB; not with an old CUPTI */

#define CLOCK_TELLS 4 /* for each buffer: the thread may lose its CPU in one */

#define NAMES_TOLD 4096 /* names that need not be told again; a power of two */

static struct cupti cupti;
static pid_t owner; /* the process that CUPTI works in: it does not in forked children */
static unsigned int buffers_out;
static bool can_refuse;			/* CUPTI lives without a buffer */
static uint64_t names_told[NAMES_TOLD]; /* by the low bits of the name's number */

/* --- what probes watch --- */

PROBE_POINT(gpuprobe_times_work);
PROBE_POINT(gpuprobe_times_name);
PROBE_POINT(gpuprobe_times_failure);

EXPORTED void gpuprobe_times_clock(uint64_t cupti_ns)
{
	__asm__ volatile("" : : "r"(cupti_ns) : "memory");
}

/* --- names --- */

/* FNV-1a; equal names have equal numbers, also after a module was loaded anew. */
static uint64_t number_of(const char *name, size_t length)
{
	uint64_t number = 0xcbf29ce484222325;

	for (size_t i = 0; i < length; i++)
		number = (number ^ (uint8_t)name[i]) * 0x100000001b3;
	return number;
}

/* Probes cannot read a page that is not there: the name is copied to one that is. */
static uint64_t tell_name(const char *name)
{
	char text[GPU_TIMES_NAME_SIZE];
	size_t length = name ? strnlen(name, sizeof(text) - 1) : 0;
	uint64_t number = number_of(name, length), *told = &names_told[number % NAMES_TOLD];

	if (__atomic_load_n(told, __ATOMIC_RELAXED) == number)
		return number;
	if (length)
		memcpy(text, name, length);
	text[length] = '\0';
	gpuprobe_times_name(number, text);
	__atomic_store_n(told, number, __ATOMIC_RELAXED);
	return number;
}

/* --- records --- */

static struct gpu_work copy_work(const struct cupti_copy *copy)
{
	return (struct gpu_work){
		.start_ns = copy->start,
		.end_ns = copy->end,
		.bytes = copy->bytes,
		.device = copy->device,
		.stream = copy->stream,
		.correlation = copy->kind == CUPTI_PEER_COPY ?
				       ((const struct cupti_peer_copy *)copy)->correlation :
				       copy->correlation,
		.kind = GPU_WORK_COPY,
		.copy = copy->kind == CUPTI_PEER_COPY ? GPU_COPY_P2P : copy->copy_kind,
	};
}

static struct gpu_work kernel_work(const struct cupti_kernel *kernel)
{
	return (struct gpu_work){
		.start_ns = kernel->start,
		.end_ns = kernel->end,
		.name = tell_name(kernel->name),
		.device = kernel->device,
		.stream = kernel->stream,
		.correlation = kernel->correlation,
		.kind = kernel->graph_node ? GPU_WORK_GRAPH_KERNEL : GPU_WORK_KERNEL,
	};
}

static struct gpu_work set_work(const struct cupti_set *set)
{
	return (struct gpu_work){
		.start_ns = set->start,
		.end_ns = set->end,
		.bytes = set->bytes,
		.device = set->device,
		.stream = set->stream,
		.correlation = set->correlation,
		.kind = GPU_WORK_SET,
	};
}

static struct gpu_work graph_work(const struct cupti_graph *graph)
{
	return (struct gpu_work){
		.start_ns = graph->start,
		.end_ns = graph->end,
		.device = graph->device,
		.stream = graph->stream,
		.correlation = graph->correlation,
		.kind = GPU_WORK_GRAPH,
	};
}

static struct gpu_work call_work(const struct cupti_call *call)
{
	return (struct gpu_work){
		.start_ns = call->start,
		.end_ns = call->end,
		.thread = call->thread,
		.correlation = call->correlation,
		.kind = GPU_WORK_CALL,
	};
}

/* .kind 0: a record of another kind. */
static struct gpu_work work_of(const void *record)
{
	switch (*(const uint32_t *)record) {
	case CUPTI_KERNEL: return kernel_work(record);
	case CUPTI_COPY:
	case CUPTI_PEER_COPY: return copy_work(record);
	case CUPTI_SET: return set_work(record);
	case CUPTI_GRAPH: return graph_work(record);
	case CUPTI_DRIVER_CALL: return call_work(record);
	default: return (struct gpu_work){.kind = 0};
	}
}

static void tell_clock(void)
{
	uint64_t now = 0;

	for (int i = 0; cupti.timestamp && i < CLOCK_TELLS; i++)
		if (!cupti.timestamp(&now))
			gpuprobe_times_clock(now);
}

static void hand_over(uint8_t *buffer, size_t valid, uint64_t dropped)
{
	struct gpu_work work[GPU_TIMES_BATCH] = {0};
	const void *record = NULL;
	uint64_t count = 0;
	uint16_t burst = sampling__burst();

	while (!cupti.next_record(buffer, valid, &record)) {
		work[count] = work_of(record);
		work[count].burst = burst;
		if (work[count].kind)
			count++;
		if (count < GPU_TIMES_BATCH)
			continue;
		gpuprobe_times_work(work, count, dropped);
		count = dropped = 0;
	}
	if (count || dropped)
		gpuprobe_times_work(work, count, dropped);
}

/* --- what CUPTI calls, in threads of its own and of the program --- */

/* Without a buffer CUPTI drops records, and counts them. */
static void request_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = NULL;
	*size = *max_records = 0;
	if (__atomic_add_fetch(&buffers_out, 1, __ATOMIC_RELAXED) <= BUFFERS || !can_refuse)
		*buffer = aligned_alloc(8, BUFFER_SIZE);
	if (*buffer)
		*size = BUFFER_SIZE;
	else
		__atomic_sub_fetch(&buffers_out, 1, __ATOMIC_RELAXED);
}

static void complete_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid)
{
	size_t dropped = 0;

	(void)size;
	if (!buffer)
		return;
	if (cupti.dropped(context, stream, &dropped))
		dropped = 0;
	tell_clock();
	hand_over(buffer, valid, dropped);
	free(buffer);
	__atomic_sub_fetch(&buffers_out, 1, __ATOMIC_RELAXED);
}

/* CUPTI hangs in a child of fork. */
static void flush_at_exit(void)
{
	if (getpid() != owner)
		return;
	sampling__end();
	cupti.flush_all(1);
}

/* --- starting --- */

static bool wants_graph_nodes(void)
{
	const char *wanted = getenv(GPU_TIMES_VARIABLE);

	return wanted && !strcmp(wanted, GPU_TIMES_GRAPH_NODES);
}

/* The share of the time for which work is recorded; 1: all of it. */
static double wanted_share(void)
{
	const char *wanted = getenv(GPU_TIMES_VARIABLE);
	size_t length = strlen(GPU_TIMES_SHARE);
	long millionths = 0;

	if (wanted && !strncmp(wanted, GPU_TIMES_SHARE, length))
		millionths = strtol(wanted + length, NULL, 10);
	return millionths > 0 && millionths < 1000000 ? (double)millionths / 1e6 : 1;
}

/*
 * Without records of graphs, CUPTI has those of the nodes. Bursts use these: no source says whether
 * CUPTI knows a graph as a whole that was made while records were off.
 */
static int enable_records(void)
{
	double share = wanted_share();
	bool wholes = share >= 1 && !wants_graph_nodes();
	int result = wholes ? cupti.enable(CUPTI_GRAPH) : 0;

	if (result)
		return result;
	result = sampling__enable_work(&cupti);
	if (result && wholes)
		cupti.disable(CUPTI_GRAPH);
	if (!result && share < 1 && sampling__begin(&cupti, share)) {
		sampling__disable_work(&cupti);
		return CUPTI_OUT_OF_MEMORY;
	}
	return result;
}

/* No callback is enabled: the subscription is there to notice another profiler. */
static void ignore_callback(void *arg, int domain, uint32_t id, const void *data)
{
	(void)arg;
	(void)domain;
	(void)id;
	(void)data;
}

/*
 * The driver's calls that submit work get records, so that each piece of work leads to its call.
 * The runtime's calls make these, too. GPU times are worth having without. Not with bursts, which
 * are there to do less.
 */
static void enable_calls(void)
{
	static const struct {
		uint16_t first, last;
	} ids[] = CUPTI_SUBMITTING_CALLS;

	if (wanted_share() < 1 || !cupti.timestamp || !cupti.thread_ids || !cupti.enable_call ||
	    cupti.thread_ids(CUPTI_SYSTEM_THREAD_IDS))
		return;
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		for (uint32_t id = ids[i].first; id <= ids[i].last; id++)
			cupti.enable_call(id, 1);
}

static int start(void)
{
	void *subscriber = NULL;
	uint32_t version = 0;
	int result = cupti.subscribe(&subscriber, ignore_callback, NULL);

	if (result)
		return result;
	can_refuse = !cupti.version(&version) && version >= CUPTI_CAN_REFUSE;
	owner = getpid();
	result = cupti.register_callbacks(request_buffer, complete_buffer);
	if (!result)
		result = enable_records();
	if (result) {
		cupti.unsubscribe(subscriber);
		return result;
	}
	enable_calls();
	atexit(flush_at_exit);
	return 0;
}

static void tell_failure(int result, const char *reason)
{
	char text[GPU_TIMES_REASON_SIZE];
	const char *cuptis = NULL;
	size_t length;

	if (result && !cupti.result_string(result, &cuptis) && cuptis)
		reason = cuptis;
	length = strnlen(reason, sizeof(text) - 1);
	memcpy(text, reason, length);
	text[length] = '\0';
	gpuprobe_times_failure(result, text);
}

/* A CUPTI that is newer than the driver does not start, but the next one may be older. */
EXPORTED int InitializeInjection(void)
{
	bool found = false;
	int result = CUPTI_OLD_DRIVER;

	for (unsigned int place = 0; place < CUPTI_PLACES && result == CUPTI_OLD_DRIVER; place++) {
		if (cupti__open(place, &cupti))
			continue;
		found = true;
		result = start();
	}
	if (!found)
		tell_failure(0, "libcupti.so.13 and libcupti.so.12 were not found");
	else if (result)
		tell_failure(result, "unknown error");
	return 1;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * libcupti.so.13: records of the work of the device clock. A record goes into a buffer when its
 * work is submitted; buffers go out when they are full, and at a flush.
 *
 * CUDA_SIM_CUPTI=ITEM,...: error=N, subscribing fails with N; refuse=N, records of kind N cannot be
 * had; drop=N, each Nth record is dropped;
 * late=N, each Nth goes into another buffer, which goes out after later work; untimed=N, each Nth
 * has no times; uncalled=N, each Nth has no record of its call.
 *
 * CUDA_SIM_WORK=FILE: appends a line for each piece of work to FILE, as it is submitted: kind,
 * device, stream, begin, end (CLOCK_MONOTONIC), bytes and name.
 */
#include "cuda/listener.h"
#include "record/internal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_LIMIT_REACHED 12
#define INVALID_PARAMETER 1
#define KINDS 64
#define DRIVER_CALLS 1024
#define DRIVER_KIND 4
#define GRAPH_KIND 51
#define KERNEL_KIND 10
#define COPY_KIND 1
#define PEER_KIND 22
#define SET_KIND 2

/* Calls of the driver, which stand for all that submit the same work. */
#define LAUNCH_CALL 307
#define COPY_CALL 277
#define SET_CALL 249
#define GRAPH_CALL 514

/* The records; what nothing reads is left out between the members. */
struct record {
	uint32_t kind;
	uint32_t detail; /* copies: their kind in the first byte */
	uint64_t words[26];
};

struct buffer {
	uint8_t *memory;
	size_t size, used;
};

typedef void (*request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid);

SIM_EXPORT int cuptiSubscribe(void **subscriber, void *callback, void *arg);
SIM_EXPORT int cuptiUnsubscribe(void *subscriber);
SIM_EXPORT int cuptiActivityRegisterCallbacks(request_fn request, complete_fn complete);
SIM_EXPORT int cuptiActivityEnable(int kind);
SIM_EXPORT int cuptiActivityDisable(int kind);
SIM_EXPORT int cuptiActivityFlushAll(uint32_t flag);
SIM_EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, const void **record);
SIM_EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count);
SIM_EXPORT int cuptiGetResultString(int result, const char **text);
SIM_EXPORT int cuptiGetVersion(uint32_t *version);
SIM_EXPORT int cuptiGetTimestamp(uint64_t *ns);
SIM_EXPORT int cuptiSetThreadIdType(int type);
SIM_EXPORT int cuptiActivityEnableDriverApi(uint32_t id, uint8_t on);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer buffers[2]; /* the usual one, and that of late records */
static request_fn request_buffer;
static complete_fn complete_buffer;
static bool enabled[KINDS], calls_enabled[DRIVER_CALLS];
static size_t dropped;
static unsigned long made; /* records so far */

/* The number of an item of CUDA_SIM_CUPTI; 0: it is not set. */
static unsigned long setting(const char *name)
{
	const char *text = getenv("CUDA_SIM_CUPTI");
	size_t length = strlen(name);

	for (; text && *text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL)
		if (!strncmp(text, name, length) && text[length] == '=')
			return strtoul(text + length + 1, NULL, 10);
	return 0;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool is_each(const char *name)
{
	unsigned long each = setting(name);

	return each && made % each == 0;
}

/* --- records --- */

/* Their sizes in CUPTI 13. */
static size_t size_of(uint32_t kind)
{
	return kind == DRIVER_KIND ? 40 :
	       kind == KERNEL_KIND ? 216 : kind == GRAPH_KIND ? 56 : kind == SET_KIND ? 88 : 96;
}

static uint32_t copy_kind(enum sim_copy_kind kind)
{
	switch (kind) {
	case SIM_H2D:
		return 1;
	case SIM_D2H:
		return 2;
	case SIM_D2D:
		return 8;
	case SIM_H2H:
		return 9;
	default:
		return 0;
	}
}

static struct record make_record(const struct sim_work *work)
{
	bool timed = !is_each("untimed");
	uint64_t start = timed ? work->begin : 0, end = timed ? work->end : 0;
	struct record record = {.kind = KERNEL_KIND};
	uint64_t correlation = (uint64_t)made << 32;

	switch (work->kind) {
	case SIM_WORK_KERNEL:
		record.words[1] = start;
		record.words[2] = end;
		record.words[4] = (uint64_t)work->device;
		record.words[5] = work->stream;
		record.words[10] = correlation;
		record.words[12] = (uintptr_t)work->name;
		record.words[17] = work->in_graph;
		return record;
	case SIM_WORK_GRAPH:
		record.kind = GRAPH_KIND;
		record.detail = (uint32_t)made;
		record.words[0] = start;
		record.words[1] = end;
		record.words[2] = (uint64_t)work->device;
		record.words[3] = (uint64_t)work->stream << 32;
		return record;
	default:
		record.kind = work->kind == SIM_WORK_SET  ? SET_KIND :
			      work->copy == SIM_P2P ? PEER_KIND :
							COPY_KIND;
		record.detail = record.kind == COPY_KIND ? copy_kind(work->copy) : 0;
		record.words[0] = work->bytes;
		record.words[1] = start;
		record.words[2] = end;
		record.words[3] = (uint64_t)work->device;
		record.words[4] = work->stream;
		record.words[record.kind == PEER_KIND ? 6 : 4] |= correlation;
		return record;
	}
}

/* The call that submits it is in progress. */
static struct record make_call(const struct sim_work *work)
{
	static const uint32_t ids[] = {
		[SIM_WORK_KERNEL] = LAUNCH_CALL, [SIM_WORK_COPY] = COPY_CALL,
		[SIM_WORK_SET] = SET_CALL, [SIM_WORK_GRAPH] = GRAPH_CALL,
	};
	struct record record = {.kind = DRIVER_KIND, .detail = ids[work->kind]};

	if (!calls_enabled[record.detail] || is_each("uncalled"))
		record.kind = 0;
	record.words[0] = record.words[1] = now();
	record.words[2] = (uint64_t)syscall(SYS_gettid) << 32;
	record.words[3] = (uint32_t)made;
	return record;
}

/* --- buffers; the lock is held, and not while the tool is called --- */

static bool has_room(const struct buffer *buffer, size_t size)
{
	return buffer->memory && buffer->size - buffer->used >= size;
}

static void complete(struct buffer *buffer)
{
	if (buffer->memory)
		complete_buffer(NULL, 0, buffer->memory, buffer->size, buffer->used);
}

static void keep(const struct record *record, bool late)
{
	struct buffer *buffer = &buffers[late], full = { 0 };
	size_t size = size_of(record->kind), max = 0;

	pthread_mutex_lock(&lock);
	if (!has_room(buffer, size)) {
		full = *buffer;
		*buffer = (struct buffer){ 0 };
		request_buffer(&buffer->memory, &buffer->size, &max);
	}
	if (has_room(buffer, size)) {
		memcpy(buffer->memory + buffer->used, record, size);
		buffer->used += size;
	} else {
		dropped++;
	}
	pthread_mutex_unlock(&lock);
	complete(&full);
}

/* The truth, for tests. */
static void log_work(const struct sim_work *work)
{
	static const char *const kinds[] = { "kernel", "copy", "set", "graph" };
	const char *path = getenv("CUDA_SIM_WORK");
	FILE *out = path ? fopen(path, "a") : NULL;

	if (!out)
		return;
	fprintf(out, "%s %d %u %llu %llu %llu %s\n", kinds[work->kind], work->device, work->stream,
		(unsigned long long)work->begin, (unsigned long long)work->end,
		(unsigned long long)work->bytes, work->name ? work->name : "-");
	fclose(out);
}

static void take_work(const struct sim_work *work)
{
	struct record record = { 0 }, call;
	bool late;

	if (work->in_graph && enabled[GRAPH_KIND]) /* the graph has a record as a whole */
		return;
	pthread_mutex_lock(&lock);
	log_work(work);
	made++;
	call = make_call(work);
	record = make_record(work);
	late = is_each("late");
	if (is_each("drop")) {
		dropped++;
		record.kind = 0;
	}
	pthread_mutex_unlock(&lock);
	if (call.kind)
		keep(&call, false);
	if (record.kind && enabled[record.kind])
		keep(&record, late);
}

/* --- what is exported --- */

int cuptiSubscribe(void **subscriber, void *callback, void *arg)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void (*listen)(sim_work_fn fn);
	int error = (int)setting("error");

	(void)callback;
	(void)arg;
	if (error)
		return error;
	*(void **)&listen = driver ? dlsym(driver, "cuda_sim_listen") : NULL;
	if (!listen)
		return 15;
	*subscriber = &buffers;
	listen(take_work);
	return 0;
}

int cuptiUnsubscribe(void *subscriber)
{
	return subscriber == &buffers ? 0 : INVALID_PARAMETER;
}

int cuptiActivityRegisterCallbacks(request_fn request, complete_fn done)
{
	request_buffer = request;
	complete_buffer = done;
	return request && done ? 0 : INVALID_PARAMETER;
}

int cuptiActivityEnable(int kind)
{
	if (kind <= 0 || kind >= KINDS || !request_buffer)
		return INVALID_PARAMETER;
	if (setting("refuse") == (unsigned long)kind)
		return 2; /* CUPTI_ERROR_INVALID_DEVICE */
	enabled[kind] = true;
	return 0;
}

int cuptiActivityDisable(int kind)
{
	if (kind <= 0 || kind >= KINDS)
		return INVALID_PARAMETER;
	enabled[kind] = false;
	return 0;
}

int cuptiActivityEnableDriverApi(uint32_t id, uint8_t on)
{
	if (id >= DRIVER_CALLS)
		return INVALID_PARAMETER;
	calls_enabled[id] = on;
	return 0;
}

int cuptiSetThreadIdType(int type)
{
	return type == 1 ? 0 : INVALID_PARAMETER;
}

int cuptiGetTimestamp(uint64_t *ns)
{
	*ns = now();
	return 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	for (int i = 0; i < 2; i++) {
		struct buffer buffer;

		pthread_mutex_lock(&lock);
		buffer = buffers[i];
		buffers[i] = (struct buffer){ 0 };
		pthread_mutex_unlock(&lock);
		complete(&buffer);
	}
	return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, const void **record)
{
	const uint8_t *next = *record;

	next = next ? next + size_of(*(const uint32_t *)*record) : buffer;
	if ((size_t)(next - buffer) >= valid)
		return MAX_LIMIT_REACHED;
	*record = next;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
	(void)context;
	(void)stream;
	pthread_mutex_lock(&lock);
	*count = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}

int cuptiGetVersion(uint32_t *version)
{
	*version = 130000;
	return 0;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" :
		result == 15 ? "CUPTI_ERROR_NOT_INITIALIZED" :
			       "CUPTI_ERROR_UNKNOWN";
	return 0;
}

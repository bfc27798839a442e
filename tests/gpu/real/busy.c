// SPDX-License-Identifier: BSD-2-Clause
/*
 * When the GPU really worked, by CUPTI's activity records: the truth that gpuprobe's findings are
 * compared with. The CUDA driver loads this library into a program if CUDA_INJECTION64_PATH names
 * it:
 *
 *     cc -O2 -shared -fPIC -o busy.so busy.c -I... -lcupti
 *     CUDA_INJECTION64_PATH=$PWD/busy.so BUSY_OUT=/tmp/busy python3 train.py
 *
 * It writes $BUSY_OUT.PID.kernels and $BUSY_OUT.PID.copies (including sets): begin and end of each
 * stretch as two 64-bit integers, in nanoseconds of CLOCK_MONOTONIC. Stretches from one CUPTI
 * buffer are joined and in order; those of different buffers may overlap. A begin of -1 means that
 * records were lost; the next number is their count. Only one buffer at a time is kept in memory. A
 * file has at most FILE_BYTES; anything beyond counts as lost.
 */
#include <cupti.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (4u << 20)
#define FLUSH_MS 1000
#define FILE_BYTES (512ll << 20)
#define MOST_STRETCHES (BUFFER_BYTES / 32) /* a record is larger than that */

struct stretch {
	int64_t begin_ns, end_ns;
};

struct kind {
	const char *name;
	FILE *file;
	long long written;	   /* bytes */
	struct stretch *stretches; /* of the current buffer */
	size_t count;
};

static struct kind kernels = {.name = "kernels"}, copies = {.name = "copies"};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* How far CUPTI's clock is ahead of CLOCK_MONOTONIC, from the fastest of a few tries. */
static int64_t clock_offset(void)
{
	int64_t offset = 0, least = INT64_MAX;

	for (int i = 0; i < 10; i++) {
		uint64_t theirs = 0;
		int64_t before = monotonic_ns(), took;

		cuptiGetTimestamp(&theirs);
		took = monotonic_ns() - before;
		if (took < least) {
			least = took;
			offset = (int64_t)theirs - (before + took / 2);
		}
	}
	return offset;
}

static void add(struct kind *kind, uint64_t begin_ns, uint64_t end_ns, int64_t offset)
{
	if (!begin_ns || end_ns < begin_ns || kind->count == MOST_STRETCHES)
		return;
	kind->stretches[kind->count++] =
		(struct stretch){(int64_t)begin_ns - offset, (int64_t)end_ns - offset};
}

static void take(const CUpti_Activity *record, int64_t offset)
{
	if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	    record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
		const CUpti_ActivityKernel9 *kernel = (const void *)record;

		add(&kernels, kernel->start, kernel->end, offset);
	} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
		const CUpti_ActivityMemcpy5 *copy = (const void *)record;

		add(&copies, copy->start, copy->end, offset);
	} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
		const CUpti_ActivityMemset4 *set = (const void *)record;

		add(&copies, set->start, set->end, offset);
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct stretch *first = a, *second = b;

	return (first->begin_ns > second->begin_ns) - (first->begin_ns < second->begin_ns);
}

/* Joins overlapping stretches; returns how many are left. */
static size_t join(struct stretch *stretches, size_t count)
{
	size_t kept = 0;

	qsort(stretches, count, sizeof(*stretches), by_begin);
	for (size_t i = 0; i < count; i++) {
		if (kept && stretches[i].begin_ns <= stretches[kept - 1].end_ns) {
			if (stretches[i].end_ns > stretches[kept - 1].end_ns)
				stretches[kept - 1].end_ns = stretches[i].end_ns;
		} else {
			stretches[kept++] = stretches[i];
		}
	}
	return kept;
}

static void write_out(struct kind *kind, size_t lost)
{
	struct stretch loss = {-1, (int64_t)lost};
	long long bytes;

	kind->count = join(kind->stretches, kind->count);
	bytes = (long long)(kind->count * sizeof(*kind->stretches));
	if (kind->written + bytes > FILE_BYTES) {
		loss.end_ns += (int64_t)kind->count;
		kind->count = 0;
	}
	fwrite(kind->stretches, sizeof(*kind->stretches), kind->count, kind->file);
	if (loss.end_ns)
		fwrite(&loss, sizeof(loss), 1, kind->file);
	fflush(kind->file);
	kind->written += (long long)(kind->count * sizeof(*kind->stretches));
	kind->count = 0;
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
				 size_t valid)
{
	CUpti_Activity *record = NULL;
	size_t lost = 0;
	int64_t offset;

	(void)size;
	pthread_mutex_lock(&lock);
	offset = clock_offset();
	while (valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		take(record, offset);
	cuptiActivityGetNumDroppedRecords(context, stream, &lost);
	write_out(&kernels, lost);
	write_out(&copies, 0);
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void flush(void)
{
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

static int open_kind(struct kind *kind, const char *prefix)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.%d.%s", prefix, getpid(), kind->name);
	kind->stretches = malloc(MOST_STRETCHES * sizeof(*kind->stretches));
	kind->file = fopen(path, "w");
	return kind->file && kind->stretches ? 0 : -1;
}

/* The driver calls this in cuInit; a message on failure explains why there is no truth. */
int InitializeInjection(void)
{
	const char *prefix = getenv("BUSY_OUT");

	if (!prefix || open_kind(&kernels, prefix) || open_kind(&copies, prefix)) {
		fprintf(stderr, "busy: BUSY_OUT names no file that can be written\n");
		return 0;
	}
	if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) ||
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ||
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) ||
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET)) {
		fprintf(stderr, "busy: CUPTI records no activity\n");
		return 0;
	}
	cuptiActivityFlushPeriod(FLUSH_MS);
	atexit(flush);
	return 1;
}

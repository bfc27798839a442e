// SPDX-License-Identifier: BSD-2-Clause
// Work of GPUs, recorded and read: the same, in few bytes; and malformed records are no lines.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/call_reader.h"
#include "record/call_writer.h"
#include "record/gpu_work.h"

#define WORKS 20000
#define BEGIN_NS 5000000000000ull

static const struct trace_process process = {.number = 1, .pid = 100, .comm = "train"};
static const char *const kernels[] = {"gemm", "relu", "softmax"};

/* A line, whose work is `work`; the same for the same number. */
static void make(size_t number, struct trace_line *line, struct trace_gpu_work *work)
{
	static const uint8_t kinds[] = {GPU_WORK_KERNEL, GPU_WORK_KERNEL, GPU_WORK_COPY,
					GPU_WORK_SET, GPU_WORK_GRAPH};
	uint64_t begin = BEGIN_NS + number * 21000 + number % 7;

	*work = (struct trace_gpu_work){
		.kind = kinds[number % 5],
		.has_call = number % 11 != 0,
		.device = (uint32_t)(number % 2),
		.stream = (uint32_t)(7 + number % 3),
	};
	memset(line, 0, offsetof(struct trace_line, fields));
	line->kind = LINE_GPU;
	line->gpu = work;
	line->process = &process;
	line->device = (int16_t)work->device;
	line->start_ns = begin;
	line->duration_ns = 5000 + number % 100000;
	if (work->has_call) {
		work->called_ns = begin - 70000 + number % 5;
		line->tid = (pid_t)(100 + number % 4);
	}
	if (work->kind == GPU_WORK_COPY)
		work->copy = GPU_COPY_H2D;
	if (trace_gpu_work__has_bytes(work))
		work->bytes = 4096 << number % 10;
	if (trace_gpu_work__is_kernel(work)) {
		line->kernel = line->kernel_label = kernels[number % 3];
		line->kernel_full = "_Z4gemmPf";
	}
}

static int new_file(struct recording_writer **file)
{
	const struct recording_options options = {.max_bytes = 0};
	struct recording_header header = {.level = RECORDING_CALLS, .flags = RECORDING_GPU_WORK};
	int fd = memfd_create("recording", 0);

	assert_true(fd >= 0);
	recording_header__fill(&header);
	assert_int_equal(recording_writer__new(dup(fd), &header, &options, file, NULL), 0);
	return fd;
}

static void write_rest(struct call_writer *writer, struct recording_writer *file)
{
	assert_int_equal(call_writer__flush(writer, UINT64_MAX), 0);
	call_writer__free(writer);
	assert_int_equal(recording_writer__close(file, NULL), 0);
	recording_writer__free(file);
}

static struct recording *open_file(int fd)
{
	struct recording *recording;

	assert_int_equal(recording__open(fd, "test", &recording, NULL), 0);
	return recording;
}

static void assert_same_work(const struct trace_gpu_work *a, const struct trace_gpu_work *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->copy, b->copy);
	assert_int_equal(a->has_call, b->has_call);
	assert_int_equal(a->device, b->device);
	assert_int_equal(a->stream, b->stream);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->called_ns, b->called_ns);
}

static void assert_same(const struct trace_line *a, const struct trace_line *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->duration_ns, b->duration_ns);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->device, b->device);
	assert_int_equal(a->process->pid, b->process->pid);
	assert_same_work(a->gpu, b->gpu);
	assert_true(!a->kernel == !b->kernel);
	if (a->kernel) {
		assert_string_equal(a->kernel, b->kernel);
		assert_string_equal(a->kernel_label, b->kernel_label);
		assert_string_equal(a->kernel_full, b->kernel_full);
	}
}

static void test_the_same_in_few_bytes(void **state)
{
	struct trace_functions *functions = trace_functions__new(false);
	struct trace_gpu_work work;
	struct recording_writer *file;
	struct trace_line line, read;
	int fd = new_file(&file);
	struct call_writer *writer = call_writer__new(file, NULL);
	struct recording *recording;
	struct call_reader *reader;
	off_t bytes;

	(void)state;
	assert_non_null(writer);
	for (size_t i = 0; i < WORKS; i++) {
		make(i, &line, &work);
		assert_int_equal(call_writer__line(writer, &line), 0);
	}
	write_rest(writer, file);
	bytes = lseek(fd, 0, SEEK_END);
	assert_true(bytes < 24 * WORKS);
	recording = open_file(fd);
	reader = call_reader__new(recording, functions, false);
	for (size_t i = 0; i < WORKS; i++) {
		make(i, &line, &work);
		assert_int_equal(call_reader__next(reader, &read), 1);
		assert_same(&line, &read);
	}
	assert_int_equal(call_reader__next(reader, &read), 0);
	assert_int_equal(call_reader__unreadable(reader), 0);
	call_reader__free(reader);
	recording__free(recording);
	trace_functions__free(functions);
}

/* A file that ends in its middle is read up to the last whole chunk. */
static void test_cut(void **state)
{
	struct trace_functions *functions = trace_functions__new(false);
	struct trace_gpu_work work;
	struct recording_writer *file;
	struct trace_line line, read;
	int fd = new_file(&file);
	struct call_writer *writer = call_writer__new(file, NULL);
	struct recording *recording;
	struct call_reader *reader;
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < WORKS; i++) {
		make(i, &line, &work);
		assert_int_equal(call_writer__line(writer, &line), 0);
		/* Two seconds later each time: it writes a chunk a second. */
		if (i % 1000 == 999)
			assert_int_equal(call_writer__flush(writer, (i + 1) * 2000000), 0);
	}
	write_rest(writer, file);
	assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) / 2), 0);
	recording = open_file(fd);
	reader = call_reader__new(recording, functions, false);
	for (; call_reader__next(reader, &read) == 1; count++) {
		make(count, &line, &work);
		assert_same(&line, &read);
	}
	assert_true(count > WORKS / 4 && count < WORKS && count % 1000 == 0);
	assert_true(recording__damage(recording)->cut);
	call_reader__free(reader);
	recording__free(recording);
	trace_functions__free(functions);
}

/* Without pseudonyms the name would be there, even compressed: it is alone in its chunk. */
static void test_anonymous(void **state)
{
	struct trace_functions *functions = trace_functions__new(false);
	struct trace_gpu_work work;
	struct recording_writer *file;
	struct trace_line line, read;
	int fd = new_file(&file);
	struct pseudonyms *pseudonyms = pseudonyms__new();
	struct call_writer *writer = call_writer__new(file, pseudonyms);
	struct recording *recording;
	struct call_reader *reader;

	(void)state;
	make(1, &line, &work);
	assert_int_equal(call_writer__line(writer, &line), 0);
	write_rest(writer, file);
	pseudonyms__free(pseudonyms);
	recording = open_file(fd);
	reader = call_reader__new(recording, functions, false);
	assert_int_equal(call_reader__next(reader, &read), 1);
	assert_null(strstr(read.kernel, "relu"));
	assert_string_equal(read.kernel_label, "kernel-1");
	assert_string_equal(read.process->comm, "task-1");
	call_reader__free(reader);
	recording__free(recording);
	trace_functions__free(functions);
}

static void put(struct bytes *bytes, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes__number(bytes, numbers[i]);
}

static void test_malformed_shapes(void **state)
{
	static const uint64_t shapes[][7] = {
		{1, 0, GPU_WORK_CALL, 0, 0, 7, 0},
		{1, 0, 0, 0, 0, 7, 0},
		{1, 0, GPU_WORK_COPY, 256, 0, 7, 0},
		{1, 0, GPU_WORK_COPY, 0, 1ull << 32, 7, 0},
		{1, 0, GPU_WORK_COPY, 0, 0, 1ull << 32, 0},
		{1, 0, GPU_WORK_COPY, 0, 0, 7, 1ull << 32},
	};
	struct recorded_gpu_shape shape;
	uint64_t owner, kernel;
	struct bytes bytes = {0};
	struct varint_reader from;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		bytes__clear(&bytes);
		put(&bytes, shapes[i], 7);
		from = varint_reader__of(bytes.at, bytes.length);
		assert_false(recorded_gpu_work__take_shape(&from, &shape, &owner, &kernel));
	}
	bytes__clear(&bytes);
	put(&bytes, (const uint64_t[]){1, 0, GPU_WORK_COPY, 1, 0, 7}, 6);
	from = varint_reader__of(bytes.at, bytes.length);
	assert_false(recorded_gpu_work__take_shape(&from, &shape, &owner, &kernel));
	put(&bytes, (const uint64_t[]){0}, 1);
	from = varint_reader__of(bytes.at, bytes.length);
	assert_true(recorded_gpu_work__take_shape(&from, &shape, &owner, &kernel));
	free(bytes.at);
}

/* Shapes and work of what the file does not have. */
static void test_unknown_ids(void **state)
{
	static const uint8_t shape[] = {1, 9, 0, GPU_WORK_KERNEL, 0, 0, 7, 0}, work[] = {1, 0, 9};
	struct trace_functions *functions = trace_functions__new(false);
	struct recording_writer *file;
	int fd = new_file(&file);
	struct trace_line line;
	struct recording *recording;
	struct call_reader *reader;

	(void)state;
	assert_int_equal(recording_writer__add(file, RECORDED_GPU_SHAPE, 5, shape, sizeof(shape)),
			 0);
	assert_int_equal(recording_writer__add(file, RECORDED_GPU_WORK, 6, work, sizeof(work)), 0);
	assert_int_equal(recording_writer__close(file, NULL), 0);
	recording_writer__free(file);
	recording = open_file(fd);
	reader = call_reader__new(recording, functions, false);
	assert_int_equal(call_reader__next(reader, &line), 0);
	assert_int_equal(call_reader__unreadable(reader), 2);
	call_reader__free(reader);
	recording__free(recording);
	trace_functions__free(functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_in_few_bytes),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_anonymous),
		cmocka_unit_test(test_malformed_shapes),
		cmocka_unit_test(test_unknown_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause
// How the trace's output reaches a descriptor, and which calls count as written if it does not.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "no_valgrind.h"
#include "output/trace/output.h"
#include "trace_lines.h"

#define MANY 20000 /* lines: several buffers */
#define MEGABYTE (1024 * 1024)

static const struct trace_output_options tsv = {
	.format = TRACE_TSV,
	.begin_ns = BEGIN_NS,
	.columns = {COLUMN_EVENT, COLUMN_SIZE, COLUMN_RESULT},
	.column_count = 3,
};

static struct trace_output *new_output(int fd)
{
	struct trace_output *output;

	assert_true(fd >= 0);
	assert_int_equal(trace_output__new(fd, &tsv, &output, NULL), 0);
	return output;
}

static struct trace_line numbered_line(uint64_t number)
{
	return (struct trace_line){CALL(cuda_malloc, application, number, 1), .field_count = 1,
				   .fields = {UNSIGNED("size", TRACE_SIZE, number)}};
}

/* Writes until a line fails; returns how many were accepted. */
static size_t write_lines(struct trace_output *output, size_t count, int *error)
{
	*error = 0;
	for (size_t i = 0; i < count; i++) {
		struct trace_line line = numbered_line(i);

		*error = trace_output__line(output, &line);
		if (*error)
			return i;
	}
	return count;
}

static void a_full_device_is_reported(void **state)
{
	int fd = open("/dev/full", O_WRONLY), error;
	struct trace_output *output = new_output(fd);

	(void)state;
	assert_int_equal(write_lines(output, 3, &error), 3);
	assert_int_equal(trace_output__flush(output), -ENOSPC);
	assert_int_equal(trace_output__written(output), 0);
	/* A second attempt: nothing more is tried. */
	assert_int_equal(write_lines(output, 1, &error), 0);
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(trace_output__header(output), -ENOSPC);
	assert_int_equal(trace_output__flush(output), -ENOSPC);
	trace_output__free(output);
	close(fd);
}

static void a_full_device_is_reported_when_the_buffer_is_full(void **state)
{
	int fd = open("/dev/full", O_WRONLY), error;
	struct trace_output *output = new_output(fd);

	(void)state;
	assert_true(write_lines(output, MANY, &error) < MANY);
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(trace_output__written(output), 0);
	trace_output__free(output);
	close(fd);
}

static void a_reader_that_has_gone_is_reported(void **state)
{
	int ends[2], error;
	struct trace_output *output;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	output = new_output(ends[1]);
	close(ends[0]);
	assert_int_equal(write_lines(output, 3, &error), 3);
	assert_int_equal(trace_output__flush(output), -EPIPE);
	assert_int_equal(trace_output__written(output), 0);
	trace_output__free(output);
	close(ends[1]);
}

/* Number of whole lines in a file, without its header. */
static uint64_t lines_of(FILE *file)
{
	uint64_t count = 0;
	int c;

	rewind(file);
	while ((c = getc(file)) != EOF)
		count += c == '\n';
	return count - 1;
}

/*
 * A file must not grow beyond `limit` bytes, as if the disk were full: the last write is partial.
 */
static void expect_written(rlim_t limit)
{
	struct rlimit old, small;
	FILE *file = tmpfile();
	struct trace_output *output;
	uint64_t written;
	int error;

	assert_non_null(file);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){.rlim_cur = limit, .rlim_max = old.rlim_max};
	output = new_output(fileno(file));
	assert_int_equal(trace_output__header(output), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	write_lines(output, MANY, &error);
	if (!error)
		error = trace_output__flush(output);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(error, -EFBIG);
	written = trace_output__written(output);
	assert_int_equal(ftell(file) >= 0 ? lseek(fileno(file), 0, SEEK_END) : -1, limit);
	assert_int_equal(written, lines_of(file));
	trace_output__free(output);
	fclose(file);
}

static void a_partial_write_counts_its_whole_lines(void **state)
{
	(void)state;
	/* Within the header, within a line, at the end of a line, and in later buffers. */
	expect_written(sizeof("event\tsize\tresult\n") - 1);
	expect_written(18 + 24);
	expect_written(18 + 25);
	expect_written(18 + 26);
	expect_written(1000);
	expect_written(300001);
	expect_written(500000);
}

static void each_call_counts_once(void **state)
{
	struct trace_line lines[LINES];
	FILE *file = tmpfile();
	struct trace_output *output;
	uint64_t calls = 0;

	(void)state;
	assert_non_null(file);
	build_lines(lines);
	output = new_output(fileno(file));
	for (size_t i = 0; i < LINES; i++) {
		enum trace_line_kind kind = lines[i].kind;

		assert_int_equal(trace_output__line(output, &lines[i]), 0);
		assert_int_equal(trace_output__written(output), calls);
		calls += kind == LINE_CALL || kind == LINE_RETURN || kind == LINE_RESUMED ||
			 kind == LINE_UNFINISHED;
		assert_int_equal(trace_output__flush(output), 0);
		assert_int_equal(trace_output__written(output), calls);
	}
	/* All except one entry, one call in progress, one from before the trace and four losses. */
	assert_int_equal(calls, LINES - 7);
	trace_output__free(output);
	fclose(file);
}

/* If a call has two lines, the first counts: the second may be lost. */
static void a_call_of_two_lines_counts_once(void **state)
{
	static const enum trace_line_kind kinds[] = {LINE_ENTRY, LINE_ENTRY,	  LINE_RETURN,
						     LINE_LOST,	 LINE_UNFINISHED, LINE_BEFORE};
	static const uint64_t written[] = {1, 2, 2, 2, 2, 2};
	struct trace_output_options options = tsv;
	struct trace_line line = numbered_line(1);
	struct trace_output *output;
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	options.entry_return = true;
	assert_int_equal(trace_output__new(fileno(file), &options, &output, NULL), 0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		line.kind = kinds[i];
		assert_int_equal(trace_output__line(output, &line), 0);
		assert_int_equal(trace_output__flush(output), 0);
		assert_int_equal(trace_output__written(output), written[i]);
	}
	trace_output__free(output);
	fclose(file);
}

static void *read_slowly(void *arg)
{
	int fd = *(int *)arg;
	char *text = calloc(1, MEGABYTE);
	sigset_t alarm;
	size_t length = 0;
	ssize_t n;

	/* The writer must get the signal. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	while (text && (n = read(fd, text + length, 4096)) > 0 && length + 4096 < MEGABYTE) {
		length += (size_t)n;
		if (length % 65536 < 4096)
			usleep(1000);
	}
	return text;
}

/* All lines pass through a pipe with a slow reader. */
static void expect_all(int flags)
{
	struct trace_output *output;
	pthread_t reader;
	char *text, *at, expected[64];
	int ends[2], error;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, flags), 0);
	output = new_output(ends[1]);
	assert_int_equal(pthread_create(&reader, NULL, read_slowly, &ends[0]), 0);
	assert_int_equal(write_lines(output, MANY, &error), MANY);
	assert_int_equal(trace_output__flush(output), 0);
	assert_int_equal(trace_output__written(output), MANY);
	trace_output__free(output);
	close(ends[1]);
	pthread_join(reader, (void **)&text);
	assert_non_null(text);
	at = text;
	for (int i = 0; i < MANY; i++) {
		snprintf(expected, sizeof(expected), "cudaMalloc\t%d\tcudaSuccess\n", i);
		assert_memory_equal(at, expected, strlen(expected));
		at += strlen(expected);
	}
	assert_int_equal(*at, '\0');
	free(text);
	close(ends[0]);
}

static void a_pipe_that_does_not_block_is_waited_for(void **state)
{
	(void)state;
	expect_all(O_NONBLOCK);
}

static void take_signal(int number)
{
	(void)number;
}

static void a_write_goes_on_after_a_signal(void **state)
{
	struct sigaction action = {.sa_handler = take_signal}; /* without SA_RESTART */
	struct itimerval often = {{0, 100}, {0, 100}}, never = {0};

	(void)state;
	not_under_valgrind(); /* where the next signal arrives before the previous one is handled */
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	expect_all(0);
	expect_all(O_NONBLOCK);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
}

/* A name that is larger than the buffer, and entirely escaped; and the line after it. */
static void a_line_may_be_larger_than_the_buffer(void **state)
{
	struct trace_output_options options = {
		.format = TRACE_JSON, .columns = {COLUMN_KERNEL}, .column_count = 1};
	struct trace_line line = {CALL(launch, application, 0, 1)};
	struct trace_output *output;
	FILE *file = tmpfile();
	char *name = malloc(MEGABYTE);

	(void)state;
	assert_non_null(file);
	assert_non_null(name);
	memset(name, '\033', MEGABYTE - 1);
	name[MEGABYTE - 1] = '\0';
	line.kernel = name;
	assert_int_equal(trace_output__new(fileno(file), &options, &output, NULL), 0);
	assert_int_equal(trace_output__line(output, &line), 0);
	line.kernel = "k";
	assert_int_equal(trace_output__line(output, &line), 0);
	assert_int_equal(trace_output__flush(output), 0);
	assert_int_equal(trace_output__written(output), 2);
	assert_int_equal(
		ftell(file) >= 0 ? lseek(fileno(file), 0, SEEK_END) : -1,
		sizeof("{\"schema\":1,\"kernel\":\"\"}\n{\"schema\":1,\"kernel\":\"k\"}\n") - 1 +
			6 * (MEGABYTE - 1));
	trace_output__free(output);
	fclose(file);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_device_is_reported),
		cmocka_unit_test(a_full_device_is_reported_when_the_buffer_is_full),
		cmocka_unit_test(a_reader_that_has_gone_is_reported),
		cmocka_unit_test(a_partial_write_counts_its_whole_lines),
		cmocka_unit_test(each_call_counts_once),
		cmocka_unit_test(a_call_of_two_lines_counts_once),
		cmocka_unit_test(a_pipe_that_does_not_block_is_waited_for),
		cmocka_unit_test(a_write_goes_on_after_a_signal),
		cmocka_unit_test(a_line_may_be_larger_than_the_buffer),
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures the cost of formatting a trace line, by form. Launches and copies alternate; the lines
 * go to a file (default: /dev/null).
 *
 * usage: format [LINES [FILE]]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "output/trace/output.h"
#include "trace/function.h"

static const struct trace_process process = {
	.number = 1,
	.pid = 1234567,
	.parent = 1,
	.uid = 1000,
	.comm = "my_cuda_app",
};
static const uint64_t words[] = {0x7f8b00000000};

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const struct trace_function *find(const struct trace_functions *functions,
					 const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);
	const struct trace_function *function =
		row < 0 ? NULL : trace_functions__at(functions, (uint32_t)row);

	if (!function) {
		fprintf(stderr, "format: no function %s\n", symbol);
		exit(1);
	}
	return function;
}

static void make_launch(struct trace_line *line, const struct trace_functions *functions)
{
	*line = (struct trace_line){
		.function = find(functions, "cudaLaunchKernel"),
		.process = &process,
		.tid = 1234599,
		.duration_ns = 5234,
		.kernel = "void vector_add<float, 256>(float const*, float const*, float*, int)",
		.field_count = 5,
		.fields = {{.name = "grid",
			    .form = FORM_DIM3,
			    .role = TRACE_GRID,
			    .dims = {4096, 1, 1}},
			   {.name = "block",
			    .form = FORM_DIM3,
			    .role = TRACE_BLOCK,
			    .dims = {256, 1, 1}},
			   {.name = "shmem",
			    .form = FORM_UNSIGNED,
			    .role = TRACE_SHMEM,
			    .number = 49152},
			   {.name = "stream",
			    .form = FORM_ADDRESS,
			    .role = TRACE_STREAM,
			    .number = 0x55d0c0a1b2c0},
			   {.name = "args",
			    .form = FORM_WORDS,
			    .role = TRACE_ARGS,
			    .length = 1,
			    .words = words}},
	};
}

static void make_copy(struct trace_line *line, const struct trace_functions *functions)
{
	*line = (struct trace_line){
		.function = find(functions, "cudaMemcpyAsync"),
		.process = &process,
		.tid = 1234599,
		.duration_ns = 368012,
		.field_count = 5,
		.fields = {{.name = "dst",
			    .form = FORM_ADDRESS,
			    .role = TRACE_DST,
			    .number = 0x7f8b00000000},
			   {.name = "src",
			    .form = FORM_ADDRESS,
			    .role = TRACE_SRC,
			    .number = 0x55d0c0a1b2c0},
			   {.name = "size",
			    .form = FORM_UNSIGNED,
			    .role = TRACE_SIZE,
			    .number = 1048576},
			   {.name = "kind", .form = FORM_WORD, .role = TRACE_KIND, .text = "H2D"},
			   {.name = "stream",
			    .form = FORM_ADDRESS,
			    .role = TRACE_STREAM,
			    .number = 0x55d0c0a1b2c0}},
	};
}

static void measure(const char *name, enum trace_format format,
		    const struct trace_functions *functions, long count, int fd)
{
	struct trace_output_options options = {.format = format, .begin_ns = 1000000000};
	struct trace_output *output;
	struct trace_line lines[2];
	double wall, cpu;

	make_launch(&lines[0], functions);
	make_copy(&lines[1], functions);
	if (trace_output__new(fd, &options, &output, NULL))
		exit(1);
	wall = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < count; i++) {
		lines[i & 1].start_ns = 1000000000ull + (uint64_t)i * 1234;
		if (trace_output__line(output, &lines[i & 1]))
			exit(1);
	}
	if (trace_output__flush(output))
		exit(1);
	wall = seconds(CLOCK_MONOTONIC) - wall;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("%-6s %8.1f ns a line of processor time, %8.1f ns of time\n", name,
	       cpu * 1e9 / (double)count, wall * 1e9 / (double)count);
	trace_output__free(output);
}

int main(int argc, char **argv)
{
	struct trace_functions *functions = trace_functions__new(false);
	long count = argc > 1 ? atol(argv[1]) : 2000000;
	int fd = open(argc > 2 ? argv[2] : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		      0666);

	if (!functions || fd < 0 || count <= 0) {
		fputs("usage: format [LINES [FILE]]\n", stderr);
		return 2;
	}
	measure("table", TRACE_TABLE, functions, count, fd);
	measure("tsv", TRACE_TSV, functions, count, fd);
	measure("json", TRACE_JSON, functions, count, fd);
	trace_functions__free(functions);
	close(fd);
	return 0;
}

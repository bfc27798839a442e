// SPDX-License-Identifier: BSD-2-Clause
// What a process with Kineto can make: the first byte chooses a trace, a question to the daemon, or
// an environment; for a trace it also says in which pieces it is read.
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "kineto/environment.h"
#include "kineto/protocol.h"
#include "kineto/trace_reader.h"

struct sums {
	uint64_t work, names, last_number;
};

static void take_work(const struct gpu_work *work, void *arg)
{
	struct sums *sums = arg;

	MUST(work->kind && work->kind != GPU_WORK_CALL && work->copy < GPU_COPY_KINDS);
	MUST(work->end_ns >= work->start_ns && work->name <= sums->names);
	sums->work++;
}

static void take_name(uint64_t number, const char *text, void *arg)
{
	struct sums *sums = arg;

	MUST(number == ++sums->names && number <= TRACE_READER_NAMES);
	MUST(strlen(text) < GPU_TIMES_NAME_SIZE);
}

/* In pieces or in one, the same is found. */
static struct trace_summary read_trace(const char *text, size_t size, size_t piece,
				       struct sums *sums)
{
	const struct trace_reader_hooks hooks = {take_work, take_name, sums};
	struct trace_reader *reader = trace_reader__new(&hooks);
	struct trace_summary summary;
	int ret = 0;

	for (size_t at = 0; at < size && !ret; at += piece)
		ret = trace_reader__push(reader, text + at, size - at < piece ? size - at : piece);
	summary = trace_reader__summary(reader);
	trace_reader__free(reader);
	MUST(ret || summary.offset == size);
	return summary;
}

static void check_trace(const char *text, size_t size, size_t piece)
{
	struct sums one = {0}, other = {0};
	struct trace_summary first = read_trace(text, size, size ? size : 1, &one),
			     second = read_trace(text, size, piece, &other);

	MUST(one.work == other.work && one.names == other.names);
	MUST(first.offset == second.offset && first.whole == second.whole);
	MUST(first.events == second.events && first.overhead_ns == second.overhead_ns);
}

static void check_environment(const char *bytes, size_t size)
{
	struct kineto_variables variables = {0};
	struct kineto_environment found;

	kineto_variables__push(&variables, bytes, size);
	found = kineto_variables__end(&variables);
	MUST(memchr(found.folder, '\0', sizeof(found.folder)));
	MUST(memchr(found.temporary, '\0', sizeof(found.temporary)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool idle;
	char *rest;

	if (!size)
		return 0;
	rest = harness__exactly(data + 1, size - 1);
	if (data[0] % 8 == 0)
		kineto_protocol__read(rest, size - 1, &idle);
	else if (data[0] % 8 == 1)
		check_environment(rest, size - 1);
	else
		check_trace(rest, size - 1, data[0]);
	free(rest);
	return 0;
}

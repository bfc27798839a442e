// SPDX-License-Identifier: BSD-2-Clause
// From traced calls to events: the table of functions agrees with that of the API, and lines
// become communicators, collectives, captures and waits. src/nccl/call.c, src/nccl/intake.c.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "nccl/call.h"
#include "nccl/intake.h"
#include "trace/function.h"

#define PID 4711
#define COMM 0x7000
#define STREAM 0x5000

struct scene {
	struct trace_functions *functions;
	struct nccl_jobs *jobs;
	struct nccl_intake *intake;
	struct trace_process process;
	uint64_t now;
	uint64_t written; /* what the process's memory has at each address */
	size_t looks;	  /* at communicators in its memory */
};

static int read_memory(pid_t pid, uint64_t address, void *buffer, size_t size, void *arg)
{
	const struct scene *scene = arg;

	(void)address;
	assert_int_equal(pid, PID);
	if (size != sizeof(scene->written))
		return -EFAULT;
	memcpy(buffer, &scene->written, size);
	return 0;
}

/* The process has one at COMM. */
static int look_at_comm(pid_t pid, uint64_t handle, struct comm_facts *facts, void *arg)
{
	struct scene *scene = arg;

	assert_int_equal(pid, PID);
	scene->looks++;
	*facts = (struct comm_facts){.hash = 0xabc, .rank = 1, .size = 2, .device = 3};
	return handle == COMM ? 0 : -EINVAL;
}

static void open_scene(struct scene *scene)
{
	const struct nccl_intake_hooks hooks = {
		.read = read_memory, .look = look_at_comm, .arg = scene};
	const struct nccl_limits limits = {.proven_late = true};

	*scene = (struct scene){.process = {.number = 1, .pid = PID, .start_ns = 5}, .now = 1000};
	scene->functions = trace_functions__new(false);
	scene->jobs = nccl_jobs__new(&limits);
	scene->intake = nccl_intake__new(scene->jobs, &hooks);
	assert_non_null(scene->functions);
	assert_non_null(scene->intake);
}

static void close_scene(struct scene *scene)
{
	nccl_intake__free(scene->intake);
	nccl_jobs__free(scene->jobs);
	trace_functions__free(scene->functions);
}

static const struct trace_function *function_of(const struct scene *scene, const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	assert_true(row >= 0);
	return trace_functions__at(scene->functions, (uint32_t)row);
}

struct made_call {
	const char *symbol;
	uint64_t words[TRACE_WORDS];
	const char *out; /* name of the field that the call has written; NULL: none */
	uint64_t value;
	int32_t result;
};

static void feed(struct scene *scene, const struct made_call *call, enum trace_line_kind kind)
{
	struct trace_line line = {
		.kind = kind,
		.function = function_of(scene, call->symbol),
		.process = &scene->process,
		.tid = PID,
		.device = 3,
		.start_ns = scene->now++,
		.result = (uint64_t)(int64_t)call->result,
		.failed = call->result && call->result != NCCL_IN_PROGRESS,
		.words = call->words,
		.word_count = TRACE_WORDS,
	};

	if (kind == LINE_RETURN && call->out)
		line.fields[line.field_count++] = (struct trace_field){
			.name = call->out, .form = FORM_ADDRESS, .number = call->value};
	nccl_intake__line(scene->intake, &line);
}

static void make(struct scene *scene, struct made_call call)
{
	feed(scene, &call, LINE_ENTRY);
	feed(scene, &call, LINE_RETURN);
}

/* Rank 1 of 2; the id is 128 zeros. */
static void make_comm(struct scene *scene)
{
	make(scene, (struct made_call){.symbol = "ncclCommInitRank",
				       .words = {0x100, 2, 1},
				       .out = "comm",
				       .value = COMM});
}

static struct made_call all_reduce(uint64_t stream)
{
	return (struct made_call){.symbol = "ncclAllReduce",
				  .words = {0x1, 0x2, 4096, 9, 0, COMM, stream}};
}

static const struct nccl_rank *rank_of(const struct scene *scene)
{
	return nccl_comm__rank(nccl_jobs__next(scene->jobs, NULL), 0);
}

/* --- the table --- */

static const struct api_argument *argument_of(const struct api_function *function, uint8_t word)
{
	for (unsigned int i = 0; i < function->argument_count; i++)
		if (function->arguments[i].word == word)
			return &function->arguments[i];
	return NULL;
}

/* The argument in that word has one of these names. */
static void expect_name(const struct api_function *function, uint8_t word, const char *names)
{
	const struct api_argument *argument;
	char padded[64];

	if (word == NCCL_NO_WORD)
		return;
	argument = argument_of(function, word);
	assert_non_null(argument);
	snprintf(padded, sizeof(padded), " %s ", argument->name);
	if (!strstr(names, padded))
		fail_msg("%s: word %u is %s", function->symbol, word, argument->name);
}

static void words_are_those_of_the_api(void **state)
{
	(void)state;
	for (const struct nccl_call *call = nccl_calls; call->symbol; call++) {
		int row = api__find(call->symbol, API_NEWEST);
		const struct api_function *function;

		assert_true(row >= 0);
		function = &api_functions[row];
		assert_string_equal(function->family, "nccl");
		assert_ptr_equal(nccl_call__find(call->symbol), call);
		expect_name(function, call->comm, " comm ");
		expect_name(function, call->count, " count sendcount recvcount ");
		expect_name(function, call->datatype, " datatype ");
		expect_name(function, call->op, " op ");
		expect_name(function, call->root, " root peer ");
		expect_name(function, call->stream, " stream ");
		expect_name(function, call->size, " nranks nRanks ndev ");
		expect_name(function, call->rank, " rank myrank ");
		expect_name(function, call->made_at, " comm newcomm ");
		expect_name(function, call->id, " commId ");
	}
	assert_null(nccl_call__find("ncclGetVersion"));
	assert_null(nccl_call__find("zzz"));
}

/* --- lines --- */

static void communicators_and_collectives(void **state)
{
	const struct nccl_comm *comm;
	struct scene scene;

	(void)state;
	open_scene(&scene);
	make_comm(&scene);
	make(&scene, all_reduce(STREAM));
	make(&scene, all_reduce(STREAM));
	comm = nccl_jobs__next(scene.jobs, NULL);
	assert_true(comm->known);
	assert_int_equal(comm->hash, 0xcc976ec6c24bb53c);
	assert_int_equal(comm->size, 2);
	assert_int_equal(comm->bytes, 2 * 4096 * 2);
	assert_int_equal(rank_of(&scene)->rank, 1);
	assert_int_equal(rank_of(&scene)->device, 3);
	assert_int_equal(rank_of(&scene)->sequence, 2);
	assert_int_equal(nccl_intake__thread(scene.intake, &rank_of(&scene)->process->key), PID);
	close_scene(&scene);
}

static void failed_calls_count_for_nothing(void **state)
{
	struct made_call call = all_reduce(STREAM);
	struct scene scene;

	(void)state;
	open_scene(&scene);
	make_comm(&scene);
	call.result = 4;
	make(&scene, call);
	assert_int_equal(rank_of(&scene)->sequence, 0);
	assert_int_equal(rank_of(&scene)->error, 4);
	call.result = NCCL_IN_PROGRESS;
	make(&scene, call);
	assert_int_equal(rank_of(&scene)->sequence, 1);
	close_scene(&scene);
}

static void captures_end(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	make_comm(&scene);
	make(&scene, (struct made_call){.symbol = "cuStreamBeginCapture_v2", .words = {0x9000}});
	/* The thread captures, so the stream has joined. */
	make(&scene, all_reduce(STREAM));
	make(&scene, (struct made_call){.symbol = "cuStreamEndCapture", .words = {0x9000}});
	make(&scene, all_reduce(STREAM));
	assert_int_equal(rank_of(&scene)->captured, 1);
	assert_int_equal(rank_of(&scene)->sequence, 1);
	close_scene(&scene);
}

/* A wait proves what it is for, and no more. */
static void waits_for_other_streams_prove_nothing(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	make_comm(&scene);
	make(&scene, all_reduce(STREAM));
	make(&scene, (struct made_call){.symbol = "cuStreamSynchronize", .words = {0x9000}});
	assert_int_equal(rank_of(&scene)->done, 0);
	make(&scene, (struct made_call){.symbol = "cuStreamSynchronize", .words = {STREAM}});
	assert_int_equal(rank_of(&scene)->done, 1);
	make(&scene, all_reduce(0x6000));
	make(&scene, (struct made_call){.symbol = "cuStreamSynchronize", .words = {0x6000}});
	assert_int_equal(rank_of(&scene)->done, 1);
	make(&scene, (struct made_call){.symbol = "cuCtxSynchronize", .words = {0}});
	assert_int_equal(rank_of(&scene)->done, 2);
	close_scene(&scene);
}

/* In a group, NCCL writes the address of a split at the group's end. */
static void addresses_that_come_later(void **state)
{
	struct made_call call = all_reduce(STREAM);
	const struct nccl_comm *child;
	struct scene scene;

	(void)state;
	open_scene(&scene);
	make_comm(&scene);
	make(&scene, (struct made_call){.symbol = "ncclGroupStart"});
	make(&scene, (struct made_call){.symbol = "ncclCommSplit",
					.words = {COMM, 0, 0, 0x200},
					.out = "newcomm"});
	scene.written = 0;
	make(&scene, (struct made_call){.symbol = "ncclGroupEnd"});
	scene.written = 0x8000;
	nccl_intake__look(scene.intake, scene.now);
	call.words[5] = 0x8000;
	make(&scene, call);
	child = nccl_jobs__next(scene.jobs, nccl_jobs__next(scene.jobs, NULL));
	assert_non_null(child);
	assert_null(nccl_jobs__next(scene.jobs, child));
	assert_int_equal(nccl_comm__rank(child, 0)->sequence, 1);
	close_scene(&scene);
}

/* Processes without NCCL take no room, and hostile ones not more than there is. */
static void communicators_from_before(void **state)
{
	struct scene scene;
	const struct nccl_comm *comm;

	(void)state;
	open_scene(&scene);
	make(&scene, all_reduce(STREAM));
	make(&scene, all_reduce(STREAM));
	comm = nccl_jobs__next(scene.jobs, NULL);
	assert_true(comm->known);
	assert_false(comm->aligned);
	assert_int_equal(comm->hash, 0xabc);
	assert_int_equal(comm->size, 2);
	assert_int_equal(rank_of(&scene)->rank, 1);
	assert_int_equal(rank_of(&scene)->device, 3);
	assert_int_equal(rank_of(&scene)->sequence, 2);
	assert_null(nccl_jobs__next(scene.jobs, comm));
	assert_int_equal(scene.looks, 1);
	close_scene(&scene);
}

static void known_communicators_are_not_looked_at(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	make_comm(&scene);
	make(&scene, all_reduce(STREAM));
	assert_int_equal(scene.looks, 0);
	close_scene(&scene);
}

/* An address is looked at once, unless its communicator has ended, and a process 256 times. */
static void looks_are_bounded(void **state)
{
	struct made_call call = all_reduce(STREAM);
	struct scene scene;

	(void)state;
	open_scene(&scene);
	call.words[5] = 0x100;
	make(&scene, call);
	make(&scene, call);
	assert_int_equal(scene.looks, 1);
	make(&scene, (struct made_call){.symbol = "ncclCommDestroy", .words = {0x100}});
	make(&scene, call);
	assert_int_equal(scene.looks, 2);
	for (uint64_t i = 0; i < 1000; i++) {
		call.words[5] = 0x10000 + i * 16;
		make(&scene, call);
	}
	assert_int_equal(scene.looks, 256);
	close_scene(&scene);
}

static void many_processes(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	for (int i = 0; i < NCCL_INTAKE_PROCESSES + 10; i++) {
		scene.process.start_ns++;
		make(&scene, (struct made_call){.symbol = "cuCtxSynchronize"});
		make(&scene, (struct made_call){.symbol = "ncclGroupStart"});
	}
	assert_int_equal(nccl_intake__left_out(scene.intake), 20);
	close_scene(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_those_of_the_api),
		cmocka_unit_test(communicators_and_collectives),
		cmocka_unit_test(failed_calls_count_for_nothing),
		cmocka_unit_test(captures_end),
		cmocka_unit_test(waits_for_other_streams_prove_nothing),
		cmocka_unit_test(addresses_that_come_later),
		cmocka_unit_test(communicators_from_before),
		cmocka_unit_test(known_communicators_are_not_looked_at),
		cmocka_unit_test(looks_are_bounded),
		cmocka_unit_test(many_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

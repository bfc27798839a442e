// SPDX-License-Identifier: BSD-2-Clause
// Recorded runs, see recorded_run.h.
#include "recorded_run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FUNCTIONS 32
#define THREADS 16
#define ARGUMENTS 6

struct numbers {
	uint64_t *values;
	size_t count, next;
};

struct function {
	uint16_t row;
	size_t argument_count;
	enum role roles[ARGUMENTS];
	struct numbers arguments[ARGUMENTS]; /* of its calls, in their order */
};

struct reader {
	gzFile file;
	struct function functions[FUNCTIONS];
	size_t function_count;
	struct numbers threads, values;
};

static const struct {
	const char *name;
	enum role role;
} roles[] = {{"stream", ROLE_STREAM}, {"event", ROLE_EVENT}, {"size", ROLE_SIZE},
	     {"ptr", ROLE_PTR},	      {"dst", ROLE_DST},     {"src", ROLE_SRC},
	     {"ctx", ROLE_CTX},	      {"flags", ROLE_FLAGS}, {"out", ROLE_OUT},
	     {"handle", ROLE_HANDLE}};

static void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	assert(memory);
	return memory;
}

/* --- the file format --- */

static uint64_t read_number(struct reader *reader)
{
	uint64_t number = 0;
	int byte;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		byte = gzgetc(reader->file);
		assert(byte >= 0);
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	assert(!"a number of more than 64 bits");
	return 0;
}

static struct numbers read_numbers(struct reader *reader)
{
	struct numbers numbers = {.count = read_number(reader)};

	numbers.values = allocate(numbers.count, sizeof(uint64_t));
	for (size_t i = 0; i < numbers.count; i++)
		numbers.values[i] = read_number(reader);
	return numbers;
}

static void read_text(struct reader *reader, char *text, size_t room)
{
	size_t length = read_number(reader);

	assert(length < room);
	for (size_t i = 0; i < length; i++)
		text[i] = (char)read_number(reader);
	text[length] = '\0';
}

static enum role read_role(struct reader *reader)
{
	char name[16];

	read_text(reader, name, sizeof(name));
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (!strcmp(roles[i].name, name))
			return roles[i].role;
	assert(!"a role that is not known");
	return ROLE_COUNT;
}

static uint64_t next_of(struct numbers *numbers)
{
	assert(numbers->next < numbers->count);
	return numbers->values[numbers->next++];
}

/* --- calls and busy times --- */

static void read_function(struct reader *reader, struct function *function)
{
	char name[64];
	int row;

	read_text(reader, name, sizeof(name));
	row = api__find(name, API_NEWEST);
	assert(row >= 0);
	function->row = (uint16_t)row;
	function->argument_count = read_number(reader);
	assert(function->argument_count <= ARGUMENTS);
	for (size_t i = 0; i < function->argument_count; i++)
		function->roles[i] = read_role(reader);
}

static void read_functions(struct reader *reader)
{
	reader->function_count = read_number(reader);
	assert(reader->function_count <= FUNCTIONS);
	for (size_t i = 0; i < reader->function_count; i++)
		read_function(reader, &reader->functions[i]);
	reader->threads = read_numbers(reader);
	reader->values = read_numbers(reader);
}

static void read_arguments(struct reader *reader)
{
	for (size_t i = 0; i < reader->function_count; i++)
		for (size_t k = 0; k < reader->functions[i].argument_count; k++)
			reader->functions[i].arguments[k] = read_numbers(reader);
}

static void fill_arguments(struct reader *reader, struct recorded_run *run,
			   struct watched_call *call, struct function *function)
{
	uint64_t number;

	call->row = function->row;
	call->count = (uint16_t)function->argument_count;
	for (size_t i = 0; i < function->argument_count; i++) {
		number = next_of(&function->arguments[i]);
		assert(number < reader->values.count);
		call->arguments[i] =
			(struct call_argument){function->roles[i], reader->values.values[number]};
		if (function->roles[i] == ROLE_CTX)
			run->context = reader->values.values[number];
	}
}

/* The lists that describe the calls, one list for each property. */
struct call_lists {
	struct numbers functions, threads, since, durations, results;
};

static void fill_calls(struct reader *reader, struct recorded_run *run, struct call_lists *lists)
{
	uint64_t entry_ns = 0, function, thread;

	run->call_count = lists->functions.count;
	run->calls = allocate(run->call_count, sizeof(*run->calls));
	for (size_t i = 0; i < run->call_count; i++) {
		struct recorded_call *call = &run->calls[i];

		function = next_of(&lists->functions);
		thread = next_of(&lists->threads);
		assert(function < reader->function_count && thread < reader->threads.count);
		entry_ns += next_of(&lists->since);
		call->tid = (int)reader->threads.values[thread];
		call->result = (int32_t)next_of(&lists->results);
		call->entry_ns = entry_ns;
		call->return_ns = entry_ns + next_of(&lists->durations);
		fill_arguments(reader, run, &call->call, &reader->functions[function]);
	}
}

static void read_calls(struct reader *reader, struct recorded_run *run)
{
	struct call_lists lists;

	lists.functions = read_numbers(reader);
	lists.threads = read_numbers(reader);
	lists.since = read_numbers(reader);
	lists.durations = read_numbers(reader);
	lists.results = read_numbers(reader);
	read_arguments(reader);
	fill_calls(reader, run, &lists);
	free(lists.functions.values);
	free(lists.threads.values);
	free(lists.since.values);
	free(lists.durations.values);
	free(lists.results.values);
}

static void read_busy(struct reader *reader, struct recorded_run *run)
{
	struct numbers since = read_numbers(reader), durations = read_numbers(reader);
	uint64_t ns = 0;

	run->busy_count = since.count;
	run->busy = allocate(run->busy_count, sizeof(*run->busy));
	for (size_t i = 0; i < run->busy_count; i++) {
		run->busy[i].begin_ns = ns + next_of(&since);
		run->busy[i].end_ns = run->busy[i].begin_ns + next_of(&durations);
		ns = run->busy[i].end_ns;
	}
	free(since.values);
	free(durations.values);
}

static void clear_reader(struct reader *reader)
{
	for (size_t i = 0; i < reader->function_count; i++)
		for (size_t k = 0; k < reader->functions[i].argument_count; k++)
			free(reader->functions[i].arguments[k].values);
	free(reader->threads.values);
	free(reader->values.values);
	gzclose(reader->file);
}

struct recorded_run *recorded_run__read(const char *name)
{
	struct recorded_run *run = allocate(1, sizeof(*run));
	struct reader reader = {};
	char path[256];

	snprintf(path, sizeof(path), "tests/unit/bpf/runs/%s.gz", name);
	reader.file = gzopen(path, "rb");
	assert(reader.file);
	read_functions(&reader);
	read_calls(&reader, run);
	read_busy(&reader, run);
	clear_reader(&reader);
	return run;
}

void recorded_run__free(struct recorded_run *run)
{
	if (!run)
		return;
	free(run->calls);
	free(run->busy);
	free(run);
}

/* --- replaying --- */

/* A thread's call in progress, or its next one. */
struct player {
	int tid;
	size_t next;
	bool inside;
};

static void find_next(const struct recorded_run *run, struct player *player, size_t from)
{
	player->next = from;
	while (player->next < run->call_count && run->calls[player->next].tid != player->tid)
		player->next++;
}

static size_t find_players(const struct recorded_run *run, struct player *players)
{
	size_t count = 0, i, known;

	for (i = 0; i < run->call_count; i++) {
		for (known = 0; known < count && players[known].tid != run->calls[i].tid; known++)
			;
		if (known < count)
			continue;
		assert(count < THREADS);
		players[count++] = (struct player){.tid = run->calls[i].tid, .next = i};
	}
	return count;
}

static uint64_t next_ns(const struct recorded_run *run, const struct player *player)
{
	const struct recorded_call *call = &run->calls[player->next];

	if (player->next == run->call_count)
		return UINT64_MAX;
	return player->inside ? call->return_ns : call->entry_ns;
}

static void play(const struct recorded_run *run, struct player *player, struct watched *watched)
{
	const struct recorded_call *call = &run->calls[player->next];
	struct watched_thread *thread = watched__thread(watched, call->tid, call->entry_ns);

	if (player->inside) {
		watched__return(thread, call->return_ns, call->result);
		find_next(run, player, player->next + 1);
	} else {
		watched__enter(thread, call->entry_ns, &call->call);
	}
	player->inside = !player->inside;
}

void recorded_run__replay(const struct recorded_run *run, struct watched *watched)
{
	struct player players[THREADS], *next;
	size_t count = find_players(run, players);

	for (;;) {
		next = &players[0];
		for (size_t i = 1; i < count; i++)
			if (next_ns(run, &players[i]) < next_ns(run, next))
				next = &players[i];
		if (next_ns(run, next) == UINT64_MAX)
			break;
		play(run, next, watched);
	}
}

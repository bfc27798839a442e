// SPDX-License-Identifier: BSD-2-Clause
// Looks at the threads of the listed processes; see threads.h.
#include "ps/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "model/dump_before.h"
#include "target/last_run.h"

#define AGAIN_NS (200 * NS_PER_MS)

/* Some of the rows, with their pids. */
struct chosen {
	struct ps_row **rows;
	pid_t *pids;
	size_t count;
};

static int chosen__new(struct chosen *chosen, size_t most)
{
	*chosen = (struct chosen){
		.rows = calloc(most + 1, sizeof(struct ps_row *)),
		.pids = calloc(most + 1, sizeof(pid_t)),
	};
	return chosen->rows && chosen->pids ? 0 : -ENOMEM;
}

static void chosen__clear(struct chosen *chosen)
{
	free(chosen->rows);
	free(chosen->pids);
}

static void choose(struct chosen *chosen, struct ps_row *row)
{
	chosen->rows[chosen->count] = row;
	chosen->pids[chosen->count++] = row->process->pid;
}

static int take(struct dumper *dumper, const struct chosen *chosen, struct dump **dump)
{
	const struct dump_request request = {
		.pids = chosen->pids,
		.count = chosen->count,
		.since_ns = clock__boot_ns(),
		.threads_alone = true,
		.calls_alone = true,
	};

	return dumper__take(dumper, &request, dump);
}

/* A dump has the processes in the order in which it was asked for them, without some. */
static const struct dump_process *find(const struct dump *dump, size_t *at,
				       const struct ps_row *row)
{
	if (*at < dump->count && dump->processes[*at].process->pid == row->process->pid)
		return &dump->processes[(*at)++];
	return NULL;
}

static void judge_all(struct ps *ps, const struct chosen *chosen, const struct dump *dump)
{
	size_t missing = 0;

	for (size_t i = 0, at = 0; i < chosen->count; i++) {
		const struct dump_process *look = find(dump, &at, chosen->rows[i]);

		if (look)
			ps_row__judge(chosen->rows[i], look);
		missing += !look;
	}
	if (missing)
		ps__note(ps,
			 "what %zu process%s did is unknown: ended by now, or beyond the first %d "
			 "threads",
			 missing, missing == 1 ? "" : "es", DUMP_THREADS_MAX);
}

/*
 * Threads of the driver by the names that it gives them (580): the first one wakes up ten times a
 * second, and does nothing for the program. Older drivers leave the program's name.
 */
static bool is_of_driver(const struct dump_thread *thread)
{
	return !strcmp(thread->comm, "cuda-EvtHandlr") || !strncmp(thread->comm, "cuda0000", 8);
}

/* How long no thread has run, and the main one; 0: unknown. */
static void find_idle_time(struct cpu_clocks *clocks, struct ps_row *row,
			   const struct dump_process *look)
{
	bool known = !look->unseen;
	uint64_t shortest = UINT64_MAX;

	for (size_t i = 0; i < look->thread_count; i++) {
		const struct dump_thread *thread = &look->threads[i];
		bool is_main = thread->tid == row->process->pid;
		uint64_t ago;

		if (!is_main && (!known || is_of_driver(thread)))
			continue;
		if (last_run__ago(clocks, thread->tid, &ago)) {
			known = false;
			continue;
		}
		ago += !ago; /* 0 is unknown */
		if (is_main)
			row->main_thread_idle_ns = ago;
		if (ago < shortest)
			shortest = ago;
	}
	row->idle_ns = known && shortest < UINT64_MAX ? shortest : 0;
}

static void find_idle_times(const struct chosen *chosen, const struct dump *dump)
{
	struct cpu_clocks *clocks = cpu_clocks__new();

	for (size_t i = 0, at = 0; i < chosen->count && clocks; i++) {
		const struct dump_process *look = find(dump, &at, chosen->rows[i]);

		if (look && chosen->rows[i]->state == PS_IDLE)
			find_idle_time(clocks, chosen->rows[i], look);
	}
	cpu_clocks__free(clocks);
}

int ps_threads__look(struct dumper *dumper, struct ps *ps, struct dump **look)
{
	struct chosen chosen;
	int ret = chosen__new(&chosen, ps->count);

	*look = NULL;
	for (size_t i = 0; i < ps->count && !ret; i++)
		if (ps->rows[i].libraries.known)
			choose(&chosen, &ps->rows[i]);
	if (!ret && chosen.count)
		ret = take(dumper, &chosen, look);
	if (*look) {
		judge_all(ps, &chosen, *look);
		find_idle_times(&chosen, *look);
	}
	chosen__clear(&chosen);
	return ret;
}

/* --- the second look --- */

static bool stands(const struct dump_process *before, const struct dump_process *now, pid_t tid)
{
	for (size_t i = 0; i < now->thread_count; i++)
		if (now->threads[i].tid == tid)
			return dump_before__motion(before, &now->threads[i]) == DUMP_STANDS;
	return false;
}

static int look_again(struct dumper *dumper, const struct dump *first, const struct chosen *chosen)
{
	struct timespec left = {.tv_nsec = AGAIN_NS};
	struct dump *second = NULL;
	int ret;

	while (nanosleep(&left, &left) && errno == EINTR)
		;
	ret = take(dumper, chosen, &second);
	for (size_t i = 0, at = 0; i < chosen->count && !ret; i++) {
		struct ps_row *row = chosen->rows[i];
		const struct dump_process *now = find(second, &at, row);

		if (now && stands(dump_before__process(first, now), now, row->call_tid))
			row->state = PS_STUCK;
	}
	dump__free(second);
	return ret;
}

int ps_threads__find_stuck(struct dumper *dumper, struct ps *ps, const struct dump *look)
{
	struct chosen chosen;
	int ret = chosen__new(&chosen, ps->count);

	for (size_t i = 0; i < ps->count && !ret; i++)
		if (ps_row__seems_stuck(ps, &ps->rows[i]))
			choose(&chosen, &ps->rows[i]);
	if (!ret && chosen.count)
		ret = look_again(dumper, look, &chosen);
	chosen__clear(&chosen);
	return ret;
}

// SPDX-License-Identifier: BSD-2-Clause
// Looks at processes with ranks of NCCL, see nccl_looks.h.
#include "cli/session/nccl_looks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text_stream.h"
#include "output/dump/parts.h"
#include "output/dump/short_stack.h"
#include "target/proc.h"

#define MOST_LOOKED_AT 64
#define LATE_EVERY_NS (900 * NS_PER_MS)	    /* a look at late ranks a second, if judged so often */
#define LATE_LOOKS 60			    /* at a process, at most */
#define START_TOLERANCE_NS (50 * NS_PER_MS) /* /proc counts in ticks */

struct nccl_looks {
	struct nccl_jobs *jobs;
	struct nccl_intake *intake;
	struct looker *looker;
	struct nccl_process_key *gone; /* found at the last call, told at the next one */
	size_t gone_count;
	uint64_t looked_ns, looked_late_ns;
};

struct nccl_looks *nccl_looks__new(struct nccl_jobs *jobs, struct nccl_intake *intake,
				   struct looker *looker)
{
	struct nccl_looks *looks = calloc(1, sizeof(*looks));

	if (!looks)
		return NULL;
	looks->jobs = jobs;
	looks->intake = intake;
	looks->looker = looker;
	return looks;
}

void nccl_looks__free(struct nccl_looks *looks)
{
	if (!looks)
		return;
	free(looks->gone);
	free(looks);
}

/* --- ended processes --- */

static bool has_ended(const struct nccl_process_key *key)
{
	struct process_info info;

	if (proc__info(key->pid, &info) || info.state == 'Z' || info.state == 'X')
		return true;
	/* Another process has the pid now. */
	return info.start_ns > key->start_ns + START_TOLERANCE_NS;
}

static bool same_process(const struct nccl_process_key *one, const struct nccl_process_key *other)
{
	return one->pid == other->pid && one->start_ns == other->start_ns;
}

static bool is_known(const struct nccl_looks *looks, const struct nccl_process_key *key)
{
	for (size_t i = 0; i < looks->gone_count; i++)
		if (same_process(&looks->gone[i], key))
			return true;
	return false;
}

static void tell_ended(struct nccl_looks *looks)
{
	for (size_t i = 0; i < looks->gone_count; i++)
		nccl_intake__process_ended(looks->intake, &looks->gone[i]);
	looks->gone_count = 0;
}

void nccl_looks__find_ended(struct nccl_looks *looks, bool final)
{
	const struct nccl_comm *comm = NULL;
	const struct nccl_rank *rank;

	tell_ended(looks);
	while ((comm = nccl_jobs__next(looks->jobs, comm))) {
		for (size_t i = 0; (rank = nccl_comm__rank(comm, i)); i++) {
			const struct nccl_process_key *key = &rank->process->key;

			if (rank->process->ended || is_known(looks, key) || !has_ended(key))
				continue;
			/* Without memory it is found the next time. */
			if (ARRAY_APPEND(looks->gone, looks->gone_count, *key))
				return;
		}
	}
	if (final)
		tell_ended(looks);
}

/* --- what the others do --- */

struct chosen {
	struct nccl_process_key keys[MOST_LOOKED_AT];
	pid_t pids[MOST_LOOKED_AT];
	size_t count;
};

static void choose(struct chosen *chosen, const struct nccl_rank *rank)
{
	const struct nccl_process *process = rank->process;

	if (process->ended || chosen->count == MOST_LOOKED_AT)
		return;
	for (size_t i = 0; i < chosen->count; i++)
		if (same_process(&chosen->keys[i], &process->key))
			return;
	chosen->pids[chosen->count] = process->key.pid;
	chosen->keys[chosen->count++] = process->key;
}

/* Those to blame first, then all others: whether a job is stopped depends on all. */
static void choose_all(struct chosen *chosen, const struct nccl_findings *findings)
{
	const struct nccl_rank *rank;

	for (size_t i = 0; i < findings->count; i++)
		for (size_t j = 0; j < findings->items[i].rank_count; j++)
			choose(chosen, findings->items[i].ranks[j]);
	for (size_t i = 0; i < findings->count; i++)
		for (size_t j = 0; findings->items[i].verdict == NCCL_HANG &&
				   (rank = nccl_comm__rank(findings->items[i].comm, j));
		     j++)
			choose(chosen, rank);
}

static const struct dump_thread *find_thread(const struct dump_process *process, pid_t tid)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	return NULL;
}

/*
 * The thread that says most: the one that makes the collectives if it runs Python, as the main
 * thread does if a thread of the framework makes them.
 */
static const struct dump_thread *choose_thread(const struct dump_process *process, pid_t caller)
{
	const struct dump_thread *of_caller = find_thread(process, caller);
	const struct dump_thread *main = process->threads;

	if (of_caller && short_stack__has_python(&of_caller->stack))
		return of_caller;
	if (main && main->tid == process->process->pid && short_stack__has_python(&main->stack))
		return main;
	return of_caller ? of_caller : main;
}

/* Whether a frame of the program's Python says so: its file, or the start of its function. */
static bool is_in_python(const struct dump_thread *thread, const char *file, const char *function)
{
	for (size_t i = 0; i < thread->stack.count; i++) {
		const struct stack_frame *frame = &thread->stack.frames[i];

		if (frame->kind != FRAME_PYTHON)
			continue;
		if (file && frame->file && strstr(frame->file, file))
			return true;
		if (function && frame->function &&
		    !strncmp(frame->function, function, strlen(function)))
			return true;
	}
	return false;
}

/* A checkpoint is mostly made by the CPU, between writes. */
static bool saves(const struct dump_thread *thread)
{
	const char *call = thread->waiting.name;

	return is_in_python(thread, "torch/serialization.py", "save_checkpoint") ||
	       is_in_python(thread, "torch/distributed/checkpoint/", "save_pretrained") ||
	       (thread->waiting.kind == DUMP_WAIT_FILE && call &&
		(strstr(call, "write") || strstr(call, "sync")));
}

/* The loop of a server that has nothing to do. */
static bool serves(const struct dump_thread *thread)
{
	const char *call = thread->waiting.name;

	return thread->run == DUMP_SLEEPS &&
	       (is_in_python(thread, "asyncio/base_events.py", NULL) ||
		is_in_python(thread, "socketserver.py", NULL) ||
		(call && !strncmp(call, "accept", strlen("accept"))));
}

static enum nccl_activity activity_of(const struct dump_thread *thread)
{
	switch (thread->run) {
	case DUMP_STOPPED:
	case DUMP_FROZEN: return NCCL_STOPPED;
	case DUMP_TRACED: return NCCL_TRACED;
	default: break;
	}
	if (saves(thread))
		return NCCL_WRITES_FILE;
	if (serves(thread))
		return NCCL_AWAITS_REQUESTS;
	if (thread->run == DUMP_RUNS || thread->run == DUMP_READY)
		return NCCL_RUNS;
	switch (thread->waiting.kind) {
	case DUMP_WAIT_GIL: return NCCL_WAITS_GIL;
	case DUMP_WAIT_LOCK: return NCCL_WAITS_LOCK;
	case DUMP_WAIT_NONE: return NCCL_ACTIVITY_UNKNOWN;
	default: return NCCL_WAITS_OTHER;
	}
}

/* A text without its newline; the caller frees it. NULL without memory, or if it is empty. */
static char *finish_text(FILE *out, char **text, const size_t *length)
{
	if (fclose(out))
		return NULL;
	while (*length && (*text)[0] && (*text)[strlen(*text) - 1] == '\n')
		(*text)[strlen(*text) - 1] = 0;
	return *text;
}

static char *where_of(const struct dump_thread *thread)
{
	size_t length = 0;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return NULL;
	if (!thread->no_stack)
		short_stack__print(out, &thread->stack, thread->beyond, thread->ends, 0, true);
	return finish_text(out, &text, &length);
}

static char *waits_of(const struct dump_thread *thread)
{
	size_t length = 0;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return NULL;
	dump_thread__print(out, thread);
	return finish_text(out, &text, &length);
}

/* What one look at a process says. */
struct sight {
	enum nccl_activity activity;
	char *where, *waits; /* may be NULL */
};

/* Returns false if it says nothing. Free the texts. */
static bool see(struct nccl_looks *looks, const struct nccl_process_key *key,
		const struct dump_process *process, struct sight *sight)
{
	const struct dump_thread *thread =
		choose_thread(process, nccl_intake__thread(looks->intake, key));

	if (!thread)
		return false;
	*sight = (struct sight){activity_of(thread), where_of(thread), waits_of(thread)};
	return true;
}

typedef void tell_fn(struct nccl_jobs *jobs, const struct nccl_process_key *key,
		     const struct sight *sight);

static void tell_now(struct nccl_jobs *jobs, const struct nccl_process_key *key,
		     const struct sight *sight)
{
	nccl_jobs__set_activity(jobs, key, sight->activity, sight->where);
	nccl_jobs__set_wait(jobs, key, sight->waits);
}

static void tell_look(struct nccl_jobs *jobs, const struct nccl_process_key *key,
		      const struct sight *sight)
{
	nccl_jobs__add_look(jobs, key, sight->activity, sight->where, sight->waits);
}

/* Returns whether anything could be looked at. */
static bool look_at(struct nccl_looks *looks, const struct chosen *chosen, tell_fn *tell)
{
	struct dump *dump = looker__look(looks->looker, chosen->pids, chosen->count);
	struct sight sight;

	if (!dump)
		return false;
	for (size_t i = 0; i < dump->count; i++) {
		for (size_t j = 0; j < chosen->count; j++) {
			if (dump->processes[i].process->pid != chosen->pids[j] ||
			    !see(looks, &chosen->keys[j], &dump->processes[i], &sight))
				continue;
			tell(looks->jobs, &chosen->keys[j], &sight);
			free(sight.where);
			free(sight.waits);
		}
	}
	dump__free(dump);
	return true;
}

static bool has_hang(const struct nccl_findings *findings)
{
	return findings->count && findings->items[0].verdict == NCCL_HANG;
}

/* Whether another rank, which has come further, waits for the GPU now. */
static bool is_waited_for(const struct nccl_comm *comm, const struct nccl_rank *rank)
{
	const struct nccl_rank *other;

	for (size_t i = 0; (other = nccl_comm__rank(comm, i)); i++)
		if (other->sequence > rank->sequence && other->process->waiting_since_ns)
			return true;
	return false;
}

/* Ranks that come late often, at a moment when they are late. */
static void choose_late(struct chosen *chosen, const struct nccl_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct nccl_finding *finding = &findings->items[i];

		for (size_t j = 0; finding->verdict == NCCL_STRAGGLER && j < finding->rank_count;
		     j++)
			if (finding->ranks[j]->process->looks < LATE_LOOKS &&
			    is_waited_for(finding->comm, finding->ranks[j]))
				choose(chosen, finding->ranks[j]);
	}
}

static bool look_at_late(struct nccl_looks *looks, const struct nccl_findings *findings,
			 uint64_t now_ns)
{
	struct chosen chosen = {.count = 0};

	if (looks->looked_late_ns && now_ns < looks->looked_late_ns + LATE_EVERY_NS)
		return false;
	choose_late(&chosen, findings);
	if (!chosen.count)
		return false;
	looks->looked_late_ns = now_ns;
	return look_at(looks, &chosen, tell_look);
}

static bool look_at_hangs(struct nccl_looks *looks, const struct nccl_findings *findings,
			  uint64_t now_ns, uint64_t least_ns)
{
	struct chosen chosen = {.count = 0};

	if (!has_hang(findings) || (looks->looked_ns && now_ns < looks->looked_ns + least_ns))
		return false;
	looks->looked_ns = now_ns;
	choose_all(&chosen, findings);
	return look_at(looks, &chosen, tell_now);
}

bool nccl_looks__look(struct nccl_looks *looks, const struct nccl_findings *findings,
		      uint64_t now_ns, uint64_t least_ns)
{
	bool late = look_at_late(looks, findings, now_ns);

	return look_at_hangs(looks, findings, now_ns, least_ns) || late;
}

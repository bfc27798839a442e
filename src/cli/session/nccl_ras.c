// SPDX-License-Identifier: BSD-2-Clause
// When NCCL's RAS service is asked, see nccl_ras.h.
#include "cli/session/nccl_ras.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

#define MOST_PROCESSES 4096
#define MOST_AT_A_TIME 8 /* processes that are asked of those found together */
#define MOST_OPINIONS 64 /* questions about hangs */
#define HOST_SIZE 64

/* About a hang. */
struct question {
	struct nccl_finding_key key;
	uint32_t comm; /* its number */
	bool asked;
	bool has_opinion;
	struct ras_opinion opinion;
	char hosts[RAS_BLAMED][HOST_SIZE]; /* which outlive the answer */
};

struct nccl_ras {
	struct ras_connector *connector;
	struct ras *ras;
	struct nccl_jobs *jobs;
	const struct log *log;
	/* those with something unknown; those before `done` were asked, or will not be */
	struct nccl_process_key *processes;
	size_t process_count, begin, done; /* of the latest ones */
	unsigned int asked;		   /* of the latest ones */
	struct question *questions;	   /* MOST_OPINIONS */
	size_t question_count;
	struct question *current; /* being asked */
	bool silent;		  /* a service did not answer in time */
};

struct nccl_ras *nccl_ras__new(struct event_base *loop, struct ras_connector *connector,
			       struct memory_reader *memory, struct nccl_jobs *jobs,
			       const struct log *log)
{
	struct nccl_ras *ras = calloc(1, sizeof(*ras));

	if (!ras) {
		ras_connector__free(connector);
		return NULL;
	}
	ras->connector = connector;
	ras->jobs = jobs;
	ras->log = log;
	ras->ras = ras__new(loop, connector, memory);
	ras->questions = calloc(MOST_OPINIONS, sizeof(*ras->questions));
	if (ras->ras && ras->questions)
		return ras;
	nccl_ras__free(ras);
	return NULL;
}

void nccl_ras__free(struct nccl_ras *ras)
{
	if (!ras)
		return;
	ras__free(ras->ras);
	ras_connector__free(ras->connector);
	free(ras->processes);
	free(ras->questions);
	free(ras);
}

static void ask_next(struct nccl_ras *ras);

/* --- communicators --- */

/* Whether something about the process is still unknown. */
static bool has_unknown(const struct nccl_jobs *jobs, const struct nccl_process_key *key)
{
	const struct nccl_comm *comm = NULL;

	while ((comm = nccl_jobs__next(jobs, comm))) {
		const struct nccl_rank *rank = comm->known ? NULL : nccl_comm__rank(comm, 0);

		if (rank && rank->state < NCCL_RANK_DESTROYED &&
		    rank->process->key.pid == key->pid &&
		    rank->process->key.start_ns == key->start_ns)
			return true;
	}
	return false;
}

/* An answer is also about the others that share its service. */
static void on_identified(void *arg, int ret, const struct ras_answer *answer,
			  const struct error *err)
{
	struct nccl_ras *ras = arg;
	const struct nccl_process_key asked = ras->processes[ras->done - 1];

	if (ret)
		log__warn(ras->log, "%s", err->text);
	else
		ras__identify(ras->ras, ras->jobs, &asked, answer, ras->processes + ras->begin,
			      ras->process_count - ras->begin, clock__boot_ns());
	/* Others would cost as much time. */
	if (ret == -ETIMEDOUT)
		ras->done = ras->process_count;
	ask_next(ras);
}

/* False: there is nothing to ask. */
static bool ask_process(struct nccl_ras *ras)
{
	while (ras->done < ras->process_count && ras->asked < MOST_AT_A_TIME) {
		const struct nccl_process_key *key = &ras->processes[ras->done++];

		if (!has_unknown(ras->jobs, key))
			continue;
		ras->asked++;
		ras__ask(ras->ras, key->pid, on_identified, ras);
		return true;
	}
	ras->done = ras->process_count;
	return false;
}

static bool was_found(const struct nccl_ras *ras, const struct nccl_process_key *key)
{
	for (size_t i = 0; i < ras->process_count; i++)
		if (ras->processes[i].pid == key->pid &&
		    ras->processes[i].start_ns == key->start_ns)
			return true;
	return false;
}

/* Only one rank is known of a communicator whose hash is unknown. */
static void find_processes(struct nccl_ras *ras)
{
	const struct nccl_comm *comm = NULL;

	ras->begin = ras->process_count;
	ras->asked = 0;
	while ((comm = nccl_jobs__next(ras->jobs, comm))) {
		const struct nccl_rank *rank = comm->known ? NULL : nccl_comm__rank(comm, 0);

		if (!rank || rank->state >= NCCL_RANK_DESTROYED || rank->process->ended ||
		    ras->process_count == MOST_PROCESSES || was_found(ras, &rank->process->key))
			continue;
		if (ARRAY_APPEND(ras->processes, ras->process_count, rank->process->key))
			return;
	}
}

void nccl_ras__identify(struct nccl_ras *ras)
{
	if (ras->silent || ras__is_busy(ras->ras))
		return;
	if (ras->done == ras->process_count)
		find_processes(ras);
	ask_next(ras);
}

/* --- hangs --- */

/* The process of a rank that lives. NULL: none. */
static const struct nccl_process *process_of(const struct nccl_comm *comm)
{
	const struct nccl_rank *rank;

	for (size_t i = 0; (rank = nccl_comm__rank(comm, i)); i++)
		if (!rank->process->ended && rank->process->activity != NCCL_STOPPED &&
		    rank->process->activity != NCCL_TRACED)
			return rank->process;
	return NULL;
}

/* NULL: it has gone meanwhile, or NCCL does not know it. */
static const struct nccl_comm *comm_of(const struct nccl_ras *ras, const struct question *question)
{
	const struct nccl_comm *comm = NULL;

	while ((comm = nccl_jobs__next(ras->jobs, comm)))
		if (comm->number == question->comm)
			return comm->known ? comm : NULL;
	return NULL;
}

static void keep(struct question *question, const struct ras_opinion *opinion)
{
	question->opinion = *opinion;
	question->has_opinion = true;
	for (size_t i = 0; i < opinion->blamed_count; i++) {
		const char *host = opinion->blamed[i].host;

		memcpy(question->hosts[i], host, strnlen(host, HOST_SIZE - 1));
		question->opinion.blamed[i].host = question->hosts[i];
	}
}

static void on_opinion(void *arg, int ret, const struct ras_answer *answer, const struct error *err)
{
	struct nccl_ras *ras = arg;
	const struct nccl_comm *comm = comm_of(ras, ras->current);
	struct ras_opinion opinion;

	ras->silent = ret == -ETIMEDOUT;
	if (ret)
		log__warn(ras->log, "%s", err->text);
	else if (comm && ras_facts__judge(answer, comm, &opinion))
		keep(ras->current, &opinion);
	ask_next(ras);
}

/* False: there is nothing to ask. */
static bool ask_question(struct nccl_ras *ras)
{
	for (size_t i = 0; i < ras->question_count; i++) {
		struct question *question = &ras->questions[i];
		const struct nccl_comm *comm = question->asked ? NULL : comm_of(ras, question);
		const struct nccl_process *process = comm ? process_of(comm) : NULL;

		question->asked = true;
		if (!process)
			continue;
		ras->current = question;
		ras__ask(ras->ras, process->key.pid, on_opinion, ras);
		return true;
	}
	return false;
}

static void ask_next(struct nccl_ras *ras)
{
	if (!ras->silent && !ask_question(ras))
		ask_process(ras);
}

const struct ras_opinion *nccl_ras__opinion(struct nccl_ras *ras,
					    const struct nccl_finding *finding)
{
	const struct nccl_finding_key key = nccl_finding__key(finding);

	for (size_t i = 0; i < ras->question_count; i++)
		if (nccl_finding_key__equal(&ras->questions[i].key, &key))
			return ras->questions[i].has_opinion ? &ras->questions[i].opinion : NULL;
	if (ras->question_count == MOST_OPINIONS)
		return NULL;
	ras->questions[ras->question_count++] =
		(struct question){.key = key, .comm = finding->comm->number};
	if (!ras__is_busy(ras->ras))
		ask_next(ras);
	return NULL;
}

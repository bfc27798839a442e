// SPDX-License-Identifier: BSD-2-Clause
// When NCCL's RAS service is asked, see nccl_ras.h.
#include "cli/session/nccl_ras.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MOST_ASKED 4096	 /* processes */
#define MOST_OPINIONS 64 /* questions about hangs */
#define HOST_SIZE 64

struct nccl_ras {
	struct ras_connector *connector;
	struct ras *ras;
	struct nccl_jobs *jobs;
	const struct log *log;
	struct nccl_process_key *asked;
	size_t asked_count;
	unsigned int opinions; /* asked for so far */
	bool silent;	       /* a service did not answer in time */
};

/* An opinion with the names of its hosts, which outlives the answer that it comes from. */
struct kept_opinion {
	struct ras_opinion opinion;
	char hosts[RAS_BLAMED][HOST_SIZE];
};

struct nccl_ras *nccl_ras__new(struct ras_connector *connector, struct memory_reader *memory,
			       struct nccl_jobs *jobs, const struct log *log)
{
	struct nccl_ras *ras = calloc(1, sizeof(*ras));

	if (!ras) {
		ras_connector__free(connector);
		return NULL;
	}
	ras->connector = connector;
	ras->jobs = jobs;
	ras->log = log;
	ras->ras = ras__new(connector, memory, log);
	if (ras->ras)
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
	free(ras->asked);
	free(ras);
}

/* --- communicators --- */

static bool was_asked(const struct nccl_ras *ras, const struct nccl_process_key *key)
{
	for (size_t i = 0; i < ras->asked_count; i++)
		if (ras->asked[i].pid == key->pid && ras->asked[i].start_ns == key->start_ns)
			return true;
	return false;
}

void nccl_ras__identify(struct nccl_ras *ras, uint64_t now_ns)
{
	const struct nccl_comm *comm = NULL;
	size_t before = ras->asked_count;

	/* Only one rank is known of a communicator whose hash is unknown. */
	while (!ras->silent && (comm = nccl_jobs__next(ras->jobs, comm))) {
		const struct nccl_rank *rank = comm->known ? NULL : nccl_comm__rank(comm, 0);

		if (!rank || rank->state >= NCCL_RANK_DESTROYED || rank->process->ended ||
		    ras->asked_count == MOST_ASKED || was_asked(ras, &rank->process->key))
			continue;
		if (ARRAY_APPEND(ras->asked, ras->asked_count, rank->process->key))
			return;
	}
	if (ras->asked_count > before)
		ras__identify(ras->ras, ras->jobs, ras->asked + before, ras->asked_count - before,
			      now_ns);
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

static struct ras_opinion *keep(const struct ras_opinion *opinion)
{
	struct kept_opinion *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	kept->opinion = *opinion;
	for (size_t i = 0; i < opinion->blamed_count; i++) {
		const char *host = opinion->blamed[i].host;

		memcpy(kept->hosts[i], host, strnlen(host, HOST_SIZE - 1));
		kept->opinion.blamed[i].host = kept->hosts[i];
	}
	return &kept->opinion;
}

struct ras_opinion *nccl_ras__opinion(struct nccl_ras *ras, const struct nccl_comm *comm)
{
	const struct nccl_process *process = comm->known ? process_of(comm) : NULL;
	struct ras_opinion opinion, *kept = NULL;
	struct ras_answer *answer = NULL;
	struct error err;
	int ret;

	if (!process || ras->silent || ras->opinions == MOST_OPINIONS)
		return NULL;
	ras->opinions++;
	ret = ras__ask(ras->ras, process->key.pid, &answer, &err);
	ras->silent = ret == -ETIMEDOUT;
	if (ret)
		log__warn(ras->log, "%s", err.text);
	else if (ras_facts__judge(answer, comm, &opinion))
		kept = keep(&opinion);
	ras_answer__free(answer);
	return kept;
}

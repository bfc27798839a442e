// SPDX-License-Identifier: BSD-2-Clause
// What an answer of RAS adds, see ras_facts.h.
#include "nccl/ras_facts.h"

#include "nccl/comm_memory.h"

static bool is_process(const struct nccl_process_key *one, const struct nccl_process_key *other)
{
	return one->pid == other->pid && one->start_ns == other->start_ns && one->uid == other->uid;
}

/* The address of the only communicator of a process that is not known; 0: none, or several. */
static uint64_t only_unknown(const struct nccl_jobs *jobs, const struct nccl_process_key *key)
{
	const struct nccl_comm *comm = NULL;
	uint64_t handle = 0;

	while ((comm = nccl_jobs__next(jobs, comm))) {
		const struct nccl_rank *rank = nccl_comm__rank(comm, 0);

		if (comm->known || !rank || rank->state >= NCCL_RANK_DESTROYED ||
		    !is_process(&rank->process->key, key))
			continue;
		if (handle)
			return 0;
		handle = rank->handle;
	}
	return handle;
}

/* Whether the process has a known communicator of this hash already. */
static bool has_comm(const struct nccl_jobs *jobs, const struct nccl_process_key *key,
		     uint64_t hash)
{
	const struct nccl_comm *comm = NULL;
	const struct nccl_rank *rank;

	while ((comm = nccl_jobs__next(jobs, comm)))
		for (size_t i = 0;
		     comm->known && comm->hash == hash && (rank = nccl_comm__rank(comm, i)); i++)
			if (is_process(&rank->process->key, key))
				return true;
	return false;
}

/* The only communicator of a process that RAS knows and `jobs` does not. False: none, several. */
static bool only_new(const struct nccl_jobs *jobs, const struct ras_answer *answer,
		     const struct ras_process *process, ras_is_local_fn is_local, void *arg,
		     struct comm_facts *facts)
{
	size_t count, found = 0;
	const struct ras_comm *comms = ras_answer__comms(answer, &count);

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < comms[i].rank_count; j++) {
			const struct ras_rank *rank = &comms[i].ranks[j];

			if (rank->state != RAS_ANSWERS || rank->pid != process->inner_pid ||
			    !is_local(rank->host, arg) ||
			    has_comm(jobs, &process->key, comms[i].hash))
				continue;
			if (found++)
				return false;
			*facts = (struct comm_facts){
				.hash = comms[i].hash,
				.rank = rank->rank,
				.size = comms[i].size,
				.device = rank->device,
			};
		}
	}
	return found == 1;
}

size_t ras_facts__identify(struct nccl_jobs *jobs, const struct ras_answer *answer,
			   const struct ras_process *processes, size_t count,
			   ras_is_local_fn is_local, void *arg, uint64_t now_ns)
{
	size_t identified = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t handle = only_unknown(jobs, &processes[i].key);
		struct comm_facts facts;
		struct nccl_event event;

		if (!handle || !only_new(jobs, answer, &processes[i], is_local, arg, &facts))
			continue;
		event = comm_facts__event(&facts, &processes[i].key, handle, now_ns);
		nccl_jobs__feed(jobs, &event);
		identified++;
	}
	return identified;
}

static void blame(struct ras_opinion *opinion, const struct ras_rank *rank)
{
	if (opinion->blamed_count < RAS_BLAMED)
		opinion->blamed[opinion->blamed_count++] = *rank;
	opinion->blamed_total++;
}

bool ras_facts__judge(const struct ras_answer *answer, const struct nccl_comm *comm,
		      struct ras_opinion *opinion)
{
	const struct ras_comm *known =
		comm->known ? ras_answer__find(answer, comm->hash, comm->size) : NULL;

	*opinion = (struct ras_opinion){0};
	if (!known)
		return false;
	opinion->ranks = known->rank_count;
	for (size_t i = 0; i < known->rank_count; i++) {
		const struct ras_rank *rank = &known->ranks[i];

		if (rank->state != RAS_ANSWERS)
			blame(opinion, rank);
		else if (rank->collectives > opinion->collectives)
			opinion->collectives = rank->collectives;
		opinion->answering += rank->state == RAS_ANSWERS;
	}
	for (size_t i = 0; i < known->rank_count; i++)
		if (known->ranks[i].state == RAS_ANSWERS &&
		    known->ranks[i].collectives < opinion->collectives)
			blame(opinion, &known->ranks[i]);
	return true;
}

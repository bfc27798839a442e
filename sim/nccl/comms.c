// SPDX-License-Identifier: BSD-2-Clause
// The exported functions that make, describe and end communicators.
#include "nccl/identity.h"
#include "nccl/library.h"

#include <stdlib.h>
#include <string.h>

static ncclResult_t meet(const struct group_work *work)
{
	return comm__meet(work->comm);
}

static bool is_rank(int rank, int size)
{
	return size > 0 && size <= SIM_MOST_RANKS && rank >= 0 && rank < size;
}

static ncclResult_t init(ncclComm_t *out, const ncclUniqueId *id, struct truth *call,
			 const ncclConfig_t *config)
{
	struct group_work work = { .run = meet };

	if (!out || !is_rank(call->rank, call->size))
		return ncclInvalidArgument;
	*out = comm__open(call->hash, call->hash, call->rank, call->size, config);
	if (!*out)
		return ncclSystemError;
	(*out)->magic = identity__magic(id);
	call->comm = *out;
	if ((*out)->nonblocking)
		return ncclInProgress;
	work.comm = *out;
	return group__add(&work);
}

NCCL_CALL(GetVersion, (int *version))
{
	struct truth call = { .function = "GetVersion" };

	NCCL_RUN(call, version ? (*version = identity__version(), ncclSuccess) :
				 ncclInvalidArgument);
}

NCCL_CALL(GetUniqueId, (ncclUniqueId *id))
{
	struct truth call = { .function = "GetUniqueId" };

	NCCL_RUN(call, id ? (identity__make(id), ncclSuccess) : ncclInvalidArgument);
}

NCCL_CALL(CommInitRank, (ncclComm_t *comm, int nranks, ncclUniqueId id, int rank))
{
	struct truth call = { .function = "CommInitRank", .hash = identity__of_id(&id),
			      .rank = rank, .size = nranks };

	NCCL_RUN(call, init(comm, &id, &call, NULL));
}

NCCL_CALL(CommInitRankConfig, (ncclComm_t *comm, int nranks, ncclUniqueId id, int rank,
			       ncclConfig_t *config))
{
	struct truth call = { .function = "CommInitRankConfig", .hash = identity__of_id(&id),
			      .rank = rank, .size = nranks };

	NCCL_RUN(call, init(comm, &id, &call, config));
}

NCCL_CALL(CommInitRankScalable, (ncclComm_t *comm, int nranks, int rank, int nids,
				 ncclUniqueId *ids, ncclConfig_t *config))
{
	struct truth call = { .function = "CommInitRankScalable",
			      .hash = nids > 0 ? identity__of_id(ids) : 0, .rank = rank,
			      .size = nranks };

	NCCL_RUN(call, nids > 0 ? init(comm, ids, &call, config) : ncclInvalidArgument);
}

static ncclResult_t init_all(ncclComm_t *comms, int count, const int *devices)
{
	ncclUniqueId id;

	if (!comms || count <= 0 || count > SIM_MOST_RANKS)
		return ncclInvalidArgument;
	ncclGetUniqueId(&id);
	for (int rank = 0; rank < count; rank++) {
		comms[rank] = comm__open(identity__of_id(&id), identity__of_id(&id), rank, count,
					 NULL);
		if (!comms[rank])
			return ncclSystemError;
		comms[rank]->magic = identity__magic(&id);
		comms[rank]->device = devices ? devices[rank] : rank;
	}
	for (int rank = 0; rank < count; rank++)
		comm__meet(comms[rank]);
	return ncclSuccess;
}

NCCL_CALL(CommInitAll, (ncclComm_t *comms, int count, const int *devices))
{
	struct truth call = { .function = "CommInitAll", .size = count };

	NCCL_RUN(call, init_all(comms, count, devices));
}

static ncclResult_t split_now(const struct group_work *work)
{
	return comm__split(work->comm, work->color, work->key, work->child, work->config);
}

static ncclResult_t split(struct truth *call, ncclComm_t comm, ncclComm_t *child,
			  const ncclConfig_t *config)
{
	const struct group_work work = { .run = split_now, .comm = comm, .child = child,
					 .color = call->rank, .key = call->size,
					 .config = config };
	ncclResult_t result;

	if (!comm__is(comm) || !child)
		return ncclInvalidArgument;
	*child = NULL;
	result = group__add(&work);
	call->comm = *child;
	return result;
}

NCCL_CALL(CommSplit, (ncclComm_t comm, int color, int key, ncclComm_t *child,
		      ncclConfig_t *config))
{
	struct truth call = { .function = "CommSplit", .comm = comm, .rank = color, .size = key };

	NCCL_RUN(call, split(&call, comm, child, config));
}

static ncclResult_t shrink(struct truth *call, ncclComm_t comm, const int *excluded, int count,
			   ncclComm_t *child, const ncclConfig_t *config)
{
	uint64_t hash;
	int rank;

	if (!comm__is(comm) || !child || count < 0 || count >= comm->size || !excluded)
		return ncclInvalidArgument;
	rank = comm->rank;
	for (int i = 0; i < count; i++) {
		if (excluded[i] == comm->rank)
			return ncclInvalidUsage;
		rank -= excluded[i] < comm->rank;
	}
	hash = identity__of_shrink(comm->hash);
	*child = comm__open(hash, hash + ++comm->shrinks, rank, comm->size - count, config);
	if (!*child)
		return ncclSystemError;
	(*child)->magic = hash;
	call->comm = *child;
	return comm__meet(*child);
}

NCCL_CALL(CommShrink, (ncclComm_t comm, int *excluded, int count, ncclComm_t *child,
		       ncclConfig_t *config, int flags))
{
	struct truth call = { .function = "CommShrink", .comm = comm };

	(void)flags;
	NCCL_RUN(call, shrink(&call, comm, excluded, count, child, config));
}

/* New ranks have no communicator yet, and the id of ncclCommGetUniqueId. Others keep their rank. */
static ncclResult_t grow(struct truth *call, ncclComm_t comm, const ncclUniqueId *id,
			 ncclComm_t *child, const ncclConfig_t *config)
{
	bool is_new = !comm__is(comm);
	int rank = is_new ? call->rank : comm->rank;
	uint64_t magic, hash;

	if (!child || (is_new ? !id : call->rank != -1) || !is_rank(rank, call->size))
		return ncclInvalidArgument;
	magic = is_new ? identity__magic(id) :
			 identity__grown_magic(comm->magic, (int)++comm->splits);
	hash = identity__of_grow(magic, call->size);
	*child = comm__open(hash, hash, rank, call->size, config);
	if (!*child)
		return ncclSystemError;
	(*child)->magic = magic;
	call->comm = *child;
	return comm__meet(*child);
}

NCCL_CALL(CommGrow, (ncclComm_t comm, int nranks, const ncclUniqueId *id, int rank,
		     ncclComm_t *child, ncclConfig_t *config))
{
	struct truth call = { .function = "CommGrow", .comm = comm, .rank = rank,
			      .size = nranks };

	NCCL_RUN(call, grow(&call, comm, id, child, config));
}

/* For the parent's next grow. */
static void make_for_grow(const struct ncclComm *comm, ncclUniqueId *id)
{
	identity__make_for(id, identity__grown_magic(comm->magic, (int)comm->splits + 1));
}

NCCL_CALL(CommGetUniqueId, (ncclComm_t comm, ncclUniqueId *id))
{
	struct truth call = { .function = "CommGetUniqueId", .comm = comm };

	NCCL_RUN(call, comm__is(comm) && id ? (make_for_grow(comm, id), ncclSuccess) :
					      ncclInvalidArgument);
}

static ncclResult_t close_comm(ncclComm_t comm)
{
	if (!comm__is(comm))
		return comm ? ncclInvalidArgument : ncclSuccess;
	comm__close(comm);
	return ncclSuccess;
}

/* Real NCCL waits for the communicator's work when it ends in order. */
static ncclResult_t finalize(ncclComm_t comm)
{
	return comm__is(comm) ? ncclSuccess : ncclInvalidArgument;
}

#define ENDS(name, ...)										\
	NCCL_CALL(name, (ncclComm_t comm))							\
	{											\
		struct truth call = { .function = #name, .comm = comm };			\
												\
		NCCL_RUN(call, __VA_ARGS__);							\
	}
ENDS(CommFinalize, finalize(comm))
ENDS(CommDestroy, close_comm(comm))
ENDS(CommAbort, close_comm(comm))
ENDS(CommResume, finalize(comm))

static ncclResult_t async_error(ncclComm_t comm, ncclResult_t *error)
{
	if (!comm__is(comm) || !error)
		return ncclInvalidArgument;
	*error = faults__inject("AsyncError");
	if (!*error && !comm__has_met(comm))
		*error = ncclInProgress;
	return ncclSuccess;
}

NCCL_CALL(CommGetAsyncError, (ncclComm_t comm, ncclResult_t *error))
{
	struct truth call = { .function = "CommGetAsyncError", .comm = comm };

	NCCL_RUN(call, async_error(comm, error));
}

#define GETTER(name, member)									\
	NCCL_CALL(name, (ncclComm_t comm, int *out))					\
	{											\
		struct truth call = { .function = #name, .comm = comm };			\
												\
		NCCL_RUN(call, comm__is(comm) && out ? (*out = comm->member, ncclSuccess) :	\
						       ncclInvalidArgument);			\
	}
GETTER(CommCount, size)
GETTER(CommUserRank, rank)
GETTER(CommCuDevice, device)

#define NOTHING(name, parameters, unused)							\
	NCCL_CALL(name, parameters)								\
	{											\
		struct truth call = { .function = #name, .comm = comm };			\
												\
		unused;										\
		NCCL_RUN(call, comm__is(comm) ? ncclSuccess : ncclInvalidArgument);		\
	}
NOTHING(CommRevoke, (ncclComm_t comm, int flags), (void)flags)
NOTHING(CommSuspend, (ncclComm_t comm, int flags), (void)flags)
NOTHING(CommMemStats, (ncclComm_t comm, int stat, uint64_t *value),
	((void)stat, (void)(value ? *value = 0 : 0)))
NOTHING(CommRegister, (ncclComm_t comm, void *buffer, size_t size, void **handle),
	((void)size, (void)(handle ? *handle = buffer : 0)))
NOTHING(CommDeregister, (ncclComm_t comm, void *handle), (void)handle)
NOTHING(CommWindowRegister, (ncclComm_t comm, void *buffer, size_t size, ncclWindow_t *window,
			     int flags),
	((void)size, (void)flags, (void)(window ? *window = buffer : 0)))
NOTHING(CommWindowDeregister, (ncclComm_t comm, ncclWindow_t window), (void)window)
NOTHING(WinGetUserPtr, (ncclComm_t comm, ncclWindow_t window, void **pointer),
	(void)(pointer ? *pointer = window : 0))
NOTHING(RedOpCreatePreMulSum, (ncclRedOp_t *op, void *scalar, ncclDataType_t datatype,
			       ncclScalarResidence_t residence, ncclComm_t comm),
	((void)scalar, (void)datatype, (void)residence, (void)(op ? *op = 5 : 0)))
NOTHING(RedOpDestroy, (ncclRedOp_t op, ncclComm_t comm), (void)op)

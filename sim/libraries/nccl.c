// SPDX-License-Identifier: BSD-2-Clause
// libnccl.so.2: communicators, see handle.h.
#include "libraries/handle.h"

#include <string.h>

#define UNHANDLED_CUDA_ERROR 1
#define INVALID_ARGUMENT 4
#define IN_PROGRESS 7
#define NO_COLOR (-1)

struct unique_id {
	char bytes[128];
};

LIBRARY_EXPORT int ncclGetUniqueId(struct unique_id *id);
LIBRARY_EXPORT int ncclCommInitRank(struct handle **comm, int nranks, struct unique_id id,
				    int rank);
LIBRARY_EXPORT int ncclCommInitRankConfig(struct handle **comm, int nranks, struct unique_id id,
					  int rank, void *config);
LIBRARY_EXPORT int ncclCommInitAll(struct handle **comms, int count, const int *devices);
LIBRARY_EXPORT int ncclCommSplit(struct handle *comm, int color, int key, struct handle **new_comm,
				 void *config);
LIBRARY_EXPORT int ncclCommDestroy(struct handle *comm);
LIBRARY_EXPORT int ncclCommAbort(struct handle *comm);

int ncclGetUniqueId(struct unique_id *id)
{
	memset(id, 7, sizeof(*id));
	return 0;
}

static int make(struct handle **comm)
{
	*comm = handle__new(SIM_NCCL, 0);
	return *comm ? 0 : UNHANDLED_CUDA_ERROR;
}

int ncclCommInitRank(struct handle **comm, int nranks, struct unique_id id, int rank)
{
	return id.bytes[0] != 7 || rank >= nranks ? INVALID_ARGUMENT : make(comm);
}

/* With a configuration, the communicator does not block: it is begun, and the call says so. */
int ncclCommInitRankConfig(struct handle **comm, int nranks, struct unique_id id, int rank,
			   void *config)
{
	int ret = ncclCommInitRank(comm, nranks, id, rank);

	return !ret && config ? IN_PROGRESS : ret;
}

int ncclCommInitAll(struct handle **comms, int count, const int *devices)
{
	int ret = 0;

	(void)devices;
	for (int i = 0; i < count && !ret; i++)
		ret = make(&comms[i]);
	return ret;
}

int ncclCommSplit(struct handle *comm, int color, int key, struct handle **new_comm, void *config)
{
	(void)key;
	(void)config;
	*new_comm = NULL;
	if (!comm)
		return INVALID_ARGUMENT;
	return color == NO_COLOR ? 0 : make(new_comm);
}

int ncclCommDestroy(struct handle *comm)
{
	if (!comm)
		return INVALID_ARGUMENT;
	handle__free(comm);
	return 0;
}

int ncclCommAbort(struct handle *comm)
{
	if (!comm)
		return INVALID_ARGUMENT;
	handle__free(comm);
	return 0;
}

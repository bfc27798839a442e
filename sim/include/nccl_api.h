/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of NCCL that the simulated libnccl.so.2 exports: those of version 2.10 and all that
 * came until 2.29. Each has a second name, pncclX, as in the real library.
 */
#ifndef NCCL_API_H
#define NCCL_API_H

#include "cuda_api.h"

#define NCCL_UNIQUE_ID_BYTES 128

typedef struct ncclComm *ncclComm_t;
typedef struct {
	char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;
typedef int ncclResult_t, ncclDataType_t, ncclRedOp_t, ncclScalarResidence_t;
typedef void *ncclWindow_t;

enum {
	ncclSuccess,
	ncclUnhandledCudaError,
	ncclSystemError,
	ncclInternalError,
	ncclInvalidArgument,
	ncclInvalidUsage,
	ncclRemoteError,
	ncclInProgress,
};

#define NCCL_CONFIG_MAGIC 0xcafebeefu
#define NCCL_SPLIT_NOCOLOR (-1)

/* As of 2.28; older ones are shorter, which `size` says. */
typedef struct {
	size_t size;
	unsigned int magic, version;
	int blocking, cgaClusterSize, minCTAs, maxCTAs;
	const char *netName;
	int splitShare, trafficClass;
	const char *commName;
	int collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs, nChannelsPerNetPeer,
		nvlinkCentricSched;
} ncclConfig_t;

typedef struct {
	size_t size;
	unsigned int magic, version;
	float estimatedTime;
} ncclSimInfo_t;

#define NCCL_OPERANDS const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype
/* Y(name, parameters): all that return ncclResult_t. */
#define NCCL_FUNCTIONS(Y)									\
	Y(GetVersion, (int *version))								\
	Y(GetUniqueId, (ncclUniqueId *id))							\
	Y(CommInitRank, (ncclComm_t *comm, int nranks, ncclUniqueId id, int rank))		\
	Y(CommInitRankConfig, (ncclComm_t *comm, int nranks, ncclUniqueId id, int rank,		\
			       ncclConfig_t *config))						\
	Y(CommInitRankScalable, (ncclComm_t *comm, int nranks, int rank, int nids,		\
				 ncclUniqueId *ids, ncclConfig_t *config))			\
	Y(CommInitAll, (ncclComm_t *comms, int count, const int *devices))			\
	Y(CommSplit, (ncclComm_t comm, int color, int key, ncclComm_t *child,			\
		      ncclConfig_t *config))							\
	Y(CommShrink, (ncclComm_t comm, int *excluded, int count, ncclComm_t *child,		\
		       ncclConfig_t *config, int flags))					\
	Y(CommGrow, (ncclComm_t comm, int nranks, const ncclUniqueId *id, int rank,		\
		     ncclComm_t *child, ncclConfig_t *config))					\
	Y(CommGetUniqueId, (ncclComm_t comm, ncclUniqueId *id))					\
	Y(CommFinalize, (ncclComm_t comm))							\
	Y(CommDestroy, (ncclComm_t comm))							\
	Y(CommAbort, (ncclComm_t comm))								\
	Y(CommRevoke, (ncclComm_t comm, int flags))						\
	Y(CommSuspend, (ncclComm_t comm, int flags))						\
	Y(CommResume, (ncclComm_t comm))							\
	Y(CommMemStats, (ncclComm_t comm, int stat, uint64_t *value))				\
	Y(CommGetAsyncError, (ncclComm_t comm, ncclResult_t *error))				\
	Y(CommCount, (ncclComm_t comm, int *count))					\
	Y(CommUserRank, (ncclComm_t comm, int *rank))					\
	Y(CommCuDevice, (ncclComm_t comm, int *device))					\
	Y(CommRegister, (ncclComm_t comm, void *buffer, size_t size, void **handle))	\
	Y(CommDeregister, (ncclComm_t comm, void *handle))				\
	Y(CommWindowRegister, (ncclComm_t comm, void *buffer, size_t size, ncclWindow_t *window, \
			       int flags))							\
	Y(CommWindowDeregister, (ncclComm_t comm, ncclWindow_t window))				\
	Y(WinGetUserPtr, (ncclComm_t comm, ncclWindow_t window, void **pointer))		\
	Y(MemAlloc, (void **out, size_t size))							\
	Y(MemFree, (void *pointer))								\
	Y(GroupStart, (void))									\
	Y(GroupEnd, (void))									\
	Y(GroupSimulateEnd, (ncclSimInfo_t *info))						\
	Y(RedOpCreatePreMulSum, (ncclRedOp_t *op, void *scalar, ncclDataType_t datatype,	\
				 ncclScalarResidence_t residence, ncclComm_t comm))		\
	Y(RedOpDestroy, (ncclRedOp_t op, ncclComm_t comm))					\
	Y(AllReduce, (NCCL_OPERANDS, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream))	\
	Y(Broadcast, (NCCL_OPERANDS, int root, ncclComm_t comm, cudaStream_t stream))		\
	Y(Bcast, (void *buffer, size_t count, ncclDataType_t datatype, int root,		\
		  ncclComm_t comm, cudaStream_t stream))					\
	Y(Reduce, (NCCL_OPERANDS, ncclRedOp_t op, int root, ncclComm_t comm,			\
		   cudaStream_t stream))							\
	Y(AllGather, (NCCL_OPERANDS, ncclComm_t comm, cudaStream_t stream))			\
	Y(ReduceScatter, (NCCL_OPERANDS, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream))	\
	Y(AlltoAll, (NCCL_OPERANDS, ncclComm_t comm, cudaStream_t stream))			\
	Y(Gather, (NCCL_OPERANDS, int root, ncclComm_t comm, cudaStream_t stream))		\
	Y(Scatter, (NCCL_OPERANDS, int root, ncclComm_t comm, cudaStream_t stream))		\
	Y(Send, (const void *buffer, size_t count, ncclDataType_t datatype, int peer,		\
		 ncclComm_t comm, cudaStream_t stream))						\
	Y(Recv, (void *buffer, size_t count, ncclDataType_t datatype, int peer,			\
		 ncclComm_t comm, cudaStream_t stream))						\
	Y(PutSignal, (const void *buffer, size_t count, ncclDataType_t datatype, int peer,	\
		      ncclWindow_t window, size_t offset, int signal, int context,		\
		      unsigned int flags, ncclComm_t comm, cudaStream_t stream))		\
	Y(Signal, (int peer, int signal, int context, unsigned int flags, ncclComm_t comm,	\
		   cudaStream_t stream))							\
	Y(WaitSignal, (int count, void *descriptors, ncclComm_t comm, cudaStream_t stream))

#define NCCL_DECLARE(name, parameters)								\
	ncclResult_t nccl##name parameters;							\
	ncclResult_t pnccl##name parameters;
NCCL_FUNCTIONS(NCCL_DECLARE)
#undef NCCL_DECLARE

const char *ncclGetErrorString(ncclResult_t result);
const char *pncclGetErrorString(ncclResult_t result);
const char *ncclGetLastError(ncclComm_t comm);
const char *pncclGetLastError(ncclComm_t comm);
void ncclResetDebugInit(void);
void pncclResetDebugInit(void);

#endif

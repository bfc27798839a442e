// SPDX-License-Identifier: BSD-2-Clause
// The exported functions for work, groups, memory and texts.
#include "nccl/library.h"

static bool is_captured(cudaStream_t stream)
{
	CUstreamCaptureStatus status = 0;

	return !cuStreamIsCapturing(stream, &status) && status;
}

static ncclResult_t collective_now(const struct group_work *work)
{
	comm__collective(work->comm, work->stream);
	return ncclSuccess;
}

static ncclResult_t message_now(const struct group_work *work)
{
	comm__message(work->comm, work->receives, work->peer, work->stream);
	return ncclSuccess;
}

/* A captured collective runs with its graph, which here takes no notice of other ranks. */
static ncclResult_t collective(const struct truth *call, ncclComm_t comm, cudaStream_t stream)
{
	const struct group_work work = { .run = collective_now, .comm = comm, .stream = stream };

	if (!comm__is(comm) || call->root < 0 || call->root >= comm->size)
		return ncclInvalidArgument;
	if (call->captured)
		return ncclSuccess;
	return group__add(&work);
}

static ncclResult_t message(const struct truth *call, bool receives, ncclComm_t comm,
			    cudaStream_t stream)
{
	const struct group_work work = { .run = message_now, .comm = comm, .stream = stream,
					 .receives = receives, .peer = call->root };

	if (!comm__is(comm) || call->root < 0 || call->root >= comm->size)
		return ncclInvalidArgument;
	if (call->captured)
		return ncclSuccess;
	return group__add(&work);
}

#define COLLECTIVE(name, parameters, its_op, its_root)						\
	NCCL_CALL(name, parameters)								\
	{											\
		/* The real one loads commHash, too, for its NVTX range. */			\
		struct truth call = { .function = #name, .comm = comm, .count = count,		\
				      .hash = comm__is(comm) ? comm->hash : 0,			\
				      .type = datatype, .op = (its_op), .root = (its_root),	\
				      .captured = is_captured(stream) };			\
												\
		(void)sendbuff;									\
		(void)recvbuff;									\
		NCCL_RUN(call, collective(&call, comm, stream));				\
	}
COLLECTIVE(AllReduce, (NCCL_OPERANDS, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream), op, 0)
COLLECTIVE(Broadcast, (NCCL_OPERANDS, int root, ncclComm_t comm, cudaStream_t stream), 0, root)
COLLECTIVE(Reduce, (NCCL_OPERANDS, ncclRedOp_t op, int root, ncclComm_t comm,
		    cudaStream_t stream), op, root)
COLLECTIVE(AllGather, (NCCL_OPERANDS, ncclComm_t comm, cudaStream_t stream), 0, 0)
COLLECTIVE(ReduceScatter, (NCCL_OPERANDS, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream),
	   op, 0)
COLLECTIVE(AlltoAll, (NCCL_OPERANDS, ncclComm_t comm, cudaStream_t stream), 0, 0)
COLLECTIVE(Gather, (NCCL_OPERANDS, int root, ncclComm_t comm, cudaStream_t stream), 0, root)
COLLECTIVE(Scatter, (NCCL_OPERANDS, int root, ncclComm_t comm, cudaStream_t stream), 0, root)

/* As the real one does, it calls the newer function. */
NCCL_CALL(Bcast, (void *buffer, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
		  cudaStream_t stream))
{
	struct truth call = { .function = "Bcast", .comm = comm, .count = count,
			      .type = datatype, .root = root, .captured = is_captured(stream) };

	NCCL_RUN(call, ncclBroadcast(buffer, buffer, count, datatype, root, comm, stream));
}

NCCL_CALL(Send, (const void *buffer, size_t count, ncclDataType_t datatype, int peer,
		 ncclComm_t comm, cudaStream_t stream))
{
	struct truth call = { .function = "Send", .comm = comm, .count = count, .type = datatype,
			      .root = peer, .captured = is_captured(stream) };

	(void)buffer;
	NCCL_RUN(call, message(&call, false, comm, stream));
}

NCCL_CALL(Recv, (void *buffer, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
		 cudaStream_t stream))
{
	struct truth call = { .function = "Recv", .comm = comm, .count = count, .type = datatype,
			      .root = peer, .captured = is_captured(stream) };

	(void)buffer;
	NCCL_RUN(call, message(&call, true, comm, stream));
}

NCCL_CALL(PutSignal, (const void *buffer, size_t count, ncclDataType_t datatype, int peer,
		      ncclWindow_t window, size_t offset, int signal, int context,
		      unsigned int flags, ncclComm_t comm, cudaStream_t stream))
{
	struct truth call = { .function = "PutSignal", .comm = comm, .count = count,
			      .type = datatype, .root = peer };

	(void)buffer, (void)window, (void)offset, (void)signal, (void)context, (void)flags;
	(void)stream;
	NCCL_RUN(call, comm__is(comm) ? ncclSuccess : ncclInvalidArgument);
}

NCCL_CALL(Signal, (int peer, int signal, int context, unsigned int flags, ncclComm_t comm,
		   cudaStream_t stream))
{
	struct truth call = { .function = "Signal", .comm = comm, .root = peer };

	(void)signal, (void)context, (void)flags, (void)stream;
	NCCL_RUN(call, comm__is(comm) ? ncclSuccess : ncclInvalidArgument);
}

NCCL_CALL(WaitSignal, (int count, void *descriptors, ncclComm_t comm, cudaStream_t stream))
{
	struct truth call = { .function = "WaitSignal", .comm = comm };

	(void)count, (void)descriptors, (void)stream;
	NCCL_RUN(call, comm__is(comm) ? ncclSuccess : ncclInvalidArgument);
}

NCCL_CALL(GroupStart, (void))
{
	struct truth call = { .function = "GroupStart" };

	NCCL_RUN(call, (group__start(), ncclSuccess));
}

NCCL_CALL(GroupEnd, (void))
{
	struct truth call = { .function = "GroupEnd" };

	NCCL_RUN(call, group__end(true));
}

NCCL_CALL(GroupSimulateEnd, (ncclSimInfo_t *info))
{
	struct truth call = { .function = "GroupSimulateEnd" };

	if (info)
		info->estimatedTime = 0;
	NCCL_RUN(call, group__end(false));
}

NCCL_CALL(MemAlloc, (void **out, size_t size))
{
	struct truth call = { .function = "MemAlloc", .count = size };
	CUdeviceptr address = 0;

	NCCL_RUN(call, !out ? ncclInvalidArgument :
		       cuMemAlloc(&address, size) ? ncclUnhandledCudaError :
		       (*out = (void *)(uintptr_t)address, ncclSuccess));
}

NCCL_CALL(MemFree, (void *pointer))
{
	struct truth call = { .function = "MemFree" };

	NCCL_RUN(call, cuMemFree((CUdeviceptr)(uintptr_t)pointer) ? ncclUnhandledCudaError :
								    ncclSuccess);
}

SIM_EXPORT const char *pncclGetErrorString(ncclResult_t result)
{
	static const char *const texts[] = {
		"no error", "unhandled cuda error", "unhandled system error", "internal error",
		"invalid argument", "invalid usage", "remote process exited or network error",
		"NCCL operation in progress",
	};

	SIM_FRAME();
	return (unsigned int)result < sizeof(texts) / sizeof(*texts) ? texts[result] :
								       "unknown result code";
}

SIM_EXPORT const char *pncclGetLastError(ncclComm_t comm)
{
	SIM_FRAME();
	(void)comm;
	return "";
}

SIM_EXPORT void pncclResetDebugInit(void)
{
	SIM_FRAME();
}

SIM_EXPORT const char *ncclGetErrorString(ncclResult_t result)
	__attribute__((weak, alias("pncclGetErrorString")));
SIM_EXPORT const char *ncclGetLastError(ncclComm_t comm)
	__attribute__((weak, alias("pncclGetLastError")));
SIM_EXPORT void ncclResetDebugInit(void) __attribute__((weak, alias("pncclResetDebugInit")));

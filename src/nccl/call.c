// SPDX-License-Identifier: BSD-2-Clause
// The functions of NCCL that the judge is fed with, by symbol; see call.h.
#include "nccl/call.h"

#include <string.h>

#define NO NCCL_NO_WORD

/* clang-format off */
const struct nccl_call nccl_calls[] = {
	/* symbol, function, comm count datatype op root stream, size rank made_at id */
	{"ncclAllGather", NCCL_ALL_GATHER, 4, 2, 3, NO, NO, 5,
	 NO, NO, NO, NO},
	{"ncclAllReduce", NCCL_ALL_REDUCE, 5, 2, 3, 4, NO, 6,
	 NO, NO, NO, NO},
	{"ncclAlltoAll", NCCL_ALL_TO_ALL, 4, 2, 3, NO, NO, 5,
	 NO, NO, NO, NO},
	{"ncclBcast", NCCL_BCAST, 4, 1, 2, NO, 3, 5,
	 NO, NO, NO, NO},
	{"ncclBroadcast", NCCL_BROADCAST, 5, 2, 3, NO, 4, 6,
	 NO, NO, NO, NO},
	{"ncclCommAbort", NCCL_ABORT, 0, NO, NO, NO, NO, NO,
	 NO, NO, NO, NO},
	{"ncclCommDestroy", NCCL_DESTROY, 0, NO, NO, NO, NO, NO,
	 NO, NO, NO, NO},
	{"ncclCommFinalize", NCCL_FINALIZE, 0, NO, NO, NO, NO, NO,
	 NO, NO, NO, NO},
	{"ncclCommGetAsyncError", NCCL_GET_ASYNC_ERROR, 0, NO, NO, NO, NO, NO,
	 NO, NO, NO, NO},
	{"ncclCommGrow", NCCL_GROW, 0, NO, NO, NO, NO, NO,
	 1, 3, 4, NO},
	{"ncclCommInitAll", NCCL_INIT_ALL, NO, NO, NO, NO, NO, NO,
	 1, NO, 0, NO},
	{"ncclCommInitRank", NCCL_INIT_RANK, NO, NO, NO, NO, NO, NO,
	 1, 2, 0, 6},
	{"ncclCommInitRankConfig", NCCL_INIT_RANK, NO, NO, NO, NO, NO, NO,
	 1, 2, 0, 6},
	{"ncclCommInitRankScalable", NCCL_INIT_RANK, NO, NO, NO, NO, NO, NO,
	 1, 2, 0, NO},
	{"ncclCommShrink", NCCL_SHRINK, 0, NO, NO, NO, NO, NO,
	 NO, NO, 3, NO},
	{"ncclCommSplit", NCCL_SPLIT, 0, NO, NO, NO, NO, NO,
	 NO, NO, 3, NO},
	{"ncclGather", NCCL_GATHER, 5, 2, 3, NO, 4, 6,
	 NO, NO, NO, NO},
	{"ncclGroupEnd", NCCL_GROUP_END, NO, NO, NO, NO, NO, NO,
	 NO, NO, NO, NO},
	{"ncclGroupSimulateEnd", NCCL_GROUP_SIMULATE_END, NO, NO, NO, NO, NO, NO,
	 NO, NO, NO, NO},
	{"ncclGroupStart", NCCL_GROUP_START, NO, NO, NO, NO, NO, NO,
	 NO, NO, NO, NO},
	{"ncclRecv", NCCL_RECV, 4, 1, 2, NO, 3, 5,
	 NO, NO, NO, NO},
	{"ncclReduce", NCCL_REDUCE, 6, 2, 3, 4, 5, 7,
	 NO, NO, NO, NO},
	{"ncclReduceScatter", NCCL_REDUCE_SCATTER, 5, 2, 3, 4, NO, 6,
	 NO, NO, NO, NO},
	{"ncclScatter", NCCL_SCATTER, 5, 2, 3, NO, 4, 6,
	 NO, NO, NO, NO},
	{"ncclSend", NCCL_SEND, 4, 1, 2, NO, 3, 5,
	 NO, NO, NO, NO},
	{NULL, NCCL_OTHER, NO, NO, NO, NO, NO, NO,
	 NO, NO, NO, NO},
};
/* clang-format on */

const char nccl_call_selection[] =
	"nccl,!ncclGetVersion,!ncclGetUniqueId,!ncclCommGetUniqueId,!ncclGetErrorString,"
	"!ncclGetLastError,!ncclResetDebugInit,!ncclCommCount,!ncclCommUserRank,"
	"!ncclCommCuDevice,!ncclCommRegister,!ncclCommDeregister,!ncclCommWindow*,"
	"!ncclWinGetUserPtr,!ncclMemAlloc,!ncclMemFree,!ncclRedOp*,!ncclCommMemStats,"
	"!ncclCommSuspend,!ncclCommResume,!ncclCommRevoke,!ncclDevComm*,!ncclPutSignal,"
	"!ncclSignal,!ncclWaitSignal,cuStreamBeginCapture*,cuStreamEndCapture*,"
	"cuStreamSynchronize*,cuCtxSynchronize*,cuEventSynchronize*,cuMemcpyDtoH_v2*,"
	"cudaSetDevice";

const struct nccl_call *nccl_call__find(const char *symbol)
{
	size_t low = 0, high = sizeof(nccl_calls) / sizeof(nccl_calls[0]) - 1, middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = strcmp(symbol, nccl_calls[middle].symbol);
		if (!order)
			return &nccl_calls[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files with exported functions share: their form, faults, groups. */
#ifndef SIM_NCCL_LIBRARY_H
#define SIM_NCCL_LIBRARY_H

#include "nccl/comm.h"
#include "nccl/truth.h"
#include "record/record.h"

/*
 * Defines pncclNAME, with ncclNAME at the same address. The body's variable is `call`, whose
 * members it sets before BEGIN.
 */
#define NCCL_CALL(name, parameters)								\
	SIM_EXPORT ncclResult_t nccl##name parameters						\
		__attribute__((weak, alias("pnccl" #name)));					\
	SIM_EXPORT ncclResult_t pnccl##name parameters

/*
 * Records the begin, applies faults, evaluates `work` for the result, records the end and returns.
 */
#define NCCL_RUN(call, work)									\
	do {											\
		int result_;									\
		SIM_FRAME();									\
		truth__begin(&(call));								\
		result_ = faults__inject((call).function);					\
		if (!result_)									\
			result_ = (work);							\
		truth__end(&(call), result_);							\
		return result_;									\
	} while (0)

/*
 * CUDA_SIM_NCCL_FAULT=FUNCTION:N=WHAT,...: the Nth call of ncclFUNCTION fails with the number WHAT,
 * or WHAT is `hang`: it does not return. AsyncError:N=CODE is what the Nth call of
 * ncclCommGetAsyncError finds, and those after it. Returns 0 or the result.
 */
int faults__inject(const char *function);

/* Whether the calling thread is in a group. */
bool group__is_open(void);
void group__start(void);
/* What a group does at its end: `run` gets a copy of `work`. */
struct group_work {
	ncclResult_t (*run)(const struct group_work *work);
	struct ncclComm *comm;
	struct ncclComm **child;
	const ncclConfig_t *config;
	int color, key;
	bool receives;
	int peer;
	cudaStream_t stream;
};
/* Runs it now, or keeps it for the end of the group. */
ncclResult_t group__add(const struct group_work *work);
/* `launches` false: forgets all. */
ncclResult_t group__end(bool launches);

#endif

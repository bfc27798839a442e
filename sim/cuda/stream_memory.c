// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory words that a stream writes or waits for, and the attributes of streams. A write is done at
 * once, and a wait never delays the stream.
 */
#include "cuda/copy.h"

#include <string.h>

static int begin(struct sim_call *call, CUstream stream, CUdeviceptr address, size_t size,
		 bool write)
{
	if (address % size || !memory__covers(address, size, write))
		return CUDA_ERROR_INVALID_VALUE;
	return copy__begin(call, stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
}

static int write_value(struct sim_call *call, CUstream stream, CUdeviceptr address,
		       uint64_t value, size_t size)
{
	int result = begin(call, stream, address, size, true);

	if (!result && !call->captured)
		memcpy((void *)(uintptr_t)address, &value, size);
	return result;
}

static int check_operation(const CUstreamBatchMemOpParams *params)
{
	size_t size = 4;

	switch (params->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		size = 8;
		break;
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		break;
	default:		/* flushes and barriers have no address */
		return CUDA_SUCCESS;
	}
	if (params->writeValue.address % size ||
	    !memory__covers(params->writeValue.address, size, true))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static void do_operation(const CUstreamBatchMemOpParams *params)
{
	void *address = (void *)(uintptr_t)params->writeValue.address;

	if (params->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32)
		memcpy(address, &params->writeValue.value, 4);
	else if (params->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64)
		memcpy(address, &params->writeValue.value64, 8);
}

static int batch(struct sim_call *call, CUstream stream, const CUstreamBatchMemOpParams *params,
		 unsigned int count)
{
	int result = params && count && count <= 256 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	for (unsigned int i = 0; !result && i < count; i++)
		result = check_operation(&params[i]);
	if (!result)
		result = copy__begin(call, stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
	for (unsigned int i = 0; !result && !call->captured && i < count; i++)
		do_operation(&params[i]);
	return result;
}

static int get_attribute(const struct CUstream_st *stream, CUstreamAttrValue *out)
{
	if (!stream || !out)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	memset(out, 0, sizeof(*out));
	return CUDA_SUCCESS;
}

static int set_attribute(const struct CUstream_st *stream, const void *value)
{
	if (!stream || !value)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	return CUDA_SUCCESS;
}

#define STREAM stream__get(&call, stream)
#define PLACE(type) CUstream stream, CUdeviceptr address, type value, unsigned int flags

/* The two versions of these functions differ in the flags that devices support. */
#define WAITS(name, type, size)								\
	DRIVER_PTSZ(name, SIM_OTHER, (PLACE(type)), 0,					\
		    ((void)value, (void)flags,						\
		     begin(&call, stream, address, size, false)))
#define WRITES(name, type, size)							\
	DRIVER_PTSZ(name, SIM_OTHER, (PLACE(type)), 0,					\
		    ((void)flags, write_value(&call, stream, address, value, size)))
#define BATCHES(name)									\
	DRIVER_PTSZ(name, SIM_OTHER, (CUstream stream, unsigned int count,		\
				      CUstreamBatchMemOpParams *params,			\
				      unsigned int flags), 0,				\
		    ((void)flags, batch(&call, stream, params, count)))

WAITS(cuStreamWaitValue32, cuuint32_t, 4);
WAITS(cuStreamWaitValue32_v2, cuuint32_t, 4);
WAITS(cuStreamWaitValue64, cuuint64_t, 8);
WAITS(cuStreamWaitValue64_v2, cuuint64_t, 8);
WRITES(cuStreamWriteValue32, cuuint32_t, 4);
WRITES(cuStreamWriteValue32_v2, cuuint32_t, 4);
WRITES(cuStreamWriteValue64, cuuint64_t, 8);
WRITES(cuStreamWriteValue64_v2, cuuint64_t, 8);
BATCHES(cuStreamBatchMemOp);
BATCHES(cuStreamBatchMemOp_v2);

DRIVER_PTSZ(cuStreamGetAttribute, SIM_OTHER, (CUstream stream, CUstreamAttrID attribute,
					      CUstreamAttrValue *out), 0,
	    ((void)attribute, get_attribute(STREAM, out)));
DRIVER_PTSZ(cuStreamSetAttribute, SIM_OTHER, (CUstream stream, CUstreamAttrID attribute,
					      const CUstreamAttrValue *value), 0,
	    ((void)attribute, set_attribute(STREAM, value)));
DRIVER_PTSZ(cuStreamCopyAttributes, SIM_OTHER, (CUstream stream, CUstream from), 0,
	    set_attribute(STREAM, stream__get(&call, from)));

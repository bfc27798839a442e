// SPDX-License-Identifier: BSD-2-Clause
/*
 * Green contexts, the multiprocessors that they consist of, and events and waits of whole contexts.
 */
#include "cuda/driver.h"

#include <string.h>

#define MAX_GREEN (1u << 12)
#define LEAST_SMS 8u

struct CUgreenCtx_st {
	struct object object;
	uint64_t reserved;
	uint64_t id;
	unsigned int sms;
	struct CUctx_st *context;	/* returned to the program */
};

static struct pool *greens;

bool green__start(void)
{
	greens = pool__new(sizeof(struct CUgreenCtx_st), MAX_GREEN);
	return greens != NULL;
}

static struct CUgreenCtx_st *checked(CUgreenCtx green)
{
	return pool__holds(greens, green) ? green : NULL;
}

/* A description is just the number of its multiprocessors; nothing is stored. */
static unsigned int sms_of(CUdevResourceDesc description)
{
	return (unsigned int)((uintptr_t)description >> 4);
}

static int describe(CUdevResourceDesc *out, const CUdevResource *resources, unsigned int count)
{
	unsigned int sms = 0;

	if (!out || !resources || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned int i = 0; i < count; i++) {
		if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM)
			return CUDA_ERROR_INVALID_VALUE;
		sms += resources[i].sm.smCount;
	}
	*out = (CUdevResourceDesc)((uintptr_t)sms << 4);
	return CUDA_SUCCESS;
}

static int resource(CUdevResource *out, CUdevResourceType type, unsigned int sms)
{
	if (!out || type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	out->type = type;
	out->sm.smCount = sms;
	return CUDA_SUCCESS;
}

static int device_resource(CUdevice device, CUdevResource *out, CUdevResourceType type)
{
	int result = driver__require_device(device);

	return result ? result : resource(out, type, SM_COUNT);
}

static int context_resource(const struct CUctx_st *context, CUdevResource *out,
			    CUdevResourceType type)
{
	if (!pool__holds(driver.contexts, context))
		return CUDA_ERROR_INVALID_CONTEXT;
	return resource(out, type, context->green ? context->green->sms : SM_COUNT);
}

static int green_resource(const struct CUgreenCtx_st *green, CUdevResource *out,
			  CUdevResourceType type)
{
	return green ? resource(out, type, green->sms) : (int)CUDA_ERROR_INVALID_CONTEXT;
}

/* Without an array for the groups, only their number is returned. */
static int split(CUdevResource *out, unsigned int *count, const CUdevResource *input,
		 CUdevResource *rest, unsigned int least)
{
	unsigned int group = least > LEAST_SMS ? least : LEAST_SMS;
	unsigned int possible, left;

	if (!count || !input || input->type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_VALUE;
	possible = input->sm.smCount / group;
	if (!out) {
		*count = possible;
		return CUDA_SUCCESS;
	}
	*count = *count < possible ? *count : possible;
	for (unsigned int i = 0; i < *count; i++)
		resource(&out[i], CU_DEV_RESOURCE_TYPE_SM, group);
	left = input->sm.smCount - *count * group;
	if (rest)
		resource(rest, left ? CU_DEV_RESOURCE_TYPE_SM : CU_DEV_RESOURCE_TYPE_INVALID,
			 left);
	return CUDA_SUCCESS;
}

static int create(CUgreenCtx *out, CUdevResourceDesc description, CUdevice device,
		  unsigned int flags)
{
	int result = driver__require_device(device);
	struct CUgreenCtx_st *green;

	if (result)
		return result;
	if (!out || !description || !(flags & CU_GREEN_CTX_DEFAULT_STREAM))
		return CUDA_ERROR_INVALID_VALUE;
	green = pool__take(greens);
	if (!green)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&driver.lock);
	green->context = context__new(device, 0, false);
	pthread_mutex_unlock(&driver.lock);
	if (!green->context) {
		pool__give(greens, green);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	green->id = green->context->id;
	green->sms = sms_of(description);
	green->context->green = green;
	driver__created(SIM_GREEN_CONTEXT);
	*out = green;
	return CUDA_SUCCESS;
}

static int destroy(struct CUgreenCtx_st *green)
{
	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (driver__context() == green->context)
		driver_thread.depth--;
	stream__settle(green->context);
	pthread_mutex_lock(&driver.lock);
	context__free(green->context);
	pool__give(greens, green);
	pthread_mutex_unlock(&driver.lock);
	driver__destroyed(SIM_GREEN_CONTEXT);
	return CUDA_SUCCESS;
}

static int to_context(CUcontext *out, const struct CUgreenCtx_st *green)
{
	if (!out || !green)
		return CUDA_ERROR_INVALID_VALUE;
	*out = green->context;
	return CUDA_SUCCESS;
}

static int get_id(const struct CUgreenCtx_st *green, unsigned long long *out)
{
	if (!out || !green)
		return CUDA_ERROR_INVALID_VALUE;
	*out = green->id;
	return CUDA_SUCCESS;
}

static int create_stream(CUstream *out, const struct CUgreenCtx_st *green, unsigned int flags,
			 int priority)
{
	if (!green)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (flags != CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	return stream__create(out, green->context, flags, priority);
}

static int green_of(struct CUstream_st *stream, CUgreenCtx *out)
{
	if (!stream || !out)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = stream->context->green;
	return CUDA_SUCCESS;
}

static struct CUctx_st *known(CUcontext context)
{
	return pool__holds(driver.contexts, context) ? context : NULL;
}

static int record(struct CUctx_st *context, CUevent event)
{
	return context ? event__record_context(event, context) : (int)CUDA_ERROR_INVALID_CONTEXT;
}

static int wait(struct CUctx_st *context, CUevent event)
{
	return context ? event__wait_context(context, event) : (int)CUDA_ERROR_INVALID_CONTEXT;
}

#define GREEN checked(green)
#define CONTEXT_OF_GREEN (GREEN ? green->context : NULL)

DRIVER_PLAIN(cuGreenCtxCreate, (CUgreenCtx *out, CUdevResourceDesc description, CUdevice device,
				unsigned int flags),
	     create(out, description, device, flags));
DRIVER_PLAIN(cuGreenCtxDestroy, (CUgreenCtx green), destroy(GREEN));
DRIVER_PLAIN(cuCtxFromGreenCtx, (CUcontext *out, CUgreenCtx green), to_context(out, GREEN));
DRIVER_PLAIN(cuGreenCtxGetId, (CUgreenCtx green, unsigned long long *out), get_id(GREEN, out));
DRIVER_PLAIN(cuGreenCtxStreamCreate, (CUstream *out, CUgreenCtx green, unsigned int flags,
				      int priority),
	     create_stream(out, GREEN, flags, priority));
DRIVER(cuStreamGetGreenCtx, SIM_OTHER, (CUstream stream, CUgreenCtx *out), 0,
       green_of(stream__get(&call, stream), out));
DRIVER_PLAIN(cuDeviceGetDevResource, (CUdevice device, CUdevResource *out,
				      CUdevResourceType type),
	     device_resource(device, out, type));
DRIVER_PLAIN(cuCtxGetDevResource, (CUcontext context, CUdevResource *out,
				   CUdevResourceType type),
	     context_resource(context, out, type));
DRIVER_PLAIN(cuGreenCtxGetDevResource, (CUgreenCtx green, CUdevResource *out,
					CUdevResourceType type),
	     green_resource(GREEN, out, type));
DRIVER_PLAIN(cuDevResourceGenerateDesc, (CUdevResourceDesc *out, CUdevResource *resources,
					 unsigned int count),
	     describe(out, resources, count));
DRIVER_PLAIN(cuDevSmResourceSplitByCount, (CUdevResource *out, unsigned int *count,
					   const CUdevResource *input, CUdevResource *rest,
					   unsigned int flags, unsigned int least),
	     ((void)flags, split(out, count, input, rest, least)));
DRIVER_PLAIN(cuCtxRecordEvent, (CUcontext context, CUevent event), record(known(context), event));
DRIVER_PLAIN(cuCtxWaitEvent, (CUcontext context, CUevent event), wait(known(context), event));
DRIVER_PLAIN(cuGreenCtxRecordEvent, (CUgreenCtx green, CUevent event),
	     record(CONTEXT_OF_GREEN, event));
DRIVER_PLAIN(cuGreenCtxWaitEvent, (CUgreenCtx green, CUevent event),
	     wait(CONTEXT_OF_GREEN, event));

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Contexts: created ones, each device's primary one, and every thread's stack of current contexts.
 * Objects left in a context go with it.
 */
#include "cuda/driver.h"
#include "cuda/memory.h"

struct CUctx_st *context__new(int device, unsigned int flags, bool primary)
{
	struct CUctx_st *context = pool__take(driver.contexts);

	if (!context)
		return NULL;
	context->device = device;
	context->flags = flags;
	context->primary = primary;
	context->id = ++driver.next_id;
	context->pool = driver.default_pool[device];
	context->legacy = pool__take(driver.streams);
	if (!context->legacy) {
		pool__give(driver.contexts, context);
		return NULL;
	}
	context->legacy->context = context;
	show__context(device);
	return context;
}

static void empty(struct CUctx_st *context)
{
	memory__release_all(context);
	image__release_all(context);
	array__release_all(context);
	stream__release_all(context);
}

static int push(struct CUctx_st *context)
{
	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!pool__holds(driver.contexts, context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (driver_thread.depth == CONTEXT_STACK)
		return CUDA_ERROR_INVALID_CONTEXT;
	driver_thread.stack[driver_thread.depth++] = context;
	return CUDA_SUCCESS;
}

static int pop(CUcontext *out)
{
	struct CUctx_st *context = driver__context();

	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	driver_thread.depth--;
	if (out)
		*out = context;
	return CUDA_SUCCESS;
}

static int set_current(struct CUctx_st *context)
{
	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!context) {
		if (driver_thread.depth)
			driver_thread.depth--;
		return CUDA_SUCCESS;
	}
	if (!pool__holds(driver.contexts, context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!driver_thread.depth)
		driver_thread.depth = 1;
	driver_thread.stack[driver_thread.depth - 1] = context;
	return CUDA_SUCCESS;
}

static int create(CUcontext *out, unsigned int flags, CUdevice device)
{
	struct CUctx_st *context;
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	context = context__new(device, flags, false);
	pthread_mutex_unlock(&driver.lock);
	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	driver__created(SIM_CONTEXT);
	*out = context;
	return push(context);
}

void context__free(struct CUctx_st *context)
{
	empty(context);
	stream__forget(context->legacy);
	pool__give(driver.streams, context->legacy);
	pool__give(driver.contexts, context);
}

static int destroy(struct CUctx_st *context)
{
	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!pool__holds(driver.contexts, context) || context->primary || context->green)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (driver__context() == context)
		driver_thread.depth--;
	stream__settle(context);
	pthread_mutex_lock(&driver.lock);
	context__free(context);
	pthread_mutex_unlock(&driver.lock);
	driver__destroyed(SIM_CONTEXT);
	return CUDA_SUCCESS;
}

/* The use count from before CUDA 4: a context made by cuCtxCreate has one use. */
static int attach(CUcontext *out)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = driver__context();
	__atomic_add_fetch(&(*out)->attached, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

static int detach(struct CUctx_st *context)
{
	if (!pool__holds(driver.contexts, context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!context->attached)
		return destroy(context);
	__atomic_sub_fetch(&context->attached, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

static int get_affinity(CUexecAffinityParam *out, CUexecAffinityType type)
{
	if (!out || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
		return CUDA_ERROR_INVALID_VALUE;
	out->type = type;
	out->param.smCount.val = SM_COUNT;
	return CUDA_SUCCESS;
}

static int retain_primary(CUcontext *out, CUdevice device)
{
	struct CUctx_st *context;
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	context = driver.primary[device];
	if (!context)
		context = driver.primary[device] =
			context__new(device, driver.primary_flags[device], true);
	if (context && context->retained++ == 0) {
		context->inactive = false;
		driver__created(SIM_PRIMARY_CONTEXT);
	}
	pthread_mutex_unlock(&driver.lock);
	*out = context;
	return context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int release_primary(CUdevice device)
{
	struct CUctx_st *context;
	int result = driver__require_device(device);

	if (result)
		return result;
	if (driver.primary[device] && driver.primary[device]->retained == 1)
		stream__settle(driver.primary[device]);
	pthread_mutex_lock(&driver.lock);
	context = driver.primary[device];
	if (!context || !context->retained) {
		result = CUDA_ERROR_INVALID_CONTEXT;
	} else if (--context->retained == 0) {
		empty(context);
		context->inactive = true;
		driver__destroyed(SIM_PRIMARY_CONTEXT);
	}
	pthread_mutex_unlock(&driver.lock);
	return result;
}

static int reset_primary(CUdevice device)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (driver.primary[device])
		stream__settle(driver.primary[device]);
	pthread_mutex_lock(&driver.lock);
	if (driver.primary[device])
		empty(driver.primary[device]);
	pthread_mutex_unlock(&driver.lock);
	return CUDA_SUCCESS;
}

static int primary_state(CUdevice device, unsigned int *flags, int *active)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = driver.primary_flags[device];
	*active = driver.primary[device] && driver.primary[device]->retained;
	return CUDA_SUCCESS;
}

static int set_primary_flags(CUdevice device, unsigned int flags)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	pthread_mutex_lock(&driver.lock);
	driver.primary_flags[device] = flags;
	if (driver.primary[device])
		driver.primary[device]->flags = flags;
	pthread_mutex_unlock(&driver.lock);
	return CUDA_SUCCESS;
}

static int get_current(CUcontext *out)
{
	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = driver__context();
	return CUDA_SUCCESS;
}

static struct CUctx_st *or_current(struct CUctx_st *context)
{
	if (!context)
		return driver__context();
	return pool__holds(driver.contexts, context) ? context : NULL;
}

static int get_device(CUdevice *out, struct CUctx_st *context)
{
	if (!out || !context)
		return context ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
	*out = context->device;
	return CUDA_SUCCESS;
}

static int get_id(struct CUctx_st *context, unsigned long long *out)
{
	if (!out || !context)
		return context ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
	*out = context->id;
	return CUDA_SUCCESS;
}

static int set_int(int *out, int value)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = value;
	return CUDA_SUCCESS;
}

static int set_flags(unsigned int flags)
{
	driver__context()->flags = flags;
	return CUDA_SUCCESS;
}

static int priority_range(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return CUDA_SUCCESS;
}

static int get_limit(size_t *value, CUlimit limit)
{
	if (!value || limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*value = 1024;
	return CUDA_SUCCESS;
}

static int peer_access(struct CUctx_st *peer)
{
	if (!pool__holds(driver.contexts, peer))
		return CUDA_ERROR_INVALID_CONTEXT;
	return CUDA_SUCCESS;
}

DRIVER_PLAIN(cuCtxCreate, (CUcontext *out, unsigned int flags, CUdevice device),
	     create(out, flags, device));
DRIVER_PLAIN(cuCtxCreate_v2, (CUcontext *out, unsigned int flags, CUdevice device),
	     create(out, flags, device));
DRIVER_PLAIN(cuCtxCreate_v4, (CUcontext *out, CUctxCreateParams *params, unsigned int flags,
			      CUdevice device),
	     ((void)params, create(out, flags, device)));
DRIVER_PLAIN(cuCtxDestroy, (CUcontext context), destroy(context));
DRIVER_PLAIN(cuCtxDestroy_v2, (CUcontext context), destroy(context));
DRIVER_PLAIN(cuCtxPushCurrent, (CUcontext context), push(context));
DRIVER_PLAIN(cuCtxPushCurrent_v2, (CUcontext context), push(context));
DRIVER_PLAIN(cuCtxPopCurrent, (CUcontext *out), pop(out));
DRIVER_PLAIN(cuCtxPopCurrent_v2, (CUcontext *out), pop(out));
DRIVER_PLAIN(cuCtxSetCurrent, (CUcontext context), set_current(context));
DRIVER_PLAIN(cuCtxGetCurrent, (CUcontext *out), get_current(out));
DRIVER_PLAIN(cuDevicePrimaryCtxRetain, (CUcontext *out, CUdevice device),
	     retain_primary(out, device));
DRIVER_PLAIN(cuDevicePrimaryCtxRelease, (CUdevice device), release_primary(device));
DRIVER_PLAIN(cuDevicePrimaryCtxRelease_v2, (CUdevice device), release_primary(device));
DRIVER_PLAIN(cuDevicePrimaryCtxReset, (CUdevice device), reset_primary(device));
DRIVER_PLAIN(cuDevicePrimaryCtxReset_v2, (CUdevice device), reset_primary(device));
DRIVER_PLAIN(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags, int *active),
	     primary_state(device, flags, active));
DRIVER_PLAIN(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned int flags),
	     set_primary_flags(device, flags));
DRIVER_PLAIN(cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned int flags),
	     set_primary_flags(device, flags));

DRIVER(cuCtxGetDevice, SIM_OTHER, (CUdevice *out), 0, get_device(out, driver__context()));
DRIVER_PLAIN(cuCtxGetDevice_v2, (CUdevice *out, CUcontext context),
	     get_device(out, or_current(context)));
DRIVER_PLAIN(cuCtxGetId, (CUcontext context, unsigned long long *out),
	     get_id(or_current(context), out));
DRIVER(cuCtxGetFlags, SIM_OTHER, (unsigned int *out), 0,
       set_int((int *)out, (int)driver__context()->flags));
DRIVER(cuCtxSetFlags, SIM_OTHER, (unsigned int flags), 0, set_flags(flags));
DRIVER(cuCtxGetApiVersion, SIM_OTHER, (CUcontext context, unsigned int *out), 0,
       ((void)context, set_int((int *)out, 3020)));
DRIVER(cuCtxGetStreamPriorityRange, SIM_OTHER, (int *least, int *greatest), 0,
       priority_range(least, greatest));
DRIVER(cuCtxGetLimit, SIM_OTHER, (size_t *value, CUlimit limit), 0, get_limit(value, limit));
DRIVER(cuCtxSetLimit, SIM_OTHER, (CUlimit limit, size_t value), 0,
       get_limit(&value, limit));
DRIVER(cuCtxGetCacheConfig, SIM_OTHER, (CUfunc_cache *out), 0, set_int((int *)out, 0));
DRIVER(cuCtxSetCacheConfig, SIM_OTHER, (CUfunc_cache config), 0, ((void)config, 0));
DRIVER(cuCtxGetSharedMemConfig, SIM_OTHER, (CUsharedconfig *out), 0, set_int((int *)out, 0));
DRIVER(cuCtxSetSharedMemConfig, SIM_OTHER, (CUsharedconfig config), 0, ((void)config, 0));
DRIVER(cuCtxResetPersistingL2Cache, SIM_OTHER, (void), 0, CUDA_SUCCESS);
DRIVER(cuCtxEnablePeerAccess, SIM_OTHER, (CUcontext peer, unsigned int flags), 0,
       ((void)flags, peer_access(peer)));
DRIVER(cuCtxDisablePeerAccess, SIM_OTHER, (CUcontext peer), 0, peer_access(peer));
DRIVER_PLAIN(cuCtxCreate_v3, (CUcontext *out, CUexecAffinityParam *params, int nr_params,
			      unsigned int flags, CUdevice device),
	     ((void)params, (void)nr_params, create(out, flags, device)));
DRIVER(cuCtxAttach, SIM_OTHER, (CUcontext *out, unsigned int flags), 0,
       ((void)flags, attach(out)));
DRIVER_PLAIN(cuCtxDetach, (CUcontext context), detach(context));
DRIVER(cuCtxGetExecAffinity, SIM_OTHER, (CUexecAffinityParam *out, CUexecAffinityType type), 0,
       get_affinity(out, type));

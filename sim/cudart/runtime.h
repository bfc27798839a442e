/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the simulated libcudart: how an API function is defined, the driver it
 * calls, and the state of process and thread.
 *
 * An API function is one line, as in the simulated libcuda: name, parameters, and the expression
 * that does its work through the driver's exports.
 */
#ifndef SIM_CUDART_RUNTIME_H
#define SIM_CUDART_RUNTIME_H

#define __CUDA_API_VERSION_INTERNAL
#include "cuda_api.h"
#include "cudart/driver_calls.h"
#include "record/record.h"

/* In the static archive the API is hidden, as in the real one. */
#ifdef SIM_STATIC
#define RUNTIME_EXPORT __attribute__((visibility("hidden")))
#else
#define RUNTIME_EXPORT SIM_EXPORT
#endif

#define RUNTIME_PROLOGUE(name, family, params, moved, ptds)				\
	RUNTIME_EXPORT cudaError_t name params;						\
	SIM_FUNCTION(name, SIM_RUNTIME, family);					\
	cudaError_t name params								\
	{										\
		struct sim_call call;							\
		int result;								\
											\
		SIM_FRAME();								\
		sim_enter(&call, &function_##name, SIM_RUNTIME, moved, ptds)

#define RUNTIME_EPILOGUE								\
		sim_leave(&call, SIM_RUNTIME, result);					\
		return runtime__note(result);						\
	}										\
	_Static_assert(1, "")

/* A function that needs the driver, but no context. */
#define RUNTIME_PLAIN(name, params, work)						\
	RUNTIME_PROLOGUE(name, SIM_OTHER, params, 0, false);				\
	result = sim_inject(&call);							\
	if (!result)									\
		result = runtime__require_driver();					\
	if (!result)									\
		result = (work);							\
	RUNTIME_EPILOGUE

/* A function that needs a context, and creates it if there is none. */
#define RUNTIME_FORM(name, family, params, moved, ptds, work)				\
	RUNTIME_PROLOGUE(name, family, params, moved, ptds);				\
	result = sim_inject(&call);							\
	if (!result)									\
		result = runtime__require_context();					\
	if (!result)									\
		result = (work);							\
	RUNTIME_EPILOGUE

#define RUNTIME(name, family, params, moved, work)					\
	RUNTIME_FORM(name, family, params, moved, false, work)

#define RUNTIME_PTSZ(name, family, params, moved, work)					\
	RUNTIME_FORM(name, family, params, moved, false, work);				\
	RUNTIME_FORM(name##_ptsz, family, params, moved, true, work)

#define RUNTIME_COPY(name, kind, mode, params, moved, ptds, work)			\
	RUNTIME_PROLOGUE(name, SIM_COPY, params, moved, ptds);				\
	result = sim_inject(&call);							\
	if (!result)									\
		result = runtime__require_context();					\
	if (!result)									\
		result = (work);							\
	sim_count_copy(&call, SIM_RUNTIME, kind, mode, result);				\
	RUNTIME_EPILOGUE

#define RUNTIME_COPY_PTDS(name, kind, params, moved, work)				\
	RUNTIME_COPY(name, kind, SIM_SYNCHRONOUS, params, moved, false, work);		\
	RUNTIME_COPY(name##_ptds, kind, SIM_SYNCHRONOUS, params, moved, true, work)

#define RUNTIME_COPY_PTSZ(name, kind, params, moved, work)				\
	RUNTIME_COPY(name, kind, SIM_ASYNCHRONOUS, params, moved, false, work);		\
	RUNTIME_COPY(name##_ptsz, kind, SIM_ASYNCHRONOUS, params, moved, true, work)

/* `function` is a kernel handle or the address of a registered host function. */
#define RUNTIME_LAUNCH_FORM(name, params, function, ptds, work)				\
	RUNTIME_PROLOGUE(name, SIM_LAUNCH, params, 0, ptds);				\
	call.kernel = kernel__name_id(function);					\
	result = sim_inject(&call);							\
	if (!result)									\
		result = runtime__require_context();					\
	if (!result)									\
		result = (work);							\
	sim_count_launch(&call, SIM_RUNTIME, result);					\
	RUNTIME_EPILOGUE

#define RUNTIME_LAUNCH(name, params, function, work)					\
	RUNTIME_LAUNCH_FORM(name, params, function, false, work);			\
	RUNTIME_LAUNCH_FORM(name##_ptsz, params, function, true, work)

/* The driver's form of a function for this call's default stream. */
#define D_PTSZ(name) (call.per_thread ? runtime.driver.name##_ptsz : runtime.driver.name)
#define D_PTDS(name) (call.per_thread ? runtime.driver.name##_ptds : runtime.driver.name)
#define D runtime.driver

#define RUNTIME_MAX_DEVICES 64

struct runtime {
	const struct sim_recorder *recorder;
	bool has_driver;
	struct driver_calls driver;
	CUcontext primary[RUNTIME_MAX_DEVICES];
};

extern struct runtime runtime;

struct runtime_thread {
	int device;
	int last_error;
};

extern __thread struct runtime_thread runtime_thread
	__attribute__((tls_model("initial-exec")));

/* Returns 0, or why there is no driver: cudaErrorInsufficientDriver without a libcuda. */
int runtime__require_driver(void);
int runtime__slow_require_context(void);
/* The device's primary context, which the first use retains. */
int runtime__retain(int device, CUcontext *out);
/* Makes the device's primary context current; the first use retains it. */
int runtime__use_device(int device);

static inline int runtime__require_context(void)
{
	if (sim_unlikely(!runtime.recorder->context()))
		return runtime__slow_require_context();
	return cudaSuccess;
}

/* Stores a failure as the thread's last error; returns the result. */
static inline cudaError_t runtime__note(int result)
{
	if (sim_unlikely(result))
		runtime_thread.last_error = result;
	return (cudaError_t)result;
}

/* register.c: what nvcc-built programs registered when they started. */
/* The id of the name behind `function`, SIM_NO_KERNEL if it has neither known form. */
uint32_t kernel__name_id(const void *function);
/* Finds its handle: returns 0 or cudaErrorInvalidDeviceFunction. */
int kernel__resolve(const void *function, CUkernel *out);
/* Finds the address of a registered variable: returns 0 or cudaErrorInvalidSymbol. */
int variable__resolve(const void *symbol, CUdeviceptr *address, size_t *size);

static inline CUdeviceptr device_address(const void *pointer)
{
	return (CUdeviceptr)(uintptr_t)pointer;
}

#endif

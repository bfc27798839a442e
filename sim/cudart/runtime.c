// SPDX-License-Identifier: BSD-2-Clause
/*
 * The runtime's start: like the real one, it opens libcuda.so.1 in its first call, and uses the
 * recorder in there. A libcuda that is not the simulated one counts as missing.
 */
#include "cudart/runtime.h"

#include <dlfcn.h>
#include <pthread.h>

struct runtime runtime;
__thread struct runtime_thread runtime_thread __attribute__((tls_model("initial-exec")));

static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool load_driver(void *library)
{
	bool complete = true;

#define LOAD(name) complete &= (D.name = (__typeof__(D.name))dlsym(library, #name)) != NULL;
#define LOAD_PTSZ(name) LOAD(name) LOAD(name##_ptsz)
#define LOAD_PTDS(name) LOAD(name) LOAD(name##_ptds)
	DRIVER_CALLS(LOAD, LOAD_PTSZ, LOAD_PTDS)
	return complete;
}

static const struct sim_recorder *find_recorder(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	const struct sim_recorder *(*recorder)(void);

	if (!library)
		return NULL;
	recorder = (const struct sim_recorder *(*)(void))dlsym(library, "cuda_sim_recorder");
	if (!recorder || !load_driver(library))
		return NULL;
	return recorder();
}

static void start(void)
{
	const struct sim_recorder *recorder = find_recorder();

	runtime.has_driver = recorder != NULL;
	if (!recorder)
		recorder = sim_recorder__get();
	recorder->attach(__start_sim_functions, __stop_sim_functions);
	__atomic_store_n(&runtime.recorder, recorder, __ATOMIC_RELEASE);
}

struct sim_thread *sim_self(void)
{
	if (sim_unlikely(!__atomic_load_n(&runtime.recorder, __ATOMIC_ACQUIRE)))
		pthread_once(&started, start);
	return runtime.recorder->self();
}

/* As the real one does, which queries far more. */
static int ask_devices(void)
{
	CUdevice device;
	CUuuid uuid;
	int count, result = (int)D.cuDeviceGetCount(&count);

	for (int i = 0; !result && i < count; i++) {
		result = (int)D.cuDeviceGet(&device, i);
		if (!result)
			result = (int)D.cuDeviceGetUuid_v2(&uuid, device);
	}
	return result;
}

int runtime__require_driver(void)
{
	static bool initialized;
	int result = cudaSuccess;

	if (!runtime.has_driver)
		return cudaErrorInsufficientDriver;
	if (__atomic_load_n(&initialized, __ATOMIC_ACQUIRE))
		return cudaSuccess;
	pthread_mutex_lock(&lock);
	if (!initialized) {
		result = (int)D.cuInit(0);
		if (!result)
			result = ask_devices();
		__atomic_store_n(&initialized, !result, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

int runtime__retain(int device, CUcontext *out)
{
	int result = cudaSuccess;

	if (device < 0 || device >= RUNTIME_MAX_DEVICES)
		return cudaErrorInvalidDevice;
	pthread_mutex_lock(&lock);
	if (!runtime.primary[device])
		result = (int)D.cuDevicePrimaryCtxRetain(&runtime.primary[device], device);
	*out = runtime.primary[device];
	pthread_mutex_unlock(&lock);
	return result;
}

int runtime__use_device(int device)
{
	CUcontext context;
	CUdevice found;
	int result = runtime__require_driver();

	if (result)
		return result;
	result = (int)D.cuDeviceGet(&found, device);
	if (!result)
		result = runtime__retain(device, &context);
	if (!result)
		result = (int)D.cuCtxSetCurrent(context);
	if (!result)
		runtime_thread.device = device;
	return result;
}

int runtime__slow_require_context(void)
{
	return runtime__use_device(runtime_thread.device);
}

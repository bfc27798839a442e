// SPDX-License-Identifier: BSD-2-Clause
/* Device queries: plausible properties, the same for all devices. */
#include "cuda/driver.h"
#include "cuda/usage.h"

#include <stdio.h>

static int set_int(int *out, int value)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = value;
	return CUDA_SUCCESS;
}

static int get(CUdevice *out, int ordinal)
{
	int result = driver__require_device(ordinal);

	return result ? result : set_int(out, ordinal);
}

static int get_count(int *out)
{
	return driver.initialized ? set_int(out, driver.nr_devices) : CUDA_ERROR_NOT_INITIALIZED;
}

static int get_text(char *out, int length, const char *text)
{
	if (!out || length <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(out, (size_t)length, "%s", text);
	return CUDA_SUCCESS;
}

static int get_name(char *out, int length, CUdevice device)
{
	int result = driver__require_device(device);

	return result ? result : get_text(out, length, DEVICE_NAME);
}

static int get_bus_id(char *out, int length, CUdevice device)
{
	int result = driver__require_device(device);
	char text[32];

	snprintf(text, sizeof(text), "0000:%02X:00.0", device + 1);
	return result ? result : get_text(out, length, text);
}

static int by_bus_id(CUdevice *out, const char *text)
{
	unsigned int domain, bus;

	if (!out || !text)
		return CUDA_ERROR_INVALID_VALUE;
	if (sscanf(text, "%x:%x:", &domain, &bus) != 2 || !bus)
		return CUDA_ERROR_INVALID_DEVICE;
	return get(out, (int)bus - 1);
}

static int get_uuid(CUuuid *out, CUdevice device)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	device_uuid(device, out->bytes);
	return CUDA_SUCCESS;
}

static int get_memory(size_t *out, CUdevice device)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = driver.memory;
	return CUDA_SUCCESS;
}

static int attribute(int number, int device)
{
	switch (number) {
	case 1:		/* threads per block, and its extent in x and y */
	case 2:
	case 3:
		return 1024;
	case 4:		/* extent of a block in z */
		return 64;
	case 5:		/* extent of a grid in x */
		return 2147483647;
	case 6:		/* extent of a grid in y and z */
	case 7:
		return 65535;
	case 8:		/* shared memory of a block */
		return 49152;
	case 9:		/* constant memory */
		return 65536;
	case 10:	/* warp size */
		return 32;
	case 11:	/* widest pitch */
		return 2147483647;
	case 12:	/* registers per block and per multiprocessor */
	case 82:
		return 65536;
	case 13:	/* clock, kHz */
		return 1980000;
	case 16:	/* multiprocessors */
		return SM_COUNT;
	case 33:	/* bus id */
		return device + 1;
	case 37:	/* memory bus, bits */
		return 5120;
	case 38:	/* L2 cache */
		return 52428800;
	case 39:	/* threads per multiprocessor */
		return 2048;
	case 40:	/* copy engines */
		return 3;
	case 75:	/* compute capability */
		return 9;
	case 81:	/* shared memory per multiprocessor */
		return 233472;
	case 97:	/* shared memory of a block on request */
		return 232448;
	case 106:	/* blocks per multiprocessor */
		return 32;
	case 14:	/* alignment of textures and surfaces */
	case 30:
		return 512;
	case 15:	/* capabilities: overlap, host mapping, ... */
	case 19:
	case 31:
	case 41:
	case 78:
	case 79:
	case 80:
	case 83:
	case 89:
	case 90:
	case 95:
	case 99:
	case 102:
	case 115:
	case 120:
	case 125:
		return 1;
	default:
		return 0;
	}
}

static int get_attribute(int *out, CUdevice_attribute number, CUdevice device)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if ((int)number <= 0 || (int)number > 150)
		return CUDA_ERROR_INVALID_VALUE;
	return set_int(out, attribute((int)number, device));
}

static int capability(int *major, int *minor, CUdevice device)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	result = set_int(major, attribute(75, device));
	return result ? result : set_int(minor, attribute(76, device));
}

static int can_access_peer(int *out, CUdevice device, CUdevice peer)
{
	int result = driver__require_device(device);

	if (!result)
		result = driver__require_device(peer);
	return result ? result : set_int(out, device != peer);
}

static int get_low_memory(unsigned int *out, CUdevice device)
{
	size_t wide;
	int result = out ? get_memory(&wide, device) : (int)CUDA_ERROR_INVALID_VALUE;

	if (!result)
		*out = wide > UINT32_MAX ? UINT32_MAX : (unsigned int)wide;
	return result;
}

static int get_properties(CUdevprop *out, CUdevice device)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUdevprop){
		.maxThreadsPerBlock = attribute(1, device),
		.maxThreadsDim = { attribute(2, device), attribute(3, device),
				   attribute(4, device) },
		.maxGridSize = { attribute(5, device), attribute(6, device),
				 attribute(7, device) },
		.sharedMemPerBlock = attribute(8, device),
		.totalConstantMemory = attribute(9, device),
		.SIMDWidth = attribute(10, device), .memPitch = attribute(11, device),
		.regsPerBlock = attribute(12, device), .clockRate = attribute(13, device),
		.textureAlign = attribute(14, device),
	};
	return CUDA_SUCCESS;
}

/* No atomic operation on the other side's memory is native. */
static int atomics(unsigned int *out, const void *operations, unsigned int count,
		   CUdevice device)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!out || !operations)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned int i = 0; i < count; i++)
		out[i] = 0;
	return CUDA_SUCCESS;
}

static int linear_width(size_t *out, CUdevice device)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = 1u << 28;
	return CUDA_SUCCESS;
}

static int supports_affinity(int *out, CUexecAffinityType type, CUdevice device)
{
	int result = driver__require_device(device);

	return result ? result : set_int(out, type == CU_EXEC_AFFINITY_TYPE_SM_COUNT);
}

/* Notifications are never sent. */
static int add_notification(CUdevice device, CUasyncCallback function,
			    CUasyncCallbackHandle *out)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!function || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUasyncCallbackHandle)__atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

static int drop_notification(CUdevice device, CUasyncCallbackHandle handle)
{
	int result = driver__require_device(device);

	return result || handle ? result : (int)CUDA_ERROR_INVALID_VALUE;
}

/* A graph's allocations have no memory. */
static int graph_memory(CUdevice device, const void *value, uint64_t *out)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (out)
		*out = 0;
	return CUDA_SUCCESS;
}

DRIVER_PLAIN(cuDriverGetVersion, (int *out), set_int(out, CUDA_VERSION));
DRIVER_PLAIN(cuDeviceGet, (CUdevice *out, int ordinal), get(out, ordinal));
DRIVER_PLAIN(cuDeviceGetCount, (int *out), get_count(out));
DRIVER_PLAIN(cuDeviceGetName, (char *out, int length, CUdevice device),
	     get_name(out, length, device));
DRIVER_PLAIN(cuDeviceGetUuid, (CUuuid *out, CUdevice device), get_uuid(out, device));
DRIVER_PLAIN(cuDeviceGetUuid_v2, (CUuuid *out, CUdevice device), get_uuid(out, device));
DRIVER_PLAIN(cuDeviceTotalMem_v2, (size_t *out, CUdevice device), get_memory(out, device));
DRIVER_PLAIN(cuDeviceGetAttribute, (int *out, CUdevice_attribute number, CUdevice device),
	     get_attribute(out, number, device));
DRIVER_PLAIN(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device),
	     capability(major, minor, device));
DRIVER_PLAIN(cuDeviceGetPCIBusId, (char *out, int length, CUdevice device),
	     get_bus_id(out, length, device));
DRIVER_PLAIN(cuDeviceGetByPCIBusId, (CUdevice *out, const char *text), by_bus_id(out, text));
DRIVER_PLAIN(cuDeviceCanAccessPeer, (int *out, CUdevice device, CUdevice peer),
	     can_access_peer(out, device, peer));
DRIVER_PLAIN(cuDeviceGetP2PAttribute, (int *out, CUdevice_P2PAttribute number, CUdevice device,
				       CUdevice peer),
	     ((void)number, can_access_peer(out, device, peer)));
DRIVER_PLAIN(cuProfilerStart, (void), CUDA_SUCCESS);
DRIVER_PLAIN(cuProfilerStop, (void), CUDA_SUCCESS);

DRIVER_PLAIN(cuDeviceTotalMem, (unsigned int *out, CUdevice device),
	     get_low_memory(out, device));
DRIVER_PLAIN(cuDeviceGetProperties, (CUdevprop *out, CUdevice device),
	     get_properties(out, device));
DRIVER_PLAIN(cuDeviceGetHostAtomicCapabilities, (unsigned int *out,
						 const CUatomicOperation *operations,
						 unsigned int count, CUdevice device),
	     atomics(out, operations, count, device));
DRIVER_PLAIN(cuDeviceGetP2PAtomicCapabilities, (unsigned int *out,
						const CUatomicOperation *operations,
						unsigned int count, CUdevice from, CUdevice to),
	     driver__require_device(from) ?: atomics(out, operations, count, to));
DRIVER_PLAIN(cuDeviceGetTexture1DLinearMaxWidth, (size_t *out, CUarray_format format,
						  unsigned int channels, CUdevice device),
	     ((void)format, (void)channels, linear_width(out, device)));
DRIVER_PLAIN(cuDeviceGetExecAffinitySupport, (int *out, CUexecAffinityType type,
					      CUdevice device),
	     supports_affinity(out, type, device));
DRIVER_PLAIN(cuDeviceRegisterAsyncNotification, (CUdevice device, CUasyncCallback function,
						 void *argument, CUasyncCallbackHandle *out),
	     ((void)argument, add_notification(device, function, out)));
DRIVER_PLAIN(cuDeviceUnregisterAsyncNotification, (CUdevice device,
						   CUasyncCallbackHandle handle),
	     drop_notification(device, handle));
DRIVER_PLAIN(cuDeviceGetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attribute_,
					    void *out),
	     ((void)attribute_, graph_memory(device, out, out)));
DRIVER_PLAIN(cuDeviceSetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attribute_,
					    void *value),
	     ((void)attribute_, graph_memory(device, value, NULL)));
DRIVER_PLAIN(cuDeviceGraphMemTrim, (CUdevice device), driver__require_device(device));
DRIVER(cuFlushGPUDirectRDMAWrites, SIM_OTHER, (CUflushGPUDirectRDMAWritesTarget target,
					       CUflushGPUDirectRDMAWritesScope scope), 0,
       ((void)target, (void)scope, CUDA_SUCCESS));

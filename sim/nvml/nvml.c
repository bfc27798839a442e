// SPDX-License-Identifier: BSD-2-Clause
/*
 * The simulated NVML: the devices that the environment requests, their memory, and the processes
 * that use them.
 */
#include "nvml/nvml.h"
#include "nvml/usage.h"
#include "record/internal.h"

#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_MEMORY (80ull << 30)
#define VERSION "580.00-simulated"

struct nvmlDevice_st {
	int index;
};

static struct {
	int initialized;
	int nr_devices;
	uint64_t memory;
	struct nvmlDevice_st devices[USAGE_DEVICES];
} nvml;

static nvmlReturn_t init(void)
{
	const char *devices = getenv("CUDA_SIM_DEVICES");
	const char *memory = getenv("CUDA_SIM_MEMORY");

	nvml.nr_devices = devices ? atoi(devices) : 1;
	if (nvml.nr_devices < 0 || nvml.nr_devices > USAGE_DEVICES)
		return NVML_ERROR_UNKNOWN;
	nvml.memory = DEFAULT_MEMORY;
	if (memory && !sim_parse__size(memory, &nvml.memory))
		return NVML_ERROR_UNKNOWN;
	for (int i = 0; i < nvml.nr_devices; i++)
		nvml.devices[i].index = i;
	nvml.initialized++;
	return NVML_SUCCESS;
}

static nvmlReturn_t shut_down(void)
{
	if (!nvml.initialized)
		return NVML_ERROR_UNINITIALIZED;
	nvml.initialized--;
	return NVML_SUCCESS;
}

static nvmlReturn_t check(nvmlDevice_t device, const void *out)
{
	if (!nvml.initialized)
		return NVML_ERROR_UNINITIALIZED;
	if (!out || device < nvml.devices || device >= nvml.devices + nvml.nr_devices)
		return NVML_ERROR_INVALID_ARGUMENT;
	return NVML_SUCCESS;
}

static nvmlReturn_t get_count(unsigned int *out)
{
	if (!nvml.initialized || !out)
		return out ? NVML_ERROR_UNINITIALIZED : NVML_ERROR_INVALID_ARGUMENT;
	*out = (unsigned int)nvml.nr_devices;
	return NVML_SUCCESS;
}

static nvmlReturn_t by_index(unsigned int index, nvmlDevice_t *out)
{
	if (!nvml.initialized)
		return NVML_ERROR_UNINITIALIZED;
	if (!out || index >= (unsigned int)nvml.nr_devices)
		return NVML_ERROR_INVALID_ARGUMENT;
	*out = &nvml.devices[index];
	return NVML_SUCCESS;
}

static nvmlReturn_t put_text(char *out, unsigned int length, const char *text)
{
	if (strlen(text) >= length)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	strcpy(out, text);
	return NVML_SUCCESS;
}

static void make_uuid(int device, char *out)
{
	char bytes[16];

	device_uuid(device, bytes);
	out += sprintf(out, "GPU");
	for (int i = 0; i < 16; i++)
		out += sprintf(out, "%s%02x", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ?
			       "-" : "", (unsigned char)bytes[i]);
}

static void make_bus_id(int device, char *out)
{
	sprintf(out, "00000000:%02X:00.0", device + 1);
}

static nvmlReturn_t get_uuid(nvmlDevice_t device, char *out, unsigned int length)
{
	char text[64];
	nvmlReturn_t result = check(device, out);

	if (result)
		return result;
	make_uuid(device->index, text);
	return put_text(out, length, text);
}

static nvmlReturn_t by_text(const char *text, nvmlDevice_t *out, void (*make)(int, char *))
{
	char own[64];

	if (!nvml.initialized)
		return NVML_ERROR_UNINITIALIZED;
	if (!text || !out)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (int i = 0; i < nvml.nr_devices; i++) {
		make(i, own);
		if (!strcmp(own, text)) {
			*out = &nvml.devices[i];
			return NVML_SUCCESS;
		}
	}
	return NVML_ERROR_NOT_FOUND;
}

static nvmlReturn_t get_name(nvmlDevice_t device, char *out, unsigned int length)
{
	nvmlReturn_t result = check(device, out);

	return result ? result : put_text(out, length, DEVICE_NAME);
}

static nvmlReturn_t get_index(nvmlDevice_t device, unsigned int *out)
{
	nvmlReturn_t result = check(device, out);

	if (!result)
		*out = (unsigned int)device->index;
	return result;
}

static nvmlReturn_t get_pci(nvmlDevice_t device, nvmlPciInfo_t *out)
{
	nvmlReturn_t result = check(device, out);

	if (result)
		return result;
	memset(out, 0, sizeof(*out));
	out->bus = (unsigned int)device->index + 1;
	make_bus_id(device->index, out->busId);
	memcpy(out->busIdLegacy, out->busId + 4, sizeof(out->busIdLegacy) - 1);
	return NVML_SUCCESS;
}

struct sum {
	int device;
	uint64_t used;
};

static int add_used(pid_t pid, const struct usage *usage, void *context)
{
	struct sum *sum = context;

	(void)pid;
	sum->used += usage->used[sum->device];
	return 0;
}

static uint64_t used_memory(nvmlDevice_t device)
{
	struct sum sum = { .device = device->index };

	usage__for_each(add_used, &sum);
	return sum.used < nvml.memory ? sum.used : nvml.memory;
}

static nvmlReturn_t get_memory(nvmlDevice_t device, nvmlMemory_t *out)
{
	nvmlReturn_t result = check(device, out);

	if (result)
		return result;
	out->total = nvml.memory;
	out->used = used_memory(device);
	out->free = out->total - out->used;
	return NVML_SUCCESS;
}

static nvmlReturn_t get_memory_v2(nvmlDevice_t device, nvmlMemory_v2_t *out)
{
	nvmlMemory_t memory;
	nvmlReturn_t result = out ? get_memory(device, &memory) : NVML_ERROR_INVALID_ARGUMENT;

	if (result)
		return result;
	out->total = memory.total;
	out->reserved = 0;
	out->free = memory.free;
	out->used = memory.used;
	return NVML_SUCCESS;
}

struct list {
	int device;
	unsigned int room;
	unsigned int count;
	nvmlProcessInfo_v1_t *short_infos;
	nvmlProcessInfo_v2_t *infos;
};

static int add_process(pid_t pid, const struct usage *usage, void *context)
{
	struct list *list = context;
	unsigned int at = list->count;
	uint64_t used = usage->used[list->device];

	if (!usage->contexts[list->device])
		return 0;
	list->count++;
	if (at >= list->room)
		return 0;
	if (list->short_infos)
		list->short_infos[at] = (nvmlProcessInfo_v1_t){ (unsigned int)pid, used };
	else if (list->infos)
		list->infos[at] = (nvmlProcessInfo_v2_t){
			.pid = (unsigned int)pid, .usedGpuMemory = used,
			.gpuInstanceId = UINT32_MAX, .computeInstanceId = UINT32_MAX,
		};
	return 0;
}

static nvmlReturn_t get_processes(nvmlDevice_t device, unsigned int *count,
				  nvmlProcessInfo_v1_t *short_infos, nvmlProcessInfo_v2_t *infos)
{
	struct list list = { .short_infos = short_infos, .infos = infos };
	nvmlReturn_t result = check(device, count);

	if (result)
		return result;
	list.device = device->index;
	list.room = short_infos || infos ? *count : 0;
	usage__for_each(add_process, &list);
	*count = list.count;
	return list.count > list.room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

static nvmlReturn_t process_name(unsigned int pid, char *out, unsigned int length)
{
	char path[64];
	ssize_t n;

	if (!out || !length)
		return NVML_ERROR_INVALID_ARGUMENT;
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = readlink(path, out, length - 1);
	if (n < 0)
		return NVML_ERROR_NOT_FOUND;
	out[n] = '\0';
	return NVML_SUCCESS;
}

static nvmlReturn_t utilization(nvmlDevice_t device, nvmlUtilization_t *out)
{
	nvmlReturn_t result = check(device, out);

	if (result)
		return result;
	out->gpu = 0;
	out->memory = (unsigned int)(used_memory(device) * 100 / nvml.memory);
	return NVML_SUCCESS;
}

/* Of a GPU that has nothing to do. */
static nvmlReturn_t power(nvmlDevice_t device, unsigned int *milliwatts)
{
	nvmlReturn_t result = check(device, milliwatts);

	if (!result)
		*milliwatts = 75000;
	return result;
}

static nvmlReturn_t temperature(nvmlDevice_t device, int sensor, unsigned int *celsius)
{
	nvmlReturn_t result = check(device, celsius);

	if (!result && sensor)
		result = NVML_ERROR_INVALID_ARGUMENT;
	if (!result)
		*celsius = 31;
	return result;
}

/* A PCIe 5.0 link of 16 lanes, as the H200 has. */
static nvmlReturn_t link_number(nvmlDevice_t device, unsigned int *out, unsigned int number)
{
	nvmlReturn_t result = check(device, out);

	if (!result)
		*out = number;
	return result;
}

static nvmlReturn_t set_int(int *out, int value)
{
	if (!out)
		return NVML_ERROR_INVALID_ARGUMENT;
	*out = value;
	return NVML_SUCCESS;
}

static nvmlReturn_t text_out(char *out, unsigned int length)
{
	return out ? put_text(out, length, VERSION) : NVML_ERROR_INVALID_ARGUMENT;
}

static const char *describe(nvmlReturn_t error)
{
	switch (error) {
	case NVML_SUCCESS:
		return "success";
	case NVML_ERROR_UNINITIALIZED:
		return "not initialized";
	case NVML_ERROR_INVALID_ARGUMENT:
		return "invalid argument";
	case NVML_ERROR_NOT_SUPPORTED:
		return "not supported";
	case NVML_ERROR_NOT_FOUND:
		return "not found";
	case NVML_ERROR_INSUFFICIENT_SIZE:
		return "insufficient size";
	default:
		return "unknown error";
	}
}

#define NVML(name, params, work)							\
	SIM_EXPORT nvmlReturn_t name params;						\
	nvmlReturn_t name params							\
	{										\
		SIM_FRAME();								\
		return (work);								\
	}										\
	_Static_assert(1, "")

#define TEXT_PARAMS nvmlDevice_t device, char *out, unsigned int length

NVML(nvmlInit, (void), init());
NVML(nvmlInit_v2, (void), init());
NVML(nvmlInitWithFlags, (unsigned int flags), ((void)flags, init()));
NVML(nvmlShutdown, (void), shut_down());
NVML(nvmlDeviceGetCount, (unsigned int *out), get_count(out));
NVML(nvmlDeviceGetCount_v2, (unsigned int *out), get_count(out));
NVML(nvmlDeviceGetHandleByIndex, (unsigned int index, nvmlDevice_t *out), by_index(index, out));
NVML(nvmlDeviceGetHandleByIndex_v2, (unsigned int index, nvmlDevice_t *out),
     by_index(index, out));
NVML(nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *out),
     by_text(uuid, out, make_uuid));
NVML(nvmlDeviceGetHandleByPciBusId, (const char *id, nvmlDevice_t *out),
     by_text(id, out, make_bus_id));
NVML(nvmlDeviceGetHandleByPciBusId_v2, (const char *id, nvmlDevice_t *out),
     by_text(id, out, make_bus_id));
NVML(nvmlDeviceGetName, (TEXT_PARAMS), get_name(device, out, length));
NVML(nvmlDeviceGetUUID, (TEXT_PARAMS), get_uuid(device, out, length));
NVML(nvmlDeviceGetIndex, (nvmlDevice_t device, unsigned int *out), get_index(device, out));
NVML(nvmlDeviceGetMinorNumber, (nvmlDevice_t device, unsigned int *out),
     get_index(device, out));
NVML(nvmlDeviceGetPciInfo_v3, (nvmlDevice_t device, nvmlPciInfo_t *out), get_pci(device, out));
NVML(nvmlDeviceGetMemoryInfo, (nvmlDevice_t device, nvmlMemory_t *out),
     get_memory(device, out));
NVML(nvmlDeviceGetMemoryInfo_v2, (nvmlDevice_t device, nvmlMemory_v2_t *out),
     get_memory_v2(device, out));
NVML(nvmlDeviceGetUtilizationRates, (nvmlDevice_t device, nvmlUtilization_t *out),
     utilization(device, out));
NVML(nvmlDeviceGetPowerUsage, (nvmlDevice_t device, unsigned int *out), power(device, out));
NVML(nvmlDeviceGetTemperature, (nvmlDevice_t device, int sensor, unsigned int *out),
     temperature(device, sensor, out));
NVML(nvmlDeviceGetCurrPcieLinkGeneration, (nvmlDevice_t device, unsigned int *out),
     link_number(device, out, 5));
NVML(nvmlDeviceGetCurrPcieLinkWidth, (nvmlDevice_t device, unsigned int *out),
     link_number(device, out, 16));
NVML(nvmlDeviceGetComputeRunningProcesses,
     (nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_v1_t *infos),
     get_processes(device, count, infos, NULL));
NVML(nvmlDeviceGetComputeRunningProcesses_v2,
     (nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_v2_t *infos),
     get_processes(device, count, NULL, infos));
NVML(nvmlDeviceGetComputeRunningProcesses_v3,
     (nvmlDevice_t device, unsigned int *count, nvmlProcessInfo_v2_t *infos),
     get_processes(device, count, NULL, infos));
NVML(nvmlSystemGetProcessName, (unsigned int pid, char *out, unsigned int length),
     process_name(pid, out, length));
NVML(nvmlSystemGetDriverVersion, (char *out, unsigned int length), text_out(out, length));
NVML(nvmlSystemGetNVMLVersion, (char *out, unsigned int length), text_out(out, length));
NVML(nvmlSystemGetCudaDriverVersion, (int *out), set_int(out, 13000));
NVML(nvmlSystemGetCudaDriverVersion_v2, (int *out), set_int(out, 13000));

SIM_EXPORT const char *nvmlErrorString(nvmlReturn_t error);

const char *nvmlErrorString(nvmlReturn_t error)
{
	SIM_FRAME();
	return describe(error);
}

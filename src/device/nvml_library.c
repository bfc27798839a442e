// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads NVML and queries it; see nvml_library.h. Types and numbers are those of NVIDIA's nvml.h.
 * Every function may be missing from an older or another library.
 */
#include "device/nvml_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "device/nvml_list.h"

#define NVML_TEMPERATURE_GPU 0
#define MAX_CELSIUS 300			  /* more is no temperature */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCu /* the kernel's PROC_PID_INIT_INO */

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

#define NVML_MEMORY_V2 (sizeof(struct nvml_memory_v2) | 2u << 24)

struct nvml_pci {
	char bus_id_legacy[16];
	unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

struct nvml_utilization {
	unsigned int gpu, memory; /* percent of the latest sample period, 1/6 s to 1 s */
};

struct nvml_library {
	void *handle;
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned int *);
	int (*by_index)(unsigned int, nvml_device *);
	int (*uuid)(nvml_device, char *, unsigned int);
	int (*name)(nvml_device, char *, unsigned int);
	int (*minor)(nvml_device, unsigned int *);
	int (*pci)(nvml_device, struct nvml_pci *);
	int (*memory)(nvml_device, struct nvml_memory *);
	int (*memory_v2)(nvml_device, struct nvml_memory_v2 *);
	int (*driver_version)(char *, unsigned int);
	int (*mig_mode)(nvml_device, unsigned int *, unsigned int *);
	int (*mig_count)(nvml_device, unsigned int *);
	int (*mig_by_index)(nvml_device, unsigned int, nvml_device *);
	int (*gpu_instance)(nvml_device, unsigned int *);
	int (*compute_instance)(nvml_device, unsigned int *);
	int (*link_generation)(nvml_device, unsigned int *);
	int (*link_width)(nvml_device, unsigned int *);
	int (*utilization)(nvml_device, struct nvml_utilization *);
	int (*power)(nvml_device, unsigned int *);
	int (*temperature)(nvml_device, int, unsigned int *);
	struct nvml_list lists[NVML_LISTS];
};

/* The state of one reading. */
struct survey {
	const struct nvml_library *nvml;
	bool with_power;
	struct gpu_snapshot *snapshot;
	nvml_device handles[NVML_MAX_GPUS];
};

static void *symbol(const struct nvml_library *nvml, const char *name)
{
	return dlsym(nvml->handle, name);
}

static void find_functions(struct nvml_library *nvml)
{
	nvml->init = symbol(nvml, "nvmlInit_v2");
	nvml->shutdown = symbol(nvml, "nvmlShutdown");
	nvml->count = symbol(nvml, "nvmlDeviceGetCount_v2");
	nvml->by_index = symbol(nvml, "nvmlDeviceGetHandleByIndex_v2");
	nvml->uuid = symbol(nvml, "nvmlDeviceGetUUID");
	nvml->name = symbol(nvml, "nvmlDeviceGetName");
	nvml->minor = symbol(nvml, "nvmlDeviceGetMinorNumber");
	nvml->pci = symbol(nvml, "nvmlDeviceGetPciInfo_v3");
	nvml->memory = symbol(nvml, "nvmlDeviceGetMemoryInfo");
	nvml->memory_v2 = symbol(nvml, "nvmlDeviceGetMemoryInfo_v2");
	nvml->driver_version = symbol(nvml, "nvmlSystemGetDriverVersion");
	nvml->mig_mode = symbol(nvml, "nvmlDeviceGetMigMode");
	nvml->mig_count = symbol(nvml, "nvmlDeviceGetMaxMigDeviceCount");
	nvml->mig_by_index = symbol(nvml, "nvmlDeviceGetMigDeviceHandleByIndex");
	nvml->gpu_instance = symbol(nvml, "nvmlDeviceGetGpuInstanceId");
	nvml->compute_instance = symbol(nvml, "nvmlDeviceGetComputeInstanceId");
	nvml->link_generation = symbol(nvml, "nvmlDeviceGetCurrPcieLinkGeneration");
	nvml->link_width = symbol(nvml, "nvmlDeviceGetCurrPcieLinkWidth");
	nvml->utilization = symbol(nvml, "nvmlDeviceGetUtilizationRates");
	nvml->power = symbol(nvml, "nvmlDeviceGetPowerUsage");
	nvml->temperature = symbol(nvml, "nvmlDeviceGetTemperature");
	nvml_list__find(nvml->lists, nvml->handle);
}

/* Leaves `version` empty if NVML does not report it. */
static void ask_driver_version(const struct nvml_library *nvml, char version[NVML_VERSION_SIZE])
{
	memset(version, 0, NVML_VERSION_SIZE);
	if (nvml->driver_version &&
	    nvml->driver_version(version, NVML_VERSION_SIZE - 1) != NVML_SUCCESS)
		version[0] = '\0';
}

static void avoid_wide_entries(struct nvml_library *nvml)
{
	unsigned int major, minor;
	char version[NVML_VERSION_SIZE];

	ask_driver_version(nvml, version);
	if (sscanf(version, "%u.%u", &major, &minor) != 2 || major != 535 || minor >= 98)
		return;
	for (int kind = 0; kind < NVML_LISTS; kind++)
		nvml->lists[kind].versions[0] = NULL;
}

int nvml_library__open(struct nvml_library **out)
{
	struct nvml_library *nvml = calloc(1, sizeof(*nvml));
	int ret = -ENOENT;

	if (!nvml)
		return -ENOMEM;
	nvml->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!nvml->handle)
		goto fail;
	find_functions(nvml);
	if (!nvml->init || !nvml->shutdown || !nvml->count || !nvml->by_index)
		goto fail;
	ret = -ENODEV;
	if (nvml->init() != NVML_SUCCESS)
		goto fail;
	avoid_wide_entries(nvml);
	*out = nvml;
	return 0;
fail:
	if (nvml->handle)
		dlclose(nvml->handle);
	free(nvml);
	return ret;
}

void nvml_library__close(struct nvml_library *nvml)
{
	if (!nvml)
		return;
	nvml->shutdown();
	dlclose(nvml->handle);
	free(nvml);
}

void gpu_snapshot__free(struct gpu_snapshot *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->gpus);
	free(snapshot->uses);
	free(snapshot);
}

/* --- GPUs --- */

static void ask_text(int (*question)(nvml_device, char *, unsigned int), nvml_device device,
		     char *text, unsigned int size)
{
	if (!question || question(device, text, size) != NVML_SUCCESS)
		text[0] = '\0';
	text[size - 1] = '\0';
}

static unsigned int ask_number(int (*question)(nvml_device, unsigned int *), nvml_device device)
{
	unsigned int number;

	return question && question(device, &number) == NVML_SUCCESS ? number : UINT32_MAX;
}

/* The second version does not count the driver's own reserve as `used`. */
static void ask_memory(const struct nvml_library *nvml, nvml_device device, struct gpu *gpu)
{
	struct nvml_memory_v2 newer = {.version = NVML_MEMORY_V2};
	struct nvml_memory older;

	gpu->total_bytes = gpu->used_bytes = GPU_UNKNOWN_BYTES;
	if (nvml->memory_v2 && nvml->memory_v2(device, &newer) == NVML_SUCCESS) {
		gpu->total_bytes = newer.total;
		gpu->used_bytes = newer.used;
	} else if (nvml->memory && nvml->memory(device, &older) == NVML_SUCCESS) {
		gpu->total_bytes = older.total;
		gpu->used_bytes = older.used;
	}
}

/* Divided GPUs and their instances do not report utilization. */
static void ask_utilization(const struct nvml_library *nvml, nvml_device device, struct gpu *gpu)
{
	struct nvml_utilization utilization;

	gpu->busy_percent = GPU_UNKNOWN_PERCENT;
	if (nvml->utilization && nvml->utilization(device, &utilization) == NVML_SUCCESS &&
	    utilization.gpu <= 100)
		gpu->busy_percent = utilization.gpu;
}

/* Instances of divided GPUs report neither. */
static void ask_power(const struct nvml_library *nvml, nvml_device device, struct gpu *gpu)
{
	unsigned int celsius;

	gpu->milliwatts = ask_number(nvml->power, device);
	if (nvml->temperature &&
	    nvml->temperature(device, NVML_TEMPERATURE_GPU, &celsius) == NVML_SUCCESS &&
	    celsius <= MAX_CELSIUS)
		gpu->celsius = celsius;
}

/*
 * Bytes per second of one lane in one direction, without the encoding. The sixth generation sends
 * units of 256 bytes, of which 236 are data.
 */
static uint64_t lane_bytes(unsigned int generation)
{
	static const uint64_t bytes[] = {250000000,  500000000,	 984615384,
					 1969230769, 3938461538, 7375000000};

	return generation >= 1 && generation <= sizeof(bytes) / sizeof(*bytes) ?
		       bytes[generation - 1] :
		       0;
}

static void ask_link(const struct nvml_library *nvml, nvml_device device, struct gpu *gpu)
{
	unsigned int generation = ask_number(nvml->link_generation, device);
	unsigned int width = ask_number(nvml->link_width, device);

	if (width <= 32 && lane_bytes(generation))
		gpu->link_bytes_per_second = lane_bytes(generation) * width;
}

static struct gpu *add_gpu(struct survey *survey, nvml_device device, unsigned int index)
{
	const struct nvml_library *nvml = survey->nvml;
	struct gpu_snapshot *snapshot = survey->snapshot;
	struct gpu *gpu;

	if (snapshot->gpu_count == NVML_MAX_GPUS)
		return NULL;
	survey->handles[snapshot->gpu_count] = device;
	gpu = &snapshot->gpus[snapshot->gpu_count++];
	*gpu = (struct gpu){
		.index = index,
		.mig = GPU_NONE,
		.minor = UINT32_MAX,
		.milliwatts = GPU_UNKNOWN_NUMBER,
		.celsius = GPU_UNKNOWN_NUMBER,
	};
	ask_text(nvml->uuid, device, gpu->uuid, GPU_UUID_SIZE);
	ask_text(nvml->name, device, gpu->name, GPU_NAME_SIZE);
	ask_memory(nvml, device, gpu);
	ask_link(nvml, device, gpu);
	ask_utilization(nvml, device, gpu);
	if (survey->with_power)
		ask_power(nvml, device, gpu);
	return gpu;
}

static void add_instances(struct survey *survey, struct gpu *whole, nvml_device device)
{
	const struct nvml_library *nvml = survey->nvml;
	unsigned int current, pending, most;

	if (!nvml->mig_mode || !nvml->mig_by_index ||
	    nvml->mig_mode(device, &current, &pending) != NVML_SUCCESS || !current)
		return;
	whole->divided = true;
	most = ask_number(nvml->mig_count, device);
	for (unsigned int i = 0; most != UINT32_MAX && i < most && i < NVML_MAX_GPUS; i++) {
		nvml_device part;
		struct gpu *gpu;

		/* Instance numbers may have gaps. */
		if (nvml->mig_by_index(device, i, &part) != NVML_SUCCESS)
			continue;
		gpu = add_gpu(survey, part, whole->index);
		if (!gpu)
			return;
		gpu->mig = (int)i;
		gpu->minor = whole->minor;
		gpu->link_bytes_per_second = whole->link_bytes_per_second;
		memcpy(gpu->bus_id, whole->bus_id, sizeof(gpu->bus_id));
		gpu->instance[0] = ask_number(nvml->gpu_instance, part);
		gpu->instance[1] = ask_number(nvml->compute_instance, part);
	}
}

static void survey_gpus(struct survey *survey)
{
	const struct nvml_library *nvml = survey->nvml;
	unsigned int count = 0;

	if (nvml->count(&count) != NVML_SUCCESS)
		return;
	for (unsigned int i = 0; i < count && i < NVML_MAX_GPUS; i++) {
		struct nvml_pci pci;
		nvml_device device;
		struct gpu *gpu;

		/* A GPU that has fallen off the bus. */
		if (nvml->by_index(i, &device) != NVML_SUCCESS)
			continue;
		gpu = add_gpu(survey, device, i);
		if (!gpu)
			return;
		gpu->minor = ask_number(nvml->minor, device);
		if (nvml->pci && nvml->pci(device, &pci) == NVML_SUCCESS)
			snprintf(gpu->bus_id, sizeof(gpu->bus_id), "%.*s",
				 (int)sizeof(pci.bus_id) - 1, pci.bus_id);
		add_instances(survey, gpu, device);
	}
}

/* --- processes --- */

/* Whether NVML's pids are those of gpuprobe's pid namespace; see nvml_library.h. */
static bool pids_are_ours(void)
{
	char version[256] = "";
	struct stat own;
	FILE *in;

	if (!stat("/proc/self/ns/pid", &own) && own.st_ino == INITIAL_PID_NAMESPACE)
		return true;
	in = fopen("/proc/driver/nvidia/version", "re");
	if (!in)
		return false;
	if (!fgets(version, sizeof(version), in))
		version[0] = '\0';
	fclose(in);
	return strstr(version, "Open Kernel Module");
}

static void survey_processes(struct survey *survey)
{
	struct gpu_snapshot *snapshot = survey->snapshot;

	if (!pids_are_ours())
		return;
	snapshot->uses_known = survey->nvml->lists[0].versions[0] ||
			       survey->nvml->lists[0].versions[1] ||
			       survey->nvml->lists[0].versions[2];
	for (size_t i = 0; i < snapshot->gpu_count; i++) {
		/* The instances of a divided GPU report its processes. */
		if (snapshot->gpus[i].divided)
			continue;
		for (int kind = 0; kind < NVML_LISTS; kind++)
			/*
			 * Graphics and MPS lists may be unsupported; the compute list always is
			 * supported.
			 */
			if (!nvml_list__read(&survey->nvml->lists[kind], survey->handles[i],
					     snapshot, (int)i) &&
			    kind == 0)
				snapshot->uses_known = false;
	}
}

struct gpu_snapshot *nvml_library__read(const struct nvml_library *nvml, bool with_power)
{
	struct survey survey = {
		.nvml = nvml,
		.with_power = with_power,
		.snapshot = calloc(1, sizeof(struct gpu_snapshot)),
	};

	if (!survey.snapshot)
		return NULL;
	survey.snapshot->begun_ns = clock__boot_ns();
	survey.snapshot->gpus = calloc(NVML_MAX_GPUS, sizeof(*survey.snapshot->gpus));
	if (!survey.snapshot->gpus) {
		gpu_snapshot__free(survey.snapshot);
		return NULL;
	}
	ask_driver_version(nvml, survey.snapshot->driver);
	survey_gpus(&survey);
	survey_processes(&survey);
	return survey.snapshot;
}

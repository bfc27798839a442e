// SPDX-License-Identifier: BSD-2-Clause
/*
 * An NVML for test_nvml alone: two GPUs, the second of them divided, and driver behaviour that the
 * simulated one does not have. Words in FAKE_NVML in the environment select it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define TOO_SMALL 7
#define PROCESSES 200

#define API __attribute__((visibility("default")))

/* Devices are numbers: 1 and 2 the GPUs, 3 and 4 the second's instances 0 and 2. */
typedef size_t handle;

struct process {
	unsigned int pid;
	unsigned long long used;
	unsigned int gpu_instance, compute_instance;
};

struct wide_process {
	struct process process;
	unsigned long long protected;
};

struct memory {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

API void fakeLetGo(void);
API int fakeTimesEnded(void);
API int nvmlInit_v2(void);
API int nvmlShutdown(void);
API int nvmlDeviceGetCount_v2(unsigned int *);
API int nvmlDeviceGetHandleByIndex_v2(unsigned int, handle *);
API int nvmlDeviceGetUUID(handle, char *, unsigned int);
API int nvmlDeviceGetName(handle, char *, unsigned int);
API int nvmlDeviceGetMemoryInfo_v2(handle, struct memory *);
API int nvmlSystemGetDriverVersion(char *, unsigned int);
API int nvmlDeviceGetMigMode(handle, unsigned int *, unsigned int *);
API int nvmlDeviceGetMaxMigDeviceCount(handle, unsigned int *);
API int nvmlDeviceGetMigDeviceHandleByIndex(handle, unsigned int, handle *);
API int nvmlDeviceGetCurrPcieLinkGeneration(handle, unsigned int *);
API int nvmlDeviceGetCurrPcieLinkWidth(handle, unsigned int *);
API int nvmlDeviceGetPowerUsage(handle, unsigned int *);
API int nvmlDeviceGetTemperature(handle, int, unsigned int *);
API int nvmlDeviceGetGpuInstanceId(handle, unsigned int *);
API int nvmlDeviceGetComputeInstanceId(handle, unsigned int *);
API int nvmlDeviceGetComputeRunningProcesses_v3(handle, unsigned int *, void *);
API int nvmlDeviceGetComputeRunningProcesses_v2(handle, unsigned int *, struct process *);
API int nvmlDeviceGetGraphicsRunningProcesses_v2(handle, unsigned int *, struct process *);
API int nvmlDeviceGetGraphicsRunningProcesses_v3(handle, unsigned int *, struct process *);

/* A hanging call waits until the test releases it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_let_go;
static atomic_int times_ended;

static void hang(void)
{
	pthread_mutex_lock(&lock);
	while (!is_let_go)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void fakeLetGo(void)
{
	pthread_mutex_lock(&lock);
	is_let_go = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

int fakeTimesEnded(void)
{
	return atomic_load(&times_ended);
}

static int has(const char *word)
{
	const char *words = getenv("FAKE_NVML");

	return words && strstr(words, word);
}

int nvmlInit_v2(void)
{
	return has("nodriver") ? 9 : 0;
}

int nvmlShutdown(void)
{
	atomic_fetch_add(&times_ended, 1);
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
	if (has("hang"))
		hang();
	*count = 2;
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, handle *out)
{
	*out = index + 1;
	return 0;
}

int nvmlDeviceGetUUID(handle device, char *out, unsigned int size)
{
	snprintf(out, size, "%s-%08zx-0000-0000-0000-000000000000", device > 2 ? "MIG" : "GPU",
		 device);
	return 0;
}

int nvmlDeviceGetName(handle device, char *out, unsigned int size)
{
	/* Without a terminating NUL, as a broken driver might. */
	memset(out, 'x', size);
	return device == 1 ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetMemoryInfo_v2(handle device, struct memory *memory)
{
	if (memory->version != (sizeof(*memory) | 2 << 24))
		return 2;
	memory->total = device * 1000;
	memory->used = device * 100;
	memory->reserved = 50;
	return device == 4 ? NOT_SUPPORTED : 0;
}

int nvmlSystemGetDriverVersion(char *out, unsigned int size)
{
	snprintf(out, size, "%s", has("wide") ? "535.86.05" : "580.159.04");
	return 0;
}

int nvmlDeviceGetMigMode(handle device, unsigned int *current, unsigned int *pending)
{
	if (device == 1)
		return NOT_SUPPORTED;
	*current = *pending = 1;
	return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(handle device, unsigned int *count)
{
	*count = 7;
	return device == 2 ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetMigDeviceHandleByIndex(handle device, unsigned int index, handle *out)
{
	if (device != 2 || (index != 0 && index != 2))
		return NOT_FOUND;
	*out = index ? 4 : 3;
	return 0;
}

int nvmlDeviceGetGpuInstanceId(handle device, unsigned int *id)
{
	*id = (unsigned int)device + 10;
	return 0;
}

int nvmlDeviceGetComputeInstanceId(handle device, unsigned int *id)
{
	(void)device;
	*id = 0;
	return 0;
}

static struct process process_of(handle device, unsigned int i)
{
	struct process process = {1000 + i, i * device, ~0u, ~0u};

	if (i == 7)
		process.used = ~0ull;
	return process;
}

int nvmlDeviceGetComputeRunningProcesses_v3(handle device, unsigned int *count, void *out)
{
	unsigned int room = *count;

	if (device == 2)
		abort(); /* a divided GPU must not be queried */
	*count = PROCESSES;
	if (room < PROCESSES)
		return TOO_SMALL;
	for (unsigned int i = 0; i < PROCESSES; i++) {
		if (has("wide") || has("strange"))
			((struct wide_process *)out)[i] =
				(struct wide_process){process_of(device, i), 12345678};
		else
			((struct process *)out)[i] = process_of(device, i);
	}
	return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v2(handle device, unsigned int *count, struct process *out)
{
	unsigned int room = *count;

	*count = PROCESSES;
	if (room < PROCESSES)
		return TOO_SMALL;
	for (unsigned int i = 0; i < PROCESSES; i++)
		out[i] = process_of(device, i);
	return 0;
}

/* A process that also computes, and one that does not. */
int nvmlDeviceGetGraphicsRunningProcesses_v2(handle device, unsigned int *count,
					     struct process *out)
{
	if (device != 1)
		return NOT_SUPPORTED;
	*count = 2;
	out[0] = (struct process){1003, 77, ~0u, ~0u};
	out[1] = (struct process){2000, 88, ~0u, ~0u};
	return 0;
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(handle device, unsigned int *count,
					     struct process *out)
{
	return nvmlDeviceGetGraphicsRunningProcesses_v2(device, count, out);
}

/* Only the first GPU says what it draws; the second one's temperature is nonsense. */
int nvmlDeviceGetPowerUsage(handle device, unsigned int *milliwatts)
{
	*milliwatts = 123456;
	return device == 1 ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetTemperature(handle device, int sensor, unsigned int *celsius)
{
	*celsius = device == 1 ? 66 : 4000000000u;
	return sensor == 0 && device <= 2 ? 0 : NOT_SUPPORTED;
}

/* Instances have no answer; the first GPU has a future generation. */
int nvmlDeviceGetCurrPcieLinkGeneration(handle device, unsigned int *generation)
{
	*generation = device == 1 ? 77 : 4;
	return device > 2 ? NOT_SUPPORTED : 0;
}

int nvmlDeviceGetCurrPcieLinkWidth(handle device, unsigned int *width)
{
	*width = 8;
	return device > 2 ? NOT_SUPPORTED : 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * What this process shows the simulated NVML about its use of the devices: a page in a memfd, made
 * with the first context.
 */
#define _GNU_SOURCE
#include "cuda/memory.h"
#include "cuda/usage.h"

#include <sys/mman.h>
#include <unistd.h>

static struct usage *shown;
static uint64_t used[USAGE_DEVICES], object_bytes[USAGE_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct usage *make(void)
{
	struct usage *usage;
	int fd = memfd_create(USAGE_NAME, MFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	usage = MAP_FAILED;
	if (!ftruncate(fd, sizeof(*usage)))
		usage = mmap(NULL, sizeof(*usage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (usage == MAP_FAILED) {
		close(fd);
		return NULL;
	}
	/* The descriptor stays open, because NVML finds the page by it. */
	usage->nr_devices = (uint32_t)driver.nr_devices;
	usage->memory = driver.memory;
	usage__machine(usage->machine);
	__atomic_store_n(&usage->magic, USAGE_MAGIC, __ATOMIC_RELEASE);
	return usage;
}

void show__context(int device)
{
	pthread_mutex_lock(&lock);
	if (!shown)
		__atomic_store_n(&shown, make(), __ATOMIC_RELEASE);
	if (shown)
		shown->contexts[device]++;
	pthread_mutex_unlock(&lock);
}

static void show(int device)
{
	struct usage *usage = __atomic_load_n(&shown, __ATOMIC_ACQUIRE);
	uint64_t bytes = __atomic_load_n(&used[device], __ATOMIC_RELAXED) +
			 __atomic_load_n(&object_bytes[device], __ATOMIC_RELAXED);

	if (usage)
		__atomic_store_n(&usage->used[device], bytes, __ATOMIC_RELAXED);
}

void show__used(int device, uint64_t bytes)
{
	__atomic_store_n(&used[device], bytes, __ATOMIC_RELAXED);
	show(device);
}

void show__objects(int device, uint64_t bytes)
{
	__atomic_store_n(&object_bytes[device], bytes, __ATOMIC_RELAXED);
	show(device);
}

void show__forget(void)
{
	pthread_mutex_init(&lock, NULL);
	shown = NULL;
	memset(used, 0, sizeof(used));
	memset(object_bytes, 0, sizeof(object_bytes));
}
